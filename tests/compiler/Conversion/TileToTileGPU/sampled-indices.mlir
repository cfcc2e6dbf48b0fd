// Where indices are taken apart, places are sampled: which elements are beside one another, and which are masked off.
// RUN: kiln-opt %s --kiln-tile-to-tilegpu=target=cuda:sm_90a | FileCheck %s

// Pairs (x, y) become (x * c, y * c), even elements and odd ones loaded under opposite masks: a thread has whole pairs, of
// which each mask drops one, and stores 16 bytes.
// CHECK-DAG: #[[PAIRS:.*]] = #tilegpu.layout<"register: 1 2 4; lane: 8 16 32 64 128; warp: 256 512; block: -> 1024">
// CHECK-DAG: #[[FAR:.*]] = #tilegpu.layout<"register: {{.*}}; lane: 1,0 2,0 4,0 8,0 16,0; warp: 0,{{.*}} -> 32x128">
// CHECK-LABEL: func.func @pairs
// CHECK: tile.load {{.*}} -> tensor<1024xf16, #[[PAIRS]]>
// CHECK: tile.load {{.*}} -> tensor<1024xf16, #[[PAIRS]]>
// CHECK-NOT: tilegpu.convert_layout
// CHECK: tile.store {{.*}} tensor<1024xf16, #[[PAIRS]]>
func.func @pairs(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f16> {tile.divisibility = 16 : i32}) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c1024 = arith.constant 1024 : i32
  %pid = tile.program_id 0 : i32
  %start = arith.muli %pid, %c1024 : i32
  %starts = tile.splat %start : i32 -> tensor<1024xi32>
  %range = tile.arange 0, 1024 : tensor<1024xi32>
  %i = arith.addi %starts, %range : tensor<1024xi32>
  %c0 = arith.constant dense<0> : tensor<1024xi32>
  %c1 = arith.constant dense<1> : tensor<1024xi32>
  %c2 = arith.constant dense<2> : tensor<1024xi32>
  %zero = arith.constant dense<0.0> : tensor<1024xf16>
  %part = arith.remsi %i, %c2 : tensor<1024xi32>
  %pair = arith.divsi %i, %c2 : tensor<1024xi32>
  %even = arith.cmpi eq, %part, %c0 : tensor<1024xi32>
  %odd = arith.cmpi eq, %part, %c1 : tensor<1024xi32>
  %x = arith.muli %pair, %c2 : tensor<1024xi32>
  %y = arith.addi %x, %c1 : tensor<1024xi32>
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<1024x!tile.ptr<f16>>
  %px = tile.addptr %ps, %x : tensor<1024x!tile.ptr<f16>>, tensor<1024xi32>
  %py = tile.addptr %ps, %y : tensor<1024x!tile.ptr<f16>>, tensor<1024xi32>
  %vx = tile.load %px mask %even other %zero : (tensor<1024x!tile.ptr<f16>>, tensor<1024xi1>, tensor<1024xf16>) -> tensor<1024xf16>
  %vy = tile.load %py mask %odd other %zero : (tensor<1024x!tile.ptr<f16>>, tensor<1024xi1>, tensor<1024xf16>) -> tensor<1024xf16>
  %v = arith.addf %vx, %vy : tensor<1024xf16>
  %qs = tile.splat %q : !tile.ptr<f16> -> tensor<1024x!tile.ptr<f16>>
  %to = tile.addptr %qs, %i : tensor<1024x!tile.ptr<f16>>, tensor<1024xi32>
  tile.store %to, %v : (tensor<1024x!tile.ptr<f16>>, tensor<1024xf16>) -> ()
  return
}

// Rows of 160 channels, two elements apart, are summed up: lanes along the channels, and warps along what is summed up.
// CHECK-LABEL: func.func @channels
// CHECK: tile.load {{.*}} -> tensor<32x128xf16, #[[FAR]]>
// CHECK: tile.reduce{{.*}} axis 1 : (tensor<32x128xf32, #[[FAR]]>)
func.func @channels(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f32> {tile.divisibility = 16 : i32}) attributes {tile.kernel, tile.num_warps = 2 : i32} {
  %c32 = arith.constant 32 : i32
  %pid = tile.program_id 0 : i32
  %start = arith.muli %pid, %c32 : i32
  %starts = tile.splat %start : i32 -> tensor<32xi32>
  %range = tile.arange 0, 32 : tensor<32xi32>
  %i = arith.addi %starts, %range : tensor<32xi32>
  %c160 = arith.constant dense<160> : tensor<32xi32>
  %c2 = arith.constant dense<2> : tensor<32xi32>
  %rest = arith.remsi %i, %c160 : tensor<32xi32>
  %channel = arith.muli %rest, %c2 : tensor<32xi32>
  %channels = tile.expand_dims %channel, 1 : tensor<32xi32> -> tensor<32x1xi32>
  %all = tile.broadcast %channels : tensor<32x1xi32> -> tensor<32x128xi32>
  %r = tile.arange 0, 128 : tensor<128xi32>
  %c320 = arith.constant dense<320> : tensor<128xi32>
  %row = arith.muli %r, %c320 : tensor<128xi32>
  %rows = tile.expand_dims %row, 0 : tensor<128xi32> -> tensor<1x128xi32>
  %far = tile.broadcast %rows : tensor<1x128xi32> -> tensor<32x128xi32>
  %offset = arith.addi %all, %far : tensor<32x128xi32>
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<32x128x!tile.ptr<f16>>
  %from = tile.addptr %ps, %offset : tensor<32x128x!tile.ptr<f16>>, tensor<32x128xi32>
  %v = tile.load %from : (tensor<32x128x!tile.ptr<f16>>) -> tensor<32x128xf16>
  %f = arith.extf %v : tensor<32x128xf16> to tensor<32x128xf32>
  %sum = tile.reduce (%f) axis 1 : (tensor<32x128xf32>) -> tensor<32xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  }
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %to = tile.addptr %qs, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  tile.store %to, %sum : (tensor<32x!tile.ptr<f32>>, tensor<32xf32>) -> ()
  return
}
