// While loops that count become loops that say how often they run.
// RUN: kiln-opt %s --kiln-count-loops --canonicalize | FileCheck %s

// Behind the loop the counter is what the loop carries.
// CHECK-LABEL: @up
// CHECK-SAME: %[[START:[^:]*]]: i32, %[[END:[^:]*]]: i32
// CHECK: %[[R:.*]]:2 = scf.for %[[I:.*]] = %[[START]] to %[[END]] step %c4{{.*}} iter_args(%{{.*}} = %[[START]], %[[SUM:.*]] = %c0{{.*}})
// CHECK-NEXT: arith.addi %[[SUM]], %[[I]]
// CHECK-NEXT: arith.addi %[[I]], %c4
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @up(%start: i32, %end: i32) -> (i32, i32) {
  %zero = arith.constant 0 : i32
  %four = arith.constant 4 : i32
  %r:2 = scf.while (%i = %start, %sum = %zero) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi slt, %i, %end : i32
    scf.condition(%more) %i, %sum : i32, i32
  } do {
  ^bb0(%i: i32, %sum: i32):
    %s = arith.addi %sum, %i : i32
    %next = arith.addi %i, %four : i32
    scf.yield %next, %s : i32, i32
  }
  return %r#0, %r#1 : i32, i32
}

// The end is one of its numbers.
// CHECK-LABEL: @down
// CHECK-SAME: %[[START:[^:]*]]: i64, %[[END:[^:]*]]: i64
// CHECK: %[[BEFORE:.*]] = arith.subi %[[END]], %c1
// CHECK: %[[SUM:.*]] = arith.addi %[[START]], %[[BEFORE]]
// CHECK: scf.for %[[J:.*]] = %[[BEFORE]] to %[[START]] step %c2
// CHECK: arith.subi %[[SUM]], %[[J]]
func.func @down(%start: i64, %end: i64, %p: !tile.ptr<i64>) {
  %two = arith.constant 2 : i64
  %r = scf.while (%i = %start) : (i64) -> i64 {
    %more = arith.cmpi sge, %i, %end : i64
    scf.condition(%more) %i : i64
  } do {
  ^bb0(%i: i64):
    tile.store %p, %i : (!tile.ptr<i64>, i64) -> ()
    %next = arith.subi %i, %two : i64
    scf.yield %next : i64
  }
  return
}

// The nearest end counts; what holds from some number on is asked once. Numbers of programs are
// positive.
// CHECK-LABEL: @between
// CHECK-SAME: %[[START:[^:]*]]: i32, %[[FIRST:[^:]*]]: i32, %[[A:[^:]*]]: i32, %[[B:[^:]*]]: i32
// CHECK-DAG: %[[STEP:.*]] = tile.num_programs 0
// CHECK-DAG: %[[NEAREST:.*]] = arith.minsi %[[B]], %[[A]]
// CHECK-DAG: %[[RUNS:.*]] = arith.cmpi sge, %[[START]], %[[FIRST]]
// CHECK: %[[END:.*]] = arith.select %[[RUNS]], %[[NEAREST]], %[[START]]
// CHECK: scf.for %{{.*}} = %[[START]] to %[[END]] step %[[STEP]]
func.func @between(%start: i32, %first: i32, %a: i32, %b: i32, %p: !tile.ptr<i32>) {
  %r = scf.while (%i = %start) : (i32) -> i32 {
    %begun = arith.cmpi sge, %i, %first : i32
    %more = arith.cmpi slt, %i, %a : i32
    %also = arith.cmpi sgt, %b, %i : i32
    %x = arith.andi %begun, %more : i1
    %y = arith.andi %x, %also : i1
    scf.condition(%y) %i : i32
  } do {
  ^bb0(%i: i32):
    tile.store %p, %i : (!tile.ptr<i32>, i32) -> ()
    %step = tile.num_programs 0 : i32
    %next = arith.addi %i, %step : i32
    scf.yield %next : i32
  }
  return
}

