// Attention's second product starts behind the next iteration's first one, where a warp of its own copies the blocks.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-use-tensor-maps),kiln-tile-to-tilegpu{target=cuda:sm_90a},canonicalize,cse,loop-invariant-code-motion,func.func(kiln-stage-operands,kiln-specialise-warps,kiln-pipeline-loops,kiln-delay-dots))" %s | FileCheck %s

// The first half of the first iteration stands alone, the last second product behind the loop.
// CHECK-LABEL: func.func @attention
// CHECK-SAME: tilegpu.producer_warps
// CHECK: } else {
// CHECK: scf.if
// CHECK: %[[S:.*]] = tilegpu.dot async
// CHECK-NEXT: tilegpu.dot_wait pending 0 for %[[S]]
// CHECK-NOT: tilegpu.dot
// CHECK: scf.for
// CHECK: tilegpu.mbarrier_wait
// CHECK: %[[S:.*]] = tilegpu.dot async
// CHECK: %[[SUM:.*]] = tilegpu.dot async %arg{{.*}} unit <"wgmma.m64n64k16.f16.f32"
// CHECK-NEXT: tilegpu.dot_wait pending 1 for %[[S]]
// What needs the sum, or may, comes behind its wait; the next operand is rounded there, in the registers of this one.
// CHECK: math.exp2
// CHECK-NOT: arith.truncf
// CHECK: tilegpu.dot_wait pending 0 for %[[SUM]]
// CHECK: tilegpu.mbarrier_arrive
// CHECK: arith.truncf
// CHECK: scf.yield
// CHECK: %[[LAST:.*]] = tilegpu.dot async
// CHECK-NEXT: tilegpu.dot_wait pending 0 for %[[LAST]]
// CHECK-NEXT: scf.yield
// CHECK: } else {
// CHECK-NEXT: scf.yield
func.func @attention(%a: !tile.ptr<f16>, %out: !tile.ptr<f32>, %m: i32 {tile.divisibility = 16 : i32}, %stride: i64, %n: i32) attributes {tile.num_warps = 8 : i32, tile.num_stages = 2 : i32} {
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %half = arith.constant dense<0.5> : tensor<128x64xf32>
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %o = arith.constant 0 : i64
  %rows = arith.extsi %m : i32 to i64
  %d = tile.make_descriptor %a, [%rows, %rows], [%stride] : !tile.ptr<f16> -> !tile.descriptor<64x64xf16>
  %e = tile.make_descriptor %a, [%rows, %rows], [%stride] : !tile.ptr<f16> -> !tile.descriptor<128x64xf16>
  %q = tile.descriptor_load %e[%o, %o] : !tile.descriptor<128x64xf16> -> tensor<128x64xf16>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%s = %zero) -> (tensor<128x64xf32>) : i32 {
    %i = arith.extsi %k : i32 to i64
    %x = tile.descriptor_load %d[%i, %o] : !tile.descriptor<64x64xf16> -> tensor<64x64xf16>
    %t = tile.trans %x, [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %score = tile.dot %q, %t, %zero : (tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32>) -> tensor<128x64xf32>
    %p = math.exp2 %score : tensor<128x64xf32>
    %h = arith.truncf %p : tensor<128x64xf32> to tensor<128x64xf16>
    %y = tile.descriptor_load %d[%o, %i] : !tile.descriptor<64x64xf16> -> tensor<64x64xf16>
    %scaled = arith.mulf %s, %half : tensor<128x64xf32>
    %next = tile.dot %h, %y, %scaled : (tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32>) -> tensor<128x64xf32>
    scf.yield %next : tensor<128x64xf32>
  } {tile.warp_specialize}
  %f = tile.make_descriptor %out, [%rows, %rows], [%stride] : !tile.ptr<f32> -> !tile.descriptor<128x64xf32>
  tile.descriptor_store %f[%o, %o], %sum : !tile.descriptor<128x64xf32>, tensor<128x64xf32>
  return
}

