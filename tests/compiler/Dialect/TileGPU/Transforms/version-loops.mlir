// Loops whose stores might reach what their products read are there twice, and one has copies that run ahead.
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=cuda:sm_80},canonicalize,cse,func.func(kiln-stage-operands,kiln-version-loops,kiln-pipeline-loops,kiln-allocate-shared-memory,kiln-insert-barriers))" %s | FileCheck %s

// The weights are read in the loop, too, and no barrier waits for them where all arguments differ.
// CHECK-LABEL: func.func @products
// CHECK-DAG: %[[PQ:.*]] = arith.cmpi eq
// CHECK-DAG: %[[WQ:.*]] = arith.cmpi eq
// CHECK: %[[SAME:.*]] = arith.ori
// CHECK: scf.if %[[SAME]] {
// CHECK-NOT: tilegpu.copy_async
// CHECK: scf.for
// CHECK: tile.load
// CHECK: tilegpu.dot
// CHECK: tile.store
// CHECK: } else {
// CHECK: tilegpu.copy_async
// CHECK: scf.for
// CHECK-NOT: tilegpu.barrier if
// CHECK: tilegpu.wait
// CHECK: tilegpu.copy_async
// CHECK: tilegpu.dot
// CHECK: tile.store
// CHECK: } {tile.unlikely, tilegpu.equal_arguments
func.func @products(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %w: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %v: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4096 = arith.constant 4096 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %columns = arith.constant dense<64> : tensor<64x1xi32>
  %i = tile.arange 0, 64 : tensor<64xi32>
  %row = tile.expand_dims %i, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %rows = arith.muli %row, %columns : tensor<64x1xi32>
  %column = tile.expand_dims %i, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %r = tile.broadcast %rows : tensor<64x1xi32> -> tensor<64x64xi32>
  %c = tile.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %r, %c : tensor<64x64xi32>
  %vt = tile.splat %v : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %va = tile.addptr %vt, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %turn = tile.load %va : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  scf.for %k = %c0 to %n step %c1 : i32 {
    %start = arith.muli %k, %c4096 : i32
    %ps = tile.addptr %p, %start : !tile.ptr<f16>, i32
    %pt = tile.splat %ps : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %pa = tile.addptr %pt, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %x = tile.load %pa : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %y = tile.dot %x, %turn, %zero : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %wt = tile.splat %w : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
    %wa = tile.addptr %wt, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
    %weight = tile.load %wa : (tensor<64x64x!tile.ptr<f32>>) -> tensor<64x64xf32>
    %z = arith.mulf %y, %weight : tensor<64x64xf32>
    %qs = tile.addptr %q, %start : !tile.ptr<f32>, i32
    %qt = tile.splat %qs : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
    %qa = tile.addptr %qt, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
    tile.store %qa, %z : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  }
  return
}

// The operand is computed from what is loaded, which can be copied ahead all the same.
// CHECK-LABEL: func.func @computed
// CHECK: scf.if
// CHECK-NOT: tilegpu.copy_async
// CHECK: } else {
// CHECK: tilegpu.copy_async
// CHECK: scf.for
// CHECK: tilegpu.copy_async
// CHECK: tilegpu.dot
// CHECK: } {tile.unlikely, tilegpu.equal_arguments
func.func @computed(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %v: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4096 = arith.constant 4096 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %columns = arith.constant dense<64> : tensor<64x1xi32>
  %i = tile.arange 0, 64 : tensor<64xi32>
  %row = tile.expand_dims %i, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %rows = arith.muli %row, %columns : tensor<64x1xi32>
  %column = tile.expand_dims %i, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %r = tile.broadcast %rows : tensor<64x1xi32> -> tensor<64x64xi32>
  %c = tile.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %r, %c : tensor<64x64xi32>
  %vt = tile.splat %v : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %va = tile.addptr %vt, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %turn = tile.load %va : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  scf.for %k = %c0 to %n step %c1 : i32 {
    %start = arith.muli %k, %c4096 : i32
    %ps = tile.addptr %p, %start : !tile.ptr<f16>, i32
    %pt = tile.splat %ps : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %pa = tile.addptr %pt, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %x = tile.load %pa : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %minus = arith.negf %x : tensor<64x64xf16>
    %y = tile.dot %minus, %turn, %zero : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %qs = tile.addptr %q, %start : !tile.ptr<f32>, i32
    %qt = tile.splat %qs : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
    %qa = tile.addptr %qt, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
    tile.store %qa, %y : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  }
  return
}

// Without products there is nothing to copy ahead.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: tilegpu.equal_arguments
func.func @rows(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %k = %c0 to %n step %c1 : i32 {
    %ps = tile.addptr %p, %k : !tile.ptr<f32>, i32
    %x = tile.load %ps : (!tile.ptr<f32>) -> f32
    %qs = tile.addptr %q, %k : !tile.ptr<f32>, i32
    tile.store %qs, %x : (!tile.ptr<f32>, f32) -> ()
  }
  return
}

