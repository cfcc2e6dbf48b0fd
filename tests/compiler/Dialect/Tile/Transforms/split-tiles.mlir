// What becomes a loop over slices, along which axis, and what stays whole.
// RUN: kiln-opt %s --kiln-split-tiles=warp-size=32 | FileCheck %s

// 1024 elements in each of 32 threads: 16 slices of 64, of whole rows.
// CHECK-LABEL: @masked
// CHECK-NOT: tensor<128x256x
// CHECK: scf.for %[[START:.*]] = %c0_i32 to %c128_i32 step %c8_i32
// CHECK: %[[FIRST:.*]] = tile.splat %[[START]] : i32 -> tensor<8xi32>
// CHECK: arith.addi %[[FIRST]], %{{.*}} : tensor<8xi32>
// CHECK: tile.load {{.*}} -> tensor<8x256xf32>
// CHECK: arith.addf {{.*}} : tensor<8x256xf32>
// CHECK: tile.store {{.*}} mask
// CHECK-NOT: tensor<128x256x
// CHECK: return
func.func @masked(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %n: i32) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.arange 0, 128 : tensor<128xi32>
  %j = tile.arange 0, 256 : tensor<256xi32>
  %i1 = tile.expand_dims %i, 1 : tensor<128xi32> -> tensor<128x1xi32>
  %j0 = tile.expand_dims %j, 0 : tensor<256xi32> -> tensor<1x256xi32>
  %stride = arith.constant dense<256> : tensor<128x1xi32>
  %row = arith.muli %i1, %stride : tensor<128x1xi32>
  %rows = tile.broadcast %row : tensor<128x1xi32> -> tensor<128x256xi32>
  %columns = tile.broadcast %j0 : tensor<1x256xi32> -> tensor<128x256xi32>
  %at = arith.addi %rows, %columns : tensor<128x256xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<128x256x!tile.ptr<f32>>
  %from = tile.addptr %ps, %at : tensor<128x256x!tile.ptr<f32>>, tensor<128x256xi32>
  %ns = tile.splat %n : i32 -> tensor<128x256xi32>
  %m = arith.cmpi slt, %at, %ns : tensor<128x256xi32>
  %x = tile.load %from : (tensor<128x256x!tile.ptr<f32>>) -> tensor<128x256xf32>
  %y = arith.addf %x, %x : tensor<128x256xf32>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<128x256x!tile.ptr<f32>>
  %to = tile.addptr %qs, %at : tensor<128x256x!tile.ptr<f32>>, tensor<128x256xi32>
  tile.store %to, %y mask %m : (tensor<128x256x!tile.ptr<f32>>, tensor<128x256xf32>, tensor<128x256xi1>) -> ()
  func.return
}

// Threads that hold 256 elements keep them.
// CHECK-LABEL: @fits
// CHECK-NOT: scf.for
// CHECK: tile.load {{.*}} -> tensor<8192xf32>
func.func @fits(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.arange 0, 8192 : tensor<8192xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<8192x!tile.ptr<f32>>
  %from = tile.addptr %ps, %i : tensor<8192x!tile.ptr<f32>>, tensor<8192xi32>
  %x = tile.load %from : (tensor<8192x!tile.ptr<f32>>) -> tensor<8192xf32>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<8192x!tile.ptr<f32>>
  %to = tile.addptr %qs, %i : tensor<8192x!tile.ptr<f32>>, tensor<8192xi32>
  tile.store %to, %x : (tensor<8192x!tile.ptr<f32>>, tensor<8192xf32>) -> ()
  func.return
}

// A sum along the only axis starts at the neutral element, and is there after the loop.
// CHECK-LABEL: @sum
// CHECK: %[[NONE:.*]] = arith.constant -0.000000e+00 : f32
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[SO_FAR:.*]] = %[[NONE]]) -> (f32)
// CHECK: %[[PART:.*]] = tile.reduce{{.*}} : (tensor<2048xf32>) -> f32
// CHECK: %[[NEXT:.*]] = arith.addf %[[SO_FAR]], %[[PART]]
// CHECK: scf.yield %[[NEXT]]
// CHECK: tile.store %{{.*}}, %[[SUM]]
func.func @sum(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.arange 0, 32768 : tensor<32768xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<32768x!tile.ptr<f32>>
  %from = tile.addptr %ps, %i : tensor<32768x!tile.ptr<f32>>, tensor<32768xi32>
  %x = tile.load %from : (tensor<32768x!tile.ptr<f32>>) -> tensor<32768xf32>
  %s = tile.reduce(%x) axis 0 : (tensor<32768xf32>) -> f32 {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tile.yield %t : f32
  }
  tile.store %q, %s : (!tile.ptr<f32>, f32) -> ()
  func.return
}

