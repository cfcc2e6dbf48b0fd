// What has no padded form.
// RUN: kiln-opt %s --kiln-pad-shapes --verify-diagnostics

func.func @constant() -> tensor<3xi32> {
  // expected-error @+1 {{is not supported on tensors whose extents are not powers of two; use the next power of two and a mask}}
  %c = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  return %c : tensor<3xi32>
}
