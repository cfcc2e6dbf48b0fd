// Operands of a product share memory, one after the other, where a processor runs more blocks for it.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-take-turns,kiln-allocate-shared-memory,kiln-insert-barriers))" %s | FileCheck %s

#sum = #tilegpu.layout<"register: 0,1 0,2 0,8 0,16; lane: 1,0 2,0 4,0 8,0 16,0 0,4; warp: 0,32 32,0; block: -> 64x64">
#rows = #tilegpu.layout<"register: 0,1 0,2 0,4 1,0; lane: 0,8 0,16 0,32 2,0 4,0 8,0; warp: 16,0 32,0; block: -> 64x64">
#columns = #tilegpu.layout<"register: 1,0 2,0 4,0 0,1; lane: 8,0 16,0 32,0 0,2 0,4 0,8; warp: 0,16 0,32; block: -> 64x64">
#left = #tilegpu.layout<"register: 0,1 0,2 0,4 0,16 0,32; lane: 1,0 2,0 4,0 8,0 16,0 0,8; warp: 0,0 32,0; block: -> 64x64">
#right = #tilegpu.layout<"register: 1,0 2,0 4,0 16,0 32,0; lane: 0,1 0,2 0,4 0,8 0,16 8,0; warp: 0,32 0,0; block: -> 64x64">
#leftAcross = #tilegpu.layout<"register: 1,0 2,0 4,0 16,0 32,0; lane: 0,1 0,2 0,4 0,8 0,16 8,0; warp: 0,0 0,32; block: -> 64x64">
!ofRows = !tilegpu.buffer<64x64xf16, #tilegpu.shared<"offset: 0,1 0,2 0,4 8,0 16,0 32,0 0,32 0,16 0,8 9,0 18,0 52,0 -> 64x64">>
!ofColumns = !tilegpu.buffer<64x64xf16, #tilegpu.shared<"offset: 1,0 2,0 4,0 0,8 0,16 0,32 32,0 16,0 8,0 0,9 0,18 0,52 -> 64x64">>
!whole = !tilegpu.buffer<256x64xf16, #tilegpu.shared<"offset: 0,1 0,2 0,4 0,8 0,16 0,32 1,0 2,0 4,0 8,0 16,0 32,0 64,0 128,0 -> 256x64">>
#all = #tilegpu.layout<"register: 0,1 0,2 0,4 1,0 64,0 128,0; lane: 0,8 0,16 0,32 2,0 4,0 8,0; warp: 16,0 32,0; block: -> 256x64">
!a = tensor<64x64xf16, #rows>
!b = tensor<64x64xf16, #columns>
!c = tensor<64x64xf32, #sum>

