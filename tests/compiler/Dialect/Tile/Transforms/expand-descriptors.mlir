// Descriptors become their parts, and accesses go through pointers.
// RUN: kiln-opt --pass-pipeline='builtin.module(func.func(kiln-expand-descriptors))' %s | FileCheck %s --implicit-check-not=descriptor

// What the descriptor promises of base and strides are facts; a constant stride speaks for itself.
// CHECK-LABEL: func.func @load
// CHECK-SAME: (%[[P:.*]]: !tile.ptr<f16>, %[[M:.*]]: i64, %[[N:.*]]: i64, %[[S:.*]]: i64, %[[I:.*]]: i64, %[[J:.*]]: i64)
func.func @load(%p: !tile.ptr<f16>, %m: i64, %n: i64, %s: i64, %i: i64, %j: i64) -> (tensor<16x32xf16>, tensor<2x16x32xf16>) {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<16x32xf16>
  // CHECK-DAG: %[[NAN:.*]] = arith.constant dense<0x7E00> : tensor<2x16x32xf16>
  // CHECK-DAG: %[[OUTER:.*]] = arith.constant dense<4096> : tensor<2xi64>
  // CHECK-DAG: %[[BASE:.*]] = tile.hint %[[P]] divisibility = [16] : !tile.ptr<f16>
  // CHECK-DAG: %[[STRIDE:.*]] = tile.hint %[[S]] divisibility = [8] : i64
  %d = tile.make_descriptor %p, [%m, %n], [%s] : !tile.ptr<f16> -> !tile.descriptor<16x32xf16>
  // CHECK-DAG: tile.splat %[[BASE]]
  // CHECK-DAG: tile.splat %[[STRIDE]] : i64 -> tensor<16xi64>
  // CHECK-DAG: tile.splat %[[M]] : i64 -> tensor<16xi64>
  // CHECK-DAG: tile.splat %[[N]] : i64 -> tensor<32xi64>
  // CHECK-DAG: arith.cmpi sge, %{{.*}} : tensor<32xi64>
  // CHECK-DAG: arith.cmpi slt, %{{.*}} : tensor<32xi64>
  // CHECK: tile.load %{{.*}} mask %{{.*}} other %[[ZERO]] {cache = #tile.cache<cg>}
  %x = tile.descriptor_load %d[%i, %j] {cache = #tile.cache<cg>} : !tile.descriptor<16x32xf16> -> tensor<16x32xf16>
  %c = arith.constant 4096 : i64
  %e = tile.make_descriptor %p, [%m, %m, %n], [%c, %s] : !tile.ptr<f16> -> !tile.descriptor<2x16x32xf16, nan>
  // CHECK: arith.muli %{{.*}}, %[[OUTER]] : tensor<2xi64>
  // CHECK: tile.load %{{.*}} mask %{{.*}} other %[[NAN]] : {{.*}} -> tensor<2x16x32xf16>
  %y = tile.descriptor_load %e[%i, %i, %j] : !tile.descriptor<2x16x32xf16, nan> -> tensor<2x16x32xf16>
  return %x, %y : tensor<16x32xf16>, tensor<2x16x32xf16>
}

// Rows without gaps are as long as their stride.
// CHECK-LABEL: func.func @dense
// CHECK-SAME: (%[[P:.*]]: !tile.ptr<f16>, %[[M:.*]]: i64, %[[N:.*]]: i64)
func.func @dense(%p: !tile.ptr<f16>, %m: i64, %n: i64) -> tensor<16x32xf16> {
  %d = tile.make_descriptor %p, [%m, %n], [%n] : !tile.ptr<f16> -> !tile.descriptor<16x32xf16>
  // CHECK-DAG: %[[ROW:.*]] = tile.hint %[[N]] divisibility = [8] : i64
  // CHECK-DAG: %[[END:.*]] = tile.splat %[[ROW]] : i64 -> tensor<32xi64>
  // CHECK-DAG: arith.cmpi slt, %{{.*}}, %[[END]] : tensor<32xi64>
  // CHECK-DAG: tile.splat %[[M]] : i64 -> tensor<16xi64>
  %c0 = arith.constant 0 : i64
  %x = tile.descriptor_load %d[%c0, %c0] : !tile.descriptor<16x32xf16> -> tensor<16x32xf16>
  return %x : tensor<16x32xf16>
}

// CHECK-LABEL: func.func @write
func.func @write(%p: !tile.ptr<f32>, %n: i64, %x: tensor<16xf32>) {
  %d = tile.make_descriptor %p, [%n], [] : !tile.ptr<f32> -> !tile.descriptor<16xf32>
  // CHECK: tile.store %[[AT:.*]], %{{.*}} mask %[[MASK:.*]] : (
  tile.descriptor_store %d[%n], %x : !tile.descriptor<16xf32>, tensor<16xf32>
  // CHECK: tile.atomic_rmw <fmin> %[[AT]], %{{.*}} mask %[[MASK]] {semantic = #tile.semantic<relaxed>}
  tile.descriptor_reduce <fmin> %d[%n], %x : !tile.descriptor<16xf32>, tensor<16xf32>
  return
}

// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[ROWS:[a-z0-9]+]]: tensor<8xi32>
func.func @rows(%p: !tile.ptr<f32>, %n: i64, %rows: tensor<8xi32>) {
  %d = tile.make_descriptor %p, [%n, %n], [%n] : !tile.ptr<f32> -> !tile.descriptor<1x16xf32>
  // CHECK: %[[WIDE:.*]] = arith.extsi %[[ROWS]] : tensor<8xi32> to tensor<8xi64>
  // CHECK: arith.cmpi slt, %[[WIDE]], %{{.*}} : tensor<8xi64>
  // CHECK: %[[X:.*]] = tile.load %[[AT:.*]] mask %[[MASK:[a-z0-9]+]] other
  %x = tile.descriptor_gather %d[%rows, %n] : !tile.descriptor<1x16xf32>, tensor<8xi32> -> tensor<8x16xf32>
  // CHECK: tile.store %[[AT]], %[[X]] mask %[[MASK]]
  tile.descriptor_scatter %d[%rows, %n], %x : !tile.descriptor<1x16xf32>, tensor<8xi32>, tensor<8x16xf32>
  return
}

// The parts that change are carried; those that stay are not.
// CHECK-LABEL: func.func @loop
// CHECK-SAME: (%[[P:.*]]: !tile.ptr<f32>, %[[Q:.*]]: !tile.ptr<f32>, %[[N:.*]]: i64)
func.func @loop(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %n: i64) -> i64 {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 4 : i64
  %c8 = arith.constant 32 : i64
  %a = tile.make_descriptor %p, [%n], [] : !tile.ptr<f32> -> !tile.descriptor<16xf32>
  %b = tile.make_descriptor %q, [%n], [] : !tile.ptr<f32> -> !tile.descriptor<16xf32>
  // CHECK: tile.hint %[[Q]] divisibility = [16]
  // CHECK: scf.for {{.*}} iter_args(%[[AT:.*]] = %[[P]]) -> (!tile.ptr<f32>)
  %end = scf.for %i = %c0 to %c8 step %c1 iter_args(%d = %a) -> (!tile.descriptor<16xf32>) : i64 {
    // CHECK: %[[FROM:.*]] = tile.hint %[[AT]] divisibility = [16]
    // CHECK: tile.splat %[[FROM]]
    %x = tile.descriptor_load %d[%n] : !tile.descriptor<16xf32> -> tensor<16xf32>
    tile.descriptor_store %b[%n], %x : !tile.descriptor<16xf32>, tensor<16xf32>
    // CHECK: %[[NEXT:.*]] = tile.addptr %[[P]]
    %at = tile.addptr %p, %i : !tile.ptr<f32>, i64
    %next = tile.make_descriptor %at, [%n], [] : !tile.ptr<f32> -> !tile.descriptor<16xf32>
    // CHECK: scf.yield %[[NEXT]] : !tile.ptr<f32>
    scf.yield %next : !tile.descriptor<16xf32>
  } {tile.num_stages = 2 : i32}
  // CHECK: } {tile.num_stages = 2 : i32}
  %extent = tile.descriptor_extent %end, 0 : !tile.descriptor<16xf32>
  // CHECK: return %[[N]]
  return %extent : i64
}

// Of two descriptors that differ in their extent, only that is chosen.
// CHECK-LABEL: func.func @branches
// CHECK-SAME: (%[[P:.*]]: !tile.ptr<f32>, %[[N:.*]]: i64, %[[C:.*]]: i1)
func.func @branches(%p: !tile.ptr<f32>, %n: i64, %c: i1) -> tensor<16xf32> {
  %a = tile.make_descriptor %p, [%n], [] : !tile.ptr<f32> -> !tile.descriptor<16xf32>
  %m = arith.addi %n, %n : i64
  %b = tile.make_descriptor %p, [%m], [] : !tile.ptr<f32> -> !tile.descriptor<16xf32>
  // CHECK: %[[E:.*]] = arith.select %[[C]], %[[N]], %{{.*}} : i64
  // CHECK-NOT: arith.select
  %d = arith.select %c, %a, %b : !tile.descriptor<16xf32>
  // CHECK: tile.hint %[[P]]
  %x = tile.descriptor_load %d[%n] : !tile.descriptor<16xf32> -> tensor<16xf32>
  // CHECK: scf.if %[[C]] {
  %e = scf.if %c -> (!tile.descriptor<16xf32>) {
    tile.barrier
    scf.yield %a : !tile.descriptor<16xf32>
  } else {
    tile.fence <gpu>
    scf.yield %b : !tile.descriptor<16xf32>
  }
  tile.descriptor_store %e[%n], %x : !tile.descriptor<16xf32>, tensor<16xf32>
  return %x : tensor<16xf32>
}

// CHECK-LABEL: func.func @while
func.func @while(%p: !tile.ptr<f32>, %n: i64) -> i64 {
  %poison = ub.poison : !tile.descriptor<16xf32>
  // CHECK: scf.while
  // CHECK: scf.condition
  %d:2 = scf.while (%d = %poison, %i = %n) : (!tile.descriptor<16xf32>, i64) -> (!tile.descriptor<16xf32>, i64) {
    %c = arith.cmpi sgt, %i, %n : i64
    scf.condition(%c) %d, %i : !tile.descriptor<16xf32>, i64
  } do {
  ^bb0(%d: !tile.descriptor<16xf32>, %i: i64):
    %next = arith.addi %i, %n : i64
    %a = tile.make_descriptor %p, [%i], [] : !tile.ptr<f32> -> !tile.descriptor<16xf32>
    scf.yield %a, %next : !tile.descriptor<16xf32>, i64
  }
  %extent = tile.descriptor_extent %d#0, 0 : !tile.descriptor<16xf32>
  return %extent : i64
}
