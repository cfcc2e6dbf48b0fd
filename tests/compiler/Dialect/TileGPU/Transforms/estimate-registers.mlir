// What has to be in registers at one time, and 16 for all else.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-estimate-registers))" %s | FileCheck %s

#rows = #tilegpu.layout<"register: 0,1 0,2 0,4 0,8 0,16; lane: 1,0 2,0 4,0 8,0 16,0; warp:; block: -> 32x32">
#twice = #tilegpu.layout<"register: 0 1 2 4 8 16; lane: 0 0 0 0 0; warp:; block: -> 32">

module attributes {tilegpu.target = "cuda:sm_80"} {
// A loop's sum of 32 numbers a thread; what is added can come one after the other.
// CHECK-LABEL: func.func @carried
// CHECK-SAME: tilegpu.registers = 48 : i32
func.func @carried(%x: tensor<32x32xf32, #rows>, %n: index) -> tensor<32x32xf32, #rows> attributes {tile.num_warps = 1 : i32} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %x) -> tensor<32x32xf32, #rows> {
    %v = arith.mulf %s, %s : tensor<32x32xf32, #rows>
    %next = arith.addf %s, %v : tensor<32x32xf32, #rows>
    scf.yield %next : tensor<32x32xf32, #rows>
  }
  return %sum : tensor<32x32xf32, #rows>
}

// Both sides of a barrier; 16-bit numbers two in a register.
// CHECK-LABEL: func.func @across
// CHECK-SAME: tilegpu.registers = 64 : i32
func.func @across(%x: tensor<32x32xf32, #rows>) -> tensor<32x32xf32, #rows> attributes {tile.num_warps = 1 : i32} {
  %e = math.exp %x : tensor<32x32xf32, #rows>
  %half = arith.truncf %e : tensor<32x32xf32, #rows> to tensor<32x32xf16, #rows>
  tilegpu.barrier
  %wide = arith.extf %half : tensor<32x32xf16, #rows> to tensor<32x32xf32, #rows>
  %r = arith.addf %wide, %x : tensor<32x32xf32, #rows>
  return %r : tensor<32x32xf32, #rows>
}

// Indices are computed again; of registers that hold the same, one counts.
// CHECK-LABEL: func.func @again
// CHECK-SAME: tilegpu.registers = 48 : i32
func.func @again(%x: tensor<32xf32, #twice>) -> (tensor<32xi32, #twice>, tensor<32xf32, #twice>) attributes {tile.num_warps = 1 : i32} {
  %i = tile.arange 0, 32 : tensor<32xi32, #twice>
  %j = arith.addi %i, %i : tensor<32xi32, #twice>
  tilegpu.barrier
  %k = arith.muli %j, %j : tensor<32xi32, #twice>
  return %k, %x : tensor<32xi32, #twice>, tensor<32xf32, #twice>
}
}
