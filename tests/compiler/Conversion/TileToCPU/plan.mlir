// The plan of the loops: what is fused into which nest, what is kept in buffers, how nests reach memory.
// RUN: kiln-opt --tile-cpu-plan=vector-bits=512 --split-input-file %s | FileCheck %s

// The exponential is used twice: the sum's nest stores it on the way, the store's reads it.
// CHECK-LABEL: loop plan of @exponentials, vectors of 512 bits
// CHECK-NEXT: buffer 0: f32 [1024], 4096 bytes
// CHECK-NEXT: %[[SUM:.*]] = tile.reduce
// CHECK-NEXT: {{^}}  nest [1024], axis 0 in vectors of 32
// CHECK-NEXT: {{^}}    fused: %[[M:[0-9]+]] arith.cmpi, %[[P:[0-9]+]] tile.addptr, %[[V:[0-9]+]] tile.load, %[[E:[0-9]+]] math.exp
// CHECK-NEXT: {{^}}    access: %[[V]] contiguous
// CHECK-NEXT: {{^}}    stores %[[E]] in buffer 0
// CHECK-NEXT: tile.store
// CHECK-NEXT: {{^}}  nest [1024], axis 0 in vectors of 16
// CHECK-NEXT: {{^}}    fused: %[[M]] arith.cmpi, %[[P]] tile.addptr, %{{.*}} arith.divf
// CHECK-NEXT: {{^}}    access: tile.store contiguous
// CHECK-NEXT: {{^}}    reads %[[E]] from buffer 0
// The kernel follows, in Tile IR.
// CHECK: %[[E]] = math.exp
func.func @exponentials(%x: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %i = tile.arange 0, 1024 : tensor<1024xi32>
  %ns = tile.splat %n : i32 -> tensor<1024xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %p = tile.addptr %xs, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %v = tile.load %p mask %m : (tensor<1024x!tile.ptr<f32>>, tensor<1024xi1>) -> tensor<1024xf32>
  %e = math.exp %v : tensor<1024xf32>
  %s = tile.reduce (%e) axis 0 : (tensor<1024xf32>) -> f32 {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tile.yield %t : f32
  }
  %ss = tile.splat %s : f32 -> tensor<1024xf32>
  %q = arith.divf %e, %ss : tensor<1024xf32>
  tile.store %p, %q mask %m : (tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>, tensor<1024xi1>) -> ()
  func.return
}

// -----

// What a row costs is computed once, before the nest over the rows and columns.
// CHECK-LABEL: loop plan of @outer
// CHECK-NEXT: buffer 0: f32 [64], 256 bytes
// CHECK-NEXT: tile.store
// CHECK-NEXT: {{^}}  fill buffer 0 with %[[E:.*]]: nest [64], axis 0 in vectors of 16
// CHECK-NEXT: {{^}}    fused: %{{.*}} tile.addptr, %[[V:.*]] tile.load, %[[E]] math.exp
// CHECK-NEXT: {{^}}    access: %[[V]] contiguous
// CHECK-NEXT: {{^}}  nest [64, 32], axis 1 in vectors of 16
// CHECK: access: tile.store contiguous
// CHECK-NEXT: reads %[[E]] from buffer 0
func.func @outer(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.arange 0, 64 : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %p = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %v = tile.load %p : (tensor<64x!tile.ptr<f32>>) -> tensor<64xf32>
  %e = math.exp %v : tensor<64xf32>
  %column = tile.expand_dims %e, 1 : tensor<64xf32> -> tensor<64x1xf32>
  %all = tile.broadcast %column : tensor<64x1xf32> -> tensor<64x32xf32>
  %j = tile.arange 0, 32 : tensor<32xi32>
  %jr = tile.expand_dims %j, 0 : tensor<32xi32> -> tensor<1x32xi32>
  %js = tile.broadcast %jr : tensor<1x32xi32> -> tensor<64x32xi32>
  %stride = arith.constant dense<32> : tensor<64xi32>
  %o = arith.muli %i, %stride : tensor<64xi32>
  %oc = tile.expand_dims %o, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %os = tile.broadcast %oc : tensor<64x1xi32> -> tensor<64x32xi32>
  %at = arith.addi %os, %js : tensor<64x32xi32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<64x32x!tile.ptr<f32>>
  %q = tile.addptr %ys, %at : tensor<64x32x!tile.ptr<f32>>, tensor<64x32xi32>
  tile.store %q, %all : (tensor<64x32x!tile.ptr<f32>>, tensor<64x32xf32>) -> ()
  func.return
}

// -----

