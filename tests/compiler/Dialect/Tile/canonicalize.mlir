// Folds and canonical forms.
// RUN: kiln-opt --canonicalize %s | FileCheck %s

// CHECK-LABEL: func.func @splat_of_constant
func.func @splat_of_constant() -> tensor<8x4xf32> {
  // CHECK: %[[C:.*]] = arith.constant dense<1.000000e+00> : tensor<8x4xf32>
  // CHECK-NEXT: return %[[C]]
  %c = arith.constant 1.0 : f32
  %s = tile.splat %c : f32 -> tensor<4xf32>
  %e = tile.expand_dims %s, 0 : tensor<4xf32> -> tensor<1x4xf32>
  %b = tile.broadcast %e : tensor<1x4xf32> -> tensor<8x4xf32>
  return %b : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @trans_of_trans
func.func @trans_of_trans(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  // CHECK-NEXT: return %arg0
  %a = tile.trans %x, [2, 0, 1] : tensor<2x4x8xf32> -> tensor<8x2x4xf32>
  %b = tile.trans %a, [1, 2, 0] : tensor<8x2x4xf32> -> tensor<2x4x8xf32>
  return %b : tensor<2x4x8xf32>
}

// CHECK-LABEL: func.func @reshape_of_reshape
func.func @reshape_of_reshape(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK-NEXT: return %arg0
  %a = tile.reshape %x : tensor<2x4xf32> -> tensor<8xf32>
  %b = tile.reshape %a : tensor<8xf32> -> tensor<2x4xf32>
  return %b : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @constant_masks
func.func @constant_masks(%p: tensor<8x!tile.ptr<f32>>, %o: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %true = arith.constant dense<true> : tensor<8xi1>
  %false = arith.constant dense<false> : tensor<8xi1>
  // CHECK: %[[X:.*]] = tile.load %arg0 : (tensor<8x!tile.ptr<f32>>) -> tensor<8xf32>
  %x = tile.load %p mask %true other %o : (tensor<8x!tile.ptr<f32>>, tensor<8xi1>, tensor<8xf32>) -> tensor<8xf32>
  %y = tile.load %p mask %false other %o : (tensor<8x!tile.ptr<f32>>, tensor<8xi1>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NOT: tile.store
  tile.store %p, %x mask %false : (tensor<8x!tile.ptr<f32>>, tensor<8xf32>, tensor<8xi1>) -> ()
  // CHECK: return %[[X]], %arg1
  return %x, %y : tensor<8xf32>, tensor<8xf32>
}

// An unused load goes away; a volatile one stays.
// CHECK-LABEL: func.func @unused_loads
func.func @unused_loads(%p: !tile.ptr<f32>) {
  // CHECK-NEXT: tile.load %arg0 {is_volatile}
  // CHECK-NEXT: return
  %x = tile.load %p : (!tile.ptr<f32>) -> f32
  %y = tile.load %p {is_volatile} : (!tile.ptr<f32>) -> f32
  return
}

// CHECK-LABEL: func.func @zero_offset
func.func @zero_offset(%p: !tile.ptr<f32>) -> !tile.ptr<f32> {
  // CHECK-NEXT: return %arg0
  %zero = arith.constant 0 : i32
  %q = tile.addptr %p, %zero : !tile.ptr<f32>, i32
  return %q : !tile.ptr<f32>
}

// Constants become what the conversion makes of them at run time; arith.truncf would give infinity and other NaNs.
// CHECK-LABEL: func.func @narrow_constants
func.func @narrow_constants() -> (f8E5M2, f8E5M2, f8E5M2, f8E4M3FN, f8E4M3FNUZ, tensor<4xf8E5M2FNUZ>) {
  %nan = arith.constant 0x7FC00000 : f32
  %minusNan = arith.constant 0xFF800001 : f32
  %minusInfinity = arith.constant 0xFC00 : f16
  %large = arith.constant 1.0e+30 : f32
  %tiny = arith.constant dense<-1.0e-20> : tensor<4xf32>
  // CHECK-DAG: %[[A:.*]] = arith.constant 0x7F : f8E5M2
  // CHECK-DAG: %[[B:.*]] = arith.constant 0xFF : f8E5M2
  // CHECK-DAG: %[[C:.*]] = arith.constant -5.734400e+04 : f8E5M2
  // CHECK-DAG: %[[D:.*]] = arith.constant 4.480000e+02 : f8E4M3FN
  // CHECK-DAG: %[[E:.*]] = arith.constant 0x80 : f8E4M3FNUZ
  // CHECK-DAG: %[[F:.*]] = arith.constant dense<0.000000e+00> : tensor<4xf8E5M2FNUZ>
  // CHECK: return %[[A]], %[[B]], %[[C]], %[[D]], %[[E]], %[[F]]
  %a = tile.narrow %nan : f32 to f8E5M2
  %b = tile.narrow %minusNan : f32 to f8E5M2
  %c = tile.narrow %minusInfinity : f16 to f8E5M2
  %d = tile.narrow %large : f32 to f8E4M3FN
  %e = tile.narrow %minusNan : f32 to f8E4M3FNUZ
  %f = tile.narrow %tiny : tensor<4xf32> to tensor<4xf8E5M2FNUZ>
  return %a, %b, %c, %d, %e, %f : f8E5M2, f8E5M2, f8E5M2, f8E4M3FN, f8E4M3FNUZ, tensor<4xf8E5M2FNUZ>
}

// CHECK-LABEL: func.func @descriptor_parts
// CHECK-SAME: (%[[P:.*]]: !tile.ptr<f16>, %[[M:.*]]: i64, %[[N:.*]]: i64, %[[D:.*]]: !tile.descriptor<16x32xf16>)
func.func @descriptor_parts(%p: !tile.ptr<f16>, %m: i64, %n: i64, %d: !tile.descriptor<16x32xf16>) -> (i64, i64, i64, i64) {
  // CHECK: %[[ONE:.*]] = arith.constant 1 : i64
  %made = tile.make_descriptor %p, [%m, %n], [%n] : !tile.ptr<f16> -> !tile.descriptor<16x32xf16>
  %extent = tile.descriptor_extent %made, 0 : !tile.descriptor<16x32xf16>
  %stride = tile.descriptor_stride %made, 0 : !tile.descriptor<16x32xf16>
  %last = tile.descriptor_stride %d, 1 : !tile.descriptor<16x32xf16>
  // CHECK: %[[E:.*]] = tile.descriptor_extent %[[D]], 1
  %other = tile.descriptor_extent %d, 1 : !tile.descriptor<16x32xf16>
  // CHECK: return %[[M]], %[[N]], %[[ONE]], %[[E]]
  return %extent, %stride, %last, %other : i64, i64, i64, i64
}

// CHECK-LABEL: func.func @maximum_that_keeps_nan
// CHECK: %[[M:.*]] = arith.maximumf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: tile.yield %[[M]]
// CHECK: %[[L:.*]] = arith.minimumf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: tile.yield %[[L]]
func.func @maximum_that_keeps_nan(%x: tensor<8xf32>) -> (f32, f32) {
  %m = tile.reduce(%x) axis 0 : (tensor<8xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %larger = arith.cmpf ogt, %a, %b : f32
    %nan = arith.cmpf une, %a, %a : f32
    %first = arith.ori %larger, %nan : i1
    %r = arith.select %first, %a, %b : f32
    tile.yield %r : f32
  }
  %l = tile.reduce(%x) axis 0 : (tensor<8xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %smaller = arith.cmpf olt, %a, %b : f32
    %nan = arith.cmpf uno, %a, %a : f32
    %first = arith.ori %nan, %smaller : i1
    %r = arith.select %first, %a, %b : f32
    tile.yield %r : f32
  }
  return %m, %l : f32, f32
}

// Where the other operand is NaN it is the result of neither of these.
// CHECK-LABEL: func.func @maximum_by_comparison
// CHECK: arith.cmpf ogt
// CHECK: arith.cmpf une
func.func @maximum_by_comparison(%x: tensor<8xf32>) -> (f32, f32) {
  %m = tile.reduce(%x) axis 0 : (tensor<8xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %larger = arith.cmpf ogt, %a, %b : f32
    %r = arith.select %larger, %a, %b : f32
    tile.yield %r : f32
  }
  %l = tile.reduce(%x) axis 0 : (tensor<8xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %larger = arith.cmpf ogt, %a, %b : f32
    %nan = arith.cmpf une, %b, %b : f32
    %first = arith.ori %larger, %nan : i1
    %r = arith.select %first, %a, %b : f32
    tile.yield %r : f32
  }
  return %m, %l : f32, f32
}

// CHECK-LABEL: func.func @constant_powers
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: f64)
func.func @constant_powers(%x: tensor<4xf32>, %y: f64) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, f64, f64, tensor<4xf32>) {
  // CHECK-DAG: %[[LEAST:.*]] = arith.constant dense<0xFF800000> : tensor<4xf32>
  // CHECK-DAG: %[[INF:.*]] = arith.constant dense<0x7F800000> : tensor<4xf32>
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<4xf32>
  // CHECK-DAG: %[[FIVE:.*]] = arith.constant dense<5.000000e+00> : tensor<4xf32>
  %two = arith.constant 2.0 : f32
  %twos = tile.splat %two : f32 -> tensor<4xf32>
  // CHECK: %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]] : tensor<4xf32>
  %a = math.powf %x, %twos : tensor<4xf32>
  // CHECK: %[[IS:.*]] = arith.cmpf oeq, %[[X]], %[[LEAST]]
  // CHECK: %[[UNSIGNED:.*]] = arith.addf %[[X]], %[[ZERO]]
  // CHECK: %[[SQRT:.*]] = math.sqrt %[[UNSIGNED]]
  // CHECK: %[[ROOT:.*]] = arith.select %[[IS]], %[[INF]], %[[SQRT]]
  %half = arith.constant dense<0.5> : tensor<4xf32>
  %b = math.powf %x, %half : tensor<4xf32>
  // CHECK: %[[FIFTH:.*]] = math.powf %[[X]], %[[FIVE]]
  %five = arith.constant dense<5.0> : tensor<4xf32>
  %c = math.powf %x, %five : tensor<4xf32>
  // CHECK: %[[YY:.*]] = arith.mulf %[[Y]], %[[Y]] : f64
  // CHECK: %[[CUBE:.*]] = arith.mulf %[[YY]], %[[Y]] : f64
  %three = arith.constant 3 : i32
  %d = math.fpowi %y, %three : f64, i32
  %one = arith.constant 1.0 : f64
  %e = math.powf %y, %one : f64
  // An approximation stays.
  // CHECK: %[[FAST:.*]] = math.powf %[[X]], %{{.*}} fastmath<afn>
  %f = math.powf %x, %twos fastmath<afn> : tensor<4xf32>
  // CHECK: return %[[SQUARE]], %[[ROOT]], %[[FIFTH]], %[[CUBE]], %[[Y]], %[[FAST]]
  return %a, %b, %c, %d, %e, %f : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, f64, f64, tensor<4xf32>
}

// What has no effect and no user is gone.
// CHECK-LABEL: func.func @unused_assembly
func.func @unused_assembly() {
  // CHECK-NEXT: tile.assembly "s_nop 0" "=s"() : () -> i32
  // CHECK-NEXT: return
  %0 = tile.assembly "s_nop 0" "=s"() : () -> i32
  %1 = tile.assembly "s_mov_b32 $0, 1" "=s"() pure : () -> i32
  func.return
}
