// A barrier where threads could meet, and only there.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-insert-barriers))" %s | FileCheck %s

#l = #tilegpu.layout<"register: ; lane: 1 2 4 8 16; warp: 32; block: -> 64">
#m = #tilegpu.layout<"register: ; lane: 32 2 4 8 16; warp: 1; block: -> 64">
#s = #tilegpu.shared<"offset: 1 2 4 8 16 32 -> 64">
#w = #tilegpu.layout<"register: 0,1 8,0 0,8; lane: 0,2 0,4 1,0 2,0 4,0; warp: 16,0 32,0; block: -> 64x16">
#lb = #tilegpu.layout<"register: 1,0; lane: 2,0 4,0 8,0 0,1 0,2; warp: 0,4 0,8; block: -> 16x16">
#sb = #tilegpu.shared<"offset: 1,0 2,0 4,0 8,0 0,1 0,2 8,4 0,8 -> 16x16">
#sa = #tilegpu.shared<"offset: 0,1 0,2 0,4 0,8 1,0 2,0 4,8 8,0 16,0 32,0 -> 64x16">

module attributes {tilegpu.target = "cuda:sm_80"} {
// CHECK-LABEL: func.func @readAfterWrite
// CHECK: shared_store
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: shared_load
// CHECK-NEXT: shared_load
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: shared_store
// CHECK-NEXT: return
func.func @readAfterWrite(%x: tensor<64xf32, #l>) {
  %b = tilegpu.alloc {tilegpu.offset = 0 : i32} : !tilegpu.buffer<64xf32, #s>
  tilegpu.shared_store %x, %b : tensor<64xf32, #l>, !tilegpu.buffer<64xf32, #s>
  %y = tilegpu.shared_load %b : !tilegpu.buffer<64xf32, #s> -> tensor<64xf32, #m>
  %z = tilegpu.shared_load %b : !tilegpu.buffer<64xf32, #s> -> tensor<64xf32, #l>
  tilegpu.shared_store %z, %b : tensor<64xf32, #l>, !tilegpu.buffer<64xf32, #s>
  return
}

// Apart in memory, or separated by the user's barrier.
// CHECK-LABEL: func.func @disjoint
// CHECK-NOT: tilegpu.barrier
// CHECK: return
func.func @disjoint(%x: tensor<64xf32, #l>) {
  %a = tilegpu.alloc {tilegpu.offset = 0 : i32} : !tilegpu.buffer<64xf32, #s>
  %b = tilegpu.alloc {tilegpu.offset = 256 : i32} : !tilegpu.buffer<64xf32, #s>
  tilegpu.shared_store %x, %a : tensor<64xf32, #l>, !tilegpu.buffer<64xf32, #s>
  tilegpu.shared_store %x, %b : tensor<64xf32, #l>, !tilegpu.buffer<64xf32, #s>
  tile.barrier
  %y = tilegpu.shared_load %a : !tilegpu.buffer<64xf32, #s> -> tensor<64xf32, #m>
  return
}

// The next iteration writes what this one reads: the back edge needs the barrier.
// CHECK-LABEL: func.func @backEdge
// CHECK: scf.for
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: convert_layout
// CHECK-NOT: tilegpu.barrier
// CHECK: return
func.func @backEdge(%x: tensor<64xf32, #l>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    %y = tilegpu.convert_layout %x {tilegpu.offset = 0 : i32} : tensor<64xf32, #l> -> tensor<64xf32, #m>
  }
  return
}

// Two exchanges apart in memory separate each other: no barrier but their own.
// CHECK-LABEL: func.func @twoExchanges
// CHECK-NOT: tilegpu.barrier
// CHECK: return
func.func @twoExchanges(%x: tensor<64xf32, #l>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    %y = tilegpu.convert_layout %x {tilegpu.offset = 0 : i32} : tensor<64xf32, #l> -> tensor<64xf32, #m>
    %z = tilegpu.convert_layout %x {tilegpu.offset = 256 : i32} : tensor<64xf32, #l> -> tensor<64xf32, #m>
  }
  return
}

// One branch leaves a write behind.
// CHECK-LABEL: func.func @branch
// CHECK: scf.if
// CHECK: }
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: shared_load
func.func @branch(%x: tensor<64xf32, #l>, %c: i1) {
  %b = tilegpu.alloc {tilegpu.offset = 0 : i32} : !tilegpu.buffer<64xf32, #s>
  scf.if %c {
    tilegpu.shared_store %x, %b : tensor<64xf32, #l>, !tilegpu.buffer<64xf32, #s>
  }
  %y = tilegpu.shared_load %b : !tilegpu.buffer<64xf32, #s> -> tensor<64xf32, #m>
  return
}

