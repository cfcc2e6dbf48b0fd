// Short iterations of products are done by twos: the second one's loads bring zeros where there is none.
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx942},canonicalize,cse,loop-invariant-code-motion,func.func(kiln-stage-operands,kiln-prefetch-operands))" %s | FileCheck %s
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx1100},canonicalize,cse,loop-invariant-code-motion,func.func(kiln-stage-operands,kiln-prefetch-operands))" %s | FileCheck %s

// CHECK-LABEL: func.func @short
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c2_i32 iter_args
// CHECK: tile.load {{.*}} mask
// CHECK: tile.load {{.*}} mask
// CHECK: tile.load {{.*}} mask %{{.*}} other
// CHECK: tile.load {{.*}} mask %{{.*}} other
// CHECK: %[[FIRST:.*]] = tilegpu.dot
// CHECK: tilegpu.dot {{.*}}, %[[FIRST]] unit
// CHECK: scf.yield

// Not where something else is carried that is used behind the loop, where the sum does not begin at zero (of the sign
// that adding zero keeps), where the number of iterations is odd, or where one operand is what it is in all iterations.
// CHECK-LABEL: func.func @counts
// CHECK: scf.for
// CHECK: tilegpu.dot
// CHECK-NOT: tilegpu.dot
// CHECK-LABEL: func.func @adds
// CHECK: scf.for
// CHECK: tilegpu.dot
// CHECK-NOT: tilegpu.dot
// CHECK-LABEL: func.func @five
// CHECK: scf.for
// CHECK: tilegpu.dot
// CHECK-NOT: tilegpu.dot
// CHECK-LABEL: func.func @one_operand
// CHECK: scf.for
// CHECK: tilegpu.dot
// CHECK-NOT: tilegpu.dot
// CHECK: return

func.func @short(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 2 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %five = arith.constant 5 : i32
  %size = arith.constant 1024 : i32
  %none = arith.constant dense<0.0> : tensor<16x64xf32>
  %c16 = arith.constant dense<16> : tensor<16x1xi32>
  %c64 = arith.constant dense<64> : tensor<16x1xi32>
  %r = tile.arange 0, 16 : tensor<16xi32>
  %r1 = tile.expand_dims %r, 1 : tensor<16xi32> -> tensor<16x1xi32>
  %ra = arith.muli %r1, %c16 : tensor<16x1xi32>
  %ra1 = tile.broadcast %ra : tensor<16x1xi32> -> tensor<16x16xi32>
  %ca = tile.expand_dims %r, 0 : tensor<16xi32> -> tensor<1x16xi32>
  %ca1 = tile.broadcast %ca : tensor<1x16xi32> -> tensor<16x16xi32>
  %ata = arith.addi %ra1, %ca1 : tensor<16x16xi32>
  %rb = arith.muli %r1, %c64 : tensor<16x1xi32>
  %rb1 = tile.broadcast %rb : tensor<16x1xi32> -> tensor<16x64xi32>
  %q = tile.arange 0, 64 : tensor<64xi32>
  %cb = tile.expand_dims %q, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %cb1 = tile.broadcast %cb : tensor<1x64xi32> -> tensor<16x64xi32>
  %atb = arith.addi %rb1, %cb1 : tensor<16x64xi32>
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %none) -> (tensor<16x64xf32>) : i32 {
    %place = arith.muli %i, %size : i32
    %pa0 = tile.addptr %a, %place : !tile.ptr<f16>, i32
    %pa1 = tile.splat %pa0 : !tile.ptr<f16> -> tensor<16x16x!tile.ptr<f16>>
    %pa = tile.addptr %pa1, %ata : tensor<16x16x!tile.ptr<f16>>, tensor<16x16xi32>
    %x = tile.load %pa : (tensor<16x16x!tile.ptr<f16>>) -> tensor<16x16xf16>
    %pb0 = tile.addptr %b, %place : !tile.ptr<f16>, i32
    %pb1 = tile.splat %pb0 : !tile.ptr<f16> -> tensor<16x64x!tile.ptr<f16>>
    %pb = tile.addptr %pb1, %atb : tensor<16x64x!tile.ptr<f16>>, tensor<16x64xi32>
    %y = tile.load %pb : (tensor<16x64x!tile.ptr<f16>>) -> tensor<16x64xf16>
    %d = tile.dot %x, %y, %s : (tensor<16x16xf16>, tensor<16x64xf16>, tensor<16x64xf32>) -> tensor<16x64xf32>
    scf.yield %d : tensor<16x64xf32>
  }
  %o1 = tile.splat %o : !tile.ptr<f32> -> tensor<16x64x!tile.ptr<f32>>
  %po = tile.addptr %o1, %atb : tensor<16x64x!tile.ptr<f32>>, tensor<16x64xi32>
  tile.store %po, %sum : (tensor<16x64x!tile.ptr<f32>>, tensor<16x64xf32>) -> ()
  return
}