module attributes {tilegpu.target = "hip:gfx942"} {
// CHECK-LABEL: func.func @turns
// CHECK-SAME: tilegpu.shared_bytes = 8192
// CHECK: %[[A:.*]] = tilegpu.alloc {tilegpu.offset = 0 : i32}
// CHECK-NEXT: tilegpu.shared_store %{{.*}}, %[[A]]
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: %[[X:.*]] = tilegpu.shared_load %[[A]]
// CHECK-NEXT: %[[B:.*]] = tilegpu.alloc {tilegpu.offset = 0 : i32}
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.shared_store %{{.*}}, %[[B]]
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: %[[Y:.*]] = tilegpu.shared_load %[[B]]
// CHECK-NEXT: tilegpu.dot %[[X]], %[[Y]]
func.func @turns(%x: !a, %y: !b, %c: !c) -> !c attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %p = tilegpu.alloc : !ofRows
  tilegpu.shared_store %x, %p : !a, !ofRows
  %q = tilegpu.alloc : !ofColumns
  tilegpu.shared_store %y, %q : !b, !ofColumns
  %l = tilegpu.shared_load %p : !ofRows -> tensor<64x64xf16, #left>
  %r = tilegpu.shared_load %q : !ofColumns -> tensor<64x64xf16, #right>
  %0 = tilegpu.dot %l, %r, %c unit <"mfma.32x32x8x2.f16.f32" swapped, warps 2 x 2> : (tensor<64x64xf16, #left>, tensor<64x64xf16, #right>, !c) -> !c
  return %0 : !c
}

// Of two whose fragments take as many registers, the first is what is there first.
// CHECK-LABEL: func.func @made_first
// CHECK: %[[B:.*]] = arith.negf
// CHECK: %[[A:.*]] = arith.negf
// CHECK: tilegpu.shared_store %[[B]],
// CHECK: tilegpu.shared_load
// CHECK: tilegpu.shared_store %[[A]],
// CHECK: tilegpu.shared_load
// CHECK: tilegpu.dot
func.func @made_first(%x: !a, %y: !b, %c: !c) -> !c attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %b = arith.negf %y : !b
  %a = arith.negf %x : !a
  %p = tilegpu.alloc : !ofRows
  tilegpu.shared_store %a, %p : !a, !ofRows
  %q = tilegpu.alloc : !ofColumns
  tilegpu.shared_store %b, %q : !b, !ofColumns
  %l = tilegpu.shared_load %p : !ofRows -> tensor<64x64xf16, #left>
  %r = tilegpu.shared_load %q : !ofColumns -> tensor<64x64xf16, #right>
  %0 = tilegpu.dot %l, %r, %c unit <"mfma.32x32x8x2.f16.f32" swapped, warps 2 x 2> : (tensor<64x64xf16, #left>, tensor<64x64xf16, #right>, !c) -> !c
  return %0 : !c
}

// What is read of the second is transposed behind that.
// CHECK-LABEL: func.func @transposed
// CHECK: tilegpu.shared_store
// CHECK: %[[R:.*]] = tilegpu.shared_load
// CHECK: tilegpu.shared_store
// CHECK: %[[L:.*]] = tilegpu.shared_load
// CHECK: %[[T:.*]] = tile.trans %[[L]]
// CHECK: tilegpu.dot %[[T]], %[[R]]
func.func @transposed(%x: !b, %y: !b, %c: !c) -> !c attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %b = arith.negf %y : !b
  %a = arith.negf %x : !b
  %p = tilegpu.alloc : !ofColumns
  tilegpu.shared_store %a, %p : !b, !ofColumns
  %q = tilegpu.alloc : !ofColumns
  tilegpu.shared_store %b, %q : !b, !ofColumns
  %l = tilegpu.shared_load %p : !ofColumns -> tensor<64x64xf16, #leftAcross>
  %t = tile.trans %l, [1, 0] : tensor<64x64xf16, #leftAcross> -> tensor<64x64xf16, #left>
  %r = tilegpu.shared_load %q : !ofColumns -> tensor<64x64xf16, #right>
  %0 = tilegpu.dot %t, %r, %c unit <"mfma.32x32x8x2.f16.f32" swapped, warps 2 x 2> : (tensor<64x64xf16, #left>, tensor<64x64xf16, #right>, !c) -> !c
  return %0 : !c
}

// Beside a tile of 32 KiB there is one block in any case.
// CHECK-LABEL: func.func @no_more
// CHECK-SAME: tilegpu.shared_bytes = 49152
// CHECK: tilegpu.shared_store
// CHECK: tilegpu.shared_store
// CHECK: tilegpu.shared_store
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.shared_load
// CHECK-NEXT: tilegpu.shared_load
// CHECK-NOT: tilegpu.barrier
// CHECK: return
func.func @no_more(%x: !a, %y: !b, %c: !c, %z: tensor<256x64xf16, #all>) -> (!c, tensor<256x64xf16, #all>) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %w = tilegpu.alloc : !whole
  tilegpu.shared_store %z, %w : tensor<256x64xf16, #all>, !whole
  %p = tilegpu.alloc : !ofRows
  tilegpu.shared_store %x, %p : !a, !ofRows
  %q = tilegpu.alloc : !ofColumns
  tilegpu.shared_store %y, %q : !b, !ofColumns
  %l = tilegpu.shared_load %p : !ofRows -> tensor<64x64xf16, #left>
  %r = tilegpu.shared_load %q : !ofColumns -> tensor<64x64xf16, #right>
  %0 = tilegpu.dot %l, %r, %c unit <"mfma.32x32x8x2.f16.f32" swapped, warps 2 x 2> : (tensor<64x64xf16, #left>, tensor<64x64xf16, #right>, !c) -> !c
  %1 = tilegpu.shared_load %w : !whole -> tensor<256x64xf16, #all>
  return %0, %1 : !c, tensor<256x64xf16, #all>
}
}
