// Blocks come by the copy engine: in a loop ahead of the dots, over tiles by a warp of its own, and side by side outside of loops.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-use-tensor-maps),kiln-tile-to-tilegpu{target=cuda:sm_90a},canonicalize,cse,loop-invariant-code-motion,func.func(kiln-stage-operands,kiln-specialise-warps,kiln-pipeline-loops,kiln-copy-blocks))" %s | FileCheck %s

// One loop: the kernel's own warps. Two arrivals are two blocks.
// CHECK-LABEL: func.func @product
// CHECK-NOT: tilegpu.producer_warps
// CHECK: %[[FULL:.*]] = tilegpu.alloc : <1xi64
// CHECK: tilegpu.mbarrier_init %[[FULL]] arrivals 2
// CHECK-NEXT: tilegpu.proxy_fence
// CHECK-NEXT: tilegpu.barrier
// CHECK-COUNT-4: tilegpu.tma_load %arg{{[0-9]+}}{{.*}} if
// CHECK: scf.for
// CHECK: tilegpu.mbarrier_wait
// CHECK: tilegpu.dot async
// CHECK-COUNT-2: tilegpu.tma_load
// CHECK: scf.yield
// CHECK: tilegpu.mbarrier_inval %[[FULL]]
// The result goes through rows in shared memory.
// CHECK: tilegpu.shared_store
// CHECK-NEXT: tilegpu.proxy_fence{{$}}
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.tma_store
func.func @product(%a: !tile.ptr<f16>, %c: !tile.ptr<f32>, %m: i32 {tile.divisibility = 16 : i32}, %stride: i64, %n: i32) attributes {tile.num_warps = 4 : i32, tile.num_stages = 3 : i32} {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %o = arith.constant 0 : i64
  %rows = arith.extsi %m : i32 to i64
  %d = tile.make_descriptor %a, [%rows, %rows], [%stride] : !tile.ptr<f16> -> !tile.descriptor<64x32xf16>
  %e = tile.make_descriptor %c, [%rows, %rows], [%stride] : !tile.ptr<f32> -> !tile.descriptor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c32 iter_args(%s = %zero) -> (tensor<64x64xf32>) : i32 {
    %i = arith.extsi %k : i32 to i64
    %x = tile.descriptor_load %d[%o, %i] : !tile.descriptor<64x32xf16> -> tensor<64x32xf16>
    %y = tile.descriptor_load %d[%i, %o] : !tile.descriptor<64x32xf16> -> tensor<64x32xf16>
    %t = tile.trans %y, [1, 0] : tensor<64x32xf16> -> tensor<32x64xf16>
    %p = tile.dot %x, %t, %s : (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %p : tensor<64x64xf32>
  }
  tile.descriptor_store %e[%o, %o], %sum : !tile.descriptor<64x64xf32>, tensor<64x64xf32>
  return
}

// A loop over tiles: the producer has no barrier, and the others none in their loop.
// CHECK-LABEL: func.func @tiles
// CHECK-SAME: tilegpu.producer_warps = 1
// CHECK: tilegpu.barrier of_all_warps
// CHECK: tilegpu.in_producer_warp
// CHECK: tilegpu.is_producer
// CHECK-NOT: tilegpu.barrier
// CHECK-COUNT-2: scf.for
// CHECK: tilegpu.mbarrier_wait
// CHECK-COUNT-2: tilegpu.tma_load by_one_thread
// CHECK: } else {
// CHECK-COUNT-2: scf.for
// CHECK: tilegpu.mbarrier_wait
// CHECK-NOT: tilegpu.barrier
// CHECK: tilegpu.dot async
// CHECK: tilegpu.dot_wait pending 1
// CHECK: tilegpu.mbarrier_arrive {{.*}} if
// CHECK-NOT: tilegpu.barrier
// CHECK: scf.yield
// CHECK: tilegpu.dot_wait pending 0
// CHECK: tilegpu.mbarrier_arrive {{.*}} if
// CHECK: tilegpu.tma_store
func.func @tiles(%a: !tile.ptr<f16>, %c: !tile.ptr<f32>, %m: i32 {tile.divisibility = 16 : i32}, %stride: i64, %n: i32) attributes {tile.num_warps = 4 : i32, tile.num_stages = 3 : i32} {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %rows = arith.extsi %m : i32 to i64
  %d = tile.make_descriptor %a, [%rows, %rows], [%stride] : !tile.ptr<f16> -> !tile.descriptor<64x32xf16>
  %e = tile.make_descriptor %c, [%rows, %rows], [%stride] : !tile.ptr<f32> -> !tile.descriptor<64x64xf32>
  scf.for %tile = %c0 to %m step %c32 : i32 {
    %o = arith.extsi %tile : i32 to i64
    %sum = scf.for %k = %c0 to %n step %c32 iter_args(%s = %zero) -> (tensor<64x64xf32>) : i32 {
      %i = arith.extsi %k : i32 to i64
      %x = tile.descriptor_load %d[%o, %i] : !tile.descriptor<64x32xf16> -> tensor<64x32xf16>
      %y = tile.descriptor_load %d[%i, %o] : !tile.descriptor<64x32xf16> -> tensor<64x32xf16>
      %t = tile.trans %y, [1, 0] : tensor<64x32xf16> -> tensor<32x64xf16>
      %p = tile.dot %x, %t, %s : (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
      scf.yield %p : tensor<64x64xf32>
    }
    tile.descriptor_store %e[%o, %o], %sum : !tile.descriptor<64x64xf32>, tensor<64x64xf32>
  }
  return
}

// Outside of loops both are under way when the first is waited for.
// CHECK-LABEL: func.func @together
// CHECK: tilegpu.tma_load
// CHECK-NOT: tilegpu.mbarrier_wait
// CHECK: tilegpu.tma_load
// CHECK-COUNT-2: tilegpu.mbarrier_wait
// CHECK: tilegpu.dot
func.func @together(%a: !tile.ptr<f16>, %c: !tile.ptr<f32>, %m: i32 {tile.divisibility = 16 : i32}, %stride: i64) attributes {tile.num_warps = 4 : i32, tile.num_stages = 3 : i32} {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %o = arith.constant 0 : i64
  %rows = arith.extsi %m : i32 to i64
  %d = tile.make_descriptor %a, [%rows, %rows], [%stride] : !tile.ptr<f16> -> !tile.descriptor<64x32xf16>
  %e = tile.make_descriptor %c, [%rows, %rows], [%stride] : !tile.ptr<f32> -> !tile.descriptor<64x64xf32>
  %x = tile.descriptor_load %d[%o, %o] : !tile.descriptor<64x32xf16> -> tensor<64x32xf16>
  %y = tile.descriptor_load %d[%rows, %o] : !tile.descriptor<64x32xf16> -> tensor<64x32xf16>
  %t = tile.trans %y, [1, 0] : tensor<64x32xf16> -> tensor<32x64xf16>
  %p = tile.dot %x, %t, %zero : (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
  tile.descriptor_store %e[%o, %o], %p : !tile.descriptor<64x64xf32>, tensor<64x64xf32>
  return
}

// What is stored between the two is not in the first, and fenced for the second.
// CHECK-LABEL: func.func @apart
// CHECK: tilegpu.proxy_fence{{$}}
// CHECK: tilegpu.tma_load
// CHECK: tilegpu.mbarrier_wait
// CHECK: tile.store
// CHECK: tilegpu.proxy_fence global
// CHECK-NEXT: tilegpu.barrier
// CHECK: tilegpu.tma_load
// CHECK: tilegpu.mbarrier_wait
// CHECK: tilegpu.dot
func.func @apart(%a: !tile.ptr<f16>, %c: !tile.ptr<f32>, %m: i32 {tile.divisibility = 16 : i32}, %stride: i64) attributes {tile.num_warps = 4 : i32, tile.num_stages = 3 : i32} {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %one = arith.constant 1.0 : f16
  %o = arith.constant 0 : i64
  %rows = arith.extsi %m : i32 to i64
  %d = tile.make_descriptor %a, [%rows, %rows], [%stride] : !tile.ptr<f16> -> !tile.descriptor<64x32xf16>
  %e = tile.make_descriptor %c, [%rows, %rows], [%stride] : !tile.ptr<f32> -> !tile.descriptor<64x64xf32>
  %x = tile.descriptor_load %d[%o, %o] : !tile.descriptor<64x32xf16> -> tensor<64x32xf16>
  tile.store %a, %one : (!tile.ptr<f16>, f16) -> ()
  %y = tile.descriptor_load %d[%o, %o] : !tile.descriptor<64x32xf16> -> tensor<64x32xf16>
  %t = tile.trans %y, [1, 0] : tensor<64x32xf16> -> tensor<32x64xf16>
  %p = tile.dot %x, %t, %zero : (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
  tile.descriptor_store %e[%o, %o], %p : !tile.descriptor<64x64xf32>, tensor<64x64xf32>
  return
}

// Reductions go the same way, of blocks of any rank.
// CHECK-LABEL: func.func @reductions
// CHECK: %[[SUMS:.*]] = tilegpu.alloc : <64x64xf32
// CHECK: tilegpu.shared_store %{{.*}}, %[[SUMS]]
// CHECK-NEXT: tilegpu.proxy_fence{{$}}
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.tma_store combine <fadd> %[[SUMS]], %arg{{[0-9]+}}[
// CHECK: %[[LEAST:.*]] = tilegpu.alloc : <2x4x16xi32
// CHECK: tilegpu.tma_store combine <smin> %[[LEAST]], %arg{{[0-9]+}}[
func.func @reductions(%a: !tile.ptr<f32>, %c: !tile.ptr<i32>, %m: i32 {tile.divisibility = 16 : i32}, %stride: i64) attributes {tile.num_warps = 4 : i32} {
  %o = arith.constant 0 : i64
  %x = arith.constant dense<1.0> : tensor<64x64xf32>
  %y = arith.constant dense<1> : tensor<2x4x16xi32>
  %rows = arith.extsi %m : i32 to i64
  %d = tile.make_descriptor %a, [%rows, %rows], [%stride] : !tile.ptr<f32> -> !tile.descriptor<64x64xf32>
  %e = tile.make_descriptor %c, [%rows, %rows, %rows], [%stride, %stride] : !tile.ptr<i32> -> !tile.descriptor<2x4x16xi32>
  tile.descriptor_reduce <fadd> %d[%o, %o], %x : !tile.descriptor<64x64xf32>, tensor<64x64xf32>
  tile.descriptor_reduce <smin> %e[%o, %o, %o], %y : !tile.descriptor<2x4x16xi32>, tensor<2x4x16xi32>
  return
}

// What threads do to an array themselves is fenced as well.
// CHECK-LABEL: func.func @afterThreads
// CHECK: tilegpu.shared_store
// CHECK-NEXT: tilegpu.proxy_fence global
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.tma_store combine <fadd>
func.func @afterThreads(%a: !tile.ptr<f32>, %m: i32 {tile.divisibility = 16 : i32}, %stride: i64) attributes {tile.num_warps = 4 : i32} {
  %o = arith.constant 0 : i64
  %one = arith.constant 1.0 : f32
  %x = arith.constant dense<1.0> : tensor<64x64xf32>
  %rows = arith.extsi %m : i32 to i64
  %d = tile.make_descriptor %a, [%rows, %rows], [%stride] : !tile.ptr<f32> -> !tile.descriptor<64x64xf32>
  tile.store %a, %one : (!tile.ptr<f32>, f32) -> ()
  tile.descriptor_reduce <fadd> %d[%o, %o], %x : !tile.descriptor<64x64xf32>, tensor<64x64xf32>
  return
}

// No warp runs ahead of what threads store in front of the loops.
// CHECK-LABEL: func.func @tilesOfWhatIsStored
// CHECK-NOT: tilegpu.producer_warps
// CHECK: tile.store
// CHECK: scf.for
// CHECK: tilegpu.proxy_fence global
// CHECK-NEXT: tilegpu.barrier
// CHECK: tilegpu.tma_load
// CHECK: scf.for
func.func @tilesOfWhatIsStored(%a: !tile.ptr<f16>, %c: !tile.ptr<f32>, %m: i32 {tile.divisibility = 16 : i32}, %stride: i64, %n: i32) attributes {tile.num_warps = 4 : i32, tile.num_stages = 3 : i32} {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %one = arith.constant 1.0 : f16
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %o = arith.constant 0 : i64
  %rows = arith.extsi %m : i32 to i64
  %d = tile.make_descriptor %a, [%rows, %rows], [%stride] : !tile.ptr<f16> -> !tile.descriptor<64x32xf16>
  %e = tile.make_descriptor %c, [%rows, %rows], [%stride] : !tile.ptr<f32> -> !tile.descriptor<64x64xf32>
  tile.store %a, %one : (!tile.ptr<f16>, f16) -> ()
  scf.for %tile = %c0 to %n step %c1 : i32 {
    %sum = scf.for %k = %c0 to %n step %c32 iter_args(%s = %zero) -> (tensor<64x64xf32>) : i32 {
      %i = arith.extsi %k : i32 to i64
      %x = tile.descriptor_load %d[%o, %i] : !tile.descriptor<64x32xf16> -> tensor<64x32xf16>
      %y = tile.descriptor_load %d[%i, %o] : !tile.descriptor<64x32xf16> -> tensor<64x32xf16>
      %t = tile.trans %y, [1, 0] : tensor<64x32xf16> -> tensor<32x64xf16>
      %p = tile.dot %x, %t, %s : (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
      scf.yield %p : tensor<64x64xf32>
    }
    tile.descriptor_store %e[%o, %o], %sum : !tile.descriptor<64x64xf32>, tensor<64x64xf32>
  }
  return
}

// What is written is waited for before the kernel reads it: behind a loop, or in a loop that reads; and at the end by nobody.
// CHECK-LABEL: func.func @awaited
// CHECK: scf.for
// CHECK: tilegpu.tma_store combine <fadd>
// CHECK-NOT: tilegpu.tma_store_wait
// CHECK: }
// CHECK-NEXT: tilegpu.tma_store_wait combine <fadd>
// CHECK: tile.load
// CHECK: scf.for
// CHECK: tilegpu.tma_store combine <fadd>
// CHECK-NEXT: tilegpu.tma_store_wait combine <fadd>
// CHECK-NEXT: tile.load
// CHECK: tilegpu.tma_store combine <fadd>
// CHECK-NEXT: return
func.func @awaited(%a: !tile.ptr<f32>, %q: !tile.ptr<f32>, %m: i32 {tile.divisibility = 16 : i32}, %stride: i64, %n: i32) attributes {tile.num_warps = 4 : i32} {
  %o = arith.constant 0 : i64
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x = arith.constant dense<1.0> : tensor<64x64xf32>
  %rows = arith.extsi %m : i32 to i64
  %d = tile.make_descriptor %a, [%rows, %rows], [%stride] : !tile.ptr<f32> -> !tile.descriptor<64x64xf32>
  scf.for %k = %c0 to %n step %c1 : i32 {
    %i = arith.extsi %k : i32 to i64
    tile.descriptor_reduce <fadd> %d[%i, %o], %x : !tile.descriptor<64x64xf32>, tensor<64x64xf32>
  }
  %first = tile.load %a : (!tile.ptr<f32>) -> f32
  tile.store %q, %first : (!tile.ptr<f32>, f32) -> ()
  scf.for %k = %c0 to %n step %c1 : i32 {
    %i = arith.extsi %k : i32 to i64
    tile.descriptor_reduce <fadd> %d[%i, %o], %x : !tile.descriptor<64x64xf32>, tensor<64x64xf32>
    %second = tile.load %a : (!tile.ptr<f32>) -> f32
    tile.store %q, %second : (!tile.ptr<f32>, f32) -> ()
  }
  tile.descriptor_reduce <fadd> %d[%o, %o], %x : !tile.descriptor<64x64xf32>, tensor<64x64xf32>
  return
}