// Blocks of 256 columns have two slots, without one more for the product that runs on: keys and values have mbarriers
// of their own. The producer waits for each, a slot of keys is free behind the first product, one of values behind the
// second, which waits for its own where it starts.
// CHECK-LABEL: func.func @wide
// CHECK-COUNT-4: tilegpu.mbarrier_init %{{.*}}slots 2>
// CHECK: scf.for
// CHECK: tilegpu.mbarrier_wait
// CHECK: tilegpu.tma_load
// CHECK: tilegpu.mbarrier_wait
// CHECK: tilegpu.tma_load
// CHECK: } else {
// CHECK: tilegpu.mbarrier_wait
// CHECK: tilegpu.dot async
// CHECK-NOT: tilegpu.mbarrier_wait
// CHECK: scf.for
// CHECK: tilegpu.mbarrier_wait
// CHECK: %[[S:.*]] = tilegpu.dot async
// CHECK: tilegpu.mbarrier_wait
// CHECK: %[[SUM:.*]] = tilegpu.dot async
// CHECK: tilegpu.dot_wait pending 1 for %[[S]]
// CHECK: tilegpu.mbarrier_arrive %{{[0-9]+}} :
// CHECK: tilegpu.dot_wait pending 0 for %[[SUM]]
// CHECK: tilegpu.mbarrier_arrive %{{[0-9]+}} if
// CHECK: scf.yield
// CHECK: tilegpu.mbarrier_wait
// CHECK: tilegpu.dot async
func.func @wide(%a: !tile.ptr<f16>, %out: !tile.ptr<f32>, %m: i32 {tile.divisibility = 16 : i32}, %stride: i64, %n: i32) attributes {tile.num_warps = 8 : i32, tile.num_stages = 2 : i32} {
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %none = arith.constant dense<0.0> : tensor<128x64xf32>
  %half = arith.constant dense<0.5> : tensor<128x256xf32>
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %o = arith.constant 0 : i64
  %rows = arith.extsi %m : i32 to i64
  %d = tile.make_descriptor %a, [%rows, %rows], [%stride] : !tile.ptr<f16> -> !tile.descriptor<64x256xf16>
  %e = tile.make_descriptor %a, [%rows, %rows], [%stride] : !tile.ptr<f16> -> !tile.descriptor<128x256xf16>
  %q = tile.descriptor_load %e[%o, %o] : !tile.descriptor<128x256xf16> -> tensor<128x256xf16>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%s = %zero) -> (tensor<128x256xf32>) : i32 {
    %i = arith.extsi %k : i32 to i64
    %x = tile.descriptor_load %d[%i, %o] : !tile.descriptor<64x256xf16> -> tensor<64x256xf16>
    %t = tile.trans %x, [1, 0] : tensor<64x256xf16> -> tensor<256x64xf16>
    %score = tile.dot %q, %t, %none : (tensor<128x256xf16>, tensor<256x64xf16>, tensor<128x64xf32>) -> tensor<128x64xf32>
    %p = math.exp2 %score : tensor<128x64xf32>
    %h = arith.truncf %p : tensor<128x64xf32> to tensor<128x64xf16>
    %y = tile.descriptor_load %d[%o, %i] : !tile.descriptor<64x256xf16> -> tensor<64x256xf16>
    %scaled = arith.mulf %s, %half : tensor<128x256xf32>
    %next = tile.dot %h, %y, %scaled : (tensor<128x64xf16>, tensor<64x256xf16>, tensor<128x256xf32>) -> tensor<128x256xf32>
    scf.yield %next : tensor<128x256xf32>
  } {tile.warp_specialize}
  %p = tile.splat %out : !tile.ptr<f32> -> tensor<128x256x!tile.ptr<f32>>
  tile.store %p, %sum : (tensor<128x256x!tile.ptr<f32>>, tensor<128x256xf32>) -> ()
  return
}
