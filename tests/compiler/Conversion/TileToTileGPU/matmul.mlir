// A matmul loop: operands are loaded coalesced, both, and converted to fragments inside the loop, the
// accumulator stays in its fragment layout across it, and is converted once, as f16, to be stored.
// RUN: kiln-opt --kiln-tile-to-tilegpu=target=cuda:sm_80 --canonicalize --cse %s | FileCheck %s
// RUN: kiln-opt --kiln-tile-to-tilegpu=target=hip:gfx942 --canonicalize --cse %s | FileCheck %s --check-prefix=MFMA
// RUN: kiln-opt --kiln-tile-to-tilegpu=target=hip:gfx1100 --canonicalize --cse %s | FileCheck %s --check-prefix=WMMA

// CHECK-LABEL: func.func @matmul
// CHECK: scf.for {{.*}} -> (tensor<128x64x!tile.ptr<f16>, #[[LA:.*]]>, tensor<64x128x!tile.ptr<f16>, #[[LB:.*]]>, tensor<128x128xf32, #[[LC:.*]]>)
// CHECK: %[[A:.*]] = tile.load {{.*}} -> tensor<128x64xf16, #[[LA]]>
// CHECK: %[[B:.*]] = tile.load {{.*}} -> tensor<64x128xf16, #[[LB]]>
// CHECK: %[[AF:.*]] = tilegpu.convert_layout %[[A]]
// CHECK: %[[BF:.*]] = tilegpu.convert_layout %[[B]]
// CHECK: tilegpu.dot %[[AF]], %[[BF]], {{.*}} unit <"mma.m16n8k16.f16.f32", warps 2 x 2>
// CHECK-NOT: convert_layout
// CHECK: scf.yield
// CHECK: arith.truncf {{.*}} : tensor<128x128xf32, #[[LC]]> to tensor<128x128xf16, #[[LC]]>
// CHECK: tilegpu.convert_layout
// CHECK: tile.store
// MFMA: tilegpu.dot {{.*}} unit <"mfma.32x32x8{{(x2)?}}.f16.f32" swapped, warps 2 x 2>
// WMMA: tilegpu.dot {{.*}} unit <"wmma.16x16x16.f16.f32" swapped, neighbours 8, warps 2 x 2>
func.func @matmul(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                  %c: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %k: i32 {tile.divisibility = 16 : i32},
                  %n: i32 {tile.divisibility = 16 : i32})
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 64 : i32
  %rm = tile.arange 0, 128 : tensor<128xi32>
  %rk = tile.arange 0, 64 : tensor<64xi32>
  %ks = tile.splat %k : i32 -> tensor<128xi32>
  %am = arith.muli %rm, %ks : tensor<128xi32>
  %am1 = tile.expand_dims %am, 1 : tensor<128xi32> -> tensor<128x1xi32>
  %am2 = tile.broadcast %am1 : tensor<128x1xi32> -> tensor<128x64xi32>
  %ak1 = tile.expand_dims %rk, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %ak2 = tile.broadcast %ak1 : tensor<1x64xi32> -> tensor<128x64xi32>
  %ao = arith.addi %am2, %ak2 : tensor<128x64xi32>
  %as = tile.splat %a : !tile.ptr<f16> -> tensor<128x64x!tile.ptr<f16>>
  %ap = tile.addptr %as, %ao : tensor<128x64x!tile.ptr<f16>>, tensor<128x64xi32>
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  %bk = arith.muli %rk, %ns : tensor<64xi32>
  %bk1 = tile.expand_dims %bk, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %bk2 = tile.broadcast %bk1 : tensor<64x1xi32> -> tensor<64x128xi32>
  %bn1 = tile.expand_dims %rm, 0 : tensor<128xi32> -> tensor<1x128xi32>
  %bn2 = tile.broadcast %bn1 : tensor<1x128xi32> -> tensor<64x128xi32>
  %bo = arith.addi %bk2, %bn2 : tensor<64x128xi32>
  %bs = tile.splat %b : !tile.ptr<f16> -> tensor<64x128x!tile.ptr<f16>>
  %bp = tile.addptr %bs, %bo : tensor<64x128x!tile.ptr<f16>>, tensor<64x128xi32>
  %acc0 = arith.constant dense<0.0> : tensor<128x128xf32>
  %astep = tile.splat %step : i32 -> tensor<128x64xi32>
  %bn = arith.muli %n, %step : i32
  %bstep = tile.splat %bn : i32 -> tensor<64x128xi32>
  %loop:3 = scf.for %i = %zero to %k step %step iter_args(%pa = %ap, %pb = %bp, %acc = %acc0)
      -> (tensor<128x64x!tile.ptr<f16>>, tensor<64x128x!tile.ptr<f16>>, tensor<128x128xf32>) : i32 {
    %av = tile.load %pa : (tensor<128x64x!tile.ptr<f16>>) -> tensor<128x64xf16>
    %bv = tile.load %pb : (tensor<64x128x!tile.ptr<f16>>) -> tensor<64x128xf16>
    %d = tile.dot %av, %bv, %acc : (tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>) -> tensor<128x128xf32>
    %na = tile.addptr %pa, %astep : tensor<128x64x!tile.ptr<f16>>, tensor<128x64xi32>
    %nb = tile.addptr %pb, %bstep : tensor<64x128x!tile.ptr<f16>>, tensor<64x128xi32>
    scf.yield %na, %nb, %d : tensor<128x64x!tile.ptr<f16>>, tensor<64x128x!tile.ptr<f16>>, tensor<128x128xf32>
  }
  %h = arith.truncf %loop#2 : tensor<128x128xf32> to tensor<128x128xf16>
  %nm = tile.splat %n : i32 -> tensor<128xi32>
  %cm = arith.muli %rm, %nm : tensor<128xi32>
  %cm1 = tile.expand_dims %cm, 1 : tensor<128xi32> -> tensor<128x1xi32>
  %cm2 = tile.broadcast %cm1 : tensor<128x1xi32> -> tensor<128x128xi32>
  %cn1 = tile.expand_dims %rm, 0 : tensor<128xi32> -> tensor<1x128xi32>
  %cn2 = tile.broadcast %cn1 : tensor<1x128xi32> -> tensor<128x128xi32>
  %co = arith.addi %cm2, %cn2 : tensor<128x128xi32>
  %cs = tile.splat %c : !tile.ptr<f16> -> tensor<128x128x!tile.ptr<f16>>
  %cp = tile.addptr %cs, %co : tensor<128x128x!tile.ptr<f16>>, tensor<128x128xi32>
  tile.store %cp, %h : (tensor<128x128x!tile.ptr<f16>>, tensor<128x128xf16>) -> ()
  return
}
