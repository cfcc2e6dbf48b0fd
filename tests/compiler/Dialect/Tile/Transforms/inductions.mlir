// Which tensors a loop carries as scalars.
// RUN: kiln-opt %s --kiln-rewrite-inductions --canonicalize | FileCheck %s

// Pointers that move by the same in every element.
// CHECK-LABEL: @pointers
// CHECK: scf.for {{.*}} iter_args(%[[MOVED:.*]] = %{{.*}}) -> (i64)
// CHECK: %[[OFFSET:.*]] = tile.splat %[[MOVED]] : i64 -> tensor<32xi64>
// CHECK: %[[AT:.*]] = tile.addptr %{{.*}}, %[[OFFSET]]
// CHECK: tile.store %[[AT]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[MOVED]]
// CHECK: scf.yield %[[NEXT]] : i64
func.func @pointers(%p: tensor<32x!tile.ptr<f32>>, %x: tensor<32xf32>, %n: i32, %step: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %steps = tile.splat %step : i32 -> tensor<32xi32>
  scf.for %i = %zero to %n step %one iter_args(%at = %p) -> (tensor<32x!tile.ptr<f32>>) : i32 {
    tile.store %at, %x : (tensor<32x!tile.ptr<f32>>, tensor<32xf32>) -> ()
    %next = tile.addptr %at, %steps : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
    scf.yield %next : tensor<32x!tile.ptr<f32>>
  }
  func.return
}

// Integers at their own width; the result of the loop is computed after it.
// CHECK-LABEL: @integers
// CHECK: %[[LOOP:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (i32)
// CHECK: %[[MOVED:.*]] = tile.splat %[[LOOP]] : i32 -> tensor<32xi32>
// CHECK: %[[RESULT:.*]] = arith.addi %{{.*}}, %[[MOVED]] : tensor<32xi32>
// CHECK: return %[[RESULT]]
func.func @integers(%start: tensor<32xi32>, %n: i32) -> tensor<32xi32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %steps = arith.constant dense<128> : tensor<32xi32>
  %end = scf.for %i = %zero to %n step %one iter_args(%at = %start) -> (tensor<32xi32>) : i32 {
    %next = arith.addi %at, %steps : tensor<32xi32>
    scf.yield %next : tensor<32xi32>
  }
  func.return %end : tensor<32xi32>
}

// A step that differs between elements, but not between iterations, is multiplied by their number.
// CHECK-LABEL: @counted
// CHECK-SAME: %[[START:[^:]*]]: tensor<32xi32>, %[[STEPS:[^:]*]]: tensor<32xi32>
// CHECK: %[[LOOP:.*]] = scf.for {{.*}} -> (i32)
// CHECK: %[[COUNT:.*]] = tile.splat %[[LOOP]] : i32 -> tensor<32xi32>
// CHECK: arith.muli %[[STEPS]], %[[COUNT]] : tensor<32xi32>
func.func @counted(%start: tensor<32xi32>, %steps: tensor<32xi32>, %n: i32) -> tensor<32xi32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %end = scf.for %i = %zero to %n step %one iter_args(%at = %start) -> (tensor<32xi32>) : i32 {
    %next = arith.addi %at, %steps : tensor<32xi32>
    scf.yield %next : tensor<32xi32>
  }
  func.return %end : tensor<32xi32>
}

// A step that changes from iteration to iteration: the tensor is carried.
// CHECK-LABEL: @loaded
// CHECK: scf.for {{.*}} -> (tensor<32xi32>)
func.func @loaded(%p: tensor<32x!tile.ptr<i32>>, %start: tensor<32xi32>, %n: i32) -> tensor<32xi32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %end = scf.for %i = %zero to %n step %one iter_args(%at = %start) -> (tensor<32xi32>) : i32 {
    %step = tile.load %p : (tensor<32x!tile.ptr<i32>>) -> tensor<32xi32>
    %next = arith.addi %at, %step : tensor<32xi32>
    scf.yield %next : tensor<32xi32>
  }
  func.return %end : tensor<32xi32>
}
