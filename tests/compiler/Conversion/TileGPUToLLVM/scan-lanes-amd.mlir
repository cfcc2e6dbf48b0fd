// Where no lane comes before another of its row, AMD's moves bring what changes nothing: -0 for a sum of floats, and a
// combination that has no such number selects.
// RUN: kiln-opt %s --kiln-tilegpu-to-llvm | FileCheck %s

#lanes = #tilegpu.layout<"register:; lane: 1 2 4 8 16; warp:; block: -> 32">
module attributes {tilegpu.target = "hip:gfx1100"} {

// CHECK-LABEL: llvm.func @sums
// CHECK: %[[NONE:.*]] = llvm.mlir.constant(-2147483648 : i32)
// CHECK: rocdl.update.dpp %[[NONE]]
// CHECK-NOT: llvm.select
// CHECK: rocdl.update.dpp %[[NONE]]
// CHECK-NOT: llvm.select
// CHECK: rocdl.update.dpp %[[NONE]]
// CHECK-NOT: llvm.select
// CHECK: rocdl.update.dpp %[[NONE]]
// CHECK-NOT: llvm.select
// CHECK: rocdl.permlanex16
// CHECK: llvm.select
// CHECK-NOT: llvm.select
// CHECK: llvm.return
func.func @sums(%p: !tile.ptr<f32>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.arange 0, 32 : tensor<32xi32, #lanes>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #lanes>
  %at = tile.addptr %ps, %i : tensor<32x!tile.ptr<f32>, #lanes>, tensor<32xi32, #lanes>
  %v = tile.load %at : (tensor<32x!tile.ptr<f32>, #lanes>) -> tensor<32xf32, #lanes>
  %s = tile.scan(%v) axis 0 : (tensor<32xf32, #lanes>) -> tensor<32xf32, #lanes> {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tile.yield %t : f32
  }
  tile.store %at, %s : (tensor<32x!tile.ptr<f32>, #lanes>, tensor<32xf32, #lanes>) -> ()
  func.return
}

// CHECK-LABEL: llvm.func @differences
// CHECK-COUNT-5: llvm.select
// CHECK: llvm.return
func.func @differences(%p: !tile.ptr<f32>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.arange 0, 32 : tensor<32xi32, #lanes>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #lanes>
  %at = tile.addptr %ps, %i : tensor<32x!tile.ptr<f32>, #lanes>, tensor<32xi32, #lanes>
  %v = tile.load %at : (tensor<32x!tile.ptr<f32>, #lanes>) -> tensor<32xf32, #lanes>
  %s = tile.scan(%v) axis 0 : (tensor<32xf32, #lanes>) -> tensor<32xf32, #lanes> {
  ^bb0(%a: f32, %b: f32):
    %t = arith.subf %a, %b : f32
    tile.yield %t : f32
  }
  tile.store %at, %s : (tensor<32x!tile.ptr<f32>, #lanes>, tensor<32xf32, #lanes>) -> ()
  func.return
}
}
