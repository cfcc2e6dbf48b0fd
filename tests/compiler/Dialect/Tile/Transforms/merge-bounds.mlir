// An index that is compared with two bounds is compared with the closer one, where bounds are fewer than elements.
// RUN: kiln-opt %s --pass-pipeline="builtin.module(func.func(kiln-merge-bounds,canonicalize,cse))" | FileCheck %s

// A causal mask within a sequence: one bound for each row.
// CHECK-LABEL: func.func @causal
// CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<64x1xi32>, %[[N:[a-z0-9]+]]: tensor<1x32xi32>, %[[LENGTH:[a-z0-9]+]]: i32
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<1> : tensor<64x1xi32>
// CHECK-DAG: %[[END:.*]] = tile.splat %[[LENGTH]] : i32 -> tensor<64x1xi32>
// CHECK-DAG: %[[LARGEST:.*]] = arith.constant dense<2147483646> : tensor<64x1xi32>
// CHECK: %[[LAST:.*]] = arith.minsi %[[M]], %[[LARGEST]]
// CHECK: %[[OWN:.*]] = arith.addi %[[LAST]], %[[ONE]]
// CHECK: %[[BOUND:.*]] = arith.minsi %[[END]], %[[OWN]] : tensor<64x1xi32>
// CHECK-DAG: %[[INDICES:.*]] = tile.broadcast %[[N]]
// CHECK-DAG: %[[BOUNDS:.*]] = tile.broadcast %[[BOUND]]
// CHECK: %[[BELOW:.*]] = arith.cmpi slt, %[[INDICES]], %[[BOUNDS]] : tensor<64x32xi32>
// CHECK-NOT: arith.andi
// CHECK: arith.select %[[BELOW]]
func.func @causal(%m: tensor<64x1xi32>, %n: tensor<1x32xi32>, %length: i32, %x: tensor<64x32xf32>, %y: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %end = tile.splat %length : i32 -> tensor<1x32xi32>
  %inside = arith.cmpi slt, %n, %end : tensor<1x32xi32>
  %rows = tile.broadcast %m : tensor<64x1xi32> -> tensor<64x32xi32>
  %columns = tile.broadcast %n : tensor<1x32xi32> -> tensor<64x32xi32>
  %before = arith.cmpi sge, %rows, %columns : tensor<64x32xi32>
  %insides = tile.broadcast %inside : tensor<1x32xi1> -> tensor<64x32xi1>
  %mask = arith.andi %insides, %before : tensor<64x32xi1>
  %z = arith.select %mask, %x, %y : tensor<64x32xi1>, tensor<64x32xf32>
  return %z : tensor<64x32xf32>
}

// Of three conditions the two that are about one index; lower bounds, and constants.
// CHECK-LABEL: func.func @window
// CHECK-DAG: %[[LEAST:.*]] = arith.constant dense<-1> : tensor<64x1xi32>
// CHECK: %[[BOUND:.*]] = arith.maxsi %{{.*}}, %[[LEAST]] : tensor<64x1xi32>
// CHECK-DAG: %[[BOUNDS:.*]] = tile.broadcast %[[BOUND]]
// CHECK-DAG: %[[ABOVE:.*]] = arith.cmpi sgt, %{{.*}}, %[[BOUNDS]] : tensor<64x32xi32>
// CHECK: arith.andi %[[ABOVE]], %{{.*}} : tensor<64x32xi1>
// CHECK-NOT: arith.andi
// CHECK: arith.select
func.func @window(%first: tensor<64x1xi32>, %n: tensor<1x32xi32>, %other: tensor<64x32xi1>, %x: tensor<64x32xf32>, %y: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %zero = arith.constant dense<0> : tensor<1x32xi32>
  %rows = tile.broadcast %first : tensor<64x1xi32> -> tensor<64x32xi32>
  %columns = tile.broadcast %n : tensor<1x32xi32> -> tensor<64x32xi32>
  %behind = arith.cmpi sgt, %columns, %rows : tensor<64x32xi32>
  %most = arith.andi %behind, %other : tensor<64x32xi1>
  %positive = arith.cmpi sge, %n, %zero : tensor<1x32xi32>
  %positives = tile.broadcast %positive : tensor<1x32xi1> -> tensor<64x32xi1>
  %mask = arith.andi %most, %positives : tensor<64x32xi1>
  %z = arith.select %mask, %x, %y : tensor<64x32xi1>, tensor<64x32xf32>
  return %z : tensor<64x32xf32>
}

