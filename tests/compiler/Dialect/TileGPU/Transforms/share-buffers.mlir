// Tiles that dots read from shared memory are stored once, ahead of what threads have no registers for.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-share-buffers))" %s | FileCheck %s

#acc = #tilegpu.layout<"register: 0,1 8,0 0,8 0,16 0,32; lane: 0,2 0,4 1,0 2,0 4,0; warp: 16,0 32,0; block: -> 64x64">
#rows = #tilegpu.layout<"register: 0,1 0,2 0,4 16,0 32,0; lane: 0,8 0,16 0,32 1,0 2,0; warp: 4,0 8,0; block: -> 64x64">
#columns = #tilegpu.layout<"register: 1,0 2,0 4,0 0,16 0,32; lane: 8,0 16,0 32,0 0,1 0,2; warp: 0,4 0,8; block: -> 64x64">
#a = #tilegpu.shared<"offset: 0,1 0,2 0,4 0,8 0,16 0,32 1,8 2,16 4,32 8,0 16,0 32,0 -> 64x64">
#at = #tilegpu.shared<"offset: 1,0 2,0 4,0 8,0 16,0 32,0 8,1 16,2 32,4 0,8 0,16 0,32 -> 64x64">
#wide = #tilegpu.layout<"register: 0,1 8,0 0,8 0,16 0,32 0,64 16,0 32,0; lane: 0,2 0,4 1,0 2,0 4,0; warp:; block: -> 64x128">
#operand = #tilegpu.layout<"register: 0,1 8,0 0,8 0,16 0,32 16,0 32,0; lane: 0,2 0,4 1,0 2,0 4,0; warp:; block: -> 64x64">
#loaded = #tilegpu.layout<"register: 0,1 0,2 0,4 4,0 8,0 16,0 32,0; lane: 0,8 0,16 0,32 1,0 2,0; warp:; block: -> 64x64">
#right = #tilegpu.layout<"register: 1,0 8,0 0,8 0,16 0,32 0,64 16,0 32,0; lane: 2,0 4,0 0,1 0,2 0,4; warp:; block: -> 64x128">
!panel = !tilegpu.buffer<64x128xbf16, #tilegpu.shared<"offset: 0,1 0,2 0,4 0,8 0,16 0,32 0,64 1,0 2,0 4,0 8,0 16,0 32,0 -> 64x128">>
!tile = tensor<64x64xbf16, #rows>
!sum = tensor<64x64xf32, #acc>
!buffer = !tilegpu.buffer<64x64xbf16, #a>
!transposed = !tilegpu.buffer<64x64xbf16, #at>

module attributes {tilegpu.target = "cuda:sm_90a"} {
// The second product reads the first one's buffer, the third its transposition. What is stored for
// a unit has a fence of its own behind it.
// CHECK-LABEL: func.func @stored_twice
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<64x64xbf16, {{.*}}>, %[[OTHER:[a-z0-9]+]]: !tilegpu.buffer
// CHECK: %[[BUFFER:.*]] = tilegpu.alloc
// CHECK-NEXT: tilegpu.shared_store %[[X]], %[[BUFFER]]
// CHECK-NEXT: tilegpu.proxy_fence
// CHECK: tilegpu.dot %[[BUFFER]], %[[OTHER]]
// CHECK-NOT: tilegpu.shared_store
// CHECK: tilegpu.dot %[[BUFFER]], %[[OTHER]]
// CHECK: %[[VIEW:.*]] = tilegpu.trans_buffer %[[BUFFER]], [1, 0]
// CHECK-NOT: tilegpu.shared_store
// CHECK: tilegpu.dot %[[VIEW]], %[[OTHER]]
func.func @stored_twice(%x: !tile, %other: !buffer, %c: !sum) -> !sum attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %b0 = tilegpu.alloc : !buffer
  tilegpu.shared_store %x, %b0 : !tile, !buffer
  tilegpu.proxy_fence
  %0 = tilegpu.dot %b0, %other, %c unit <"wgmma.m64n64k16.bf16.f32", warps 1 x 1> : (!buffer, !buffer, !sum) -> !sum
  %b1 = tilegpu.alloc : !buffer
  tilegpu.shared_store %x, %b1 : !tile, !buffer
  tilegpu.proxy_fence
  %1 = tilegpu.dot %b1, %other, %0 unit <"wgmma.m64n64k16.bf16.f32", warps 1 x 1> : (!buffer, !buffer, !sum) -> !sum
  %xt = tile.trans %x, [1, 0] : !tile -> tensor<64x64xbf16, #columns>
  %b2 = tilegpu.alloc : !transposed
  tilegpu.shared_store %xt, %b2 : tensor<64x64xbf16, #columns>, !transposed
  tilegpu.proxy_fence
  %2 = tilegpu.dot %b2, %other, %1 unit <"wgmma.m64n64k16.bf16.f32", warps 1 x 1> : (!transposed, !buffer, !sum) -> !sum
  return %2 : !sum
}

