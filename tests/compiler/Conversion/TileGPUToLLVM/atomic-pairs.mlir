// Additions of 16-bit floats whose old values are used: two at once, and each on its own where a bound ends between.
// RUN: sed s/TARGET/hip:gfx942/ %s | kiln-opt --kiln-tilegpu-to-llvm | FileCheck %s
// RUN: sed s/TARGET/hip:gfx90a/ %s | kiln-opt --kiln-tilegpu-to-llvm | FileCheck %s

#l = #tilegpu.layout<"register: 1; lane: 2 4 8 16 32 64; warp: ; block: -> 128">

module attributes {tilegpu.target = "TARGET"} {
// CHECK-LABEL: llvm.func @whole
// CHECK: llvm.atomicrmw fadd {{.*}} vector<2xbf16>
// CHECK-NOT: llvm.atomicrmw
// CHECK: llvm.return
func.func @whole(%x: !tile.ptr<bf16> {tile.divisibility = 16 : i32}, %v: bf16, %o: !tile.ptr<bf16> {tile.divisibility = 16 : i32}) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.arange 0, 128 : tensor<128xi32, #l>
  %vs = tile.splat %v : bf16 -> tensor<128xbf16, #l>
  %px = tile.splat %x : !tile.ptr<bf16> -> tensor<128x!tile.ptr<bf16>, #l>
  %ax = tile.addptr %px, %i : tensor<128x!tile.ptr<bf16>, #l>, tensor<128xi32, #l>
  %old = tile.atomic_rmw <fadd> %ax, %vs : (tensor<128x!tile.ptr<bf16>, #l>, tensor<128xbf16, #l>) -> tensor<128xbf16, #l>
  %po = tile.splat %o : !tile.ptr<bf16> -> tensor<128x!tile.ptr<bf16>, #l>
  %ao = tile.addptr %po, %i : tensor<128x!tile.ptr<bf16>, #l>, tensor<128xi32, #l>
  tile.store %ao, %old : (tensor<128x!tile.ptr<bf16>, #l>, tensor<128xbf16, #l>) -> ()
  return
}

// CHECK-LABEL: llvm.func @bound
// CHECK: llvm.atomicrmw fadd {{.*}}, f16
// CHECK: llvm.atomicrmw fadd {{.*}}, f16
// CHECK: llvm.atomicrmw fadd {{.*}} vector<2xf16>
// CHECK-NOT: llvm.atomicrmw
// CHECK: llvm.return
func.func @bound(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %v: f16, %n: i32, %o: !tile.ptr<f16> {tile.divisibility = 16 : i32}) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.arange 0, 128 : tensor<128xi32, #l>
  %ns = tile.splat %n : i32 -> tensor<128xi32, #l>
  %m = arith.cmpi slt, %i, %ns : tensor<128xi32, #l>
  %vs = tile.splat %v : f16 -> tensor<128xf16, #l>
  %px = tile.splat %x : !tile.ptr<f16> -> tensor<128x!tile.ptr<f16>, #l>
  %ax = tile.addptr %px, %i : tensor<128x!tile.ptr<f16>, #l>, tensor<128xi32, #l>
  %old = tile.atomic_rmw <fadd> %ax, %vs mask %m : (tensor<128x!tile.ptr<f16>, #l>, tensor<128xf16, #l>, tensor<128xi1, #l>) -> tensor<128xf16, #l>
  %po = tile.splat %o : !tile.ptr<f16> -> tensor<128x!tile.ptr<f16>, #l>
  %ao = tile.addptr %po, %i : tensor<128x!tile.ptr<f16>, #l>, tensor<128xi32, #l>
  tile.store %ao, %old : (tensor<128x!tile.ptr<f16>, #l>, tensor<128xf16, #l>) -> ()
  return
}
}
