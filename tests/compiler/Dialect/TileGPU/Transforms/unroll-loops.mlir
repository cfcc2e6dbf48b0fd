// Two iterations of a short streaming loop are one on AMD, and what is left over stands behind it.
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx1100},canonicalize,cse,func.func(kiln-unroll-loops))" %s | FileCheck %s
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx942},canonicalize,cse,func.func(kiln-unroll-loops))" %s | FileCheck %s
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=cuda:sm_90a},canonicalize,cse,func.func(kiln-unroll-loops))" %s | FileCheck %s --check-prefix=ASSEMBLER

// An assembler unrolls loops itself.
// ASSEMBLER-LABEL: func.func @sum
// ASSEMBLER: scf.for
// ASSEMBLER-NOT: scf.for
// ASSEMBLER: return

// CHECK-LABEL: func.func @sum
// CHECK: %[[END:.*]] = arith.maxsi
// CHECK: %[[TWO:.*]] = scf.for
// CHECK: tile.load
// CHECK-NOT: scf.yield
// CHECK: tile.load
// CHECK: scf.yield
// CHECK: scf.for {{.*}} to %[[END]] {{.*}} iter_args(%{{.*}} = %[[TWO]])
// CHECK: tile.load
// CHECK-NOT: tile.load
// CHECK: scf.yield
func.func @sum(%p: !tile.ptr<f32>, %o: !tile.ptr<f32>, %first: i32, %last: i32) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %none = arith.constant dense<0.0> : tensor<128xf32>
  %step = arith.constant 128 : i32
  %r = tile.arange 0, 128 : tensor<128xi32>
  %sum = scf.for %i = %first to %last step %step iter_args(%s = %none) -> (tensor<128xf32>) : i32 {
    %p0 = tile.addptr %p, %i : !tile.ptr<f32>, i32
    %p1 = tile.splat %p0 : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
    %p2 = tile.addptr %p1, %r : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
    %x = tile.load %p2 : (tensor<128x!tile.ptr<f32>>) -> tensor<128xf32>
    %t = arith.addf %s, %x : tensor<128xf32>
    scf.yield %t : tensor<128xf32>
  }
  %o1 = tile.splat %o : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %o2 = tile.addptr %o1, %r : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  tile.store %o2, %sum : (tensor<128x!tile.ptr<f32>>, tensor<128xf32>) -> ()
  return
}

// What is long is not copied: here a thread computes 512 elements, and their addresses.
// CHECK-LABEL: func.func @long
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: return
func.func @long(%p: !tile.ptr<f32>, %last: i32) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16384 : i32
  %one = arith.constant dense<1.0> : tensor<16384xf32>
  %r = tile.arange 0, 16384 : tensor<16384xi32>
  scf.for %i = %zero to %last step %step : i32 {
    %p0 = tile.addptr %p, %i : !tile.ptr<f32>, i32
    %p1 = tile.splat %p0 : !tile.ptr<f32> -> tensor<16384x!tile.ptr<f32>>
    %p2 = tile.addptr %p1, %r : tensor<16384x!tile.ptr<f32>>, tensor<16384xi32>
    %x = tile.load %p2 : (tensor<16384x!tile.ptr<f32>>) -> tensor<16384xf32>
    %y = arith.addf %x, %one : tensor<16384xf32>
    tile.store %p2, %y : (tensor<16384x!tile.ptr<f32>>, tensor<16384xf32>) -> ()
  }
  return
}

// Nor is a loop for equal arguments alone.
// CHECK-LABEL: func.func @unlikely
// CHECK: scf.if
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: } else {
// CHECK: scf.for
// CHECK: scf.for
// CHECK: return
func.func @unlikely(%p: !tile.ptr<f32>, %last: i32, %equal: i1) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 32 : i32
  %one = arith.constant dense<1.0> : tensor<32xf32>
  %two = arith.constant dense<2.0> : tensor<32xf32>
  %r = tile.arange 0, 32 : tensor<32xi32>
  scf.if %equal {
    scf.for %i = %zero to %last step %step : i32 {
      %p0 = tile.addptr %p, %i : !tile.ptr<f32>, i32
      %p1 = tile.splat %p0 : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
      %p2 = tile.addptr %p1, %r : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
      tile.store %p2, %one : (tensor<32x!tile.ptr<f32>>, tensor<32xf32>) -> ()
    }
  } else {
    scf.for %i = %zero to %last step %step : i32 {
      %p0 = tile.addptr %p, %i : !tile.ptr<f32>, i32
      %p1 = tile.splat %p0 : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
      %p2 = tile.addptr %p1, %r : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
      tile.store %p2, %two : (tensor<32x!tile.ptr<f32>>, tensor<32xf32>) -> ()
    }
  } {tile.unlikely}
  return
}
