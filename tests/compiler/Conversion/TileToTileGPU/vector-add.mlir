// A chain of elementwise operations takes its loads' layout and needs no conversion at all.
// RUN: kiln-opt --kiln-tile-to-tilegpu=target=cuda:sm_80 --canonicalize --cse %s | FileCheck %s
// RUN: kiln-opt --kiln-tile-to-tilegpu=target=hip:gfx942 --canonicalize --cse %s | FileCheck %s --check-prefix=WAVE64

// Four neighbours per thread (16 bytes), 32 or 64 lanes, then warps, then the rest of the tile.
// CHECK: #layout = #tilegpu.layout<"register: 1 2 512; lane: 4 8 16 32 64; warp: 128 256; block: -> 1024">
// CHECK: module attributes {tilegpu.target = "cuda:sm_80"}
// WAVE64: #layout = #tilegpu.layout<"register: 1 2; lane: 4 8 16 32 64 128; warp: 256 512; block: -> 1024">

// CHECK-LABEL: func.func @add
// CHECK-NOT: convert_layout
// CHECK: tile.load {{.*}} -> tensor<1024xf32, #layout>
// CHECK: tile.load {{.*}} -> tensor<1024xf32, #layout>
// CHECK: arith.addf {{.*}} : tensor<1024xf32, #layout>
// CHECK: tile.store {{.*}} (tensor<1024x!tile.ptr<f32>, #layout>, tensor<1024xf32, #layout>, tensor<1024xi1, #layout>)
// CHECK-NOT: convert_layout
// CHECK: return
// WAVE64-LABEL: func.func @add
func.func @add(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32},
               %out: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32 {tile.divisibility = 16 : i32})
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %block = arith.constant 1024 : i32
  %pid = tile.program_id 0 : i32
  %start = arith.muli %pid, %block : i32
  %range = tile.arange 0, 1024 : tensor<1024xi32>
  %starts = tile.splat %start : i32 -> tensor<1024xi32>
  %offsets = arith.addi %starts, %range : tensor<1024xi32>
  %limit = tile.splat %n : i32 -> tensor<1024xi32>
  %mask = arith.cmpi slt, %offsets, %limit : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %offsets : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %a = tile.load %xp mask %mask : (tensor<1024x!tile.ptr<f32>>, tensor<1024xi1>) -> tensor<1024xf32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %offsets : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %b = tile.load %yp mask %mask : (tensor<1024x!tile.ptr<f32>>, tensor<1024xi1>) -> tensor<1024xf32>
  %sum = arith.addf %a, %b : tensor<1024xf32>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %op = tile.addptr %os, %offsets : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  tile.store %op, %sum mask %mask : (tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>, tensor<1024xi1>) -> ()
  return
}
