// Where no copies bring operands to shared memory, loads run an iteration ahead, and what they bring waits in the buffers.
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx942},canonicalize,cse,loop-invariant-code-motion,func.func(kiln-stage-operands,kiln-prefetch-operands))" %s | FileCheck %s
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx942},canonicalize,cse,loop-invariant-code-motion,func.func(kiln-stage-operands,kiln-prefetch-operands,kiln-allocate-shared-memory,kiln-insert-barriers))" %s | FileCheck %s --check-prefix=BARRIERS
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=cuda:sm_80},canonicalize,cse,loop-invariant-code-motion,func.func(kiln-stage-operands,kiln-prefetch-operands))" %s | FileCheck %s --check-prefix=COPIES

// COPIES: scf.for
// COPIES: tile.load
// COPIES: tilegpu.shared_store

// The first tiles are loaded, if there are such, and stored.
// CHECK-LABEL: func.func @product
// CHECK: %[[A:.*]] = tilegpu.alloc
// CHECK: %[[B:.*]] = tilegpu.alloc
// CHECK-COUNT-2: tile.load {{.*}} mask
// CHECK-COUNT-2: tilegpu.shared_store
// CHECK: scf.for
// CHECK: %[[NEXT:.*]] = tile.load {{.*}} mask
// CHECK: %[[OTHER:.*]] = tile.load {{.*}} mask
// CHECK-DAG: %[[X:.*]] = tilegpu.shared_load %[[A]]
// CHECK-DAG: %[[Y:.*]] = tilegpu.shared_load %[[B]]
// CHECK: tilegpu.shared_store %[[NEXT]], %[[A]]
// CHECK: tilegpu.shared_store %[[OTHER]], %[[B]]
// CHECK: tilegpu.dot %[[X]], %[[Y]]

