// Loads that start ahead of what follows.
// RUN: kiln-opt %s --kiln-tilegpu-to-llvm | FileCheck %s

#l = #tilegpu.layout<"register: 1 2 128 256; lane: 4 8 16 32 64; warp: ; block: -> 512">

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
}
