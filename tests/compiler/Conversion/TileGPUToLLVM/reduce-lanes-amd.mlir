// Where lanes swap words (CDNA 4), both of two lanes combine both of their elements, without a choice.
// RUN: kiln-opt %s --kiln-tilegpu-to-llvm | FileCheck %s

#lanes = #tilegpu.layout<"register:; lane: 0 0 0 0 1 2; warp:; block: -> 4">
module attributes {tilegpu.target = "hip:gfx950"} {

// CHECK-LABEL: llvm.func @sum
// CHECK: %[[ROWS:.*]] = rocdl.permlane16.swap
// CHECK-NOT: llvm.select
// CHECK: llvm.extractvalue %[[ROWS]][0]
// CHECK: llvm.extractvalue %[[ROWS]][1]
// CHECK: llvm.fadd
// CHECK: rocdl.permlane32.swap
// CHECK-NOT: llvm.select
// CHECK: llvm.fadd
// CHECK-NOT: ds_bpermute
func.func @sum(%p: !tile.ptr<f32>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.arange 0, 4 : tensor<4xi32, #lanes>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>, #lanes>
  %at = tile.addptr %ps, %i : tensor<4x!tile.ptr<f32>, #lanes>, tensor<4xi32, #lanes>
  %v = tile.load %at : (tensor<4x!tile.ptr<f32>, #lanes>) -> tensor<4xf32, #lanes>
  %s = tile.reduce(%v) axis 0 : (tensor<4xf32, #lanes>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tile.yield %t : f32
  }
  tile.store %p, %s : (!tile.ptr<f32>, f32) -> ()
  func.return
}

}
