// Every pass that asks where a described block is refuses one that no tensor map serves.
// RUN: for pass in kiln-stage-operands kiln-version-loops kiln-specialise-warps kiln-pipeline-loops kiln-prefetch-loads kiln-copy-blocks kiln-insert-barriers; do not kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=cuda:sm_90a},func.func($pass))" %s 2>&1 | FileCheck %s || exit 1; done

// CHECK: unserved-descriptors.mlir:[[@LINE+6]]:{{[0-9]+}}: error: expected a descriptor that a tensor map serves, got another; kiln-expand-descriptors makes pointers and masks of it
func.func @product(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %c: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %rows: i64, %stride: i64, %n: i32) attributes {tile.num_warps = 4 : i32, tile.num_stages = 3 : i32} {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : i32
  %o = arith.constant 0 : i64
  %e = tile.make_descriptor %c, [%rows, %rows], [%stride] : !tile.ptr<f32> -> !tile.descriptor<64x64xf32>
  tile.descriptor_store %e[%o, %o], %zero : !tile.descriptor<64x64xf32>, tensor<64x64xf32>
  return
}
