// The last iteration of a loop of products stands behind it, where nothing but a comparison for it tells whether there is a next one to load for.
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx942},canonicalize,cse,loop-invariant-code-motion,func.func(kiln-stage-operands,kiln-prefetch-operands,kiln-peel-loops))" %s | FileCheck %s
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx942},canonicalize,cse,loop-invariant-code-motion,func.func(kiln-stage-operands,kiln-prefetch-operands,kiln-peel-loops,kiln-allocate-shared-memory,kiln-insert-barriers))" %s | FileCheck %s --check-prefix=BARRIERS
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=cuda:sm_80},canonicalize,cse,loop-invariant-code-motion,func.func(kiln-stage-operands,kiln-pipeline-loops,kiln-peel-loops))" %s | FileCheck %s --check-prefix=COPIES

// COPIES-NOT: scf.if

// CHECK-LABEL: func.func @product
// CHECK: tilegpu.shared_store
// CHECK: tilegpu.shared_store
// CHECK: %[[ANY:.*]] = arith.cmpi slt, %{{.*}}, %[[END:.*]] : i32
// CHECK: %[[SUM:.*]] = scf.if %[[ANY]]
// CHECK: %[[BEFORE:.*]] = arith.subi %[[END]]
// CHECK: %[[LOOP:.*]] = scf.for %{{.*}} = %{{.*}} to %[[BEFORE]]
// CHECK-NOT: arith.cmpi
// CHECK: tile.load %{{[0-9]+}} :
// CHECK: tile.load %{{[0-9]+}} :
// CHECK: tilegpu.shared_load
// CHECK: tilegpu.shared_load
// CHECK: tilegpu.shared_store
// CHECK: tilegpu.shared_store
// CHECK: tilegpu.dot
// CHECK: scf.yield
// CHECK-NOT: tile.load
// CHECK: tilegpu.shared_load
// CHECK: tilegpu.shared_load
// CHECK-NOT: tilegpu.shared_store
// CHECK: %[[LAST:.*]] = tilegpu.dot %{{.*}}, %{{.*}}, %[[LOOP]]
// CHECK: scf.yield %[[LAST]]
// CHECK: } else {
// CHECK: scf.yield %{{.*}}
// CHECK: tile.store %{{.*}}, %[[SUM]]

// What the loop has stored the last iteration reads behind a barrier.
// BARRIERS-LABEL: func.func @product
// BARRIERS: scf.for
// BARRIERS: scf.yield
// BARRIERS: tilegpu.barrier
// BARRIERS-NOT: tilegpu.barrier
// BARRIERS: tilegpu.dot
// BARRIERS-NOT: tilegpu.barrier
// BARRIERS: } else {
func.func @product(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 8 : i32, tile.num_stages = 2 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %size = arith.constant 4096 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %line = arith.constant dense<64> : tensor<64x1xi32>
  %r = tile.arange 0, 64 : tensor<64xi32>
  %r1 = tile.expand_dims %r, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %r2 = arith.muli %r1, %line : tensor<64x1xi32>
  %r3 = tile.broadcast %r2 : tensor<64x1xi32> -> tensor<64x64xi32>
  %c1 = tile.expand_dims %r, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %c2 = tile.broadcast %c1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %r3, %c2 : tensor<64x64xi32>
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %none) -> (tensor<64x64xf32>) : i32 {
    %place = arith.muli %i, %size : i32
    %pa0 = tile.addptr %a, %place : !tile.ptr<f16>, i32
    %pa1 = tile.splat %pa0 : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %pa = tile.addptr %pa1, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %x = tile.load %pa : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %pb0 = tile.addptr %b, %place : !tile.ptr<f16>, i32
    %pb1 = tile.splat %pb0 : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %pb = tile.addptr %pb1, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %y = tile.load %pb : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %d = tile.dot %x, %y, %s : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %o1 = tile.splat %o : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %po = tile.addptr %o1, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %po, %sum : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// A mask by the loop's bound has answered: nothing is there twice.
// CHECK-LABEL: func.func @bounded
// CHECK-NOT: scf.if
// CHECK: return
func.func @bounded(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %k: i32 {tile.divisibility = 16 : i32})
    attributes {tile.kernel, tile.num_warps = 8 : i32, tile.num_stages = 2 : i32} {
  %zero = arith.constant 0 : i32
  %depth = arith.constant 64 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %empty = arith.constant dense<0.0> : tensor<64x64xf16>
  %line = arith.constant dense<4096> : tensor<64x1xi32>
  %r = tile.arange 0, 64 : tensor<64xi32>
  %r1 = tile.expand_dims %r, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %r2 = arith.muli %r1, %line : tensor<64x1xi32>
  %r3 = tile.broadcast %r2 : tensor<64x1xi32> -> tensor<64x64xi32>
  %c1 = tile.expand_dims %r, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %c2 = tile.broadcast %c1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %r3, %c2 : tensor<64x64xi32>
  %sum = scf.for %i = %zero to %k step %depth iter_args(%s = %none) -> (tensor<64x64xf32>) : i32 {
    %left = arith.subi %k, %i : i32
    %limit = tile.splat %left : i32 -> tensor<1x64xi32>
    %m1 = arith.cmpi slt, %c1, %limit : tensor<1x64xi32>
    %m = tile.broadcast %m1 : tensor<1x64xi1> -> tensor<64x64xi1>
    %pa0 = tile.addptr %a, %i : !tile.ptr<f16>, i32
    %pa1 = tile.splat %pa0 : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %pa = tile.addptr %pa1, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %x = tile.load %pa mask %m other %empty : (tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi1>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %pb0 = tile.addptr %b, %i : !tile.ptr<f16>, i32
    %pb1 = tile.splat %pb0 : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %pb = tile.addptr %pb1, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %y = tile.load %pb mask %m other %empty : (tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi1>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %yt = tile.trans %y, [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %d = tile.dot %x, %yt, %s : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %o1 = tile.splat %o : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %po = tile.addptr %o1, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %po, %sum : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}
