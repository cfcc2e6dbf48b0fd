// Sums across the rows of a product, of which a thread has 16 and 16 lanes the same: each of these stores one, which it chooses, where accesses cannot move neighbours.
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx942},canonicalize,cse)" %s | FileCheck %s

// CHECK-DAG: #[[DEALT:.*]] = #tilegpu.layout<"register:; lane: 32 16 2 1 4 8; warp: 0 0; block: -> 64">
// CHECK-DAG: #[[SUMS:.*]] = #tilegpu.layout<"register: 1 2 16 32; lane: 0 0 0 0 4 8; warp: 0 0; block: -> 64">
// CHECK: %[[SUM:.*]] = tile.reduce{{.*}} -> tensor<64xf32, #[[SUMS]]>
// CHECK: %[[STORED:.*]] = tilegpu.convert_layout %[[SUM]] : tensor<64xf32, #[[SUMS]]> -> tensor<64xf32, #[[DEALT]]>
// CHECK: tile.store {{.*}}, %[[STORED]]
func.func @kernel(%left: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %right: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %out: !tile.ptr<f32>) attributes {tile.kernel, tile.num_ctas = 1 : i32, tile.num_stages = 1 : i32, tile.num_warps = 4 : i32} {
  %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %length = arith.constant dense<64> : tensor<64x1xi32>
  %i = tile.arange 0, 64 : tensor<64xi32>
  %row = tile.expand_dims %i, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %begin = arith.muli %row, %length : tensor<64x1xi32>
  %column = tile.expand_dims %i, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %columns = tile.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
  %a = tile.splat %left : !tile.ptr<f16> -> tensor<64x1x!tile.ptr<f16>>
  %rowsOfA = tile.addptr %a, %begin : tensor<64x1x!tile.ptr<f16>>, tensor<64x1xi32>
  %allOfA = tile.broadcast %rowsOfA : tensor<64x1x!tile.ptr<f16>> -> tensor<64x64x!tile.ptr<f16>>
  %placesOfA = tile.addptr %allOfA, %columns : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %x = tile.load %placesOfA : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  %b = tile.splat %right : !tile.ptr<f16> -> tensor<64x1x!tile.ptr<f16>>
  %rowsOfB = tile.addptr %b, %begin : tensor<64x1x!tile.ptr<f16>>, tensor<64x1xi32>
  %allOfB = tile.broadcast %rowsOfB : tensor<64x1x!tile.ptr<f16>> -> tensor<64x64x!tile.ptr<f16>>
  %placesOfB = tile.addptr %allOfB, %columns : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %y = tile.load %placesOfB : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  %d = tile.dot %x, %y, %zero : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %sums = tile.reduce(%d) axis 0 : (tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%one: f32, %other: f32):
    %sum = arith.addf %one, %other : f32
    tile.yield %sum : f32
  }
  %c = tile.splat %out : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %places = tile.addptr %c, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  tile.store %places, %sums : (tensor<64x!tile.ptr<f32>>, tensor<64xf32>) -> ()
  return
}
