// Ranges that a loop moves, and that tiles use along several axes, become the start plus a number.
// RUN: kiln-opt %s --kiln-spread-ranges --canonicalize | FileCheck %s

// CHECK-LABEL: @columns_and_rows
// CHECK-SAME: %[[START:[^:]*]]: tensor<32xi32>, %[[END:[^:]*]]: tensor<32xi32>
// CHECK: scf.for {{.*}} iter_args(%[[MOVED:.*]] = %{{.*}}) -> (i32)
// CHECK: %[[BY:.*]] = tile.splat %[[MOVED]] : i32 -> tensor<32xi32>
// CHECK: %[[AT:.*]] = arith.addi %[[START]], %[[BY]] : tensor<32xi32>
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %[[AT]], %[[END]] : tensor<32xi32>
// CHECK: tile.expand_dims %[[INSIDE]], 0
// CHECK: tile.expand_dims %[[INSIDE]], 1
func.func @columns_and_rows(%start: tensor<32xi32>, %end: tensor<32xi32>, %n: i32,
                            %p: tensor<1x32x!tile.ptr<f32>>, %q: tensor<32x1x!tile.ptr<f32>>,
                            %x: tensor<1x32xf32>, %y: tensor<32x1xf32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %steps = arith.constant dense<32> : tensor<32xi32>
  scf.for %i = %zero to %n step %one iter_args(%at = %start) -> (tensor<32xi32>) : i32 {
    %inside = arith.cmpi slt, %at, %end : tensor<32xi32>
    %columns = tile.expand_dims %inside, 0 : tensor<32xi1> -> tensor<1x32xi1>
    %rows = tile.expand_dims %inside, 1 : tensor<32xi1> -> tensor<32x1xi1>
    tile.store %p, %x mask %columns : (tensor<1x32x!tile.ptr<f32>>, tensor<1x32xf32>, tensor<1x32xi1>) -> ()
    tile.store %q, %y mask %rows : (tensor<32x1x!tile.ptr<f32>>, tensor<32x1xf32>, tensor<32x1xi1>) -> ()
    %next = arith.addi %at, %steps : tensor<32xi32>
    scf.yield %next : tensor<32xi32>
  }
  func.return
}

// Along one axis a range has one layout, and is carried as it is.
// CHECK-LABEL: @columns
// CHECK: scf.for {{.*}} -> (tensor<32xi32>)
func.func @columns(%start: tensor<32xi32>, %end: tensor<32xi32>, %n: i32,
                   %p: tensor<1x32x!tile.ptr<f32>>, %x: tensor<1x32xf32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %steps = arith.constant dense<32> : tensor<32xi32>
  scf.for %i = %zero to %n step %one iter_args(%at = %start) -> (tensor<32xi32>) : i32 {
    %inside = arith.cmpi slt, %at, %end : tensor<32xi32>
    %columns = tile.expand_dims %inside, 0 : tensor<32xi1> -> tensor<1x32xi1>
    tile.store %p, %x mask %columns : (tensor<1x32x!tile.ptr<f32>>, tensor<1x32xf32>, tensor<1x32xi1>) -> ()
    %next = arith.addi %at, %steps : tensor<32xi32>
    scf.yield %next : tensor<32xi32>
  }
  func.return
}
