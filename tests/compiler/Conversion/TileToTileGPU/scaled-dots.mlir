// Products of numbers with scales, which gfx950 has instructions for: each operand keeps its format.
// RUN: kiln-opt --kiln-tile-to-tilegpu=target=hip:gfx950 --canonicalize %s | FileCheck %s

// Bytes, and pairs of 4 bits; the unit computes the transposed product.
// CHECK-LABEL: func.func @ofTwoWidths
// CHECK: tilegpu.dot {{.*}} unit <"mfma.scale.32x32x64.f4.f8.f32"{{.*}}{{.*}}(tensor<64x128xf8E5M2,{{.*}}tensor<64x64xi8,
// CHECK: tilegpu.dot {{.*}} unit <"mfma.scale.32x32x64.f8.f4.f32"{{.*}}{{.*}}(tensor<64x64xi8,{{.*}}tensor<128x64xf8E5M2,
func.func @ofTwoWidths(%p0: !tile.ptr<f8E5M2>, %r0: !tile.ptr<i8>, %q0: !tile.ptr<f32>)
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %p = tile.splat %p0 : !tile.ptr<f8E5M2> -> tensor<64x128x!tile.ptr<f8E5M2>>
  %r = tile.splat %r0 : !tile.ptr<i8> -> tensor<64x64x!tile.ptr<i8>>
  %t = tile.splat %r0 : !tile.ptr<i8> -> tensor<64x4x!tile.ptr<i8>>
  %q = tile.splat %q0 : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %a = tile.load %p : (tensor<64x128x!tile.ptr<f8E5M2>>) -> tensor<64x128xf8E5M2>
  %b = tile.load %r : (tensor<64x64x!tile.ptr<i8>>) -> tensor<64x64xi8>
  %s = tile.load %t : (tensor<64x4x!tile.ptr<i8>>) -> tensor<64x4xi8>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tile.dot %a, %b, %c scales %s, %s
      : (tensor<64x128xf8E5M2>, tensor<64x64xi8>, tensor<64x64xf32>, tensor<64x4xi8>, tensor<64x4xi8>) -> tensor<64x64xf32>
  tile.store %q, %d : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  %x = tile.trans %a, [1, 0] : tensor<64x128xf8E5M2> -> tensor<128x64xf8E5M2>
  %e = tile.dot %b, %x, %c scales %s, %s
      : (tensor<64x64xi8>, tensor<128x64xf8E5M2>, tensor<64x64xf32>, tensor<64x4xi8>, tensor<64x4xi8>) -> tensor<64x64xf32>
  tile.store %q, %e : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}
