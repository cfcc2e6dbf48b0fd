// Where tensor maps let a warp of its own copy for all loops of a nest, the nest is there twice, and the producer goes through the same branch.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-use-tensor-maps),kiln-tile-to-tilegpu{target=cuda:sm_90a},canonicalize,cse,func.func(kiln-stage-operands,kiln-version-loops,kiln-specialise-warps,kiln-pipeline-loops,kiln-copy-blocks,kiln-defer-reads,kiln-allocate-shared-memory,kiln-insert-barriers))" %s | FileCheck %s

// CHECK-LABEL: func.func @nest
// CHECK-SAME: tilegpu.producer_warps
// CHECK: tilegpu.in_producer_warp
// CHECK: tilegpu.is_producer
// CHECK: %[[SAME:.*]] = arith.cmpi eq
// CHECK: scf.if %[[SAME]] {
// CHECK-NEXT: } else {
// CHECK: scf.for
// CHECK: scf.for
// CHECK: tilegpu.tma_load by_one_thread
// CHECK: %[[EQUAL:.*]] = arith.cmpi eq, {{.*}} : i64
// CHECK: scf.if %[[EQUAL]]
// CHECK: scf.for
// CHECK: scf.for
// CHECK: tilegpu.dot
// CHECK: } else {
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: tilegpu.barrier
// CHECK: tilegpu.mbarrier_wait
// Only what threads store for the unit is fenced.
// CHECK-NOT: tilegpu.proxy_fence
// CHECK: tilegpu.dot
// CHECK: tilegpu.shared_store
// CHECK-NEXT: tilegpu.proxy_fence
// CHECK-NOT: tilegpu.proxy_fence
// CHECK: tilegpu.dot
// CHECK: tilegpu.mbarrier_arrive
// CHECK: } {tile.unlikely, tilegpu.equal_arguments
func.func @nest(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %m: i32 {tile.divisibility = 16 : i32}, %stride: i64 {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel, tile.num_warps = 8 : i32, tile.num_stages = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %c128 = arith.constant 128 : i32
  %c64 = arith.constant 64 : i32
  %o = arith.constant 0 : i64
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %none = arith.constant dense<0.0> : tensor<128x64xf32>
  %rows = arith.extsi %m : i32 to i64
  %d = tile.make_descriptor %a, [%rows, %rows], [%stride] : !tile.ptr<f16> -> !tile.descriptor<64x128xf16>
  %r = tile.arange 0, 128 : tensor<128xi32>
  %s = tile.arange 0, 64 : tensor<64xi32>
  %row = tile.expand_dims %r, 1 : tensor<128xi32> -> tensor<128x1xi32>
  %column = tile.expand_dims %s, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %wide = arith.constant dense<64> : tensor<128x1xi32>
  %starts = arith.muli %row, %wide : tensor<128x1xi32>
  %down = tile.broadcast %starts : tensor<128x1xi32> -> tensor<128x64xi32>
  %along = tile.broadcast %column : tensor<1x64xi32> -> tensor<128x64xi32>
  %at = arith.addi %down, %along : tensor<128x64xi32>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<128x64x!tile.ptr<f32>>
  %sums = tile.addptr %qs, %at : tensor<128x64x!tile.ptr<f32>>, tensor<128x64xi32>
  %numbers = arith.sitofp %at : tensor<128x64xi32> to tensor<128x64xf16>
  %sum = scf.for %i = %c0 to %n step %c128 iter_args(%outer = %zero) -> (tensor<128x128xf32>) : i32 {
    %j = arith.extsi %i : i32 to i64
    %inner = scf.for %k = %c0 to %m step %c64 iter_args(%x = %outer) -> (tensor<128x128xf32>) : i32 {
      %at64 = arith.extsi %k : i32 to i64
      %block = tile.descriptor_load %d[%at64, %j] : !tile.descriptor<64x128xf16> -> tensor<64x128xf16>
      %y = tile.dot %numbers, %block, %x : (tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>) -> tensor<128x128xf32>
      %h = arith.truncf %y : tensor<128x128xf32> to tensor<128x128xf16>
      %turned = tile.trans %block, [1, 0] : tensor<64x128xf16> -> tensor<128x64xf16>
      %ht = tile.trans %h, [1, 0] : tensor<128x128xf16> -> tensor<128x128xf16>
      %z = tile.dot %ht, %turned, %none : (tensor<128x128xf16>, tensor<128x64xf16>, tensor<128x64xf32>) -> tensor<128x64xf32>
      tile.store %sums, %z : (tensor<128x64x!tile.ptr<f32>>, tensor<128x64xf32>) -> ()
      scf.yield %y : tensor<128x128xf32>
    }
    scf.yield %inner : tensor<128x128xf32>
  }
  return
}
