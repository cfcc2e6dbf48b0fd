// Products of which parts, and with which slices of what is loaded.
// RUN: kiln-opt %s --kiln-split-dots=shared-bytes=8192 | FileCheck %s
// RUN: kiln-opt %s "--kiln-split-dots=shared-bytes=8192 least-float-bits=16" | FileCheck %s --check-prefix=WIDE

// 16 KiB of operands: two parts. The second one is loaded in front of its product.
// CHECK-LABEL: @computed
// CHECK: %[[SECOND:.*]] = arith.constant dense<32> : tensor<32xi32>
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (tensor<64x64xf32>)
// CHECK: tile.load {{.*}} mask %{{.*}} : (tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi1>) -> tensor<64x32xf16>
// CHECK: tile.load {{.*}} -> tensor<64x32xf16>
// CHECK: %[[B:.*]] = tile.trans %{{.*}}, [1, 0] : tensor<64x32xf16> -> tensor<32x64xf16>
// CHECK: %[[FIRST:.*]] = tile.dot %{{.*}}, %[[B]], %[[SUM]] : (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>)
// CHECK: tile.load {{.*}} mask
// CHECK: tile.load
// CHECK: tile.trans
// CHECK: %[[NEXT:.*]] = tile.dot %{{.*}}, %{{.*}}, %[[FIRST]]
// CHECK-NOT: tile.load
// CHECK: scf.yield %[[NEXT]]
func.func @computed(%a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %n: i32) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : i32
  %step = arith.constant 64 : i32
  %none = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %pitch = arith.constant dense<1024> : tensor<64x1xi32>
  %range = tile.arange 0, 64 : tensor<64xi32>
  %row = tile.expand_dims %range, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %place = arith.muli %row, %pitch : tensor<64x1xi32>
  %rows = tile.broadcast %place : tensor<64x1xi32> -> tensor<64x64xi32>
  %ends = tile.splat %n : i32 -> tensor<64x64xi32>
  %as = tile.splat %a : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %bs = tile.splat %b : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %sum = scf.for %i = %zero to %n step %step iter_args(%so_far = %none) -> (tensor<64x64xf32>) : i32 {
    %start = tile.splat %i : i32 -> tensor<64xi32>
    %k = arith.addi %start, %range : tensor<64xi32>
    %column = tile.expand_dims %k, 0 : tensor<64xi32> -> tensor<1x64xi32>
    %columns = tile.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
    %at = arith.addi %rows, %columns : tensor<64x64xi32>
    %is = arith.cmpi slt, %columns, %ends : tensor<64x64xi32>
    %pa = tile.addptr %as, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %pb = tile.addptr %bs, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %x = tile.load %pa mask %is : (tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi1>) -> tensor<64x64xf16>
    %y = tile.load %pb : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %t = tile.trans %y, [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %next = tile.dot %x, %t, %so_far : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  func.return %sum : tensor<64x64xf32>
}

// Pointers that a loop moves it moves for each part, and not for the whole. Of 8 bits they fit, but
// not where they are widened to 16.
// CHECK-LABEL: @carried
// CHECK: tile.load {{.*}} -> tensor<64x64xf8E4M3FN>
// WIDE-LABEL: @carried
// WIDE: scf.for {{.*}} iter_args(%{{.*}}, %[[A0:.*]] = %{{.*}}, %[[B0:.*]] = %{{.*}}, %[[A1:.*]] = %{{.*}}, %[[B1:.*]] = %{{.*}}) -> (tensor<64x64xf32>, tensor<64x32x!tile.ptr<f8E4M3FN>>, tensor<32x64x!tile.ptr<f8E4M3FN>>, tensor<64x32x!tile.ptr<f8E4M3FN>>, tensor<32x64x!tile.ptr<f8E4M3FN>>)
// WIDE: tile.load %[[A0]]
// WIDE: tile.load %[[B0]]
// WIDE: tile.dot
// WIDE: tile.load %[[A1]]
// WIDE: tile.load %[[B1]]
// WIDE: tile.dot
// WIDE: tile.addptr %[[A0]]
// WIDE: tile.addptr %[[B0]]
// WIDE: tile.addptr %[[A1]]
// WIDE: tile.addptr %[[B1]]
func.func @carried(%a: !tile.ptr<f8E4M3FN>, %b: !tile.ptr<f8E4M3FN>, %n: i32) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : i32
  %step = arith.constant 64 : i32
  %none = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %pitch = arith.constant dense<1024> : tensor<64x1xi32>
  %move = arith.constant dense<64> : tensor<64x64xi32>
  %range = tile.arange 0, 64 : tensor<64xi32>
  %row = tile.expand_dims %range, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %column = tile.expand_dims %range, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %place = arith.muli %row, %pitch : tensor<64x1xi32>
  %rows = tile.broadcast %place : tensor<64x1xi32> -> tensor<64x64xi32>
  %columns = tile.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %rows, %columns : tensor<64x64xi32>
  %as = tile.splat %a : !tile.ptr<f8E4M3FN> -> tensor<64x64x!tile.ptr<f8E4M3FN>>
  %bs = tile.splat %b : !tile.ptr<f8E4M3FN> -> tensor<64x64x!tile.ptr<f8E4M3FN>>
  %pa = tile.addptr %as, %at : tensor<64x64x!tile.ptr<f8E4M3FN>>, tensor<64x64xi32>
  %pb = tile.addptr %bs, %at : tensor<64x64x!tile.ptr<f8E4M3FN>>, tensor<64x64xi32>
  %sum:3 = scf.for %i = %zero to %n step %step iter_args(%so_far = %none, %ia = %pa, %ib = %pb) -> (tensor<64x64xf32>, tensor<64x64x!tile.ptr<f8E4M3FN>>, tensor<64x64x!tile.ptr<f8E4M3FN>>) : i32 {
    %x = tile.load %ia : (tensor<64x64x!tile.ptr<f8E4M3FN>>) -> tensor<64x64xf8E4M3FN>
    %y = tile.load %ib : (tensor<64x64x!tile.ptr<f8E4M3FN>>) -> tensor<64x64xf8E4M3FN>
    %next = tile.dot %x, %y, %so_far : (tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %na = tile.addptr %ia, %move : tensor<64x64x!tile.ptr<f8E4M3FN>>, tensor<64x64xi32>
    %nb = tile.addptr %ib, %move : tensor<64x64x!tile.ptr<f8E4M3FN>>, tensor<64x64xi32>
    scf.yield %next, %na, %nb : tensor<64x64xf32>, tensor<64x64x!tile.ptr<f8E4M3FN>>, tensor<64x64x!tile.ptr<f8E4M3FN>>
  }
  func.return %sum#0 : tensor<64x64xf32>
}

// What is stored between may be what is loaded, which then stays in front of it.
// CHECK-LABEL: @stores
// CHECK-COUNT-4: tile.load
// CHECK: tile.store
// CHECK: tile.dot
// CHECK-NOT: tile.load
// CHECK: tile.dot
func.func @stores(%a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %range = tile.arange 0, 64 : tensor<64xi32>
  %zero = arith.constant 0.000000e+00 : f16
  %column = tile.expand_dims %range, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %columns = tile.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
  %ps = tile.splat %b : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %p = tile.addptr %ps, %columns : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %qs = tile.splat %a : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %q = tile.addptr %qs, %columns : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %x = tile.load %q : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  %y = tile.load %p : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  %t = tile.trans %y, [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
  tile.store %b, %zero : (!tile.ptr<f16>, f16) -> ()
  %sum = tile.dot %x, %t, %c : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %sum : tensor<64x64xf32>
}

// Nothing is loaded twice: what something else wants, too, stays whole.
// CHECK-LABEL: @shared
// CHECK-COUNT-2: tile.load
// CHECK-NOT: tile.load
// CHECK: tile.dot {{.*}} : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>)
func.func @shared(%b: !tile.ptr<f16>, %c: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf16>) {
  %range = tile.arange 0, 64 : tensor<64xi32>
  %column = tile.expand_dims %range, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %columns = tile.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
  %ps = tile.splat %b : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %p = tile.addptr %ps, %columns : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %x = tile.load %p : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  %y = tile.load %p : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  %sum = tile.dot %x, %y, %c : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %sum, %y : tensor<64x64xf32>, tensor<64x64xf16>
}

// A product's result is not loaded, and stays whole.
// CHECK-LABEL: @chained
// CHECK: tile.dot {{.*}} : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>)
func.func @chained(%x: tensor<64x64xf16>, %b: !tile.ptr<f16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %range = tile.arange 0, 64 : tensor<64xi32>
  %column = tile.expand_dims %range, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %columns = tile.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
  %ps = tile.splat %b : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %p = tile.addptr %ps, %columns : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %y = tile.load %p : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  %sum = tile.dot %x, %y, %c : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %sum : tensor<64x64xf32>
}
