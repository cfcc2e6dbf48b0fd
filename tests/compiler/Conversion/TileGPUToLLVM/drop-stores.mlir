// Angles that no thread stores anything of take no part in the branch for large ones: eight for a
// thread of 32, of which the mask lets one through. Then nothing chooses among several.
// RUN: kiln-opt %s --kiln-tilegpu-to-llvm | FileCheck %s

#layout = #tilegpu.layout<"register: 32 64 128; lane: 1 2 4 8 16; warp:; block: -> 256">
module attributes {tilegpu.target = "hip:gfx1100"} {

// CHECK-LABEL: llvm.func @one
// CHECK-NOT: maxnum
// CHECK-COUNT-1: tilegpu.global_store
// CHECK-NOT: tilegpu.global_store
// CHECK: llvm.return
func.func @one(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %bound = arith.constant dense<32> : tensor<256xi32, #layout>
  %i = tile.arange 0, 256 : tensor<256xi32, #layout>
  %mask = arith.cmpi slt, %i, %bound : tensor<256xi32, #layout>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #layout>
  %from = tile.addptr %ps, %i : tensor<256x!tile.ptr<f32>, #layout>, tensor<256xi32, #layout>
  %x = tile.load %from mask %mask : (tensor<256x!tile.ptr<f32>, #layout>, tensor<256xi1, #layout>) -> tensor<256xf32, #layout>
  %y = math.sin %x : tensor<256xf32, #layout>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #layout>
  %to = tile.addptr %qs, %i : tensor<256x!tile.ptr<f32>, #layout>, tensor<256xi32, #layout>
  tile.store %to, %y mask %mask : (tensor<256x!tile.ptr<f32>, #layout>, tensor<256xf32, #layout>, tensor<256xi1, #layout>) -> ()
  func.return
}

// Up to 33 elements: the second is of one thread, and may be large.
// CHECK-LABEL: llvm.func @two
// CHECK-COUNT-1: maxnum
// CHECK-NOT: maxnum
// CHECK-COUNT-2: tilegpu.global_store
// CHECK-NOT: tilegpu.global_store
// CHECK: llvm.return
func.func @two(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %bound = arith.constant dense<33> : tensor<256xi32, #layout>
  %i = tile.arange 0, 256 : tensor<256xi32, #layout>
  %mask = arith.cmpi slt, %i, %bound : tensor<256xi32, #layout>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #layout>
  %from = tile.addptr %ps, %i : tensor<256x!tile.ptr<f32>, #layout>, tensor<256xi32, #layout>
  %x = tile.load %from mask %mask : (tensor<256x!tile.ptr<f32>, #layout>, tensor<256xi1, #layout>) -> tensor<256xf32, #layout>
  %y = math.sin %x : tensor<256xf32, #layout>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #layout>
  %to = tile.addptr %qs, %i : tensor<256x!tile.ptr<f32>, #layout>, tensor<256xi32, #layout>
  tile.store %to, %y mask %mask : (tensor<256x!tile.ptr<f32>, #layout>, tensor<256xf32, #layout>, tensor<256xi1, #layout>) -> ()
  func.return
}
}
