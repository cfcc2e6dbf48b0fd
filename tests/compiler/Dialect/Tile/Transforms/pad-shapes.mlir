// Padding of each operation that would let padding be seen, and of those that need nothing.
// RUN: kiln-opt %s --kiln-pad-shapes | FileCheck %s

// CHECK-LABEL: @masks
// CHECK: %[[R:.*]] = tile.arange 0, 64
// CHECK: %[[N:.*]] = arith.constant dense<48>
// CHECK: %[[IN:.*]] = arith.cmpi ult, %[[R]], %[[N]] : tensor<64xi32>
// A mask is made where there is none, and its padding is false where there is one.
// CHECK: tile.arange 0, 64
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
// CHECK: tile.load %{{.*}} mask %[[IN]] other %[[ZERO]]
// CHECK: %[[USER:.*]] = arith.cmpi slt
// CHECK: %[[NONE:.*]] = arith.constant dense<false> : tensor<64xi1>
// CHECK: %[[BOTH:.*]] = arith.select %[[IN]], %[[USER]], %[[NONE]]
// CHECK: tile.store %{{.*}} mask %[[BOTH]]
// CHECK: tile.atomic_rmw <add> {{.*}} mask %[[IN]]
// CHECK: tile.atomic_cas {{.*}} mask %[[IN]]
func.func @masks(%p: !tile.ptr<f32>, %q: !tile.ptr<i32>, %n: i32) attributes {tile.kernel} {
  %i = tile.arange 0, 48 : tensor<48xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<48x!tile.ptr<f32>>
  %at = tile.addptr %ps, %i : tensor<48x!tile.ptr<f32>>, tensor<48xi32>
  %x = tile.load %at : (tensor<48x!tile.ptr<f32>>) -> tensor<48xf32>
  %ns = tile.splat %n : i32 -> tensor<48xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<48xi32>
  tile.store %at, %x mask %m : (tensor<48x!tile.ptr<f32>>, tensor<48xf32>, tensor<48xi1>) -> ()
  %qs = tile.splat %q : !tile.ptr<i32> -> tensor<48x!tile.ptr<i32>>
  %old = tile.atomic_rmw <add> %qs, %i : (tensor<48x!tile.ptr<i32>>, tensor<48xi32>) -> tensor<48xi32>
  %new = tile.atomic_cas %qs, %i, %old : (tensor<48x!tile.ptr<i32>>, tensor<48xi32>, tensor<48xi32>) -> tensor<48xi32>
  func.return
}

// Both axes: one mask of the whole shape.
// CHECK-LABEL: @tile
// CHECK: %[[M:.*]] = tile.broadcast %{{.*}} : tensor<8x1xi1> -> tensor<8x128xi1>
// CHECK: %[[N:.*]] = tile.broadcast %{{.*}} : tensor<1x128xi1> -> tensor<8x128xi1>
// CHECK: %[[IN:.*]] = arith.andi %[[M]], %[[N]]
// CHECK: tile.store %{{.*}} mask %[[IN]]
func.func @tile(%p: tensor<5x100x!tile.ptr<i8>>, %v: tensor<5x100xi8>) {
  tile.store %p, %v : (tensor<5x100x!tile.ptr<i8>>, tensor<5x100xi8>) -> ()
  func.return
}

// CHECK-LABEL: @sum
// CHECK: %[[NEUTRAL:.*]] = arith.constant dense<-0.000000e+00> : tensor<64x4xf32>
// CHECK: %[[X:.*]] = arith.select %{{.*}}, %arg0, %[[NEUTRAL]]
// CHECK: tile.reduce(%[[X]]) axis 0 : (tensor<64x4xf32>) -> tensor<4xf32>
// Along the other axis padding only meets padding.
// CHECK: tile.reduce(%arg0) axis 1 : (tensor<64x4xf32>) -> tensor<64xf32>
func.func @sum(%x: tensor<48x4xf32>) -> (tensor<4xf32>, tensor<48xf32>) {
  %a = tile.reduce(%x) axis 0 : (tensor<48x4xf32>) -> tensor<4xf32> {
  ^bb0(%l: f32, %r: f32):
    %s = arith.addf %l, %r : f32
    tile.yield %s : f32
  }
  %b = tile.reduce(%x) axis 1 : (tensor<48x4xf32>) -> tensor<48xf32> {
  ^bb0(%l: f32, %r: f32):
    %s = arith.addf %l, %r : f32
    tile.yield %s : f32
  }
  func.return %a, %b : tensor<4xf32>, tensor<48xf32>
}

