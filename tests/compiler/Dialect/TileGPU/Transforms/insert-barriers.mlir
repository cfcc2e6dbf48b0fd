// A barrier where threads could meet, and only there.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-insert-barriers))" %s | FileCheck %s

#l = #tilegpu.layout<"register: ; lane: 1 2 4 8 16; warp: 32; block: -> 64">
#m = #tilegpu.layout<"register: ; lane: 32 2 4 8 16; warp: 1; block: -> 64">
#s = #tilegpu.shared<"offset: 1 2 4 8 16 32 -> 64">

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
  %t = tilegpu.copy_async %p, %b : (tensor<64x!tile.ptr<f32>, #l>, !tilegpu.buffer<64xf32, #s>) -> !tilegpu.token
  %g = tilegpu.commit %t
  %r = tilegpu.wait %g releases %b pending 0 : !tilegpu.buffer<64xf32, #s>
  %y = tilegpu.shared_load %r : !tilegpu.buffer<64xf32, #s> -> tensor<64xf32, #m>
  return
}
}
