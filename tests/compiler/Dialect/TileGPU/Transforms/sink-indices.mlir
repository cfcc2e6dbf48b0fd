// Indices that only what stands behind a loop uses are computed there, of scalars.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-sink-indices))" %s | FileCheck %s

#rows = #tilegpu.layout<"register: 32 64; lane: 1 2 4 8 16; warp: 0 0; block: -> 128">

module attributes {tilegpu.target = "hip:gfx1100"} {
// The loop uses its rows; the columns, with the remainder and what it is of, go behind it.
// CHECK-LABEL: func.func @behind
// CHECK: %[[ROWS:.*]] = tile.arange 0, 128
// CHECK-NEXT: %[[LOADED:.*]] = tile.addptr %{{.*}}, %[[ROWS]]
// CHECK-NEXT: %[[SUM:.*]] = scf.for
// CHECK: tile.load %[[LOADED]]
// CHECK: %[[RANGE:.*]] = tile.arange 0, 128
// CHECK: %[[FROM:.*]] = arith.addi %[[RANGE]]
// CHECK: %[[COLUMNS:.*]] = arith.remsi %[[FROM]]
// CHECK: %[[STORED:.*]] = tile.addptr %{{.*}}, %[[COLUMNS]]
// CHECK: tile.store %[[STORED]], %[[SUM]]
func.func @behind(%p: tensor<128x!tile.ptr<f32>, #rows>, %first: i32, %n: i32, %zero: tensor<128xf32, #rows>) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %range = tile.arange 0, 128 : tensor<128xi32, #rows>
  %firsts = tile.splat %first : i32 -> tensor<128xi32, #rows>
  %from = arith.addi %range, %firsts : tensor<128xi32, #rows>
  %ends = tile.splat %n : i32 -> tensor<128xi32, #rows>
  %columns = arith.remsi %from, %ends : tensor<128xi32, #rows>
  %rows = tile.arange 0, 128 : tensor<128xi32, #rows>
  %loaded = tile.addptr %p, %rows : tensor<128x!tile.ptr<f32>, #rows>, tensor<128xi32, #rows>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<128xf32, #rows>) : i32 {
    %x = tile.load %loaded : (tensor<128x!tile.ptr<f32>, #rows>) -> tensor<128xf32, #rows>
    %more = arith.addf %s, %x : tensor<128xf32, #rows>
    scf.yield %more : tensor<128xf32, #rows>
  }
  %stored = tile.addptr %p, %columns : tensor<128x!tile.ptr<f32>, #rows>, tensor<128xi32, #rows>
  tile.store %stored, %sum : (tensor<128x!tile.ptr<f32>, #rows>, tensor<128xf32, #rows>) -> ()
  return
}

// What is used ahead of the loop, too, stays; what is computed of it goes behind it.
// CHECK-LABEL: func.func @ahead
// CHECK: %[[ROWS:.*]] = arith.remsi
// CHECK-NEXT: %[[LOADED:.*]] = tile.addptr %{{.*}}, %[[ROWS]]
// CHECK-NEXT: %[[FIRST:.*]] = tile.load %[[LOADED]]
// CHECK-NEXT: scf.for {{.*}} iter_args(%{{.*}} = %[[FIRST]])
// CHECK: %[[NEXT:.*]] = arith.addi %[[ROWS]]
// CHECK-NEXT: tile.addptr %{{.*}}, %[[NEXT]]
func.func @ahead(%p: tensor<128x!tile.ptr<f32>, #rows>, %n: i32) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %range = tile.arange 0, 128 : tensor<128xi32, #rows>
  %ends = tile.splat %n : i32 -> tensor<128xi32, #rows>
  %rows = arith.remsi %range, %ends : tensor<128xi32, #rows>
  %next = arith.addi %rows, %range : tensor<128xi32, #rows>
  %loaded = tile.addptr %p, %rows : tensor<128x!tile.ptr<f32>, #rows>, tensor<128xi32, #rows>
  %first = tile.load %loaded : (tensor<128x!tile.ptr<f32>, #rows>) -> tensor<128xf32, #rows>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %first) -> (tensor<128xf32, #rows>) : i32 {
    %more = arith.addf %s, %s : tensor<128xf32, #rows>
    scf.yield %more : tensor<128xf32, #rows>
  }
  %stored = tile.addptr %p, %next : tensor<128x!tile.ptr<f32>, #rows>, tensor<128xi32, #rows>
  tile.store %stored, %sum : (tensor<128x!tile.ptr<f32>, #rows>, tensor<128xf32, #rows>) -> ()
  return
}

// Of what threads hold anyway, or where no loop is passed, it stays.
// CHECK-LABEL: func.func @stays
// CHECK: %[[DOUBLE:.*]] = arith.addi %arg1, %arg1
// CHECK: %[[RANGE:.*]] = tile.arange
// CHECK: scf.for
// CHECK: tile.addptr %{{.*}}, %[[DOUBLE]]
// CHECK-NEXT: tile.addptr %{{.*}}, %[[RANGE]]
func.func @stays(%p: tensor<128x!tile.ptr<f32>, #rows>, %held: tensor<128xi32, #rows>, %n: i32, %zero: tensor<128xf32, #rows>) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %double = arith.addi %held, %held : tensor<128xi32, #rows>
  %range = tile.arange 0, 128 : tensor<128xi32, #rows>
  %loaded = tile.addptr %p, %range : tensor<128x!tile.ptr<f32>, #rows>, tensor<128xi32, #rows>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<128xf32, #rows>) : i32 {
    %x = tile.load %loaded : (tensor<128x!tile.ptr<f32>, #rows>) -> tensor<128xf32, #rows>
    %more = arith.addf %s, %x : tensor<128xf32, #rows>
    scf.yield %more : tensor<128xf32, #rows>
  }
  %one = tile.addptr %p, %double : tensor<128x!tile.ptr<f32>, #rows>, tensor<128xi32, #rows>
  %two = tile.addptr %one, %range : tensor<128x!tile.ptr<f32>, #rows>, tensor<128xi32, #rows>
  tile.store %two, %sum : (tensor<128x!tile.ptr<f32>, #rows>, tensor<128xf32, #rows>) -> ()
  return
}
}
