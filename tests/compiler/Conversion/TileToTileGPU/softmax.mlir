// Row softmax over a 2-D tile: the reductions, their expansion and the broadcast keep the tile's
// layout, the rows' maxima and sums are its slices, and nothing is converted.
// RUN: kiln-opt --kiln-tile-to-tilegpu=target=cuda:sm_90a --canonicalize --cse %s | FileCheck %s

// CHECK-LABEL: func.func @softmax
// CHECK-NOT: convert_layout
// CHECK: %[[X:.*]] = tile.load {{.*}} -> tensor<16x256xf32, #[[TILE:.*]]>
// CHECK: %[[MAX:.*]] = tile.reduce(%[[X]]) axis 1 : (tensor<16x256xf32, #[[TILE]]>) -> tensor<16xf32, #[[ROWS:.*]]> {
// CHECK: tile.expand_dims %[[MAX]], 1 : tensor<16xf32, #[[ROWS]]> -> tensor<16x1xf32, #[[COLUMN:.*]]>
// CHECK: tile.broadcast {{.*}} : tensor<16x1xf32, #[[COLUMN]]> -> tensor<16x256xf32, #[[TILE]]>
// CHECK-NOT: convert_layout
// CHECK: return
func.func @softmax(%in: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %out: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                   %stride: i32 {tile.divisibility = 16 : i32})
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %rows = tile.arange 0, 16 : tensor<16xi32>
  %columns = tile.arange 0, 256 : tensor<256xi32>
  %strides = tile.splat %stride : i32 -> tensor<16xi32>
  %ro = arith.muli %rows, %strides : tensor<16xi32>
  %r1 = tile.expand_dims %ro, 1 : tensor<16xi32> -> tensor<16x1xi32>
  %r2 = tile.broadcast %r1 : tensor<16x1xi32> -> tensor<16x256xi32>
  %c1 = tile.expand_dims %columns, 0 : tensor<256xi32> -> tensor<1x256xi32>
  %c2 = tile.broadcast %c1 : tensor<1x256xi32> -> tensor<16x256xi32>
  %offsets = arith.addi %r2, %c2 : tensor<16x256xi32>
  %ins = tile.splat %in : !tile.ptr<f32> -> tensor<16x256x!tile.ptr<f32>>
  %inp = tile.addptr %ins, %offsets : tensor<16x256x!tile.ptr<f32>>, tensor<16x256xi32>
  %x = tile.load %inp : (tensor<16x256x!tile.ptr<f32>>) -> tensor<16x256xf32>
  %max = tile.reduce (%x) axis 1 : (tensor<16x256xf32>) -> tensor<16xf32> {
  ^bb0(%l: f32, %r: f32):
    %m = arith.maxnumf %l, %r : f32
    tile.yield %m : f32
  }
  %max1 = tile.expand_dims %max, 1 : tensor<16xf32> -> tensor<16x1xf32>
  %max2 = tile.broadcast %max1 : tensor<16x1xf32> -> tensor<16x256xf32>
  %shifted = arith.subf %x, %max2 : tensor<16x256xf32>
  %e = math.exp %shifted : tensor<16x256xf32>
  %sum = tile.reduce (%e) axis 1 : (tensor<16x256xf32>) -> tensor<16xf32> {
  ^bb0(%l: f32, %r: f32):
    %s = arith.addf %l, %r : f32
    tile.yield %s : f32
  }
  %sum1 = tile.expand_dims %sum, 1 : tensor<16xf32> -> tensor<16x1xf32>
  %sum2 = tile.broadcast %sum1 : tensor<16x1xf32> -> tensor<16x256xf32>
  %y = arith.divf %e, %sum2 : tensor<16x256xf32>
  %outs = tile.splat %out : !tile.ptr<f32> -> tensor<16x256x!tile.ptr<f32>>
  %outp = tile.addptr %outs, %offsets : tensor<16x256x!tile.ptr<f32>>, tensor<16x256xi32>
  tile.store %outp, %y : (tensor<16x256x!tile.ptr<f32>>, tensor<16x256xf32>) -> ()
  return
}
