// Operands of a product that run ahead through registers are stored, and read, between the same barriers: where one
// of them goes through shared memory the other does at no barrier of its own. Without iterations to run ahead in each
// waits for its own.
// RUN: kiln-opt --kiln-tile-to-tilegpu=target=hip:gfx942 --canonicalize --cse %s | FileCheck %s

// CHECK-LABEL: func.func @ahead
// CHECK: scf.for
// CHECK-DAG: %[[A:.*]] = tilegpu.convert_layout
// CHECK-DAG: %[[B:.*]] = tilegpu.convert_layout
// CHECK: tilegpu.dot %[[A]], %[[B]],
func.func @ahead(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                %c: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %k: i32, %m: i32 {tile.divisibility = 16 : i32}, %n: i32 {tile.divisibility = 16 : i32})
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 2 : i32} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 32 : i32
  %places = tile.arange 0, 32 : tensor<32xi32>
  %columns = tile.expand_dims %places, 0 : tensor<32xi32> -> tensor<1x32xi32>
  %column = tile.broadcast %columns : tensor<1x32xi32> -> tensor<32x32xi32>
  %ms = tile.splat %m : i32 -> tensor<32xi32>
  %ns = tile.splat %n : i32 -> tensor<32xi32>
  %ofA = arith.muli %places, %ms : tensor<32xi32>
  %ofB = arith.muli %places, %ns : tensor<32xi32>
  %rowsOfA = tile.expand_dims %ofA, 1 : tensor<32xi32> -> tensor<32x1xi32>
  %rowsOfB = tile.expand_dims %ofB, 1 : tensor<32xi32> -> tensor<32x1xi32>
  %rowOfA = tile.broadcast %rowsOfA : tensor<32x1xi32> -> tensor<32x32xi32>
  %rowOfB = tile.broadcast %rowsOfB : tensor<32x1xi32> -> tensor<32x32xi32>
  %inA = arith.addi %rowOfA, %column : tensor<32x32xi32>
  %inB = arith.addi %rowOfB, %column : tensor<32x32xi32>
  %as = tile.splat %a : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>>
  %bs = tile.splat %b : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>>
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<32x32x!tile.ptr<f32>>
  %pa0 = tile.addptr %as, %inA : tensor<32x32x!tile.ptr<f16>>, tensor<32x32xi32>
  %pb0 = tile.addptr %bs, %inB : tensor<32x32x!tile.ptr<f16>>, tensor<32x32xi32>
  %pc = tile.addptr %cs, %inB : tensor<32x32x!tile.ptr<f32>>, tensor<32x32xi32>
  %stepA = arith.constant dense<32> : tensor<32x32xi32>
  %bytes = arith.muli %n, %step : i32
  %stepB = tile.splat %bytes : i32 -> tensor<32x32xi32>
  %acc0 = arith.constant dense<0.0> : tensor<32x32xf32>
  %sum:3 = scf.for %i = %zero to %k step %step iter_args(%pa = %pa0, %pb = %pb0, %acc = %acc0)
      -> (tensor<32x32x!tile.ptr<f16>>, tensor<32x32x!tile.ptr<f16>>, tensor<32x32xf32>) : i32 {
    %av = tile.load %pa : (tensor<32x32x!tile.ptr<f16>>) -> tensor<32x32xf16>
    %bv = tile.load %pb : (tensor<32x32x!tile.ptr<f16>>) -> tensor<32x32xf16>
    %d = tile.dot %av, %bv, %acc : (tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %na = tile.addptr %pa, %stepA : tensor<32x32x!tile.ptr<f16>>, tensor<32x32xi32>
    %nb = tile.addptr %pb, %stepB : tensor<32x32x!tile.ptr<f16>>, tensor<32x32xi32>
    scf.yield %na, %nb, %d : tensor<32x32x!tile.ptr<f16>>, tensor<32x32x!tile.ptr<f16>>, tensor<32x32xf32>
  }
  tile.store %pc, %sum#2 : (tensor<32x32x!tile.ptr<f32>>, tensor<32x32xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @alone
// CHECK: scf.for
// CHECK: %[[A:.*]] = tile.load
// CHECK: %[[B:.*]] = tilegpu.convert_layout
// CHECK-NOT: tilegpu.convert_layout
// CHECK: tilegpu.dot %[[A]], %[[B]],
func.func @alone(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                %c: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %k: i32, %m: i32 {tile.divisibility = 16 : i32}, %n: i32 {tile.divisibility = 16 : i32})
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 1 : i32} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 32 : i32
  %places = tile.arange 0, 32 : tensor<32xi32>
  %columns = tile.expand_dims %places, 0 : tensor<32xi32> -> tensor<1x32xi32>
  %column = tile.broadcast %columns : tensor<1x32xi32> -> tensor<32x32xi32>
  %ms = tile.splat %m : i32 -> tensor<32xi32>
  %ns = tile.splat %n : i32 -> tensor<32xi32>
  %ofA = arith.muli %places, %ms : tensor<32xi32>
  %ofB = arith.muli %places, %ns : tensor<32xi32>
  %rowsOfA = tile.expand_dims %ofA, 1 : tensor<32xi32> -> tensor<32x1xi32>
  %rowsOfB = tile.expand_dims %ofB, 1 : tensor<32xi32> -> tensor<32x1xi32>
  %rowOfA = tile.broadcast %rowsOfA : tensor<32x1xi32> -> tensor<32x32xi32>
  %rowOfB = tile.broadcast %rowsOfB : tensor<32x1xi32> -> tensor<32x32xi32>
  %inA = arith.addi %rowOfA, %column : tensor<32x32xi32>
  %inB = arith.addi %rowOfB, %column : tensor<32x32xi32>
  %as = tile.splat %a : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>>
  %bs = tile.splat %b : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>>
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<32x32x!tile.ptr<f32>>
  %pa0 = tile.addptr %as, %inA : tensor<32x32x!tile.ptr<f16>>, tensor<32x32xi32>
  %pb0 = tile.addptr %bs, %inB : tensor<32x32x!tile.ptr<f16>>, tensor<32x32xi32>
  %pc = tile.addptr %cs, %inB : tensor<32x32x!tile.ptr<f32>>, tensor<32x32xi32>
  %stepA = arith.constant dense<32> : tensor<32x32xi32>
  %bytes = arith.muli %n, %step : i32
  %stepB = tile.splat %bytes : i32 -> tensor<32x32xi32>
  %acc0 = arith.constant dense<0.0> : tensor<32x32xf32>
  %sum:3 = scf.for %i = %zero to %k step %step iter_args(%pa = %pa0, %pb = %pb0, %acc = %acc0)
      -> (tensor<32x32x!tile.ptr<f16>>, tensor<32x32x!tile.ptr<f16>>, tensor<32x32xf32>) : i32 {
    %av = tile.load %pa : (tensor<32x32x!tile.ptr<f16>>) -> tensor<32x32xf16>
    %bv = tile.load %pb : (tensor<32x32x!tile.ptr<f16>>) -> tensor<32x32xf16>
    %d = tile.dot %av, %bv, %acc : (tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %na = tile.addptr %pa, %stepA : tensor<32x32x!tile.ptr<f16>>, tensor<32x32xi32>
    %nb = tile.addptr %pb, %stepB : tensor<32x32x!tile.ptr<f16>>, tensor<32x32xi32>
    scf.yield %na, %nb, %d : tensor<32x32x!tile.ptr<f16>>, tensor<32x32x!tile.ptr<f16>>, tensor<32x32xf32>
  }
  tile.store %pc, %sum#2 : (tensor<32x32x!tile.ptr<f32>>, tensor<32x32xf32>) -> ()
  return
}
