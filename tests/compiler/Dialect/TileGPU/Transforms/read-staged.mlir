// What lies in shared memory for dots does not go there again for another layout, and one barrier serves several stores.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-read-staged))" %s | FileCheck %s

#sum = #tilegpu.layout<"register: 0,1 8,0 0,8 0,16; lane: 0,2 0,4 1,0 2,0 4,0; warp: 16,0 32,0; block: -> 64x32">
#rows = #tilegpu.layout<"register: 0,1 0,2 0,4 32,0; lane: 0,8 0,16 1,0 2,0 4,0; warp: 8,0 16,0; block: -> 64x32">
#columns = #tilegpu.layout<"register: 1,0 2,0 4,0 0,32; lane: 8,0 16,0 0,1 0,2 0,4; warp: 0,8 0,16; block: -> 32x64">
#transposed = #tilegpu.layout<"register: 1,0 0,8 8,0 16,0; lane: 2,0 4,0 0,1 0,2 0,4; warp: 0,16 0,32; block: -> 32x64">
!left = !tilegpu.buffer<64x64xf16, #tilegpu.shared<"offset: 0,1 0,2 0,4 0,8 0,16 0,32 1,8 2,16 4,32 8,0 16,0 32,0 -> 64x64">>
!ring = !tilegpu.buffer<64x64xf16, #tilegpu.shared<"offset: 0,1 0,2 0,4 0,8 0,16 0,32 1,8 2,16 4,32 8,0 16,0 32,0 -> 64x64">, slots 2>
!right = !tilegpu.buffer<64x32xf16, #tilegpu.shared<"offset: 0,1 0,2 0,4 0,8 0,16 1,0 2,8 4,16 8,0 16,0 32,0 -> 64x32">>
!state = tensor<64x32xf32, #sum>
!half = tensor<64x32xf16, #sum>
!pointers = tensor<64x32x!tile.ptr<f16>, #rows>
!stored = tensor<64x32xf16, #rows>

module attributes {tilegpu.target = "cuda:sm_90a"} {
// Both states are stored for the dots before either is read, and the copies for the dots are waited for in front of that.
// CHECK-LABEL: func.func @states
// CHECK: %[[FIRST:.*]] = tilegpu.alloc
// CHECK-NEXT: tilegpu.shared_store %{{.*}}, %[[FIRST]]
// CHECK-NEXT: %[[SECOND:.*]] = tilegpu.alloc
// CHECK-NEXT: arith.truncf
// CHECK-NEXT: tilegpu.shared_store %{{.*}}, %[[SECOND]]
// CHECK-NEXT: tilegpu.proxy_fence
// CHECK-NEXT: tilegpu.wait pending 1
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.shared_load %[[FIRST]]
// CHECK-NEXT: tile.store
// CHECK-NEXT: tilegpu.shared_load %[[SECOND]]
// CHECK-NEXT: tile.store
// CHECK-NOT: tilegpu.shared_store
// CHECK-NOT: tilegpu.barrier
// CHECK: tilegpu.dot %{{.*}}, %[[FIRST]]
// CHECK-NOT: tilegpu.shared_store
// CHECK: tilegpu.dot %{{.*}}, %[[SECOND]]
func.func @states(%a: !state, %b: !state, %ring: !ring, %i: i32, %p: !pointers, %zero: !state) -> !state attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %x = arith.truncf %a : !state to !half
  %xr = tilegpu.convert_layout %x : !half -> !stored
  tile.store %p, %xr : (!pointers, !stored) -> ()
  %y = arith.truncf %b : !state to !half
  %yr = tilegpu.convert_layout %y : !half -> !stored
  tile.store %p, %yr : (!pointers, !stored) -> ()
  %b0 = tilegpu.alloc : !right
  tilegpu.shared_store %x, %b0 : !half, !right
  tilegpu.proxy_fence
  tilegpu.wait pending 1 for %ring : !ring
  tilegpu.barrier
  %w = tilegpu.slot %ring[%i] : !ring
  %0 = tilegpu.dot %w, %b0, %zero unit <"wgmma.m64n32k16.f16.f32", warps 1 x 1> : (!left, !right, !state) -> !state
  %b1 = tilegpu.alloc : !right
  tilegpu.shared_store %y, %b1 : !half, !right
  tilegpu.proxy_fence
  %1 = tilegpu.dot %w, %b1, %0 unit <"wgmma.m64n32k16.f16.f32", warps 1 x 1> : (!left, !right, !state) -> !state
  return %1 : !state
}