// What a wait releases has arrived for this thread only.
// CHECK-LABEL: func.func @asyncCopy
// CHECK: tilegpu.wait
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: shared_load
func.func @asyncCopy(%p: tensor<64x!tile.ptr<f32>, #l>) {
  %b = tilegpu.alloc {tilegpu.offset = 0 : i32} : !tilegpu.buffer<64xf32, #s>
  tilegpu.copy_async %p, %b vector 1 : tensor<64x!tile.ptr<f32>, #l>, !tilegpu.buffer<64xf32, #s>
  tilegpu.commit
  tilegpu.wait pending 0 for %b : !tilegpu.buffer<64xf32, #s>
  %y = tilegpu.shared_load %b : !tilegpu.buffer<64xf32, #s> -> tensor<64xf32, #m>
  return
}

// Who makes a ring orders the accesses to its slots; another buffer at the same place is not part of it.
// CHECK-LABEL: func.func @ring
// CHECK: copy_async
// CHECK-NEXT: shared_load
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: shared_store
func.func @ring(%p: tensor<64x!tile.ptr<f32>, #l>, %x: tensor<64xf32, #l>, %i: i32, %j: i32) {
  %r = tilegpu.alloc {tilegpu.offset = 0 : i32} : !tilegpu.buffer<64xf32, #s, slots 2>
  %o = tilegpu.alloc {tilegpu.offset = 256 : i32} : !tilegpu.buffer<64xf32, #s>
  %a = tilegpu.slot %r[%i] : !tilegpu.buffer<64xf32, #s, slots 2>
  %b = tilegpu.slot %r[%j] : !tilegpu.buffer<64xf32, #s, slots 2>
  tilegpu.copy_async %p, %a vector 1 : tensor<64x!tile.ptr<f32>, #l>, !tilegpu.buffer<64xf32, #s>
  %y = tilegpu.shared_load %b : !tilegpu.buffer<64xf32, #s> -> tensor<64xf32, #m>
  tilegpu.shared_store %x, %o : tensor<64xf32, #l>, !tilegpu.buffer<64xf32, #s>
  return
}

// A dot reads its buffers.
// CHECK-LABEL: func.func @dot
// CHECK: shared_store
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.dot
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: shared_store
func.func @dot(%a: tensor<64x16xf16, #w>, %x: tensor<16x16xf16, #lb>, %c: tensor<64x16xf32, #w>) {
  %b = tilegpu.alloc {tilegpu.offset = 0 : i32} : !tilegpu.buffer<16x16xf16, #sb>
  tilegpu.shared_store %x, %b : tensor<16x16xf16, #lb>, !tilegpu.buffer<16x16xf16, #sb>
  %d = tilegpu.dot %a, %b, %c unit <"wgmma.m64n16k16.f16.f32", warps 1 x 1>
      : (tensor<64x16xf16, #w>, !tilegpu.buffer<16x16xf16, #sb>, tensor<64x16xf32, #w>) -> tensor<64x16xf32, #w>
  tilegpu.shared_store %x, %b : tensor<16x16xf16, #lb>, !tilegpu.buffer<16x16xf16, #sb>
  return
}

// A dot in flight reads on behind a barrier, until it is waited for.
// CHECK-LABEL: func.func @dotInFlight
// CHECK: tilegpu.dot async
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.dot_wait
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: shared_store
func.func @dotInFlight(%x: tensor<16x16xf16, #lb>, %a: !tilegpu.buffer<64x16xf16, #sa>, %c: tensor<64x16xf32, #w>) {
  %b = tilegpu.alloc {tilegpu.offset = 0 : i32} : !tilegpu.buffer<16x16xf16, #sb>
  %d = tilegpu.dot async %a, %b, %c unit <"wgmma.m64n16k16.f16.f32", warps 1 x 1>
      : (!tilegpu.buffer<64x16xf16, #sa>, !tilegpu.buffer<16x16xf16, #sb>, tensor<64x16xf32, #w>) -> tensor<64x16xf32, #w>
  tilegpu.barrier
  %r = tilegpu.dot_wait pending 0 for %d : tensor<64x16xf32, #w>
  tilegpu.shared_store %x, %b : tensor<16x16xf16, #lb>, !tilegpu.buffer<16x16xf16, #sb>
  return
}
}
