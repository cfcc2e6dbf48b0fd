// Operands of which no two elements that are side by side are known: a thread loads those one by one that a lane of the unit reads at once.
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx942},canonicalize,cse)" %s | FileCheck %s --check-prefix=EIGHT
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx1100},canonicalize,cse)" %s | FileCheck %s --check-prefix=SIXTEEN
// Not where a code of it has spilled.
// RUN: sed "s/^func.func/module attributes {tilegpu.whole_operands} { func.func/; s/^}$/}}/" %s | kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx1100},canonicalize,cse)" | FileCheck %s --check-prefix=NONE

// NONE: #[[LOADED:.*]] = #tilegpu.layout<"register: 0,32 4,0 8,0 16,0 32,0; lane: 0,1 0,2 0,4 0,8 0,16; warp: 1,0 2,0; block: -> 64x64">
// NONE: tile.load {{.*}} -> tensor<64x64xf16, #[[LOADED]]>
// EIGHT: #[[LOADED:.*]] = #tilegpu.layout<"register: 1,0 2,0 16,0 32,0; lane: 0,1 0,2 0,4 0,8 0,16 0,32; warp: 4,0 8,0; block: -> 64x64">
// EIGHT: tile.load {{.*}} -> tensor<64x64xf16, #[[LOADED]]>
// SIXTEEN: #[[LOADED:.*]] = #tilegpu.layout<"register: 1,0 2,0 4,0 0,32 32,0; lane: 0,1 0,2 0,4 0,8 0,16; warp: 8,0 16,0; block: -> 64x64">
// SIXTEEN: tile.load {{.*}} -> tensor<64x64xf16, #[[LOADED]]>
func.func @kernel(%x: !tile.ptr<f16>, %y: !tile.ptr<f16>, %z: !tile.ptr<f32>, %sx: i32, %sy: i32) attributes {tile.kernel, tile.num_ctas = 1 : i32, tile.num_stages = 1 : i32, tile.num_warps = 4 : i32} {
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %range = tile.arange 0, 64 : tensor<64xi32>
  %column = tile.expand_dims %range, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %row = tile.expand_dims %range, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %rows = tile.broadcast %column : tensor<64x1xi32> -> tensor<64x64xi32>
  %columns = tile.broadcast %row : tensor<1x64xi32> -> tensor<64x64xi32>
  %stepX = tile.splat %sx : i32 -> tensor<64x64xi32>
  %ofX = arith.muli %rows, %stepX : tensor<64x64xi32>
  %offsetsX = arith.addi %ofX, %columns : tensor<64x64xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %atX = tile.addptr %xs, %offsetsX : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %stepY = tile.splat %sy : i32 -> tensor<64x64xi32>
  %ofY = arith.muli %rows, %stepY : tensor<64x64xi32>
  %offsetsY = arith.addi %ofY, %columns : tensor<64x64xi32>
  %ys = tile.splat %y : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %atY = tile.addptr %ys, %offsetsY : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %a = tile.load %atX : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  %b = tile.load %atY : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  %sum = tile.dot %a, %b, %c : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %atZ = tile.addptr %zs, %offsetsX : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %atZ, %sum : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}