// Threads meet in each iteration, and beside three sums a processor has registers for one block: rows come by copies two
// iterations ahead, and numbers of iterations are wide, so that none beyond the last wraps around.
// CHECK-LABEL: func.func @sums
// CHECK: scf.if
// CHECK-NOT: tilegpu.copy_async
// CHECK: scf.for
// CHECK: tile.load
// CHECK: } else {
// CHECK-COUNT-2: tilegpu.copy_async
// CHECK: scf.for {{.*}} : i64
// CHECK-NOT: tile.load
// CHECK: tilegpu.wait pending 1
// CHECK: tilegpu.barrier
// CHECK: tilegpu.copy_async
// CHECK: tilegpu.shared_load
// CHECK: tile.reduce
// CHECK-NOT: tilegpu.copy_async
// CHECK: } {tile.unlikely, tilegpu.equal_arguments
func.func @sums(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %s: !tile.ptr<f32>, %n: i32, %step: i32) attributes {tile.kernel, tile.num_warps = 16 : i32, tile.num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c8192 = arith.constant 8192 : i32
  %zero = arith.constant dense<0.0> : tensor<8192xf32>
  %i = tile.arange 0, 8192 : tensor<8192xi32>
  %sums:3 = scf.for %k = %c0 to %n step %step iter_args(%a = %zero, %b = %zero, %c = %zero) -> (tensor<8192xf32>, tensor<8192xf32>, tensor<8192xf32>) : i32 {
    %start = arith.muli %k, %c8192 : i32
    %ps = tile.addptr %p, %start : !tile.ptr<f32>, i32
    %pt = tile.splat %ps : !tile.ptr<f32> -> tensor<8192x!tile.ptr<f32>>
    %pi = tile.addptr %pt, %i : tensor<8192x!tile.ptr<f32>>, tensor<8192xi32>
    %x = tile.load %pi : (tensor<8192x!tile.ptr<f32>>) -> tensor<8192xf32>
    %m = tile.reduce(%x) axis 0 : (tensor<8192xf32>) -> f32 {
    ^bb0(%l: f32, %r: f32):
      %max = arith.maxnumf %l, %r : f32
      tile.yield %max : f32
    }
    %ms = tile.splat %m : f32 -> tensor<8192xf32>
    %y = arith.subf %x, %ms : tensor<8192xf32>
    %qs = tile.addptr %q, %start : !tile.ptr<f32>, i32
    %qt = tile.splat %qs : !tile.ptr<f32> -> tensor<8192x!tile.ptr<f32>>
    %qi = tile.addptr %qt, %i : tensor<8192x!tile.ptr<f32>>, tensor<8192xi32>
    tile.store %qi, %y : (tensor<8192x!tile.ptr<f32>>, tensor<8192xf32>) -> ()
    %d = arith.addf %a, %x : tensor<8192xf32>
    %e = arith.mulf %b, %y : tensor<8192xf32>
    %f = arith.addf %c, %y : tensor<8192xf32>
    scf.yield %d, %e, %f : tensor<8192xf32>, tensor<8192xf32>, tensor<8192xf32>
  }
  %ab = arith.addf %sums#0, %sums#1 : tensor<8192xf32>
  %all = arith.addf %ab, %sums#2 : tensor<8192xf32>
  %st = tile.splat %s : !tile.ptr<f32> -> tensor<8192x!tile.ptr<f32>>
  %si = tile.addptr %st, %i : tensor<8192x!tile.ptr<f32>>, tensor<8192xi32>
  tile.store %si, %all : (tensor<8192x!tile.ptr<f32>>, tensor<8192xf32>) -> ()
  return
}

// Two blocks hide each other's wait.
// CHECK-LABEL: func.func @oneSum
// CHECK-NOT: tilegpu.copy_async
func.func @oneSum(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %s: !tile.ptr<f32>, %n: i32, %step: i32) attributes {tile.kernel, tile.num_warps = 16 : i32, tile.num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c8192 = arith.constant 8192 : i32
  %zero = arith.constant dense<0.0> : tensor<8192xf32>
  %i = tile.arange 0, 8192 : tensor<8192xi32>
  %sum = scf.for %k = %c0 to %n step %step iter_args(%a = %zero) -> (tensor<8192xf32>) : i32 {
    %start = arith.muli %k, %c8192 : i32
    %ps = tile.addptr %p, %start : !tile.ptr<f32>, i32
    %pt = tile.splat %ps : !tile.ptr<f32> -> tensor<8192x!tile.ptr<f32>>
    %pi = tile.addptr %pt, %i : tensor<8192x!tile.ptr<f32>>, tensor<8192xi32>
    %x = tile.load %pi : (tensor<8192x!tile.ptr<f32>>) -> tensor<8192xf32>
    %m = tile.reduce(%x) axis 0 : (tensor<8192xf32>) -> f32 {
    ^bb0(%l: f32, %r: f32):
      %max = arith.maxnumf %l, %r : f32
      tile.yield %max : f32
    }
    %ms = tile.splat %m : f32 -> tensor<8192xf32>
    %y = arith.subf %x, %ms : tensor<8192xf32>
    %qs = tile.addptr %q, %start : !tile.ptr<f32>, i32
    %qt = tile.splat %qs : !tile.ptr<f32> -> tensor<8192x!tile.ptr<f32>>
    %qi = tile.addptr %qt, %i : tensor<8192x!tile.ptr<f32>>, tensor<8192xi32>
    tile.store %qi, %y : (tensor<8192x!tile.ptr<f32>>, tensor<8192xf32>) -> ()
    %d = arith.addf %a, %x : tensor<8192xf32>
    scf.yield %d : tensor<8192xf32>
  }
  %st = tile.splat %s : !tile.ptr<f32> -> tensor<8192x!tile.ptr<f32>>
  %si = tile.addptr %st, %i : tensor<8192x!tile.ptr<f32>>, tensor<8192xi32>
  tile.store %si, %sum : (tensor<8192x!tile.ptr<f32>>, tensor<8192xf32>) -> ()
  return
}
