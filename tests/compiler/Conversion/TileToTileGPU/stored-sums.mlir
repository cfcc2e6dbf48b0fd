// A loop's sum stays where products leave it: what is stored of it is converted on its way, narrowed, and its factor has the layout that follows.
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=cuda:sm_90a},canonicalize,cse,loop-invariant-code-motion)" %s | FileCheck %s

// CHECK: #[[SUM:.*]] = #tilegpu.layout<"register: 0,1 8,0 0,8 0,16; lane: 0,2 0,4 1,0 2,0 4,0; warp: 16,0 32,0; block: -> 64x32">
// CHECK-LABEL: func.func @kernel
// CHECK: scf.for {{.*}} -> (tensor<64x32xf32, #[[SUM]]>)
// CHECK-NOT: tilegpu.convert_layout {{.*}}f32
// CHECK: tilegpu.convert_layout {{.*}} : tensor<64x32xf16, #[[SUM]]>
// CHECK-NOT: tilegpu.convert_layout {{.*}}f32
// CHECK: scf.yield
func.func @kernel(%arg0: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %arg1: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %arg2: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %arg3: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %arg4: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %arg5: i32) attributes {tile.kernel, tile.num_ctas = 1 : i32, tile.num_stages = 1 : i32, tile.num_warps = 4 : i32} {
  %cst = arith.constant dense<64> : tensor<64x1xi32>
  %cst_0 = arith.constant dense<32> : tensor<64x1xi32>
  %c2048_i32 = arith.constant 2048 : i32
  %cst_1 = arith.constant dense<0.000000e+00> : tensor<64x32xf32>
  %c64_i32 = arith.constant 64 : i32
  %c0_i32 = arith.constant 0 : i32
  %0 = tile.arange 0, 64 : tensor<64xi32>
  %1 = tile.arange 0, 32 : tensor<32xi32>
  %2 = tile.expand_dims %0, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %3 = arith.muli %2, %cst_0 : tensor<64x1xi32>
  %4 = tile.expand_dims %1, 0 : tensor<32xi32> -> tensor<1x32xi32>
  %5 = tile.broadcast %4 : tensor<1x32xi32> -> tensor<64x32xi32>
  %6 = tile.splat %arg0 : !tile.ptr<f16> -> tensor<64x1x!tile.ptr<f16>>
  %7 = tile.expand_dims %0, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %8 = tile.broadcast %7 : tensor<1x64xi32> -> tensor<64x64xi32>
  %9 = tile.splat %arg1 : !tile.ptr<f16> -> tensor<64x1x!tile.ptr<f16>>
  %10 = tile.splat %arg2 : !tile.ptr<f16> -> tensor<64x1x!tile.ptr<f16>>
  %11 = scf.for %arg6 = %c0_i32 to %arg5 step %c64_i32 iter_args(%arg7 = %cst_1) -> (tensor<64x32xf32>)  : i32 {
    %12 = tile.splat %arg6 : i32 -> tensor<64xi32>
    %13 = arith.addi %12, %0 : tensor<64xi32>
    %14 = tile.expand_dims %13, 1 : tensor<64xi32> -> tensor<64x1xi32>
    %15 = arith.divsi %arg6, %c64_i32 : i32
    %16 = arith.muli %15, %c2048_i32 : i32
    %17 = tile.addptr %arg4, %16 : !tile.ptr<f16>, i32
    %18 = tile.splat %17 : !tile.ptr<f16> -> tensor<64x1x!tile.ptr<f16>>
    %19 = tile.addptr %18, %3 : tensor<64x1x!tile.ptr<f16>>, tensor<64x1xi32>
    %20 = tile.broadcast %19 : tensor<64x1x!tile.ptr<f16>> -> tensor<64x32x!tile.ptr<f16>>
    %21 = tile.addptr %20, %5 : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi32>
    %22 = arith.truncf %arg7 : tensor<64x32xf32> to tensor<64x32xf16>
    tile.store %21, %22 : (tensor<64x32x!tile.ptr<f16>>, tensor<64x32xf16>) -> ()
    %23 = arith.muli %14, %cst : tensor<64x1xi32>
    %24 = tile.addptr %6, %23 : tensor<64x1x!tile.ptr<f16>>, tensor<64x1xi32>
    %25 = tile.broadcast %24 : tensor<64x1x!tile.ptr<f16>> -> tensor<64x64x!tile.ptr<f16>>
    %26 = tile.addptr %25, %8 : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %27 = tile.load %26 : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %28 = arith.muli %14, %cst_0 : tensor<64x1xi32>
    %29 = tile.addptr %9, %28 : tensor<64x1x!tile.ptr<f16>>, tensor<64x1xi32>
    %30 = tile.broadcast %29 : tensor<64x1x!tile.ptr<f16>> -> tensor<64x32x!tile.ptr<f16>>
    %31 = tile.addptr %30, %5 : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi32>
    %32 = tile.load %31 : (tensor<64x32x!tile.ptr<f16>>) -> tensor<64x32xf16>
    %33 = tile.dot %27, %22, %cst_1 : (tensor<64x64xf16>, tensor<64x32xf16>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %34 = arith.extf %32 : tensor<64x32xf16> to tensor<64x32xf32>
    %35 = arith.subf %34, %33 : tensor<64x32xf32>
    %36 = arith.muli %arg6, %c64_i32 : i32
    %37 = tile.addptr %arg3, %36 : !tile.ptr<f32>, i32
    %38 = tile.splat %37 : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
    %39 = tile.addptr %38, %0 : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %40 = tile.load %39 : (tensor<64x!tile.ptr<f32>>) -> tensor<64xf32>
    %41 = tile.expand_dims %40, 1 : tensor<64xf32> -> tensor<64x1xf32>
    %42 = tile.broadcast %41 : tensor<64x1xf32> -> tensor<64x32xf32>
    %43 = arith.mulf %arg7, %42 : tensor<64x32xf32>
    %44 = tile.addptr %10, %23 : tensor<64x1x!tile.ptr<f16>>, tensor<64x1xi32>
    %45 = tile.broadcast %44 : tensor<64x1x!tile.ptr<f16>> -> tensor<64x64x!tile.ptr<f16>>
    %46 = tile.addptr %45, %8 : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %47 = tile.load %46 : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %48 = tile.trans %47, [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %49 = arith.truncf %35 : tensor<64x32xf32> to tensor<64x32xf16>
    %50 = tile.dot %48, %49, %43 : (tensor<64x64xf16>, tensor<64x32xf16>, tensor<64x32xf32>) -> tensor<64x32xf32>
    scf.yield %50 : tensor<64x32xf32>
  }
  return
}
