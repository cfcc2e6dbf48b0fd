// Conversions that make operands become buffers; one barrier then serves both stores.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-stage-operands))" %s | FileCheck %s
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-stage-operands,kiln-allocate-shared-memory,kiln-insert-barriers))" %s | FileCheck %s --check-prefix=BARRIERS

#la = #tilegpu.layout<"register: 0,1; lane: 0,2 0,4 0,8 1,0 2,0; warp: 4,0 8,0; block: -> 16x16">
#a = #tilegpu.layout<"register: 0,1 8,0 0,8; lane: 0,2 0,4 1,0 2,0 4,0; warp: 0,0 0,0; block: -> 16x16">
#b = #tilegpu.layout<"register: 1,0 8,0; lane: 2,0 4,0 0,1 0,2 0,4; warp: 0,8 0,16; block: -> 16x32">
#lb = #tilegpu.layout<"register: 0,1 0,2; lane: 0,4 0,8 0,16 1,0 2,0; warp: 4,0 8,0; block: -> 16x32">
#lbt = #tilegpu.layout<"register: 1,0 2,0; lane: 4,0 8,0 16,0 0,1 0,2; warp: 0,4 0,8; block: -> 32x16">
#bt = #tilegpu.layout<"register: 0,1 0,8; lane: 0,2 0,4 1,0 2,0 4,0; warp: 8,0 16,0; block: -> 32x16">
#c = #tilegpu.layout<"register: 0,1 8,0; lane: 0,2 0,4 1,0 2,0 4,0; warp: 0,8 0,16; block: -> 16x32">

#lw = #tilegpu.layout<"register: 0,1 0,2 0,4; lane: 0,8 0,16 1,0 2,0 4,0; warp: 8,0 0,0; block: -> 16x32">
#aw = #tilegpu.layout<"register: 0,1 8,0 0,8 0,16; lane: 0,2 0,4 1,0 2,0 4,0; warp: 0,0 0,0; block: -> 16x32">
#bw = #tilegpu.layout<"register: 1,0 8,0 16,0; lane: 2,0 4,0 0,1 0,2 0,4; warp: 0,8 0,16; block: -> 32x32">
// CHECK-DAG: #[[SWIZZLED:.*]] = #tilegpu.shared<"offset: 0,1 0,2 0,4 0,8 0,16 1,0 2,8 4,16 8,0 -> 16x32">

module attributes {tilegpu.target = "cuda:sm_80"} {
// CHECK-LABEL: func.func @both
// CHECK-NOT: convert_layout
// CHECK: %[[A:.*]] = tilegpu.alloc
// CHECK-NEXT: tilegpu.shared_store %arg0, %[[A]]
// CHECK-NEXT: %[[B:.*]] = tilegpu.alloc
// CHECK-NEXT: tilegpu.shared_store %arg1, %[[B]]
// CHECK-NEXT: %[[AF:.*]] = tilegpu.shared_load %[[A]]
// CHECK-NEXT: %[[BF:.*]] = tilegpu.shared_load %[[B]]
// CHECK-NEXT: tilegpu.dot %[[AF]], %[[BF]]
// BARRIERS-LABEL: func.func @both
// BARRIERS: shared_store
// BARRIERS-NOT: barrier
// BARRIERS: shared_store
// BARRIERS-NEXT: barrier
// BARRIERS-NEXT: shared_load
// BARRIERS-NEXT: shared_load
func.func @both(%x: tensor<16x16xf16, #la>, %y: tensor<16x32xf16, #lb>, %z: tensor<16x32xf32, #c>)
    -> tensor<16x32xf32, #c> attributes {tile.num_warps = 4 : i32} {
  %a = tilegpu.convert_layout %x : tensor<16x16xf16, #la> -> tensor<16x16xf16, #a>
  %b = tilegpu.convert_layout %y : tensor<16x32xf16, #lb> -> tensor<16x32xf16, #b>
  %d = tilegpu.dot %a, %b, %z unit <"mma.m16n8k16.f16.f32", warps 1 x 4>
      : (tensor<16x16xf16, #a>, tensor<16x32xf16, #b>, tensor<16x32xf32, #c>) -> tensor<16x32xf32, #c>
  return %d : tensor<16x32xf32, #c>
}

// A transposition between conversion and dot only renames axes; a conversion with another use stays.
// CHECK-LABEL: func.func @transposed
// CHECK: %[[A:.*]] = tilegpu.convert_layout %arg0
// CHECK: %[[B:.*]] = tilegpu.alloc
// CHECK: tilegpu.shared_store %arg1, %[[B]]
// CHECK: %[[L:.*]] = tilegpu.shared_load %[[B]]
// CHECK: %[[T:.*]] = tile.trans %[[L]], [1, 0]
// CHECK-NEXT: tilegpu.dot %[[A]], %[[T]]
func.func @transposed(%x: tensor<16x16xf16, #la>, %y: tensor<32x16xf16, #lbt>, %z: tensor<16x32xf32, #c>)
    -> (tensor<16x32xf32, #c>, tensor<16x16xf16, #a>) attributes {tile.num_warps = 4 : i32} {
  %a = tilegpu.convert_layout %x : tensor<16x16xf16, #la> -> tensor<16x16xf16, #a>
  %bt = tilegpu.convert_layout %y : tensor<32x16xf16, #lbt> -> tensor<32x16xf16, #bt>
  %b = tile.trans %bt, [1, 0] : tensor<32x16xf16, #bt> -> tensor<16x32xf16, #b>
  %d = tilegpu.dot %a, %b, %z unit <"mma.m16n8k16.f16.f32", warps 1 x 4>
      : (tensor<16x16xf16, #a>, tensor<16x32xf16, #b>, tensor<16x32xf32, #c>) -> tensor<16x32xf32, #c>
  return %d, %a : tensor<16x32xf32, #c>, tensor<16x16xf16, #a>
}

// What comes 16 bytes a thread lies in swizzled rows, as copies write it and ldmatrix reads it.
// CHECK-LABEL: func.func @wide
// CHECK: %[[A:.*]] = tilegpu.alloc : <16x32xf16, #[[SWIZZLED]]>
// CHECK-NEXT: tilegpu.shared_store %arg0, %[[A]]
func.func @wide(%x: tensor<16x32xf16, #lw>, %b: tensor<32x32xf16, #bw>, %z: tensor<16x32xf32, #c>) -> tensor<16x32xf32, #c>
    attributes {tile.num_warps = 4 : i32} {
  %a = tilegpu.convert_layout %x : tensor<16x32xf16, #lw> -> tensor<16x32xf16, #aw>
  %d = tilegpu.dot %a, %b, %z unit <"mma.m16n8k16.f16.f32", warps 1 x 4>
      : (tensor<16x32xf16, #aw>, tensor<32x32xf16, #bw>, tensor<16x32xf32, #c>) -> tensor<16x32xf32, #c>
  return %d : tensor<16x32xf32, #c>
}
}