func.func @counts(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) -> i32
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 2 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %five = arith.constant 5 : i32
  %size = arith.constant 1024 : i32
  %none = arith.constant dense<0.0> : tensor<16x64xf32>
  %c16 = arith.constant dense<16> : tensor<16x1xi32>
  %c64 = arith.constant dense<64> : tensor<16x1xi32>
  %r = tile.arange 0, 16 : tensor<16xi32>
  %r1 = tile.expand_dims %r, 1 : tensor<16xi32> -> tensor<16x1xi32>
  %ra = arith.muli %r1, %c16 : tensor<16x1xi32>
  %ra1 = tile.broadcast %ra : tensor<16x1xi32> -> tensor<16x16xi32>
  %ca = tile.expand_dims %r, 0 : tensor<16xi32> -> tensor<1x16xi32>
  %ca1 = tile.broadcast %ca : tensor<1x16xi32> -> tensor<16x16xi32>
  %ata = arith.addi %ra1, %ca1 : tensor<16x16xi32>
  %rb = arith.muli %r1, %c64 : tensor<16x1xi32>
  %rb1 = tile.broadcast %rb : tensor<16x1xi32> -> tensor<16x64xi32>
  %q = tile.arange 0, 64 : tensor<64xi32>
  %cb = tile.expand_dims %q, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %cb1 = tile.broadcast %cb : tensor<1x64xi32> -> tensor<16x64xi32>
  %atb = arith.addi %rb1, %cb1 : tensor<16x64xi32>
  %sum:2 = scf.for %i = %zero to %n step %one iter_args(%s = %none, %c = %zero) -> (tensor<16x64xf32>, i32) : i32 {
    %place = arith.muli %i, %size : i32
    %pa0 = tile.addptr %a, %place : !tile.ptr<f16>, i32
    %pa1 = tile.splat %pa0 : !tile.ptr<f16> -> tensor<16x16x!tile.ptr<f16>>
    %pa = tile.addptr %pa1, %ata : tensor<16x16x!tile.ptr<f16>>, tensor<16x16xi32>
    %x = tile.load %pa : (tensor<16x16x!tile.ptr<f16>>) -> tensor<16x16xf16>
    %pb0 = tile.addptr %b, %place : !tile.ptr<f16>, i32
    %pb1 = tile.splat %pb0 : !tile.ptr<f16> -> tensor<16x64x!tile.ptr<f16>>
    %pb = tile.addptr %pb1, %atb : tensor<16x64x!tile.ptr<f16>>, tensor<16x64xi32>
    %y = tile.load %pb : (tensor<16x64x!tile.ptr<f16>>) -> tensor<16x64xf16>
    %d = tile.dot %x, %y, %s : (tensor<16x16xf16>, tensor<16x64xf16>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %m = arith.addi %c, %size : i32
    scf.yield %d, %m : tensor<16x64xf32>, i32
  }
  %o1 = tile.splat %o : !tile.ptr<f32> -> tensor<16x64x!tile.ptr<f32>>
  %po = tile.addptr %o1, %atb : tensor<16x64x!tile.ptr<f32>>, tensor<16x64xi32>
  tile.store %po, %sum#0 : (tensor<16x64x!tile.ptr<f32>>, tensor<16x64xf32>) -> ()
  return %sum#1 : i32
}

