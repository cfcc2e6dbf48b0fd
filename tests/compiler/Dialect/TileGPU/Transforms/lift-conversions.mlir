// Scales that change their layout behind a product come to the iteration's beginning on RDNA, where threads lack registers for the product beside the sum.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-lift-loads))" %s | FileCheck %s
// RUN: sed 's/hip:gfx1100/hip:gfx942/' %s | kiln-opt --pass-pipeline="builtin.module(func.func(kiln-lift-loads))" | FileCheck %s --check-prefix=ROOM

// CHECK-LABEL: func.func @scaled
// CHECK: scf.for
// CHECK: tile.load {{.*}} -> tensor<256xf32
// CHECK: tilegpu.convert_layout {{.*}} -> tensor<256xf32
// CHECK: tilegpu.dot
// CHECK-NOT: tilegpu.convert_layout
// CHECK: scf.yield

// With accumulators in registers of their own there is room.
// ROOM-LABEL: func.func @scaled
// ROOM: scf.for
// ROOM: tilegpu.dot
// ROOM: tilegpu.convert_layout {{.*}} -> tensor<256xf32
// ROOM: scf.yield
#layout = #tilegpu.layout<"register: 0,2 0,4 0,8 0,16 0,32 0,64 64,0 128,0; lane: 1,0 2,0 4,0 8,0 0,1; warp: 16,0 32,0; block: -> 256x128">
#layout1 = #tilegpu.layout<"register: 32,0 64,0 128,0; lane: 0,0 0,0 1,0 2,0 4,0; warp: 8,0 16,0; block: -> 256x1">
#layout2 = #tilegpu.layout<"register: 1,0 2,0; lane: 0,0 0,0 0,0 0,0 4,0; warp: 8,0 16,0; block: -> 32x1">
#layout3 = #tilegpu.layout<"register: 64,0 128,0; lane: 1,0 2,0 4,0 8,0 0,0; warp: 16,0 32,0; block: -> 256x1">
#own = #tilegpu.layout<"register: 1; lane: 2 4 8 16 32; warp: 64 128; block: -> 256">
#layout4 = #tilegpu.layout<"register: 64 128; lane: 1 2 4 8 0; warp: 16 32; block: -> 256">
#layout5 = #tilegpu.layout<"register: 32 64 128; lane: 0 0 1 2 4; warp: 8 16; block: -> 256">
#layout6 = #tilegpu.layout<"register: 2 4 8 16 32 64; lane: 0 0 0 0 1; warp: 0 0; block: -> 128">
#layout7 = #tilegpu.layout<"register: 1 2 4; lane: 8 16 32 64 0; warp: 0 0; block: -> 128">
#layout8 = #tilegpu.layout<"register: 0,2 0,4 0,8 0,16 0,32 0,64; lane: 0,0 0,0 0,0 0,0 0,1; warp: 0,0 0,0; block: -> 1x128">
#layout9 = #tilegpu.layout<"register: 0,1 0,2 0,4; lane: 0,8 0,16 0,32 0,64 0,0; warp: 0,0 0,0; block: -> 1x128">
#layout10 = #tilegpu.layout<"register: 1 2; lane: 0 0 0 0 4; warp: 8 16; block: -> 32">
#layout11 = #tilegpu.layout<"register: 1 2 4; lane: 8 16 0 0 0; warp: 0 0; block: -> 32">
#layout12 = #tilegpu.layout<"register: 0,1 0,2 0,4; lane: 0,8 0,16 0,0 0,0 0,0; warp: 0,0 0,0; block: -> 1x32">
#layout13 = #tilegpu.layout<"register: 0,1 0,2 0,4 32,0 64,0 128,0; lane: 0,8 0,16 1,0 2,0 4,0; warp: 8,0 16,0; block: -> 256x32">
#layout14 = #tilegpu.layout<"register: 0,1 0,2 0,4 1,0 2,0; lane: 0,8 0,16 0,32 0,64 4,0; warp: 8,0 16,0; block: -> 32x128">
#layout15 = #tilegpu.layout<"register: 0,1 0,2 0,4 0,8 0,16 64,0 128,0; lane: 1,0 2,0 4,0 8,0 0,0; warp: 16,0 32,0; block: -> 256x32">
#layout16 = #tilegpu.layout<"register: 1,0 2,0 4,0 8,0 0,16 0,32 0,64 16,0; lane: 0,1 0,2 0,4 0,8 0,0; warp: 0,0 0,0; block: -> 32x128">
#shared = #tilegpu.shared<"offset: 0,1 0,2 0,4 0,8 0,16 1,0 128,0 64,0 32,0 16,0 8,0 2,8 4,16 -> 256x32">
#shared1 = #tilegpu.shared<"offset: 1,0 2,0 0,8 0,16 0,32 0,64 16,0 8,0 4,0 0,17 0,34 0,68 -> 32x128">
module attributes {tilegpu.target = "hip:gfx1100"} {
  func.func @scaled(%arg0: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %arg1: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %arg2: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %arg3: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %arg4: i32) attributes {tile.kernel, tile.num_stages = 2 : i32, tile.num_warps = 4 : i32} {
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %c8192_i32 = arith.constant 8192 : i32
    %c256_i32 = arith.constant 256 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<256x128xf32, #layout>
    %cst_0 = arith.constant dense<32> : tensor<256x1xi32, #layout1>
    %cst_1 = arith.constant dense<128> : tensor<32x1xi32, #layout2>
    %cst_2 = arith.constant dense<128> : tensor<256x1xi32, #layout3>
    %0 = tile.arange 0, 256 : tensor<256xi32, #layout4>
    %own = tile.arange 0, 256 : tensor<256xi32, #own>
    %1 = tile.arange 0, 256 : tensor<256xi32, #layout5>
    %2 = tile.expand_dims %0, 1 : tensor<256xi32, #layout4> -> tensor<256x1xi32, #layout3>
    %3 = tile.expand_dims %1, 1 : tensor<256xi32, #layout5> -> tensor<256x1xi32, #layout1>
    %4 = tile.arange 0, 128 : tensor<128xi32, #layout6>
    %5 = tile.arange 0, 128 : tensor<128xi32, #layout7>
    %6 = tile.expand_dims %4, 0 : tensor<128xi32, #layout6> -> tensor<1x128xi32, #layout8>
    %7 = tile.expand_dims %5, 0 : tensor<128xi32, #layout7> -> tensor<1x128xi32, #layout9>
    %8 = tile.arange 0, 32 : tensor<32xi32, #layout10>
    %9 = tile.arange 0, 32 : tensor<32xi32, #layout11>
    %10 = tile.expand_dims %9, 0 : tensor<32xi32, #layout11> -> tensor<1x32xi32, #layout12>
    %11 = tile.expand_dims %8, 1 : tensor<32xi32, #layout10> -> tensor<32x1xi32, #layout2>
    %12 = arith.muli %3, %cst_0 : tensor<256x1xi32, #layout1>
    %13 = tile.broadcast %12 : tensor<256x1xi32, #layout1> -> tensor<256x32xi32, #layout13>
    %14 = tile.broadcast %10 : tensor<1x32xi32, #layout12> -> tensor<256x32xi32, #layout13>
    %15 = arith.addi %13, %14 : tensor<256x32xi32, #layout13>
    %16 = arith.muli %11, %cst_1 : tensor<32x1xi32, #layout2>
    %17 = tile.broadcast %16 : tensor<32x1xi32, #layout2> -> tensor<32x128xi32, #layout14>
    %18 = tile.broadcast %7 : tensor<1x128xi32, #layout9> -> tensor<32x128xi32, #layout14>
    %19 = arith.addi %17, %18 : tensor<32x128xi32, #layout14>
    %20 = scf.for %arg5 = %c0_i32 to %arg4 step %c1_i32 iter_args(%arg6 = %cst) -> (tensor<256x128xf32, #layout>)  : i32 {
      %27 = arith.muli %arg5, %c8192_i32 : i32
      %28 = tile.addptr %arg0, %27 : !tile.ptr<f16>, i32
      %29 = tile.splat %28 : !tile.ptr<f16> -> tensor<256x32x!tile.ptr<f16>, #layout13>
      %30 = tile.addptr %29, %15 : tensor<256x32x!tile.ptr<f16>, #layout13>, tensor<256x32xi32, #layout13>
      %31 = tile.addptr %arg1, %27 : !tile.ptr<f16>, i32
      %32 = tile.splat %31 : !tile.ptr<f16> -> tensor<32x128x!tile.ptr<f16>, #layout14>
      %33 = tile.addptr %32, %19 : tensor<32x128x!tile.ptr<f16>, #layout14>, tensor<32x128xi32, #layout14>
      %34 = tile.load %30 : (tensor<256x32x!tile.ptr<f16>, #layout13>) -> tensor<256x32xf16, #layout13>
      %35 = tile.load %33 : (tensor<32x128x!tile.ptr<f16>, #layout14>) -> tensor<32x128xf16, #layout14>
      %36 = tilegpu.alloc : <256x32xf16, #shared>
      tilegpu.shared_store %34, %36 : tensor<256x32xf16, #layout13>, <256x32xf16, #shared>
      %37 = tilegpu.alloc : <32x128xf16, #shared1>
      tilegpu.shared_store %35, %37 : tensor<32x128xf16, #layout14>, <32x128xf16, #shared1>
      %38 = tilegpu.shared_load %36 : <256x32xf16, #shared> -> tensor<256x32xf16, #layout15>
      %39 = tilegpu.shared_load %37 : <32x128xf16, #shared1> -> tensor<32x128xf16, #layout16>
      %40 = tilegpu.dot %38, %39, %cst unit <"wmma.16x16x16.f16.f32" swapped, warps 4 x 1> : (tensor<256x32xf16, #layout15>, tensor<32x128xf16, #layout16>, tensor<256x128xf32, #layout>) -> tensor<256x128xf32, #layout>
      %41 = arith.muli %arg5, %c256_i32 : i32
      %42 = tile.addptr %arg2, %41 : !tile.ptr<f32>, i32
      %43 = tile.splat %42 : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #own>
      %44 = tile.addptr %43, %own : tensor<256x!tile.ptr<f32>, #own>, tensor<256xi32, #own>
      %loaded = tile.load %44 : (tensor<256x!tile.ptr<f32>, #own>) -> tensor<256xf32, #own>
      %45 = tilegpu.convert_layout %loaded : tensor<256xf32, #own> -> tensor<256xf32, #layout4>
      %46 = tile.expand_dims %45, 1 : tensor<256xf32, #layout4> -> tensor<256x1xf32, #layout3>
      %47 = tile.broadcast %46 : tensor<256x1xf32, #layout3> -> tensor<256x128xf32, #layout>
      %48 = arith.mulf %40, %47 : tensor<256x128xf32, #layout>
      %49 = arith.addf %arg6, %48 : tensor<256x128xf32, #layout>
      scf.yield %49 : tensor<256x128xf32, #layout>
    }
    %21 = arith.muli %2, %cst_2 : tensor<256x1xi32, #layout3>
    %22 = tile.broadcast %21 : tensor<256x1xi32, #layout3> -> tensor<256x128xi32, #layout>
    %23 = tile.broadcast %6 : tensor<1x128xi32, #layout8> -> tensor<256x128xi32, #layout>
    %24 = arith.addi %22, %23 : tensor<256x128xi32, #layout>
    %25 = tile.splat %arg3 : !tile.ptr<f32> -> tensor<256x128x!tile.ptr<f32>, #layout>
    %26 = tile.addptr %25, %24 : tensor<256x128x!tile.ptr<f32>, #layout>, tensor<256x128xi32, #layout>
    tile.store %26, %20 : (tensor<256x128x!tile.ptr<f32>, #layout>, tensor<256x128xf32, #layout>) -> ()
    return
  }
}

