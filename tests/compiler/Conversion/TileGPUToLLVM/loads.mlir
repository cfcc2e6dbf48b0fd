// Loads that start ahead of what follows, and pairs that a bound may end within.
// RUN: kiln-opt %s --kiln-tilegpu-to-llvm | FileCheck %s

#l = #tilegpu.layout<"register: 1 2 128 256; lane: 4 8 16 32 64; warp: ; block: -> 512">
#pairs = #tilegpu.layout<"register: 1; lane: 2 4 8 16 32; warp: ; block: -> 64">

module attributes {tilegpu.target = "cuda:sm_90a"} {
// Two of four accesses have room in ten registers.
// CHECK-LABEL: llvm.func @started
// CHECK-COUNT-2: tilegpu.global_load {{.*}} vector<4xf32>
// CHECK-NOT: tilegpu.global_load
// CHECK: nvvm.bar.warp.sync
// CHECK-COUNT-2: tilegpu.global_load {{.*}} vector<4xf32>
// CHECK: tilegpu.global_store
func.func @started(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.arange 0, 512 : tensor<512xi32, #l>
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>, #l>
  %a = tile.addptr %s, %i : tensor<512x!tile.ptr<f32>, #l>, tensor<512xi32, #l>
  %x = tile.load %a {tilegpu.started = 10 : i32} : (tensor<512x!tile.ptr<f32>, #l>) -> tensor<512xf32, #l>
  tile.store %a, %x : (tensor<512x!tile.ptr<f32>, #l>, tensor<512xf32, #l>) -> ()
  func.return
}

// Both elements, or the first alone: no branch.
// CHECK-LABEL: llvm.func @pair
// CHECK-NOT: llvm.cond_br
// CHECK: tilegpu.global_load {{.*}} vector<2xf32>
// CHECK: tilegpu.global_load {{.*}} f32
// CHECK: llvm.select
// CHECK: llvm.return
func.func @pair(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.arange 0, 64 : tensor<64xi32, #pairs>
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #pairs>
  %a = tile.addptr %s, %i : tensor<64x!tile.ptr<f32>, #pairs>, tensor<64xi32, #pairs>
  %bound = tile.splat %n : i32 -> tensor<64xi32, #pairs>
  %m = arith.cmpi slt, %i, %bound : tensor<64xi32, #pairs>
  %x = tile.load %a mask %m : (tensor<64x!tile.ptr<f32>, #pairs>, tensor<64xi1, #pairs>) -> tensor<64xf32, #pairs>
  %t = tile.splat %q : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #pairs>
  %b = tile.addptr %t, %i : tensor<64x!tile.ptr<f32>, #pairs>, tensor<64xi32, #pairs>
  tile.store %b, %x : (tensor<64x!tile.ptr<f32>, #pairs>, tensor<64xf32, #pairs>) -> ()
  func.return
}
}
