// Numbers are set to zero in place of the sums of which they are part, where the rest is zero outside the mask.
// RUN: kiln-opt %s --pass-pipeline="builtin.module(func.func(kiln-mask-scalars))" | FileCheck %s

// CHECK-LABEL: func.func @centred
// CHECK-SAME: %[[MASK:[a-z0-9]+]]: tensor<256xi1>
// CHECK: %[[X:.*]] = arith.extf
// CHECK: %[[MEANS:.*]] = tile.splat
// CHECK: %[[INSIDE:.*]] = arith.select %[[MASK]], %[[MEANS]], %
// CHECK: %[[CENTRED:.*]] = arith.subf %[[X]], %[[INSIDE]]
// CHECK-NOT: arith.select
// CHECK: return %[[CENTRED]]
func.func @centred(%at: tensor<256x!tile.ptr<f16>>, %mask: tensor<256xi1>, %mean: f32) -> tensor<256xf32> {
  %none = arith.constant dense<0.0> : tensor<256xf16>
  %zero = arith.constant dense<0.0> : tensor<256xf32>
  %loaded = tile.load %at mask %mask other %none : (tensor<256x!tile.ptr<f16>>, tensor<256xi1>, tensor<256xf16>) -> tensor<256xf16>
  %x = arith.extf %loaded : tensor<256xf16> to tensor<256xf32>
  %means = tile.splat %mean : f32 -> tensor<256xf32>
  %d = arith.subf %x, %means : tensor<256xf32>
  %c = arith.select %mask, %d, %zero : tensor<256xi1>, tensor<256xf32>
  return %c : tensor<256xf32>
}

// Of another mask, of what is unspecified outside, and where the sum is wanted outside as well.
// CHECK-LABEL: func.func @others
// CHECK: %[[A:.*]] = arith.subf
// CHECK: arith.select %{{.*}}, %[[A]],
// CHECK: %[[B:.*]] = arith.subf
// CHECK: arith.select %{{.*}}, %[[B]],
// CHECK: %[[D:.*]] = arith.addf
// CHECK: arith.select %{{.*}}, %[[D]],
// CHECK: return
func.func @others(%at: tensor<256x!tile.ptr<f32>>, %mask: tensor<256xi1>, %other: tensor<256xi1>, %mean: f32) -> (tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>) {
  %zero = arith.constant dense<0.0> : tensor<256xf32>
  %x = tile.load %at mask %mask other %zero : (tensor<256x!tile.ptr<f32>>, tensor<256xi1>, tensor<256xf32>) -> tensor<256xf32>
  %y = tile.load %at mask %mask : (tensor<256x!tile.ptr<f32>>, tensor<256xi1>) -> tensor<256xf32>
  %means = tile.splat %mean : f32 -> tensor<256xf32>
  %a = arith.subf %x, %means : tensor<256xf32>
  %ofOther = arith.select %other, %a, %zero : tensor<256xi1>, tensor<256xf32>
  %b = arith.subf %y, %means : tensor<256xf32>
  %ofAny = arith.select %mask, %b, %zero : tensor<256xi1>, tensor<256xf32>
  %d = arith.addf %means, %x : tensor<256xf32>
  %twice = arith.select %mask, %d, %zero : tensor<256xi1>, tensor<256xf32>
  return %ofOther, %ofAny, %d, %twice : tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>
}