// A tile that comes from a buffer does not go to another.
// CHECK-LABEL: func.func @read_from_a_buffer
// CHECK: %[[BUFFER:.*]] = tilegpu.alloc
// CHECK-NEXT: tilegpu.shared_store %{{.*}}, %[[BUFFER]]
// CHECK-NEXT: tilegpu.proxy_fence
// CHECK-NOT: tilegpu.shared_store
// CHECK: tilegpu.dot %[[BUFFER]]
func.func @read_from_a_buffer(%x: tensor<64x64xbf16, #columns>, %other: !buffer, %c: !sum) -> !sum attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %b0 = tilegpu.alloc : !buffer
  tilegpu.shared_store %x, %b0 : tensor<64x64xbf16, #columns>, !buffer
  %y = tilegpu.shared_load %b0 : !buffer -> !tile
  %b1 = tilegpu.alloc : !buffer
  tilegpu.shared_store %y, %b1 : !tile, !buffer
  tilegpu.proxy_fence
  %0 = tilegpu.dot %b1, %other, %c unit <"wgmma.m64n64k16.bf16.f32", warps 1 x 1> : (!buffer, !buffer, !sum) -> !sum
  return %0 : !sum
}

// The loop's first buffer has another tile in each iteration, and what it reads of the third is of the iteration before; a
// buffer of another layout, or of two tiles, is left.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-4: tilegpu.shared_store
// CHECK: scf.for
// CHECK-COUNT-3: tilegpu.shared_store
// CHECK: return
func.func @others(%x: !tile, %z: !tile, %other: !buffer, %n: i32, %c: !sum) -> !sum attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %b0 = tilegpu.alloc : !buffer
  tilegpu.shared_store %x, %b0 : !tile, !buffer
  %0 = tilegpu.dot %b0, %other, %c unit <"wgmma.m64n64k16.bf16.f32", warps 1 x 1> : (!buffer, !buffer, !sum) -> !sum
  tilegpu.shared_store %z, %b0 : !tile, !buffer
  %1 = tilegpu.dot %b0, %other, %0 unit <"wgmma.m64n64k16.bf16.f32", warps 1 x 1> : (!buffer, !buffer, !sum) -> !sum
  %b1 = tilegpu.alloc : !buffer
  tilegpu.shared_store %x, %b1 : !tile, !buffer
  %2 = tilegpu.dot %b1, %other, %1 unit <"wgmma.m64n64k16.bf16.f32", warps 1 x 1> : (!buffer, !buffer, !sum) -> !sum
  %b2 = tilegpu.alloc : !transposed
  tilegpu.shared_store %x, %b2 : !tile, !transposed
  %3 = tilegpu.dot %b2, %other, %2 unit <"wgmma.m64n64k16.bf16.f32", warps 1 x 1> : (!transposed, !buffer, !sum) -> !sum
  %b3 = tilegpu.alloc : !buffer
  %b5 = tilegpu.alloc : !buffer
  %4:2 = scf.for %i = %zero to %n step %one iter_args(%s = %3, %y = %z) -> (!sum, !tile) : i32 {
    tilegpu.shared_store %y, %b3 : !tile, !buffer
    %5 = tilegpu.dot %b3, %other, %s unit <"wgmma.m64n64k16.bf16.f32", warps 1 x 1> : (!buffer, !buffer, !sum) -> !sum
    %b4 = tilegpu.alloc : !buffer
    tilegpu.shared_store %y, %b4 : !tile, !buffer
    %6 = tilegpu.dot %b4, %other, %5 unit <"wgmma.m64n64k16.bf16.f32", warps 1 x 1> : (!buffer, !buffer, !sum) -> !sum
    %7 = tilegpu.dot %b5, %other, %6 unit <"wgmma.m64n64k16.bf16.f32", warps 1 x 1> : (!buffer, !buffer, !sum) -> !sum
    tilegpu.shared_store %x, %b5 : !tile, !buffer
    scf.yield %7, %y : !sum, !tile
  }
  return %4#0 : !sum
}

