// Small loads of a loop come in front of where threads meet, behind the load before them.
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=cuda:sm_90a},canonicalize,cse,func.func(kiln-lift-loads))" %s | FileCheck %s

// CHECK-LABEL: func.func @together
// CHECK: scf.for
// CHECK: tile.load
// CHECK-NOT: tile.reduce
// CHECK: tile.addptr %{{.*}}
// CHECK-NEXT: tile.load
// CHECK: tile.reduce
// CHECK-NOT: tile.load
// CHECK: scf.yield
func.func @together(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %o: !tile.ptr<f32>, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 2 : i32} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 512 : i32
  %least = arith.constant 0.0 : f32
  %r = tile.arange 0, 512 : tensor<512xi32>
  %p1 = tile.splat %p : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %q1 = tile.splat %q : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %sum = scf.for %i = %zero to %n step %step iter_args(%s = %least) -> (f32) : i32 {
    %i1 = tile.splat %i : i32 -> tensor<512xi32>
    %at = arith.addi %i1, %r : tensor<512xi32>
    %pa = tile.addptr %p1, %at : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    %x = tile.load %pa : (tensor<512x!tile.ptr<f32>>) -> tensor<512xf32>
    %m = tile.reduce(%x) axis 0 : (tensor<512xf32>) -> f32 {
    ^bb0(%a: f32, %b: f32):
      %c = arith.maxnumf %a, %b : f32
      tile.yield %c : f32
    }
    %qa = tile.addptr %q1, %at : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    %y = tile.load %qa : (tensor<512x!tile.ptr<f32>>) -> tensor<512xf32>
    %m1 = tile.splat %m : f32 -> tensor<512xf32>
    %d = arith.subf %y, %m1 : tensor<512xf32>
    %t = tile.reduce(%d) axis 0 : (tensor<512xf32>) -> f32 {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    }
    %next = arith.addf %s, %t : f32
    scf.yield %next : f32
  }
  tile.store %o, %sum : (!tile.ptr<f32>, f32) -> ()
  return
}

// Not in front of a store, which it could read.
// CHECK-LABEL: func.func @behindStores
// CHECK: scf.for
// CHECK: tile.load
// CHECK: tile.reduce
// CHECK: tile.store
// CHECK: tile.load
// CHECK: return
func.func @behindStores(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %o: !tile.ptr<f32>, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 2 : i32} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 512 : i32
  %r = tile.arange 0, 512 : tensor<512xi32>
  %p1 = tile.splat %p : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %q1 = tile.splat %q : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  scf.for %i = %zero to %n step %step : i32 {
    %i1 = tile.splat %i : i32 -> tensor<512xi32>
    %at = arith.addi %i1, %r : tensor<512xi32>
    %pa = tile.addptr %p1, %at : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    %x = tile.load %pa : (tensor<512x!tile.ptr<f32>>) -> tensor<512xf32>
    %m = tile.reduce(%x) axis 0 : (tensor<512xf32>) -> f32 {
    ^bb0(%a: f32, %b: f32):
      %c = arith.maxnumf %a, %b : f32
      tile.yield %c : f32
    }
    tile.store %o, %m : (!tile.ptr<f32>, f32) -> ()
    %qa = tile.addptr %q1, %at : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    %y = tile.load %qa : (tensor<512x!tile.ptr<f32>>) -> tensor<512xf32>
    tile.store %pa, %y : (tensor<512x!tile.ptr<f32>>, tensor<512xf32>) -> ()
  }
  return
}
