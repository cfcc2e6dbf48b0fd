// Descriptors of blocks that products multiply, and of what they store, become arguments that the launcher makes.
// RUN: kiln-opt --pass-pipeline='builtin.module(func.func(kiln-use-tensor-maps))' %s | FileCheck %s

// Extents and strides that are arguments or constants; B is multiplied transposed; the map of what is stored is another one.
// CHECK-LABEL: func.func @product(
// CHECK-SAME: %[[MA:arg[0-9]+]]: !tile.descriptor<64x32xf16> {tile.tensor_map = #tile.tensor_map<base = 0, extentArguments = [3, -1], extents = [1, 96], strideArguments = [4], strideFactors = [-1], strides = [1]>}
// CHECK-SAME: %[[MB:arg[0-9]+]]: !tile.descriptor<64x32xf16> {tile.tensor_map = #tile.tensor_map<base = 1,
// CHECK-SAME: %[[MC:arg[0-9]+]]: !tile.descriptor<64x64xf32> {tile.tensor_map = #tile.tensor_map<base = 2,
// CHECK: tile.descriptor_load %[[MA]]
// CHECK: tile.descriptor_load %[[MB]]
// CHECK: tile.descriptor_store %[[MC]]
func.func @product(%a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %c: !tile.ptr<f32>, %m: i32 {tile.divisibility = 16 : i32}, %stride: i64, %at: i32 {tile.divisibility = 16 : i32}) {
  %o = arith.constant 0 : i64
  %k = arith.constant 96 : i64
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %rows = arith.extsi %m : i32 to i64
  %i = arith.extsi %at : i32 to i64
  %da = tile.make_descriptor %a, [%rows, %k], [%stride] : !tile.ptr<f16> -> !tile.descriptor<64x32xf16>
  %db = tile.make_descriptor %b, [%rows, %k], [%stride] : !tile.ptr<f16> -> !tile.descriptor<64x32xf16>
  %dc = tile.make_descriptor %c, [%rows, %rows], [%stride] : !tile.ptr<f32> -> !tile.descriptor<64x64xf32>
  %x = tile.descriptor_load %da[%i, %i] : !tile.descriptor<64x32xf16> -> tensor<64x32xf16>
  %y = tile.descriptor_load %db[%i, %i] : !tile.descriptor<64x32xf16> -> tensor<64x32xf16>
  %t = tile.trans %y, [1, 0] : tensor<64x32xf16> -> tensor<32x64xf16>
  %p = tile.dot %x, %t, %zero : (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
  tile.descriptor_store %dc[%o, %o], %p : !tile.descriptor<64x64xf32>, tensor<64x64xf32>
  return
}

// What goes to registers, and what the launcher cannot know, stays: a sum of blocks; a base that the kernel computes.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: tile.tensor_map
// CHECK: return
func.func @others(%a: !tile.ptr<f16>, %m: i32, %stride: i64, %at: i32 {tile.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %rows = arith.extsi %m : i32 to i64
  %i = arith.extsi %at : i32 to i64
  %moved = tile.addptr %a, %at : !tile.ptr<f16>, i32
  %d = tile.make_descriptor %a, [%rows, %rows], [%stride] : !tile.ptr<f16> -> !tile.descriptor<64x32xf16>
  %e = tile.make_descriptor %moved, [%rows, %rows], [%stride] : !tile.ptr<f16> -> !tile.descriptor<32x64xf16>
  %x = tile.descriptor_load %d[%i, %i] : !tile.descriptor<64x32xf16> -> tensor<64x32xf16>
  %s = arith.addf %x, %x : tensor<64x32xf16>
  %y = tile.descriptor_load %e[%i, %i] : !tile.descriptor<32x64xf16> -> tensor<32x64xf16>
  %p = tile.dot %s, %y, %zero : (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return
}

// Blocks of more axes, of which all but two have one element: what is multiplied has no such axes.
// CHECK-LABEL: func.func @heads(
// CHECK: %[[X:.*]] = tile.descriptor_load %{{.*}} : !tile.descriptor<1x64x1x32xf16> -> tensor<64x32xf16>
// CHECK-NOT: tile.reshape
// CHECK: %[[T:.*]] = tile.trans %[[X]], [1, 0]
// CHECK: tile.dot %{{.*}}, %[[T]]
func.func @heads(%a: !tile.ptr<f16>, %m: i32, %batch: i64, %row: i64, %at: i32) -> tensor<64x64xf32> {
  %k = arith.constant 32 : i64
  %one = arith.constant dense<1.0> : tensor<64x32xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %rows = arith.extsi %m : i32 to i64
  %i = arith.extsi %at : i32 to i64
  %d = tile.make_descriptor %a, [%rows, %rows, %rows, %k], [%batch, %row, %k] : !tile.ptr<f16> -> !tile.descriptor<1x64x1x32xf16>
  %x = tile.descriptor_load %d[%i, %i, %i, %i] : !tile.descriptor<1x64x1x32xf16> -> tensor<1x64x1x32xf16>
  %y = tile.reshape %x : tensor<1x64x1x32xf16> -> tensor<64x32xf16>
  %t = tile.trans %y, [1, 0] : tensor<64x32xf16> -> tensor<32x64xf16>
  %p = tile.dot %one, %t, %zero : (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %p : tensor<64x64xf32>
}

// Reductions that the engine has, of blocks of any rank; signed comparisons have a map of their own. Minima of f32, and blocks of
// less than 128 bytes, are left to threads.
// CHECK-LABEL: func.func @reductions(
// CHECK-SAME: %[[SUM:arg[0-9]+]]: !tile.descriptor<1024xf32> {tile.tensor_map = #tile.tensor_map<base = 0, extentArguments = [2], extents = [1], strideArguments = [], strideFactors = [], strides = []>}
// CHECK-SAME: %[[UNSIGNED:arg[0-9]+]]: !tile.descriptor<4x64xi32> {tile.tensor_map = #tile.tensor_map<base = 1,
// CHECK-SAME: %[[SIGNED:arg[0-9]+]]: !tile.descriptor<4x64xi32> {tile.tensor_map = #tile.tensor_map<base = 1,
// CHECK-NOT: tile.tensor_map
// CHECK: tile.descriptor_reduce <fadd> %[[SUM]][
// CHECK: tile.descriptor_reduce <fmin> %{{[0-9]+}}[
// CHECK: tile.descriptor_reduce <umax> %[[UNSIGNED]][
// CHECK: tile.descriptor_reduce <smax> %[[SIGNED]][
// CHECK: tile.descriptor_reduce <add> %[[UNSIGNED]][
// CHECK: tile.descriptor_reduce <add> %{{[0-9]+}}[
func.func @reductions(%a: !tile.ptr<f32>, %b: !tile.ptr<i32>, %n: i32 {tile.divisibility = 16 : i32}, %stride: i64, %x: tensor<1024xf32>, %y: tensor<4x64xi32>, %z: tensor<16xi32>) {
  %extent = arith.extsi %n : i32 to i64
  %i = arith.constant 64 : i64
  %d = tile.make_descriptor %a, [%extent], [] : !tile.ptr<f32> -> !tile.descriptor<1024xf32>
  %e = tile.make_descriptor %b, [%extent, %extent], [%stride] : !tile.ptr<i32> -> !tile.descriptor<4x64xi32>
  %f = tile.make_descriptor %b, [%extent], [] : !tile.ptr<i32> -> !tile.descriptor<16xi32>
  tile.descriptor_reduce <fadd> %d[%i], %x : !tile.descriptor<1024xf32>, tensor<1024xf32>
  tile.descriptor_reduce <fmin> %d[%i], %x : !tile.descriptor<1024xf32>, tensor<1024xf32>
  tile.descriptor_reduce <umax> %e[%i, %i], %y : !tile.descriptor<4x64xi32>, tensor<4x64xi32>
  tile.descriptor_reduce <smax> %e[%i, %i], %y : !tile.descriptor<4x64xi32>, tensor<4x64xi32>
  tile.descriptor_reduce <add> %e[%i, %i], %y : !tile.descriptor<4x64xi32>, tensor<4x64xi32>
  tile.descriptor_reduce <add> %f[%i], %z : !tile.descriptor<16xi32>, tensor<16xi32>
  return
}

// What is written begins within the tensor, and begins and ends with whole pieces of 16 bytes; else threads write it.
// CHECK-LABEL: func.func @anywhere(
// CHECK-NOT: tile.tensor_map
// CHECK: return
func.func @anywhere(%a: !tile.ptr<f32>, %n: i32, %m: i32 {tile.divisibility = 16 : i32}, %at: i32, %x: tensor<1024xf32>) {
  %o = arith.constant 0 : i64
  %two = arith.constant 2 : i64
  %any = arith.extsi %n : i32 to i64
  %whole = arith.extsi %m : i32 to i64
  %i = arith.extsi %at : i32 to i64
  %d = tile.make_descriptor %a, [%any], [] : !tile.ptr<f32> -> !tile.descriptor<1024xf32>
  %e = tile.make_descriptor %a, [%whole], [] : !tile.ptr<f32> -> !tile.descriptor<1024xf32>
  tile.descriptor_reduce <fadd> %d[%o], %x : !tile.descriptor<1024xf32>, tensor<1024xf32>
  tile.descriptor_reduce <fadd> %e[%i], %x : !tile.descriptor<1024xf32>, tensor<1024xf32>
  tile.descriptor_reduce <fadd> %e[%two], %x : !tile.descriptor<1024xf32>, tensor<1024xf32>
  return
}
