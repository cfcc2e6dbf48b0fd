// How much code a scan is: a thread reads the other blocks' totals once, whatever its registers, and
// shuffles a total once for each step.
// RUN: kiln-opt %s --kiln-tilegpu-to-llvm | FileCheck %s

#down = #tilegpu.layout<"register: 16 32 64; lane: 0 0 0 0 0; warp: 1 2 4 8; block: -> 128">
#run = #tilegpu.layout<"register: 1 2 4; lane: 8 16 32 64 128; warp: 0 0 0 0; block: -> 256">
#along = #tilegpu.layout<"register: 32 64; lane: 1 2 4 8 16; warp: 0 0 0 0; block: -> 128">
module attributes {tilegpu.target = "cuda:sm_80"} {

// Warps hold neighbours: 127 totals come before an element of the last block. Eight registers.
// CHECK-LABEL: llvm.func @between_warps
// CHECK-COUNT-127: llvm.load {{.*}} -> i32
// CHECK-NOT: llvm.load
// CHECK: llvm.return
func.func @between_warps(%p: !tile.ptr<i32>) attributes {tile.kernel, tile.num_warps = 16 : i32, tilegpu.shared_bytes = 512 : i32} {
  %i = tile.arange 0, 128 : tensor<128xi32, #down>
  %s = tile.scan(%i) axis 0 {tilegpu.offset = 0 : i32} : (tensor<128xi32, #down>) -> tensor<128xi32, #down> {
  ^bb0(%a: i32, %b: i32):
    %t = arith.addi %a, %b : i32
    tile.yield %t : i32
  }
  %ps = tile.splat %p : !tile.ptr<i32> -> tensor<128x!tile.ptr<i32>, #down>
  %at = tile.addptr %ps, %i : tensor<128x!tile.ptr<i32>, #down>, tensor<128xi32, #down>
  tile.store %at, %s : (tensor<128x!tile.ptr<i32>, #down>, tensor<128xi32, #down>) -> ()
  func.return
}

// Five steps between lanes, and the total of each block of lanes, of four registers.
// CHECK-LABEL: llvm.func @between_lanes
// CHECK-COUNT-24: nvvm.shfl.sync
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.return
func.func @between_lanes(%p: !tile.ptr<i32>) attributes {tile.kernel, tile.num_warps = 16 : i32} {
  %i = tile.arange 0, 128 : tensor<128xi32, #along>
  %s = tile.scan(%i) axis 0 : (tensor<128xi32, #along>) -> tensor<128xi32, #along> {
  ^bb0(%a: i32, %b: i32):
    %t = arith.addi %a, %b : i32
    tile.yield %t : i32
  }
  %ps = tile.splat %p : !tile.ptr<i32> -> tensor<128x!tile.ptr<i32>, #along>
  %at = tile.addptr %ps, %i : tensor<128x!tile.ptr<i32>, #along>, tensor<128xi32, #along>
  tile.store %at, %s : (tensor<128x!tile.ptr<i32>, #along>, tensor<128xi32, #along>) -> ()
  func.return
}

// A run of eight values: seven sums, and eight more with what comes before. Five steps between
// lanes, a sum of totals each, and one for the lane before.
// CHECK-LABEL: llvm.func @runs
// CHECK-COUNT-7: llvm.fadd
// CHECK-NOT: llvm.fadd
// CHECK-COUNT-5: nvvm.shfl.sync
// CHECK: llvm.fadd
// CHECK-NOT: llvm.fadd
// CHECK: nvvm.shfl.sync
// CHECK-NOT: nvvm.shfl.sync
// CHECK-COUNT-8: llvm.fadd
// CHECK-NOT: llvm.fadd
// CHECK: llvm.return
func.func @runs(%p: !tile.ptr<f32>) attributes {tile.kernel, tile.num_warps = 16 : i32} {
  %i = tile.arange 0, 256 : tensor<256xi32, #run>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #run>
  %at = tile.addptr %ps, %i : tensor<256x!tile.ptr<f32>, #run>, tensor<256xi32, #run>
  %v = tile.load %at : (tensor<256x!tile.ptr<f32>, #run>) -> tensor<256xf32, #run>
  %s = tile.scan(%v) axis 0 : (tensor<256xf32, #run>) -> tensor<256xf32, #run> {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tile.yield %t : f32
  }
  tile.store %at, %s : (tensor<256x!tile.ptr<f32>, #run>, tensor<256xf32, #run>) -> ()
  func.return
}
}