// The sum alone fills a thread: the product reads the operand from shared memory, a step at a time.
// CHECK-LABEL: func.func @read_where_used
// CHECK: %[[KEPT:.*]] = tilegpu.alloc
// CHECK-NEXT: tilegpu.shared_store %{{.*}}, %[[KEPT]]
// CHECK-NOT: convert_layout
// CHECK: scf.for
// CHECK: %[[READ:.*]] = tilegpu.shared_load %[[KEPT]]
// CHECK-NEXT: tilegpu.dot %[[READ]]
func.func @read_where_used(%x: tensor<64x64xbf16, #loaded>, %n: i32, %b: !panel,
    %c: tensor<64x128xf32, #wide>) -> tensor<64x128xf32, #wide> attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %a = tilegpu.convert_layout %x : tensor<64x64xbf16, #loaded> -> tensor<64x64xbf16, #operand>
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %c) -> (tensor<64x128xf32, #wide>) : i32 {
    %r = tilegpu.shared_load %b : !panel -> tensor<64x128xbf16, #right>
    %1 = tilegpu.dot %a, %r, %s unit <"mma.m16n8k16.bf16.f32", warps 1 x 1> : (tensor<64x64xbf16, #operand>, tensor<64x128xbf16, #right>, tensor<64x128xf32, #wide>) -> tensor<64x128xf32, #wide>
    scf.yield %1 : tensor<64x128xf32, #wide>
  }
  return %sum : tensor<64x128xf32, #wide>
}

// What waits for its buffer goes there ahead of the first product.
// CHECK-LABEL: func.func @store_earlier
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<64x64xbf16, {{.*}}>, %{{.*}}: i32
// CHECK: %[[EARLY:.*]] = tilegpu.alloc
// CHECK-NEXT: tilegpu.shared_store %[[X]], %[[EARLY]]
// CHECK: tilegpu.dot
// CHECK-NOT: tilegpu.shared_store
// CHECK: tilegpu.shared_load %[[EARLY]]
// CHECK: tilegpu.dot
func.func @store_earlier(%x: tensor<64x64xbf16, #loaded>, %n: i32, %b: !panel,
    %y: tensor<64x64xbf16, #operand>, %c: tensor<64x128xf32, #wide>) -> tensor<64x128xf32, #wide> attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %r = tilegpu.shared_load %b : !panel -> tensor<64x128xbf16, #right>
  %1 = tilegpu.dot %y, %r, %c unit <"mma.m16n8k16.bf16.f32", warps 1 x 1> : (tensor<64x64xbf16, #operand>, tensor<64x128xbf16, #right>, tensor<64x128xf32, #wide>) -> tensor<64x128xf32, #wide>
  %k = tilegpu.alloc : !buffer
  tilegpu.shared_store %x, %k : tensor<64x64xbf16, #loaded>, !buffer
  %a = tilegpu.shared_load %k : !buffer -> tensor<64x64xbf16, #operand>
  %2 = tilegpu.dot %a, %r, %1 unit <"mma.m16n8k16.bf16.f32", warps 1 x 1> : (tensor<64x64xbf16, #operand>, tensor<64x128xbf16, #right>, tensor<64x128xf32, #wide>) -> tensor<64x128xf32, #wide>
  return %2 : tensor<64x128xf32, #wide>
}
}