// A scan along rows goes by rows, one along columns by columns; their sums along rows follow.
// CHECK-LABEL: @scan
// CHECK: scf.for
// CHECK: tile.scan{{.*}} : (tensor<8x256xf32>) -> tensor<8x256xf32>
// CHECK: tile.reduce{{.*}} : (tensor<8x256xf32>) -> tensor<8xf32>
// CHECK: tile.store {{.*}} tensor<8xf32>
// CHECK: scf.for {{.*}} -> (tensor<128xf32>)
// CHECK: tile.scan{{.*}} : (tensor<128x16xf32>) -> tensor<128x16xf32>
// CHECK: tile.reduce{{.*}} : (tensor<128x16xf32>) -> tensor<128xf32>
// CHECK: tile.store {{.*}} tensor<128xf32>
func.func @scan(%from: !tile.ptr<f32>, %q: !tile.ptr<f32>, %r: !tile.ptr<f32>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.arange 0, 128 : tensor<128xi32>
  %i1 = tile.expand_dims %i, 1 : tensor<128xi32> -> tensor<128x1xi32>
  %at = tile.broadcast %i1 : tensor<128x1xi32> -> tensor<128x256xi32>
  %ps = tile.splat %from : !tile.ptr<f32> -> tensor<128x256x!tile.ptr<f32>>
  %ptrs = tile.addptr %ps, %at : tensor<128x256x!tile.ptr<f32>>, tensor<128x256xi32>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %qptrs = tile.addptr %qs, %i : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %rs = tile.splat %r : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %rptrs = tile.addptr %rs, %i : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %x = tile.load %ptrs : (tensor<128x256x!tile.ptr<f32>>) -> tensor<128x256xf32>
  %along = tile.scan(%x) axis 1 : (tensor<128x256xf32>) -> tensor<128x256xf32> {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tile.yield %t : f32
  }
  %sums = tile.reduce(%along) axis 1 : (tensor<128x256xf32>) -> tensor<128xf32> {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tile.yield %t : f32
  }
  tile.store %qptrs, %sums : (tensor<128x!tile.ptr<f32>>, tensor<128xf32>) -> ()
  %y = tile.load %ptrs : (tensor<128x256x!tile.ptr<f32>>) -> tensor<128x256xf32>
  %down = tile.scan(%y) axis 0 : (tensor<128x256xf32>) -> tensor<128x256xf32> {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tile.yield %t : f32
  }
  %more = tile.reduce(%down) axis 1 : (tensor<128x256xf32>) -> tensor<128xf32> {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tile.yield %t : f32
  }
  tile.store %rptrs, %more : (tensor<128x!tile.ptr<f32>>, tensor<128xf32>) -> ()
  func.return
}

// A running sum from outside is no sum of slices: its elements are picked out. The other is the same
// for all slices.
// CHECK-LABEL: @outside
// CHECK: %[[DOWN:.*]] = tile.scan
// CHECK: %[[ALONG:.*]] = tile.scan
// CHECK: scf.for
// CHECK: tile.gather %[[DOWN]], %{{.*}} axis 0 : (tensor<128xf32>, tensor<8xi32>) -> tensor<8xf32>
// CHECK-NOT: tile.gather
// CHECK: tile.store {{.*}} tensor<8x256xf32>
func.func @outside(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.arange 0, 128 : tensor<128xi32>
  %j = tile.arange 0, 256 : tensor<256xi32>
  %u = arith.sitofp %i : tensor<128xi32> to tensor<128xf32>
  %v = arith.sitofp %j : tensor<256xi32> to tensor<256xf32>
  %down = tile.scan(%u) axis 0 : (tensor<128xf32>) -> tensor<128xf32> {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tile.yield %t : f32
  }
  %along = tile.scan(%v) axis 0 : (tensor<256xf32>) -> tensor<256xf32> {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tile.yield %t : f32
  }
  %down1 = tile.expand_dims %down, 1 : tensor<128xf32> -> tensor<128x1xf32>
  %along0 = tile.expand_dims %along, 0 : tensor<256xf32> -> tensor<1x256xf32>
  %left = tile.broadcast %down1 : tensor<128x1xf32> -> tensor<128x256xf32>
  %right = tile.broadcast %along0 : tensor<1x256xf32> -> tensor<128x256xf32>
  %d = arith.subf %left, %right : tensor<128x256xf32>
  %i1 = tile.expand_dims %i, 1 : tensor<128xi32> -> tensor<128x1xi32>
  %at = tile.broadcast %i1 : tensor<128x1xi32> -> tensor<128x256xi32>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<128x256x!tile.ptr<f32>>
  %to = tile.addptr %qs, %at : tensor<128x256x!tile.ptr<f32>>, tensor<128x256xi32>
  tile.store %to, %d : (tensor<128x256x!tile.ptr<f32>>, tensor<128x256xf32>) -> ()
  func.return
}

