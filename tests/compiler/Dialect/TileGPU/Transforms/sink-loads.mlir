// A load that threads have no registers for while others are multiplied comes behind that product, with its conversion.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-sink-loads))" %s | FileCheck %s

#acc = #tilegpu.layout<"register: 0,1 8,0 0,8 0,16 0,32 0,64; lane: 0,2 0,4 1,0 2,0 4,0; warp: 16,0 32,0; block: -> 64x128">
#rows = #tilegpu.layout<"register: 0,1 0,2 4,0 8,0 16,0 32,0 64,0; lane: 0,4 0,8 0,16 0,32 0,64; warp: 1,0 2,0; block: -> 128x128">
#a = #tilegpu.shared<"offset: 0,1 0,2 0,4 0,8 0,16 0,32 1,8 2,16 4,32 8,0 16,0 32,0 0,64 -> 64x128">
#b = #tilegpu.shared<"offset: 0,1 0,2 0,4 0,8 0,16 0,32 1,8 2,16 4,32 8,0 16,0 32,0 64,0 0,64 -> 128x128">

module attributes {tilegpu.target = "cuda:sm_90a"} {
// 128 registers for each tile, and 64 for each sum.
// CHECK-LABEL: func.func @products
// CHECK: scf.for
// CHECK: %[[X:.*]] = tile.load %arg0
// CHECK-NEXT: %[[NARROW:.*]] = arith.truncf %[[X]]
// CHECK: tilegpu.shared_store %[[NARROW]]
// CHECK: tilegpu.dot
// CHECK-NEXT: tilegpu.alloc
// CHECK-NEXT: %[[Y:.*]] = tile.load %arg1
// CHECK-NEXT: %[[THEN:.*]] = arith.truncf %[[Y]]
// CHECK-NEXT: tilegpu.shared_store %[[THEN]]
// CHECK: tilegpu.dot
func.func @products(%p: tensor<128x128x!tile.ptr<f32>, #rows>, %q: tensor<128x128x!tile.ptr<f32>, #rows>, %a: !tilegpu.buffer<64x128xbf16, #a>, %n: i32,
    %first: tensor<64x128xf32, #acc>) -> (tensor<64x128xf32, #acc>, tensor<64x128xf32, #acc>) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %sums:2 = scf.for %i = %zero to %n step %one iter_args(%s = %first, %t = %first) -> (tensor<64x128xf32, #acc>, tensor<64x128xf32, #acc>) : i32 {
    %x = tile.load %p : (tensor<128x128x!tile.ptr<f32>, #rows>) -> tensor<128x128xf32, #rows>
    %y = tile.load %q : (tensor<128x128x!tile.ptr<f32>, #rows>) -> tensor<128x128xf32, #rows>
    %xn = arith.truncf %x : tensor<128x128xf32, #rows> to tensor<128x128xbf16, #rows>
    %xb = tilegpu.alloc : <128x128xbf16, #b>
    tilegpu.shared_store %xn, %xb : tensor<128x128xbf16, #rows>, <128x128xbf16, #b>
    %1 = tilegpu.dot %a, %xb, %s unit <"wgmma.m64n128k16.bf16.f32", warps 1 x 1> : (!tilegpu.buffer<64x128xbf16, #a>, !tilegpu.buffer<128x128xbf16, #b>, tensor<64x128xf32, #acc>) -> tensor<64x128xf32, #acc>
    %yn = arith.truncf %y : tensor<128x128xf32, #rows> to tensor<128x128xbf16, #rows>
    %yb = tilegpu.alloc : <128x128xbf16, #b>
    tilegpu.shared_store %yn, %yb : tensor<128x128xbf16, #rows>, <128x128xbf16, #b>
    %2 = tilegpu.dot %a, %yb, %t unit <"wgmma.m64n128k16.bf16.f32", warps 1 x 1> : (!tilegpu.buffer<64x128xbf16, #a>, !tilegpu.buffer<128x128xbf16, #b>, tensor<64x128xf32, #acc>) -> tensor<64x128xf32, #acc>
    scf.yield %1, %2 : tensor<64x128xf32, #acc>, tensor<64x128xf32, #acc>
  }
  return %sums#0, %sums#1 : tensor<64x128xf32, #acc>, tensor<64x128xf32, #acc>
}

// What the loop stores may be what it loads.
// CHECK-LABEL: func.func @stores
// CHECK: tile.load %arg0
// CHECK-NEXT: tile.load %arg1
func.func @stores(%p: tensor<128x128x!tile.ptr<f32>, #rows>, %q: tensor<128x128x!tile.ptr<f32>, #rows>, %a: !tilegpu.buffer<64x128xbf16, #a>, %n: i32,
    %first: tensor<64x128xf32, #acc>) -> tensor<64x128xf32, #acc> attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %first) -> (tensor<64x128xf32, #acc>) : i32 {
    %x = tile.load %p : (tensor<128x128x!tile.ptr<f32>, #rows>) -> tensor<128x128xf32, #rows>
    %y = tile.load %q : (tensor<128x128x!tile.ptr<f32>, #rows>) -> tensor<128x128xf32, #rows>
    %xn = arith.truncf %x : tensor<128x128xf32, #rows> to tensor<128x128xbf16, #rows>
    %xb = tilegpu.alloc : <128x128xbf16, #b>
    tilegpu.shared_store %xn, %xb : tensor<128x128xbf16, #rows>, <128x128xbf16, #b>
    %1 = tilegpu.dot %a, %xb, %s unit <"wgmma.m64n128k16.bf16.f32", warps 1 x 1> : (!tilegpu.buffer<64x128xbf16, #a>, !tilegpu.buffer<128x128xbf16, #b>, tensor<64x128xf32, #acc>) -> tensor<64x128xf32, #acc>
    tile.store %p, %x : (tensor<128x128x!tile.ptr<f32>, #rows>, tensor<128x128xf32, #rows>) -> ()
    tile.store %q, %y : (tensor<128x128x!tile.ptr<f32>, #rows>, tensor<128x128xf32, #rows>) -> ()
    scf.yield %1 : tensor<64x128xf32, #acc>
  }
  return %sum : tensor<64x128xf32, #acc>
}
}
