// Loads that feed dots become copies that run ahead, into rings. Slots of products in flight are ordered by the pass itself.
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=cuda:sm_80},canonicalize,cse,loop-invariant-code-motion,func.func(kiln-stage-operands,kiln-pipeline-loops))" %s | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=cuda:sm_90a},canonicalize,cse,loop-invariant-code-motion,func.func(kiln-stage-operands,kiln-pipeline-loops))" %s | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx942},canonicalize,cse,loop-invariant-code-motion,func.func(kiln-stage-operands,kiln-pipeline-loops))" %s | FileCheck %s --check-prefix=AMD

// AMD-NOT: copy_async

// CHECK-LABEL: func.func @product
// Two iterations ahead, of which there may be none.
// CHECK: %[[A:.*]] = tilegpu.alloc : <64x64xf16, {{.*}}, slots [[SLOTS:[0-9]+]]>
// CHECK: %[[B:.*]] = tilegpu.alloc : <64x64xf16, {{.*}}, slots [[SLOTS]]>
// CHECK-COUNT-2: tilegpu.copy_async {{.*}} if %{{.*}} vector 8
// CHECK: tilegpu.commit
// CHECK-COUNT-2: tilegpu.copy_async {{.*}} if %{{.*}} vector 8
// CHECK: tilegpu.commit
// CHECK-NOT: tilegpu.commit
// CHECK: scf.for
// CHECK: tilegpu.wait pending 1 for %[[A]], %[[B]]
// SM80-NEXT: tilegpu.barrier
// SM80-COUNT-2: tilegpu.copy_async
// SM80: tilegpu.commit
// SM80-COUNT-2: tilegpu.shared_load
// SM80: tilegpu.dot %
// The other order: what copies overwrite is what the product before has read.
// SM90: tilegpu.barrier
// SM90: tilegpu.dot async
// SM90-COUNT-2: tilegpu.copy_async
// SM90: tilegpu.commit
// CHECK-NOT: tilegpu.commit
// CHECK: scf.yield
// CHECK: tilegpu.wait pending 0
// SM90: tilegpu.dot_wait pending 0 for
// CHECK: tile.store
func.func @product(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
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

// Both iterations have slots, and are copied in front of the loop; a third slot would stay empty.
// CHECK-LABEL: func.func @twice
// CHECK-COUNT-2: tilegpu.alloc : <64x64xf16, {{.*}}, slots 2>
// CHECK-COUNT-2: tilegpu.copy_async
// CHECK: tilegpu.commit
// CHECK-COUNT-2: tilegpu.copy_async
// CHECK: tilegpu.commit
// CHECK-NOT: tilegpu.copy_async
// CHECK: scf.for
// CHECK: tilegpu.wait pending 1 for
// CHECK: tilegpu.barrier
// CHECK-NOT: tilegpu.copy_async
// CHECK: tile.store
func.func @twice(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %o: !tile.ptr<f32> {tile.divisibility = 16 : i32})
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 3 : i32} {
  %zero = arith.constant 0 : i32
  %n = arith.constant 2 : i32
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

// The loop's own number holds. Copies of 16 bytes go through the caches that the source names.
// CHECK-LABEL: func.func @twoStages
// SM80: tilegpu.alloc : <64x64xf16, {{.*}}, slots 2>
// CHECK-COUNT-1: tilegpu.commit
// CHECK-NOT: tilegpu.commit
// CHECK: scf.for
// CHECK: tilegpu.wait pending 0 for
func.func @twoStages(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 4 : i32} {
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
    %x = tile.load %pa {cache = #tile.cache<cg>} : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %pb0 = tile.addptr %b, %place : !tile.ptr<f16>, i32
    %pb1 = tile.splat %pb0 : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %pb = tile.addptr %pb1, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %y = tile.load %pb {cache = #tile.cache<ca>} : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %d = tile.dot %x, %y, %s : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  } {tile.num_stages = 2 : i32}
  %o1 = tile.splat %o : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %po = tile.addptr %o1, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %po, %sum : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @fourStages
// SM80: tilegpu.alloc : <64x64xf16, {{.*}}, slots 4>
// CHECK-COUNT-3: tilegpu.commit
// CHECK-NOT: tilegpu.commit
// CHECK: scf.for
// CHECK: tilegpu.wait pending 2 for
func.func @fourStages(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
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
  } {tile.num_stages = 4 : i32}
  %o1 = tile.splat %o : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %po = tile.addptr %o1, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %po, %sum : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// 16 KiB a stage: there is room for 10 on one target, for 14 on the other.
// CHECK-LABEL: func.func @noRoom
// SM80: tilegpu.alloc : <64x64xf16, {{.*}}, slots 10>
// SM90: tilegpu.alloc : <64x64xf16, {{.*}}, slots 14>
// SM80-COUNT-9: tilegpu.commit
// SM80: scf.for
// SM80: tilegpu.wait pending 8 for
func.func @noRoom(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 20 : i32} {
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

// A copy keeps its mask, and copies nothing beyond the last iteration.
// CHECK-LABEL: func.func @masks
// CHECK: scf.for
// CHECK: tilegpu.copy_async {{.*}} mask %{{.*}} if %{{.*}} vector 8
func.func @masks(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32, %m: i32)
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
  %zeros = arith.constant dense<0.0> : tensor<64x64xf16>
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %none) -> (tensor<64x64xf32>) : i32 {
    %place = arith.muli %i, %size : i32
    %left = arith.subi %m, %place : i32
    %lefts = tile.splat %left : i32 -> tensor<64x1xi32>
    %m1 = arith.cmpi slt, %r1, %lefts : tensor<64x1xi32>
    %mask = tile.broadcast %m1 : tensor<64x1xi1> -> tensor<64x64xi1>
    %pa0 = tile.addptr %a, %place : !tile.ptr<f16>, i32
    %pa1 = tile.splat %pa0 : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %pa = tile.addptr %pa1, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %x = tile.load %pa mask %mask other %zeros : (tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi1>, tensor<64x64xf16>) -> tensor<64x64xf16>
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

// A sum that the loop uses is waited for at once. On sm_80 two slots in place of three make room for a fourth block:
// they are filled again behind the dot that reads them.
// CHECK-LABEL: func.func @scaled
// SM80-COUNT-2: tilegpu.alloc : <64x64xf16, {{.*}}, slots 2>
// SM90-COUNT-2: tilegpu.alloc : <64x64xf16, {{.*}}, slots 3>
// CHECK: scf.for
// CHECK: tilegpu.wait pending 1 for
// CHECK: tilegpu.barrier
// SM90: tilegpu.copy_async
// CHECK-NOT: dot async
// CHECK: tilegpu.dot %
// SM80-NEXT: tilegpu.barrier
// SM80-COUNT-2: tilegpu.copy_async
// SM80: tilegpu.commit
// CHECK-NOT: dot_wait
// CHECK: return
func.func @scaled(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
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
    %d0 = tile.dot %x, %y, %s : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %d = arith.addf %d0, %d0 : tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %o1 = tile.splat %o : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %po = tile.addptr %o1, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %po, %sum : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// B is computed, and stored anew by every iteration: no product may be in flight then.
// CHECK-LABEL: func.func @stored
// CHECK: scf.for
// CHECK: tilegpu.shared_store
// CHECK-NOT: dot async
// CHECK: tilegpu.dot %
// CHECK: return
func.func @stored(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
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
    %y2 = arith.addf %y, %y : tensor<64x64xf16>
    %d = tile.dot %x, %y2, %s : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %o1 = tile.splat %o : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %po = tile.addptr %o1, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %po, %sum : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// What an operand is computed from is copied ahead as it is, and read back by the thread that copied it.
// CHECK-LABEL: func.func @computed
// CHECK-DAG: tilegpu.alloc : <64x64xi8, {{.*}}, slots 3>
// CHECK-DAG: tilegpu.alloc : <64x64xf16, {{.*}}, slots 3>
// CHECK: scf.for
// CHECK: tilegpu.wait pending 1 for
// CHECK-NEXT: tilegpu.barrier
// CHECK: %[[BYTES:.*]] = tilegpu.shared_load {{.*}} -> tensor<64x64xi8
// CHECK: arith.sitofp %[[BYTES]]
// CHECK: tilegpu.dot
// CHECK: tilegpu.wait pending 0
func.func @computed(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<i8> {tile.divisibility = 16 : i32},
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
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %none) -> (tensor<64x64xf32>) : i32 {
    %place = arith.muli %i, %size : i32
    %pa0 = tile.addptr %a, %place : !tile.ptr<f16>, i32
    %pa1 = tile.splat %pa0 : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %pa = tile.addptr %pa1, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %x = tile.load %pa : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %pb0 = tile.addptr %b, %place : !tile.ptr<i8>, i32
    %pb1 = tile.splat %pb0 : !tile.ptr<i8> -> tensor<64x64x!tile.ptr<i8>>
    %pb = tile.addptr %pb1, %at : tensor<64x64x!tile.ptr<i8>>, tensor<64x64xi32>
    %y8 = tile.load %pb : (tensor<64x64x!tile.ptr<i8>>) -> tensor<64x64xi8>
    %y = arith.sitofp %y8 : tensor<64x64xi8> to tensor<64x64xf16>
    %d = tile.dot %x, %y, %s : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %po1 = tile.splat %o : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %po = tile.addptr %po1, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %po, %sum : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// What a dot takes as it is and threads use too has one buffer, from which both read.
// CHECK-LABEL: func.func @shared
// CHECK-COUNT-2: tilegpu.alloc : <64x64xf16, {{.*}}, slots
// CHECK-NOT: tilegpu.alloc
// CHECK: scf.for
// CHECK: tilegpu.wait pending
// CHECK-NOT: tilegpu.shared_store
// CHECK: tilegpu.dot
// CHECK: tilegpu.wait pending 0
func.func @shared(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
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
  %sum:2 = scf.for %i = %zero to %n step %one iter_args(%s = %none, %t = %none) -> (tensor<64x64xf32>, tensor<64x64xf32>) : i32 {
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
    %wide = arith.extf %y : tensor<64x64xf16> to tensor<64x64xf32>
    %u = arith.addf %t, %wide : tensor<64x64xf32>
    scf.yield %d, %u : tensor<64x64xf32>, tensor<64x64xf32>
  }
  %po1 = tile.splat %o : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %po = tile.addptr %po1, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  %both = arith.addf %sum#0, %sum#1 : tensor<64x64xf32>
  tile.store %po, %both : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// Words of 8 values each are copied ahead 16 bytes a thread. Rows that repeat are the same thread's, not accesses of their own.
// CHECK-LABEL: func.func @packed
// CHECK: tilegpu.alloc : <8x64xi32, {{.*}}, slots 3>
// CHECK: scf.for
// CHECK-NOT: tile.load
// CHECK: tilegpu.wait pending 1 for
// CHECK-NEXT: tilegpu.barrier
// CHECK-NOT: tilegpu.convert_layout
// CHECK: %[[WORDS:.*]] = tilegpu.shared_load {{.*}} -> tensor<8x64xi32
// CHECK-NOT: tilegpu.convert_layout
// CHECK: tilegpu.dot
func.func @packed(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<i32> {tile.divisibility = 16 : i32},
    %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 3 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %size = arith.constant 4096 : i32
  %words = arith.constant 512 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %line = arith.constant dense<64> : tensor<64x1xi32>
  %bits = arith.constant dense<4> : tensor<64x1xi32>
  %r = tile.arange 0, 64 : tensor<64xi32>
  %r1 = tile.expand_dims %r, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %r2 = arith.muli %r1, %line : tensor<64x1xi32>
  %r3 = tile.broadcast %r2 : tensor<64x1xi32> -> tensor<64x64xi32>
  %c1 = tile.expand_dims %r, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %c2 = tile.broadcast %c1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %r3, %c2 : tensor<64x64xi32>
  %eight = arith.constant dense<8> : tensor<64x1xi32>
  %s1 = arith.remsi %r1, %eight : tensor<64x1xi32>
  %s2 = arith.muli %s1, %bits : tensor<64x1xi32>
  %shift = tile.broadcast %s2 : tensor<64x1xi32> -> tensor<64x64xi32>
  %fifteen = arith.constant dense<15> : tensor<64x64xi32>
  %w = tile.arange 0, 8 : tensor<8xi32>
  %w1 = tile.expand_dims %w, 1 : tensor<8xi32> -> tensor<8x1xi32>
  %wline = arith.constant dense<64> : tensor<8x1xi32>
  %w2 = arith.muli %w1, %wline : tensor<8x1xi32>
  %w3 = tile.broadcast %w2 : tensor<8x1xi32> -> tensor<8x64xi32>
  %c3 = tile.broadcast %c1 : tensor<1x64xi32> -> tensor<8x64xi32>
  %wat = arith.addi %w3, %c3 : tensor<8x64xi32>
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %none) -> (tensor<64x64xf32>) : i32 {
    %place = arith.muli %i, %size : i32
    %pa0 = tile.addptr %a, %place : !tile.ptr<f16>, i32
    %pa1 = tile.splat %pa0 : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %pa = tile.addptr %pa1, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %x = tile.load %pa : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %wplace = arith.muli %i, %words : i32
    %pb0 = tile.addptr %b, %wplace : !tile.ptr<i32>, i32
    %pb1 = tile.splat %pb0 : !tile.ptr<i32> -> tensor<8x64x!tile.ptr<i32>>
    %pb = tile.addptr %pb1, %wat : tensor<8x64x!tile.ptr<i32>>, tensor<8x64xi32>
    %y1 = tile.load %pb : (tensor<8x64x!tile.ptr<i32>>) -> tensor<8x64xi32>
    %y2 = tile.expand_dims %y1, 1 : tensor<8x64xi32> -> tensor<8x1x64xi32>
    %y3 = tile.broadcast %y2 : tensor<8x1x64xi32> -> tensor<8x8x64xi32>
    %y4 = tile.reshape %y3 : tensor<8x8x64xi32> -> tensor<64x64xi32>
    %y5 = arith.shrsi %y4, %shift : tensor<64x64xi32>
    %y6 = arith.andi %y5, %fifteen : tensor<64x64xi32>
    %y = arith.sitofp %y6 : tensor<64x64xi32> to tensor<64x64xf16>
    %d = tile.dot %x, %y, %s : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %po1 = tile.splat %o : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %po = tile.addptr %po1, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %po, %sum : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// A row of scales is copied ahead, too, 4 bytes at a time: the loop waits for no load.
// CHECK-LABEL: func.func @scales
// CHECK-DAG: tilegpu.alloc : <64xf32, {{.*}}, slots 3>
// CHECK-DAG: tilegpu.alloc : <64x64xf16, {{.*}}, slots 3>
// CHECK: scf.for
// CHECK-NOT: tile.load
// CHECK: tilegpu.wait pending 1 for
// CHECK-NEXT: tilegpu.barrier
// CHECK: tilegpu.shared_load {{.*}} -> tensor<64xf32
// CHECK-NOT: tile.load
// CHECK: tilegpu.dot
func.func @scales(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %c: !tile.ptr<f32>, %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 3 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %size = arith.constant 4096 : i32
  %row = arith.constant 64 : i32
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
    %k = arith.muli %i, %row : i32
    %pc0 = tile.addptr %c, %k : !tile.ptr<f32>, i32
    %pc1 = tile.splat %pc0 : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
    %pc = tile.addptr %pc1, %r : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %z = tile.load %pc : (tensor<64x!tile.ptr<f32>>) -> tensor<64xf32>
    %z1 = tile.expand_dims %z, 0 : tensor<64xf32> -> tensor<1x64xf32>
    %z2 = tile.broadcast %z1 : tensor<1x64xf32> -> tensor<64x64xf32>
    %x32 = arith.extf %x : tensor<64x64xf16> to tensor<64x64xf32>
    %scaled = arith.mulf %x32, %z2 : tensor<64x64xf32>
    %x16 = arith.truncf %scaled : tensor<64x64xf32> to tensor<64x64xf16>
    %d = tile.dot %x16, %y, %s : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %po1 = tile.splat %o : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %po = tile.addptr %po1, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %po, %sum : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// Rows that an index chooses: it is loaded an iteration ahead of the copies, to registers, also where an operand is computed from it.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: tilegpu.alloc : <64xi32
// CHECK: tile.load {{.*}}xi32, #{{.*}}>
// CHECK: tile.load {{.*}}xi32, #{{.*}}>
// CHECK: tilegpu.copy_async
// CHECK: tilegpu.commit
// CHECK: tile.load {{.*}}xi32, #{{.*}}>
// CHECK: tilegpu.copy_async
// CHECK: tilegpu.commit
// CHECK: %[[LOOP:.*]]:{{.*}} = scf.for
// CHECK: tilegpu.wait pending 1 for
// CHECK: %[[NEXT:.*]] = tile.load {{.*}}xi32, #{{.*}}>
// CHECK: tilegpu.copy_async
// CHECK: tilegpu.commit
// CHECK: scf.yield {{.*}}%[[NEXT]]
func.func @rows(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %index: !tile.ptr<i32> {tile.divisibility = 16 : i32}, %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 3 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %count = arith.constant 64 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %nothing = arith.constant dense<0.0> : tensor<64x64xf16>
  %line = arith.constant dense<64> : tensor<64x1xi32>
  %first = arith.constant dense<0> : tensor<64xi32>
  %r = tile.arange 0, 64 : tensor<64xi32>
  %r1 = tile.expand_dims %r, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %r2 = arith.muli %r1, %line : tensor<64x1xi32>
  %r3 = tile.broadcast %r2 : tensor<64x1xi32> -> tensor<64x64xi32>
  %c1 = tile.expand_dims %r, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %c2 = tile.broadcast %c1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %r3, %c2 : tensor<64x64xi32>
  %pa0 = tile.splat %a : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %pa = tile.addptr %pa0, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %x = tile.load %pa : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  %pb0 = tile.splat %b : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %none) -> (tensor<64x64xf32>) : i32 {
    %place = arith.muli %i, %count : i32
    %pi0 = tile.addptr %index, %place : !tile.ptr<i32>, i32
    %pi1 = tile.splat %pi0 : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
    %pi = tile.addptr %pi1, %r : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
    %rows = tile.load %pi : (tensor<64x!tile.ptr<i32>>) -> tensor<64xi32>
    %there = arith.cmpi sge, %rows, %first : tensor<64xi32>
    %t1 = tile.expand_dims %there, 0 : tensor<64xi1> -> tensor<1x64xi1>
    %t2 = tile.broadcast %t1 : tensor<1x64xi1> -> tensor<64x64xi1>
    %kept = arith.select %t2, %x, %nothing : tensor<64x64xi1>, tensor<64x64xf16>
    %l1 = tile.expand_dims %rows, 1 : tensor<64xi32> -> tensor<64x1xi32>
    %l2 = arith.muli %l1, %line : tensor<64x1xi32>
    %l3 = tile.broadcast %l2 : tensor<64x1xi32> -> tensor<64x64xi32>
    %l4 = arith.addi %l3, %c2 : tensor<64x64xi32>
    %pb = tile.addptr %pb0, %l4 : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %y = tile.load %pb : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %d = tile.dot %kept, %y, %s : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %po0 = tile.splat %o : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %po = tile.addptr %po0, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %po, %sum : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// A persistent program, whose next tile begins in a branch: part of the addresses.
// CHECK-LABEL: func.func @tiles
// CHECK-COUNT-4: tilegpu.copy_async
// CHECK: scf.for
// CHECK: tilegpu.wait pending
// CHECK: scf.if
// CHECK-COUNT-2: tilegpu.copy_async
// CHECK: scf.yield
func.func @tiles(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 3 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %seven = arith.constant 7 : i32
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
  %sum:2 = scf.for %i = %zero to %n step %one iter_args(%s = %none, %tile = %zero) -> (tensor<64x64xf32>, i32) : i32 {
    %within = arith.andi %i, %seven : i32
    %begins = arith.cmpi eq, %within, %zero : i32
    %now = scf.if %begins -> (i32) {
      %next = arith.addi %tile, %size : i32
      %wrapped = arith.remsi %next, %n : i32
      scf.yield %wrapped : i32
    } else {
      scf.yield %tile : i32
    }
    %pa0 = tile.addptr %a, %now : !tile.ptr<f16>, i32
    %pa1 = tile.splat %pa0 : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %pa2 = tile.hint %pa1 divisibility = [16, 16] : tensor<64x64x!tile.ptr<f16>>
    %pa = tile.addptr %pa2, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %x = tile.load %pa : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %place = arith.muli %within, %size : i32
    %pb0 = tile.addptr %b, %place : !tile.ptr<f16>, i32
    %pb1 = tile.splat %pb0 : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %pb = tile.addptr %pb1, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %y = tile.load %pb : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %d = tile.dot %x, %y, %s : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %d, %now : tensor<64x64xf32>, i32
  }
  %o1 = tile.splat %o : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %po = tile.addptr %o1, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %po, %sum#0 : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// MLIR's pipeliner compares signed numbers: these are wide enough for what is unsigned.
// CHECK-LABEL: func.func @unsignedBounds
// CHECK: arith.extui
// CHECK: tilegpu.copy_async
// CHECK: scf.for %[[I:.*]] = {{.*}} : i64
// CHECK: arith.trunci
func.func @unsignedBounds(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
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
  %sum = scf.for unsigned %i = %zero to %n step %one iter_args(%s = %none) -> (tensor<64x64xf32>) : i32 {
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

// What the first product has read is filled again where threads exchange its result, which takes a barrier anyway; what the
// second one reads is waited for there.
// CHECK-LABEL: func.func @parts
// SM80: %[[W:.*]] = tilegpu.alloc : <64x64xf16, {{[^>]*}}>
// SM80: %[[K:.*]] = tilegpu.alloc : <64x64xf16, {{[^>]*}}>
// SM80: tilegpu.copy_async
// SM80: tilegpu.commit
// SM80: tilegpu.copy_async
// SM80: tilegpu.commit
// SM80: scf.for
// SM80: tilegpu.wait pending 1 for %[[W]] :
// SM80-NEXT: tilegpu.barrier
// SM80-NOT: copy_async
// SM80: tilegpu.dot
// SM80: tilegpu.wait pending 0 for %[[K]] :
// SM80-NEXT: tilegpu.barrier
// SM80: %[[AGAIN:.*]] = tilegpu.slot %[[W]]
// SM80: tilegpu.copy_async %{{.*}}, %[[AGAIN]]
// SM80: tilegpu.commit
// SM80: tilegpu.shared_store
// SM80: tilegpu.dot
// SM80: tilegpu.barrier
// SM80: tilegpu.slot %[[K]]
// SM80: tilegpu.copy_async
// SM80: tilegpu.commit
// SM80: scf.yield
func.func @parts(%w: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %k: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 2 : i32, tile.num_stages = 2 : i32} {
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
  %state = scf.for %i = %zero to %n step %one iter_args(%h = %none) -> (tensor<64x64xf32>) : i32 {
    %place = arith.muli %i, %size : i32
    %pw0 = tile.addptr %w, %place : !tile.ptr<f16>, i32
    %pw1 = tile.splat %pw0 : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %pw = tile.addptr %pw1, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %x = tile.load %pw : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %pk0 = tile.addptr %k, %place : !tile.ptr<f16>, i32
    %pk1 = tile.splat %pk0 : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %pk = tile.addptr %pk1, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %y = tile.load %pk : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %narrow = arith.truncf %h : tensor<64x64xf32> to tensor<64x64xf16>
    %u = tile.dot %x, %narrow, %none : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %p = arith.truncf %u : tensor<64x64xf32> to tensor<64x64xf16>
    %t = tile.trans %y, [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %next = tile.dot %t, %p, %h : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %o1 = tile.splat %o : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %po = tile.addptr %o1, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %po, %state : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}