// CHECK-LABEL: @any_combiner
// CHECK: tile.reduce(%arg0, %{{.*}}) axis 0 : (tensor<4xf32>, tensor<4xi1>) -> (f32, i1)
// CHECK: ^bb0(%[[L:.*]]: f32, %[[LV:.*]]: i1, %[[R:.*]]: f32, %[[RV:.*]]: i1):
// CHECK: %[[C:.*]] = arith.subf %[[L]], %[[R]]
// CHECK: %[[Y:.*]] = arith.select %[[RV]], %[[C]], %[[L]]
// CHECK: tile.yield %[[Y]], %[[LV]]
// A scan forwards meets padding last, one in reverse first.
// CHECK: tile.scan(%arg0) axis 0 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: tile.scan(%arg0, %{{.*}}) axis 0 reverse
// CHECK: ^bb0(%[[L:.*]]: f32, %[[LV:.*]]: i1, %[[R:.*]]: f32, %[[RV:.*]]: i1):
// CHECK: %[[C:.*]] = arith.subf %[[L]], %[[R]]
// CHECK: %[[Y:.*]] = arith.select %[[LV]], %[[C]], %[[R]]
// CHECK: tile.yield %[[Y]], %[[RV]]
func.func @any_combiner(%x: tensor<3xf32>) -> (f32, tensor<3xf32>, tensor<3xf32>) {
  %a = tile.reduce(%x) axis 0 : (tensor<3xf32>) -> f32 {
  ^bb0(%l: f32, %r: f32):
    %s = arith.subf %l, %r : f32
    tile.yield %s : f32
  }
  %b = tile.scan(%x) axis 0 : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%l: f32, %r: f32):
    %s = arith.subf %l, %r : f32
    tile.yield %s : f32
  }
  %c = tile.scan(%x) axis 0 reverse : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%l: f32, %r: f32):
    %s = arith.subf %l, %r : f32
    tile.yield %s : f32
  }
  func.return %a, %b, %c : f32, tensor<3xf32>, tensor<3xf32>
}

// The index that goes with the elements says which are padding.
// CHECK-LABEL: @last_index
// CHECK: tile.reduce(%arg0, %{{.*}}) axis 0 : (tensor<4xf32>, tensor<4xi32>) -> (f32, i32)
// CHECK: ^bb0(%[[L:.*]]: f32, %[[LI:.*]]: i32, %[[R:.*]]: f32, %[[RI:.*]]: i32):
// CHECK: %[[V:.*]] = arith.select
// CHECK: %[[I:.*]] = arith.select
// CHECK: %[[N:.*]] = arith.constant 3 : i32
// CHECK: %[[IN:.*]] = arith.cmpi ult, %[[RI]], %[[N]]
// CHECK: %[[VY:.*]] = arith.select %[[IN]], %[[V]], %[[L]]
// CHECK: %[[IY:.*]] = arith.select %[[IN]], %[[I]], %[[LI]]
// CHECK: tile.yield %[[VY]], %[[IY]]
func.func @last_index(%x: tensor<3xf32>) -> i32 {
  %i = tile.arange 0, 3 : tensor<3xi32>
  %v, %k = tile.reduce(%x, %i) axis 0 : (tensor<3xf32>, tensor<3xi32>) -> (f32, i32) {
  ^bb0(%l: f32, %li: i32, %r: f32, %ri: i32):
    %c = arith.cmpf ogt, %l, %r : f32
    %a = arith.select %c, %l, %r : f32
    %b = arith.select %c, %li, %ri : i32
    tile.yield %a, %b : f32, i32
  }
  func.return %k : i32
}

// K is zero in both operands: by a select, or by the `other` of the load that the operand is.
// CHECK-LABEL: @dot
// CHECK: %[[A:.*]] = tile.load {{.*}} mask
// CHECK: %[[AT:.*]] = tile.trans %[[A]], [1, 0] : tensor<64x32xf16> -> tensor<32x64xf16>
// CHECK: %[[B:.*]] = arith.select %{{.*}}, %arg1, %{{.*}} : tensor<64x128xi1>, tensor<64x128xf16>
// CHECK: tile.dot %[[AT]], %[[B]], %arg2 : (tensor<32x64xf16>, tensor<64x128xf16>, tensor<32x128xf32>)
func.func @dot(%p: tensor<40x24x!tile.ptr<f16>>, %b: tensor<40x96xf16>, %c: tensor<24x96xf32>) -> tensor<24x96xf32> {
  %a = tile.load %p : (tensor<40x24x!tile.ptr<f16>>) -> tensor<40x24xf16>
  %t = tile.trans %a, [1, 0] : tensor<40x24xf16> -> tensor<24x40xf16>
  %d = tile.dot %t, %b, %c : (tensor<24x40xf16>, tensor<40x96xf16>, tensor<24x96xf32>) -> tensor<24x96xf32>
  func.return %d : tensor<24x96xf32>
}

