// What a program loads again, for the last time, and what it stores beside that, leaves the L1 cache first.
// RUN: kiln-opt --split-input-file --pass-pipeline="builtin.module(func.func(kiln-evict-read))" %s | FileCheck %s

#l = #tilegpu.layout<"register: 1 2; lane: 4 8 16 32 64; warp: ; block: -> 128">

module attributes {tilegpu.target = "cuda:sm_90a"} {
// The weights are loaded once.
// CHECK-LABEL: func.func @row
// CHECK: tile.load
// CHECK-NOT: evict
// CHECK: scf.yield
// CHECK: tile.load %{{.*}} {evict = #tile.evict<evict_first>}
// CHECK: tile.load
// CHECK-NOT: evict
// CHECK: tile.store {{.*}} {evict = #tile.evict<evict_first>}
func.func @row(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %w: !tile.ptr<f32> {tile.divisibility = 16 : i32},
               %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %zero = arith.constant 0 : i32
  %block = arith.constant 128 : i32
  %none = arith.constant dense<0.0> : tensor<128xf32, #l>
  %index = tile.arange 0, 128 : tensor<128xi32, #l>
  %total = scf.for %i = %zero to %n step %block iter_args(%sum = %none) -> (tensor<128xf32, #l>) : i32 {
    %from = tile.addptr %x, %i : !tile.ptr<f32>, i32
    %row = tile.splat %from : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
    %p = tile.addptr %row, %index : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
    %a = tile.load %p : (tensor<128x!tile.ptr<f32>, #l>) -> tensor<128xf32, #l>
    %next = arith.addf %sum, %a : tensor<128xf32, #l>
    scf.yield %next : tensor<128xf32, #l>
  }
  %row = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  %weights = tile.splat %w : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  %to = tile.splat %y : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  scf.for %j = %zero to %n step %block : i32 {
    %start = tile.splat %j : i32 -> tensor<128xi32, #l>
    %columns = arith.addi %start, %index : tensor<128xi32, #l>
    %p = tile.addptr %row, %columns : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
    %a = tile.load %p : (tensor<128x!tile.ptr<f32>, #l>) -> tensor<128xf32, #l>
    %q = tile.addptr %weights, %columns : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
    %b = tile.load %q : (tensor<128x!tile.ptr<f32>, #l>) -> tensor<128xf32, #l>
    %d = arith.subf %a, %total : tensor<128xf32, #l>
    %c = arith.mulf %d, %b : tensor<128xf32, #l>
    %o = tile.addptr %to, %columns : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
    tile.store %o, %c : (tensor<128x!tile.ptr<f32>, #l>, tensor<128xf32, #l>) -> ()
  }
  return
}

// What is loaded twice in one loop, or by loops of different ends.
// CHECK-LABEL: func.func @others
// CHECK-NOT: evict
// CHECK: return
func.func @others(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32,
                  %m: i32 {tile.divisibility = 16 : i32}) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %zero = arith.constant 0 : i32
  %block = arith.constant 128 : i32
  %index = tile.arange 0, 128 : tensor<128xi32, #l>
  %row = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  %p = tile.addptr %row, %index : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
  %to = tile.splat %y : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  %o = tile.addptr %to, %index : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
  %first = tile.load %p : (tensor<128x!tile.ptr<f32>, #l>) -> tensor<128xf32, #l>
  scf.for %j = %zero to %n step %block : i32 {
    %start = tile.splat %j : i32 -> tensor<128xi32, #l>
    %q = tile.addptr %p, %start : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
    %a = tile.load %q : (tensor<128x!tile.ptr<f32>, #l>) -> tensor<128xf32, #l>
    %b = arith.addf %a, %first : tensor<128xf32, #l>
    %c = tile.load %q : (tensor<128x!tile.ptr<f32>, #l>) -> tensor<128xf32, #l>
    %d = arith.addf %b, %c : tensor<128xf32, #l>
    %s = tile.addptr %o, %start : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
    tile.store %s, %d : (tensor<128x!tile.ptr<f32>, #l>, tensor<128xf32, #l>) -> ()
  }
  scf.for %k = %zero to %m step %block : i32 {
    %start = tile.splat %k : i32 -> tensor<128xi32, #l>
    %q = tile.addptr %p, %start : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
    %c = tile.load %q : (tensor<128x!tile.ptr<f32>, #l>) -> tensor<128xf32, #l>
    %s = tile.addptr %o, %start : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
    tile.store %s, %c : (tensor<128x!tile.ptr<f32>, #l>, tensor<128xf32, #l>) -> ()
  }
  return
}

// What the second loop stores the third one loads.
// CHECK-LABEL: func.func @between
// CHECK: scf.yield
// CHECK: tile.load %{{.*}} {evict = #tile.evict<evict_first>}
// CHECK-NOT: evict
// CHECK: return
func.func @between(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %zero = arith.constant 0 : i32
  %block = arith.constant 128 : i32
  %none = arith.constant dense<0.0> : tensor<128xf32, #l>
  %index = tile.arange 0, 128 : tensor<128xi32, #l>
  %row = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  %p = tile.addptr %row, %index : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
  %to = tile.splat %y : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  %o = tile.addptr %to, %index : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
  %total = scf.for %i = %zero to %n step %block iter_args(%sum = %none) -> (tensor<128xf32, #l>) : i32 {
    %start = tile.splat %i : i32 -> tensor<128xi32, #l>
    %q = tile.addptr %p, %start : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
    %a = tile.load %q : (tensor<128x!tile.ptr<f32>, #l>) -> tensor<128xf32, #l>
    %next = arith.addf %sum, %a : tensor<128xf32, #l>
    scf.yield %next : tensor<128xf32, #l>
  }
  scf.for %j = %zero to %n step %block : i32 {
    %start = tile.splat %j : i32 -> tensor<128xi32, #l>
    %q = tile.addptr %p, %start : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
    %a = tile.load %q : (tensor<128x!tile.ptr<f32>, #l>) -> tensor<128xf32, #l>
    %b = arith.subf %a, %total : tensor<128xf32, #l>
    %s = tile.addptr %o, %start : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
    tile.store %s, %b : (tensor<128x!tile.ptr<f32>, #l>, tensor<128xf32, #l>) -> ()
  }
  %first = tile.load %o : (tensor<128x!tile.ptr<f32>, #l>) -> tensor<128xf32, #l>
  tile.store %p, %first : (tensor<128x!tile.ptr<f32>, #l>, tensor<128xf32, #l>) -> ()
  return
}
}

// -----

// AMD's caches are told nothing: there the same word keeps memory out of the L2 cache, too.
#l = #tilegpu.layout<"register: 1 2; lane: 4 8 16 32 64; warp: ; block: -> 128">

module attributes {tilegpu.target = "hip:gfx1100"} {
// CHECK-LABEL: func.func @amd
// CHECK-NOT: evict
// CHECK: return
func.func @amd(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %zero = arith.constant 0 : i32
  %block = arith.constant 128 : i32
  %index = tile.arange 0, 128 : tensor<128xi32, #l>
  %row = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  %p = tile.addptr %row, %index : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
  %to = tile.splat %y : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  %o = tile.addptr %to, %index : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
  %none = arith.constant dense<0.0> : tensor<128xf32, #l>
  %total = scf.for %i = %zero to %n step %block iter_args(%sum = %none) -> (tensor<128xf32, #l>) : i32 {
    %start = tile.splat %i : i32 -> tensor<128xi32, #l>
    %q = tile.addptr %p, %start : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
    %a = tile.load %q : (tensor<128x!tile.ptr<f32>, #l>) -> tensor<128xf32, #l>
    %next = arith.addf %sum, %a : tensor<128xf32, #l>
    scf.yield %next : tensor<128xf32, #l>
  }
  scf.for %j = %zero to %n step %block : i32 {
    %start = tile.splat %j : i32 -> tensor<128xi32, #l>
    %q = tile.addptr %p, %start : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
    %a = tile.load %q : (tensor<128x!tile.ptr<f32>, #l>) -> tensor<128xf32, #l>
    %b = arith.subf %a, %total : tensor<128xf32, #l>
    %s = tile.addptr %o, %start : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
    tile.store %s, %b : (tensor<128x!tile.ptr<f32>, #l>, tensor<128xf32, #l>) -> ()
  }
  return
}
}
