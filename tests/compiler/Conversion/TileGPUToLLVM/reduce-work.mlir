// How much code a reduction is that chooses between (value, index) pairs: a thread chooses among its own first where the order of
// pairs does not matter, so that lanes exchange one pair in each of five steps.
// RUN: kiln-opt %s --kiln-tilegpu-to-llvm | FileCheck %s

#along = #tilegpu.layout<"register: 32 64; lane: 1 2 4 8 16; warp: ; block: -> 128">
module attributes {tilegpu.target = "cuda:sm_80"} {

// The largest value, of equal ones that with the smallest index: a total order.
// CHECK-LABEL: llvm.func @total_order
// CHECK-COUNT-10: nvvm.shfl.sync
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.return
func.func @total_order(%p: !tile.ptr<i32>, %q: !tile.ptr<f32>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.arange 0, 128 : tensor<128xi32, #along>
  %ps = tile.splat %q : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #along>
  %at = tile.addptr %ps, %i : tensor<128x!tile.ptr<f32>, #along>, tensor<128xi32, #along>
  %x = tile.load %at : (tensor<128x!tile.ptr<f32>, #along>) -> tensor<128xf32, #along>
  %m:2 = tile.reduce(%x, %i) axis 0 : (tensor<128xf32, #along>, tensor<128xi32, #along>) -> (f32, i32) {
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %larger = arith.cmpf ogt, %a, %b : f32
    %equal = arith.cmpf oeq, %a, %b : f32
    %before = arith.cmpi slt, %ai, %bi : i32
    %tie = arith.andi %equal, %before : i1
    %first = arith.ori %larger, %tie : i1
    %v = arith.select %first, %a, %b : f32
    %vi = arith.select %first, %ai, %bi : i32
    tile.yield %v, %vi : f32, i32
  }
  tile.store %p, %m#1 : (!tile.ptr<i32>, i32) -> ()
  func.return
}

// Of equal values the later one: which that is depends on the order.
// CHECK-LABEL: llvm.func @last_of_equals
// CHECK-COUNT-48: nvvm.shfl.sync
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.return
func.func @last_of_equals(%p: !tile.ptr<i32>, %q: !tile.ptr<f32>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.arange 0, 128 : tensor<128xi32, #along>
  %ps = tile.splat %q : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #along>
  %at = tile.addptr %ps, %i : tensor<128x!tile.ptr<f32>, #along>, tensor<128xi32, #along>
  %x = tile.load %at : (tensor<128x!tile.ptr<f32>, #along>) -> tensor<128xf32, #along>
  %m:2 = tile.reduce(%x, %i) axis 0 : (tensor<128xf32, #along>, tensor<128xi32, #along>) -> (f32, i32) {
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %larger = arith.cmpf ogt, %a, %b : f32
    %v = arith.select %larger, %a, %b : f32
    %vi = arith.select %larger, %ai, %bi : i32
    tile.yield %v, %vi : f32, i32
  }
  tile.store %p, %m#1 : (!tile.ptr<i32>, i32) -> ()
  func.return
}
}
