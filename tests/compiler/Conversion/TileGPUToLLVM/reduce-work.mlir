// How much code a reduction is that combines several values: a thread combines its own first where the order does not matter, so
// that lanes exchange one group in each of five steps. And one of many warps: lanes read a total each.
// RUN: kiln-opt %s --split-input-file --kiln-tilegpu-to-llvm | FileCheck %s

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

// Mean, sum of squared differences and count of two parts: either may come first, but for rounding.
// CHECK-LABEL: llvm.func @parts
// CHECK-COUNT-15: nvvm.shfl.sync
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.return
func.func @parts(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %zero = arith.constant 0.0 : f32
  %ones = arith.constant dense<1.0> : tensor<128xf32, #along>
  %zeros = arith.constant dense<0.0> : tensor<128xf32, #along>
  %i = tile.arange 0, 128 : tensor<128xi32, #along>
  %ps = tile.splat %q : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #along>
  %at = tile.addptr %ps, %i : tensor<128x!tile.ptr<f32>, #along>, tensor<128xi32, #along>
  %x = tile.load %at : (tensor<128x!tile.ptr<f32>, #along>) -> tensor<128xf32, #along>
  %m:3 = tile.reduce(%x, %zeros, %ones) axis 0 : (tensor<128xf32, #along>, tensor<128xf32, #along>, tensor<128xf32, #along>) -> (f32, f32, f32) {
  ^bb0(%am: f32, %as: f32, %aw: f32, %bm: f32, %bs: f32, %bw: f32):
    %delta = arith.subf %bm, %am : f32
    %w = arith.addf %aw, %bw : f32
    %none = arith.cmpf oeq, %w, %zero : f32
    %ratio = arith.divf %bw, %w : f32
    %share = arith.select %none, %zero, %ratio : f32
    %step = arith.mulf %delta, %share : f32
    %mean = arith.addf %am, %step : f32
    %sum = arith.addf %as, %bs : f32
    %square = arith.mulf %delta, %delta : f32
    %weighed = arith.mulf %square, %aw : f32
    %more = arith.mulf %weighed, %share : f32
    %squares = arith.addf %sum, %more : f32
    tile.yield %mean, %squares, %w : f32, f32, f32
  }
  tile.store %p, %m#1 : (!tile.ptr<f32>, f32) -> ()
  func.return
}

// The larger magnitude, with its sign: of opposites the first.
// CHECK-LABEL: llvm.func @magnitudes
// CHECK-COUNT-24: nvvm.shfl.sync
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.return
func.func @magnitudes(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.arange 0, 128 : tensor<128xi32, #along>
  %ps = tile.splat %q : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #along>
  %at = tile.addptr %ps, %i : tensor<128x!tile.ptr<f32>, #along>, tensor<128xi32, #along>
  %x = tile.load %at : (tensor<128x!tile.ptr<f32>, #along>) -> tensor<128xf32, #along>
  %m = tile.reduce(%x) axis 0 : (tensor<128xf32, #along>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %am = math.absf %a : f32
    %bm = math.absf %b : f32
    %first = arith.cmpf oge, %am, %bm : f32
    %r = arith.select %first, %a, %b : f32
    tile.yield %r : f32
  }
  tile.store %p, %m : (!tile.ptr<f32>, f32) -> ()
  func.return
}

// One map behind the other: x * a + b, then x * c + d.
// CHECK-LABEL: llvm.func @maps
// CHECK-COUNT-48: nvvm.shfl.sync
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.return
func.func @maps(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.arange 0, 128 : tensor<128xi32, #along>
  %ps = tile.splat %q : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #along>
  %at = tile.addptr %ps, %i : tensor<128x!tile.ptr<f32>, #along>, tensor<128xi32, #along>
  %x = tile.load %at : (tensor<128x!tile.ptr<f32>, #along>) -> tensor<128xf32, #along>
  %m:2 = tile.reduce(%x, %x) axis 0 : (tensor<128xf32, #along>, tensor<128xf32, #along>) -> (f32, f32) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %ac = arith.mulf %a, %c : f32
    %bc = arith.mulf %b, %c : f32
    %bcd = arith.addf %bc, %d : f32
    tile.yield %ac, %bcd : f32, f32
  }
  tile.store %p, %m#1 : (!tile.ptr<f32>, f32) -> ()
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

// -----

#warps = #tilegpu.layout<"register:; lane: 1 2 4 8 16; warp: 32 64 128 256 512; block: -> 1024">
module attributes {tilegpu.target = "cuda:sm_80"} {
// 32 totals: five steps between a warp's lanes, a total for each of them, and five more.
// CHECK-LABEL: llvm.func @many_warps
// CHECK-COUNT-5: nvvm.shfl.sync
// CHECK: nvvm.barrier
// CHECK: llvm.load
// CHECK-NOT: llvm.load
// CHECK-COUNT-5: nvvm.shfl.sync
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.return
func.func @many_warps(%p: !tile.ptr<i32>) attributes {tile.kernel, tile.num_warps = 32 : i32, tilegpu.shared_bytes = 128 : i32} {
  %i = tile.arange 0, 1024 : tensor<1024xi32, #warps>
  %s = tile.reduce(%i) axis 0 {tilegpu.offset = 0 : i32} : (tensor<1024xi32, #warps>) -> i32 {
  ^bb0(%a: i32, %b: i32):
    %t = arith.addi %a, %b : i32
    tile.yield %t : i32
  }
  tile.store %p, %s : (!tile.ptr<i32>, i32) -> ()
  func.return
}
}

// -----

#few = #tilegpu.layout<"register:; lane: 1 2 4 8 16; warp: 32 64 128; block: -> 256">
module attributes {tilegpu.target = "cuda:sm_80"} {
// Of eight every thread reads all.
// CHECK-LABEL: llvm.func @few_warps
// CHECK-COUNT-5: nvvm.shfl.sync
// CHECK-COUNT-8: llvm.load
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.return
func.func @few_warps(%p: !tile.ptr<i32>) attributes {tile.kernel, tile.num_warps = 8 : i32, tilegpu.shared_bytes = 32 : i32} {
  %i = tile.arange 0, 256 : tensor<256xi32, #few>
  %s = tile.reduce(%i) axis 0 {tilegpu.offset = 0 : i32} : (tensor<256xi32, #few>) -> i32 {
  ^bb0(%a: i32, %b: i32):
    %t = arith.addi %a, %b : i32
    tile.yield %t : i32
  }
  tile.store %p, %s : (!tile.ptr<i32>, i32) -> ()
  func.return
}
}

// -----

#rows = #tilegpu.layout<"register: 1,0 2,0 4,0; lane: 8,0 16,0 32,0 0,1 0,2; warp: 0,4 0,8 0,16 0,32; block: -> 64x64">
#sums = #tilegpu.layout<"register: 1 2 4; lane: 8 16 32 0 0; warp: 0 0 0 0; block: -> 64">
module attributes {tilegpu.target = "cuda:sm_80"} {
// Of 16 totals for each of eight results a thread sums up one row's, and reads its results.
// CHECK-LABEL: llvm.func @many_results
// CHECK-COUNT-16: llvm.load {{.*}} !llvm.ptr<3>
// CHECK-COUNT-2: nvvm.barrier
// CHECK-COUNT-8: llvm.load {{.*}} !llvm.ptr<3>
// CHECK-NOT: llvm.load
// CHECK: llvm.return
func.func @many_results(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) attributes {tile.kernel, tile.num_warps = 16 : i32, tilegpu.shared_bytes = 4096 : i32} {
  %x = tile.splat %p : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>, #rows>
  %v = tile.load %x : (tensor<64x64x!tile.ptr<f32>, #rows>) -> tensor<64x64xf32, #rows>
  %s = tile.reduce(%v) axis 1 {tilegpu.offset = 0 : i32} : (tensor<64x64xf32, #rows>) -> tensor<64xf32, #sums> {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tile.yield %t : f32
  }
  %i = tile.arange 0, 64 : tensor<64xi32, #sums>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #sums>
  %at = tile.addptr %qs, %i : tensor<64x!tile.ptr<f32>, #sums>, tensor<64xi32, #sums>
  tile.store %at, %s : (tensor<64x!tile.ptr<f32>, #sums>, tensor<64xf32, #sums>) -> ()
  func.return
}
}
