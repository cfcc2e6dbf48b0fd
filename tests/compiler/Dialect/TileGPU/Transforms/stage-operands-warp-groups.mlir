// Units that read shared memory take buffers, in swizzled rows along the axis that is contiguous in the producer.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-stage-operands))" %s | FileCheck %s

// What is loaded, 16 bytes a thread: along k, along n.
#ak = #tilegpu.layout<"register: 0,1 0,2 0,4 32,0; lane: 0,8 0,16 1,0 2,0 4,0; warp: 8,0 16,0; block: -> 64x32">
#bk = #tilegpu.layout<"register: 1,0 2,0 4,0; lane: 8,0 16,0 0,1 0,2 0,4; warp: 0,8 0,0; block: -> 32x16">
#bn = #tilegpu.layout<"register: 0,1 0,2 0,4; lane: 0,8 1,0 2,0 4,0 8,0; warp: 16,0 0,0; block: -> 32x16">
#nb = #tilegpu.layout<"register: 0,1 0,2 0,4; lane: 0,8 0,16 1,0 2,0 4,0; warp: 8,0 0,0; block: -> 16x32">
// The same rows in each warp as in its fragments.
#aw = #tilegpu.layout<"register: 0,1 0,2 0,4 8,0; lane: 0,8 0,16 1,0 2,0 4,0; warp: 16,0 32,0; block: -> 64x32">
// Fragments of wgmma.m64n16k16, and of wgmma.m64n16k32 of bytes.
#a = #tilegpu.layout<"register: 0,1 8,0 0,8 0,16; lane: 0,2 0,4 1,0 2,0 4,0; warp: 16,0 32,0; block: -> 64x32">
#b = #tilegpu.layout<"register: 1,0 8,0 0,8 16,0; lane: 2,0 4,0 0,1 0,2 0,4; warp: 0,0 0,0; block: -> 32x16">
#bt = #tilegpu.layout<"register: 0,1 0,8 8,0 0,16; lane: 0,2 0,4 1,0 2,0 4,0; warp: 0,0 0,0; block: -> 16x32">
#c = #tilegpu.layout<"register: 0,1 8,0 0,8; lane: 0,2 0,4 1,0 2,0 4,0; warp: 16,0 32,0; block: -> 64x16">
#a8 = #tilegpu.layout<"register: 0,1 0,2 8,0 0,16; lane: 0,4 0,8 1,0 2,0 4,0; warp: 16,0 32,0; block: -> 64x32">
#b8 = #tilegpu.layout<"register: 1,0 2,0 16,0 0,8; lane: 4,0 8,0 0,1 0,2 0,4; warp: 0,0 0,0; block: -> 32x16">

// CHECK-DAG: #[[KA:.*]] = #tilegpu.shared<"offset: 0,1 0,2 0,4 0,8 0,16 1,0 2,8 4,16 8,0 16,0 32,0 -> 64x32">
// CHECK-DAG: #[[KB:.*]] = #tilegpu.shared<"offset: 1,0 2,0 4,0 8,0 16,0 0,1 8,2 16,4 0,8 -> 32x16">
// CHECK-DAG: #[[NB:.*]] = #tilegpu.shared<"offset: 0,1 0,2 0,4 0,8 1,0 2,0 4,8 8,0 16,0 -> 32x16">
// CHECK-DAG: #[[BYTES:.*]] = #tilegpu.shared<"offset: 1,0 2,0 4,0 8,0 16,0 0,1 0,2 16,4 0,8 -> 32x16">