// One barrier before the buffers are read, and one before they are filled again.
// BARRIERS-LABEL: func.func @product
// BARRIERS: scf.for
// BARRIERS: tilegpu.barrier
// BARRIERS-NOT: tilegpu.barrier
// BARRIERS: tilegpu.shared_load
// BARRIERS-NOT: tilegpu.barrier
// BARRIERS: tilegpu.shared_load
// BARRIERS: tilegpu.barrier
// BARRIERS-NOT: tilegpu.barrier
// BARRIERS: tilegpu.shared_store
// BARRIERS-NOT: tilegpu.barrier
// BARRIERS: tilegpu.dot
// BARRIERS-NOT: tilegpu.barrier
// BARRIERS: scf.yield
func.func @product(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 8 : i32, tile.num_stages = 3 : i32} {
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

// Without stages nothing runs ahead.
// CHECK-LABEL: func.func @one_stage
// CHECK-NOT: tile.load
// CHECK: scf.for
// CHECK: tile.load
// CHECK: tilegpu.shared_store
func.func @one_stage(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 1 : i32} {
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

// What two dots read, once transposed, is loaded once and stored to both their buffers.
// CHECK-LABEL: func.func @both_ways
// CHECK: scf.for
// CHECK: %[[NEXT:.*]] = tile.load {{.*}} mask
// CHECK-NOT: tile.load
// CHECK: tilegpu.shared_load
// CHECK: tilegpu.dot
// CHECK: tilegpu.shared_load
// CHECK: %[[TURNED:.*]] = tile.trans %[[NEXT]]
// CHECK: tilegpu.shared_store %[[TURNED]]
// CHECK: tilegpu.shared_store %[[NEXT]]
// CHECK: tilegpu.dot
// CHECK: scf.yield
// BARRIERS-LABEL: func.func @both_ways
// BARRIERS: scf.for
// BARRIERS-COUNT-2: tilegpu.barrier
// BARRIERS-NOT: tilegpu.barrier
// BARRIERS: scf.yield
func.func @both_ways(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 3 : i32} {
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
  %pa1 = tile.splat %a : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %pa = tile.addptr %pa1, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %q = tile.load %pa : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  %sum = scf.for %i = %zero to %n step %one iter_args(%acc = %none) -> (tensor<64x64xf32>) : i32 {
    %place = arith.muli %i, %size : i32
    %pb0 = tile.addptr %b, %place : !tile.ptr<f16>, i32
    %pb1 = tile.splat %pb0 : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %pb = tile.addptr %pb1, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %x = tile.load %pb : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %t = tile.trans %x, [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %q, %t, %none : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    %d = tile.dot %p, %x, %acc : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %o1 = tile.splat %o : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %po = tile.addptr %o1, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %po, %sum : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// Rows that only one warp multiplies it loads as its fragments are, an iteration ahead as well.
// CHECK-LABEL: func.func @direct
// CHECK: %[[FIRST:.*]] = tile.load
// CHECK: scf.for {{.*}} = %[[FIRST]]
// CHECK: %[[NEXT:.*]] = tile.load {{.*}} mask
// CHECK: tilegpu.shared_store
// CHECK: %[[SUM:.*]] = tilegpu.dot %arg{{[0-9]+}}, {{.*}} warps 4 x 1
// CHECK: scf.yield %[[SUM]]
func.func @direct(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 3 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %size = arith.constant 2048 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %lineA = arith.constant dense<4096> : tensor<64x1xi32>
  %lineB = arith.constant dense<64> : tensor<32x1xi32>
  %lineO = arith.constant dense<64> : tensor<64x1xi32>
  %r64 = tile.arange 0, 64 : tensor<64xi32>
  %r32 = tile.arange 0, 32 : tensor<32xi32>
  %r64b = tile.arange 0, 64 : tensor<64xi32>
  %m = tile.expand_dims %r64, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %ka = tile.expand_dims %r32, 0 : tensor<32xi32> -> tensor<1x32xi32>
  %kb = tile.expand_dims %r32, 1 : tensor<32xi32> -> tensor<32x1xi32>
  %nn = tile.expand_dims %r64b, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %a1 = arith.muli %m, %lineA : tensor<64x1xi32>
  %a2 = tile.broadcast %a1 : tensor<64x1xi32> -> tensor<64x32xi32>
  %a3 = tile.broadcast %ka : tensor<1x32xi32> -> tensor<64x32xi32>
  %atA = arith.addi %a2, %a3 : tensor<64x32xi32>
  %b1 = arith.muli %kb, %lineB : tensor<32x1xi32>
  %b2 = tile.broadcast %b1 : tensor<32x1xi32> -> tensor<32x64xi32>
  %b3 = tile.broadcast %nn : tensor<1x64xi32> -> tensor<32x64xi32>
  %atB = arith.addi %b2, %b3 : tensor<32x64xi32>
  %o1 = arith.muli %m, %lineO : tensor<64x1xi32>
  %o2 = tile.broadcast %o1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %o3 = tile.broadcast %nn : tensor<1x64xi32> -> tensor<64x64xi32>
  %atO = arith.addi %o2, %o3 : tensor<64x64xi32>
  %depth = arith.constant 32 : i32
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %none) -> (tensor<64x64xf32>) : i32 {
    %placeA = arith.muli %i, %depth : i32
    %pa0 = tile.addptr %a, %placeA : !tile.ptr<f16>, i32
    %pa1 = tile.splat %pa0 : !tile.ptr<f16> -> tensor<64x32x!tile.ptr<f16>>
    %pa = tile.addptr %pa1, %atA : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi32>
    %x = tile.load %pa : (tensor<64x32x!tile.ptr<f16>>) -> tensor<64x32xf16>
    %placeB = arith.muli %i, %size : i32
    %pb0 = tile.addptr %b, %placeB : !tile.ptr<f16>, i32
    %pb1 = tile.splat %pb0 : !tile.ptr<f16> -> tensor<32x64x!tile.ptr<f16>>
    %pb = tile.addptr %pb1, %atB : tensor<32x64x!tile.ptr<f16>>, tensor<32x64xi32>
    %y = tile.load %pb : (tensor<32x64x!tile.ptr<f16>>) -> tensor<32x64xf16>
    %d = tile.dot %x, %y, %s : (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %po1 = tile.splat %o : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %po = tile.addptr %po1, %atO : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %po, %sum : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// What an iteration does with its product, and threads meet for, hides the wait, too.
// CHECK-LABEL: func.func @exchanged
// CHECK: scf.for
// CHECK-COUNT-2: tile.load {{.*}} mask
// CHECK: tilegpu.shared_load
// CHECK-NOT: tilegpu.shared_store
// CHECK: tilegpu.dot
// CHECK-NOT: tilegpu.shared_store
// CHECK: tile.reduce
// CHECK: tilegpu.shared_store
// CHECK: scf.yield

// The buffer is free as soon as threads have met for the maxima.
// BARRIERS-LABEL: func.func @exchanged
// BARRIERS: scf.for
// BARRIERS: tilegpu.barrier
// BARRIERS: tilegpu.dot
// BARRIERS-NOT: tilegpu.barrier
// BARRIERS: tile.reduce
// BARRIERS-NOT: tilegpu.barrier
// BARRIERS: scf.yield
func.func @exchanged(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 2 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %size = arith.constant 4096 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %nothing = arith.constant dense<0.0> : tensor<64xf32>
  %line = arith.constant dense<64> : tensor<64x1xi32>
  %r = tile.arange 0, 64 : tensor<64xi32>
  %r1 = tile.expand_dims %r, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %r2 = arith.muli %r1, %line : tensor<64x1xi32>
  %r3 = tile.broadcast %r2 : tensor<64x1xi32> -> tensor<64x64xi32>
  %c1 = tile.expand_dims %r, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %c2 = tile.broadcast %c1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %r3, %c2 : tensor<64x64xi32>
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %nothing) -> (tensor<64xf32>) : i32 {
    %place = arith.muli %i, %size : i32
    %pa0 = tile.addptr %a, %place : !tile.ptr<f16>, i32
    %pa1 = tile.splat %pa0 : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %pa = tile.addptr %pa1, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %x = tile.load %pa : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %pb0 = tile.addptr %b, %place : !tile.ptr<f16>, i32
    %pb1 = tile.splat %pb0 : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %pb = tile.addptr %pb1, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %y = tile.load %pb : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %d = tile.dot %x, %y, %none : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %e = math.absf %d : tensor<64x64xf32>
    %m = tile.reduce(%e) axis 0 : (tensor<64x64xf32>) -> tensor<64xf32> {
    ^bb0(%left: f32, %right: f32):
      %larger = arith.maxnumf %left, %right : f32
      tile.yield %larger : f32
    }
    %next = arith.addf %s, %m : tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  }
  %o1 = tile.splat %o : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %po = tile.addptr %o1, %r : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  tile.store %po, %sum : (tensor<64x!tile.ptr<f32>>, tensor<64xf32>) -> ()
  return
}

// No buffer is filled: the loop carries the operand, and reads the other one from registers.
// CHECK-LABEL: func.func @only_carried
// CHECK: scf.for {{.*}} iter_args({{.*}}, %[[CARRIED:.*]] = %{{.*}})
// CHECK: %[[AHEAD:.*]] = tile.load {{.*}} mask
// CHECK-NOT: tilegpu.shared_store
// CHECK: tilegpu.dot %[[CARRIED]]
// CHECK: scf.yield {{.*}}, %[[AHEAD]]
func.func @only_carried(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 2 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %size = arith.constant 4096 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %nothing = arith.constant dense<0.0> : tensor<64xf32>
  %line = arith.constant dense<64> : tensor<64x1xi32>
  %r = tile.arange 0, 64 : tensor<64xi32>
  %r1 = tile.expand_dims %r, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %r2 = arith.muli %r1, %line : tensor<64x1xi32>
  %r3 = tile.broadcast %r2 : tensor<64x1xi32> -> tensor<64x64xi32>
  %c1 = tile.expand_dims %r, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %c2 = tile.broadcast %c1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %r3, %c2 : tensor<64x64xi32>
  %pb1 = tile.splat %b : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %pb = tile.addptr %pb1, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %y = tile.load %pb : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %nothing) -> (tensor<64xf32>) : i32 {
    %place = arith.muli %i, %size : i32
    %pa0 = tile.addptr %a, %place : !tile.ptr<f16>, i32
    %pa1 = tile.splat %pa0 : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %pa = tile.addptr %pa1, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %x = tile.load %pa : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %d = tile.dot %x, %y, %none : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %e = math.absf %d : tensor<64x64xf32>
    %m = tile.reduce(%e) axis 0 : (tensor<64x64xf32>) -> tensor<64xf32> {
    ^bb0(%left: f32, %right: f32):
      %larger = arith.maxnumf %left, %right : f32
      tile.yield %larger : f32
    }
    %next = arith.addf %s, %m : tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  }
  %o1 = tile.splat %o : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %po = tile.addptr %o1, %r : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  tile.store %po, %sum : (tensor<64x!tile.ptr<f32>>, tensor<64xf32>) -> ()
  return
}
