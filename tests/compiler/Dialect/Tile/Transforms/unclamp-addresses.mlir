// Bounds of indices that a mask has, too, are left out of the addresses under it.
// RUN: kiln-opt %s --pass-pipeline="builtin.module(func.func(kiln-unclamp-addresses,canonicalize,cse))" | FileCheck %s
// RUN: kiln-opt %s --pass-pipeline="builtin.module(func.func(kiln-unclamp-addresses,canonicalize))" | FileCheck %s --check-prefix=ONCE

// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[P:[a-z0-9]+]]: tensor<64x32x!tile.ptr<f32>>, %[[I:[a-z0-9]+]]: tensor<64xi32>
// CHECK-NOT: arith.minsi
// CHECK-NOT: arith.maxsi
// CHECK: %[[ROWS:.*]] = tile.expand_dims %[[I]], 1
// CHECK: %[[OFFSETS:.*]] = tile.broadcast %[[ROWS]]
// CHECK: %[[ADDRESSES:.*]] = tile.addptr %[[P]], %[[OFFSETS]]
// CHECK: tile.load %[[ADDRESSES]] mask
func.func @rows(%p: tensor<64x32x!tile.ptr<f32>>, %i: tensor<64xi32>, %n: i32, %other: tensor<1x32xi1>) -> tensor<64x32xf32> {
  %one = arith.constant 1 : i32
  %zeros = arith.constant dense<0> : tensor<64xi32>
  %last = arith.subi %n, %one : i32
  %lasts = tile.splat %last : i32 -> tensor<64xi32>
  %most = arith.minsi %i, %lasts : tensor<64xi32>
  %kept = arith.maxsi %most, %zeros : tensor<64xi32>
  %rows = tile.expand_dims %kept, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %offsets = tile.broadcast %rows : tensor<64x1xi32> -> tensor<64x32xi32>
  %addresses = tile.addptr %p, %offsets : tensor<64x32x!tile.ptr<f32>>, tensor<64x32xi32>
  // The mask compares a column of its own, and one number for all.
  %column = tile.expand_dims %i, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %ends = tile.splat %n : i32 -> tensor<64x1xi32>
  %zero = arith.constant dense<0> : tensor<64x1xi32>
  %below = arith.cmpi sgt, %ends, %column : tensor<64x1xi32>
  %above = arith.cmpi sle, %zero, %column : tensor<64x1xi32>
  %both = arith.andi %below, %above : tensor<64x1xi1>
  %boths = tile.broadcast %both : tensor<64x1xi1> -> tensor<64x32xi1>
  %others = tile.broadcast %other : tensor<1x32xi1> -> tensor<64x32xi1>
  %mask = arith.andi %others, %boths : tensor<64x32xi1>
  %x = tile.load %addresses mask %mask : (tensor<64x32x!tile.ptr<f32>>, tensor<64x32xi1>) -> tensor<64x32xf32>
  return %x : tensor<64x32xf32>
}

// A choice by part of the mask, for a store; where the index is used otherwise the choice stays.
// CHECK-LABEL: func.func @choice
// CHECK-SAME: %[[P:[a-z0-9]+]]: tensor<64x!tile.ptr<i32>>, %[[I:[a-z0-9]+]]: tensor<64xi32>, %[[VALID:[a-z0-9]+]]: tensor<64xi1>
// CHECK: %[[CHOSEN:.*]] = arith.select %[[VALID]], %[[I]]
// CHECK: %[[ADDRESSES:.*]] = tile.addptr %[[P]], %[[I]]
// CHECK: tile.store %[[ADDRESSES]], %[[CHOSEN]] mask
func.func @choice(%p: tensor<64x!tile.ptr<i32>>, %i: tensor<64xi32>, %valid: tensor<64xi1>, %more: tensor<64xi1>) {
  %zeros = arith.constant dense<0> : tensor<64xi32>
  %kept = arith.select %valid, %i, %zeros : tensor<64xi1>, tensor<64xi32>
  %addresses = tile.addptr %p, %kept : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  %mask = arith.andi %more, %valid : tensor<64xi1>
  tile.store %addresses, %kept mask %mask : (tensor<64x!tile.ptr<i32>>, tensor<64xi32>, tensor<64xi1>) -> ()
  return
}

// The mask is of the other axis; the bound is closer than the mask's; a number behind the last.
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-3: arith.minsi
// CHECK: return
func.func @kept(%p: tensor<32x32x!tile.ptr<f32>>, %q: tensor<32x!tile.ptr<f32>>, %i: tensor<32xi32>, %n: i32) -> (tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>) {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c5 = arith.constant 5 : i32
  %ends = tile.splat %n : i32 -> tensor<32xi32>
  %inside = arith.cmpi slt, %i, %ends : tensor<32xi32>
  %last = arith.subi %n, %c1 : i32
  %lasts = tile.splat %last : i32 -> tensor<32xi32>
  %most = arith.minsi %i, %lasts : tensor<32xi32>
  %rows = tile.expand_dims %most, 1 : tensor<32xi32> -> tensor<32x1xi32>
  %offsets = tile.broadcast %rows : tensor<32x1xi32> -> tensor<32x32xi32>
  %addresses = tile.addptr %p, %offsets : tensor<32x32x!tile.ptr<f32>>, tensor<32x32xi32>
  %columns = tile.expand_dims %inside, 0 : tensor<32xi1> -> tensor<1x32xi1>
  %mask = tile.broadcast %columns : tensor<1x32xi1> -> tensor<32x32xi1>
  %x = tile.load %addresses mask %mask : (tensor<32x32x!tile.ptr<f32>>, tensor<32x32xi1>) -> tensor<32x32xf32>

  %before = arith.subi %n, %c2 : i32
  %befores = tile.splat %before : i32 -> tensor<32xi32>
  %closer = arith.minsi %i, %befores : tensor<32xi32>
  %at = tile.addptr %q, %closer : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  %y = tile.load %at mask %inside : (tensor<32x!tile.ptr<f32>>, tensor<32xi1>) -> tensor<32xf32>

  // n + 5 may be less than n.
  %behind = arith.addi %n, %c5 : i32
  %behinds = tile.splat %behind : i32 -> tensor<32xi32>
  %farther = arith.minsi %i, %behinds : tensor<32xi32>
  %there = tile.addptr %q, %farther : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  %z = tile.load %there mask %inside : (tensor<32x!tile.ptr<f32>>, tensor<32xi1>) -> tensor<32xf32>
  return %x, %y, %z : tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>
}

// Addresses that are steps apart are made again once, under one mask, not each with all before it.
// ONCE-LABEL: func.func @steps
// ONCE-NOT: arith.minsi
// ONCE-COUNT-2: tile.addptr
// ONCE-NOT: tile.addptr
// ONCE: return
func.func @steps(%p: tensor<32x!tile.ptr<f32>>, %i: tensor<32xi32>, %n: tensor<32xi32>, %step: tensor<32xi32>) -> (tensor<32xf32>, tensor<32xf32>) {
  %mask = arith.cmpi sle, %i, %n : tensor<32xi32>
  %kept = arith.minsi %i, %n : tensor<32xi32>
  %first = tile.addptr %p, %kept : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  %second = tile.addptr %first, %step : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  %x = tile.load %first mask %mask : (tensor<32x!tile.ptr<f32>>, tensor<32xi1>) -> tensor<32xf32>
  %y = tile.load %second mask %mask : (tensor<32x!tile.ptr<f32>>, tensor<32xi1>) -> tensor<32xf32>
  return %x, %y : tensor<32xf32>, tensor<32xf32>
}
