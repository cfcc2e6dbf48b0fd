// What loops leave behind of scalars that they only move is computed of how often they run; what nobody wants is not there.
// RUN: kiln-opt %s --kiln-simplify-loop-results --canonicalize | FileCheck %s

// CHECK-LABEL: @offset
// CHECK-SAME: (%[[START:.*]]: i64, %[[LOW:.*]]: i32, %[[HIGH:.*]]: i32
// CHECK-DAG: %[[L:.*]] = arith.extsi %[[LOW]]
// CHECK-DAG: %[[H:.*]] = arith.extsi %[[HIGH]]
// CHECK: %[[DISTANCE:.*]] = arith.subi %[[H]], %[[L]]
// CHECK: %[[RAISED:.*]] = arith.addi %[[DISTANCE]], %c31_i64
// CHECK: %[[POSITIVE:.*]] = arith.maxsi %[[RAISED]], %c0_i64
// CHECK: %[[COUNT:.*]] = arith.divui %[[POSITIVE]], %c32_i64
// CHECK: %[[MOVED:.*]] = arith.muli %[[COUNT]], %c24_i64
// CHECK: %[[END:.*]] = arith.addi %[[START]], %[[MOVED]]
// CHECK: scf.for
// CHECK: return %[[END]]
func.func @offset(%start: i64, %low: i32, %high: i32, %p: !tile.ptr<i64>) -> i64 {
  %step = arith.constant 32 : i32
  %end = scf.for %i = %low to %high step %step iter_args(%at = %start) -> (i64) : i32 {
    tile.store %p, %at : (!tile.ptr<i64>, i64) -> ()
    %c24 = arith.constant 24 : i64
    %next = arith.addi %at, %c24 : i64
    scf.yield %next : i64
  }
  func.return %end : i64
}

// CHECK-LABEL: @pointer
// CHECK-SAME: (%[[START:.*]]: !tile.ptr<f32>
// CHECK: %[[END:.*]] = tile.addptr %[[START]], %{{.*}} : !tile.ptr<f32>, i64
// CHECK: scf.for
// CHECK: return %[[END]]
func.func @pointer(%start: !tile.ptr<f32>, %high: i32, %by: i32, %x: f32) -> !tile.ptr<f32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %end = scf.for %i = %zero to %high step %one iter_args(%at = %start) -> (!tile.ptr<f32>) : i32 {
    tile.store %at, %x : (!tile.ptr<f32>, f32) -> ()
    %next = tile.addptr %at, %by : !tile.ptr<f32>, i32
    scf.yield %next : !tile.ptr<f32>
  }
  func.return %end : !tile.ptr<f32>
}

// Not what is moved by what an iteration finds, nor of loops that count in more bits.
// CHECK-LABEL: @others
// CHECK: %[[ENDS:.*]]:2 = scf.for
// CHECK: %[[WIDE:.*]] = scf.for
// CHECK: return %[[ENDS]]#0, %[[WIDE]]
func.func @others(%p: !tile.ptr<i32>, %high: i32, %n: i64) -> (i32, i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %ends:2 = scf.for %i = %zero to %high step %one iter_args(%at = %zero, %q = %p)
      -> (i32, !tile.ptr<i32>) : i32 {
    %by = tile.load %q : (!tile.ptr<i32>) -> i32
    %next = arith.addi %at, %by : i32
    %beside = tile.addptr %q, %next : !tile.ptr<i32>, i32
    scf.yield %next, %beside : i32, !tile.ptr<i32>
  }
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %wide = scf.for %i = %c0 to %n step %c1 iter_args(%at = %zero) -> (i32) : i64 {
    tile.store %p, %at : (!tile.ptr<i32>, i32) -> ()
    %next = arith.addi %at, %one : i32
    scf.yield %next : i32
  }
  func.return %ends#0, %wide : i32, i32
}

// What nobody wants is not carried, nor computed: but what an iteration stores is wanted.
// CHECK-LABEL: @unwanted
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[AT:.*]] = %{{.*}}) -> (f32)
// CHECK-NOT: maximumf
// CHECK: tile.store %{{.*}}, %[[AT]]
// CHECK: %[[NEXT:.*]] = arith.addf %[[AT]]
// CHECK: scf.yield %[[NEXT]] : f32
// CHECK: return
func.func @unwanted(%p: !tile.ptr<f32>, %high: i32, %x: f32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = arith.constant 0.0 : f32
  %ends:3 = scf.for %i = %zero to %high step %one iter_args(%sum = %none, %most = %none, %last = %none)
      -> (f32, f32, f32) : i32 {
    tile.store %p, %sum : (!tile.ptr<f32>, f32) -> ()
    %next = arith.addf %sum, %x : f32
    %more = arith.maximumf %most, %last : f32
    %square = arith.mulf %more, %sum : f32
    scf.yield %next, %more, %square : f32, f32, f32
  }
  func.return
}