// How vectors reach memory: one element, with a constant stride, with one that only the caller knows.
// CHECK-LABEL: loop plan of @accesses
// CHECK-NEXT: %{{.*}} = tile.reduce
// CHECK: access: %{{.*}} the same in all lanes
// CHECK-NEXT: access: %{{.*}} scattered
// CHECK-NEXT: access: %{{.*}} contiguous if a check at run time says so
func.func @accesses(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %i = tile.arange 0, 16 : tensor<16xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  %a = tile.load %xs : (tensor<16x!tile.ptr<f32>>) -> tensor<16xf32>
  %three = arith.constant dense<3> : tensor<16xi32>
  %o = arith.muli %i, %three : tensor<16xi32>
  %p = tile.addptr %xs, %o : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
  %v = tile.load %p : (tensor<16x!tile.ptr<f32>>) -> tensor<16xf32>
  %ns = tile.splat %n : i32 -> tensor<16xi32>
  %u = arith.muli %i, %ns : tensor<16xi32>
  %q = tile.addptr %xs, %u : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
  %w = tile.load %q : (tensor<16x!tile.ptr<f32>>) -> tensor<16xf32>
  %s = arith.addf %v, %w : tensor<16xf32>
  %r = arith.addf %s, %a : tensor<16xf32>
  %t = tile.reduce (%r) axis 0 : (tensor<16xf32>) -> f32 {
  ^bb0(%l: f32, %k: f32):
    %z = arith.addf %l, %k : f32
    tile.yield %z : f32
  }
  tile.store %y, %t : (!tile.ptr<f32>, f32) -> ()
  func.return
}

// -----

// A load whose addresses the store's may meet is copied if they do; one that a store may change before
// it is used fills a buffer where it stands.
// CHECK-LABEL: loop plan of @order
// CHECK-NEXT: buffer 0: f32 [64], 256 bytes
// CHECK-NEXT: buffer 1: f32 [64], 256 bytes
// CHECK-NEXT: tile.store
// CHECK-NEXT: {{^}}  fill buffer 0 with %[[EARLY:.*]]: nest [64], axis 0 in vectors of 16
// CHECK: {{^}}  if they meet, fill buffer 1 with %[[LATE:.*]]: nest [64], axis 0 in vectors of 16
// CHECK: {{^}}  nest [64], axis 0 in vectors of 16
// CHECK-NEXT: {{^}}    fused: {{.*}} %[[LATE]] tile.load
// CHECK: tile.store
// CHECK: reads %[[EARLY]] from buffer 0
func.func @order(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %z: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.arange 0, 64 : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %p = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %q = tile.addptr %ys, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %r = tile.addptr %zs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %early = tile.load %p : (tensor<64x!tile.ptr<f32>>) -> tensor<64xf32>
  %late = tile.load %q : (tensor<64x!tile.ptr<f32>>) -> tensor<64xf32>
  tile.store %r, %late : (tensor<64x!tile.ptr<f32>>, tensor<64xf32>) -> ()
  tile.store %q, %early : (tensor<64x!tile.ptr<f32>>, tensor<64xf32>) -> ()
  func.return
}

// -----

// Tensors that a loop swaps go by way of copies.
// CHECK-LABEL: loop plan of @swap
// CHECK: %{{.*}} = scf.for
// CHECK-NEXT: {{^}}  fill buffer [[A:.]] with %[[X:.*]]: nest
// CHECK: {{^}}  fill buffer [[B:.]] with %[[Y:.*]]: nest
// CHECK: {{^}}  carried in [[A]] [[B]]
// CHECK-NEXT: {{^}}  results in [[A]] [[B]]
// CHECK-NEXT: {{^}}  scf.yield
// CHECK-NEXT: {{^}}    fill buffer [[C:.]] with %[[N:.*]]: nest
// CHECK-NEXT: {{^}}      reads %[[N]] from buffer [[B]]
// CHECK-NEXT: {{^}}    fill buffer [[D:.]] with %[[M:.*]]: nest
// CHECK-NEXT: {{^}}      reads %[[M]] from buffer [[A]]
// CHECK-NEXT: {{^}}    fill buffer [[A]] with %[[N]] from buffer [[C]]: nest
// CHECK: {{^}}    fill buffer [[B]] with %[[M]] from buffer [[D]]: nest
func.func @swap(%x: !tile.ptr<i32>, %n: i32) attributes {tile.kernel} {
  %i = tile.arange 0, 16 : tensor<16xi32>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<16x!tile.ptr<i32>>
  %p = tile.addptr %xs, %i : tensor<16x!tile.ptr<i32>>, tensor<16xi32>
  %v = tile.load %p : (tensor<16x!tile.ptr<i32>>) -> tensor<16xi32>
  %w = arith.muli %v, %v : tensor<16xi32>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r:2 = scf.for %k = %zero to %n step %one iter_args(%a = %v, %b = %w) -> (tensor<16xi32>, tensor<16xi32>) : i32 {
    scf.yield %b, %a : tensor<16xi32>, tensor<16xi32>
  }
  %d = arith.subi %r#0, %r#1 : tensor<16xi32>
  tile.store %p, %d : (tensor<16x!tile.ptr<i32>>, tensor<16xi32>) -> ()
  func.return
}
