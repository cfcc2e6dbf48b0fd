// Where nothing says that neighbours are next to each other, remainders are expected to go on, and quotients to stay.
// RUN: kiln-opt %s --kiln-tile-to-tilegpu=target=cuda:sm_90a | FileCheck %s

// Pixels of an image of unknown width, side by side along axis 0; channels are strides of unknown length apart.
// CHECK-DAG: #[[PIXELS:.*]] = #tilegpu.layout<"register: {{.*}}; lane: 1,0 2,0 4,0 8,0 16,0; {{.*}} -> 64x32">
// CHECK-DAG: #[[COLUMN:.*]] = #tilegpu.layout<"register: {{.*}}; lane: 1,0 2,0 4,0 8,0 16,0; {{.*}} -> 64x64">
// CHECK-DAG: #[[ROW:.*]] = #tilegpu.layout<"register: 0,1 0,2 0,4 16,0 32,0; {{.*}} -> 64x64">
// CHECK-LABEL: func.func @image
// CHECK: tile.load {{.*}} -> tensor<64x32xf16, #[[PIXELS]]>
func.func @image(%p: !tile.ptr<f16>, %width: i32, %row: i32, %channel: i32, %q: !tile.ptr<f16>) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %i = tile.arange 0, 64 : tensor<64xi32>
  %c = tile.arange 0, 32 : tensor<32xi32>
  %ws = tile.splat %width : i32 -> tensor<64xi32>
  %x = arith.remsi %i, %ws : tensor<64xi32>
  %y = arith.divsi %i, %ws : tensor<64xi32>
  %rows = tile.splat %row : i32 -> tensor<64xi32>
  %down = arith.muli %y, %rows : tensor<64xi32>
  %pixel = arith.addi %x, %down : tensor<64xi32>
  %pixels = tile.expand_dims %pixel, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %all = tile.broadcast %pixels : tensor<64x1xi32> -> tensor<64x32xi32>
  %cs = tile.splat %channel : i32 -> tensor<32xi32>
  %far = arith.muli %c, %cs : tensor<32xi32>
  %channels = tile.expand_dims %far, 0 : tensor<32xi32> -> tensor<1x32xi32>
  %wide = tile.broadcast %channels : tensor<1x32xi32> -> tensor<64x32xi32>
  %offset = arith.addi %all, %wide : tensor<64x32xi32>
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<64x32x!tile.ptr<f16>>
  %from = tile.addptr %ps, %offset : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi32>
  %v = tile.load %from : (tensor<64x32x!tile.ptr<f16>>) -> tensor<64x32xf16>
  %qs = tile.splat %q : !tile.ptr<f16> -> tensor<64x32x!tile.ptr<f16>>
  %to = tile.addptr %qs, %offset : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi32>
  tile.store %to, %v : (tensor<64x32x!tile.ptr<f16>>, tensor<64x32xf16>) -> ()
  return
}

// Of two strides that are arguments, one is no multiple of 16: so it is 1 if either is.
// CHECK-LABEL: func.func @columns
// CHECK: tile.load {{.*}} -> tensor<64x64xf16, #[[COLUMN]]>
// CHECK: tilegpu.convert_layout
func.func @columns(%p: !tile.ptr<f16>, %down: i32, %right: i32 {tile.divisibility = 16 : i32}, %q: !tile.ptr<f16> {tile.divisibility = 16 : i32}) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %i = tile.arange 0, 64 : tensor<64xi32>
  %rows = tile.expand_dims %i, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %columns = tile.expand_dims %i, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %d = tile.splat %down : i32 -> tensor<64x1xi32>
  %r = tile.splat %right : i32 -> tensor<1x64xi32>
  %y = arith.muli %rows, %d : tensor<64x1xi32>
  %x = arith.muli %columns, %r : tensor<1x64xi32>
  %ys = tile.broadcast %y : tensor<64x1xi32> -> tensor<64x64xi32>
  %xs = tile.broadcast %x : tensor<1x64xi32> -> tensor<64x64xi32>
  %offset = arith.addi %ys, %xs : tensor<64x64xi32>
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %from = tile.addptr %ps, %offset : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %v = tile.load %from : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  %c64 = arith.constant dense<64> : tensor<64x1xi32>
  %yq = arith.muli %rows, %c64 : tensor<64x1xi32>
  %yqs = tile.broadcast %yq : tensor<64x1xi32> -> tensor<64x64xi32>
  %xqs = tile.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %yqs, %xqs : tensor<64x64xi32>
  %qs = tile.splat %q : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %to = tile.addptr %qs, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  tile.store %to, %v : (tensor<64x64x!tile.ptr<f16>>, tensor<64x64xf16>) -> ()
  return
}

// Nothing can be said of these.
// CHECK-LABEL: func.func @unknown
// CHECK: tile.load {{.*}} -> tensor<64x64xf16, #[[ROW]]>
// CHECK-NOT: tilegpu.convert_layout
func.func @unknown(%p: !tile.ptr<f16>, %down: i32, %right: i32, %q: !tile.ptr<f16> {tile.divisibility = 16 : i32}) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %i = tile.arange 0, 64 : tensor<64xi32>
  %rows = tile.expand_dims %i, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %columns = tile.expand_dims %i, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %d = tile.splat %down : i32 -> tensor<64x1xi32>
  %r = tile.splat %right : i32 -> tensor<1x64xi32>
  %y = arith.muli %rows, %d : tensor<64x1xi32>
  %x = arith.muli %columns, %r : tensor<1x64xi32>
  %ys = tile.broadcast %y : tensor<64x1xi32> -> tensor<64x64xi32>
  %xs = tile.broadcast %x : tensor<1x64xi32> -> tensor<64x64xi32>
  %offset = arith.addi %ys, %xs : tensor<64x64xi32>
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %from = tile.addptr %ps, %offset : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %v = tile.load %from : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  %c64 = arith.constant dense<64> : tensor<64x1xi32>
  %yq = arith.muli %rows, %c64 : tensor<64x1xi32>
  %yqs = tile.broadcast %yq : tensor<64x1xi32> -> tensor<64x64xi32>
  %xqs = tile.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %yqs, %xqs : tensor<64x64xi32>
  %qs = tile.splat %q : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %to = tile.addptr %qs, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  tile.store %to, %v : (tensor<64x64x!tile.ptr<f16>>, tensor<64x64xf16>) -> ()
  return
}