// A bound of more bits is cut off.
// CHECK-LABEL: @wide
// CHECK: arith.minsi %{{.*}}, %c2147483647
// CHECK: arith.maxsi %{{.*}}, %c-2147483648
// CHECK: %[[END:.*]] = arith.trunci
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[END]] step
func.func @wide(%start: i32, %end: i64, %p: !tile.ptr<i32>) {
  %one = arith.constant 1 : i32
  %r = scf.while (%i = %start) : (i32) -> i32 {
    %w = arith.extsi %i : i32 to i64
    %more = arith.cmpi slt, %w, %end : i64
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    tile.store %p, %i : (!tile.ptr<i32>, i32) -> ()
    %next = arith.addi %i, %one : i32
    scf.yield %next : i32
  }
  return
}

// Without a sign; and only what is assumed in front of the loop.
// CHECK-LABEL: @assumed
// CHECK: scf.for unsigned
// CHECK: scf.while
func.func @assumed(%start: i32, %end: i32, %step: i32, %other: i32, %p: !tile.ptr<i32>) {
  %zero = arith.constant 0 : i32
  %positive = arith.cmpi sgt, %step, %zero : i32
  tile.assume %positive : i1
  %r = scf.while (%i = %start) : (i32) -> i32 {
    %more = arith.cmpi ult, %i, %end : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    tile.store %p, %i : (!tile.ptr<i32>, i32) -> ()
    %next = arith.addi %i, %step : i32
    scf.yield %next : i32
  }
  %s = scf.while (%i = %start) : (i32) -> i32 {
    %more = arith.cmpi slt, %i, %end : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    tile.store %p, %i : (!tile.ptr<i32>, i32) -> ()
    %next = arith.addi %i, %other : i32
    scf.yield %next : i32
  }
  %also = arith.cmpi sgt, %other, %zero : i32
  tile.assume %also : i1
  return
}

// Away from the end, to an end that moves, or that memory says, by a step that changes.
// CHECK-LABEL: @others
// CHECK-NOT: scf.for
// CHECK-COUNT-4: scf.while
// CHECK-NOT: scf.for
func.func @others(%start: i32, %end: i32, %p: !tile.ptr<i32>) {
  %one = arith.constant 1 : i32
  %away = scf.while (%i = %start) : (i32) -> i32 {
    %more = arith.cmpi sgt, %i, %end : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    tile.store %p, %i : (!tile.ptr<i32>, i32) -> ()
    %next = arith.addi %i, %one : i32
    scf.yield %next : i32
  }
  %moves:2 = scf.while (%i = %start, %e = %end) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi slt, %i, %e : i32
    scf.condition(%more) %i, %e : i32, i32
  } do {
  ^bb0(%i: i32, %e: i32):
    tile.store %p, %i : (!tile.ptr<i32>, i32) -> ()
    %next = arith.addi %i, %one : i32
    %f = tile.load %p : (!tile.ptr<i32>) -> i32
    scf.yield %next, %f : i32, i32
  }
  %loaded = scf.while (%i = %start) : (i32) -> i32 {
    %e = tile.load %p : (!tile.ptr<i32>) -> i32
    %more = arith.cmpi slt, %i, %e : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    tile.store %p, %i : (!tile.ptr<i32>, i32) -> ()
    %next = arith.addi %i, %one : i32
    scf.yield %next : i32
  }
  %changes:2 = scf.while (%i = %start, %s = %one) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi slt, %i, %end : i32
    scf.condition(%more) %i, %s : i32, i32
  } do {
  ^bb0(%i: i32, %s: i32):
    tile.store %p, %i : (!tile.ptr<i32>, i32) -> ()
    %next = arith.addi %i, %s : i32
    %t = arith.addi %s, %one : i32
    scf.yield %next, %t : i32, i32
  }
  return
}
