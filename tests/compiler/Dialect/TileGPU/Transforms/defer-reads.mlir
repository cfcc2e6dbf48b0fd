// What the copy engine reads of a loop's blocks is waited for in the next iteration, in front of the last barrier before threads write there again.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-use-tensor-maps),kiln-tile-to-tilegpu{target=cuda:sm_90a},canonicalize,cse,func.func(kiln-stage-operands,kiln-specialise-warps,kiln-pipeline-loops,kiln-copy-blocks,kiln-share-buffers,kiln-defer-reads,kiln-allocate-shared-memory,kiln-insert-barriers))" %s | FileCheck %s
// RUN: sed "s/num_warps = 16/num_warps = 4/" %s | kiln-opt --pass-pipeline="builtin.module(func.func(kiln-use-tensor-maps),kiln-tile-to-tilegpu{target=cuda:sm_90a},canonicalize,cse,func.func(kiln-stage-operands,kiln-specialise-warps,kiln-pipeline-loops,kiln-copy-blocks,kiln-share-buffers,kiln-defer-reads,kiln-allocate-shared-memory,kiln-insert-barriers))" | FileCheck --check-prefix=FEW %s

// The barrier between the operand's store and the dot serves both; the sums have a buffer of their own.
// CHECK-LABEL: func.func @sums
// CHECK: %[[SUMS:.*]] = tilegpu.alloc {{.*}}<64x64xf32
// CHECK: scf.for
// CHECK-NOT: tilegpu.barrier
// CHECK: tilegpu.shared_store {{.*}}<64x64xf16
// CHECK-NEXT: tilegpu.tma_read_wait %[[SUMS]]
// CHECK-NEXT: tilegpu.proxy_fence
// CHECK-NEXT: tilegpu.barrier
// CHECK: tilegpu.dot
// CHECK-NOT: tilegpu.barrier
// CHECK: tilegpu.shared_store {{.*}}, %[[SUMS]]
// Threads have read what may be the same array.
// CHECK-NEXT: tilegpu.proxy_fence global
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.tma_store combine <fadd> %[[SUMS]]{{.*}} read_later
// CHECK: }
// CHECK-NEXT: tilegpu.tma_read_wait %[[SUMS]]
// With few warps a processor holds more blocks than have room for such a buffer.
// FEW-LABEL: func.func @sums
// FEW-NOT: tilegpu.tma_read_wait
// FEW-LABEL: func.func @alone
func.func @sums(%b: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %c: !tile.ptr<f32>, %m: i32 {tile.divisibility = 16 : i32}, %stride: i64 {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel, tile.num_warps = 16 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %o = arith.constant 0 : i64
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %rows = arith.extsi %m : i32 to i64
  %e = tile.make_descriptor %c, [%rows, %rows], [%stride] : !tile.ptr<f32> -> !tile.descriptor<64x64xf32>
  %r = tile.arange 0, 64 : tensor<64xi32>
  %row = tile.expand_dims %r, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %column = tile.expand_dims %r, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %wide = arith.constant dense<64> : tensor<64x1xi32>
  %starts = arith.muli %row, %wide : tensor<64x1xi32>
  %down = tile.broadcast %starts : tensor<64x1xi32> -> tensor<64x64xi32>
  %along = tile.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %down, %along : tensor<64x64xi32>
  %bs = tile.splat %b : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %ba = tile.addptr %bs, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %y = tile.load %ba : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %k = arith.extsi %i : i32 to i64
    %s = tile.splat %i : i32 -> tensor<64x64xi32>
    %a = arith.addi %at, %s : tensor<64x64xi32>
    %f = arith.sitofp %a : tensor<64x64xi32> to tensor<64x64xf16>
    %p = tile.dot %y, %f, %zero : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    tile.descriptor_reduce <fadd> %e[%k, %o], %p : !tile.descriptor<64x64xf32>, tensor<64x64xf32>
  }
  return
}

// Nothing else has a barrier there that the wait could stand in front of.
// CHECK-LABEL: func.func @alone
// CHECK: tilegpu.tma_store combine <fadd> {{%[0-9]+}}, {{%arg[0-9]+}}{{[^:]*}}] :
// CHECK-NOT: tilegpu.tma_read_wait
func.func @alone(%c: !tile.ptr<f32>, %m: i32 {tile.divisibility = 16 : i32}, %stride: i64 {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %o = arith.constant 0 : i64
  %rows = arith.extsi %m : i32 to i64
  %e = tile.make_descriptor %c, [%rows, %rows], [%stride] : !tile.ptr<f32> -> !tile.descriptor<64x64xf32>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %k = arith.extsi %i : i32 to i64
    %f = arith.sitofp %i : i32 to f32
    %p = tile.splat %f : f32 -> tensor<64x64xf32>
    tile.descriptor_reduce <fadd> %e[%k, %o], %p : !tile.descriptor<64x64xf32>, tensor<64x64xf32>
  }
  return
}

// Without a loop the copy is waited for at once.
// CHECK-LABEL: func.func @once
// CHECK: tilegpu.tma_store
// CHECK-NOT: read_later
// CHECK-NOT: tilegpu.tma_read_wait
func.func @once(%c: !tile.ptr<f32>, %m: i32 {tile.divisibility = 16 : i32}, %stride: i64 {tile.divisibility = 16 : i32}, %f: f32) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %o = arith.constant 0 : i64
  %rows = arith.extsi %m : i32 to i64
  %e = tile.make_descriptor %c, [%rows, %rows], [%stride] : !tile.ptr<f32> -> !tile.descriptor<64x64xf32>
  %p = tile.splat %f : f32 -> tensor<64x64xf32>
  tile.descriptor_reduce <fadd> %e[%o, %o], %p : !tile.descriptor<64x64xf32>, tensor<64x64xf32>
  return
}
