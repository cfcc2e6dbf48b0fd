// Sums of a loop that share an index with a load, in front of the loop, do not have that load's layout, nor do their factors change theirs.
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=cuda:sm_90a},canonicalize,cse,loop-invariant-code-motion)" %s | FileCheck %s

// CHECK-LABEL: func.func @scaled
// CHECK: scf.for
// CHECK: tilegpu.dot
// CHECK-NOT: tilegpu.convert_layout
// CHECK: scf.yield
func.func @scaled(%arg0: !tile.ptr<f8E4M3FN> {tile.divisibility = 16 : i32}, %arg1: !tile.ptr<f8E4M3FN> {tile.divisibility = 16 : i32}, %arg2: !tile.ptr<bf16> {tile.divisibility = 16 : i32}, %arg3: !tile.ptr<i32> {tile.divisibility = 16 : i32}, %arg4: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %arg5: i32, %arg6: i32 {tile.divisibility = 16 : i32}) attributes {tile.kernel, tile.num_ctas = 1 : i32, tile.num_stages = 3 : i32, tile.num_warps = 4 : i32} {
  %cst = arith.constant dense<128> : tensor<64x1xi32>
  %cst_0 = arith.constant dense<16384> : tensor<128x128xi32>
  %cst_1 = arith.constant dense<128> : tensor<64x128xi32>
  %cst_2 = arith.constant dense<0.000000e+00> : tensor<64xf32>
  %cst_3 = arith.constant dense<0.000000e+00> : tensor<64x128xf8E4M3FN>
  %cst_4 = arith.constant dense<0.000000e+00> : tensor<64x128xf32>
  %cst_5 = arith.constant dense<128> : tensor<1x128xi32>
  %c0_i32 = arith.constant 0 : i32
  %c128_i32 = arith.constant 128 : i32
  %0 = tile.arange 0, 64 : tensor<64xi32>
  %1 = tile.arange 0, 128 : tensor<128xi32>
  %2 = tile.splat %arg3 : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
  %3 = tile.addptr %2, %0 : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  %4 = tile.load %3 : (tensor<64x!tile.ptr<i32>>) -> tensor<64xi32>
  %5 = tile.splat %arg5 : i32 -> tensor<64xi32>
  %6 = arith.cmpi slt, %4, %5 : tensor<64xi32>
  %7 = tile.expand_dims %4, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %8 = tile.splat %arg6 : i32 -> tensor<64x1xi32>
  %9 = arith.muli %7, %8 : tensor<64x1xi32>
  %10 = tile.splat %arg0 : !tile.ptr<f8E4M3FN> -> tensor<64x1x!tile.ptr<f8E4M3FN>>
  %11 = tile.addptr %10, %9 : tensor<64x1x!tile.ptr<f8E4M3FN>>, tensor<64x1xi32>
  %12 = tile.expand_dims %1, 0 : tensor<128xi32> -> tensor<1x128xi32>
  %13 = tile.broadcast %11 : tensor<64x1x!tile.ptr<f8E4M3FN>> -> tensor<64x128x!tile.ptr<f8E4M3FN>>
  %14 = tile.broadcast %12 : tensor<1x128xi32> -> tensor<64x128xi32>
  %15 = tile.addptr %13, %14 : tensor<64x128x!tile.ptr<f8E4M3FN>>, tensor<64x128xi32>
  %16 = tile.expand_dims %1, 1 : tensor<128xi32> -> tensor<128x1xi32>
  %17 = tile.splat %arg1 : !tile.ptr<f8E4M3FN> -> tensor<128x1x!tile.ptr<f8E4M3FN>>
  %18 = tile.addptr %17, %16 : tensor<128x1x!tile.ptr<f8E4M3FN>>, tensor<128x1xi32>
  %19 = arith.muli %12, %cst_5 : tensor<1x128xi32>
  %20 = tile.broadcast %18 : tensor<128x1x!tile.ptr<f8E4M3FN>> -> tensor<128x128x!tile.ptr<f8E4M3FN>>
  %21 = tile.broadcast %19 : tensor<1x128xi32> -> tensor<128x128xi32>
  %22 = tile.addptr %20, %21 : tensor<128x128x!tile.ptr<f8E4M3FN>>, tensor<128x128xi32>
  %23 = tile.expand_dims %6, 1 : tensor<64xi1> -> tensor<64x1xi1>
  %24 = tile.broadcast %23 : tensor<64x1xi1> -> tensor<64x128xi1>
  %25 = tile.splat %arg6 : i32 -> tensor<64xi32>
  %26 = arith.muli %4, %25 : tensor<64xi32>
  %27 = tile.splat %arg4 : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %28 = tile.addptr %27, %26 : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %29:3 = scf.for %arg7 = %c0_i32 to %arg6 step %c128_i32 iter_args(%arg8 = %15, %arg9 = %22, %arg10 = %cst_4) -> (tensor<64x128x!tile.ptr<f8E4M3FN>>, tensor<128x128x!tile.ptr<f8E4M3FN>>, tensor<64x128xf32>)  : i32 {
    %38 = arith.subi %arg6, %arg7 : i32
    %39 = tile.splat %38 : i32 -> tensor<1x128xi32>
    %40 = arith.cmpi slt, %12, %39 : tensor<1x128xi32>
    %41 = tile.broadcast %40 : tensor<1x128xi1> -> tensor<64x128xi1>
    %42 = arith.andi %24, %41 : tensor<64x128xi1>
    %43 = tile.load %arg8 mask %42 other %cst_3 : (tensor<64x128x!tile.ptr<f8E4M3FN>>, tensor<64x128xi1>, tensor<64x128xf8E4M3FN>) -> tensor<64x128xf8E4M3FN>
    %44 = tile.load %arg9 : (tensor<128x128x!tile.ptr<f8E4M3FN>>) -> tensor<128x128xf8E4M3FN>
    %45 = tile.splat %arg7 : i32 -> tensor<64xi32>
    %46 = tile.addptr %28, %45 : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %47 = tile.load %46 mask %6 other %cst_2 : (tensor<64x!tile.ptr<f32>>, tensor<64xi1>, tensor<64xf32>) -> tensor<64xf32>
    %48 = tile.dot %43, %44, %cst_4 : (tensor<64x128xf8E4M3FN>, tensor<128x128xf8E4M3FN>, tensor<64x128xf32>) -> tensor<64x128xf32>
    %49 = tile.expand_dims %47, 1 : tensor<64xf32> -> tensor<64x1xf32>
    %50 = tile.broadcast %49 : tensor<64x1xf32> -> tensor<64x128xf32>
    %51 = arith.mulf %48, %50 : tensor<64x128xf32>
    %52 = arith.addf %arg10, %51 : tensor<64x128xf32>
    %53 = tile.addptr %arg8, %cst_1 : tensor<64x128x!tile.ptr<f8E4M3FN>>, tensor<64x128xi32>
    %54 = tile.addptr %arg9, %cst_0 : tensor<128x128x!tile.ptr<f8E4M3FN>>, tensor<128x128xi32>
    scf.yield %53, %54, %52 : tensor<64x128x!tile.ptr<f8E4M3FN>>, tensor<128x128x!tile.ptr<f8E4M3FN>>, tensor<64x128xf32>
  }
  %30 = arith.muli %7, %cst : tensor<64x1xi32>
  %31 = tile.splat %arg2 : !tile.ptr<bf16> -> tensor<64x1x!tile.ptr<bf16>>
  %32 = tile.addptr %31, %30 : tensor<64x1x!tile.ptr<bf16>>, tensor<64x1xi32>
  %33 = tile.broadcast %32 : tensor<64x1x!tile.ptr<bf16>> -> tensor<64x128x!tile.ptr<bf16>>
  %34 = tile.addptr %33, %14 : tensor<64x128x!tile.ptr<bf16>>, tensor<64x128xi32>
  %35 = arith.truncf %29#2 : tensor<64x128xf32> to tensor<64x128xbf16>
  %36 = tile.expand_dims %6, 1 : tensor<64xi1> -> tensor<64x1xi1>
  %37 = tile.broadcast %36 : tensor<64x1xi1> -> tensor<64x128xi1>
  tile.store %34, %35 mask %37 : (tensor<64x128x!tile.ptr<bf16>>, tensor<64x128xbf16>, tensor<64x128xi1>) -> ()
  return
}
