// Each block of a cluster gets its part of a program, by what the program stores.
// RUN: kiln-opt --pass-pipeline='builtin.module(func.func(kiln-split-programs,canonicalize,cse))' --split-input-file --verify-diagnostics %s | FileCheck %s

// Rows of A and C; all of B, whose range is another use of the same one.
// CHECK-LABEL: func.func @product(
// CHECK-SAME: tile.num_ctas = 2
// CHECK: %[[RANK:.*]] = tile.cluster_rank : i32
// CHECK: %[[WHOLE:.*]] = tile.arange 0, 128 : tensor<128xi32>
// CHECK: %[[SHARE:.*]] = tile.arange 0, 64 : tensor<64xi32>
// CHECK: %[[FIRST:.*]] = arith.muli %[[RANK]], %{{.*}} : i32
// CHECK: %[[START:.*]] = tile.splat %[[FIRST]] : i32 -> tensor<64xi32>
// CHECK: %[[ROWS:.*]] = arith.addi %[[START]], %[[SHARE]]
// CHECK: tile.expand_dims %[[ROWS]], 1
// CHECK: tile.expand_dims %[[WHOLE]], 0
// CHECK: scf.for {{.*}} -> (tensor<64x128xf32>)
// CHECK: tile.dot {{.*}} : (tensor<64x32xf16>, tensor<32x128xf16>, tensor<64x128xf32>) -> tensor<64x128xf32>
// CHECK: tile.store {{.*}} : (tensor<64x128x!tile.ptr<f32>>, tensor<64x128xf32>) -> ()
func.func @product(%a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %c: !tile.ptr<f32>, %n: i32) attributes {tile.kernel, tile.num_ctas = 2 : i32} {
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tile.arange 0, 128 : tensor<128xi32>
  %k = tile.arange 0, 32 : tensor<32xi32>
  %ri = tile.expand_dims %r, 1 : tensor<128xi32> -> tensor<128x1xi32>
  %rj = tile.expand_dims %r, 0 : tensor<128xi32> -> tensor<1x128xi32>
  %kj = tile.expand_dims %k, 0 : tensor<32xi32> -> tensor<1x32xi32>
  %ki = tile.expand_dims %k, 1 : tensor<32xi32> -> tensor<32x1xi32>
  %ai = tile.broadcast %ri : tensor<128x1xi32> -> tensor<128x32xi32>
  %aj = tile.broadcast %kj : tensor<1x32xi32> -> tensor<128x32xi32>
  %bi = tile.broadcast %ki : tensor<32x1xi32> -> tensor<32x128xi32>
  %bj = tile.broadcast %rj : tensor<1x128xi32> -> tensor<32x128xi32>
  %ao = arith.addi %ai, %aj : tensor<128x32xi32>
  %bo = arith.addi %bi, %bj : tensor<32x128xi32>
  %pa = tile.splat %a : !tile.ptr<f16> -> tensor<128x32x!tile.ptr<f16>>
  %pb = tile.splat %b : !tile.ptr<f16> -> tensor<32x128x!tile.ptr<f16>>
  %qa = tile.addptr %pa, %ao : tensor<128x32x!tile.ptr<f16>>, tensor<128x32xi32>
  %qb = tile.addptr %pb, %bo : tensor<32x128x!tile.ptr<f16>>, tensor<32x128xi32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<128x128xf32>) : i32 {
    %x = tile.load %qa : (tensor<128x32x!tile.ptr<f16>>) -> tensor<128x32xf16>
    %y = tile.load %qb : (tensor<32x128x!tile.ptr<f16>>) -> tensor<32x128xf16>
    %d = tile.dot %x, %y, %s : (tensor<128x32xf16>, tensor<32x128xf16>, tensor<128x128xf32>) -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %ci = tile.broadcast %ri : tensor<128x1xi32> -> tensor<128x128xi32>
  %cj = tile.broadcast %rj : tensor<1x128xi32> -> tensor<128x128xi32>
  %co = arith.addi %ci, %cj : tensor<128x128xi32>
  %pc = tile.splat %c : !tile.ptr<f32> -> tensor<128x128x!tile.ptr<f32>>
  %qc = tile.addptr %pc, %co : tensor<128x128x!tile.ptr<f32>>, tensor<128x128xi32>
  tile.store %qc, %sum : (tensor<128x128x!tile.ptr<f32>>, tensor<128x128xf32>) -> ()
  return
}

// -----