// Padding is not counted.
// CHECK-LABEL: @histogram
// CHECK: tile.histogram %{{.*}}, %{{.*}} : (tensor<32xi32>, tensor<32xi1>) -> tensor<16xi32>
func.func @histogram(%x: tensor<24xi32>) -> tensor<12xi32> {
  %y = tile.histogram %x : (tensor<24xi32>) -> tensor<12xi32>
  func.return %y : tensor<12xi32>
}

// Only the outermost axis of what is merged grows: nothing moves. An inner one: a gather.
// CHECK-LABEL: @reshape
// CHECK: tile.reshape %arg0 : tensor<8x4x8xf32> -> tensor<32x8xf32>
// CHECK: %[[FLAT:.*]] = tile.reshape %arg1 : tensor<4x8xf32> -> tensor<32xf32>
// CHECK: tile.gather %[[FLAT]], %{{.*}} axis 0 : (tensor<32xf32>, tensor<32xi32>) -> tensor<32xf32>
func.func @reshape(%x: tensor<6x4x5xf32>, %y: tensor<4x6xf32>) -> (tensor<24x5xf32>, tensor<24xf32>) {
  %a = tile.reshape %x : tensor<6x4x5xf32> -> tensor<24x5xf32>
  %b = tile.reshape %y : tensor<4x6xf32> -> tensor<24xf32>
  func.return %a, %b : tensor<24x5xf32>, tensor<24xf32>
}

// CHECK-LABEL: @division
// CHECK: %[[D:.*]] = arith.select %{{.*}}, %arg1, %{{.*}} : tensor<4xi1>, tensor<4xi32>
// CHECK: arith.divsi %arg0, %[[D]]
func.func @division(%x: tensor<3xi32>, %y: tensor<3xi32>) -> tensor<3xi32> {
  %q = arith.divsi %x, %y : tensor<3xi32>
  func.return %q : tensor<3xi32>
}

// CHECK-LABEL: @control_flow
// CHECK: scf.for {{.*}} -> (tensor<4xf32>)
// CHECK: scf.if %{{.*}} -> (tensor<4xf32>)
// CHECK: arith.constant dense<1.000000e+00> : tensor<4xf32>
func.func @control_flow(%x: tensor<3xf32>, %c: i1, %n: index) -> tensor<3xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> (tensor<3xf32>) {
    %s = scf.if %c -> (tensor<3xf32>) {
      %k = arith.constant dense<1.0> : tensor<3xf32>
      scf.yield %k : tensor<3xf32>
    } else {
      scf.yield %a : tensor<3xf32>
    }
    scf.yield %s : tensor<3xf32>
  }
  func.return %r : tensor<3xf32>
}

// Padding is not printed, fails no assertion and is not mapped.
// CHECK-LABEL: @messages
// CHECK: tile.print " x: %f"(%arg0) : tensor<4xf32> {tile.printed_shape = array<i64: 3>}
// CHECK: %[[C:.*]] = arith.select %[[IN:.*]], %arg1, %{{.*}} : tensor<4xi1>, tensor<4xi1>
// CHECK: tile.assert %[[C]]
// CHECK: tile.map(%arg0, %[[IN]]) : (tensor<4xf32>, tensor<4xi1>) -> tensor<4xf32>
// CHECK: ^bb0(%[[E:.*]]: f32, %[[ELEMENT:.*]]: i1):
// CHECK: %[[Y:.*]] = scf.if %[[ELEMENT]] -> (f32)
// CHECK: arith.addf %[[E]], %[[E]]
// CHECK: tile.yield %[[Y]]
func.func @messages(%x: tensor<3xf32>, %c: tensor<3xi1>) -> tensor<3xf32> {
  tile.print " x: %f"(%x) : tensor<3xf32>
  tile.assert %c, "c" : tensor<3xi1>
  %y = tile.map(%x) : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%e: f32):
    %s = arith.addf %e, %e : f32
    tile.yield %s : f32
  }
  func.return %y : tensor<3xf32>
}

// Powers of two stay as they are.
// CHECK-LABEL: @untouched
// CHECK-NEXT: %[[L:.*]] = tile.load %arg0 : (tensor<64x!tile.ptr<f32>>) -> tensor<64xf32>
// CHECK-NEXT: tile.store %arg0, %[[L]] : (tensor<64x!tile.ptr<f32>>, tensor<64xf32>) -> ()
// CHECK-NEXT: return
func.func @untouched(%p: tensor<64x!tile.ptr<f32>>) {
  %x = tile.load %p : (tensor<64x!tile.ptr<f32>>) -> tensor<64xf32>
  tile.store %p, %x : (tensor<64x!tile.ptr<f32>>, tensor<64xf32>) -> ()
  func.return
}
