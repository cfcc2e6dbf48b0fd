// Bytes that are loaded one by one, and of which a thread has a whole column: there is no further element for every second one to come from.
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx1100},canonicalize,cse)" %s | FileCheck %s

// CHECK: tile.load {{.*}} -> tensor<16x128xi8,
// CHECK: tilegpu.dot
func.func @kernel(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %y: !tile.ptr<i8>, %z: !tile.ptr<f32>, %stride: i32) attributes {tile.kernel, tile.num_ctas = 1 : i32, tile.num_stages = 1 : i32, tile.num_warps = 4 : i32} {
  %zero = arith.constant dense<0.0> : tensor<16x128xf32>
  %length = arith.constant dense<16> : tensor<16x1xi32>
  %width = arith.constant dense<128> : tensor<16x1xi32>
  %m = tile.arange 0, 16 : tensor<16xi32>
  %n = tile.arange 0, 128 : tensor<128xi32>
  %column = tile.expand_dims %m, 1 : tensor<16xi32> -> tensor<16x1xi32>
  %short = tile.expand_dims %m, 0 : tensor<16xi32> -> tensor<1x16xi32>
  %long = tile.expand_dims %n, 0 : tensor<128xi32> -> tensor<1x128xi32>
  %lines = arith.muli %column, %length : tensor<16x1xi32>
  %linesX = tile.broadcast %lines : tensor<16x1xi32> -> tensor<16x16xi32>
  %columnsX = tile.broadcast %short : tensor<1x16xi32> -> tensor<16x16xi32>
  %offsetsX = arith.addi %linesX, %columnsX : tensor<16x16xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<16x16x!tile.ptr<f16>>
  %atX = tile.addptr %xs, %offsetsX : tensor<16x16x!tile.ptr<f16>>, tensor<16x16xi32>
  %strides = tile.splat %stride : i32 -> tensor<1x128xi32>
  %ofY = arith.muli %long, %strides : tensor<1x128xi32>
  %linesY = tile.broadcast %ofY : tensor<1x128xi32> -> tensor<16x128xi32>
  %columnsY = tile.broadcast %column : tensor<16x1xi32> -> tensor<16x128xi32>
  %offsetsY = arith.addi %linesY, %columnsY : tensor<16x128xi32>
  %ys = tile.splat %y : !tile.ptr<i8> -> tensor<16x128x!tile.ptr<i8>>
  %atY = tile.addptr %ys, %offsetsY : tensor<16x128x!tile.ptr<i8>>, tensor<16x128xi32>
  %a = tile.load %atX : (tensor<16x16x!tile.ptr<f16>>) -> tensor<16x16xf16>
  %bytes = tile.load %atY : (tensor<16x128x!tile.ptr<i8>>) -> tensor<16x128xi8>
  %b = arith.sitofp %bytes : tensor<16x128xi8> to tensor<16x128xf16>
  %sum = tile.dot %a, %b, %zero : (tensor<16x16xf16>, tensor<16x128xf16>, tensor<16x128xf32>) -> tensor<16x128xf32>
  %ofZ = arith.muli %column, %width : tensor<16x1xi32>
  %linesZ = tile.broadcast %ofZ : tensor<16x1xi32> -> tensor<16x128xi32>
  %columnsZ = tile.broadcast %long : tensor<1x128xi32> -> tensor<16x128xi32>
  %offsetsZ = arith.addi %linesZ, %columnsZ : tensor<16x128xi32>
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<16x128x!tile.ptr<f32>>
  %atZ = tile.addptr %zs, %offsetsZ : tensor<16x128x!tile.ptr<f32>>, tensor<16x128xi32>
  tile.store %atZ, %sum : (tensor<16x128x!tile.ptr<f32>>, tensor<16x128xf32>) -> ()
  return
}
