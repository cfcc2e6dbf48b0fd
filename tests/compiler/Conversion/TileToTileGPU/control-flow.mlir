// Values that loops carry and branches merge have one layout on all ways in.
// RUN: kiln-opt --kiln-tile-to-tilegpu=target=cuda:sm_80 --canonicalize --cse %s | FileCheck %s

// The accumulator of a row loop takes the loads' layout; its sum is a scalar.
// CHECK-LABEL: func.func @rowSum
// CHECK: %[[ACC:.*]] = scf.for {{.*}} -> (tensor<1024xf32, #[[L:.*]]>)
// CHECK: tile.load {{.*}} -> tensor<1024xf16, #[[L]]>
// CHECK: arith.extf {{.*}} : tensor<1024xf16, #[[L]]> to tensor<1024xf32, #[[L]]>
// CHECK-NOT: convert_layout
// CHECK: tile.reduce(%[[ACC]]) axis 0 : (tensor<1024xf32, #[[L]]>) -> f32
func.func @rowSum(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %out: !tile.ptr<f32>, %n: i32 {tile.divisibility = 16 : i32})
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 1024 : i32
  %acc0 = arith.constant dense<0.0> : tensor<1024xf32>
  %other = arith.constant dense<0.0> : tensor<1024xf16>
  %range = tile.arange 0, 1024 : tensor<1024xi32>
  %limit = tile.splat %n : i32 -> tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<1024x!tile.ptr<f16>>
  %sum = scf.for %i = %zero to %n step %step iter_args(%acc = %acc0) -> (tensor<1024xf32>) : i32 {
    %start = tile.splat %i : i32 -> tensor<1024xi32>
    %off = arith.addi %start, %range : tensor<1024xi32>
    %mask = arith.cmpi slt, %off, %limit : tensor<1024xi32>
    %p = tile.addptr %xs, %off : tensor<1024x!tile.ptr<f16>>, tensor<1024xi32>
    %v = tile.load %p mask %mask other %other : (tensor<1024x!tile.ptr<f16>>, tensor<1024xi1>, tensor<1024xf16>) -> tensor<1024xf16>
    %w = arith.extf %v : tensor<1024xf16> to tensor<1024xf32>
    %next = arith.addf %acc, %w : tensor<1024xf32>
    scf.yield %next : tensor<1024xf32>
  }
  %s = tile.reduce (%sum) axis 0 : (tensor<1024xf32>) -> f32 {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tile.yield %t : f32
  }
  tile.store %out, %s : (!tile.ptr<f32>, f32) -> ()
  return
}

// CHECK-LABEL: func.func @branch
// CHECK: %[[X:.*]] = tile.load {{.*}} -> tensor<256xf32, #[[L:.*]]>
// CHECK: scf.if {{.*}} -> (tensor<256xf32, #[[L]]>)
// CHECK: scf.yield {{.*}} : tensor<256xf32, #[[L]]>
// CHECK: scf.yield {{.*}} : tensor<256xf32, #[[L]]>
// CHECK-NOT: convert_layout
func.func @branch(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %c: i1)
    attributes {tile.kernel, tile.num_warps = 2 : i32} {
  %range = tile.arange 0, 256 : tensor<256xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %p = tile.addptr %xs, %range : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  %v = tile.load %p : (tensor<256x!tile.ptr<f32>>) -> tensor<256xf32>
  %r = scf.if %c -> tensor<256xf32> {
    %e = math.exp %v : tensor<256xf32>
    scf.yield %e : tensor<256xf32>
  } else {
    %one = arith.constant dense<1.0> : tensor<256xf32>
    scf.yield %one : tensor<256xf32>
  }
  tile.store %p, %r : (tensor<256x!tile.ptr<f32>>, tensor<256xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @while
// CHECK: scf.while {{.*}} : (tensor<256xf32, #[[L:.*]]>, i32) -> (tensor<256xf32, #[[L]]>, i32)
// CHECK: ^bb0(%{{.*}}: tensor<256xf32, #[[L]]>, %{{.*}}: i32):
// CHECK-NOT: convert_layout
func.func @while(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 2 : i32} {
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %range = tile.arange 0, 256 : tensor<256xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %p = tile.addptr %xs, %range : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  %v = tile.load %p : (tensor<256x!tile.ptr<f32>>) -> tensor<256xf32>
  %r:2 = scf.while (%a = %v, %i = %zero) : (tensor<256xf32>, i32) -> (tensor<256xf32>, i32) {
    %go = arith.cmpi slt, %i, %n : i32
    scf.condition(%go) %a, %i : tensor<256xf32>, i32
  } do {
  ^bb0(%b: tensor<256xf32>, %j: i32):
    %d = arith.addf %b, %b : tensor<256xf32>
    %k = arith.addi %j, %one : i32
    scf.yield %d, %k : tensor<256xf32>, i32
  }
  tile.store %p, %r#0 : (tensor<256x!tile.ptr<f32>>, tensor<256xf32>) -> ()
  return
}

// A transposed copy converts once, through shared memory, and both accesses stay coalesced.
// CHECK-LABEL: func.func @transpose
// CHECK: %[[X:.*]] = tile.load {{.*}} -> tensor<64x64xf32, #[[L:.*]]>
// CHECK: %[[T:.*]] = tile.trans %[[X]], [1, 0]
// CHECK: %[[Y:.*]] = tilegpu.convert_layout %[[T]] : {{.*}} -> tensor<64x64xf32, #[[L]]>
// CHECK: tile.store {{.*}}, %[[Y]]
func.func @transpose(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                     %stride: i32 {tile.divisibility = 16 : i32}) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %r = tile.arange 0, 64 : tensor<64xi32>
  %strides = tile.splat %stride : i32 -> tensor<64xi32>
  %ro = arith.muli %r, %strides : tensor<64xi32>
  %r1 = tile.expand_dims %ro, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %r2 = tile.broadcast %r1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %c1 = tile.expand_dims %r, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %c2 = tile.broadcast %c1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %off = arith.addi %r2, %c2 : tensor<64x64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %off : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  %v = tile.load %xp : (tensor<64x64x!tile.ptr<f32>>) -> tensor<64x64xf32>
  %t = tile.trans %v, [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %off : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %yp, %t : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}
