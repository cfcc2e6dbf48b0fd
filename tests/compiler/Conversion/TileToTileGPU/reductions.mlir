// Scans and reductions along an axis: what is combined stays within warps where it can.
// RUN: kiln-opt --kiln-tile-to-tilegpu=target=cuda:sm_80 --canonicalize --cse %s | FileCheck %s
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=cuda:sm_80},func.func(kiln-allocate-shared-memory))" %s | FileCheck %s --check-prefix=SHARED

// A tile whose partial results would exceed shared memory if warps shared the scanned axis.
// CHECK: #[[L:.*]] = #tilegpu.layout<"register: {{.*}}; lane: {{.*}}; warp: 0,{{[0-9]+}} 0,{{[0-9]+}}; block: -> 512x512">
// CHECK-LABEL: func.func @scanRows
// CHECK: tile.scan{{.*}} axis 0 : (tensor<512x512xf32, #[[L]]>)
// SHARED: func.func @scanRows
// SHARED-SAME: tilegpu.shared_bytes = 0 : i32
func.func @scanRows(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %stride: i32 {tile.divisibility = 16 : i32})
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %r = tile.arange 0, 512 : tensor<512xi32>
  %strides = tile.splat %stride : i32 -> tensor<512xi32>
  %ro = arith.muli %r, %strides : tensor<512xi32>
  %r1 = tile.expand_dims %ro, 1 : tensor<512xi32> -> tensor<512x1xi32>
  %r2 = tile.broadcast %r1 : tensor<512x1xi32> -> tensor<512x512xi32>
  %c1 = tile.expand_dims %r, 0 : tensor<512xi32> -> tensor<1x512xi32>
  %c2 = tile.broadcast %c1 : tensor<1x512xi32> -> tensor<512x512xi32>
  %off = arith.addi %r2, %c2 : tensor<512x512xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<512x512x!tile.ptr<f32>>
  %pp = tile.addptr %ps, %off : tensor<512x512x!tile.ptr<f32>>, tensor<512x512xi32>
  %x = tile.load %pp : (tensor<512x512x!tile.ptr<f32>>) -> tensor<512x512xf32>
  %y = tile.scan (%x) axis 0 : (tensor<512x512xf32>) -> tensor<512x512xf32> {
  ^bb0(%l: f32, %n: f32):
    %s = arith.addf %l, %n : f32
    tile.yield %s : f32
  }
  tile.store %pp, %y : (tensor<512x512x!tile.ptr<f32>>, tensor<512x512xf32>) -> ()
  return
}

// A sum across a few rows, of 16-bit elements: a thread has eight neighbours of all of them, loaded and stored at once.
// CHECK-LABEL: func.func @sumOfRows
// CHECK-NOT: tilegpu.convert_layout
// CHECK: return
func.func @sumOfRows(%p: !tile.ptr<bf16> {tile.divisibility = 16 : i32}, %q: !tile.ptr<bf16> {tile.divisibility = 16 : i32}, %rows: !tile.ptr<i32> {tile.divisibility = 16 : i32})
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %i = tile.arange 0, 4 : tensor<4xi32>
  %ips = tile.splat %rows : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %iat = tile.addptr %ips, %i : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %r = tile.load %iat : (tensor<4x!tile.ptr<i32>>) -> tensor<4xi32>
  %length = arith.constant dense<2048> : tensor<4xi32>
  %ro = arith.muli %r, %length : tensor<4xi32>
  %r1 = tile.expand_dims %ro, 1 : tensor<4xi32> -> tensor<4x1xi32>
  %r2 = tile.broadcast %r1 : tensor<4x1xi32> -> tensor<4x2048xi32>
  %c = tile.arange 0, 2048 : tensor<2048xi32>
  %c1 = tile.expand_dims %c, 0 : tensor<2048xi32> -> tensor<1x2048xi32>
  %c2 = tile.broadcast %c1 : tensor<1x2048xi32> -> tensor<4x2048xi32>
  %off = arith.addi %r2, %c2 : tensor<4x2048xi32>
  %ps = tile.splat %p : !tile.ptr<bf16> -> tensor<4x2048x!tile.ptr<bf16>>
  %pp = tile.addptr %ps, %off : tensor<4x2048x!tile.ptr<bf16>>, tensor<4x2048xi32>
  %x = tile.load %pp : (tensor<4x2048x!tile.ptr<bf16>>) -> tensor<4x2048xbf16>
  %w = arith.extf %x : tensor<4x2048xbf16> to tensor<4x2048xf32>
  %y = tile.reduce (%w) axis 0 : (tensor<4x2048xf32>) -> tensor<2048xf32> {
  ^bb0(%l: f32, %n: f32):
    %s = arith.addf %l, %n : f32
    tile.yield %s : f32
  }
  %z = arith.truncf %y : tensor<2048xf32> to tensor<2048xbf16>
  %qs = tile.splat %q : !tile.ptr<bf16> -> tensor<2048x!tile.ptr<bf16>>
  %qq = tile.addptr %qs, %c : tensor<2048x!tile.ptr<bf16>>, tensor<2048xi32>
  tile.store %qq, %z : (tensor<2048x!tile.ptr<bf16>>, tensor<2048xbf16>) -> ()
  return
}

// What lanes hold more than once is added up by neighbouring lanes: one instruction of a warp.
// CHECK-LABEL: func.func @sumsToMemory
// CHECK: tile.reduce
// CHECK: %[[SUM:.*]] = tilegpu.convert_layout
// CHECK: tile.atomic_rmw <fadd> %{{.*}}, %[[SUM]]
func.func @sumsToMemory(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f32> {tile.divisibility = 16 : i32})
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %r = tile.arange 0, 16 : tensor<16xi32>
  %length = arith.constant dense<256> : tensor<16xi32>
  %ro = arith.muli %r, %length : tensor<16xi32>
  %r1 = tile.expand_dims %ro, 1 : tensor<16xi32> -> tensor<16x1xi32>
  %r2 = tile.broadcast %r1 : tensor<16x1xi32> -> tensor<16x256xi32>
  %c = tile.arange 0, 256 : tensor<256xi32>
  %c1 = tile.expand_dims %c, 0 : tensor<256xi32> -> tensor<1x256xi32>
  %c2 = tile.broadcast %c1 : tensor<1x256xi32> -> tensor<16x256xi32>
  %off = arith.addi %r2, %c2 : tensor<16x256xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<16x256x!tile.ptr<f32>>
  %pp = tile.addptr %ps, %off : tensor<16x256x!tile.ptr<f32>>, tensor<16x256xi32>
  %x = tile.load %pp : (tensor<16x256x!tile.ptr<f32>>) -> tensor<16x256xf32>
  %y = tile.reduce (%x) axis 1 : (tensor<16x256xf32>) -> tensor<16xf32> {
  ^bb0(%l: f32, %n: f32):
    %s = arith.addf %l, %n : f32
    tile.yield %s : f32
  }
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  %qq = tile.addptr %qs, %r : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
  %a = tile.atomic_rmw <fadd> %qq, %y : (tensor<16x!tile.ptr<f32>>, tensor<16xf32>) -> tensor<16xf32>
  return
}
