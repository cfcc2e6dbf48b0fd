// What a loop loads for two dots, one of which reads it transposed, is copied ahead into one ring that both read.
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=cuda:sm_80},canonicalize,cse,loop-invariant-code-motion,func.func(kiln-stage-operands,kiln-pipeline-loops))" %s | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=cuda:sm_90a},canonicalize,cse,loop-invariant-code-motion,func.func(kiln-stage-operands,kiln-pipeline-loops))" %s | FileCheck %s --check-prefixes=CHECK,SM90

// CHECK-DAG: #[[ROWS:.*]] = #tilegpu.shared<"offset: 0,1 0,2 0,4 0,8 0,16 0,32 1,8 2,16 4,32 8,0 16,0 -> 32x64">

// CHECK-LABEL: func.func @twice
// With a slot more where the sum's product runs into the next iteration.
// SM80: %[[RING:.*]] = tilegpu.alloc : <32x64xf16, #[[ROWS]], slots 3>
// SM90: %[[RING:.*]] = tilegpu.alloc : <32x64xf16, #[[ROWS]], slots 4>
// CHECK: scf.for
// CHECK: tilegpu.wait pending 1 for %[[RING]]
// CHECK-NEXT: tilegpu.barrier
// CHECK-NOT: tilegpu.barrier
// CHECK-NOT: tilegpu.alloc
// CHECK-NOT: tilegpu.shared_store
// CHECK: %[[T:.*]] = tilegpu.trans_buffer %[[SLOT:.*]], [1, 0]
// SM80: %[[FIRST:.*]] = tilegpu.shared_load %[[T]]
// SM80: tilegpu.dot %{{.*}}, %[[FIRST]],
// SM80: %[[SECOND:.*]] = tilegpu.shared_load %[[SLOT]]
// SM80: tilegpu.dot %{{.*}}, %[[SECOND]],
// SM90: tilegpu.dot async %{{.*}}, %[[T]],
// SM90: tilegpu.dot_wait
// SM90-NOT: proxy_fence
// SM90: tilegpu.dot async %{{.*}}, %[[SLOT]],
// SM90-NOT: tilegpu.dot_wait
// CHECK: scf.yield
func.func @twice(%w: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %x: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 3 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %size = arith.constant 2048 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %start = arith.constant dense<0.0> : tensor<64x32xf32>
  %line = arith.constant dense<64> : tensor<64x1xi32>
  %line32 = arith.constant dense<64> : tensor<32x1xi32>
  %c = tile.arange 0, 64 : tensor<64xi32>
  %r1 = tile.expand_dims %c, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %r2 = arith.muli %r1, %line : tensor<64x1xi32>
  %r3 = tile.broadcast %r2 : tensor<64x1xi32> -> tensor<64x64xi32>
  %c1 = tile.expand_dims %c, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %c2 = tile.broadcast %c1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %r3, %c2 : tensor<64x64xi32>
  %s = tile.arange 0, 32 : tensor<32xi32>
  %s1 = tile.expand_dims %s, 1 : tensor<32xi32> -> tensor<32x1xi32>
  %s2 = arith.muli %s1, %line32 : tensor<32x1xi32>
  %s3 = tile.broadcast %s2 : tensor<32x1xi32> -> tensor<32x64xi32>
  %c3 = tile.broadcast %c1 : tensor<1x64xi32> -> tensor<32x64xi32>
  %at32 = arith.addi %s3, %c3 : tensor<32x64xi32>
  %pw1 = tile.splat %w : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %pw = tile.addptr %pw1, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %kept = tile.load %pw : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  %sum = scf.for %i = %zero to %n step %one iter_args(%acc = %none) -> (tensor<64x64xf32>) : i32 {
    %place = arith.muli %i, %size : i32
    %px0 = tile.addptr %x, %place : !tile.ptr<f16>, i32
    %px1 = tile.splat %px0 : !tile.ptr<f16> -> tensor<32x64x!tile.ptr<f16>>
    %px = tile.addptr %px1, %at32 : tensor<32x64x!tile.ptr<f16>>, tensor<32x64xi32>
    %block = tile.load %px : (tensor<32x64x!tile.ptr<f16>>) -> tensor<32x64xf16>
    %transposed = tile.trans %block, [1, 0] : tensor<32x64xf16> -> tensor<64x32xf16>
    %p = tile.dot %kept, %transposed, %start : (tensor<64x64xf16>, tensor<64x32xf16>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %h = arith.truncf %p : tensor<64x32xf32> to tensor<64x32xf16>
    %d = tile.dot %h, %block, %acc : (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %o1 = tile.splat %o : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %po = tile.addptr %o1, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %po, %sum : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}