// The maximum of the whole is not known before the last slice, and every element needs it.
// CHECK-LABEL: @whole
// CHECK-NOT: scf.for
// CHECK: return
func.func @whole(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.arange 0, 32768 : tensor<32768xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<32768x!tile.ptr<f32>>
  %from = tile.addptr %ps, %i : tensor<32768x!tile.ptr<f32>>, tensor<32768xi32>
  %x = tile.load %from : (tensor<32768x!tile.ptr<f32>>) -> tensor<32768xf32>
  %m = tile.reduce(%x) axis 0 : (tensor<32768xf32>) -> f32 {
  ^bb0(%l: f32, %r: f32):
    %t = arith.maximumf %l, %r : f32
    tile.yield %t : f32
  }
  %ms = tile.splat %m : f32 -> tensor<32768xf32>
  %y = arith.subf %x, %ms : tensor<32768xf32>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<32768x!tile.ptr<f32>>
  %to = tile.addptr %qs, %i : tensor<32768x!tile.ptr<f32>>, tensor<32768xi32>
  tile.store %to, %y : (tensor<32768x!tile.ptr<f32>>, tensor<32768xf32>) -> ()
  func.return
}

// Stores at other places of the array that is read would come before later slices' loads.
// CHECK-LABEL: @shifted
// CHECK-NOT: scf.for
// CHECK: return
func.func @shifted(%p: !tile.ptr<f32>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.arange 0, 32768 : tensor<32768xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<32768x!tile.ptr<f32>>
  %from = tile.addptr %ps, %i : tensor<32768x!tile.ptr<f32>>, tensor<32768xi32>
  %x = tile.load %from : (tensor<32768x!tile.ptr<f32>>) -> tensor<32768xf32>
  %one = arith.constant dense<1> : tensor<32768xi32>
  %to = tile.addptr %from, %one : tensor<32768x!tile.ptr<f32>>, tensor<32768xi32>
  tile.store %to, %x : (tensor<32768x!tile.ptr<f32>>, tensor<32768xf32>) -> ()
  func.return
}

// A barrier says that all loads come before all stores.
// CHECK-LABEL: @barrier
// CHECK-NOT: scf.for
// CHECK: return
func.func @barrier(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.arange 0, 32768 : tensor<32768xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<32768x!tile.ptr<f32>>
  %from = tile.addptr %ps, %i : tensor<32768x!tile.ptr<f32>>, tensor<32768xi32>
  %x = tile.load %from : (tensor<32768x!tile.ptr<f32>>) -> tensor<32768xf32>
  tile.barrier
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<32768x!tile.ptr<f32>>
  %to = tile.addptr %qs, %i : tensor<32768x!tile.ptr<f32>>, tensor<32768xi32>
  tile.store %to, %x : (tensor<32768x!tile.ptr<f32>>, tensor<32768xf32>) -> ()
  func.return
}

// A tile that a loop carries stays whole.
// CHECK-LABEL: @carried
// CHECK: scf.for {{.*}} -> (tensor<32768xf32>)
// CHECK-NOT: scf.for
// CHECK: return
func.func @carried(%p: !tile.ptr<f32>, %n: i32) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = arith.constant dense<0.0> : tensor<32768xf32>
  %i = tile.arange 0, 32768 : tensor<32768xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<32768x!tile.ptr<f32>>
  %at = tile.addptr %ps, %i : tensor<32768x!tile.ptr<f32>>, tensor<32768xi32>
  %sum = scf.for %k = %zero to %n step %one iter_args(%s = %none) -> (tensor<32768xf32>) : i32 {
    %x = tile.load %at : (tensor<32768x!tile.ptr<f32>>) -> tensor<32768xf32>
    %t = arith.addf %s, %x : tensor<32768xf32>
    scf.yield %t : tensor<32768xf32>
  }
  tile.store %at, %sum : (tensor<32768x!tile.ptr<f32>>, tensor<32768xf32>) -> ()
  func.return
}

// Each slice begins at a multiple of its own extent.
// CHECK-LABEL: @hinted
// CHECK: scf.for {{.*}} step %c2048_i32
// CHECK: tile.hint %{{.*}} divisibility = [2048] contiguity = [2048] : tensor<2048xi32>
func.func @hinted(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %first: i32) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.arange 0, 32768 : tensor<32768xi32>
  %firsts = tile.splat %first : i32 -> tensor<32768xi32>
  %sum = arith.addi %i, %firsts : tensor<32768xi32>
  %at = tile.hint %sum divisibility = [32768] contiguity = [32768] : tensor<32768xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<32768x!tile.ptr<f32>>
  %from = tile.addptr %ps, %at : tensor<32768x!tile.ptr<f32>>, tensor<32768xi32>
  %x = tile.load %from : (tensor<32768x!tile.ptr<f32>>) -> tensor<32768xf32>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<32768x!tile.ptr<f32>>
  %to = tile.addptr %qs, %at : tensor<32768x!tile.ptr<f32>>, tensor<32768xi32>
  tile.store %to, %x : (tensor<32768x!tile.ptr<f32>>, tensor<32768xf32>) -> ()
  func.return
}
