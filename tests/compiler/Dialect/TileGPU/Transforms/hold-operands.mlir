// Operands that a unit would read from shared memory in each iteration of a loop are in registers.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-stage-operands))" %s | FileCheck %s

#x = #tilegpu.layout<"register: 0,1 0,2 0,4 16,0 32,0; lane: 0,8 0,16 0,32 1,0 2,0; warp: 4,0 8,0; block: -> 64x64">
#y = #tilegpu.layout<"register: 0,1 0,2 0,4 16,0 32,0 0,64; lane: 0,8 0,16 0,32 1,0 2,0; warp: 4,0 8,0; block: -> 64x128">
#a = #tilegpu.layout<"register: 0,1 8,0 0,8 0,16 0,32; lane: 0,2 0,4 1,0 2,0 4,0; warp: 16,0 32,0; block: -> 64x64">
#b = #tilegpu.layout<"register: 1,0 8,0 0,8 0,16 0,32 16,0 32,0; lane: 2,0 4,0 0,1 0,2 0,4; warp: 0,0 0,0; block: -> 64x64">
#wide_b = #tilegpu.layout<"register: 1,0 8,0 0,8 0,16 0,32 0,64 16,0 32,0; lane: 2,0 4,0 0,1 0,2 0,4; warp: 0,0 0,0; block: -> 64x128">
#wide_c = #tilegpu.layout<"register: 0,1 8,0 0,8 0,16 0,32 0,64; lane: 0,2 0,4 1,0 2,0 4,0; warp: 16,0 32,0; block: -> 64x128">
!block = tensor<64x64x!tile.ptr<f16>, #x>
!wide_block = tensor<64x128x!tile.ptr<f16>, #y>
!tile = tensor<64x64xf16, #x>
!sum = tensor<64x64xf32, #a>
!wide_sum = tensor<64x128xf32, #wide_c>

module attributes {tilegpu.target = "cuda:sm_90a"} {
// A product of 64 columns reads as much of A as of B, of which threads hold A; of 128 columns it stays.
// CHECK-LABEL: func.func @held
// CHECK: tilegpu.shared_store %arg0, %[[KEPT:.*]] : tensor
// CHECK-NEXT: %[[HELD:.*]] = tilegpu.shared_load %[[KEPT]] : <64x64xf16
// CHECK: scf.for
// CHECK: tilegpu.dot %[[HELD]]
// CHECK: tilegpu.dot %{{.*}} unit <"wgmma.m64n128k16.f16.f32", warps 1 x 1> : (!tilegpu.buffer
func.func @held(%x: !tile, %w: !tile, %k: !block, %v: !wide_block, %n: i64, %c: !sum, %d: !wide_sum) -> (!sum, !wide_sum)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 6 : i32} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a = tilegpu.convert_layout %x : !tile -> tensor<64x64xf16, #a>
  %e = tilegpu.convert_layout %w : !tile -> tensor<64x64xf16, #a>
  %sums:2 = scf.for %i = %zero to %n step %one iter_args(%s = %c, %t = %d) -> (!sum, !wide_sum) : i64 {
    %y = tile.load %k : (!block) -> !tile
    %b = tilegpu.convert_layout %y : !tile -> tensor<64x64xf16, #b>
    %0 = tilegpu.dot %a, %b, %s unit <"wgmma.m64n64k16.f16.f32", warps 1 x 1> : (tensor<64x64xf16, #a>, tensor<64x64xf16, #b>, !sum) -> !sum
    %z = tile.load %v : (!wide_block) -> tensor<64x128xf16, #y>
    %f = tilegpu.convert_layout %z : tensor<64x128xf16, #y> -> tensor<64x128xf16, #wide_b>
    %1 = tilegpu.dot %e, %f, %t unit <"wgmma.m64n128k16.f16.f32", warps 1 x 1> : (tensor<64x64xf16, #a>, tensor<64x128xf16, #wide_b>, !wide_sum) -> !wide_sum
    scf.yield %0, %1 : !sum, !wide_sum
  }
  return %sums#0, %sums#1 : !sum, !wide_sum
}

// With one stage there is room for many blocks, of which registers would take some.
// CHECK-LABEL: func.func @fewer_blocks
// CHECK-NOT: tilegpu.shared_load
func.func @fewer_blocks(%x: !tile, %k: !block, %n: i64, %c: !sum) -> !sum
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 1 : i32} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a = tilegpu.convert_layout %x : !tile -> tensor<64x64xf16, #a>
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %c) -> !sum : i64 {
    %y = tile.load %k : (!block) -> !tile
    %b = tilegpu.convert_layout %y : !tile -> tensor<64x64xf16, #b>
    %0 = tilegpu.dot %a, %b, %s unit <"wgmma.m64n64k16.f16.f32", warps 1 x 1> : (tensor<64x64xf16, #a>, tensor<64x64xf16, #b>, !sum) -> !sum
    scf.yield %0 : !sum
  }
  return %sum : !sum
}
}
