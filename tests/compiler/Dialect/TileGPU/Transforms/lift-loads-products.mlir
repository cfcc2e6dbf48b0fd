// Small loads of a loop of products come to the beginning of their iteration.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-lift-loads))" %s | FileCheck %s

#sum = #tilegpu.layout<"register: 0,1 8,0 0,8 0,16; lane: 0,2 0,4 1,0 2,0 4,0; warp: 16,0 32,0; block: -> 64x32">
#row = #tilegpu.layout<"register: 8; lane: 0 0 1 2 4; warp: 16 32; block: -> 64">
!a = !tilegpu.buffer<64x64xf16, #tilegpu.shared<"offset: 0,1 0,2 0,4 0,8 0,16 0,32 1,8 2,16 4,32 8,0 16,0 32,0 -> 64x64">>
!ring = !tilegpu.buffer<64x64xf16, #tilegpu.shared<"offset: 0,1 0,2 0,4 0,8 0,16 0,32 1,8 2,16 4,32 8,0 16,0 32,0 -> 64x64">, slots 12>
!b = !tilegpu.buffer<64x32xf16, #tilegpu.shared<"offset: 0,1 0,2 0,4 0,8 0,16 1,0 2,8 4,16 8,0 16,0 32,0 -> 64x32">>

module attributes {tilegpu.target = "cuda:sm_90a"} {
// Ahead of a product and of a store to where it does not read.
// CHECK-LABEL: func.func @besideProducts
// CHECK: scf.for
// CHECK-NOT: tile.store
// CHECK: tile.load {{.*}} -> tensor<64xf32
// CHECK: tile.store
// CHECK: tilegpu.dot
// CHECK-NOT: tile.load {{.*}} -> tensor<64xf32
// CHECK: scf.yield
func.func @besideProducts(%b: !b, %zero: tensor<64x32xf32, #sum>, %p: !tile.ptr<f32>, %n: i32) -> tensor<64x32xf32, #sum> attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %ring = tilegpu.alloc : !ring
  %a = tilegpu.slot %ring[%c0] : !ring
  %c64 = arith.constant 64 : i32
  %c1000000 = arith.constant dense<1000000> : tensor<64xi32, #row>
  %range = tile.arange 0, 64 : tensor<64xi32, #row>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #row>
  %low = tile.addptr %ps, %range : tensor<64x!tile.ptr<f32>, #row>, tensor<64xi32, #row>
  %high = tile.addptr %low, %c1000000 : tensor<64x!tile.ptr<f32>, #row>, tensor<64xi32, #row>
  %ones = arith.constant dense<1.0> : tensor<64xf32, #row>
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%s = %zero) -> (tensor<64x32xf32, #sum>) : i32 {
    tile.store %high, %ones : (tensor<64x!tile.ptr<f32>, #row>, tensor<64xf32, #row>) -> ()
    %d = tilegpu.dot %a, %b, %s unit <"wgmma.m64n32k16.f16.f32", warps 1 x 1> : (!a, !b, tensor<64x32xf32, #sum>) -> tensor<64x32xf32, #sum>
    %x = tile.load %low : (tensor<64x!tile.ptr<f32>, #row>) -> tensor<64xf32, #row>
    %x1 = tile.expand_dims %x, 1 : tensor<64xf32, #row> -> tensor<64x1xf32, #tilegpu.layout<"register: 8,0; lane: 0,0 0,0 1,0 2,0 4,0; warp: 16,0 32,0; block: -> 64x1">>
    %x2 = tile.broadcast %x1 : tensor<64x1xf32, #tilegpu.layout<"register: 8,0; lane: 0,0 0,0 1,0 2,0 4,0; warp: 16,0 32,0; block: -> 64x1">> -> tensor<64x32xf32, #sum>
    %m = arith.mulf %d, %x2 : tensor<64x32xf32, #sum>
    scf.yield %m : tensor<64x32xf32, #sum>
  }
  return %r : tensor<64x32xf32, #sum>
}

// Not where the store may be to what it reads.
// CHECK-LABEL: func.func @behindItsStore
// CHECK: scf.for
// CHECK: tilegpu.dot
// CHECK: tile.store
// CHECK: tile.load {{.*}} -> tensor<64xf32
// CHECK: scf.yield
func.func @behindItsStore(%b: !b, %zero: tensor<64x32xf32, #sum>, %p: !tile.ptr<f32>, %n: i32) -> tensor<64x32xf32, #sum> attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %ring = tilegpu.alloc : !ring
  %a = tilegpu.slot %ring[%c0] : !ring
  %c64 = arith.constant 64 : i32
  %range = tile.arange 0, 64 : tensor<64xi32, #row>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #row>
  %low = tile.addptr %ps, %range : tensor<64x!tile.ptr<f32>, #row>, tensor<64xi32, #row>
  %ones = arith.constant dense<1.0> : tensor<64xf32, #row>
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%s = %zero) -> (tensor<64x32xf32, #sum>) : i32 {
    %d = tilegpu.dot %a, %b, %s unit <"wgmma.m64n32k16.f16.f32", warps 1 x 1> : (!a, !b, tensor<64x32xf32, #sum>) -> tensor<64x32xf32, #sum>
    tile.store %low, %ones : (tensor<64x!tile.ptr<f32>, #row>, tensor<64xf32, #row>) -> ()
    %x = tile.load %low : (tensor<64x!tile.ptr<f32>, #row>) -> tensor<64xf32, #row>
    %x1 = tile.expand_dims %x, 1 : tensor<64xf32, #row> -> tensor<64x1xf32, #tilegpu.layout<"register: 8,0; lane: 0,0 0,0 1,0 2,0 4,0; warp: 16,0 32,0; block: -> 64x1">>
    %x2 = tile.broadcast %x1 : tensor<64x1xf32, #tilegpu.layout<"register: 8,0; lane: 0,0 0,0 1,0 2,0 4,0; warp: 16,0 32,0; block: -> 64x1">> -> tensor<64x32xf32, #sum>
    %m = arith.mulf %d, %x2 : tensor<64x32xf32, #sum>
    scf.yield %m : tensor<64x32xf32, #sum>
  }
  return %r : tensor<64x32xf32, #sum>
}
}
