// How much code indices and sums are: what is known to be equal is computed once, what is a known
// number of elements away is a constant away, and sums run through few totals.
// RUN: kiln-opt %s --kiln-tilegpu-to-llvm | FileCheck %s

#rows = #tilegpu.layout<"register: 1 2 4 256 512; lane: 8 16 32 64 128; warp:; block: -> 1024">
#one = #tilegpu.layout<"register: 1 2 4 8; lane: 0 0 0 0 0; warp:; block: -> 16">
#short = #tilegpu.layout<"register: 1 2; lane: 4 8 16 32 64; warp:; block: -> 128">
#few = #tilegpu.layout<"register: 1 2; lane: 4 8 0 0 0; warp:; block: -> 16">
module attributes {tilegpu.target = "cuda:sm_90a"} {

// Eight neighbours are below a multiple of 16 together: four comparisons for 32 registers. One
// address, and three at a constant distance.
// CHECK-LABEL: llvm.func @neighbours
// CHECK: %[[FIRST:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}]
// CHECK-DAG: llvm.getelementptr %[[FIRST]][256]
// CHECK-DAG: llvm.getelementptr %[[FIRST]][512]
// CHECK-DAG: llvm.getelementptr %[[FIRST]][768]
// CHECK-COUNT-4: llvm.icmp "slt"
// CHECK-NOT: llvm.icmp "slt"
// CHECK: llvm.return
func.func @neighbours(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %n: i32 {tile.divisibility = 16 : i32}, %v: f16) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %pid = tile.program_id 0 : i32
  %size = arith.constant 1024 : i32
  %start = arith.muli %pid, %size : i32
  %i = tile.arange 0, 1024 : tensor<1024xi32, #rows>
  %starts = tile.splat %start : i32 -> tensor<1024xi32, #rows>
  %index = arith.addi %starts, %i : tensor<1024xi32, #rows>
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<1024x!tile.ptr<f16>, #rows>
  %at = tile.addptr %ps, %index : tensor<1024x!tile.ptr<f16>, #rows>, tensor<1024xi32, #rows>
  %ns = tile.splat %n : i32 -> tensor<1024xi32, #rows>
  %inside = arith.cmpi slt, %index, %ns : tensor<1024xi32, #rows>
  %vs = tile.splat %v : f16 -> tensor<1024xf16, #rows>
  tile.store %at, %vs mask %inside : (tensor<1024x!tile.ptr<f16>, #rows>, tensor<1024xf16, #rows>, tensor<1024xi1, #rows>) -> ()
  func.return
}

// Sixteen elements of a thread: each of four totals takes four of them, each product is added where
// it arises.
// CHECK-LABEL: llvm.func @sum
// CHECK-COUNT-16: llvm.fmul
// CHECK: %[[T1:.*]] = llvm.fadd %[[P0:.*]], %[[P4:.*]] :
// CHECK-NEXT: %[[T2:.*]] = llvm.fadd %[[T1]], %{{.*}} :
// CHECK-NEXT: llvm.fadd %[[T2]], %{{.*}} :
// CHECK-COUNT-12: llvm.fadd
// CHECK-NOT: llvm.fadd
// CHECK: llvm.return
func.func @sum(%p: !tile.ptr<f32>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.arange 0, 16 : tensor<16xi32, #one>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>, #one>
  %at = tile.addptr %ps, %i : tensor<16x!tile.ptr<f32>, #one>, tensor<16xi32, #one>
  %x = tile.load %at : (tensor<16x!tile.ptr<f32>, #one>) -> tensor<16xf32, #one>
  %xx = arith.mulf %x, %x : tensor<16xf32, #one>
  %sum = tile.reduce(%xx) axis 0 : (tensor<16xf32, #one>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tile.yield %t : f32
  }
  tile.store %p, %sum : (!tile.ptr<f32>, f32) -> ()
  func.return
}

// Quotients of 64-bit numbers: one condition for all that a thread has.
// CHECK-LABEL: llvm.func @quotients
// CHECK: llvm.icmp "ult"
// CHECK: llvm.cond_br
// CHECK-NOT: llvm.icmp
// CHECK-COUNT-4: llvm.udiv {{.*}} : i32
// CHECK-NOT: llvm.cond_br
// CHECK-COUNT-4: llvm.sdiv {{.*}} : i64
// CHECK-NOT: llvm.sdiv
// CHECK: llvm.return
func.func @quotients(%p: !tile.ptr<i64>, %n: i64) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.arange 0, 16 : tensor<16xi32, #few>
  %ps = tile.splat %p : !tile.ptr<i64> -> tensor<16x!tile.ptr<i64>, #few>
  %at = tile.addptr %ps, %i : tensor<16x!tile.ptr<i64>, #few>, tensor<16xi32, #few>
  %x = tile.load %at : (tensor<16x!tile.ptr<i64>, #few>) -> tensor<16xi64, #few>
  %ns = tile.splat %n : i64 -> tensor<16xi64, #few>
  %quotient = arith.divsi %x, %ns : tensor<16xi64, #few>
  tile.store %at, %quotient : (tensor<16x!tile.ptr<i64>, #few>, tensor<16xi64, #few>) -> ()
  func.return
}

// bf16 has a fused operation of its own.
// CHECK-LABEL: llvm.func @fused
// CHECK-COUNT-4: llvm.intr.fma({{.*}}) : (bf16, bf16, bf16) -> bf16
// CHECK: llvm.return
func.func @fused(%p: !tile.ptr<bf16> {tile.divisibility = 16 : i32}) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.arange 0, 128 : tensor<128xi32, #short>
  %ps = tile.splat %p : !tile.ptr<bf16> -> tensor<128x!tile.ptr<bf16>, #short>
  %at = tile.addptr %ps, %i : tensor<128x!tile.ptr<bf16>, #short>, tensor<128xi32, #short>
  %x = tile.load %at : (tensor<128x!tile.ptr<bf16>, #short>) -> tensor<128xbf16, #short>
  %y = math.fma %x, %x, %x : tensor<128xbf16, #short>
  tile.store %at, %y : (tensor<128x!tile.ptr<bf16>, #short>, tensor<128xbf16, #short>) -> ()
  func.return
}
}
