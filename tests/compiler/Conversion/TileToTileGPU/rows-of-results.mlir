// RDNA 3: of a transposed product's row a lane has every second element, unless the other operand's rows are in another
// order: then it has as many neighbours as a store moves, and stores them without a way through shared memory. 8 of 16 bits,
// 4 of f32.
// RUN: sed 's/OUT/f16/g' %s | kiln-opt --kiln-tile-to-tilegpu=target=hip:gfx1100 --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,HALVES
// RUN: sed 's/OUT/f32/g; s/arith.truncf %d : .*/arith.addf %d, %d : tensor<64x64xf32>/' %s | kiln-opt --kiln-tile-to-tilegpu=target=hip:gfx1100 --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,WORDS
// RUN: sed 's/OUT/f16/g; s/^func.func/module attributes {tilegpu.plain_results} { func.func/; $ s/$/ }/' %s | kiln-opt --kiln-tile-to-tilegpu=target=hip:gfx1100 --canonicalize --cse | FileCheck %s --check-prefix=PLAIN

// HALVES-DAG: #[[C:.*]] = #tilegpu.layout<"register: 0,1 0,2 0,4 0,32 32,0; lane: 1,0 2,0 4,0 8,0 0,8; warp: 0,16 16,0; block: -> 64x64">
// HALVES-DAG: #[[B:.*]] = #tilegpu.layout<"register: 1,0 2,0 4,0 8,0 0,32 16,0; lane: 0,8 0,1 0,2 0,4 0,0; warp: 0,16 0,0; block: -> 32x64">
// WORDS-DAG: #[[C:.*]] = #tilegpu.layout<"register: 0,1 0,2 0,8 0,32 32,0; lane: 1,0 2,0 4,0 8,0 0,4; warp: 0,16 16,0; block: -> 64x64">
// WORDS-DAG: #[[B:.*]] = #tilegpu.layout<"register: 1,0 2,0 4,0 8,0 0,32 16,0; lane: 0,4 0,1 0,2 0,8 0,0; warp: 0,16 0,0; block: -> 32x64">
// CHECK-LABEL: func.func @product
// HALVES: tilegpu.dot {{.*}} unit <"wmma.16x16x16.f16.f32" swapped, neighbours 8, warps 2 x 2> {{.*}}tensor<32x64xf16, #[[B]]>, tensor<64x64xf32, #[[C]]>)
// WORDS: tilegpu.dot {{.*}} unit <"wmma.16x16x16.f16.f32" swapped, neighbours 4, warps 2 x 2> {{.*}}tensor<32x64xf16, #[[B]]>, tensor<64x64xf32, #[[C]]>)
// CHECK-NOT: tilegpu.convert_layout
// CHECK: tile.store {{.*}}, #[[C]]>)
// PLAIN: tilegpu.dot {{.*}} unit <"wmma.16x16x16.f16.f32" swapped, warps 2 x 2>
// PLAIN: tilegpu.convert_layout
// PLAIN: tile.store
func.func @product(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                   %o: !tile.ptr<OUT> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 32 : i32
  %r = tile.arange 0, 64 : tensor<64xi32>
  %rk = tile.arange 0, 32 : tensor<32xi32>
  %lines = arith.constant dense<4096> : tensor<64x1xi32>
  %r1 = tile.expand_dims %r, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %r2 = arith.muli %r1, %lines : tensor<64x1xi32>
  %ra = tile.broadcast %r2 : tensor<64x1xi32> -> tensor<64x32xi32>
  %k1 = tile.expand_dims %rk, 0 : tensor<32xi32> -> tensor<1x32xi32>
  %ka = tile.broadcast %k1 : tensor<1x32xi32> -> tensor<64x32xi32>
  %off = arith.addi %ra, %ka : tensor<64x32xi32>
  %acc0 = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = scf.for %i = %zero to %n step %step iter_args(%acc = %acc0) -> (tensor<64x64xf32>) : i32 {
    %ab = tile.addptr %a, %i : !tile.ptr<f16>, i32
    %as = tile.splat %ab : !tile.ptr<f16> -> tensor<64x32x!tile.ptr<f16>>
    %ap = tile.addptr %as, %off : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi32>
    %av = tile.load %ap : (tensor<64x32x!tile.ptr<f16>>) -> tensor<64x32xf16>
    %bb = tile.addptr %b, %i : !tile.ptr<f16>, i32
    %bs = tile.splat %bb : !tile.ptr<f16> -> tensor<64x32x!tile.ptr<f16>>
    %bp = tile.addptr %bs, %off : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi32>
    %bv = tile.load %bp : (tensor<64x32x!tile.ptr<f16>>) -> tensor<64x32xf16>
    %bt = tile.trans %bv, [1, 0] : tensor<64x32xf16> -> tensor<32x64xf16>
    %s = tile.dot %av, %bt, %acc : (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %s : tensor<64x64xf32>
  }
  %x = arith.truncf %d : tensor<64x64xf32> to tensor<64x64xOUT>
  %c1 = tile.expand_dims %r, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %c2 = tile.broadcast %c1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %ro = tile.broadcast %r2 : tensor<64x1xi32> -> tensor<64x64xi32>
  %offo = arith.addi %ro, %c2 : tensor<64x64xi32>
  %os = tile.splat %o : !tile.ptr<OUT> -> tensor<64x64x!tile.ptr<OUT>>
  %op = tile.addptr %os, %offo : tensor<64x64x!tile.ptr<OUT>>, tensor<64x64xi32>
  tile.store %op, %x : (tensor<64x64x!tile.ptr<OUT>>, tensor<64x64xOUT>) -> ()
  return
}
