// Operands of a product that run ahead through registers are stored, and read, between the same barriers: where one
// of them goes through shared memory the other does at no barrier of its own, and warps share rows and columns. Where
// a warp multiplies little, two iterations are one, for which rows of its own stay out of shared memory.
// RUN: kiln-opt --kiln-tile-to-tilegpu=target=hip:gfx942 --canonicalize --cse %s | FileCheck %s

// CHECK-LABEL: func.func @shared
// CHECK: scf.for
// CHECK-DAG: %[[A:.*]] = tilegpu.convert_layout {{.*}} -> tensor<64x32xf16
// CHECK-DAG: %[[B:.*]] = tilegpu.convert_layout {{.*}} -> tensor<32x128xf16
// CHECK: tilegpu.dot %[[A]], %[[B]], {{.*}} unit <"mfma.32x32x8{{.*}}" swapped, warps 2 x 2>
func.func @shared(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 3 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %size = arith.constant 4096 : i32
  %none = arith.constant dense<0.0> : tensor<64x128xf32>
  %lineA = arith.constant dense<4096> : tensor<64x1xi32>
  %lineB = arith.constant dense<128> : tensor<32x1xi32>
  %lineO = arith.constant dense<128> : tensor<64x1xi32>
  %r64 = tile.arange 0, 64 : tensor<64xi32>
  %r32 = tile.arange 0, 32 : tensor<32xi32>
  %r128 = tile.arange 0, 128 : tensor<128xi32>
  %m = tile.expand_dims %r64, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %ka = tile.expand_dims %r32, 0 : tensor<32xi32> -> tensor<1x32xi32>
  %kb = tile.expand_dims %r32, 1 : tensor<32xi32> -> tensor<32x1xi32>
  %nn = tile.expand_dims %r128, 0 : tensor<128xi32> -> tensor<1x128xi32>
  %a1 = arith.muli %m, %lineA : tensor<64x1xi32>
  %a2 = tile.broadcast %a1 : tensor<64x1xi32> -> tensor<64x32xi32>
  %a3 = tile.broadcast %ka : tensor<1x32xi32> -> tensor<64x32xi32>
  %atA = arith.addi %a2, %a3 : tensor<64x32xi32>
  %b1 = arith.muli %kb, %lineB : tensor<32x1xi32>
  %b2 = tile.broadcast %b1 : tensor<32x1xi32> -> tensor<32x128xi32>
  %b3 = tile.broadcast %nn : tensor<1x128xi32> -> tensor<32x128xi32>
  %atB = arith.addi %b2, %b3 : tensor<32x128xi32>
  %o1 = arith.muli %m, %lineO : tensor<64x1xi32>
  %o2 = tile.broadcast %o1 : tensor<64x1xi32> -> tensor<64x128xi32>
  %o3 = tile.broadcast %nn : tensor<1x128xi32> -> tensor<64x128xi32>
  %atO = arith.addi %o2, %o3 : tensor<64x128xi32>
  %depth = arith.constant 32 : i32
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %none) -> (tensor<64x128xf32>) : i32 {
    %placeA = arith.muli %i, %depth : i32
    %pa0 = tile.addptr %a, %placeA : !tile.ptr<f16>, i32
    %pa1 = tile.splat %pa0 : !tile.ptr<f16> -> tensor<64x32x!tile.ptr<f16>>
    %pa = tile.addptr %pa1, %atA : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi32>
    %x = tile.load %pa : (tensor<64x32x!tile.ptr<f16>>) -> tensor<64x32xf16>
    %placeB = arith.muli %i, %size : i32
    %pb0 = tile.addptr %b, %placeB : !tile.ptr<f16>, i32
    %pb1 = tile.splat %pb0 : !tile.ptr<f16> -> tensor<32x128x!tile.ptr<f16>>
    %pb = tile.addptr %pb1, %atB : tensor<32x128x!tile.ptr<f16>>, tensor<32x128xi32>
    %y = tile.load %pb : (tensor<32x128x!tile.ptr<f16>>) -> tensor<32x128xf16>
    %d = tile.dot %x, %y, %s : (tensor<64x32xf16>, tensor<32x128xf16>, tensor<64x128xf32>) -> tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  %po1 = tile.splat %o : !tile.ptr<f32> -> tensor<64x128x!tile.ptr<f32>>
  %po = tile.addptr %po1, %atO : tensor<64x128x!tile.ptr<f32>>, tensor<64x128xi32>
  tile.store %po, %sum : (tensor<64x128x!tile.ptr<f32>>, tensor<64x128xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @short
// CHECK: scf.for
// CHECK: %[[A:.*]] = tile.load {{.*}} -> tensor<64x32xf16
// CHECK: %[[B:.*]] = tilegpu.convert_layout {{.*}} -> tensor<32x64xf16
// CHECK-NOT: tilegpu.convert_layout
// CHECK: tilegpu.dot %[[A]], %[[B]], {{.*}} warps 4 x 1>
func.func @short(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 3 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %size = arith.constant 2048 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %lineA = arith.constant dense<4096> : tensor<64x1xi32>
  %lineB = arith.constant dense<64> : tensor<32x1xi32>
  %lineO = arith.constant dense<64> : tensor<64x1xi32>
  %r64 = tile.arange 0, 64 : tensor<64xi32>
  %r32 = tile.arange 0, 32 : tensor<32xi32>
  %r64b = tile.arange 0, 64 : tensor<64xi32>
  %m = tile.expand_dims %r64, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %ka = tile.expand_dims %r32, 0 : tensor<32xi32> -> tensor<1x32xi32>
  %kb = tile.expand_dims %r32, 1 : tensor<32xi32> -> tensor<32x1xi32>
  %nn = tile.expand_dims %r64b, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %a1 = arith.muli %m, %lineA : tensor<64x1xi32>
  %a2 = tile.broadcast %a1 : tensor<64x1xi32> -> tensor<64x32xi32>
  %a3 = tile.broadcast %ka : tensor<1x32xi32> -> tensor<64x32xi32>
  %atA = arith.addi %a2, %a3 : tensor<64x32xi32>
  %b1 = arith.muli %kb, %lineB : tensor<32x1xi32>
  %b2 = tile.broadcast %b1 : tensor<32x1xi32> -> tensor<32x64xi32>
  %b3 = tile.broadcast %nn : tensor<1x64xi32> -> tensor<32x64xi32>
  %atB = arith.addi %b2, %b3 : tensor<32x64xi32>
  %o1 = arith.muli %m, %lineO : tensor<64x1xi32>
  %o2 = tile.broadcast %o1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %o3 = tile.broadcast %nn : tensor<1x64xi32> -> tensor<64x64xi32>
  %atO = arith.addi %o2, %o3 : tensor<64x64xi32>
  %depth = arith.constant 32 : i32
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %none) -> (tensor<64x64xf32>) : i32 {
    %placeA = arith.muli %i, %depth : i32
    %pa0 = tile.addptr %a, %placeA : !tile.ptr<f16>, i32
    %pa1 = tile.splat %pa0 : !tile.ptr<f16> -> tensor<64x32x!tile.ptr<f16>>
    %pa = tile.addptr %pa1, %atA : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi32>
    %x = tile.load %pa : (tensor<64x32x!tile.ptr<f16>>) -> tensor<64x32xf16>
    %placeB = arith.muli %i, %size : i32
    %pb0 = tile.addptr %b, %placeB : !tile.ptr<f16>, i32
    %pb1 = tile.splat %pb0 : !tile.ptr<f16> -> tensor<32x64x!tile.ptr<f16>>
    %pb = tile.addptr %pb1, %atB : tensor<32x64x!tile.ptr<f16>>, tensor<32x64xi32>
    %y = tile.load %pb : (tensor<32x64x!tile.ptr<f16>>) -> tensor<32x64xf16>
    %d = tile.dot %x, %y, %s : (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %po1 = tile.splat %o : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %po = tile.addptr %po1, %atO : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %po, %sum : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}