// Described blocks are the share's, where it begins. The first block alone stores the scalar.
// CHECK-LABEL: func.func @blocks(
// CHECK: %[[RANK:.*]] = tile.cluster_rank : i32
// CHECK: tile.descriptor_load {{.*}} : !tile.descriptor<32x32xf16> -> tensor<32x32xf16>
// CHECK: tile.descriptor_store {{.*}} : !tile.descriptor<32x32xf16>, tensor<32x32xf16>
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[RANK]]
// CHECK: scf.if %[[FIRST]] {
// CHECK-NEXT: tile.store
func.func @blocks(%a: !tile.ptr<f16>, %c: !tile.ptr<f16>, %s: !tile.ptr<i32>, %m: i64, %at: i64, %n: i32) attributes {tile.kernel, tile.num_ctas = 2 : i32} {
  %da = tile.make_descriptor %a, [%m, %m], [%m] : !tile.ptr<f16> -> !tile.descriptor<64x32xf16>
  %dc = tile.make_descriptor %c, [%m, %m], [%m] : !tile.ptr<f16> -> !tile.descriptor<64x32xf16>
  %x = tile.descriptor_load %da[%at, %at] : !tile.descriptor<64x32xf16> -> tensor<64x32xf16>
  %y = arith.addf %x, %x : tensor<64x32xf16>
  tile.descriptor_store %dc[%at, %at], %y : !tile.descriptor<64x32xf16>, tensor<64x32xf16>
  tile.store %s, %n : (!tile.ptr<i32>, i32) -> ()
  return
}

// -----

// A sum of all that is stored in parts.
// CHECK-LABEL: func.func @softmax(
// CHECK-SAME: tile.num_ctas = 1
// CHECK-NOT: tile.cluster_rank
func.func @softmax(%a: !tile.ptr<f32>, %b: !tile.ptr<f32>) attributes {tile.kernel, tile.num_ctas = 2 : i32} {
  %r = tile.arange 0, 128 : tensor<128xi32>
  %pa = tile.splat %a : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %pb = tile.splat %b : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %qa = tile.addptr %pa, %r : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %qb = tile.addptr %pb, %r : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  // expected-warning @+1 {{num_ctas = 2 is not used: this is needed as a whole and in parts}}
  %x = tile.load %qa : (tensor<128x!tile.ptr<f32>>) -> tensor<128xf32>
  %s = tile.reduce(%x) axis 0 : (tensor<128xf32>) -> f32 {
  ^bb0(%l: f32, %t: f32):
    %u = arith.addf %l, %t : f32
    tile.yield %u : f32
  }
  %all = tile.splat %s : f32 -> tensor<128xf32>
  %y = arith.divf %x, %all : tensor<128xf32>
  tile.store %qb, %y : (tensor<128x!tile.ptr<f32>>, tensor<128xf32>) -> ()
  return
}

// -----

func.func @reads_what_it_writes(%a: !tile.ptr<f32>, %i: i32) attributes {tile.kernel, tile.num_ctas = 2 : i32} {
  %r = tile.arange 0, 128 : tensor<128xi32>
  %p = tile.splat %a : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %q = tile.addptr %p, %r : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %moved = tile.splat %i : i32 -> tensor<128xi32>
  %o = tile.addptr %q, %moved : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  // expected-warning @+1 {{num_ctas = 2 is not used: this may read what the program writes}}
  %x = tile.load %o : (tensor<128x!tile.ptr<f32>>) -> tensor<128xf32>
  tile.store %q, %x : (tensor<128x!tile.ptr<f32>>, tensor<128xf32>) -> ()
  return
}

// -----

func.func @old_value(%a: !tile.ptr<i32>, %b: !tile.ptr<i32>) attributes {tile.kernel, tile.num_ctas = 2 : i32} {
  %r = tile.arange 0, 128 : tensor<128xi32>
  %p = tile.splat %a : !tile.ptr<i32> -> tensor<128x!tile.ptr<i32>>
  %q = tile.addptr %p, %r : tensor<128x!tile.ptr<i32>>, tensor<128xi32>
  %w = tile.splat %b : !tile.ptr<i32> -> tensor<128x!tile.ptr<i32>>
  %v = tile.addptr %w, %r : tensor<128x!tile.ptr<i32>>, tensor<128xi32>
  // expected-warning @+1 {{num_ctas = 2 is not used: an atomic operation's result is used here}}
  %x = tile.atomic_rmw <add> %q, %r : (tensor<128x!tile.ptr<i32>>, tensor<128xi32>) -> tensor<128xi32>
  tile.store %v, %x : (tensor<128x!tile.ptr<i32>>, tensor<128xi32>) -> ()
  return
}

// -----

// expected-warning @+1 {{num_ctas = 4 is not used: it stores no tensor}}
func.func @scalar(%a: !tile.ptr<i32>, %n: i32) attributes {tile.kernel, tile.num_ctas = 4 : i32} {
  tile.store %a, %n : (!tile.ptr<i32>, i32) -> ()
  return
}
