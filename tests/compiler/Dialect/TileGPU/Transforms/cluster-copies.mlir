// Blocks of a cluster copy what all of them read once, to all.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-split-programs,canonicalize,cse,kiln-use-tensor-maps),kiln-tile-to-tilegpu{target=cuda:sm_90a},canonicalize,cse,loop-invariant-code-motion,func.func(kiln-stage-operands,kiln-specialise-warps,kiln-pipeline-loops,kiln-copy-blocks))" %s | FileCheck %s

// The rows of A are each block's own, those of B everybody's. 4 warps of each of 2 blocks empty a slot.
// CHECK-LABEL: func.func @product
// CHECK-SAME: %[[A:arg[0-9]+]]: !tile.descriptor<64x32xf16>
// CHECK-SAME: %[[B:arg[0-9]+]]: !tile.descriptor<128x32xf16>
// CHECK: tilegpu.mbarrier_init %{{.*}} arrivals 2
// CHECK: tilegpu.mbarrier_init %[[EMPTY:.*]] arrivals 8
// CHECK: tilegpu.barrier of_cluster
// CHECK: tilegpu.in_producer_warp
// CHECK: tilegpu.mbarrier_wait
// CHECK: tilegpu.tma_load by_one_thread %[[A]]
// CHECK-NOT: shared_by
// CHECK: tilegpu.tma_load by_one_thread %[[B]]{{.*}} {shared_by = 2 : i32}
// CHECK: tilegpu.cluster_arrive
// CHECK: tilegpu.cluster_wait
// CHECK: } else {
// CHECK: tilegpu.mbarrier_wait
// CHECK: tilegpu.dot async
// CHECK: tilegpu.mbarrier_arrive of_cluster {{.*}} if
// CHECK: tilegpu.mbarrier_arrive of_cluster {{.*}} if
// CHECK-NEXT: tilegpu.cluster_arrive
// CHECK: tile.store
// CHECK: tilegpu.cluster_wait
// CHECK-NEXT: tilegpu.mbarrier_inval %[[EMPTY]]
func.func @product(%a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %c: !tile.ptr<f32>, %m: i32 {tile.divisibility = 16 : i32}, %stride: i64, %n: i32, %at: i32) attributes {tile.num_warps = 4 : i32, tile.num_stages = 3 : i32, tile.num_ctas = 2 : i32} {
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %rows = arith.extsi %m : i32 to i64
  %o = arith.extsi %at : i32 to i64
  %da = tile.make_descriptor %a, [%rows, %rows], [%stride] : !tile.ptr<f16> -> !tile.descriptor<128x32xf16>
  %db = tile.make_descriptor %b, [%rows, %rows], [%stride] : !tile.ptr<f16> -> !tile.descriptor<128x32xf16>
  %r = tile.arange 0, 128 : tensor<128xi32>
  %ri = tile.expand_dims %r, 1 : tensor<128xi32> -> tensor<128x1xi32>
  %rj = tile.expand_dims %r, 0 : tensor<128xi32> -> tensor<1x128xi32>
  %ci = tile.broadcast %ri : tensor<128x1xi32> -> tensor<128x128xi32>
  %cj = tile.broadcast %rj : tensor<1x128xi32> -> tensor<128x128xi32>
  %co = arith.addi %ci, %cj : tensor<128x128xi32>
  %pc = tile.splat %c : !tile.ptr<f32> -> tensor<128x128x!tile.ptr<f32>>
  %qc = tile.addptr %pc, %co : tensor<128x128x!tile.ptr<f32>>, tensor<128x128xi32>
  %sum = scf.for %k = %c0 to %n step %c32 iter_args(%s = %zero) -> (tensor<128x128xf32>) : i32 {
    %i = arith.extsi %k : i32 to i64
    %x = tile.descriptor_load %da[%o, %i] : !tile.descriptor<128x32xf16> -> tensor<128x32xf16>
    %y = tile.descriptor_load %db[%o, %i] : !tile.descriptor<128x32xf16> -> tensor<128x32xf16>
    %t = tile.trans %y, [1, 0] : tensor<128x32xf16> -> tensor<32x128xf16>
    %p = tile.dot %x, %t, %s : (tensor<128x32xf16>, tensor<32x128xf16>, tensor<128x128xf32>) -> tensor<128x128xf32>
    scf.yield %p : tensor<128x128xf32>
  }
  tile.store %qc, %sum : (tensor<128x128x!tile.ptr<f32>>, tensor<128x128xf32>) -> ()
  return
}
