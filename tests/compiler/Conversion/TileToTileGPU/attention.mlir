// Two chained dots, as in flash attention: warps are dealt along the rows for both, so that the
// rows' statistics stay within warps and the first product becomes the second's operand by
// renaming registers, without shared memory.
// RUN: kiln-opt --kiln-tile-to-tilegpu=target=cuda:sm_80 --canonicalize --cse %s | FileCheck %s
// RUN: kiln-opt --kiln-tile-to-tilegpu=target=hip:gfx942 --canonicalize --cse %s | FileCheck %s --check-prefix=MFMA
// RUN: kiln-opt --kiln-tile-to-tilegpu=target=hip:gfx950 --canonicalize --cse %s | FileCheck %s --check-prefix=GFX950

// On CDNA 4 by the instruction that has its operands where results are.
// GFX950-LABEL: func.func @attention
// GFX950: %[[P:.*]] = arith.truncf
// GFX950: tilegpu.dot %[[P]], {{.*}} unit <"mfma.16x16x32by4.f16.f32"
// GFX950: scf.yield

// CHECK-LABEL: func.func @attention
// The query's fragment is made once, before the loop.
// CHECK: %[[Q:.*]] = tile.load
// CHECK: %[[QF:.*]] = tilegpu.convert_layout %[[Q]]
// CHECK: scf.for
// CHECK: tilegpu.dot %[[QF]], {{.*}} unit <"mma.m16n8k16.f16.f32", warps 4 x 1>
// CHECK: tile.reduce{{.*}} axis 1
// CHECK: tilegpu.dot {{.*}} unit <"mma.m16n8k16.f16.f32", warps 4 x 1>
// CHECK: scf.yield
func.func @attention(%q: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %k: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                     %v: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %o: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                     %n: i32 {tile.divisibility = 16 : i32})
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 64 : i32
  %head = arith.constant 64 : i32
  // 64 x 64 tiles, rows of 64.
  %r = tile.arange 0, 64 : tensor<64xi32>
  %heads = tile.splat %head : i32 -> tensor<64xi32>
  %ro = arith.muli %r, %heads : tensor<64xi32>
  %r1 = tile.expand_dims %ro, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %r2 = tile.broadcast %r1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %c1 = tile.expand_dims %r, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %c2 = tile.broadcast %c1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %off = arith.addi %r2, %c2 : tensor<64x64xi32>
  %qs = tile.splat %q : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %qp = tile.addptr %qs, %off : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %qv = tile.load %qp : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  %acc0 = arith.constant dense<0.0> : tensor<64x64xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %l0 = arith.constant dense<1.0> : tensor<64xf32>
  %loop:3 = scf.for %i = %zero to %n step %step iter_args(%acc = %acc0, %m = %m0, %l = %l0)
      -> (tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>) : i32 {
    %rows = arith.muli %i, %head : i32
    %kb = tile.addptr %k, %rows : !tile.ptr<f16>, i32
    %ks = tile.splat %kb : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %kp = tile.addptr %ks, %off : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %kv = tile.load %kp : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %kt = tile.trans %kv, [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %none = arith.constant dense<0.0> : tensor<64x64xf32>
    %s = tile.dot %qv, %kt, %none : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %mx = tile.reduce (%s) axis 1 : (tensor<64x64xf32>) -> tensor<64xf32> {
    ^bb0(%x: f32, %y: f32):
      %w = arith.maxnumf %x, %y : f32
      tile.yield %w : f32
    }
    %mn = arith.maxnumf %m, %mx : tensor<64xf32>
    %mn1 = tile.expand_dims %mn, 1 : tensor<64xf32> -> tensor<64x1xf32>
    %mn2 = tile.broadcast %mn1 : tensor<64x1xf32> -> tensor<64x64xf32>
    %sh = arith.subf %s, %mn2 : tensor<64x64xf32>
    %p = math.exp2 %sh : tensor<64x64xf32>
    %sum = tile.reduce (%p) axis 1 : (tensor<64x64xf32>) -> tensor<64xf32> {
    ^bb0(%x: f32, %y: f32):
      %w = arith.addf %x, %y : f32
      tile.yield %w : f32
    }
    %dm = arith.subf %m, %mn : tensor<64xf32>
    %alpha = math.exp2 %dm : tensor<64xf32>
    %ls = arith.mulf %l, %alpha : tensor<64xf32>
    %ln = arith.addf %ls, %sum : tensor<64xf32>
    %a1 = tile.expand_dims %alpha, 1 : tensor<64xf32> -> tensor<64x1xf32>
    %a2 = tile.broadcast %a1 : tensor<64x1xf32> -> tensor<64x64xf32>
    %as = arith.mulf %acc, %a2 : tensor<64x64xf32>
    %vb = tile.addptr %v, %rows : !tile.ptr<f16>, i32
    %vs = tile.splat %vb : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %vp = tile.addptr %vs, %off : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %vv = tile.load %vp : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %ph = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xf16>
    %d = tile.dot %ph, %vv, %as : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %d, %mn, %ln : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>
  }
  %l1 = tile.expand_dims %loop#2, 1 : tensor<64xf32> -> tensor<64x1xf32>
  %l2 = tile.broadcast %l1 : tensor<64x1xf32> -> tensor<64x64xf32>
  %y = arith.divf %loop#0, %l2 : tensor<64x64xf32>
  %h = arith.truncf %y : tensor<64x64xf32> to tensor<64x64xf16>
  %os = tile.splat %o : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %op = tile.addptr %os, %off : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  tile.store %op, %h : (tensor<64x64x!tile.ptr<f16>>, tensor<64x64xf16>) -> ()
  return
}

