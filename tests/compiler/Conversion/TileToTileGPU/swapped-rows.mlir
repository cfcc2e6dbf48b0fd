// gfx950: what a product makes is stored in eight neighbours a lane, for which lanes swap words with one another; nothing goes through shared memory behind it.
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx950},canonicalize,cse)" %s | FileCheck %s
// gfx942 has no such instruction: rows of whole lines, by other warps' lanes.
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx942},canonicalize,cse)" %s | FileCheck %s --check-prefix=LINES

// CHECK-DAG: #[[SUM:.*]] = #tilegpu.layout<"register: 0,1 0,2 0,8 0,16 0,64 64,0; lane: 1,0 2,0 4,0 8,0 16,0 0,4; warp: 0,32 32,0; block: -> 128x128">
// CHECK-DAG: #[[ROWS:.*]] = #tilegpu.layout<"register: 0,1 0,2 0,4 0,16 0,64 64,0; lane: 1,0 2,0 4,0 8,0 16,0 0,8; warp: 0,32 32,0; block: -> 128x128">
// CHECK: tilegpu.dot
// CHECK: %[[NARROW:.*]] = arith.truncf {{.*}} : tensor<128x128xf32, #[[SUM]]> to tensor<128x128xf16, #[[SUM]]>
// CHECK: %[[STORED:.*]] = tilegpu.convert_layout %[[NARROW]] : tensor<128x128xf16, #[[SUM]]> -> tensor<128x128xf16, #[[ROWS]]>
// CHECK: tile.store {{.*}}, %[[STORED]]

// LINES: #[[LINES:.*]] = #tilegpu.layout<"register: 0,1 0,2 0,4 16,0 32,0 64,0; lane: 0,8 0,16 0,32 0,64 1,0 2,0; warp: 4,0 8,0; block: -> 128x128">
// LINES: tilegpu.dot
// LINES: %[[STORED:.*]] = tilegpu.convert_layout {{.*}} -> tensor<128x128xf16, #[[LINES]]>
// LINES: tile.store {{.*}}, %[[STORED]]
func.func @kernel(%left: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %right: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %out: !tile.ptr<f16> {tile.divisibility = 16 : i32}) attributes {tile.kernel, tile.num_ctas = 1 : i32, tile.num_stages = 1 : i32, tile.num_warps = 4 : i32} {
  %zero = arith.constant dense<0.000000e+00> : tensor<128x128xf32>
  %length = arith.constant dense<128> : tensor<128x1xi32>
  %i = tile.arange 0, 128 : tensor<128xi32>
  %row = tile.expand_dims %i, 1 : tensor<128xi32> -> tensor<128x1xi32>
  %begin = arith.muli %row, %length : tensor<128x1xi32>
  %column = tile.expand_dims %i, 0 : tensor<128xi32> -> tensor<1x128xi32>
  %columns = tile.broadcast %column : tensor<1x128xi32> -> tensor<128x128xi32>
  %a = tile.splat %left : !tile.ptr<f16> -> tensor<128x1x!tile.ptr<f16>>
  %rowsOfA = tile.addptr %a, %begin : tensor<128x1x!tile.ptr<f16>>, tensor<128x1xi32>
  %allOfA = tile.broadcast %rowsOfA : tensor<128x1x!tile.ptr<f16>> -> tensor<128x128x!tile.ptr<f16>>
  %placesOfA = tile.addptr %allOfA, %columns : tensor<128x128x!tile.ptr<f16>>, tensor<128x128xi32>
  %x = tile.load %placesOfA : (tensor<128x128x!tile.ptr<f16>>) -> tensor<128x128xf16>
  %b = tile.splat %right : !tile.ptr<f16> -> tensor<128x1x!tile.ptr<f16>>
  %rowsOfB = tile.addptr %b, %begin : tensor<128x1x!tile.ptr<f16>>, tensor<128x1xi32>
  %allOfB = tile.broadcast %rowsOfB : tensor<128x1x!tile.ptr<f16>> -> tensor<128x128x!tile.ptr<f16>>
  %placesOfB = tile.addptr %allOfB, %columns : tensor<128x128x!tile.ptr<f16>>, tensor<128x128xi32>
  %y = tile.load %placesOfB : (tensor<128x128x!tile.ptr<f16>>) -> tensor<128x128xf16>
  %d = tile.dot %x, %y, %zero : (tensor<128x128xf16>, tensor<128x128xf16>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %narrow = arith.truncf %d : tensor<128x128xf32> to tensor<128x128xf16>
  %c = tile.splat %out : !tile.ptr<f16> -> tensor<128x1x!tile.ptr<f16>>
  %rows = tile.addptr %c, %begin : tensor<128x1x!tile.ptr<f16>>, tensor<128x1xi32>
  %all = tile.broadcast %rows : tensor<128x1x!tile.ptr<f16>> -> tensor<128x128x!tile.ptr<f16>>
  %places = tile.addptr %all, %columns : tensor<128x128x!tile.ptr<f16>>, tensor<128x128xi32>
  tile.store %places, %narrow : (tensor<128x128x!tile.ptr<f16>>, tensor<128x128xf16>) -> ()
  return
}
