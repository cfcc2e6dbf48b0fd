// Loads that a thread of RDNA may have registers for, though the estimate says that it lacks some, wait unless the module asks for them.
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx1100},canonicalize,cse,loop-invariant-code-motion,func.func(kiln-stage-operands,kiln-prefetch-operands))" %s | FileCheck %s --check-prefix=WAIT
// RUN: sed 's/^module {/module attributes {tilegpu.loads_ahead} {/' %s | kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx1100},canonicalize,cse,loop-invariant-code-motion,func.func(kiln-stage-operands,kiln-prefetch-operands))" | FileCheck %s --check-prefix=AHEAD
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx942},canonicalize,cse,loop-invariant-code-motion,func.func(kiln-stage-operands,kiln-prefetch-operands))" %s | FileCheck %s --check-prefix=ENOUGH

// 64 registers of sums and 192 of fragments.
// WAIT: func.func @product{{.*}}tilegpu.loads_wait
// WAIT-NOT: tile.load
// WAIT: scf.for
// WAIT-COUNT-2: tile.load
// WAIT: tilegpu.dot

// AHEAD-LABEL: func.func @product
// AHEAD-COUNT-2: tile.load {{.*}} mask
// AHEAD: scf.for
// AHEAD-COUNT-2: tile.load {{.*}} mask
// AHEAD-COUNT-2: tilegpu.shared_load
// AHEAD-COUNT-2: tilegpu.shared_store
// AHEAD: tilegpu.dot

// ENOUGH-NOT: loads_wait
// ENOUGH-COUNT-2: tile.load {{.*}} mask
// ENOUGH: scf.for
module {
  func.func @product(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
      %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
      attributes {tile.kernel, tile.num_warps = 8 : i32, tile.num_stages = 2 : i32} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %size = arith.constant 4096 : i32
    %depth = arith.constant 64 : i32
    %none = arith.constant dense<0.0> : tensor<128x128xf32>
    %lineA = arith.constant dense<4096> : tensor<128x1xi32>
    %lineB = arith.constant dense<128> : tensor<64x1xi32>
    %lineO = arith.constant dense<128> : tensor<128x1xi32>
    %rm = tile.arange 0, 128 : tensor<128xi32>
    %rk = tile.arange 0, 64 : tensor<64xi32>
    %rn = tile.arange 0, 128 : tensor<128xi32>
    %m = tile.expand_dims %rm, 1 : tensor<128xi32> -> tensor<128x1xi32>
    %ka = tile.expand_dims %rk, 0 : tensor<64xi32> -> tensor<1x64xi32>
    %kb = tile.expand_dims %rk, 1 : tensor<64xi32> -> tensor<64x1xi32>
    %nn = tile.expand_dims %rn, 0 : tensor<128xi32> -> tensor<1x128xi32>
    %a1 = arith.muli %m, %lineA : tensor<128x1xi32>
    %a2 = tile.broadcast %a1 : tensor<128x1xi32> -> tensor<128x64xi32>
    %a3 = tile.broadcast %ka : tensor<1x64xi32> -> tensor<128x64xi32>
    %atA = arith.addi %a2, %a3 : tensor<128x64xi32>
    %b1 = arith.muli %kb, %lineB : tensor<64x1xi32>
    %b2 = tile.broadcast %b1 : tensor<64x1xi32> -> tensor<64x128xi32>
    %b3 = tile.broadcast %nn : tensor<1x128xi32> -> tensor<64x128xi32>
    %atB = arith.addi %b2, %b3 : tensor<64x128xi32>
    %o1 = arith.muli %m, %lineO : tensor<128x1xi32>
    %o2 = tile.broadcast %o1 : tensor<128x1xi32> -> tensor<128x128xi32>
    %o3 = tile.broadcast %nn : tensor<1x128xi32> -> tensor<128x128xi32>
    %atO = arith.addi %o2, %o3 : tensor<128x128xi32>
    %sum = scf.for %i = %zero to %n step %one iter_args(%s = %none) -> (tensor<128x128xf32>) : i32 {
      %placeA = arith.muli %i, %depth : i32
      %pa0 = tile.addptr %a, %placeA : !tile.ptr<f16>, i32
      %pa1 = tile.splat %pa0 : !tile.ptr<f16> -> tensor<128x64x!tile.ptr<f16>>
      %pa = tile.addptr %pa1, %atA : tensor<128x64x!tile.ptr<f16>>, tensor<128x64xi32>
      %x = tile.load %pa : (tensor<128x64x!tile.ptr<f16>>) -> tensor<128x64xf16>
      %placeB = arith.muli %i, %size : i32
      %pb0 = tile.addptr %b, %placeB : !tile.ptr<f16>, i32
      %pb1 = tile.splat %pb0 : !tile.ptr<f16> -> tensor<64x128x!tile.ptr<f16>>
      %pb = tile.addptr %pb1, %atB : tensor<64x128x!tile.ptr<f16>>, tensor<64x128xi32>
      %y = tile.load %pb : (tensor<64x128x!tile.ptr<f16>>) -> tensor<64x128xf16>
      %d = tile.dot %x, %y, %s : (tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>) -> tensor<128x128xf32>
      scf.yield %d : tensor<128x128xf32>
    }
    %po1 = tile.splat %o : !tile.ptr<f32> -> tensor<128x128x!tile.ptr<f32>>
    %po = tile.addptr %po1, %atO : tensor<128x128x!tile.ptr<f32>>, tensor<128x128xi32>
    tile.store %po, %sum : (tensor<128x128x!tile.ptr<f32>>, tensor<128x128xf32>) -> ()
    return
  }
}
