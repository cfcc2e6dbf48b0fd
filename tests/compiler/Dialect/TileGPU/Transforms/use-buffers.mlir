// Loads and stores as accesses to buffers: what a tile has once goes to the base, a bound to the bytes.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-use-buffers),canonicalize)" %s | FileCheck %s

#l = #tilegpu.layout<"register: 1 2; lane: 4 8 16 32 64 128; warp: ; block: -> 256">

module attributes {tilegpu.target = "hip:gfx942"} {
// A program's part of an array: in 32 bits, as the program's number is no less than 0.
// CHECK-LABEL: func.func @part
// CHECK-SAME: (%[[X:.*]]: !tile.ptr<f32> {{.*}}, %[[Y:.*]]: !tile.ptr<f32> {{.*}}, %[[N:.*]]: i32)
// CHECK-DAG: %[[PID:.*]] = tile.program_id 0
// CHECK-DAG: %[[BASE:.*]] = tile.addptr %[[X]], %{{.*}} : !tile.ptr<f32>, i64
// CHECK-DAG: %[[BOUND:.*]] = arith.maxsi %[[N]], %{{.*}} : i32
// CHECK: arith.subi %[[BOUND]], %{{.*}} : i32
// CHECK: %[[LEFT:.*]] = arith.minsi
// CHECK: %[[BYTES:.*]] = arith.muli %[[LEFT]]
// CHECK: %[[V:.*]] = tilegpu.buffer_load %[[BASE]] bytes %[[BYTES]] strides [4] axis 0 vector 4 {{.*}}: (!tile.ptr<f32>, i32) -> tensor<256xf32,
// CHECK-NOT: tile.load
// CHECK: tilegpu.buffer_store %[[V]], %{{.*}} bytes %{{.*}} strides [4] axis 0 vector 4
// CHECK-NOT: tile.store
// CHECK: return
func.func @part(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) {
  %c256 = arith.constant 256 : i32
  %pid = tile.program_id 0 : i32
  %start = arith.muli %pid, %c256 : i32
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %s = tile.splat %start : i32 -> tensor<256xi32, #l>
  %i = arith.addi %s, %r : tensor<256xi32, #l>
  %ns = tile.splat %n : i32 -> tensor<256xi32, #l>
  %m = arith.cmpi slt, %i, %ns : tensor<256xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  %ax = tile.addptr %px, %i : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
  %v = tile.load %ax mask %m : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xi1, #l>) -> tensor<256xf32, #l>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  %ay = tile.addptr %py, %i : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
  tile.store %ay, %v mask %m : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xf32, #l>, tensor<256xi1, #l>) -> ()
  return
}

// A value for elements that are not loaded, other than zero, is chosen behind the load.
// CHECK-LABEL: func.func @other
// CHECK: %[[V:.*]] = tilegpu.buffer_load
// CHECK: arith.select %{{.*}}, %[[V]], %{{.*}} : tensor<256xi1
// CHECK: %[[W:.*]] = tilegpu.buffer_load
// CHECK-NOT: arith.select
// CHECK: return
func.func @other(%x: !tile.ptr<f32>, %n: i32) -> (tensor<256xf32, #l>, tensor<256xf32, #l>) {
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %ns = tile.splat %n : i32 -> tensor<256xi32, #l>
  %m = arith.cmpi slt, %r, %ns : tensor<256xi32, #l>
  %one = arith.constant dense<1.0> : tensor<256xf32, #l>
  %zero = arith.constant dense<0.0> : tensor<256xf32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  %ax = tile.addptr %px, %r : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
  %v = tile.load %ax mask %m other %one : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xi1, #l>, tensor<256xf32, #l>) -> tensor<256xf32, #l>
  %w = tile.load %ax mask %m other %zero : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xi1, #l>, tensor<256xf32, #l>) -> tensor<256xf32, #l>
  return %v, %w : tensor<256xf32, #l>, tensor<256xf32, #l>
}

// A word with one element of 2 bytes in it is neither in range nor out: only where the bound is known to
// be even. What is no bound stays a mask. A stride at run time is no constant of the element.
// CHECK-LABEL: func.func @words
// CHECK: tile.load
// CHECK: tilegpu.buffer_load %{{.*}} bytes %{{.*}} strides [2] axis 0 vector 4
// CHECK: tilegpu.buffer_load %{{.*}} bytes %{{.*}} mask %arg4 strides [2] axis 0 vector 1
// CHECK: tile.load
// CHECK: return
func.func @words(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %n: i32, %even: i32 {tile.divisibility = 2 : i32}, %stride: i32,
    %m: tensor<256xi1, #l>) -> (tensor<256xf16, #l>, tensor<256xf16, #l>, tensor<256xf16, #l>, tensor<256xf16, #l>) {
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %ns = tile.splat %n : i32 -> tensor<256xi32, #l>
  %es = tile.splat %even : i32 -> tensor<256xi32, #l>
  %odd = arith.cmpi slt, %r, %ns : tensor<256xi32, #l>
  %ok = arith.cmpi slt, %r, %es : tensor<256xi32, #l>
  %px = tile.splat %x : !tile.ptr<f16> -> tensor<256x!tile.ptr<f16>, #l>
  %ax = tile.addptr %px, %r : tensor<256x!tile.ptr<f16>, #l>, tensor<256xi32, #l>
  %a = tile.load %ax mask %odd : (tensor<256x!tile.ptr<f16>, #l>, tensor<256xi1, #l>) -> tensor<256xf16, #l>
  %b = tile.load %ax mask %ok : (tensor<256x!tile.ptr<f16>, #l>, tensor<256xi1, #l>) -> tensor<256xf16, #l>
  %c = tile.load %ax mask %m : (tensor<256x!tile.ptr<f16>, #l>, tensor<256xi1, #l>) -> tensor<256xf16, #l>
  %ss = tile.splat %stride : i32 -> tensor<256xi32, #l>
  %far = arith.muli %r, %ss : tensor<256xi32, #l>
  %as = tile.addptr %px, %far : tensor<256x!tile.ptr<f16>, #l>, tensor<256xi32, #l>
  %d = tile.load %as : (tensor<256x!tile.ptr<f16>, #l>) -> tensor<256xf16, #l>
  return %a, %b, %c, %d : tensor<256xf16, #l>, tensor<256xf16, #l>, tensor<256xf16, #l>, tensor<256xf16, #l>
}

// A part of the mask that is one for the tile, as of an axis of one element, chooses the number of bytes.
// CHECK-LABEL: func.func @one_row
// CHECK-SAME: %[[ROWS:[a-z0-9]+]]: i32, %[[N:[a-z0-9]+]]: i32)
// CHECK-DAG: %[[PID:.*]] = tile.program_id 0
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: %[[IN:.*]] = arith.cmpi slt, %[[PID]], %[[ROWS]] : i32
// CHECK: %[[BYTES:.*]] = arith.select %[[IN]], %{{.*}}, %[[ZERO]] : i32
// CHECK: tilegpu.buffer_load %{{.*}} bytes %[[BYTES]] strides [4] axis 0
func.func @one_row(%x: !tile.ptr<f32>, %rows: i32, %n: i32) -> tensor<256xf32, #l> {
  %pid = tile.program_id 0 : i32
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %ps = tile.splat %pid : i32 -> tensor<256xi32, #l>
  %rs = tile.splat %rows : i32 -> tensor<256xi32, #l>
  %ns = tile.splat %n : i32 -> tensor<256xi32, #l>
  %isRow = arith.cmpi slt, %ps, %rs : tensor<256xi32, #l>
  %isColumn = arith.cmpi slt, %r, %ns : tensor<256xi32, #l>
  %m = arith.andi %isRow, %isColumn : tensor<256xi1, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  %ax = tile.addptr %px, %r : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
  %v = tile.load %ax mask %m : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xi1, #l>) -> tensor<256xf32, #l>
  return %v : tensor<256xf32, #l>
}

// A pointer that a loop moves on is where it started and as many steps; the base moves.
// CHECK-LABEL: func.func @moved
// CHECK: scf.for %[[I:.*]] =
// CHECK: arith.subi
// CHECK: tile.addptr %{{.*}} : !tile.ptr<f32>, i64
// CHECK: tilegpu.buffer_load
func.func @moved(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %from: i32, %n: i32) -> tensor<256xf32, #l> {
  %c256 = arith.constant 256 : i32
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %step = arith.constant dense<256> : tensor<256xi32, #l>
  %zero = arith.constant dense<0.0> : tensor<256xf32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  %ax = tile.addptr %px, %r : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
  %out:2 = scf.for %i = %from to %n step %c256 iter_args(%p = %ax, %sum = %zero) -> (tensor<256x!tile.ptr<f32>, #l>, tensor<256xf32, #l>) : i32 {
    %v = tile.load %p : (tensor<256x!tile.ptr<f32>, #l>) -> tensor<256xf32, #l>
    %s = arith.addf %sum, %v : tensor<256xf32, #l>
    %q = tile.addptr %p, %step : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
    scf.yield %q, %s : tensor<256x!tile.ptr<f32>, #l>, tensor<256xf32, #l>
  }
  return %out#1 : tensor<256xf32, #l>
}

// Whether there is a next iteration its mask answers, whose bound is the loop's; not one by another
// bound, nor where the loop ends before that. Of two questions with one answer one is asked.
// CHECK-LABEL: func.func @ahead
// CHECK: scf.for
// CHECK-NOT: arith.select
// CHECK: tilegpu.buffer_load
// CHECK: arith.select
// CHECK: tilegpu.buffer_load
// CHECK: arith.select
// CHECK-NOT: arith.select
// CHECK: tilegpu.buffer_load
func.func @ahead(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %k: i32, %other: i32) -> tensor<256xf32, #l> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c255 = arith.constant 255 : i32
  %c256 = arith.constant 256 : i32
  %zero = arith.constant dense<0.0> : tensor<256xf32, #l>
  %more = arith.addi %k, %c255 : i32
  %n = arith.divsi %more, %c256 : i32
  %last = arith.subi %n, %c1 : i32
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  %out = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<256xf32, #l>) : i32 {
    %next = arith.addi %i, %c1 : i32
    %begin = arith.muli %next, %c256 : i32
    %left = arith.subi %k, %begin : i32
    %ls = tile.splat %left : i32 -> tensor<256xi32, #l>
    %mask = arith.cmpi slt, %r, %ls : tensor<256xi32, #l>
    %bs = tile.splat %begin : i32 -> tensor<256xi32, #l>
    %index = arith.addi %bs, %r : tensor<256xi32, #l>
    %p = tile.addptr %px, %index : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
    %exists = arith.cmpi slt, %i, %last : i32
    %es = tile.splat %exists : i1 -> tensor<256xi1, #l>
    %m0 = arith.andi %mask, %es : tensor<256xi1, #l>
    %a = tile.load %p mask %m0 : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xi1, #l>) -> tensor<256xf32, #l>
    %ends = arith.cmpi slt, %next, %other : i32
    %fs = tile.splat %ends : i1 -> tensor<256xi1, #l>
    %m1 = arith.andi %mask, %fs : tensor<256xi1, #l>
    %b = tile.load %p mask %m1 : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xi1, #l>) -> tensor<256xf32, #l>
    %less = arith.subi %other, %c1 : i32
    %same = arith.cmpi slt, %i, %less : i32
    %ss = tile.splat %same : i1 -> tensor<256xi1, #l>
    %m2 = arith.andi %fs, %ss : tensor<256xi1, #l>
    %c = tile.load %p mask %m2 : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xi1, #l>) -> tensor<256xf32, #l>
    %ab = arith.addf %a, %b : tensor<256xf32, #l>
    %abc = arith.addf %ab, %c : tensor<256xf32, #l>
    %next_sum = arith.addf %sum, %abc : tensor<256xf32, #l>
    scf.yield %next_sum : tensor<256xf32, #l>
  }
  return %out : tensor<256xf32, #l>
}
}
