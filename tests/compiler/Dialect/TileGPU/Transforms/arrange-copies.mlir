// Loads that feed dots take the layouts in which a warp's copies lie side by side in the buffer, and become such copies.
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx950},canonicalize,cse,loop-invariant-code-motion,func.func(kiln-stage-operands,kiln-arrange-copies))" %s | FileCheck %s
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx950},canonicalize,cse,loop-invariant-code-motion,func.func(kiln-stage-operands,kiln-arrange-copies,kiln-pipeline-loops))" %s | FileCheck %s --check-prefix=RING
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx942},canonicalize,cse,loop-invariant-code-motion,func.func(kiln-stage-operands,kiln-arrange-copies,kiln-pipeline-loops))" %s | FileCheck %s --check-prefix=NONE
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx950},canonicalize,cse,loop-invariant-code-motion,func.func(kiln-stage-operands,kiln-arrange-copies,kiln-pipeline-loops,kiln-use-buffers))" %s | FileCheck %s --check-prefix=BUFFERS

// NONE-NOT: tilegpu.copy_async

// A piece is 8 elements; then come lanes, warps and registers, in the buffer's own order: swizzles are in the addresses.
// CHECK: #[[COPY:.*]] = #tilegpu.layout<"register: 0,1 0,2 0,4 [[R:[0-9, ]+]]; lane: [[L:[0-9, ]+]]; warp: [[W:[0-9,]+ [0-9,]+]]; block: -> 128x64">
// CHECK: #{{.*}} = #tilegpu.shared<"offset: 0,1 0,2 0,4 [[L]] [[W]] [[R]] -> 128x64">
// CHECK-LABEL: func.func @product
// The loop carries the pointers for that, and no others.
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[P:.*]] = %{{[^,]*}}) -> (tensor<128x128xf32, #{{[^>]*}}>, tensor<128x64x!tile.ptr<f16>, #[[COPY]]>)
// CHECK: %[[X:.*]] = tile.load %[[P]] : (tensor<128x64x!tile.ptr<f16>, #[[COPY]]>) -> tensor<128x64xf16, #[[COPY]]>
// CHECK: tilegpu.shared_store %[[X]]

// Of three stages two, as a third would take the room of another block: what is waited for has had an iteration of products to come.
// RING: #tilegpu.shared<"offset: 0,1 0,2 0,4
// RING: #tilegpu.shared<"offset: 1,0 2,0 4,0
// RING-LABEL: func.func @product
// RING-COUNT-2: tilegpu.alloc : <128x64xf16, #{{.*}}, slots 2>
// RING-COUNT-2: tilegpu.copy_async {{.*}} vector 8
// RING: scf.for
// RING: tilegpu.wait pending 0 copies 8 for
// RING-NEXT: tilegpu.barrier
// RING: tilegpu.copy_async
// RING: tilegpu.copy_async
// RING: tilegpu.commit
// RING: tilegpu.dot
// RING: tilegpu.wait pending 0 for
// An iteration moves the base; none is in range where there is no next one to copy for.
// BUFFERS-LABEL: func.func @product
// BUFFERS: tilegpu.buffer_copy %{{.*}}, %{{.*}} bytes %{{.*}} strides [128, 2] axis 1 vector 8 as
// BUFFERS: scf.for
// BUFFERS: %[[BYTES:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
// BUFFERS: tilegpu.buffer_copy %{{.*}}, %{{.*}} bytes %[[BYTES]] strides [128, 2] axis 1 vector 8 as
// BUFFERS-NOT: tilegpu.copy_async
// BUFFERS: return
func.func @product(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 3 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %step = arith.constant dense<8192> : tensor<128x64xi32>
  %none = arith.constant dense<0.0> : tensor<128x128xf32>
  %line = arith.constant dense<64> : tensor<128x1xi32>
  %r = tile.arange 0, 128 : tensor<128xi32>
  %c = tile.arange 0, 64 : tensor<64xi32>
  %r1 = tile.expand_dims %r, 1 : tensor<128xi32> -> tensor<128x1xi32>
  %r2 = arith.muli %r1, %line : tensor<128x1xi32>
  %r3 = tile.broadcast %r2 : tensor<128x1xi32> -> tensor<128x64xi32>
  %c1 = tile.expand_dims %c, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %c2 = tile.broadcast %c1 : tensor<1x64xi32> -> tensor<128x64xi32>
  %at = arith.addi %r3, %c2 : tensor<128x64xi32>
  %pa1 = tile.splat %a : !tile.ptr<f16> -> tensor<128x64x!tile.ptr<f16>>
  %pa = tile.addptr %pa1, %at : tensor<128x64x!tile.ptr<f16>>, tensor<128x64xi32>
  %pb1 = tile.splat %b : !tile.ptr<f16> -> tensor<128x64x!tile.ptr<f16>>
  %pb = tile.addptr %pb1, %at : tensor<128x64x!tile.ptr<f16>>, tensor<128x64xi32>
  %sum:2 = scf.for %i = %zero to %n step %one iter_args(%s = %none, %p = %pa)
      -> (tensor<128x128xf32>, tensor<128x64x!tile.ptr<f16>>) : i32 {
    %x = tile.load %p : (tensor<128x64x!tile.ptr<f16>>) -> tensor<128x64xf16>
    %y = tile.load %pb : (tensor<128x64x!tile.ptr<f16>>) -> tensor<128x64xf16>
    %t = tile.trans %y, [1, 0] : tensor<128x64xf16> -> tensor<64x128xf16>
    %d = tile.dot %x, %t, %s : (tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>) -> tensor<128x128xf32>
    %next = tile.addptr %p, %step : tensor<128x64x!tile.ptr<f16>>, tensor<128x64xi32>
    scf.yield %d, %next : tensor<128x128xf32>, tensor<128x64x!tile.ptr<f16>>
  }
  %w = arith.constant dense<128> : tensor<128x1xi32>
  %o1 = arith.muli %r1, %w : tensor<128x1xi32>
  %o2 = tile.broadcast %o1 : tensor<128x1xi32> -> tensor<128x128xi32>
  %o3 = tile.expand_dims %r, 0 : tensor<128xi32> -> tensor<1x128xi32>
  %o4 = tile.broadcast %o3 : tensor<1x128xi32> -> tensor<128x128xi32>
  %o5 = arith.addi %o2, %o4 : tensor<128x128xi32>
  %po1 = tile.splat %o : !tile.ptr<f32> -> tensor<128x128x!tile.ptr<f32>>
  %po = tile.addptr %po1, %o5 : tensor<128x128x!tile.ptr<f32>>, tensor<128x128xi32>
  tile.store %po, %sum#0 : (tensor<128x128x!tile.ptr<f32>>, tensor<128x128xf32>) -> ()
  return
}

// What memory has along the other axis than the unit reads has rows along that, and is read across them.
// RING-LABEL: func.func @columns
// RING: tilegpu.alloc : <64x64xf16, #{{.*}}, slots 3>
// RING: tilegpu.copy_async
func.func @columns(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 3 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %size = arith.constant 4096 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %factor = arith.constant dense<1.0> : tensor<64x64xf16>
  %line = arith.constant dense<64> : tensor<1x64xi32>
  %r = tile.arange 0, 64 : tensor<64xi32>
  %r1 = tile.expand_dims %r, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %r3 = tile.broadcast %r1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %c1 = tile.expand_dims %r, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %c = arith.muli %c1, %line : tensor<1x64xi32>
  %c2 = tile.broadcast %c : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %r3, %c2 : tensor<64x64xi32>
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %none) -> (tensor<64x64xf32>) : i32 {
    %place = arith.muli %i, %size : i32
    %pa0 = tile.addptr %a, %place : !tile.ptr<f16>, i32
    %pa1 = tile.splat %pa0 : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %pa = tile.addptr %pa1, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %x = tile.load %pa : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %d = tile.dot %x, %factor, %s : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %po1 = tile.splat %o : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %po = tile.addptr %po1, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %po, %sum : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// Columns whose numbers are loaded are not computed again in another layout.
// RING-LABEL: func.func @columnsOfTable
// RING-NOT: tilegpu.copy_async
// RING: return
func.func @columnsOfTable(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %table: !tile.ptr<i32>, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 3 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %size = arith.constant 4096 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %factor = arith.constant dense<1.0> : tensor<64x64xf16>
  %line = arith.constant dense<64> : tensor<1x64xi32>
  %r = tile.arange 0, 64 : tensor<64xi32>
  %pt1 = tile.splat %table : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
  %pt = tile.addptr %pt1, %r : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  %columns = tile.load %pt : (tensor<64x!tile.ptr<i32>>) -> tensor<64xi32>
  %r1 = tile.expand_dims %r, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %r3 = tile.broadcast %r1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %c1 = tile.expand_dims %columns, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %c = arith.muli %c1, %line : tensor<1x64xi32>
  %c2 = tile.broadcast %c : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %r3, %c2 : tensor<64x64xi32>
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %none) -> (tensor<64x64xf32>) : i32 {
    %place = arith.muli %i, %size : i32
    %pa0 = tile.addptr %a, %place : !tile.ptr<f16>, i32
    %pa1 = tile.splat %pa0 : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %pa = tile.addptr %pa1, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %x = tile.load %pa : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %d = tile.dot %x, %factor, %s : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %po1 = tile.splat %o : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %po = tile.addptr %po1, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %po, %sum : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// What threads load beside the copies would be waited for behind them.
// RING-LABEL: func.func @beside
// RING-NOT: tilegpu.copy_async
// RING: return
func.func @beside(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %scales: !tile.ptr<f32>, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 3 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %size = arith.constant 4096 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %factor = arith.constant dense<1.0> : tensor<64x64xf16>
  %line = arith.constant dense<64> : tensor<1x64xi32>
  %r = tile.arange 0, 64 : tensor<64xi32>
  %r1 = tile.expand_dims %r, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %r3 = tile.broadcast %r1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %c1 = tile.expand_dims %r, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %c = arith.muli %c1, %line : tensor<1x64xi32>
  %c2 = tile.broadcast %c : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %r3, %c2 : tensor<64x64xi32>
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %none) -> (tensor<64x64xf32>) : i32 {
    %place = arith.muli %i, %size : i32
    %pa0 = tile.addptr %a, %place : !tile.ptr<f16>, i32
    %pa1 = tile.splat %pa0 : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %pa = tile.addptr %pa1, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %x = tile.load %pa : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %d = tile.dot %x, %factor, %s : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %ps = tile.addptr %scales, %i : !tile.ptr<f32>, i32
    %scale = tile.load %ps : (!tile.ptr<f32>) -> f32
    %all = tile.splat %scale : f32 -> tensor<64x64xf32>
    %next = arith.mulf %d, %all : tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %po1 = tile.splat %o : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %po = tile.addptr %po1, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %po, %sum : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}
