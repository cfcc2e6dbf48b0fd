// Masks that loops' bounds and steps decide, and loops that run once at most.
// RUN: kiln-opt %s --pass-pipeline="builtin.module(func.func(kiln-fold-comparisons),canonicalize)" | FileCheck %s

// 512 is a multiple of the block: no element of any iteration is outside.
// CHECK-LABEL: func.func @whole_blocks
// CHECK-NOT: arith.cmpi
// CHECK: tile.store %{{.*}}, %{{.*}} : (
func.func @whole_blocks(%p: !tile.ptr<f32>, %x: tensor<256xf32>) {
  %zero = arith.constant 0 : i32
  %end = arith.constant 512 : i32
  %block = arith.constant 256 : i32
  %ends = arith.constant dense<512> : tensor<1x256xi32>
  scf.for %start = %zero to %end step %block : i32 {
    %range = tile.arange 0, 256 : tensor<256xi32>
    %row = tile.expand_dims %range, 0 : tensor<256xi32> -> tensor<1x256xi32>
    %starts = tile.splat %start : i32 -> tensor<1x256xi32>
    %i = arith.addi %starts, %row : tensor<1x256xi32>
    %mask = arith.cmpi slt, %i, %ends : tensor<1x256xi32>
    %flat = tile.reshape %mask : tensor<1x256xi1> -> tensor<256xi1>
    %ps = tile.splat %p : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
    %at = tile.addptr %ps, %range : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
    tile.store %at, %x mask %flat : (tensor<256x!tile.ptr<f32>>, tensor<256xf32>, tensor<256xi1>) -> ()
  }
  return
}

// The last block of 500 is not whole.
// CHECK-LABEL: func.func @part_of_a_block
// CHECK: arith.cmpi slt
func.func @part_of_a_block(%p: !tile.ptr<i8>) {
  %zero = arith.constant 0 : i32
  %end = arith.constant 500 : i32
  %block = arith.constant 256 : i32
  %ends = arith.constant dense<500> : tensor<256xi32>
  %range = tile.arange 0, 256 : tensor<256xi32>
  scf.for %start = %zero to %end step %block : i32 {
    %starts = tile.splat %start : i32 -> tensor<256xi32>
    %i = arith.addi %starts, %range : tensor<256xi32>
    %mask = arith.cmpi slt, %i, %ends : tensor<256xi32>
    %ps = tile.splat %p : !tile.ptr<i8> -> tensor<256x!tile.ptr<i8>>
    %at = tile.addptr %ps, %range : tensor<256x!tile.ptr<i8>>, tensor<256xi32>
    %bytes = arith.extui %mask : tensor<256xi1> to tensor<256xi8>
    tile.store %at, %bytes : (tensor<256x!tile.ptr<i8>>, tensor<256xi8>) -> ()
  }
  return
}

// A counter that starts at 7 and goes down by way of a difference is never below zero. The sum of a program's index and something
// may be anything: it wraps. A loop of no iterations says nothing, and does not stop the pass.
// CHECK-LABEL: func.func @scalars
// CHECK-DAG: %[[YES:.*]] = arith.constant 1 : i8
// CHECK: scf.for
// CHECK: tile.store %{{.*}}, %[[YES]]
// CHECK: %[[UNKNOWN:.*]] = arith.cmpi sge
// CHECK: %[[BYTE:.*]] = arith.extui %[[UNKNOWN]]
// CHECK: tile.store %{{.*}}, %[[BYTE]]
func.func @scalars(%p: !tile.ptr<i8>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %seven = arith.constant 7 : i32
  %eight = arith.constant 8 : i32
  %pid = tile.program_id 0 : i32
  scf.for %i = %zero to %eight step %one : i32 {
    %down = arith.subi %seven, %i : i32
    %positive = arith.cmpi sge, %down, %zero : i32
    %positive_byte = arith.extui %positive : i1 to i8
    tile.store %p, %positive_byte : (!tile.ptr<i8>, i8) -> ()
    %sum = arith.addi %pid, %n : i32
    %unknown = arith.cmpi sge, %sum, %zero : i32
    %unknown_byte = arith.extui %unknown : i1 to i8
    tile.store %p, %unknown_byte : (!tile.ptr<i8>, i8) -> ()
  }
  scf.for %i = %eight to %zero step %one : i32 {
    %never = arith.cmpi eq, %i, %eight : i32
    %never_byte = arith.extui %never : i1 to i8
    tile.store %p, %never_byte : (!tile.ptr<i8>, i8) -> ()
  }
  return
}

// A rank of at most 16 takes one block of 32, or none.
// CHECK-LABEL: func.func @one_block_at_most
// CHECK-NOT: scf.for
// CHECK: %[[RUNS:.*]] = arith.cmpi sgt, %[[BLOCKS:.*]], %{{.*}}
// CHECK: %[[SUM:.*]] = scf.if %[[RUNS]] -> (f32)
// CHECK: arith.addf
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[INIT:.*]] : f32
// CHECK: tile.store %{{.*}}, %[[SUM]]
func.func @one_block_at_most(%p: !tile.ptr<f32>, %most: i32, %init: f32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %sixteen = arith.constant 16 : i32
  %around = arith.constant 31 : i32
  %block = arith.constant 32 : i32
  %rank = arith.minsi %most, %sixteen : i32
  %above = arith.addi %rank, %around : i32
  %blocks = arith.divsi %above, %block : i32
  %sum = scf.for %i = %zero to %blocks step %one iter_args(%before = %init) -> (f32) : i32 {
    %at = tile.addptr %p, %i : !tile.ptr<f32>, i32
    %x = tile.load %at : (!tile.ptr<f32>) -> f32
    %now = arith.addf %before, %x : f32
    scf.yield %now : f32
  }
  tile.store %p, %sum : (!tile.ptr<f32>, f32) -> ()
  return
}

// Of 33 there may be two, and of a number without bounds any. A step that may be zero says nothing.
// CHECK-LABEL: func.func @several_blocks
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for
func.func @several_blocks(%p: !tile.ptr<i32>, %most: i32, %by: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %limit = arith.constant 33 : i32
  %block = arith.constant 32 : i32
  %rank = arith.minsi %most, %limit : i32
  scf.for %i = %zero to %rank step %block : i32 {
    tile.store %p, %i : (!tile.ptr<i32>, i32) -> ()
  }
  scf.for %i = %zero to %most step %block : i32 {
    tile.store %p, %i : (!tile.ptr<i32>, i32) -> ()
  }
  scf.for %i = %zero to %one step %by : i32 {
    tile.store %p, %i : (!tile.ptr<i32>, i32) -> ()
  }
  return
}

// The second iteration would begin beyond all numbers of 32 bits.
// CHECK-LABEL: func.func @to_the_last_number
// CHECK-NOT: scf.for
// CHECK: tile.store
func.func @to_the_last_number(%p: !tile.ptr<i32>, %end: i32) {
  %first = arith.constant 2147483640 : i32
  %step = arith.constant 16 : i32
  scf.for %i = %first to %end step %step : i32 {
    tile.store %p, %i : (!tile.ptr<i32>, i32) -> ()
  }
  return
}
