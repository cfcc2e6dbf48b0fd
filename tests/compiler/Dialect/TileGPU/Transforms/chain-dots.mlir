// A dot is started right behind the one whose sum it goes on with, if nothing in between touches memory.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-chain-dots))" %s | FileCheck %s

#sum = #tilegpu.layout<"register: 0,1 8,0 0,8 0,16; lane: 0,2 0,4 1,0 2,0 4,0; warp: 16,0 32,0; block: -> 64x32">
!ring = !tilegpu.buffer<64x64xf16, #tilegpu.shared<"offset: 0,1 0,2 0,4 0,8 0,16 0,32 1,8 2,16 4,32 8,0 16,0 32,0 -> 64x64">, slots 2>
!left = !tilegpu.buffer<64x64xf16, #tilegpu.shared<"offset: 0,1 0,2 0,4 0,8 0,16 0,32 1,8 2,16 4,32 8,0 16,0 32,0 -> 64x64">>
!right = !tilegpu.buffer<64x32xf16, #tilegpu.shared<"offset: 0,1 0,2 0,4 0,8 0,16 1,0 2,8 4,16 8,0 16,0 32,0 -> 64x32">>
!state = tensor<64x32xf32, #sum>

module attributes {tilegpu.target = "cuda:sm_90a"} {
// CHECK-LABEL: func.func @chained
// CHECK: %[[FIRST:.*]] = tilegpu.dot async
// CHECK: %[[SECOND:.*]] = tilegpu.dot async %{{.*}}, %{{.*}}, %[[FIRST]]
// CHECK: %[[THIRD:.*]] = tilegpu.dot %{{.*}}, %{{.*}}, %[[SECOND]]
// CHECK: return %[[THIRD]]
func.func @chained(%ring: !ring, %i: i32, %b: !right, %zero: !state) -> !state attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %a = tilegpu.slot %ring[%i] : !ring
  %0 = tilegpu.dot %a, %b, %zero unit <"wgmma.m64n32k16.f16.f32", warps 1 x 1> : (!left, !right, !state) -> !state
  %c = tilegpu.slot %ring[%i] : !ring
  %1 = tilegpu.dot %c, %b, %0 unit <"wgmma.m64n32k16.f16.f32", warps 1 x 1> : (!left, !right, !state) -> !state
  %2 = tilegpu.dot %a, %b, %1 unit <"wgmma.m64n32k16.f16.f32", warps 1 x 1> : (!left, !right, !state) -> !state
  return %2 : !state
}

// Another use of the sum, and a store to shared memory in between.
// CHECK-LABEL: func.func @apart
// CHECK-NOT: async
// CHECK: return
func.func @apart(%a: !left, %b: !right, %x: tensor<64x32xf16, #sum>, %zero: !state) -> (!state, !state) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %0 = tilegpu.dot %a, %b, %zero unit <"wgmma.m64n32k16.f16.f32", warps 1 x 1> : (!left, !right, !state) -> !state
  %1 = tilegpu.dot %a, %b, %0 unit <"wgmma.m64n32k16.f16.f32", warps 1 x 1> : (!left, !right, !state) -> !state
  %2 = arith.addf %0, %1 : !state
  tilegpu.barrier
  tilegpu.shared_store %x, %b : tensor<64x32xf16, #sum>, !right
  tilegpu.barrier
  %3 = tilegpu.dot %a, %b, %1 unit <"wgmma.m64n32k16.f16.f32", warps 1 x 1> : (!left, !right, !state) -> !state
  return %2, %3 : !state, !state
}
}
