// Which way dots are computed, by types, shape and target.
// RUN: kiln-opt --kiln-tile-to-tilegpu=target=cuda:sm_80 --canonicalize %s | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: kiln-opt --kiln-tile-to-tilegpu=target=cuda:sm_90a --canonicalize %s | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: kiln-opt --kiln-tile-to-tilegpu=target=hip:gfx942 --canonicalize %s | FileCheck %s --check-prefixes=CHECK,GFX942
// RUN: kiln-opt --kiln-tile-to-tilegpu=target=hip:gfx950 --canonicalize %s | FileCheck %s --check-prefixes=GFX950
// RUN: kiln-opt --kiln-tile-to-tilegpu=target=hip:gfx1100 --canonicalize %s | FileCheck %s --check-prefixes=CHECK,GFX1100

// CHECK-LABEL: func.func @f32
// SM80: tilegpu.dot {{.*}} unit <"mma.m16n8k8.tf32.f32"
// SM90: tilegpu.dot {{.*}} unit <"wgmma.m64n64k8.tf32.f32"
// GFX942: tilegpu.dot {{.*}} unit <"mfma.{{16x16x8|32x32x4}}{{(x2)?}}.xf32.f32"
// Without a unit for f32: by fused multiply-adds.
// GFX1100: tilegpu.dot %{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %{{[a-z0-9]*}} : (
func.func @f32(%p0: !tile.ptr<f32>) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %p = tile.splat %p0 : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %a = tile.load %p : (tensor<64x64x!tile.ptr<f32>>) -> tensor<64x64xf32>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tile.dot %a, %a, %c : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  tile.store %p, %d : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// f32 numbers that are bf16 numbers, of which one is transposed on the way: as products of these, where they would be rounded to tf32.
// CHECK-LABEL: func.func @widened
// SM80: tilegpu.dot {{.*}} unit <"mma.m16n8k16.bf16.f32"
// SM90: tilegpu.dot {{.*}} unit <"wgmma.m64n64k16.bf16.f32"
// GFX942: tilegpu.dot {{.*}} unit <"mfma.{{[0-9x]*}}.bf16.f32"
// GFX1100: arith.extf
// GFX1100: tilegpu.dot {{.*}}tensor<64x64xf32
func.func @widened(%p0: !tile.ptr<bf16>, %q0: !tile.ptr<f32>) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %p = tile.splat %p0 : !tile.ptr<bf16> -> tensor<64x64x!tile.ptr<bf16>>
  %q = tile.splat %q0 : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %a = tile.load %p : (tensor<64x64x!tile.ptr<bf16>>) -> tensor<64x64xbf16>
  %x = arith.extf %a : tensor<64x64xbf16> to tensor<64x64xf32>
  %y = tile.trans %x, [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tile.dot %x, %y, %c : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  tile.store %q, %d : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// Exact products are asked for.
// CHECK-LABEL: func.func @ieee
// SM80: tilegpu.dot %{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %{{[a-z0-9]*}} {precision = #tile.precision<ieee>} : (
func.func @ieee(%p0: !tile.ptr<f32>) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %p = tile.splat %p0 : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %a = tile.load %p : (tensor<64x64x!tile.ptr<f32>>) -> tensor<64x64xf32>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tile.dot %a, %a, %c {precision = #tile.precision<ieee>}
      : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  tile.store %p, %d : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// A unit that accumulates in f16 exists on NVIDIA only; elsewhere the sum is made in f32, by a dot of which the same is known.
// CHECK-LABEL: func.func @f16Accumulator
// SM80: tilegpu.dot {{.*}} unit <"mma.m16n8k16.f16.f16"
// SM90: tilegpu.dot {{.*}} unit <"wgmma.m64n64k16.f16.f16"
// GFX942: tilegpu.dot {{.*}} unit <"mfma.16x16x16{{(x2)?}}.f16.f32"{{.*}} {tile.used_depth = 48 : i32}
// GFX942: arith.truncf
func.func @f16Accumulator(%p0: !tile.ptr<f16>) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %p = tile.splat %p0 : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %a = tile.load %p : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  %c = arith.constant dense<0.0> : tensor<64x64xf16>
  %d = tile.dot %a, %a, %c {tile.used_depth = 48 : i32} : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
  tile.store %p, %d : (tensor<64x64x!tile.ptr<f16>>, tensor<64x64xf16>) -> ()
  return
}

// fp8 operands become f16 where no unit takes them.
// CHECK-LABEL: func.func @fp8
// SM80: arith.extf {{.*}} to tensor<64x64xf16
// SM80: tilegpu.dot {{.*}} unit <"mma.m16n8k16.f16.f32"
// SM90: tilegpu.dot {{.*}} unit <"wgmma.m64n64k32.e4m3.f32"
func.func @fp8(%p0: !tile.ptr<f8E4M3FN>, %q0: !tile.ptr<f32>)
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %p = tile.splat %p0 : !tile.ptr<f8E4M3FN> -> tensor<64x64x!tile.ptr<f8E4M3FN>>
  %q = tile.splat %q0 : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %a = tile.load %p : (tensor<64x64x!tile.ptr<f8E4M3FN>>) -> tensor<64x64xf8E4M3FN>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tile.dot %a, %a, %c : (tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf32>) -> tensor<64x64xf32>
  tile.store %q, %d : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// Hopper's unit adds bytes up imprecisely: at most so many, where the kernel says so.
// CHECK-LABEL: func.func @impreciseSums
// SM80-NOT: sum_depth
// SM90: tilegpu.dot {{.*}} unit <"wgmma.m64n64k32.e4m3.f32", warps 1 x 1> {sum_depth = 32 : i32}
// SM90: tilegpu.dot {{.*}} unit <"wgmma.m64n64k32.e4m3.f32", warps 1 x 1> {sum_depth = 64 : i32}
// All of a product alone, and halves.
// SM90: tilegpu.dot {{.*}} unit <"wgmma.m64n64k32.e4m3.f32", warps 1 x 1> : (
// SM90: tilegpu.dot {{.*}} unit <"wgmma.m64n64k16.f16.f32", warps 1 x 1> : (
// GFX942-NOT: sum_depth
func.func @impreciseSums(%p0: !tile.ptr<f8E4M3FN>, %q0: !tile.ptr<f32>)
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %p = tile.splat %p0 : !tile.ptr<f8E4M3FN> -> tensor<64x64x!tile.ptr<f8E4M3FN>>
  %q = tile.splat %q0 : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %a = tile.load %p : (tensor<64x64x!tile.ptr<f8E4M3FN>>) -> tensor<64x64xf8E4M3FN>
  %c = tile.load %q : (tensor<64x64x!tile.ptr<f32>>) -> tensor<64x64xf32>
  %d = tile.dot %a, %a, %c {max_imprecise_acc = 32 : i32}
      : (tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %e = tile.dot %a, %a, %d {max_imprecise_acc = 64 : i32}
      : (tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf32>) -> tensor<64x64xf32>
  tile.store %q, %e : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %f = tile.dot %a, %a, %zero {max_imprecise_acc = 64 : i32}
      : (tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %h = arith.extf %a : tensor<64x64xf8E4M3FN> to tensor<64x64xf16>
  %g = tile.dot %h, %h, %f {max_imprecise_acc = 32 : i32}
      : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
  tile.store %q, %g : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// Too small for any unit.
// CHECK-LABEL: func.func @small
// CHECK: tilegpu.dot %{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %{{[a-z0-9]*}} : (
func.func @small(%p0: !tile.ptr<f16>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %p = tile.splat %p0 : !tile.ptr<f16> -> tensor<4x4x!tile.ptr<f16>>
  %a = tile.load %p : (tensor<4x4x!tile.ptr<f16>>) -> tensor<4x4xf16>
  %c = arith.constant dense<0.0> : tensor<4x4xf32>
  %d = tile.dot %a, %a, %c : (tensor<4x4xf16>, tensor<4x4xf16>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %h = arith.truncf %d : tensor<4x4xf32> to tensor<4x4xf16>
  tile.store %p, %h : (tensor<4x4x!tile.ptr<f16>>, tensor<4x4xf16>) -> ()
  return
}

// As the sum of products of parts: the small ones first, then the leading parts onto the accumulator.
// CHECK-LABEL: func.func @tf32x3
// SM80-COUNT-3: tilegpu.dot {{.*}} unit <"mma.m16n8k8.tf32.f32"
// GFX942: tilegpu.dot {{.*}} unit <"mfma.{{(16x16x4|32x32x2)(x4)?}}.f32.f32"
// GFX942-NOT: tilegpu.dot
func.func @tf32x3(%p0: !tile.ptr<f32>) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %p = tile.splat %p0 : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %a = tile.load %p : (tensor<64x64x!tile.ptr<f32>>) -> tensor<64x64xf32>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tile.dot %a, %a, %c {precision = #tile.precision<tf32x3>}
      : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  tile.store %p, %d : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @bf16x6
// SM80-COUNT-6: tilegpu.dot {{.*}} unit <"mma.m16n8k16.bf16.f32"
// GFX942-COUNT-6: tilegpu.dot {{.*}} unit <"mfma.32x32x8{{(x2)?}}.bf16.f32"
// GFX1100-COUNT-6: tilegpu.dot {{.*}} unit <"wmma.16x16x16.bf16.f32"
func.func @bf16x6(%p0: !tile.ptr<f32>) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %p = tile.splat %p0 : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %a = tile.load %p : (tensor<64x64x!tile.ptr<f32>>) -> tensor<64x64xf32>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tile.dot %a, %a, %c {precision = #tile.precision<bf16x6>}
      : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  tile.store %p, %d : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// A format that the unit does not read is widened: CDNA 3 has the FNUZ formats only, others the OCP's.
// CHECK-LABEL: func.func @otherFormat
// SM90: tilegpu.dot {{.*}} unit <"wgmma.m64n64k32.e4m3.f32"
// SM90: tilegpu.dot {{.*}} unit <"wgmma.m64n64k16.f16.f32"
// GFX942: tilegpu.dot {{.*}} unit <"mfma.16x16x16{{(x2)?}}.f16.f32"
// GFX942: tilegpu.dot {{.*}} unit <"mfma.16x16x32{{(x2|by4)?}}.fp8.f32"
func.func @otherFormat(%p0: !tile.ptr<f8E4M3FN>, %q0: !tile.ptr<f8E4M3FNUZ>, %r0: !tile.ptr<f32>)
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %p = tile.splat %p0 : !tile.ptr<f8E4M3FN> -> tensor<64x64x!tile.ptr<f8E4M3FN>>
  %q = tile.splat %q0 : !tile.ptr<f8E4M3FNUZ> -> tensor<64x64x!tile.ptr<f8E4M3FNUZ>>
  %r = tile.splat %r0 : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %a = tile.load %p : (tensor<64x64x!tile.ptr<f8E4M3FN>>) -> tensor<64x64xf8E4M3FN>
  %b = tile.load %q : (tensor<64x64x!tile.ptr<f8E4M3FNUZ>>) -> tensor<64x64xf8E4M3FNUZ>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tile.dot %a, %a, %c : (tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %e = tile.dot %b, %b, %d : (tensor<64x64xf8E4M3FNUZ>, tensor<64x64xf8E4M3FNUZ>, tensor<64x64xf32>) -> tensor<64x64xf32>
  tile.store %r, %e : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// What is asked for decides.
// CHECK-LABEL: func.func @ofSize
// GFX942: tilegpu.dot {{.*}} unit <"mfma.16x16x16.f16.f32"
// GFX950-LABEL: func.func @ofSize
// GFX950: tilegpu.dot {{.*}} unit <"mfma.16x16x32.f16.f32"
func.func @ofSize(%p0: !tile.ptr<f16>, %q0: !tile.ptr<f32>)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.matrix_instr_nonkdim = 16 : i32, tile.kpack = 1 : i32} {
  %p = tile.splat %p0 : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %q = tile.splat %q0 : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %a = tile.load %p : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tile.dot %a, %a, %c : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
  tile.store %q, %d : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @ofLargeSize
// GFX942: tilegpu.dot {{.*}} unit <"mfma.32x32x8x2.f16.f32"
// GFX950-LABEL: func.func @ofLargeSize
// GFX950: tilegpu.dot {{.*}} unit <"mfma.32x32x16.f16.f32"
func.func @ofLargeSize(%p0: !tile.ptr<f16>, %q0: !tile.ptr<f32>)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.matrix_instr_nonkdim = 32 : i32, tile.kpack = 2 : i32} {
  %p = tile.splat %p0 : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %q = tile.splat %q0 : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %a = tile.load %p : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tile.dot %a, %a, %c : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
  tile.store %q, %d : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// What is no dot costs more on gfx942 beside products, where loads run ahead in registers: the tile is converted for the dot alone.
// GFX942-LABEL: func.func @transposed
// GFX942: %[[TRANSPOSED:.*]] = tile.trans {{.*}} : tensor<128x64xf16,
// GFX942-NEXT: tilegpu.convert_layout %[[TRANSPOSED]]
// GFX950-LABEL: func.func @transposed
// GFX950: %[[CONVERTED:.*]] = tilegpu.convert_layout {{.*}} : tensor<128x64xf16,
// GFX950-NEXT: tile.trans %[[CONVERTED]]
// GFX1100-LABEL: func.func @transposed
// GFX1100: %[[CONVERTED:.*]] = tilegpu.convert_layout {{.*}} : tensor<128x64xf16,
// GFX1100-NEXT: tile.trans %[[CONVERTED]]
func.func @transposed(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 3 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %step = arith.constant dense<8192> : tensor<128x64xi32>
  %none = arith.constant dense<0.0> : tensor<128x128xf32>
  %line = arith.constant dense<64> : tensor<128x1xi32>
  %r = tile.arange 0, 128 : tensor<128xi32>
  %c = tile.arange 0, 64 : tensor<64xi32>
  %r1 = tile.expand_dims %r, 1 : tensor<128xi32> -> tensor<128x1xi32>
  %r2 = arith.muli %r1, %line : tensor<128x1xi32>
  %r3 = tile.broadcast %r2 : tensor<128x1xi32> -> tensor<128x64xi32>
  %c1 = tile.expand_dims %c, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %c2 = tile.broadcast %c1 : tensor<1x64xi32> -> tensor<128x64xi32>
  %at = arith.addi %r3, %c2 : tensor<128x64xi32>
  %pa1 = tile.splat %a : !tile.ptr<f16> -> tensor<128x64x!tile.ptr<f16>>
  %pa = tile.addptr %pa1, %at : tensor<128x64x!tile.ptr<f16>>, tensor<128x64xi32>
  %pb1 = tile.splat %b : !tile.ptr<f16> -> tensor<128x64x!tile.ptr<f16>>
  %pb = tile.addptr %pb1, %at : tensor<128x64x!tile.ptr<f16>>, tensor<128x64xi32>
  %sum:2 = scf.for %i = %zero to %n step %one iter_args(%s = %none, %p = %pa)
      -> (tensor<128x128xf32>, tensor<128x64x!tile.ptr<f16>>) : i32 {
    %x = tile.load %p : (tensor<128x64x!tile.ptr<f16>>) -> tensor<128x64xf16>
    %y = tile.load %pb : (tensor<128x64x!tile.ptr<f16>>) -> tensor<128x64xf16>
    %t = tile.trans %y, [1, 0] : tensor<128x64xf16> -> tensor<64x128xf16>
    %d = tile.dot %x, %t, %s : (tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>) -> tensor<128x128xf32>
    %next = tile.addptr %p, %step : tensor<128x64x!tile.ptr<f16>>, tensor<128x64xi32>
    scf.yield %d, %next : tensor<128x128xf32>, tensor<128x64x!tile.ptr<f16>>
  }
  %w = arith.constant dense<128> : tensor<128x1xi32>
  %o1 = arith.muli %r1, %w : tensor<128x1xi32>
  %o2 = tile.broadcast %o1 : tensor<128x1xi32> -> tensor<128x128xi32>
  %o3 = tile.expand_dims %r, 0 : tensor<128xi32> -> tensor<1x128xi32>
  %o4 = tile.broadcast %o3 : tensor<1x128xi32> -> tensor<128x128xi32>
  %o5 = arith.addi %o2, %o4 : tensor<128x128xi32>
  %po1 = tile.splat %o : !tile.ptr<f32> -> tensor<128x128x!tile.ptr<f32>>
  %po = tile.addptr %po1, %o5 : tensor<128x128x!tile.ptr<f32>>, tensor<128x128xi32>
  tile.store %po, %sum#0 : (tensor<128x128x!tile.ptr<f32>>, tensor<128x128xf32>) -> ()
  return
}

// CDNA 4 multiplies twice as many numbers of 8 bits in a cycle, by instructions of its own.
// GFX950-LABEL: func.func @ofBytes
// GFX950: tilegpu.dot {{.*}} unit <"mfma.32x32x64{{(by4)?}}.fp8.f32"
// GFX950: tilegpu.dot {{.*}} unit <"mfma.32x32x32.i8.i32"
func.func @ofBytes(%p0: !tile.ptr<f8E4M3FN>, %q0: !tile.ptr<f32>, %r0: !tile.ptr<i8>, %s0: !tile.ptr<i32>)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.matrix_instr_nonkdim = 32 : i32} {
  %p = tile.splat %p0 : !tile.ptr<f8E4M3FN> -> tensor<64x64x!tile.ptr<f8E4M3FN>>
  %q = tile.splat %q0 : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %r = tile.splat %r0 : !tile.ptr<i8> -> tensor<64x64x!tile.ptr<i8>>
  %s = tile.splat %s0 : !tile.ptr<i32> -> tensor<64x64x!tile.ptr<i32>>
  %a = tile.load %p : (tensor<64x64x!tile.ptr<f8E4M3FN>>) -> tensor<64x64xf8E4M3FN>
  %b = tile.load %r : (tensor<64x64x!tile.ptr<i8>>) -> tensor<64x64xi8>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0> : tensor<64x64xi32>
  %c = tile.dot %a, %a, %zero : (tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = tile.dot %b, %b, %none : (tensor<64x64xi8>, tensor<64x64xi8>, tensor<64x64xi32>) -> tensor<64x64xi32>
  tile.store %q, %c : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  tile.store %s, %d : (tensor<64x64x!tile.ptr<i32>>, tensor<64x64xi32>) -> ()
  return
}

// Eight neighbours of k in an order of their own, so that A is multiplied where it is loaded, four to a lane. From the other order of k
// the layout of A and that of its load only cost less together.
// GFX942-LABEL: func.func @operandAsLoaded
// GFX942: %[[A:[0-9]*]] = tile.load {{.*}} -> tensor<64x16xf32, #[[LAYOUT:[a-z0-9]*]]>
// GFX942: tilegpu.dot %[[A]], {{.*}} unit <"mfma.16x16x8x2.xf32.f32" swapped, warps 4 x 1> : (tensor<64x16xf32, #[[LAYOUT]]>
func.func @operandAsLoaded(%arg0: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                           %arg1: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                           %arg2: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                           %arg3: i32 {tile.divisibility = 16 : i32})
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %0 = tile.arange 0, 64 : tensor<64xi32>
  %1 = tile.arange 0, 16 : tensor<16xi32>
  %2 = tile.expand_dims %0, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %3 = tile.splat %arg3 : i32 -> tensor<64x1xi32>
  %4 = arith.muli %2, %3 : tensor<64x1xi32>
  %5 = tile.splat %arg0 : !tile.ptr<f32> -> tensor<64x1x!tile.ptr<f32>>
  %6 = tile.addptr %5, %4 : tensor<64x1x!tile.ptr<f32>>, tensor<64x1xi32>
  %7 = tile.expand_dims %1, 0 : tensor<16xi32> -> tensor<1x16xi32>
  %8 = tile.broadcast %6 : tensor<64x1x!tile.ptr<f32>> -> tensor<64x16x!tile.ptr<f32>>
  %9 = tile.broadcast %7 : tensor<1x16xi32> -> tensor<64x16xi32>
  %10 = tile.addptr %8, %9 : tensor<64x16x!tile.ptr<f32>>, tensor<64x16xi32>
  %11 = tile.load %10 : (tensor<64x16x!tile.ptr<f32>>) -> tensor<64x16xf32>
  %12 = tile.expand_dims %1, 1 : tensor<16xi32> -> tensor<16x1xi32>
  %13 = tile.splat %arg3 : i32 -> tensor<16x1xi32>
  %14 = arith.muli %12, %13 : tensor<16x1xi32>
  %15 = tile.splat %arg1 : !tile.ptr<f32> -> tensor<16x1x!tile.ptr<f32>>
  %16 = tile.addptr %15, %14 : tensor<16x1x!tile.ptr<f32>>, tensor<16x1xi32>
  %17 = tile.expand_dims %0, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %18 = tile.broadcast %16 : tensor<16x1x!tile.ptr<f32>> -> tensor<16x64x!tile.ptr<f32>>
  %19 = tile.broadcast %17 : tensor<1x64xi32> -> tensor<16x64xi32>
  %20 = tile.addptr %18, %19 : tensor<16x64x!tile.ptr<f32>>, tensor<16x64xi32>
  %21 = tile.load %20 : (tensor<16x64x!tile.ptr<f32>>) -> tensor<16x64xf32>
  %22 = tile.splat %arg2 : !tile.ptr<f32> -> tensor<64x1x!tile.ptr<f32>>
  %23 = tile.addptr %22, %4 : tensor<64x1x!tile.ptr<f32>>, tensor<64x1xi32>
  %24 = tile.broadcast %23 : tensor<64x1x!tile.ptr<f32>> -> tensor<64x64x!tile.ptr<f32>>
  %25 = tile.broadcast %17 : tensor<1x64xi32> -> tensor<64x64xi32>
  %26 = tile.addptr %24, %25 : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  %27 = tile.dot %11, %21, %cst : (tensor<64x16xf32>, tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  tile.store %26, %27 : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// Floats of 8 bits of two kinds, of which the unit takes each as it is; it computes the transposed product. Others become f16.
// CHECK-LABEL: func.func @ofTwoKinds
// SM90: arith.extf
// SM90: arith.extf
// SM90: tilegpu.dot {{.*}} unit <"wgmma.{{[a-z0-9]*}}.f16.f32"
// GFX942: arith.extf
// GFX942: arith.extf
// GFX942: tilegpu.dot {{.*}} unit <"mfma.{{[a-z0-9]*}}.f16.f32"
// GFX950-LABEL: func.func @ofTwoKinds
// GFX950-NOT: arith.extf
// GFX950: tilegpu.dot {{.*}} unit <"mfma.{{[a-z0-9]*}}.bf8.fp8.f32"
// GFX950: tilegpu.dot {{.*}} unit <"mfma.{{[a-z0-9]*}}.fp8.bf8.f32"
func.func @ofTwoKinds(%p0: !tile.ptr<f8E4M3FN>, %r0: !tile.ptr<f8E5M2>, %q0: !tile.ptr<f32>)
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %p = tile.splat %p0 : !tile.ptr<f8E4M3FN> -> tensor<64x64x!tile.ptr<f8E4M3FN>>
  %r = tile.splat %r0 : !tile.ptr<f8E5M2> -> tensor<64x64x!tile.ptr<f8E5M2>>
  %q = tile.splat %q0 : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %a = tile.load %p : (tensor<64x64x!tile.ptr<f8E4M3FN>>) -> tensor<64x64xf8E4M3FN>
  %b = tile.load %r : (tensor<64x64x!tile.ptr<f8E5M2>>) -> tensor<64x64xf8E5M2>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tile.dot %a, %b, %c : (tensor<64x64xf8E4M3FN>, tensor<64x64xf8E5M2>, tensor<64x64xf32>) -> tensor<64x64xf32>
  tile.store %q, %d : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  %e = tile.dot %b, %a, %c : (tensor<64x64xf8E5M2>, tensor<64x64xf8E4M3FN>, tensor<64x64xf32>) -> tensor<64x64xf32>
  tile.store %q, %e : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// The formats that gfx942 has.
// CHECK-LABEL: func.func @ofTwoKindsOfAmd
// GFX942-NOT: arith.extf
// GFX942: tilegpu.dot {{.*}} unit <"mfma.{{[a-z0-9]*}}.bf8.fp8.f32"
// GFX1100: tilegpu.dot {{.*}} unit <"wmma.16x16x16{{(by2)?}}.f16.f32"
func.func @ofTwoKindsOfAmd(%p0: !tile.ptr<f8E4M3FNUZ>, %r0: !tile.ptr<f8E5M2FNUZ>, %q0: !tile.ptr<f32>)
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %p = tile.splat %p0 : !tile.ptr<f8E4M3FNUZ> -> tensor<64x64x!tile.ptr<f8E4M3FNUZ>>
  %r = tile.splat %r0 : !tile.ptr<f8E5M2FNUZ> -> tensor<64x64x!tile.ptr<f8E5M2FNUZ>>
  %q = tile.splat %q0 : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %a = tile.load %p : (tensor<64x64x!tile.ptr<f8E4M3FNUZ>>) -> tensor<64x64xf8E4M3FNUZ>
  %b = tile.load %r : (tensor<64x64x!tile.ptr<f8E5M2FNUZ>>) -> tensor<64x64xf8E5M2FNUZ>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tile.dot %a, %b, %c : (tensor<64x64xf8E4M3FNUZ>, tensor<64x64xf8E5M2FNUZ>, tensor<64x64xf32>) -> tensor<64x64xf32>
  tile.store %q, %d : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// CDNA's unit multiplies f64.
// CHECK-LABEL: func.func @doubles
// SM80: tilegpu.dot %{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %{{[a-z0-9]*}} : (
// GFX942: tilegpu.dot {{.*}} unit <"mfma.16x16x4{{(x2)?}}.f64.f64"
// GFX950-LABEL: func.func @doubles
// GFX950: tilegpu.dot {{.*}} unit <"mfma.16x16x4{{(x2)?}}.f64.f64"
// GFX1100: tilegpu.dot %{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %{{[a-z0-9]*}} : (
func.func @doubles(%p0: !tile.ptr<f64>) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %p = tile.splat %p0 : !tile.ptr<f64> -> tensor<64x64x!tile.ptr<f64>>
  %a = tile.load %p : (tensor<64x64x!tile.ptr<f64>>) -> tensor<64x64xf64>
  %c = arith.constant dense<0.0> : tensor<64x64xf64>
  %d = tile.dot %a, %a, %c : (tensor<64x64xf64>, tensor<64x64xf64>, tensor<64x64xf64>) -> tensor<64x64xf64>
  tile.store %p, %d : (tensor<64x64x!tile.ptr<f64>>, tensor<64x64xf64>) -> ()
  return
}
