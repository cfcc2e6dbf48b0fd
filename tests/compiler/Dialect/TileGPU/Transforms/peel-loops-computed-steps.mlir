// On RDNA loops of products ask for a next iteration, as threads lack registers; but where a load that asks is at pointers that
// the loop moves by what it loads, which are no buffers, each of its addresses would be chosen by two selections.
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx1100},canonicalize,cse,loop-invariant-code-motion,func.func(kiln-stage-operands,kiln-prefetch-operands,kiln-peel-loops))" %s | FileCheck %s

// CHECK-LABEL: func.func @computed
// CHECK: scf.if
// CHECK: scf.for
// CHECK: tile.load %{{[a-z0-9]+}} : (tensor<64x32x!tile.ptr<f16>
// CHECK: tilegpu.dot
// CHECK: scf.yield
// CHECK-NOT: tile.load %{{.*}}tensor
// CHECK: tilegpu.dot
// CHECK: } else {
func.func @computed(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %steps: !tile.ptr<i32> {tile.divisibility = 16 : i32}, %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 2 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %line = arith.constant dense<4096> : tensor<64x1xi32>
  %linek = arith.constant dense<4096> : tensor<32x1xi32>
  %m = tile.arange 0, 64 : tensor<64xi32>
  %k = tile.arange 0, 32 : tensor<32xi32>
  %r1 = tile.expand_dims %m, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %r2 = arith.muli %r1, %line : tensor<64x1xi32>
  %k1 = tile.expand_dims %k, 1 : tensor<32xi32> -> tensor<32x1xi32>
  %k2 = arith.muli %k1, %linek : tensor<32x1xi32>
  %cr = tile.expand_dims %m, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %ck = tile.expand_dims %k, 0 : tensor<32xi32> -> tensor<1x32xi32>
  %ra = tile.broadcast %r2 : tensor<64x1xi32> -> tensor<64x32xi32>
  %ca = tile.broadcast %ck : tensor<1x32xi32> -> tensor<64x32xi32>
  %rb = tile.broadcast %k2 : tensor<32x1xi32> -> tensor<32x64xi32>
  %cb = tile.broadcast %cr : tensor<1x64xi32> -> tensor<32x64xi32>
  %rc = tile.broadcast %r2 : tensor<64x1xi32> -> tensor<64x64xi32>
  %cc = tile.broadcast %cr : tensor<1x64xi32> -> tensor<64x64xi32>
  %oa = arith.addi %ra, %ca : tensor<64x32xi32>
  %ob = arith.addi %rb, %cb : tensor<32x64xi32>
  %oc = arith.addi %rc, %cc : tensor<64x64xi32>
  %sa = tile.splat %a : !tile.ptr<f16> -> tensor<64x32x!tile.ptr<f16>>
  %sb = tile.splat %b : !tile.ptr<f16> -> tensor<32x64x!tile.ptr<f16>>
  %so = tile.splat %o : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %pa = tile.addptr %sa, %oa : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi32>
  %pb = tile.addptr %sb, %ob : tensor<32x64x!tile.ptr<f16>>, tensor<32x64xi32>
  %po = tile.addptr %so, %oc : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  %sum:3 = scf.for %i = %zero to %n step %one iter_args(%s = %none, %x = %pa, %y = %pb)
      -> (tensor<64x64xf32>, tensor<64x32x!tile.ptr<f16>>, tensor<32x64x!tile.ptr<f16>>) : i32 {
    %ps = tile.addptr %steps, %i : !tile.ptr<i32>, i32
    %step = tile.load %ps : (!tile.ptr<i32>) -> i32
    %l = tile.load %x : (tensor<64x32x!tile.ptr<f16>>) -> tensor<64x32xf16>
    %r = tile.load %y : (tensor<32x64x!tile.ptr<f16>>) -> tensor<32x64xf16>
    %d = tile.dot %l, %r, %s : (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %mx = tile.splat %step : i32 -> tensor<64x32xi32>
    %my = tile.splat %step : i32 -> tensor<32x64xi32>
    %xn = tile.addptr %x, %mx : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi32>
    %yn = tile.addptr %y, %my : tensor<32x64x!tile.ptr<f16>>, tensor<32x64xi32>
    scf.yield %d, %xn, %yn : tensor<64x64xf32>, tensor<64x32x!tile.ptr<f16>>, tensor<32x64x!tile.ptr<f16>>
  }
  tile.store %po, %sum#0 : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// By the same in each iteration: as it was.
// CHECK-LABEL: func.func @alike
// CHECK-NOT: scf.if
// CHECK: return
func.func @alike(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %step: i32, %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 2 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %line = arith.constant dense<4096> : tensor<64x1xi32>
  %linek = arith.constant dense<4096> : tensor<32x1xi32>
  %m = tile.arange 0, 64 : tensor<64xi32>
  %k = tile.arange 0, 32 : tensor<32xi32>
  %r1 = tile.expand_dims %m, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %r2 = arith.muli %r1, %line : tensor<64x1xi32>
  %k1 = tile.expand_dims %k, 1 : tensor<32xi32> -> tensor<32x1xi32>
  %k2 = arith.muli %k1, %linek : tensor<32x1xi32>
  %cr = tile.expand_dims %m, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %ck = tile.expand_dims %k, 0 : tensor<32xi32> -> tensor<1x32xi32>
  %ra = tile.broadcast %r2 : tensor<64x1xi32> -> tensor<64x32xi32>
  %ca = tile.broadcast %ck : tensor<1x32xi32> -> tensor<64x32xi32>
  %rb = tile.broadcast %k2 : tensor<32x1xi32> -> tensor<32x64xi32>
  %cb = tile.broadcast %cr : tensor<1x64xi32> -> tensor<32x64xi32>
  %rc = tile.broadcast %r2 : tensor<64x1xi32> -> tensor<64x64xi32>
  %cc = tile.broadcast %cr : tensor<1x64xi32> -> tensor<64x64xi32>
  %oa = arith.addi %ra, %ca : tensor<64x32xi32>
  %ob = arith.addi %rb, %cb : tensor<32x64xi32>
  %oc = arith.addi %rc, %cc : tensor<64x64xi32>
  %sa = tile.splat %a : !tile.ptr<f16> -> tensor<64x32x!tile.ptr<f16>>
  %sb = tile.splat %b : !tile.ptr<f16> -> tensor<32x64x!tile.ptr<f16>>
  %so = tile.splat %o : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %pa = tile.addptr %sa, %oa : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi32>
  %pb = tile.addptr %sb, %ob : tensor<32x64x!tile.ptr<f16>>, tensor<32x64xi32>
  %po = tile.addptr %so, %oc : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  %sum:3 = scf.for %i = %zero to %n step %one iter_args(%s = %none, %x = %pa, %y = %pb)
      -> (tensor<64x64xf32>, tensor<64x32x!tile.ptr<f16>>, tensor<32x64x!tile.ptr<f16>>) : i32 {
    %l = tile.load %x : (tensor<64x32x!tile.ptr<f16>>) -> tensor<64x32xf16>
    %r = tile.load %y : (tensor<32x64x!tile.ptr<f16>>) -> tensor<32x64xf16>
    %d = tile.dot %l, %r, %s : (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %mx = tile.splat %step : i32 -> tensor<64x32xi32>
    %my = tile.splat %step : i32 -> tensor<32x64xi32>
    %xn = tile.addptr %x, %mx : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi32>
    %yn = tile.addptr %y, %my : tensor<32x64x!tile.ptr<f16>>, tensor<32x64xi32>
    scf.yield %d, %xn, %yn : tensor<64x64xf32>, tensor<64x32x!tile.ptr<f16>>, tensor<32x64x!tile.ptr<f16>>
  }
  tile.store %po, %sum#0 : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}
