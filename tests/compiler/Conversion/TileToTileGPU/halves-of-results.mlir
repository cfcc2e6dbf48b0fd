// RDNA 3: lanes of one half of a wave have the even rows of a result that is transposed, those of the other half the odd ones.
// A product of it that takes even numbers first, then odd ones, wants what each lane stores at once and puts no words
// together; of the other operand a thread loads every second row.
// RUN: kiln-opt --kiln-tile-to-tilegpu=target=hip:gfx1100 --canonicalize --cse %s | FileCheck %s
// RUN: kiln-opt --kiln-tile-to-tilegpu=target=hip:gfx1201 --canonicalize --cse %s | FileCheck %s --check-prefix=WHOLE
// RUN: sed 's/^func.func/module attributes {tilegpu.whole_operands} { func.func/; $ s/$/ }/' %s | kiln-opt --kiln-tile-to-tilegpu=target=hip:gfx1100 --canonicalize --cse | FileCheck %s --check-prefix=WHOLE

// CHECK-DAG: #[[ROWS:.*]] = #tilegpu.layout<"register: 0,1 0,2 0,4 2,0 4,0; lane: 0,8 0,16 0,32 0,64 1,0; warp: 8,0 16,0 32,0; block: -> 64x128">
// CHECK-DAG: #[[OPERAND:.*]] = #tilegpu.layout<"register: 0,2 0,4 0,8 0,1 0,16 0,32 64,0; lane: 1,0 2,0 4,0 8,0 0,0; warp: 0,0 16,0 32,0; block: -> 128x64">
// CHECK-LABEL: func.func @chained
// CHECK: tilegpu.dot {{.*}} unit <"wmma.16x16x16.f16.f32" swapped, warps 4 x 2>
// CHECK: %[[P:.*]] = tilegpu.convert_layout {{.*}} -> tensor<128x64xf16, #[[OPERAND]]>
// CHECK: tile.load {{.*}} -> tensor<64x128xf16, #[[ROWS]]>
// CHECK: tilegpu.dot %[[P]], {{.*}} unit <"wmma.16x16x16by2.f16.f32" swapped, neighbours 4, warps 4 x 2>
// WHOLE: tilegpu.dot
// WHOLE-NOT: by2
func.func @chained(%q: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %k: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                   %v: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 8 : i32} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 64 : i32
  %head = arith.constant 128 : i32
  %r = tile.arange 0, 128 : tensor<128xi32>
  %rk = tile.arange 0, 64 : tensor<64xi32>
  %lines = arith.constant dense<128> : tensor<128x1xi32>
  %linesk = arith.constant dense<128> : tensor<64x1xi32>
  %r1 = tile.expand_dims %r, 1 : tensor<128xi32> -> tensor<128x1xi32>
  %r2 = arith.muli %r1, %lines : tensor<128x1xi32>
  %r3 = tile.broadcast %r2 : tensor<128x1xi32> -> tensor<128x128xi32>
  %c1 = tile.expand_dims %r, 0 : tensor<128xi32> -> tensor<1x128xi32>
  %c2 = tile.broadcast %c1 : tensor<1x128xi32> -> tensor<128x128xi32>
  %off = arith.addi %r3, %c2 : tensor<128x128xi32>
  %k1 = tile.expand_dims %rk, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %k2 = arith.muli %k1, %linesk : tensor<64x1xi32>
  %k3 = tile.broadcast %k2 : tensor<64x1xi32> -> tensor<64x128xi32>
  %k4 = tile.broadcast %c1 : tensor<1x128xi32> -> tensor<64x128xi32>
  %offk = arith.addi %k3, %k4 : tensor<64x128xi32>
  %qs = tile.splat %q : !tile.ptr<f16> -> tensor<128x128x!tile.ptr<f16>>
  %qp = tile.addptr %qs, %off : tensor<128x128x!tile.ptr<f16>>, tensor<128x128xi32>
  %qv = tile.load %qp : (tensor<128x128x!tile.ptr<f16>>) -> tensor<128x128xf16>
  %acc0 = arith.constant dense<0.0> : tensor<128x128xf32>
  %none = arith.constant dense<0.0> : tensor<128x64xf32>
  %sum = scf.for %i = %zero to %n step %step iter_args(%acc = %acc0) -> (tensor<128x128xf32>) : i32 {
    %rows = arith.muli %i, %head : i32
    %kb = tile.addptr %k, %rows : !tile.ptr<f16>, i32
    %ks = tile.splat %kb : !tile.ptr<f16> -> tensor<64x128x!tile.ptr<f16>>
    %kp = tile.addptr %ks, %offk : tensor<64x128x!tile.ptr<f16>>, tensor<64x128xi32>
    %kv = tile.load %kp : (tensor<64x128x!tile.ptr<f16>>) -> tensor<64x128xf16>
    %kt = tile.trans %kv, [1, 0] : tensor<64x128xf16> -> tensor<128x64xf16>
    %s = tile.dot %qv, %kt, %none : (tensor<128x128xf16>, tensor<128x64xf16>, tensor<128x64xf32>) -> tensor<128x64xf32>
    %p = arith.truncf %s : tensor<128x64xf32> to tensor<128x64xf16>
    %vb = tile.addptr %v, %rows : !tile.ptr<f16>, i32
    %vs = tile.splat %vb : !tile.ptr<f16> -> tensor<64x128x!tile.ptr<f16>>
    %vp = tile.addptr %vs, %offk : tensor<64x128x!tile.ptr<f16>>, tensor<64x128xi32>
    %vv = tile.load %vp : (tensor<64x128x!tile.ptr<f16>>) -> tensor<64x128xf16>
    %d = tile.dot %p, %vv, %acc : (tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>) -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %os = tile.splat %o : !tile.ptr<f32> -> tensor<128x128x!tile.ptr<f32>>
  %op = tile.addptr %os, %off : tensor<128x128x!tile.ptr<f32>>, tensor<128x128xi32>
  tile.store %op, %sum : (tensor<128x128x!tile.ptr<f32>>, tensor<128x128xf32>) -> ()
  return
}