// Nothing but a dot wants the second one: it is stored ahead of the dot whose sum its own goes on with, behind that one's operand.
// CHECK-LABEL: func.func @operands
// CHECK: tilegpu.shared_store
// CHECK-NOT: tilegpu.dot
// CHECK: tilegpu.shared_store
// CHECK-NEXT: tilegpu.proxy_fence
// CHECK-NOT: tilegpu.proxy_fence
// CHECK: tilegpu.dot
// CHECK-NOT: tilegpu.shared_store
// CHECK: tilegpu.dot
func.func @operands(%x: !half, %y: !half, %w: !left, %zero: !state) -> !state attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %b0 = tilegpu.alloc : !right
  tilegpu.shared_store %x, %b0 : !half, !right
  tilegpu.proxy_fence
  %0 = tilegpu.dot %w, %b0, %zero unit <"wgmma.m64n32k16.f16.f32", warps 1 x 1> : (!left, !right, !state) -> !state
  %b1 = tilegpu.alloc : !right
  tilegpu.shared_store %y, %b1 : !half, !right
  tilegpu.proxy_fence
  %1 = tilegpu.dot %w, %b1, %0 unit <"wgmma.m64n32k16.f16.f32", warps 1 x 1> : (!left, !right, !state) -> !state
  return %1 : !state
}

// Not what is loaded from memory: the first dot would wait for it.
// CHECK-LABEL: func.func @loaded
// CHECK: tilegpu.shared_store
// CHECK: tilegpu.dot
// CHECK: tilegpu.shared_store
// CHECK: tilegpu.dot
func.func @loaded(%x: !half, %p: !pointers, %w: !left, %zero: !state) -> !state attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %y = tile.load %p : (!pointers) -> !stored
  %b0 = tilegpu.alloc : !right
  tilegpu.shared_store %x, %b0 : !half, !right
  tilegpu.proxy_fence
  %0 = tilegpu.dot %w, %b0, %zero unit <"wgmma.m64n32k16.f16.f32", warps 1 x 1> : (!left, !right, !state) -> !state
  %b1 = tilegpu.alloc : !right
  tilegpu.shared_store %y, %b1 : !stored, !right
  tilegpu.proxy_fence
  %1 = tilegpu.dot %w, %b1, %0 unit <"wgmma.m64n32k16.f16.f32", warps 1 x 1> : (!left, !right, !state) -> !state
  return %1 : !state
}

// The state is stored to memory with its axes as they are, and its transposition multiplied by.
// CHECK-LABEL: func.func @transposed
// CHECK: tile.trans
// CHECK-NEXT: tilegpu.shared_store %{{.*}}, %[[BUFFER:.*]] :
// CHECK-NEXT: tilegpu.proxy_fence
// CHECK-NEXT: %[[VIEW:.*]] = tilegpu.trans_buffer %[[BUFFER]], [1, 0]
// CHECK-NEXT: tilegpu.shared_load %[[VIEW]]
// CHECK-NOT: tilegpu.convert_layout
// CHECK-NOT: tilegpu.proxy_fence
// CHECK: tilegpu.dot %{{.*}}, %[[BUFFER]]
func.func @transposed(%x: tensor<32x64xf16, #transposed>, %w: !left, %zero: !state, %p: tensor<32x64x!tile.ptr<f16>, #columns>) -> !state attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %y = tilegpu.convert_layout %x : tensor<32x64xf16, #transposed> -> tensor<32x64xf16, #columns>
  tile.store %p, %y : (tensor<32x64x!tile.ptr<f16>, #columns>, tensor<32x64xf16, #columns>) -> ()
  %xt = tile.trans %x, [1, 0] : tensor<32x64xf16, #transposed> -> !half
  %b0 = tilegpu.alloc : !right
  tilegpu.shared_store %xt, %b0 : !half, !right
  tilegpu.proxy_fence
  %0 = tilegpu.dot %w, %b0, %zero unit <"wgmma.m64n32k16.f16.f32", warps 1 x 1> : (!left, !right, !state) -> !state
  return %0 : !state
}
}