func.func @adds(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 2 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %five = arith.constant 5 : i32
  %size = arith.constant 1024 : i32
  %ones = arith.constant dense<1.0> : tensor<16x64xf32>
  %c16 = arith.constant dense<16> : tensor<16x1xi32>
  %c64 = arith.constant dense<64> : tensor<16x1xi32>
  %r = tile.arange 0, 16 : tensor<16xi32>
  %r1 = tile.expand_dims %r, 1 : tensor<16xi32> -> tensor<16x1xi32>
  %ra = arith.muli %r1, %c16 : tensor<16x1xi32>
  %ra1 = tile.broadcast %ra : tensor<16x1xi32> -> tensor<16x16xi32>
  %ca = tile.expand_dims %r, 0 : tensor<16xi32> -> tensor<1x16xi32>
  %ca1 = tile.broadcast %ca : tensor<1x16xi32> -> tensor<16x16xi32>
  %ata = arith.addi %ra1, %ca1 : tensor<16x16xi32>
  %rb = arith.muli %r1, %c64 : tensor<16x1xi32>
  %rb1 = tile.broadcast %rb : tensor<16x1xi32> -> tensor<16x64xi32>
  %q = tile.arange 0, 64 : tensor<64xi32>
  %cb = tile.expand_dims %q, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %cb1 = tile.broadcast %cb : tensor<1x64xi32> -> tensor<16x64xi32>
  %atb = arith.addi %rb1, %cb1 : tensor<16x64xi32>
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %ones) -> (tensor<16x64xf32>) : i32 {
    %place = arith.muli %i, %size : i32
    %pa0 = tile.addptr %a, %place : !tile.ptr<f16>, i32
    %pa1 = tile.splat %pa0 : !tile.ptr<f16> -> tensor<16x16x!tile.ptr<f16>>
    %pa = tile.addptr %pa1, %ata : tensor<16x16x!tile.ptr<f16>>, tensor<16x16xi32>
    %x = tile.load %pa : (tensor<16x16x!tile.ptr<f16>>) -> tensor<16x16xf16>
    %pb0 = tile.addptr %b, %place : !tile.ptr<f16>, i32
    %pb1 = tile.splat %pb0 : !tile.ptr<f16> -> tensor<16x64x!tile.ptr<f16>>
    %pb = tile.addptr %pb1, %atb : tensor<16x64x!tile.ptr<f16>>, tensor<16x64xi32>
    %y = tile.load %pb : (tensor<16x64x!tile.ptr<f16>>) -> tensor<16x64xf16>
    %d = tile.dot %x, %y, %s : (tensor<16x16xf16>, tensor<16x64xf16>, tensor<16x64xf32>) -> tensor<16x64xf32>
    scf.yield %d : tensor<16x64xf32>
  }
  %o1 = tile.splat %o : !tile.ptr<f32> -> tensor<16x64x!tile.ptr<f32>>
  %po = tile.addptr %o1, %atb : tensor<16x64x!tile.ptr<f32>>, tensor<16x64xi32>
  tile.store %po, %sum : (tensor<16x64x!tile.ptr<f32>>, tensor<16x64xf32>) -> ()
  return
}

func.func @five(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 2 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %five = arith.constant 5 : i32
  %size = arith.constant 1024 : i32
  %none = arith.constant dense<0.0> : tensor<16x64xf32>
  %c16 = arith.constant dense<16> : tensor<16x1xi32>
  %c64 = arith.constant dense<64> : tensor<16x1xi32>
  %r = tile.arange 0, 16 : tensor<16xi32>
  %r1 = tile.expand_dims %r, 1 : tensor<16xi32> -> tensor<16x1xi32>
  %ra = arith.muli %r1, %c16 : tensor<16x1xi32>
  %ra1 = tile.broadcast %ra : tensor<16x1xi32> -> tensor<16x16xi32>
  %ca = tile.expand_dims %r, 0 : tensor<16xi32> -> tensor<1x16xi32>
  %ca1 = tile.broadcast %ca : tensor<1x16xi32> -> tensor<16x16xi32>
  %ata = arith.addi %ra1, %ca1 : tensor<16x16xi32>
  %rb = arith.muli %r1, %c64 : tensor<16x1xi32>
  %rb1 = tile.broadcast %rb : tensor<16x1xi32> -> tensor<16x64xi32>
  %q = tile.arange 0, 64 : tensor<64xi32>
  %cb = tile.expand_dims %q, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %cb1 = tile.broadcast %cb : tensor<1x64xi32> -> tensor<16x64xi32>
  %atb = arith.addi %rb1, %cb1 : tensor<16x64xi32>
  %sum = scf.for %i = %zero to %five step %one iter_args(%s = %none) -> (tensor<16x64xf32>) : i32 {
    %place = arith.muli %i, %size : i32
    %pa0 = tile.addptr %a, %place : !tile.ptr<f16>, i32
    %pa1 = tile.splat %pa0 : !tile.ptr<f16> -> tensor<16x16x!tile.ptr<f16>>
    %pa = tile.addptr %pa1, %ata : tensor<16x16x!tile.ptr<f16>>, tensor<16x16xi32>
    %x = tile.load %pa : (tensor<16x16x!tile.ptr<f16>>) -> tensor<16x16xf16>
    %pb0 = tile.addptr %b, %place : !tile.ptr<f16>, i32
    %pb1 = tile.splat %pb0 : !tile.ptr<f16> -> tensor<16x64x!tile.ptr<f16>>
    %pb = tile.addptr %pb1, %atb : tensor<16x64x!tile.ptr<f16>>, tensor<16x64xi32>
    %y = tile.load %pb : (tensor<16x64x!tile.ptr<f16>>) -> tensor<16x64xf16>
    %d = tile.dot %x, %y, %s : (tensor<16x16xf16>, tensor<16x64xf16>, tensor<16x64xf32>) -> tensor<16x64xf32>
    scf.yield %d : tensor<16x64xf32>
  }
  %o1 = tile.splat %o : !tile.ptr<f32> -> tensor<16x64x!tile.ptr<f32>>
  %po = tile.addptr %o1, %atb : tensor<16x64x!tile.ptr<f32>>, tensor<16x64xi32>
  tile.store %po, %sum : (tensor<16x64x!tile.ptr<f32>>, tensor<16x64xf32>) -> ()
  return
}

