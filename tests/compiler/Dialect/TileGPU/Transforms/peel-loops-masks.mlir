// A mask that holds in all iterations but the last is asked in that one alone, behind the loop, where it decides over more than which lanes reach memory.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-peel-loops))" %s | FileCheck %s

#l = #tilegpu.layout<"register: ; lane: 1 2 4 8 16 32; warp: ; block: -> 64">
#w = #tilegpu.layout<"register: 64; lane: 1 2 4 8 16 32; warp: ; block: -> 128">

module attributes {tilegpu.target = "hip:gfx942"} {
// CHECK-LABEL: func.func @divided
// CHECK: %[[ANY:.*]] = arith.cmpi slt
// CHECK: scf.if %[[ANY]]
// CHECK: %[[LOOP:.*]] = scf.for
// CHECK-NOT: arith.cmpi
// CHECK-NOT: arith.select
// CHECK: %[[V:.*]] = tile.load %{{[0-9]+}} :
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %[[V]]
// CHECK: scf.yield %[[SUM]]
// CHECK: %[[M:.*]] = arith.cmpi slt
// CHECK: %[[LAST:.*]] = tile.load %{{[0-9]+}} mask %[[M]]
// CHECK: %[[CHOSEN:.*]] = arith.select %[[M]], %[[LAST]]
// CHECK: arith.addf %[[LOOP]], %[[CHOSEN]]
// CHECK: } else {
func.func @divided(%x: !tile.ptr<f32>, %n: i32, %none: tensor<64xf32, #l>) -> tensor<64xf32, #l> attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 64 : i32
  %r = tile.arange 0, 64 : tensor<64xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %ns = tile.splat %n : i32 -> tensor<64xi32, #l>
  %sum = scf.for %i = %zero to %n step %step iter_args(%s = %none) -> (tensor<64xf32, #l>) : i32 {
    %is = tile.splat %i : i32 -> tensor<64xi32, #l>
    %at = arith.addi %is, %r : tensor<64xi32, #l>
    %m = arith.cmpi slt, %at, %ns : tensor<64xi32, #l>
    %a = tile.addptr %px, %at : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
    %v = tile.load %a mask %m : (tensor<64x!tile.ptr<f32>, #l>, tensor<64xi1, #l>) -> tensor<64xf32, #l>
    %c = arith.select %m, %v, %none : tensor<64xi1, #l>, tensor<64xf32, #l>
    %t = arith.addf %s, %c : tensor<64xf32, #l>
    scf.yield %t : tensor<64xf32, #l>
  }
  return %sum : tensor<64xf32, #l>
}

// As many blocks as there are, a begun one included: block * 64 + r < n.
// CHECK-LABEL: func.func @quotient
// CHECK: scf.if
// CHECK: scf.for
// CHECK-NOT: arith.cmpi
// CHECK: tile.load %{{[0-9]+}} :
// CHECK-NOT: arith.select
// CHECK: scf.yield
// CHECK: arith.cmpi slt
// CHECK: tile.load %{{[0-9]+}} mask
// CHECK: arith.select
// CHECK: } else {
func.func @quotient(%x: !tile.ptr<f32>, %n: i32, %none: tensor<64xf32, #l>) -> tensor<64xf32, #l> attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %size = arith.constant 64 : i32
  %less = arith.constant 63 : i32
  %more = arith.addi %n, %less : i32
  %blocks = arith.divsi %more, %size : i32
  %r = tile.arange 0, 64 : tensor<64xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %ns = tile.splat %n : i32 -> tensor<64xi32, #l>
  %sum = scf.for %i = %zero to %blocks step %one iter_args(%s = %none) -> (tensor<64xf32, #l>) : i32 {
    %first = arith.muli %i, %size : i32
    %is = tile.splat %first : i32 -> tensor<64xi32, #l>
    %at = arith.addi %is, %r : tensor<64xi32, #l>
    %m = arith.cmpi slt, %at, %ns : tensor<64xi32, #l>
    %a = tile.addptr %px, %at : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
    %v = tile.load %a mask %m : (tensor<64x!tile.ptr<f32>, #l>, tensor<64xi1, #l>) -> tensor<64xf32, #l>
    %c = arith.select %m, %v, %none : tensor<64xi1, #l>, tensor<64xf32, #l>
    %t = arith.addf %s, %c : tensor<64xf32, #l>
    scf.yield %t : tensor<64xf32, #l>
  }
  return %sum : tensor<64xf32, #l>
}

// Two blocks more than there are whole ones: of n = -63 there is none, and the first of two iterations has one element of n + 64.
// CHECK-LABEL: func.func @more_blocks
// CHECK-NOT: scf.if
// CHECK: scf.for
// CHECK: arith.select
// CHECK: return
func.func @more_blocks(%x: !tile.ptr<f32>, %n: i32, %none: tensor<64xf32, #l>) -> tensor<64xf32, #l> attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %size = arith.constant 64 : i32
  %two = arith.constant 2 : i32
  %whole = arith.divsi %n, %size : i32
  %blocks = arith.addi %whole, %two : i32
  %more = arith.addi %n, %size : i32
  %r = tile.arange 0, 64 : tensor<64xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %ns = tile.splat %more : i32 -> tensor<64xi32, #l>
  %sum = scf.for %i = %zero to %blocks step %one iter_args(%s = %none) -> (tensor<64xf32, #l>) : i32 {
    %first = arith.muli %i, %size : i32
    %is = tile.splat %first : i32 -> tensor<64xi32, #l>
    %at = arith.addi %is, %r : tensor<64xi32, #l>
    %m = arith.cmpi slt, %at, %ns : tensor<64xi32, #l>
    %a = tile.addptr %px, %at : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
    %v = tile.load %a mask %m : (tensor<64x!tile.ptr<f32>, #l>, tensor<64xi1, #l>) -> tensor<64xf32, #l>
    %c = arith.select %m, %v, %none : tensor<64xi1, #l>, tensor<64xf32, #l>
    %t = arith.addf %s, %c : tensor<64xf32, #l>
    scf.yield %t : tensor<64xf32, #l>
  }
  return %sum : tensor<64xf32, #l>
}

// Tiles that overlap by two: the last but one may have an element that is not there.
// CHECK-LABEL: func.func @wider
// CHECK-NOT: scf.if
// CHECK: scf.for
// CHECK: arith.select
// CHECK: return
func.func @wider(%x: !tile.ptr<f32>, %n: i32, %none: tensor<128xf32, #w>) -> tensor<128xf32, #w> attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 126 : i32
  %r = tile.arange 0, 128 : tensor<128xi32, #w>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #w>
  %ns = tile.splat %n : i32 -> tensor<128xi32, #w>
  %sum = scf.for %i = %zero to %n step %step iter_args(%s = %none) -> (tensor<128xf32, #w>) : i32 {
    %is = tile.splat %i : i32 -> tensor<128xi32, #w>
    %at = arith.addi %is, %r : tensor<128xi32, #w>
    %m = arith.cmpi slt, %at, %ns : tensor<128xi32, #w>
    %a = tile.addptr %px, %at : tensor<128x!tile.ptr<f32>, #w>, tensor<128xi32, #w>
    %v = tile.load %a mask %m : (tensor<128x!tile.ptr<f32>, #w>, tensor<128xi1, #w>) -> tensor<128xf32, #w>
    %c = arith.select %m, %v, %none : tensor<128xi1, #w>, tensor<128xf32, #w>
    %t = arith.addf %s, %c : tensor<128xf32, #w>
    scf.yield %t : tensor<128xf32, #w>
  }
  return %sum : tensor<128xf32, #w>
}

// Hardware bounds see to it, one number of bytes for all iterations.
// CHECK-LABEL: func.func @bounds
// CHECK-NOT: scf.if
// CHECK: tile.load %{{.*}} mask
// CHECK: tile.store %{{.*}} mask
// CHECK: return
func.func @bounds(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i32) attributes {tile.kernel, tile.small_arrays} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 64 : i32
  %none = arith.constant dense<0.0> : tensor<64xf32, #l>
  %r = tile.arange 0, 64 : tensor<64xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %ns = tile.splat %n : i32 -> tensor<64xi32, #l>
  scf.for %i = %zero to %n step %step : i32 {
    %is = tile.splat %i : i32 -> tensor<64xi32, #l>
    %at = arith.addi %is, %r : tensor<64xi32, #l>
    %m = arith.cmpi slt, %at, %ns : tensor<64xi32, #l>
    %a = tile.addptr %px, %at : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
    %v = tile.load %a mask %m other %none : (tensor<64x!tile.ptr<f32>, #l>, tensor<64xi1, #l>, tensor<64xf32, #l>) -> tensor<64xf32, #l>
    %b = tile.addptr %py, %at : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
    tile.store %b, %v mask %m : (tensor<64x!tile.ptr<f32>, #l>, tensor<64xf32, #l>, tensor<64xi1, #l>) -> ()
  }
  return
}

// Of arrays that may be larger the base moves, and the number of bytes changes in each iteration.
// CHECK-LABEL: func.func @moved_bounds
// CHECK: scf.if
// CHECK: scf.for
// CHECK: tile.load %{{[0-9]+}} :
// CHECK: }
// CHECK: tile.load %{{.*}} mask
// CHECK: tile.store %{{.*}} mask
// CHECK: return
func.func @moved_bounds(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 64 : i32
  %none = arith.constant dense<0.0> : tensor<64xf32, #l>
  %r = tile.arange 0, 64 : tensor<64xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %ns = tile.splat %n : i32 -> tensor<64xi32, #l>
  scf.for %i = %zero to %n step %step : i32 {
    %is = tile.splat %i : i32 -> tensor<64xi32, #l>
    %at = arith.addi %is, %r : tensor<64xi32, #l>
    %m = arith.cmpi slt, %at, %ns : tensor<64xi32, #l>
    %a = tile.addptr %px, %at : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
    %v = tile.load %a mask %m other %none : (tensor<64x!tile.ptr<f32>, #l>, tensor<64xi1, #l>, tensor<64xf32, #l>) -> tensor<64xf32, #l>
    %b = tile.addptr %py, %at : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
    tile.store %b, %v mask %m : (tensor<64x!tile.ptr<f32>, #l>, tensor<64xf32, #l>, tensor<64xi1, #l>) -> ()
  }
  return
}

// Of a row that an index leads to, which lanes load, no bound is one of hardware.
// CHECK-LABEL: func.func @indexed
// CHECK: scf.if
// CHECK: scf.for
// CHECK-NOT: arith.cmpi
// CHECK: tile.load %{{[0-9]+}} :
// CHECK: }
// CHECK: arith.cmpi slt
// CHECK: tile.load %{{.*}} mask
func.func @indexed(%x: !tile.ptr<f32>, %rows: !tile.ptr<i32>, %n: i32, %none: tensor<64xf32, #l>) -> tensor<64xf32, #l> attributes {tile.kernel, tile.small_arrays} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 64 : i32
  %row = tile.load %rows : (!tile.ptr<i32>) -> i32
  %first = arith.muli %row, %n : i32
  %base = tile.addptr %x, %first : !tile.ptr<f32>, i32
  %r = tile.arange 0, 64 : tensor<64xi32, #l>
  %px = tile.splat %base : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %ns = tile.splat %n : i32 -> tensor<64xi32, #l>
  %sum = scf.for %i = %zero to %n step %step iter_args(%s = %none) -> (tensor<64xf32, #l>) : i32 {
    %is = tile.splat %i : i32 -> tensor<64xi32, #l>
    %at = arith.addi %is, %r : tensor<64xi32, #l>
    %m = arith.cmpi slt, %at, %ns : tensor<64xi32, #l>
    %a = tile.addptr %px, %at : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
    %v = tile.load %a mask %m : (tensor<64x!tile.ptr<f32>, #l>, tensor<64xi1, #l>) -> tensor<64xf32, #l>
    %t = arith.addf %s, %v : tensor<64xf32, #l>
    scf.yield %t : tensor<64xf32, #l>
  }
  return %sum : tensor<64xf32, #l>
}

// What is done in the last iteration alone, of a loop that carries nothing.
// CHECK-LABEL: func.func @otherwise
// CHECK-SAME: (%[[X:.*]]: !tile.ptr<f32>, %[[Y:.*]]: !tile.ptr<f32>,
// CHECK: scf.if
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: tile.store %[[X]]
// CHECK-NOT: tile.store
// CHECK: }
// CHECK-NOT: scf.if
// CHECK: tile.store %[[Y]]
// CHECK: return
func.func @otherwise(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i32, %v: f32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %before = arith.subi %n, %one : i32
  scf.for %i = %zero to %n step %one : i32 {
    %more = arith.cmpi slt, %i, %before : i32
    scf.if %more {
      tile.store %x, %v : (!tile.ptr<f32>, f32) -> ()
    } else {
      tile.store %y, %v : (!tile.ptr<f32>, f32) -> ()
    }
  }
  return
}
}
