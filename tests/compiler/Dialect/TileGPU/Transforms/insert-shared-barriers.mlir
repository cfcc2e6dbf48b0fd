// Where barriers of shared memory alone cost less, accesses to it have these, and global memory has full ones.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-insert-barriers))" %s | FileCheck %s

#l = #tilegpu.layout<"register: ; lane: 1 2 4 8 16; warp: 32; block: -> 64">
#m = #tilegpu.layout<"register: ; lane: 32 2 4 8 16; warp: 1; block: -> 64">
#a = #tilegpu.layout<"register: 0,1 0,2 0,4 0,8; lane: 1,0 2,0 4,0 8,0 0,0; warp:; block: -> 16x16">
#b = #tilegpu.layout<"register: 1,0 2,0 4,0 8,0; lane: 0,1 0,2 0,4 0,8 0,0; warp:; block: -> 16x16">
#c = #tilegpu.layout<"register: 0,2 0,4 0,8; lane: 1,0 2,0 4,0 8,0 0,1; warp:; block: -> 16x16">
#s = #tilegpu.shared<"offset: 1 2 4 8 16 32 -> 64">

module attributes {tilegpu.target = "hip:gfx1100"} {
// CHECK-LABEL: func.func @sharedAlone
// CHECK: shared_store
// CHECK-NEXT: tilegpu.barrier of_shared{{$}}
// CHECK-NEXT: shared_load
// CHECK-NEXT: tilegpu.barrier of_shared{{$}}
// CHECK-NEXT: convert_layout
// CHECK-NOT: tilegpu.barrier
// CHECK: return
func.func @sharedAlone(%x: tensor<64xf32, #l>) {
  %b = tilegpu.alloc {tilegpu.offset = 0 : i32} : !tilegpu.buffer<64xf32, #s>
  tilegpu.shared_store %x, %b : tensor<64xf32, #l>, !tilegpu.buffer<64xf32, #s>
  %y = tilegpu.shared_load %b : !tilegpu.buffer<64xf32, #s> -> tensor<64xf32, #l>
  %z = tilegpu.convert_layout %y {tilegpu.offset = 0 : i32} : tensor<64xf32, #l> -> tensor<64xf32, #m>
  return
}

// The exchange's own barrier does not keep the array's elements in order; a full barrier does both.
// CHECK-LABEL: func.func @global
// CHECK: tile.load
// CHECK-NEXT: convert_layout
// CHECK-NEXT: tilegpu.barrier of_reads{{$}}
// CHECK-NEXT: tile.store
// CHECK-NEXT: tilegpu.barrier{{$}}
// CHECK-NEXT: tile.load
// CHECK-NEXT: convert_layout
// CHECK: return
func.func @global(%x: !tile.ptr<f32>) {
  %r = tile.arange 0, 64 : tensor<64xi32, #l>
  %q = tile.arange 0, 64 : tensor<64xi32, #m>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %py = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #m>
  %ax = tile.addptr %px, %r : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
  %ay = tile.addptr %py, %q : tensor<64x!tile.ptr<f32>, #m>, tensor<64xi32, #m>
  %v = tile.load %ax : (tensor<64x!tile.ptr<f32>, #l>) -> tensor<64xf32, #l>
  %w = tilegpu.convert_layout %v {tilegpu.offset = 0 : i32} : tensor<64xf32, #l> -> tensor<64xf32, #m>
  tile.store %ay, %w : (tensor<64x!tile.ptr<f32>, #m>, tensor<64xf32, #m>) -> ()
  %u = tile.load %ax : (tensor<64x!tile.ptr<f32>, #l>) -> tensor<64xf32, #l>
  %t = tilegpu.convert_layout %u {tilegpu.offset = 0 : i32} : tensor<64xf32, #l> -> tensor<64xf32, #m>
  return
}

// Of two arguments it is there whether they are one array or not beside products, where threads meet for shared memory anyway, and what was loaded has come.
// CHECK-LABEL: func.func @both
// CHECK: convert_layout
// CHECK-NEXT: tilegpu.barrier of_shared of_reads{{$}}
// CHECK-NEXT: shared_store
// CHECK-NEXT: tile.store
func.func @both(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %i: tensor<16x16xf16, #a>, %j: tensor<16x16xf16, #b>, %c: tensor<16x16xf32, #c>) -> tensor<16x16xf32, #c> {
  %r = tile.arange 0, 64 : tensor<64xi32, #l>
  %q = tile.arange 0, 64 : tensor<64xi32, #m>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #m>
  %ax = tile.addptr %px, %r : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
  %ay = tile.addptr %py, %q : tensor<64x!tile.ptr<f32>, #m>, tensor<64xi32, #m>
  %b = tilegpu.alloc {tilegpu.offset = 0 : i32} : !tilegpu.buffer<64xf32, #s>
  %v = tile.load %ax : (tensor<64x!tile.ptr<f32>, #l>) -> tensor<64xf32, #l>
  %w = tilegpu.convert_layout %v {tilegpu.offset = 0 : i32} : tensor<64xf32, #l> -> tensor<64xf32, #m>
  tilegpu.shared_store %v, %b : tensor<64xf32, #l>, !tilegpu.buffer<64xf32, #s>
  tile.store %ay, %w : (tensor<64x!tile.ptr<f32>, #m>, tensor<64xf32, #m>) -> ()
  %p = tilegpu.dot %i, %j, %c unit <"wmma.16x16x16.f16.f32" swapped, warps 1 x 1> : (tensor<16x16xf16, #a>, tensor<16x16xf16, #b>, tensor<16x16xf32, #c>) -> tensor<16x16xf32, #c>
  return %p : tensor<16x16xf32, #c>
}

// Without products a branch costs less than code in one piece around a barrier.
// CHECK-LABEL: func.func @withoutProducts
// CHECK: convert_layout
// CHECK-NEXT: tilegpu.barrier of_reads if
// CHECK-NEXT: tilegpu.barrier of_shared{{$}}
// CHECK-NEXT: shared_store
// CHECK-NEXT: tile.store
func.func @withoutProducts(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) {
  %r = tile.arange 0, 64 : tensor<64xi32, #l>
  %q = tile.arange 0, 64 : tensor<64xi32, #m>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #m>
  %ax = tile.addptr %px, %r : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
  %ay = tile.addptr %py, %q : tensor<64x!tile.ptr<f32>, #m>, tensor<64xi32, #m>
  %b = tilegpu.alloc {tilegpu.offset = 0 : i32} : !tilegpu.buffer<64xf32, #s>
  %v = tile.load %ax : (tensor<64x!tile.ptr<f32>, #l>) -> tensor<64xf32, #l>
  %w = tilegpu.convert_layout %v {tilegpu.offset = 0 : i32} : tensor<64xf32, #l> -> tensor<64xf32, #m>
  tilegpu.shared_store %v, %b : tensor<64xf32, #l>, !tilegpu.buffer<64xf32, #s>
  tile.store %ay, %w : (tensor<64x!tile.ptr<f32>, #m>, tensor<64xf32, #m>) -> ()
  return
}

// Where something is on its way, one of reads if they are one array, and beside it the one of shared memory.
// CHECK-LABEL: func.func @onItsWay
// CHECK: convert_layout
// CHECK-NEXT: tilegpu.barrier of_reads if
// CHECK-NEXT: tilegpu.barrier of_shared{{$}}
// CHECK-NEXT: shared_store
// CHECK-NEXT: tile.store
func.func @onItsWay(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) -> tensor<64xf32, #l> {
  %r = tile.arange 0, 64 : tensor<64xi32, #l>
  %q = tile.arange 0, 64 : tensor<64xi32, #m>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #m>
  %ax = tile.addptr %px, %r : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
  %ay = tile.addptr %py, %q : tensor<64x!tile.ptr<f32>, #m>, tensor<64xi32, #m>
  %b = tilegpu.alloc {tilegpu.offset = 0 : i32} : !tilegpu.buffer<64xf32, #s>
  %v = tile.load %ax : (tensor<64x!tile.ptr<f32>, #l>) -> tensor<64xf32, #l>
  %u = tile.load %ax : (tensor<64x!tile.ptr<f32>, #l>) -> tensor<64xf32, #l>
  %w = tilegpu.convert_layout %v {tilegpu.offset = 0 : i32} : tensor<64xf32, #l> -> tensor<64xf32, #m>
  tilegpu.shared_store %v, %b : tensor<64xf32, #l>, !tilegpu.buffer<64xf32, #s>
  tile.store %ay, %w : (tensor<64x!tile.ptr<f32>, #m>, tensor<64xf32, #m>) -> ()
  return %u : tensor<64xf32, #l>
}

// Of one argument a barrier is always there, and orders both.
// CHECK-LABEL: func.func @bothOfOne
// CHECK: convert_layout
// CHECK-NEXT: tilegpu.barrier of_shared of_reads{{$}}
// CHECK-NEXT: shared_store
// CHECK-NEXT: tile.store
func.func @bothOfOne(%x: !tile.ptr<f32>) {
  %r = tile.arange 0, 64 : tensor<64xi32, #l>
  %q = tile.arange 0, 64 : tensor<64xi32, #m>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %py = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #m>
  %ax = tile.addptr %px, %r : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
  %ay = tile.addptr %py, %q : tensor<64x!tile.ptr<f32>, #m>, tensor<64xi32, #m>
  %b = tilegpu.alloc {tilegpu.offset = 0 : i32} : !tilegpu.buffer<64xf32, #s>
  %v = tile.load %ax : (tensor<64x!tile.ptr<f32>, #l>) -> tensor<64xf32, #l>
  %w = tilegpu.convert_layout %v {tilegpu.offset = 0 : i32} : tensor<64xf32, #l> -> tensor<64xf32, #m>
  tilegpu.shared_store %v, %b : tensor<64xf32, #l>, !tilegpu.buffer<64xf32, #s>
  tile.store %ay, %w : (tensor<64x!tile.ptr<f32>, #m>, tensor<64xf32, #m>) -> ()
  return
}
}
