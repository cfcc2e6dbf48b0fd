// Rows by an index that is loaded once: what is stored there has the rows in the threads that loaded the index for another tile, and no index goes from thread to thread.
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx942},canonicalize,cse)" %s | FileCheck %s

// CHECK-DAG: #[[STORED:.*]] = #tilegpu.layout<"register: 0,32 8,0 16,0 32,0; lane: 0,1 0,2 0,4 0,8 0,16 1,0; warp: 2,0 4,0; block: -> 64x64">
// CHECK-DAG: #[[LOADED:.*]] = #tilegpu.layout<"register: 8,0 16,0 32,0; lane: 0,1 0,2 0,4 0,8 0,16 1,0; warp: 2,0 4,0; block: -> 64x32">
// CHECK-LABEL: func.func @kernel
// CHECK-NOT: tilegpu.convert_layout
// CHECK: tile.load {{.*}} -> tensor<64x32xf16, #[[LOADED]]>
// CHECK-NOT: tilegpu.convert_layout
// CHECK: tile.store {{.*}} (tensor<64x64x!tile.ptr<f16>, #[[STORED]]>
func.func @kernel(%indices: !tile.ptr<i32>, %x: !tile.ptr<f16>, %y: !tile.ptr<f16>, %z: !tile.ptr<f32>) attributes {tile.kernel, tile.num_ctas = 1 : i32, tile.num_stages = 1 : i32, tile.num_warps = 4 : i32} {
  %sixtyFour = arith.constant dense<64> : tensor<64x1xi32>
  %thirtyThree = arith.constant dense<33> : tensor<64x1xi32>
  %one = arith.constant dense<1.000000e+00> : tensor<64x64xf16>
  %rows = tile.arange 0, 64 : tensor<64xi32>
  %columns = tile.arange 0, 32 : tensor<32xi32>
  %ps = tile.splat %indices : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
  %p = tile.addptr %ps, %rows : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  %index = tile.load %p : (tensor<64x!tile.ptr<i32>>) -> tensor<64xi32>
  %row = tile.expand_dims %index, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %ofX = arith.muli %row, %thirtyThree : tensor<64x1xi32>
  %column = tile.expand_dims %columns, 0 : tensor<32xi32> -> tensor<1x32xi32>
  %rowsOfX = tile.broadcast %ofX : tensor<64x1xi32> -> tensor<64x32xi32>
  %columnsOfX = tile.broadcast %column : tensor<1x32xi32> -> tensor<64x32xi32>
  %offsets = arith.addi %rowsOfX, %columnsOfX : tensor<64x32xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<64x32x!tile.ptr<f16>>
  %atX = tile.addptr %xs, %offsets : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi32>
  %loaded = tile.load %atX : (tensor<64x32x!tile.ptr<f16>>) -> tensor<64x32xf16>
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<64x32x!tile.ptr<f32>>
  %atZ = tile.addptr %zs, %offsets : tensor<64x32x!tile.ptr<f32>>, tensor<64x32xi32>
  %wide = arith.extf %loaded : tensor<64x32xf16> to tensor<64x32xf32>
  tile.store %atZ, %wide : (tensor<64x32x!tile.ptr<f32>>, tensor<64x32xf32>) -> ()
  %ofY = arith.muli %row, %sixtyFour : tensor<64x1xi32>
  %all = tile.expand_dims %rows, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %rowsOfY = tile.broadcast %ofY : tensor<64x1xi32> -> tensor<64x64xi32>
  %columnsOfY = tile.broadcast %all : tensor<1x64xi32> -> tensor<64x64xi32>
  %offsetsOfY = arith.addi %rowsOfY, %columnsOfY : tensor<64x64xi32>
  %ys = tile.splat %y : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %atY = tile.addptr %ys, %offsetsOfY : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  tile.store %atY, %one : (tensor<64x64x!tile.ptr<f16>>, tensor<64x64xf16>) -> ()
  return
}
