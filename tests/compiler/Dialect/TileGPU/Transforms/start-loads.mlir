// A loop's load starts for what registers there are, if the loop stores what it had to the same addresses.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-start-loads))" %s | FileCheck %s

#l = #tilegpu.layout<"register: 1 2 32 64 128; lane: 4 8 16 256 512; warp: ; block: -> 1024">
#s = #tilegpu.layout<"register: 1 2; lane: 4 8 16 32 64; warp: ; block: -> 128">

module attributes {tilegpu.target = "cuda:sm_90a"} {
// 255 registers, without the 32 that the loop carries and 24 for all else.
// CHECK-LABEL: func.func @state
// CHECK: tile.load %{{.*}} {tilegpu.started = 199 : i32}
func.func @state(%p: tensor<1024x!tile.ptr<f32>, #l>, %first: tensor<1024xf32, #l>, %step: tensor<1024xi32, #l>, %n: i32)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r:2 = scf.for %i = %zero to %n step %one iter_args(%at = %p, %state = %first) -> (tensor<1024x!tile.ptr<f32>, #l>, tensor<1024xf32, #l>) : i32 {
    %x = tile.load %at : (tensor<1024x!tile.ptr<f32>, #l>) -> tensor<1024xf32, #l>
    tile.store %at, %state : (tensor<1024x!tile.ptr<f32>, #l>, tensor<1024xf32, #l>) -> ()
    %y = arith.addf %x, %state : tensor<1024xf32, #l>
    %next = tile.addptr %at, %step : tensor<1024x!tile.ptr<f32>, #l>, tensor<1024xi32, #l>
    scf.yield %next, %y : tensor<1024x!tile.ptr<f32>, #l>, tensor<1024xf32, #l>
  }
  return
}

// What is stored waits for what is loaded.
// CHECK-LABEL: func.func @inPlace
// CHECK-NOT: tilegpu.started
// CHECK: return
func.func @inPlace(%p: tensor<1024x!tile.ptr<f32>, #l>, %n: i32) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %n step %one : i32 {
    %x = tile.load %p : (tensor<1024x!tile.ptr<f32>, #l>) -> tensor<1024xf32, #l>
    %y = arith.addf %x, %x : tensor<1024xf32, #l>
    tile.store %p, %y : (tensor<1024x!tile.ptr<f32>, #l>, tensor<1024xf32, #l>) -> ()
  }
  return
}

// A load of four registers.
// CHECK-LABEL: func.func @small
// CHECK-NOT: tilegpu.started
// CHECK: return
func.func @small(%p: tensor<128x!tile.ptr<f32>, #s>, %z: tensor<128xf32, #s>, %n: i32) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r = scf.for %i = %zero to %n step %one iter_args(%state = %z) -> (tensor<128xf32, #s>) : i32 {
    %x = tile.load %p : (tensor<128x!tile.ptr<f32>, #s>) -> tensor<128xf32, #s>
    tile.store %p, %state : (tensor<128x!tile.ptr<f32>, #s>, tensor<128xf32, #s>) -> ()
    scf.yield %x : tensor<128xf32, #s>
  }
  return
}
}
