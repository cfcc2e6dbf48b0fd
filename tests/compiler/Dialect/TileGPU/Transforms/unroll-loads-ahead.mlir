// Two iterations are one also where their loads run ahead: the second loads into registers that the first has used up.
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx1100},canonicalize,cse,func.func(kiln-prefetch-loads,kiln-unroll-loops))" %s | FileCheck %s
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx942},canonicalize,cse,func.func(kiln-prefetch-loads,kiln-unroll-loops))" %s | FileCheck %s

// A thread of gfx1100 holds 32 registers of this iteration and 32 of the next, of 96.
// CHECK-LABEL: func.func @copy
// CHECK: scf.for {{.*}} iter_args
// CHECK: tile.store
// CHECK-NOT: scf.yield
// CHECK: tile.store
// CHECK: scf.yield
// CHECK: scf.for {{.*}} iter_args
// CHECK: tile.store
// CHECK-NOT: tile.store
// CHECK: return
func.func @copy(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 4096 : i32
  %i = tile.arange 0, 4096 : tensor<4096xi32>
  %pt = tile.splat %p : !tile.ptr<f32> -> tensor<4096x!tile.ptr<f32>>
  %qt = tile.splat %q : !tile.ptr<f32> -> tensor<4096x!tile.ptr<f32>>
  scf.for %start = %zero to %n step %step : i32 {
    %at = tile.splat %start : i32 -> tensor<4096xi32>
    %index = arith.addi %at, %i : tensor<4096xi32>
    %pi = tile.addptr %pt, %index : tensor<4096x!tile.ptr<f32>>, tensor<4096xi32>
    %qi = tile.addptr %qt, %index : tensor<4096x!tile.ptr<f32>>, tensor<4096xi32>
    %x = tile.load %pi : (tensor<4096x!tile.ptr<f32>>) -> tensor<4096xf32>
    tile.store %qi, %x : (tensor<4096x!tile.ptr<f32>>, tensor<4096xf32>) -> ()
  }
  return
}