module attributes {tilegpu.target = "cuda:sm_90a"} {
// CHECK-LABEL: func.func @bothShared
// CHECK: %[[A:.*]] = tilegpu.alloc : <64x32xf16, #[[KA]]>
// CHECK-NEXT: tilegpu.shared_store %arg0, %[[A]]
// CHECK-NEXT: %[[B:.*]] = tilegpu.alloc : <32x16xf16, #[[NB]]>
// CHECK-NEXT: tilegpu.shared_store %arg1, %[[B]]
// CHECK-NEXT: tilegpu.proxy_fence
// CHECK-NEXT: tilegpu.dot %[[A]], %[[B]], %arg2 unit
// CHECK-NOT: convert_layout
func.func @bothShared(%x: tensor<64x32xf16, #ak>, %y: tensor<32x16xf16, #bn>, %z: tensor<64x16xf32, #c>) -> tensor<64x16xf32, #c>
    attributes {tile.num_warps = 4 : i32} {
  %a = tilegpu.convert_layout %x : tensor<64x32xf16, #ak> -> tensor<64x32xf16, #a>
  %b = tilegpu.convert_layout %y : tensor<32x16xf16, #bn> -> tensor<32x16xf16, #b>
  %d = tilegpu.dot %a, %b, %z unit <"wgmma.m64n16k16.f16.f32", warps 1 x 1>
      : (tensor<64x32xf16, #a>, tensor<32x16xf16, #b>, tensor<64x16xf32, #c>) -> tensor<64x16xf32, #c>
  return %d : tensor<64x16xf32, #c>
}

// A that the threads have computed as the unit wants it stays where it is; a B along k stays along k.
// CHECK-LABEL: func.func @registers
// CHECK: %[[B:.*]] = tilegpu.alloc : <32x16xf16, #[[KB]]>
// CHECK: tilegpu.shared_store %arg1, %[[B]]
// CHECK: tilegpu.proxy_fence
// CHECK-NEXT: tilegpu.dot %arg0, %[[B]], %arg2 unit
func.func @registers(%a: tensor<64x32xf16, #a>, %y: tensor<32x16xf16, #bk>, %z: tensor<64x16xf32, #c>) -> tensor<64x16xf32, #c>
    attributes {tile.num_warps = 4 : i32} {
  %b = tilegpu.convert_layout %y : tensor<32x16xf16, #bk> -> tensor<32x16xf16, #b>
  %d = tilegpu.dot %a, %b, %z unit <"wgmma.m64n16k16.f16.f32", warps 1 x 1>
      : (tensor<64x32xf16, #a>, tensor<32x16xf16, #b>, tensor<64x16xf32, #c>) -> tensor<64x16xf32, #c>
  return %d : tensor<64x16xf32, #c>
}

// A that lanes would exchange is stored where the block loads it, as copies then bring it, and not where threads compute it.
// CHECK-LABEL: func.func @lanes
// CHECK: %[[X:.*]] = tile.load %arg0
// CHECK: %[[TWICE:.*]] = arith.addf %[[X]], %[[X]]
// CHECK: %[[EXCHANGED:.*]] = tilegpu.convert_layout %[[TWICE]]
// CHECK: %[[A:.*]] = tilegpu.alloc : <64x32xf16, #[[KA]]>
// CHECK-NEXT: tilegpu.shared_store %[[X]], %[[A]]
// CHECK: tilegpu.dot %[[A]], %{{.*}}, %arg2 unit
// CHECK: tilegpu.dot %[[EXCHANGED]], %{{.*}}, %{{.*}} unit
func.func @lanes(%p: tensor<64x32x!tile.ptr<f16>, #aw>, %y: tensor<32x16xf16, #bn>, %z: tensor<64x16xf32, #c>) -> tensor<64x16xf32, #c>
    attributes {tile.num_warps = 4 : i32} {
  %x = tile.load %p : (tensor<64x32x!tile.ptr<f16>, #aw>) -> tensor<64x32xf16, #aw>
  %twice = arith.addf %x, %x : tensor<64x32xf16, #aw>
  %a = tilegpu.convert_layout %x : tensor<64x32xf16, #aw> -> tensor<64x32xf16, #a>
  %a2 = tilegpu.convert_layout %twice : tensor<64x32xf16, #aw> -> tensor<64x32xf16, #a>
  %b = tilegpu.convert_layout %y : tensor<32x16xf16, #bn> -> tensor<32x16xf16, #b>
  %d = tilegpu.dot %a, %b, %z unit <"wgmma.m64n16k16.f16.f32", warps 1 x 1>
      : (tensor<64x32xf16, #a>, tensor<32x16xf16, #b>, tensor<64x16xf32, #c>) -> tensor<64x16xf32, #c>
  %e = tilegpu.dot %a2, %b, %d unit <"wgmma.m64n16k16.f16.f32", warps 1 x 1>
      : (tensor<64x32xf16, #a>, tensor<32x16xf16, #b>, tensor<64x16xf32, #c>) -> tensor<64x16xf32, #c>
  return %e : tensor<64x16xf32, #c>
}

// What is transposed is what was loaded, not its fragments.
// CHECK-LABEL: func.func @transposed
// CHECK: %[[T:.*]] = tile.trans %arg1, [1, 0]
// CHECK: %[[B:.*]] = tilegpu.alloc : <32x16xf16, #[[KB]]>
// CHECK-NEXT: tilegpu.shared_store %[[T]], %[[B]]
// CHECK-NOT: trans
// CHECK: tilegpu.dot %arg0, %[[B]]
func.func @transposed(%a: tensor<64x32xf16, #a>, %y: tensor<16x32xf16, #nb>, %z: tensor<64x16xf32, #c>) -> tensor<64x16xf32, #c>
    attributes {tile.num_warps = 4 : i32} {
  %bt = tilegpu.convert_layout %y : tensor<16x32xf16, #nb> -> tensor<16x32xf16, #bt>
  %b = tile.trans %bt, [1, 0] : tensor<16x32xf16, #bt> -> tensor<32x16xf16, #b>
  %d = tilegpu.dot %a, %b, %z unit <"wgmma.m64n16k16.f16.f32", warps 1 x 1>
      : (tensor<64x32xf16, #a>, tensor<32x16xf16, #b>, tensor<64x16xf32, #c>) -> tensor<64x16xf32, #c>
  return %d : tensor<64x16xf32, #c>
}

// Stored once, where it is made, with a fence of its own.
// CHECK-LABEL: func.func @outside
// CHECK: %[[B:.*]] = tilegpu.alloc
// CHECK-NEXT: tilegpu.shared_store %{{.*}}, %[[B]]
// CHECK-NEXT: tilegpu.proxy_fence
// CHECK: scf.for
// CHECK-NOT: shared_store
// CHECK: tilegpu.dot %arg0, %[[B]]
// CHECK: return
func.func @outside(%a: tensor<64x32xf16, #a>, %y: tensor<32x16xf16, #bn>, %z: tensor<64x16xf32, #c>, %n: i32) -> tensor<64x16xf32, #c>
    attributes {tile.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %b = tilegpu.convert_layout %y : tensor<32x16xf16, #bn> -> tensor<32x16xf16, #b>
  %r = scf.for %i = %zero to %n step %one iter_args(%s = %z) -> (tensor<64x16xf32, #c>) : i32 {
    %d = tilegpu.dot %a, %b, %s unit <"wgmma.m64n16k16.f16.f32", warps 1 x 1>
        : (tensor<64x32xf16, #a>, tensor<32x16xf16, #b>, tensor<64x16xf32, #c>) -> tensor<64x16xf32, #c>
    scf.yield %d : tensor<64x16xf32, #c>
  }
  return %r : tensor<64x16xf32, #c>
}

// Bytes cannot be transposed on the way to the unit: along k, whatever the loads.
// CHECK-LABEL: func.func @bytes
// CHECK: %[[B:.*]] = tilegpu.alloc : <32x16xf8E4M3FN, #[[BYTES]]>
// CHECK: tilegpu.dot %arg0, %[[B]]
func.func @bytes(%a: tensor<64x32xf8E4M3FN, #a8>, %y: tensor<32x16xf8E4M3FN, #bn>, %z: tensor<64x16xf32, #c>) -> tensor<64x16xf32, #c>
    attributes {tile.num_warps = 4 : i32} {
  %b = tilegpu.convert_layout %y : tensor<32x16xf8E4M3FN, #bn> -> tensor<32x16xf8E4M3FN, #b8>
  %d = tilegpu.dot %a, %b, %z unit <"wgmma.m64n16k32.e4m3.f32", warps 1 x 1>
      : (tensor<64x32xf8E4M3FN, #a8>, tensor<32x16xf8E4M3FN, #b8>, tensor<64x16xf32, #c>) -> tensor<64x16xf32, #c>
  return %d : tensor<64x16xf32, #c>
}
}