func.func @one_operand(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 2 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %five = arith.constant 5 : i32
  %size = arith.constant 1024 : i32
  %none = arith.constant dense<0.0> : tensor<16x64xf32>
  %c16 = arith.constant dense<16> : tensor<16x1xi32>
  %c64 = arith.constant dense<64> : tensor<16x1xi32>
  %r = tile.arange 0, 16 : tensor<16xi32>
  %r1 = tile.expand_dims %r, 1 : tensor<16xi32> -> tensor<16x1xi32>
  %ra = arith.muli %r1, %c16 : tensor<16x1xi32>
  %ra1 = tile.broadcast %ra : tensor<16x1xi32> -> tensor<16x16xi32>
  %ca = tile.expand_dims %r, 0 : tensor<16xi32> -> tensor<1x16xi32>
  %ca1 = tile.broadcast %ca : tensor<1x16xi32> -> tensor<16x16xi32>
  %ata = arith.addi %ra1, %ca1 : tensor<16x16xi32>
  %rb = arith.muli %r1, %c64 : tensor<16x1xi32>
  %rb1 = tile.broadcast %rb : tensor<16x1xi32> -> tensor<16x64xi32>
  %q = tile.arange 0, 64 : tensor<64xi32>
  %cb = tile.expand_dims %q, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %cb1 = tile.broadcast %cb : tensor<1x64xi32> -> tensor<16x64xi32>
  %atb = arith.addi %rb1, %cb1 : tensor<16x64xi32>
  %pa0 = tile.addptr %a, %size : !tile.ptr<f16>, i32
  %pa1 = tile.splat %pa0 : !tile.ptr<f16> -> tensor<16x16x!tile.ptr<f16>>
  %pa = tile.addptr %pa1, %ata : tensor<16x16x!tile.ptr<f16>>, tensor<16x16xi32>
  %x = tile.load %pa : (tensor<16x16x!tile.ptr<f16>>) -> tensor<16x16xf16>
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %none) -> (tensor<16x64xf32>) : i32 {
    %place = arith.muli %i, %size : i32
    %pb0 = tile.addptr %b, %place : !tile.ptr<f16>, i32
    %pb1 = tile.splat %pb0 : !tile.ptr<f16> -> tensor<16x64x!tile.ptr<f16>>
    %pb = tile.addptr %pb1, %atb : tensor<16x64x!tile.ptr<f16>>, tensor<16x64xi32>
    %y = tile.load %pb : (tensor<16x64x!tile.ptr<f16>>) -> tensor<16x64xf16>
    %d = tile.dot %x, %y, %s : (tensor<16x16xf16>, tensor<16x64xf16>, tensor<16x64xf32>) -> tensor<16x64xf32>
    scf.yield %d : tensor<16x64xf32>
  }
  %o1 = tile.splat %o : !tile.ptr<f32> -> tensor<16x64x!tile.ptr<f32>>
  %po = tile.addptr %o1, %atb : tensor<16x64x!tile.ptr<f32>>, tensor<16x64xi32>
  tile.store %po, %sum : (tensor<16x64x!tile.ptr<f32>>, tensor<16x64xf32>) -> ()
  return
}
