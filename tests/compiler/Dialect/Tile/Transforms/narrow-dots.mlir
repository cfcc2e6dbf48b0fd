// Tiles of products that end in zeros become narrower.
// RUN: kiln-opt %s --pass-pipeline="builtin.module(func.func(kiln-trim-dots,kiln-narrow-dots),canonicalize)" | FileCheck %s

// Heads of 20 in tiles of 128: the operands of the first product, and what of the second is stored, with what the loop carries.
// CHECK-LABEL: func.func @heads_of_20
// CHECK: tile.load {{.*}} -> tensor<64x32xf16>
// CHECK: tile.load {{.*}} -> tensor<64x32xf16>
// CHECK: tile.dot {{.*}} {tile.narrowed_by = 4 : i32, tile.used_depth = 20 : i32} : (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>)
// CHECK: scf.for {{.*}} -> (tensor<64x32xf32>)
// CHECK: tile.dot {{.*}} {tile.narrowed_by = 4 : i32, tile.used_columns = 20 : i32} : (tensor<64x64xf16>, tensor<64x32xf16>, tensor<64x32xf32>)
// CHECK: tile.store {{.*}} (tensor<64x32x!tile.ptr<f32>>, tensor<64x32xf32>, tensor<64x32xi1>)
func.func @heads_of_20(%q: !tile.ptr<f16>, %v: !tile.ptr<f16>, %out: !tile.ptr<f32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = arith.constant dense<0.0> : tensor<64x128xf16>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %o = arith.constant dense<0.0> : tensor<64x128xf32>
  %end = arith.constant dense<20> : tensor<1x128xi32>
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

// Pointers that a loop moves are narrower, too, and a tile whose rows are summed up as well.
// CHECK-LABEL: func.func @moved
// CHECK: scf.for {{.*}} -> (tensor<64x16x!tile.ptr<f16>>, tensor<64x64xf32>)
// CHECK: tile.load {{.*}} -> tensor<64x16xf16>
// CHECK: tile.dot {{.*}} (tensor<64x16xf16>, tensor<16x64xf16>, tensor<64x64xf32>)
// CHECK: tile.reduce({{.*}}) axis 1 : (tensor<64x16xf16>) -> tensor<64xf16>
// CHECK: tile.dot {{.*}} (tensor<64x16xf16>, tensor<16x64xf16>, tensor<64x64xf32>)
func.func @moved(%q: !tile.ptr<f16>, %out: !tile.ptr<f32>, %sums: !tile.ptr<f16>, %n: i32, %step: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf16>
  %o = arith.constant dense<0.0> : tensor<64x64xf32>
  %end = arith.constant dense<16> : tensor<1x64xi32>
  %range = tile.arange 0, 64 : tensor<64xi32>
  %row = tile.expand_dims %range, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %inside = arith.cmpi slt, %row, %end : tensor<1x64xi32>
  %mask = tile.broadcast %inside : tensor<1x64xi1> -> tensor<64x64xi1>
  %offsets = tile.broadcast %row : tensor<1x64xi32> -> tensor<64x64xi32>
  %qs = tile.splat %q : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %qp = tile.addptr %qs, %offsets : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %steps = tile.splat %step : i32 -> tensor<64x64xi32>
  %moved, %sum = scf.for %i = %zero to %n step %one iter_args(%at = %qp, %carried = %o) -> (tensor<64x64x!tile.ptr<f16>>, tensor<64x64xf32>) : i32 {
    %x = tile.load %at mask %mask other %none : (tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi1>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %xt = tile.trans %x, [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %next = tile.dot %x, %xt, %carried : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %later = tile.addptr %at, %steps : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    scf.yield %later, %next : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xf32>
  }
  %y = tile.load %qp mask %mask other %none : (tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi1>, tensor<64x64xf16>) -> tensor<64x64xf16>
  %z = tile.load %qp mask %mask other %none : (tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi1>, tensor<64x64xf16>) -> tensor<64x64xf16>
  %zt = tile.trans %z, [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
  %rows = tile.reduce(%y) axis 1 : (tensor<64x64xf16>) -> tensor<64xf16> {
  ^bb0(%a: f16, %b: f16):
    %s = arith.addf %a, %b : f16
    tile.yield %s : f16
  }
  %all = tile.dot %y, %zt, %sum : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %op = tile.addptr %os, %offsets : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %op, %all : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  %ss = tile.splat %sums : !tile.ptr<f16> -> tensor<64x!tile.ptr<f16>>
  %sp = tile.addptr %ss, %range : tensor<64x!tile.ptr<f16>>, tensor<64xi32>
  tile.store %sp, %rows : (tensor<64x!tile.ptr<f16>>, tensor<64xf16>) -> ()
  return
}

// A tile of whose rows there is a maximum, of which zeros are a part, is whole, and so is the other operand.
// CHECK-LABEL: func.func @maximum
// CHECK-NOT: tile.narrowed_by
// CHECK: tile.dot {{.*}} (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>)
func.func @maximum(%q: !tile.ptr<f16>, %out: !tile.ptr<f32>, %sums: !tile.ptr<f16>) {
  %none = arith.constant dense<0.0> : tensor<64x64xf16>
  %o = arith.constant dense<0.0> : tensor<64x64xf32>
  %end = arith.constant dense<16> : tensor<1x64xi32>
  %range = tile.arange 0, 64 : tensor<64xi32>
  %row = tile.expand_dims %range, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %inside = arith.cmpi slt, %row, %end : tensor<1x64xi32>
  %mask = tile.broadcast %inside : tensor<1x64xi1> -> tensor<64x64xi1>
  %offsets = tile.broadcast %row : tensor<1x64xi32> -> tensor<64x64xi32>
  %qs = tile.splat %q : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %qp = tile.addptr %qs, %offsets : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %y = tile.load %qp mask %mask other %none : (tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi1>, tensor<64x64xf16>) -> tensor<64x64xf16>
  %z = tile.load %qp mask %mask other %none : (tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi1>, tensor<64x64xf16>) -> tensor<64x64xf16>
  %zt = tile.trans %z, [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
  %rows = tile.reduce(%y) axis 1 : (tensor<64x64xf16>) -> tensor<64xf16> {
  ^bb0(%a: f16, %b: f16):
    %s = arith.maximumf %a, %b : f16
    tile.yield %s : f16
  }
  %all = tile.dot %y, %zt, %o : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %op = tile.addptr %os, %offsets : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %op, %all : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  %ss = tile.splat %sums : !tile.ptr<f16> -> tensor<64x!tile.ptr<f16>>
  %sp = tile.addptr %ss, %range : tensor<64x!tile.ptr<f16>>, tensor<64xi32>
  tile.store %sp, %rows : (tensor<64x!tile.ptr<f16>>, tensor<64xf16>) -> ()
  return
}
