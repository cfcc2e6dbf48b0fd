// Pointers of loaded rows keep their base: the indices change their layout, not what is computed of them.
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx942},canonicalize,cse)" %s | FileCheck %s

// CHECK-LABEL: func.func @kernel
// CHECK-NOT: tilegpu.convert_layout {{.*}}ptr
// CHECK: tilegpu.convert_layout {{.*}} : tensor<16x{{(1x)?i(32|64)}},
// CHECK-NOT: tilegpu.convert_layout {{.*}}ptr
func.func @kernel(%indices: !tile.ptr<i32>, %a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %c: !tile.ptr<f16>, %lda: i32, %ldc: i32, %column: i32, %n: i32) attributes {tile.kernel, tile.num_ctas = 1 : i32, tile.num_stages = 2 : i32, tile.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %sixtyFour = arith.constant 64 : i32
  %none = arith.constant dense<0.0> : tensor<16x16xf32>
  %line = arith.constant dense<16> : tensor<64x1xi32>
  %r16 = tile.arange 0, 16 : tensor<16xi32>
  %r64 = tile.arange 0, 64 : tensor<64xi32>
  %ps = tile.splat %indices : !tile.ptr<i32> -> tensor<16x!tile.ptr<i32>>
  %p = tile.addptr %ps, %r16 : tensor<16x!tile.ptr<i32>>, tensor<16xi32>
  %index = tile.load %p : (tensor<16x!tile.ptr<i32>>) -> tensor<16xi32>
  %wide = arith.extsi %index : tensor<16xi32> to tensor<16xi64>
  %row = tile.expand_dims %wide, 1 : tensor<16xi64> -> tensor<16x1xi64>
  %lda64 = arith.extsi %lda : i32 to i64
  %ldas = tile.splat %lda64 : i64 -> tensor<16x1xi64>
  %rowOfA = arith.muli %row, %ldas : tensor<16x1xi64>
  %as = tile.splat %a : !tile.ptr<f16> -> tensor<16x1x!tile.ptr<f16>>
  %pa0 = tile.addptr %as, %rowOfA : tensor<16x1x!tile.ptr<f16>>, tensor<16x1xi64>
  %columns = tile.splat %column : i32 -> tensor<16x1xi32>
  %pa1 = tile.addptr %pa0, %columns : tensor<16x1x!tile.ptr<f16>>, tensor<16x1xi32>
  %pa2 = tile.broadcast %pa1 : tensor<16x1x!tile.ptr<f16>> -> tensor<16x64x!tile.ptr<f16>>
  %sum = scf.for %i = %zero to %n step %one iter_args(%acc = %none) -> (tensor<16x16xf32>) : i32 {
    %k0 = arith.muli %i, %sixtyFour : i32
    %k1 = tile.splat %k0 : i32 -> tensor<64xi32>
    %k = arith.addi %k1, %r64 : tensor<64xi32>
    %ka0 = tile.expand_dims %k, 0 : tensor<64xi32> -> tensor<1x64xi32>
    %ka = tile.broadcast %ka0 : tensor<1x64xi32> -> tensor<16x64xi32>
    %pa = tile.addptr %pa2, %ka : tensor<16x64x!tile.ptr<f16>>, tensor<16x64xi32>
    %x = tile.load %pa : (tensor<16x64x!tile.ptr<f16>>) -> tensor<16x64xf16>
    %kb0 = tile.expand_dims %k, 1 : tensor<64xi32> -> tensor<64x1xi32>
    %kb1 = arith.muli %kb0, %line : tensor<64x1xi32>
    %kb = tile.broadcast %kb1 : tensor<64x1xi32> -> tensor<64x16xi32>
    %nb0 = tile.expand_dims %r16, 0 : tensor<16xi32> -> tensor<1x16xi32>
    %nb = tile.broadcast %nb0 : tensor<1x16xi32> -> tensor<64x16xi32>
    %ob = arith.addi %kb, %nb : tensor<64x16xi32>
    %bs = tile.splat %b : !tile.ptr<f16> -> tensor<64x16x!tile.ptr<f16>>
    %pb = tile.addptr %bs, %ob : tensor<64x16x!tile.ptr<f16>>, tensor<64x16xi32>
    %y = tile.load %pb : (tensor<64x16x!tile.ptr<f16>>) -> tensor<64x16xf16>
    %d = tile.dot %x, %y, %acc : (tensor<16x64xf16>, tensor<64x16xf16>, tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  %narrow = arith.truncf %sum : tensor<16x16xf32> to tensor<16x16xf16>
  %ldc64 = arith.extsi %ldc : i32 to i64
  %ldcs = tile.splat %ldc64 : i64 -> tensor<16x1xi64>
  %rowOfC = arith.muli %row, %ldcs : tensor<16x1xi64>
  %oc0 = tile.broadcast %rowOfC : tensor<16x1xi64> -> tensor<16x16xi64>
  %nc0 = tile.expand_dims %r16, 0 : tensor<16xi32> -> tensor<1x16xi32>
  %nc1 = arith.extsi %nc0 : tensor<1x16xi32> to tensor<1x16xi64>
  %nc = tile.broadcast %nc1 : tensor<1x16xi64> -> tensor<16x16xi64>
  %oc = arith.addi %oc0, %nc : tensor<16x16xi64>
  %cs = tile.splat %c : !tile.ptr<f16> -> tensor<16x16x!tile.ptr<f16>>
  %pc = tile.addptr %cs, %oc : tensor<16x16x!tile.ptr<f16>>, tensor<16x16xi64>
  tile.store %pc, %narrow : (tensor<16x16x!tile.ptr<f16>>, tensor<16x16xf16>) -> ()
  return
}
