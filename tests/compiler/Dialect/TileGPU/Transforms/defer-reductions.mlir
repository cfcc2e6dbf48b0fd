// Threads carry their own parts of a loop's totals, which are combined behind the loop.
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=cuda:sm_90a},canonicalize,cse,func.func(kiln-defer-reductions))" %s | FileCheck %s

// Each of 32 lanes has two pairs of neighbours of a row: pairs and halves are summed up in the loop, lanes behind it.
// CHECK-LABEL: func.func @rows
// CHECK: %[[NONE:.*]] = tile.broadcast {{.*}} -> tensor<4x32xf32,
// CHECK: %[[PARTS:.*]] = scf.for {{.*}} iter_args(%[[PART:.*]] = %[[NONE]]) -> (tensor<4x32xf32, {{.*}}>)
// CHECK: %[[X:.*]] = tile.load
// CHECK: %[[SCALE:.*]] = tile.load {{.*}} -> tensor<4xf32
// CHECK: %[[SPLIT:.*]] = tile.reshape %[[X]] : tensor<4x128xf32, {{.*}}> -> tensor<4x32x4xf32
// CHECK: %[[OWN:.*]] = tile.reduce(%[[SPLIT]]) axis 2
// CHECK: %[[APART:.*]] = tile.expand_dims
// CHECK: %[[SCALES:.*]] = tile.broadcast %[[APART]]
// CHECK: %[[SCALED:.*]] = arith.mulf %[[PART]], %[[SCALES]] : tensor<4x32xf32
// CHECK: %[[NEXT:.*]] = arith.addf %[[SCALED]], %[[OWN]] : tensor<4x32xf32
// CHECK: scf.yield %[[NEXT]]
// CHECK: tile.reduce(%[[PARTS]]) axis 1
func.func @rows(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %c: !tile.ptr<f32>, %n: i32) attributes {tile.num_warps = 4 : i32} {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant dense<128> : tensor<4x1xi32>
  %row = tile.arange 0, 4 : tensor<4xi32>
  %column = tile.arange 0, 128 : tensor<128xi32>
  %rows = tile.expand_dims %row, 1 : tensor<4xi32> -> tensor<4x1xi32>
  %starts = arith.muli %rows, %c128 : tensor<4x1xi32>
  %columns = tile.expand_dims %column, 0 : tensor<128xi32> -> tensor<1x128xi32>
  %a = tile.broadcast %starts : tensor<4x1xi32> -> tensor<4x128xi32>
  %b = tile.broadcast %columns : tensor<1x128xi32> -> tensor<4x128xi32>
  %place = arith.addi %a, %b : tensor<4x128xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<4x128x!tile.ptr<f32>>
  %address = tile.addptr %ps, %place : tensor<4x128x!tile.ptr<f32>>, tensor<4x128xi32>
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %scales = tile.addptr %cs, %row : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %total = scf.for %k = %c0 to %n step %c1 iter_args(%t = %zero) -> (tensor<4xf32>) : i32 {
    %x = tile.load %address : (tensor<4x128x!tile.ptr<f32>>) -> tensor<4x128xf32>
    %s = tile.load %scales : (tensor<4x!tile.ptr<f32>>) -> tensor<4xf32>
    %r = tile.reduce(%x) axis 1 : (tensor<4x128xf32>) -> tensor<4xf32> {
    ^bb0(%l: f32, %m: f32):
      %sum = arith.addf %l, %m : f32
      tile.yield %sum : f32
    }
    %scaled = arith.mulf %t, %s : tensor<4xf32>
    %next = arith.addf %scaled, %r : tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  }
  tile.store %scales, %total : (tensor<4x!tile.ptr<f32>>, tensor<4xf32>) -> ()
  return
}

// A scalar that starts from an argument, which is the first part; maxima start from it in all parts. The next loop goes on
// with what the first has left.
// CHECK-LABEL: func.func @scalars
// CHECK: arith.select
// CHECK: %[[LARGEST:.*]] = tile.splat
// CHECK: %[[FIRST:.*]]:2 = scf.for {{.*}} -> (tensor<128xi32, {{.*}}>, tensor<128xi32
// CHECK: scf.for {{.*}} = %[[FIRST]]#0) -> (tensor<128xi32
// What else uses the carried number sees it whole.
// CHECK: scf.for {{.*}} -> (i32)
func.func @scalars(%p: !tile.ptr<i32>, %q: !tile.ptr<i32>, %start: i32, %n: i32) attributes {tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %place = tile.arange 0, 128 : tensor<128xi32>
  %ps = tile.splat %p : !tile.ptr<i32> -> tensor<128x!tile.ptr<i32>>
  %address = tile.addptr %ps, %place : tensor<128x!tile.ptr<i32>>, tensor<128xi32>
  %first:2 = scf.for %k = %c0 to %n step %c1 iter_args(%s = %start, %m = %start) -> (i32, i32) : i32 {
    %x = tile.load %address : (tensor<128x!tile.ptr<i32>>) -> tensor<128xi32>
    %sum = tile.reduce(%x) axis 0 : (tensor<128xi32>) -> i32 {
    ^bb0(%l: i32, %r: i32):
      %t = arith.addi %l, %r : i32
      tile.yield %t : i32
    }
    %largest = tile.reduce(%x) axis 0 : (tensor<128xi32>) -> i32 {
    ^bb0(%l: i32, %r: i32):
      %t = arith.maxsi %l, %r : i32
      tile.yield %t : i32
    }
    %s1 = arith.addi %sum, %s : i32
    %m1 = arith.maxsi %m, %largest : i32
    scf.yield %s1, %m1 : i32, i32
  }
  %second = scf.for %k = %c0 to %n step %c1 iter_args(%s = %first#0) -> (i32) : i32 {
    %x = tile.load %address : (tensor<128x!tile.ptr<i32>>) -> tensor<128xi32>
    %sum = tile.reduce(%x) axis 0 : (tensor<128xi32>) -> i32 {
    ^bb0(%l: i32, %r: i32):
      %t = arith.addi %l, %r : i32
      tile.yield %t : i32
    }
    %s1 = arith.addi %s, %sum : i32
    scf.yield %s1 : i32
  }
  %third = scf.for %k = %c0 to %n step %c1 iter_args(%s = %second) -> (i32) : i32 {
    %x = tile.load %address : (tensor<128x!tile.ptr<i32>>) -> tensor<128xi32>
    %sum = tile.reduce(%x) axis 0 : (tensor<128xi32>) -> i32 {
    ^bb0(%l: i32, %r: i32):
      %t = arith.addi %l, %r : i32
      tile.yield %t : i32
    }
    %s1 = arith.addi %s, %sum : i32
    tile.store %q, %s1 : (!tile.ptr<i32>, i32) -> ()
    scf.yield %s1 : i32
  }
  tile.store %q, %third : (!tile.ptr<i32>, i32) -> ()
  tile.store %q, %first#1 : (!tile.ptr<i32>, i32) -> ()
  return
}