// A second loop goes on with the first one's sums, as where some blocks need masks: still no product
// goes through shared memory, though one loop alone would rather have fewer reads of %v.
// MFMA-LABEL: func.func @two_loops
// MFMA-COUNT-2: scf.for
// MFMA-NOT: tilegpu.convert_layout {{.*}}f32
// MFMA: return
// CHECK-LABEL: func.func @two_loops
// CHECK-COUNT-4: tilegpu.dot {{.*}} unit <"mma.m16n8k16.f16.f32", warps 4 x 1>
func.func @two_loops(%q: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %k: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                     %v: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %o: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                     %half: i32, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 32 : i32
  %head = arith.constant 64 : i32
  %r = tile.arange 0, 64 : tensor<64xi32>
  %rk = tile.arange 0, 32 : tensor<32xi32>
  %lines = arith.constant dense<64> : tensor<64x1xi32>
  %linesk = arith.constant dense<64> : tensor<32x1xi32>
  %r1 = tile.expand_dims %r, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %r2 = arith.muli %r1, %lines : tensor<64x1xi32>
  %r3 = tile.broadcast %r2 : tensor<64x1xi32> -> tensor<64x64xi32>
  %c1 = tile.expand_dims %r, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %c2 = tile.broadcast %c1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %off = arith.addi %r3, %c2 : tensor<64x64xi32>
  %k1 = tile.expand_dims %rk, 1 : tensor<32xi32> -> tensor<32x1xi32>
  %k2 = arith.muli %k1, %linesk : tensor<32x1xi32>
  %k3 = tile.broadcast %k2 : tensor<32x1xi32> -> tensor<32x64xi32>
  %k4 = tile.broadcast %c1 : tensor<1x64xi32> -> tensor<32x64xi32>
  %offk = arith.addi %k3, %k4 : tensor<32x64xi32>
  %qs = tile.splat %q : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %qp = tile.addptr %qs, %off : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %qv = tile.load %qp : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  %acc0 = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64x32xf32>
  %first = scf.for %i = %zero to %half step %step iter_args(%acc = %acc0) -> (tensor<64x64xf32>) : i32 {
    %rows = arith.muli %i, %head : i32
    %kb = tile.addptr %k, %rows : !tile.ptr<f16>, i32
    %ks = tile.splat %kb : !tile.ptr<f16> -> tensor<32x64x!tile.ptr<f16>>
    %kp = tile.addptr %ks, %offk : tensor<32x64x!tile.ptr<f16>>, tensor<32x64xi32>
    %kv = tile.load %kp : (tensor<32x64x!tile.ptr<f16>>) -> tensor<32x64xf16>
    %kt = tile.trans %kv, [1, 0] : tensor<32x64xf16> -> tensor<64x32xf16>
    %s = tile.dot %qv, %kt, %none : (tensor<64x64xf16>, tensor<64x32xf16>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %e = math.exp2 %s : tensor<64x32xf32>
    %p = arith.truncf %e : tensor<64x32xf32> to tensor<64x32xf16>
    %vb = tile.addptr %v, %rows : !tile.ptr<f16>, i32
    %vs = tile.splat %vb : !tile.ptr<f16> -> tensor<32x64x!tile.ptr<f16>>
    %vp = tile.addptr %vs, %offk : tensor<32x64x!tile.ptr<f16>>, tensor<32x64xi32>
    %vv = tile.load %vp : (tensor<32x64x!tile.ptr<f16>>) -> tensor<32x64xf16>
    %d = tile.dot %p, %vv, %acc : (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %last = scf.for %i = %half to %n step %step iter_args(%acc = %first) -> (tensor<64x64xf32>) : i32 {
    %rows = arith.muli %i, %head : i32
    %kb = tile.addptr %k, %rows : !tile.ptr<f16>, i32
    %ks = tile.splat %kb : !tile.ptr<f16> -> tensor<32x64x!tile.ptr<f16>>
    %kp = tile.addptr %ks, %offk : tensor<32x64x!tile.ptr<f16>>, tensor<32x64xi32>
    %kv = tile.load %kp : (tensor<32x64x!tile.ptr<f16>>) -> tensor<32x64xf16>
    %kt = tile.trans %kv, [1, 0] : tensor<32x64xf16> -> tensor<64x32xf16>
    %s = tile.dot %qv, %kt, %none : (tensor<64x64xf16>, tensor<64x32xf16>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %p = arith.truncf %s : tensor<64x32xf32> to tensor<64x32xf16>
    %vb = tile.addptr %v, %rows : !tile.ptr<f16>, i32
    %vs = tile.splat %vb : !tile.ptr<f16> -> tensor<32x64x!tile.ptr<f16>>
    %vp = tile.addptr %vs, %offk : tensor<32x64x!tile.ptr<f16>>, tensor<32x64xi32>
    %vv = tile.load %vp : (tensor<32x64x!tile.ptr<f16>>) -> tensor<32x64xf16>
    %d = tile.dot %p, %vv, %acc : (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %out = arith.truncf %last : tensor<64x64xf32> to tensor<64x64xf16>
  %os = tile.splat %o : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %op = tile.addptr %os, %off : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  tile.store %op, %out : (tensor<64x64x!tile.ptr<f16>>, tensor<64x64xf16>) -> ()
  return
}
