// Products of tiles that end in zeros say where.
// RUN: kiln-opt %s --pass-pipeline="builtin.module(func.func(kiln-trim-dots))" | FileCheck %s

// Rows of 96 in tiles of 128: both operands of the first product end there, and of the second nobody stores what lies beyond.
// CHECK-LABEL: func.func @heads_of_96
// CHECK: tile.dot {{.*}} {tile.used_depth = 96 : i32}
// CHECK: scf.for
// CHECK: tile.dot {{.*}} {tile.used_columns = 96 : i32}
func.func @heads_of_96(%q: !tile.ptr<f16>, %v: !tile.ptr<f16>, %out: !tile.ptr<f32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = arith.constant dense<0.0> : tensor<64x128xf16>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %o = arith.constant dense<0.0> : tensor<64x128xf32>
  %end = arith.constant dense<96> : tensor<1x128xi32>
  %range = tile.arange 0, 128 : tensor<128xi32>
  %row = tile.expand_dims %range, 0 : tensor<128xi32> -> tensor<1x128xi32>
  %inside = arith.cmpi slt, %row, %end : tensor<1x128xi32>
  %mask = tile.broadcast %inside : tensor<1x128xi1> -> tensor<64x128xi1>
  %offsets = tile.broadcast %row : tensor<1x128xi32> -> tensor<64x128xi32>
  %qs = tile.splat %q : !tile.ptr<f16> -> tensor<64x128x!tile.ptr<f16>>
  %qp = tile.addptr %qs, %offsets : tensor<64x128x!tile.ptr<f16>>, tensor<64x128xi32>
  %x = tile.load %qp mask %mask other %none : (tensor<64x128x!tile.ptr<f16>>, tensor<64x128xi1>, tensor<64x128xf16>) -> tensor<64x128xf16>
  %vs = tile.splat %v : !tile.ptr<f16> -> tensor<64x128x!tile.ptr<f16>>
  %vp = tile.addptr %vs, %offsets : tensor<64x128x!tile.ptr<f16>>, tensor<64x128xi32>
  %y = tile.load %vp mask %mask other %none : (tensor<64x128x!tile.ptr<f16>>, tensor<64x128xi1>, tensor<64x128xf16>) -> tensor<64x128xf16>
  %yt = tile.trans %y, [1, 0] : tensor<64x128xf16> -> tensor<128x64xf16>
  %s = tile.dot %x, %yt, %c : (tensor<64x128xf16>, tensor<128x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
  %sum = scf.for %i = %zero to %n step %one iter_args(%carried = %o) -> (tensor<64x128xf32>) : i32 {
    %next = tile.dot %p, %y, %carried : (tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>) -> tensor<64x128xf32>
    scf.yield %next : tensor<64x128xf32>
  }
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<64x128x!tile.ptr<f32>>
  %op = tile.addptr %os, %offsets : tensor<64x128x!tile.ptr<f32>>, tensor<64x128xi32>
  tile.store %op, %sum mask %mask : (tensor<64x128x!tile.ptr<f32>>, tensor<64x128xf32>, tensor<64x128xi1>) -> ()
  return
}

// One operand that ends in zeros is not enough along k, as the other may hold infinities; nor are columns that are stored, or
// that end in what is not zero.
// CHECK-LABEL: func.func @others
// CHECK-NOT: tile.used
// CHECK: return
func.func @others(%q: !tile.ptr<f16>, %v: !tile.ptr<f16>, %out: !tile.ptr<f32>) {
  %none = arith.constant dense<0.0> : tensor<128x128xf16>
  %ones = arith.constant dense<1.0> : tensor<128x128xf16>
  %o = arith.constant dense<0.0> : tensor<128x128xf32>
  %end = arith.constant dense<96> : tensor<1x128xi32>
  %range = tile.arange 0, 128 : tensor<128xi32>
  %row = tile.expand_dims %range, 0 : tensor<128xi32> -> tensor<1x128xi32>
  %inside = arith.cmpi slt, %row, %end : tensor<1x128xi32>
  %mask = tile.broadcast %inside : tensor<1x128xi1> -> tensor<128x128xi1>
  %offsets = tile.broadcast %row : tensor<1x128xi32> -> tensor<128x128xi32>
  %qs = tile.splat %q : !tile.ptr<f16> -> tensor<128x128x!tile.ptr<f16>>
  %qp = tile.addptr %qs, %offsets : tensor<128x128x!tile.ptr<f16>>, tensor<128x128xi32>
  %x = tile.load %qp mask %mask other %none : (tensor<128x128x!tile.ptr<f16>>, tensor<128x128xi1>, tensor<128x128xf16>) -> tensor<128x128xf16>
  %all = tile.load %qp : (tensor<128x128x!tile.ptr<f16>>) -> tensor<128x128xf16>
  %filled = tile.load %qp mask %mask other %ones : (tensor<128x128x!tile.ptr<f16>>, tensor<128x128xi1>, tensor<128x128xf16>) -> tensor<128x128xf16>
  %0 = tile.dot %x, %all, %o : (tensor<128x128xf16>, tensor<128x128xf16>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %1 = tile.dot %all, %x, %0 : (tensor<128x128xf16>, tensor<128x128xf16>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<128x128x!tile.ptr<f32>>
  %op = tile.addptr %os, %offsets : tensor<128x128x!tile.ptr<f32>>, tensor<128x128xi32>
  tile.store %op, %1 : (tensor<128x128x!tile.ptr<f32>>, tensor<128x128xf32>) -> ()
  %2 = tile.dot %all, %filled, %o : (tensor<128x128xf16>, tensor<128x128xf16>, tensor<128x128xf32>) -> tensor<128x128xf32>
  tile.store %op, %2 mask %mask : (tensor<128x128x!tile.ptr<f32>>, tensor<128x128xf32>, tensor<128x128xi1>) -> ()
  return
}