// Neither comparison is strict: no bound needs a neighbour.
// CHECK-LABEL: func.func @both
// CHECK: %[[BOUND:.*]] = arith.minsi %{{.*}}, %{{.*}} : tensor<64x1xi32>
// CHECK-NOT: arith.addi
// CHECK: arith.cmpi sle, %{{.*}}, %{{.*}} : tensor<64x32xi32>
// CHECK-NOT: arith.andi
// CHECK: arith.select
func.func @both(%m: tensor<64x1xi32>, %n: tensor<1x32xi32>, %last: i32, %x: tensor<64x32xf32>, %y: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %end = tile.splat %last : i32 -> tensor<1x32xi32>
  %inside = arith.cmpi sle, %n, %end : tensor<1x32xi32>
  %rows = tile.broadcast %m : tensor<64x1xi32> -> tensor<64x32xi32>
  %columns = tile.broadcast %n : tensor<1x32xi32> -> tensor<64x32xi32>
  %before = arith.cmpi sge, %rows, %columns : tensor<64x32xi32>
  %insides = tile.broadcast %inside : tensor<1x32xi1> -> tensor<64x32xi1>
  %mask = arith.andi %insides, %before : tensor<64x32xi1>
  %z = arith.select %mask, %x, %y : tensor<64x32xi1>, tensor<64x32xf32>
  return %z : tensor<64x32xf32>
}

// A bound for each element; a bound on either side; unsigned numbers; a mask that a load has, too.
// CHECK-LABEL: func.func @others
// CHECK-NOT: arith.m
// CHECK-COUNT-4: arith.andi
// CHECK-NOT: arith.m
// CHECK: return
func.func @others(%m: tensor<64x1xi32>, %n: tensor<1x32xi32>, %each: tensor<64x32xi32>, %at: tensor<64x32x!tile.ptr<f32>>, %length: i32, %x: tensor<64x32xf32>, %y: tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>) {
  %rows = tile.broadcast %m : tensor<64x1xi32> -> tensor<64x32xi32>
  %columns = tile.broadcast %n : tensor<1x32xi32> -> tensor<64x32xi32>
  %ends = tile.splat %length : i32 -> tensor<64x32xi32>
  %before = arith.cmpi sge, %rows, %columns : tensor<64x32xi32>
  %ofEach = arith.cmpi slt, %columns, %each : tensor<64x32xi32>
  %mask0 = arith.andi %before, %ofEach : tensor<64x32xi1>
  %z0 = arith.select %mask0, %x, %y : tensor<64x32xi1>, tensor<64x32xf32>
  %above = arith.cmpi sgt, %columns, %ends : tensor<64x32xi32>
  %mask1 = arith.andi %before, %above : tensor<64x32xi1>
  %z1 = arith.select %mask1, %x, %y : tensor<64x32xi1>, tensor<64x32xf32>
  %below = arith.cmpi ult, %columns, %ends : tensor<64x32xi32>
  %mask2 = arith.andi %before, %below : tensor<64x32xi1>
  %z2 = arith.select %mask2, %x, %y : tensor<64x32xi1>, tensor<64x32xf32>
  %inside = arith.cmpi slt, %columns, %ends : tensor<64x32xi32>
  %mask3 = arith.andi %before, %inside : tensor<64x32xi1>
  %loaded = tile.load %at mask %mask3 other %y : (tensor<64x32x!tile.ptr<f32>>, tensor<64x32xi1>, tensor<64x32xf32>) -> tensor<64x32xf32>
  %z3 = arith.select %mask3, %loaded, %y : tensor<64x32xi1>, tensor<64x32xf32>
  return %z0, %z1, %z2, %z3 : tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>
}
