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