// Totals of three tiles, one after the other: each thread adds up its own, lanes are combined once.
// CHECK-LABEL: func.func @unrolled
// CHECK: %[[START:.*]] = tile.load {{.*}} -> tensor<4xf32
// CHECK: %[[A:.*]] = tile.reduce({{.*}}) axis 2
// CHECK: %[[B:.*]] = tile.reduce({{.*}}) axis 2
// CHECK: %[[AB:.*]] = arith.addf %[[A]], %[[B]] : tensor<4x32xf32
// CHECK: %[[C:.*]] = tile.reduce({{.*}}) axis 2
// CHECK: %[[ABC:.*]] = arith.addf %[[AB]], %[[C]] : tensor<4x32xf32
// CHECK: %[[SUM:.*]] = tile.reduce(%[[ABC]]) axis 1
// CHECK-NOT: tile.reduce
// CHECK: arith.addf %[[START]]
func.func @unrolled(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %c: !tile.ptr<f32>) attributes {tile.num_warps = 4 : i32} {
  %c128 = arith.constant dense<128> : tensor<4x1xi32>
  %c512 = arith.constant 512 : i32
  %row = tile.arange 0, 4 : tensor<4xi32>
  %column = tile.arange 0, 128 : tensor<128xi32>
  %rows = tile.expand_dims %row, 1 : tensor<4xi32> -> tensor<4x1xi32>
  %starts = arith.muli %rows, %c128 : tensor<4x1xi32>
  %columns = tile.expand_dims %column, 0 : tensor<128xi32> -> tensor<1x128xi32>
  %l = tile.broadcast %starts : tensor<4x1xi32> -> tensor<4x128xi32>
  %r = tile.broadcast %columns : tensor<1x128xi32> -> tensor<4x128xi32>
  %place = arith.addi %l, %r : tensor<4x128xi32>
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %totals = tile.addptr %cs, %row : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %start = tile.load %totals : (tensor<4x!tile.ptr<f32>>) -> tensor<4xf32>
  %p0 = tile.splat %p : !tile.ptr<f32> -> tensor<4x128x!tile.ptr<f32>>
  %a0 = tile.addptr %p0, %place : tensor<4x128x!tile.ptr<f32>>, tensor<4x128xi32>
  %x0 = tile.load %a0 : (tensor<4x128x!tile.ptr<f32>>) -> tensor<4x128xf32>
  %s0 = tile.reduce(%x0) axis 1 : (tensor<4x128xf32>) -> tensor<4xf32> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    tile.yield %w : f32
  }
  %t0 = arith.addf %start, %s0 : tensor<4xf32>
  %q1 = tile.addptr %p, %c512 : !tile.ptr<f32>, i32
  %p1 = tile.splat %q1 : !tile.ptr<f32> -> tensor<4x128x!tile.ptr<f32>>
  %a1 = tile.addptr %p1, %place : tensor<4x128x!tile.ptr<f32>>, tensor<4x128xi32>
  %x1 = tile.load %a1 : (tensor<4x128x!tile.ptr<f32>>) -> tensor<4x128xf32>
  %s1 = tile.reduce(%x1) axis 1 : (tensor<4x128xf32>) -> tensor<4xf32> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    tile.yield %w : f32
  }
  %t1 = arith.addf %t0, %s1 : tensor<4xf32>
  %q2 = tile.addptr %q1, %c512 : !tile.ptr<f32>, i32
  %p2 = tile.splat %q2 : !tile.ptr<f32> -> tensor<4x128x!tile.ptr<f32>>
  %a2 = tile.addptr %p2, %place : tensor<4x128x!tile.ptr<f32>>, tensor<4x128xi32>
  %x2 = tile.load %a2 : (tensor<4x128x!tile.ptr<f32>>) -> tensor<4x128xf32>
  %s2 = tile.reduce(%x2) axis 1 : (tensor<4x128xf32>) -> tensor<4xf32> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    tile.yield %w : f32
  }
  %t2 = arith.addf %s2, %t1 : tensor<4xf32>
  tile.store %totals, %t2 : (tensor<4x!tile.ptr<f32>>, tensor<4xf32>) -> ()
  return
}
