// What products make on its way to memory: what a branch multiplies is converted behind where it becomes f16, not as it leaves the branch.
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx942},canonicalize,cse)" %s | FileCheck %s

// CHECK: #[[SUM:.*]] = #tilegpu.layout<"register: 0,1 0,2 0,16 0,32; lane: 1,0 2,0 4,0 8,0 0,4 0,8; warp: 16,0 32,0; block: -> 64x64">
// CHECK-LABEL: func.func @kernel
// CHECK: scf.if {{.*}} -> (tensor<64x64xf32, #[[SUM]]>)
// CHECK-NOT: tilegpu.convert_layout {{.*}}64x64xf32
// CHECK: tilegpu.convert_layout {{.*}} : tensor<64x64xf16, #[[SUM]]>
// CHECK-NOT: tilegpu.convert_layout {{.*}}64x64
func.func @kernel(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %c: !tile.ptr<f16>, %runs: i1, %scale: f32) attributes {tile.kernel, tile.num_ctas = 1 : i32, tile.num_stages = 1 : i32, tile.num_warps = 4 : i32} {
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %line = arith.constant dense<64> : tensor<64x1xi32>
  %r = tile.arange 0, 64 : tensor<64xi32>
  %r1 = tile.expand_dims %r, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %r2 = arith.muli %r1, %line : tensor<64x1xi32>
  %r3 = tile.broadcast %r2 : tensor<64x1xi32> -> tensor<64x64xi32>
  %c1 = tile.expand_dims %r, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %c2 = tile.broadcast %c1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %r3, %c2 : tensor<64x64xi32>
  %sum = scf.if %runs -> (tensor<64x64xf32>) {
    %as = tile.splat %a : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %pa = tile.addptr %as, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %x = tile.load %pa : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %bs = tile.splat %b : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %pb = tile.addptr %bs, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %y = tile.load %pb : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %d = tile.dot %x, %y, %none : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  } else {
    scf.yield %none : tensor<64x64xf32>
  }
  %scales = tile.splat %scale : f32 -> tensor<64x64xf32>
  %scaled = arith.mulf %sum, %scales : tensor<64x64xf32>
  %narrow = arith.truncf %scaled : tensor<64x64xf32> to tensor<64x64xf16>
  %cs = tile.splat %c : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %pc = tile.addptr %cs, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %before = tile.load %pc : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  %now = arith.addf %narrow, %before : tensor<64x64xf16>
  tile.store %pc, %now : (tensor<64x64x!tile.ptr<f16>>, tensor<64x64xf16>) -> ()
  return
}

// Four elements side by side are stored as the product leaves them: to write whole lines would take a way through shared memory.
// CHECK-LABEL: func.func @stored
// CHECK: tilegpu.dot
// CHECK-NOT: tilegpu.convert_layout
// CHECK: tile.store {{.*}} (tensor<64x64x!tile.ptr<f16>, #[[SUM]]>
func.func @stored(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %c: !tile.ptr<f16> {tile.divisibility = 16 : i32}) attributes {tile.kernel, tile.num_ctas = 1 : i32, tile.num_stages = 1 : i32, tile.num_warps = 4 : i32} {
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %line = arith.constant dense<64> : tensor<64x1xi32>
  %r = tile.arange 0, 64 : tensor<64xi32>
  %r1 = tile.expand_dims %r, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %r2 = arith.muli %r1, %line : tensor<64x1xi32>
  %r3 = tile.broadcast %r2 : tensor<64x1xi32> -> tensor<64x64xi32>
  %c1 = tile.expand_dims %r, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %c2 = tile.broadcast %c1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %r3, %c2 : tensor<64x64xi32>
  %as = tile.splat %a : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %pa = tile.addptr %as, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %x = tile.load %pa : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  %bs = tile.splat %b : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %pb = tile.addptr %bs, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %y = tile.load %pb : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  %d = tile.dot %x, %y, %none : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %narrow = arith.truncf %d : tensor<64x64xf32> to tensor<64x64xf16>
  %cs = tile.splat %c : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %pc = tile.addptr %cs, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  tile.store %pc, %narrow : (tensor<64x64x!tile.ptr<f16>>, tensor<64x64xf16>) -> ()
  return
}
