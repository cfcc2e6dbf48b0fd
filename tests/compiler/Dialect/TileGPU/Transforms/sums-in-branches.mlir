// A product whose sum the loop only adds up, but for a branch that stores it.
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=cuda:sm_90a},canonicalize,cse,loop-invariant-code-motion,func.func(kiln-stage-operands,kiln-version-loops,kiln-pipeline-loops))" %s | FileCheck %s

// Where a tile ends, its sum is stored in a branch, which waits for the product; others run on.
// CHECK-LABEL: func.func @tile_ends
// CHECK: } else {
// CHECK: scf.for
// CHECK: %[[D:.*]] = tilegpu.dot async
// CHECK: tilegpu.dot_wait pending 1
// CHECK: scf.if
// CHECK-NOT: tilegpu.dot_wait
// CHECK: tilegpu.copy_async
// CHECK: scf.if
// CHECK: %[[DONE:.*]] = tilegpu.dot_wait pending 0 for %[[D]]
// CHECK: tile.store
// CHECK: scf.yield
func.func @tile_ends(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 3 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %seven = arith.constant 7 : i32
  %size = arith.constant 4096 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %line = arith.constant dense<64> : tensor<64x1xi32>
  %r = tile.arange 0, 64 : tensor<64xi32>
  %r1 = tile.expand_dims %r, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %r2 = arith.muli %r1, %line : tensor<64x1xi32>
  %r3 = tile.broadcast %r2 : tensor<64x1xi32> -> tensor<64x64xi32>
  %c1 = tile.expand_dims %r, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %c2 = tile.broadcast %c1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %r3, %c2 : tensor<64x64xi32>
  %sum:2 = scf.for %i = %zero to %n step %one iter_args(%s = %none, %tile = %zero) -> (tensor<64x64xf32>, i32) : i32 {
    %within = arith.andi %i, %seven : i32
    %begins = arith.cmpi eq, %within, %zero : i32
    %now = scf.if %begins -> (i32) {
      %next = arith.addi %tile, %size : i32
      %wrapped = arith.remsi %next, %n : i32
      scf.yield %wrapped : i32
    } else {
      scf.yield %tile : i32
    }
    %pa0 = tile.addptr %a, %now : !tile.ptr<f16>, i32
    %pa1 = tile.splat %pa0 : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %pa2 = tile.hint %pa1 divisibility = [16, 16] : tensor<64x64x!tile.ptr<f16>>
    %pa = tile.addptr %pa2, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %x = tile.load %pa : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %place = arith.muli %within, %size : i32
    %pb0 = tile.addptr %b, %place : !tile.ptr<f16>, i32
    %pb1 = tile.splat %pb0 : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %pb = tile.addptr %pb1, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %y = tile.load %pb : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %d = tile.dot %x, %y, %s : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %ends = arith.cmpi eq, %within, %seven : i32
    scf.if %ends {
      %o2 = tile.splat %o : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
      %po2 = tile.addptr %o2, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
      tile.store %po2, %d : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
    }
    scf.yield %d, %now : tensor<64x64xf32>, i32
  }
  %o1 = tile.splat %o : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %po = tile.addptr %o1, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %po, %sum#0 : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}
