// Arrays that are promised to be below 2 GiB: the argument is the base, what loops add moves it, and each element has
// an offset of 32 bits.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-use-buffers),canonicalize)" %s | FileCheck %s

#l = #tilegpu.layout<"register: 1 2; lane: 4 8 16 32 64 128; warp: ; block: -> 256">
#p = #tilegpu.layout<"register: 1; lane: 2 4 8 16 32 64; warp: ; block: -> 128">
#sum = #tilegpu.layout<"register: 0,1 0,2 0,8 0,16; lane: 1,0 2,0 4,0 8,0 16,0 0,4; warp: ; block: -> 32x32">
#left = #tilegpu.layout<"register: 0,1 0,2 0,4 0,16; lane: 1,0 2,0 4,0 8,0 16,0 0,8; warp: ; block: -> 32x32">
#right = #tilegpu.layout<"register: 1,0 2,0 4,0 16,0; lane: 0,1 0,2 0,4 0,8 0,16 8,0; warp: ; block: -> 32x32">
!left = tensor<32x32xf16, #left>
!right = tensor<32x32xf16, #right>
!sums = tensor<32x32xf32, #sum>
#u = #tilegpu.layout<"register: 1 2 4; lane: 0 0 0 0 0 0; warp: ; block: -> 8">
#tile = #tilegpu.layout<"register: 0,1 0,2 0,4 64,0; lane: 1,0 2,0 4,0 8,0 16,0 32,0; warp: ; block: -> 128x8">
#rows = #tilegpu.layout<"register: 64,0; lane: 1,0 2,0 4,0 8,0 16,0 32,0; warp: ; block: -> 128x1">
#columns = #tilegpu.layout<"register: 0,1 0,2 0,4; lane: 0,0 0,0 0,0 0,0 0,0 0,0; warp: ; block: -> 1x8">
#one = #tilegpu.layout<"register: ; lane: 0 0 0 0 0 0; warp: ; block: -> 1">

module attributes {tilegpu.target = "hip:gfx942"} {
// A stride at run time: index and mask are what they were, but no addresses of 64 bits.
// CHECK-LABEL: func.func @strided
// CHECK-SAME: (%[[X:.*]]: !tile.ptr<f32>, %[[STRIDE:.*]]: i64, %[[M:.*]]: tensor<256xi1
// CHECK-DAG: %[[MOST:.*]] = arith.constant 2147483647 : i32
// CHECK-DAG: %[[FOUR:.*]] = arith.constant dense<4>
// CHECK: %[[WORD:.*]] = arith.trunci %[[STRIDE]] : i64 to i32
// CHECK: %[[STRIDES:.*]] = tile.splat %[[WORD]]
// CHECK: %[[INDEX:.*]] = arith.muli %{{.*}}, %[[STRIDES]] : tensor<256xi32
// CHECK: %[[BYTES:.*]] = arith.muli %[[INDEX]], %[[FOUR]]
// CHECK: tilegpu.buffer_load %[[X]] bytes %[[MOST]] mask %[[M]] offset %{{.*}} strides [0] axis 0 vector 1
// CHECK: tilegpu.buffer_store %{{.*}}, %[[X]] bytes %[[MOST]] offset %{{.*}} strides [0] axis 0 vector 1
func.func @strided(%x: !tile.ptr<f32>, %stride: i64, %m: tensor<256xi1, #l>) attributes {tile.small_arrays} {
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %wide = arith.extsi %r : tensor<256xi32, #l> to tensor<256xi64, #l>
  %ss = tile.splat %stride : i64 -> tensor<256xi64, #l>
  %i = arith.muli %wide, %ss : tensor<256xi64, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  %ax = tile.addptr %px, %i : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi64, #l>
  %v = tile.load %ax mask %m : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xi1, #l>) -> tensor<256xf32, #l>
  tile.store %ax, %v : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xf32, #l>) -> ()
  return
}

// The same without the promise.
// CHECK-LABEL: func.func @unpromised
// CHECK: tile.load
func.func @unpromised(%x: !tile.ptr<f32>, %stride: i32) -> tensor<256xf32, #l> {
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %ss = tile.splat %stride : i32 -> tensor<256xi32, #l>
  %i = arith.muli %r, %ss : tensor<256xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  %ax = tile.addptr %px, %i : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
  %v = tile.load %ax : (tensor<256x!tile.ptr<f32>, #l>) -> tensor<256xf32, #l>
  return %v : tensor<256xf32, #l>
}

// Nor what all lanes load alike: scalar instructions do.
// CHECK-LABEL: func.func @alike
// CHECK: tile.load
func.func @alike(%x: !tile.ptr<f32>, %stride: i32) -> tensor<8xf32, #u> attributes {tile.small_arrays} {
  %r = tile.arange 0, 8 : tensor<8xi32, #u>
  %ss = tile.splat %stride : i32 -> tensor<8xi32, #u>
  %i = arith.muli %r, %ss : tensor<8xi32, #u>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>, #u>
  %ax = tile.addptr %px, %i : tensor<8x!tile.ptr<f32>, #u>, tensor<8xi32, #u>
  %v = tile.load %ax : (tensor<8x!tile.ptr<f32>, #u>) -> tensor<8xf32, #u>
  return %v : tensor<8xf32, #u>
}

// But there are none for less than a word, and lanes that a mask may send elsewhere need no second address.
// CHECK-LABEL: func.func @alike_half
// CHECK-SAME: (%[[X:.*]]: !tile.ptr<f16>, %[[I:.*]]: tensor<1xi32
// CHECK: %[[BYTES:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
// CHECK: tilegpu.buffer_load %[[X]] bytes %[[BYTES]] offset %{{.*}} strides [0] axis 0 vector 1
// CHECK: tile.load
// CHECK: tile.load
func.func @alike_half(%x: !tile.ptr<f16>, %i: tensor<1xi32, #one>, %y: !tile.ptr<f32>, %n: i32) -> (tensor<1xf16, #one>, tensor<1xf16, #one>, tensor<1xf32, #one>) attributes {tile.small_arrays} {
  %zero = arith.constant 0 : i32
  %c = arith.cmpi slt, %zero, %n : i32
  %m = tile.splat %c : i1 -> tensor<1xi1, #one>
  %px = tile.splat %x : !tile.ptr<f16> -> tensor<1x!tile.ptr<f16>, #one>
  %ax = tile.addptr %px, %i : tensor<1x!tile.ptr<f16>, #one>, tensor<1xi32, #one>
  %half = tile.load %ax mask %m : (tensor<1x!tile.ptr<f16>, #one>, tensor<1xi1, #one>) -> tensor<1xf16, #one>
  %always = tile.load %ax : (tensor<1x!tile.ptr<f16>, #one>) -> tensor<1xf16, #one>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<1x!tile.ptr<f32>, #one>
  %ay = tile.addptr %py, %i : tensor<1x!tile.ptr<f32>, #one>, tensor<1xi32, #one>
  %word = tile.load %ay mask %m : (tensor<1x!tile.ptr<f32>, #one>, tensor<1xi1, #one>) -> tensor<1xf32, #one>
  return %half, %always, %word : tensor<1xf16, #one>, tensor<1xf16, #one>, tensor<1xf32, #one>
}

// All of a tile that each iteration accesses: lanes move, as where a bound is the loop's end.
// CHECK-LABEL: func.func @whole_rows
// CHECK-SAME: %[[X:.*]]: !tile.ptr<f32>
// CHECK-DAG: %[[MOST:.*]] = arith.constant 2147483647 : i32
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK: %[[START:.*]] = arith.muli %{{.*}} : i32
// CHECK: tilegpu.buffer_load %[[X]] bytes %[[MOST]] start %[[START]] strides [4] axis 0 vector 4
func.func @whole_rows(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) -> tensor<256xf32, #l> attributes {tile.small_arrays} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %size = arith.constant 256 : i32
  %none = arith.constant dense<0.0> : tensor<256xf32, #l>
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %none) -> (tensor<256xf32, #l>) : i32 {
    %place = arith.muli %i, %size : i32
    %p = tile.addptr %x, %place : !tile.ptr<f32>, i32
    %ps = tile.splat %p : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
    %at = tile.addptr %ps, %r : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
    %v = tile.load %at : (tensor<256x!tile.ptr<f32>, #l>) -> tensor<256xf32, #l>
    %next = arith.addf %s, %v : tensor<256xf32, #l>
    scf.yield %next : tensor<256xf32, #l>
  }
  return %sum : tensor<256xf32, #l>
}

// Of a constant stride offsets can move in place of the base.
// CHECK-LABEL: func.func @moved_rows
// CHECK-DAG: %[[ALL:.*]] = arith.constant -16 : i32
// CHECK: scf.for
// CHECK: tilegpu.buffer_load %{{.*}} bytes %[[ALL]] offset %{{.*}} strides [0] axis 0 vector 1
func.func @moved_rows(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) -> tensor<256xf32, #l> attributes {tile.small_arrays} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %size = arith.constant 256 : i32
  %none = arith.constant dense<0.0> : tensor<256xf32, #l>
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %apart = arith.constant dense<16> : tensor<256xi32, #l>
  %far = arith.muli %r, %apart : tensor<256xi32, #l>
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %none) -> (tensor<256xf32, #l>) : i32 {
    %place = arith.muli %i, %size : i32
    %p = tile.addptr %x, %place : !tile.ptr<f32>, i32
    %ps = tile.splat %p : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
    %at = tile.addptr %ps, %far : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
    %v = tile.load %at : (tensor<256x!tile.ptr<f32>, #l>) -> tensor<256xf32, #l>
    %next = arith.addf %s, %v : tensor<256xf32, #l>
    scf.yield %next : tensor<256xf32, #l>
  }
  return %sum : tensor<256xf32, #l>
}

// Not with a mask, which would choose the offset of each access.
// CHECK-LABEL: func.func @masked_rows
// CHECK: scf.for
// CHECK: tilegpu.buffer_load %{{.*}} bytes %{{.*}} mask %{{.*}} strides [4] axis 0 vector
func.func @masked_rows(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32, %m: tensor<256xi1, #l>) -> tensor<256xf32, #l> attributes {tile.small_arrays} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %size = arith.constant 256 : i32
  %none = arith.constant dense<0.0> : tensor<256xf32, #l>
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %none) -> (tensor<256xf32, #l>) : i32 {
    %place = arith.muli %i, %size : i32
    %p = tile.addptr %x, %place : !tile.ptr<f32>, i32
    %ps = tile.splat %p : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
    %at = tile.addptr %ps, %r : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
    %v = tile.load %at mask %m other %none : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xi1, #l>, tensor<256xf32, #l>) -> tensor<256xf32, #l>
    %next = arith.addf %s, %v : tensor<256xf32, #l>
    scf.yield %next : tensor<256xf32, #l>
  }
  return %sum : tensor<256xf32, #l>
}

// A constant stride and a bound need no offset for each lane, promised or not.
// CHECK-LABEL: func.func @bounded
// CHECK: tilegpu.buffer_load %{{.*}} bytes %{{.*}} strides [4] axis 0 vector 4
func.func @bounded(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) -> tensor<256xf32, #l> attributes {tile.small_arrays} {
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %ns = tile.splat %n : i32 -> tensor<256xi32, #l>
  %m = arith.cmpi slt, %r, %ns : tensor<256xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  %ax = tile.addptr %px, %r : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
  %v = tile.load %ax mask %m : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xi1, #l>) -> tensor<256xf32, #l>
  return %v : tensor<256xf32, #l>
}

// In a loop up to the bound lanes move, and base and bytes are the same in all iterations.
// CHECK-LABEL: func.func @row
// CHECK-SAME: %[[X:.*]]: !tile.ptr<f32> {{.*}}, %[[N:[a-z0-9]+]]: i32, %[[M:[a-z0-9]+]]: i32
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK-NOT: tile.addptr
// CHECK: %[[BYTES:.*]] = arith.muli
// CHECK: %[[START:.*]] = arith.muli %[[I]], %{{.*}} : i32
// CHECK: tilegpu.buffer_load %[[X]] bytes %[[BYTES]] start %[[START]] strides [4] axis 0 vector 4
// Another bound than the loop's may be far below it.
// CHECK: %[[BASE:.*]] = tile.addptr %[[X]]
// CHECK: tilegpu.buffer_load %[[BASE]] bytes %{{[^ ]*}} strides [4] axis 0 vector 4
func.func @row(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32, %m: i32) -> tensor<256xf32, #l> attributes {tile.small_arrays} {
  %c0 = arith.constant 0 : i32
  %c256 = arith.constant 256 : i32
  %zero = arith.constant dense<0.0> : tensor<256xf32, #l>
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %ns = tile.splat %n : i32 -> tensor<256xi32, #l>
  %ms = tile.splat %m : i32 -> tensor<256xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  %out = scf.for %i = %c0 to %n step %c256 iter_args(%sum = %zero) -> (tensor<256xf32, #l>) : i32 {
    %is = tile.splat %i : i32 -> tensor<256xi32, #l>
    %index = arith.addi %is, %r : tensor<256xi32, #l>
    %p = tile.addptr %px, %index : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
    %inN = arith.cmpi slt, %index, %ns : tensor<256xi32, #l>
    %v = tile.load %p mask %inN : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xi1, #l>) -> tensor<256xf32, #l>
    %inM = arith.cmpi slt, %index, %ms : tensor<256xi32, #l>
    %w = tile.load %p mask %inM : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xi1, #l>) -> tensor<256xf32, #l>
    %both = arith.addf %v, %w : tensor<256xf32, #l>
    %s = arith.addf %sum, %both : tensor<256xf32, #l>
    scf.yield %s : tensor<256xf32, #l>
  }
  return %out : tensor<256xf32, #l>
}

// Nor is it where the loop's last iteration stands behind it: all others are below the bound.
// CHECK-LABEL: func.func @peeled
// CHECK-SAME: %[[FIRST:[a-z0-9]+]]: i32, %{{[a-z0-9]+}}: i32) attributes
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK: arith.subi %[[I]], %[[FIRST]] : i32
// CHECK: tilegpu.buffer_load %{{.*}} bytes %{{.*}} start %{{.*}} strides [4] axis 0 vector 1
func.func @peeled(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %first: i32, %n: i32) attributes {tile.small_arrays} {
  %c1 = arith.constant 1 : i32
  %step = arith.constant 256 : i32
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %ns = tile.splat %n : i32 -> tensor<256xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  %any = arith.cmpi slt, %first, %n : i32
  scf.if %any {
    %span = arith.subi %n, %first : i32
    %before = arith.subi %span, %c1 : i32
    %steps = arith.divui %before, %step : i32
    %behind = arith.muli %steps, %step : i32
    %last = arith.addi %first, %behind : i32
    scf.for %i = %first to %last step %step : i32 {
      %is = tile.splat %i : i32 -> tensor<256xi32, #l>
      %index = arith.addi %is, %r : tensor<256xi32, #l>
      %p = tile.addptr %px, %index : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
      %in = arith.cmpi slt, %index, %ns : tensor<256xi32, #l>
      %v = tile.load %p mask %in : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xi1, #l>) -> tensor<256xf32, #l>
      %q = tile.addptr %py, %index : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
      tile.store %q, %v mask %in : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xf32, #l>, tensor<256xi1, #l>) -> ()
    }
  }
  return
}

// Without the question whether there is an iteration the end may be above the bound.
// CHECK-LABEL: func.func @unasked
// CHECK: scf.for
// CHECK-NOT: start
// CHECK: return
func.func @unasked(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %first: i32, %n: i32) attributes {tile.small_arrays} {
  %c1 = arith.constant 1 : i32
  %step = arith.constant 256 : i32
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %ns = tile.splat %n : i32 -> tensor<256xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  %span = arith.subi %n, %first : i32
  %before = arith.subi %span, %c1 : i32
  %steps = arith.divui %before, %step : i32
  %behind = arith.muli %steps, %step : i32
  %last = arith.addi %first, %behind : i32
  scf.for %i = %first to %last step %step : i32 {
    %is = tile.splat %i : i32 -> tensor<256xi32, #l>
    %index = arith.addi %is, %r : tensor<256xi32, #l>
    %p = tile.addptr %px, %index : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
    %in = arith.cmpi slt, %index, %ns : tensor<256xi32, #l>
    %v = tile.load %p mask %in : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xi1, #l>) -> tensor<256xf32, #l>
    %q = tile.addptr %py, %index : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
    tile.store %q, %v mask %in : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xf32, #l>, tensor<256xi1, #l>) -> ()
  }
  return
}

// A loop moves the base, which begins nearly 2 GiB in front: 2^29 - 8 elements. Offsets are those of the
// first iteration, and as much more.
// CHECK-LABEL: func.func @moved
// CHECK-DAG: arith.constant -536870904 : i64
// CHECK-DAG: arith.constant -16 : i32
// CHECK: scf.for
// CHECK: %[[BASE:.*]] = tile.addptr %arg0, %{{.*}} : !tile.ptr<f32>, i64
// CHECK: arith.{{addi|subi}} %{{.*}} : tensor<256xi32
// CHECK: tilegpu.buffer_load %[[BASE]] bytes %{{.*}} offset %{{.*}} strides [0] axis 0 vector 1
func.func @moved(%x: !tile.ptr<f32>, %from: i32, %n: i32, %stride: i32) -> tensor<256xf32, #l> attributes {tile.small_arrays} {
  %c256 = arith.constant 256 : i32
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %ss = tile.splat %stride : i32 -> tensor<256xi32, #l>
  %zero = arith.constant dense<0.0> : tensor<256xf32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  %out = scf.for %k = %from to %n step %c256 iter_args(%sum = %zero) -> (tensor<256xf32, #l>) : i32 {
    %start = tile.splat %k : i32 -> tensor<256xi32, #l>
    %i = arith.addi %start, %r : tensor<256xi32, #l>
    %o = arith.muli %i, %ss : tensor<256xi32, #l>
    %ax = tile.addptr %px, %o : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
    %v = tile.load %ax : (tensor<256x!tile.ptr<f32>, #l>) -> tensor<256xf32, #l>
    %s = arith.addf %sum, %v : tensor<256xf32, #l>
    scf.yield %s : tensor<256xf32, #l>
  }
  return %out : tensor<256xf32, #l>
}

// One array, two bases, and a store: LLVM would take them for apart.
// CHECK-LABEL: func.func @bases
// CHECK-NOT: tilegpu.buffer
// CHECK: return
func.func @bases(%x: !tile.ptr<f32>, %n: i32, %stride: i32, %value: tensor<256xf32, #l>) -> tensor<256xf32, #l> attributes {tile.small_arrays} {
  %c0 = arith.constant 0 : i32
  %c256 = arith.constant 256 : i32
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %ss = tile.splat %stride : i32 -> tensor<256xi32, #l>
  %step = tile.splat %c256 : i32 -> tensor<256xi32, #l>
  %i = arith.muli %r, %ss : tensor<256xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  %ax = tile.addptr %px, %i : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
  %end = scf.for %k = %c0 to %n step %c256 iter_args(%p = %ax) -> (tensor<256x!tile.ptr<f32>, #l>) : i32 {
    tile.store %p, %value : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xf32, #l>) -> ()
    %q = tile.addptr %p, %step : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
    scf.yield %q : tensor<256x!tile.ptr<f32>, #l>
  }
  %v = tile.load %ax : (tensor<256x!tile.ptr<f32>, #l>) -> tensor<256xf32, #l>
  return %v : tensor<256xf32, #l>
}

// One array and one base, but what an iteration stores the next one loads. Unrolled, these are two bases.
// CHECK-LABEL: func.func @carried
// CHECK-NOT: tilegpu.buffer
// CHECK: return
func.func @carried(%x: !tile.ptr<f32>, %stride: i32) attributes {tile.small_arrays} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %ss = tile.splat %stride : i32 -> tensor<256xi32, #l>
  %one = tile.splat %c1 : i32 -> tensor<256xi32, #l>
  %i = arith.muli %r, %ss : tensor<256xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  %ax = tile.addptr %px, %i : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
  scf.for %k = %c0 to %c4 step %c1 : i32 {
    %ks = tile.splat %k : i32 -> tensor<256xi32, #l>
    %p = tile.addptr %ax, %ks : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
    %v = tile.load %p : (tensor<256x!tile.ptr<f32>, #l>) -> tensor<256xf32, #l>
    %q = tile.addptr %p, %one : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
    tile.store %q, %v : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xf32, #l>) -> ()
  }
  return
}

// How far the inner counter has come has not moved with the outer one, though it is made of two that have.
// CHECK-LABEL: func.func @counter
// CHECK: %[[COME:.*]] = arith.subi %{{.*}}, %{{.*}} : i64
// CHECK: arith.trunci %[[COME]] : i64 to i32
// CHECK: tilegpu.buffer_load %{{.*}} offset
func.func @counter(%x: !tile.ptr<f32>, %n: i64, %row: i64) -> tensor<256xf32, #l> attributes {tile.small_arrays} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %wide = arith.extsi %r : tensor<256xi32, #l> to tensor<256xi64, #l>
  %zero = arith.constant dense<0.0> : tensor<256xf32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  %out = scf.for %a = %c0 to %n step %c1 iter_args(%outer = %zero) -> (tensor<256xf32, #l>) : i64 {
    %first = arith.muli %a, %c64 : i64
    %last = arith.addi %first, %c64 : i64
    %start = arith.muli %a, %row : i64
    %starts = tile.splat %start : i64 -> tensor<256xi64, #l>
    %sums = scf.for %b = %first to %last step %c1 iter_args(%sum = %outer) -> (tensor<256xf32, #l>) : i64 {
      %come = arith.subi %b, %first : i64
      %comes = tile.splat %come : i64 -> tensor<256xi64, #l>
      %i = arith.muli %wide, %comes : tensor<256xi64, #l>
      %o = arith.addi %i, %starts : tensor<256xi64, #l>
      %ax = tile.addptr %px, %o : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi64, #l>
      %v = tile.load %ax : (tensor<256x!tile.ptr<f32>, #l>) -> tensor<256xf32, #l>
      %s = arith.addf %sum, %v : tensor<256xf32, #l>
      scf.yield %s : tensor<256xf32, #l>
    }
    scf.yield %sums : tensor<256xf32, #l>
  }
  return %out : tensor<256xf32, #l>
}

// A program's part: lanes begin at it, and nothing is in range unless it begins below the bound.
// CHECK-LABEL: func.func @part
// CHECK-SAME: (%[[X:.*]]: !tile.ptr<f32> {{.*}}, %[[N:.*]]: i32)
// CHECK-DAG: %[[PID:.*]] = tile.program_id 0
// CHECK-DAG: %[[FIRST:.*]] = arith.muli %[[PID]], %{{.*}} : i32
// CHECK: %[[BELOW:.*]] = arith.cmpi slt, %[[FIRST]], %[[N]] : i32
// CHECK-NEXT: %[[LEFT:.*]] = arith.select %[[BELOW]], %[[N]], %{{.*}} : i32
// CHECK-NEXT: %[[MOST:.*]] = arith.minsi %[[LEFT]], %{{.*}} : i32
// CHECK-NEXT: %[[BYTES:.*]] = arith.muli %[[MOST]]
// CHECK: tilegpu.buffer_load %[[X]] bytes %[[BYTES]] start %{{.*}} strides [4] axis 0 vector 4
func.func @part(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) -> tensor<256xf32, #l> attributes {tile.small_arrays} {
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
  return %v : tensor<256xf32, #l>
}

// A bound that sends lanes out of range for one access does so for the other.
// CHECK-LABEL: func.func @compared_once
// CHECK: %[[M:.*]] = arith.cmpi slt
// CHECK: tilegpu.buffer_load %{{.*}} mask %[[M]] offset
// CHECK: tilegpu.buffer_load %{{.*}} mask %[[M]] offset
// CHECK: return
func.func @compared_once(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %index: tensor<256xi32, #l>, %n: i32 {tile.divisibility = 16 : i32}) -> (tensor<256xf32, #l>, tensor<256xf32, #l>) attributes {tile.small_arrays} {
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %ns = tile.splat %n : i32 -> tensor<256xi32, #l>
  %m = arith.cmpi slt, %r, %ns : tensor<256xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  %ax = tile.addptr %px, %index : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
  %v = tile.load %ax mask %m : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xi1, #l>) -> tensor<256xf32, #l>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  %ay = tile.addptr %py, %r : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
  %w = tile.load %ay mask %m : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xi1, #l>) -> tensor<256xf32, #l>
  return %v, %w : tensor<256xf32, #l>, tensor<256xf32, #l>
}

// A mask that ends within a vector: next to products lanes bring whole vectors.
// CHECK-LABEL: func.func @ends_within
// CHECK: %[[M:.*]] = arith.cmpi slt
// CHECK: tilegpu.buffer_load %{{.*}} mask %[[M]] offset %{{.*}} strides [0] axis 0 vector 4
// CHECK-NOT: tile.load
// CHECK: return
func.func @ends_within(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %n: i32, %a: !left, %b: !right, %c: !sums) -> (tensor<256xf16, #l>, !sums) attributes {tile.small_arrays} {
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %ns = tile.splat %n : i32 -> tensor<256xi32, #l>
  %m = arith.cmpi slt, %r, %ns : tensor<256xi32, #l>
  %px = tile.splat %x : !tile.ptr<f16> -> tensor<256x!tile.ptr<f16>, #l>
  %ax = tile.addptr %px, %r : tensor<256x!tile.ptr<f16>, #l>, tensor<256xi32, #l>
  %v = tile.load %ax mask %m : (tensor<256x!tile.ptr<f16>, #l>, tensor<256xi1, #l>) -> tensor<256xf16, #l>
  %d = tilegpu.dot %a, %b, %c unit <"mfma.32x32x8x2.f16.f32" swapped, warps 1 x 1> : (!left, !right, !sums) -> !sums
  return %v, %d : tensor<256xf16, #l>, !sums
}

// Elsewhere to choose each element costs more than addresses of 64 bits.
// CHECK-LABEL: func.func @ends_within_without_products
// CHECK-NOT: tilegpu.buffer_load
// CHECK: tile.load
// CHECK: return
func.func @ends_within_without_products(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %n: i32) -> tensor<256xf16, #l> attributes {tile.small_arrays} {
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %ns = tile.splat %n : i32 -> tensor<256xi32, #l>
  %m = arith.cmpi slt, %r, %ns : tensor<256xi32, #l>
  %px = tile.splat %x : !tile.ptr<f16> -> tensor<256x!tile.ptr<f16>, #l>
  %ax = tile.addptr %px, %r : tensor<256x!tile.ptr<f16>, #l>, tensor<256xi32, #l>
  %v = tile.load %ax mask %m : (tensor<256x!tile.ptr<f16>, #l>, tensor<256xi1, #l>) -> tensor<256xf16, #l>
  return %v : tensor<256xf16, #l>
}

// A mask that ends between the halves of a vector: next to products each half is stored by itself.
// CHECK-LABEL: func.func @halves(
// CHECK: tilegpu.buffer_store %{{.*}} mask %{{.*}} offset %{{.*}} strides [0, 0] axis 1 vector 4
// CHECK-NOT: tile.store
// CHECK: return
func.func @halves(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %rows: tensor<128x1xi32, #rows>, %n: i32, %value: tensor<128x8xf16, #tile>, %a: !left, %b: !right, %c: !sums) -> !sums attributes {tile.small_arrays} {
  %scale = arith.constant 4 : i32
  %eight = arith.constant dense<8> : tensor<128x1xi32, #rows>
  %bound = arith.muli %n, %scale : i32
  %bounds = tile.splat %bound : i32 -> tensor<8xi32, #u>
  %column = tile.arange 0, 8 : tensor<8xi32, #u>
  %below = arith.cmpi slt, %column, %bounds : tensor<8xi32, #u>
  %mask = tile.expand_dims %below, 0 : tensor<8xi1, #u> -> tensor<1x8xi1, #columns>
  %m = tile.broadcast %mask : tensor<1x8xi1, #columns> -> tensor<128x8xi1, #tile>
  %columns = tile.expand_dims %column, 0 : tensor<8xi32, #u> -> tensor<1x8xi32, #columns>
  %row = arith.muli %rows, %eight : tensor<128x1xi32, #rows>
  %ofRow = tile.broadcast %row : tensor<128x1xi32, #rows> -> tensor<128x8xi32, #tile>
  %inRow = tile.broadcast %columns : tensor<1x8xi32, #columns> -> tensor<128x8xi32, #tile>
  %index = arith.addi %ofRow, %inRow : tensor<128x8xi32, #tile>
  %px = tile.splat %x : !tile.ptr<f16> -> tensor<128x8x!tile.ptr<f16>, #tile>
  %ax = tile.addptr %px, %index : tensor<128x8x!tile.ptr<f16>, #tile>, tensor<128x8xi32, #tile>
  tile.store %ax, %value mask %m : (tensor<128x8x!tile.ptr<f16>, #tile>, tensor<128x8xf16, #tile>, tensor<128x8xi1, #tile>) -> ()
  %d = tilegpu.dot %a, %b, %c unit <"mfma.32x32x8x2.f16.f32" swapped, warps 1 x 1> : (!left, !right, !sums) -> !sums
  return %d : !sums
}

// Quarters are not, nor halves where nothing is multiplied.
// CHECK-LABEL: func.func @quarters
// CHECK: tile.store
// CHECK: return
func.func @quarters(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %rows: tensor<128x1xi32, #rows>, %n: i32, %value: tensor<128x8xf16, #tile>, %a: !left, %b: !right, %c: !sums) -> !sums attributes {tile.small_arrays} {
  %scale = arith.constant 2 : i32
  %eight = arith.constant dense<8> : tensor<128x1xi32, #rows>
  %bound = arith.muli %n, %scale : i32
  %bounds = tile.splat %bound : i32 -> tensor<8xi32, #u>
  %column = tile.arange 0, 8 : tensor<8xi32, #u>
  %below = arith.cmpi slt, %column, %bounds : tensor<8xi32, #u>
  %mask = tile.expand_dims %below, 0 : tensor<8xi1, #u> -> tensor<1x8xi1, #columns>
  %m = tile.broadcast %mask : tensor<1x8xi1, #columns> -> tensor<128x8xi1, #tile>
  %columns = tile.expand_dims %column, 0 : tensor<8xi32, #u> -> tensor<1x8xi32, #columns>
  %row = arith.muli %rows, %eight : tensor<128x1xi32, #rows>
  %ofRow = tile.broadcast %row : tensor<128x1xi32, #rows> -> tensor<128x8xi32, #tile>
  %inRow = tile.broadcast %columns : tensor<1x8xi32, #columns> -> tensor<128x8xi32, #tile>
  %index = arith.addi %ofRow, %inRow : tensor<128x8xi32, #tile>
  %px = tile.splat %x : !tile.ptr<f16> -> tensor<128x8x!tile.ptr<f16>, #tile>
  %ax = tile.addptr %px, %index : tensor<128x8x!tile.ptr<f16>, #tile>, tensor<128x8xi32, #tile>
  tile.store %ax, %value mask %m : (tensor<128x8x!tile.ptr<f16>, #tile>, tensor<128x8xf16, #tile>, tensor<128x8xi1, #tile>) -> ()
  %d = tilegpu.dot %a, %b, %c unit <"mfma.32x32x8x2.f16.f32" swapped, warps 1 x 1> : (!left, !right, !sums) -> !sums
  return %d : !sums
}

// CHECK-LABEL: func.func @halves_without_products
// CHECK: tile.store
// CHECK: return
func.func @halves_without_products(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %rows: tensor<128x1xi32, #rows>, %n: i32, %value: tensor<128x8xf16, #tile>) attributes {tile.small_arrays} {
  %scale = arith.constant 4 : i32
  %eight = arith.constant dense<8> : tensor<128x1xi32, #rows>
  %bound = arith.muli %n, %scale : i32
  %bounds = tile.splat %bound : i32 -> tensor<8xi32, #u>
  %column = tile.arange 0, 8 : tensor<8xi32, #u>
  %below = arith.cmpi slt, %column, %bounds : tensor<8xi32, #u>
  %mask = tile.expand_dims %below, 0 : tensor<8xi1, #u> -> tensor<1x8xi1, #columns>
  %m = tile.broadcast %mask : tensor<1x8xi1, #columns> -> tensor<128x8xi1, #tile>
  %columns = tile.expand_dims %column, 0 : tensor<8xi32, #u> -> tensor<1x8xi32, #columns>
  %row = arith.muli %rows, %eight : tensor<128x1xi32, #rows>
  %ofRow = tile.broadcast %row : tensor<128x1xi32, #rows> -> tensor<128x8xi32, #tile>
  %inRow = tile.broadcast %columns : tensor<1x8xi32, #columns> -> tensor<128x8xi32, #tile>
  %index = arith.addi %ofRow, %inRow : tensor<128x8xi32, #tile>
  %px = tile.splat %x : !tile.ptr<f16> -> tensor<128x8x!tile.ptr<f16>, #tile>
  %ax = tile.addptr %px, %index : tensor<128x8x!tile.ptr<f16>, #tile>, tensor<128x8xi32, #tile>
  tile.store %ax, %value mask %m : (tensor<128x8x!tile.ptr<f16>, #tile>, tensor<128x8xf16, #tile>, tensor<128x8xi1, #tile>) -> ()
  return
}

// A loop up to a number that is loaded moves the base, too.
// CHECK-LABEL: func.func @until_loaded
// CHECK-SAME: (%[[X:.*]]: !tile.ptr<f32>,
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK: arith.extsi %[[I]] : i32 to i64
// CHECK: %[[BASE:.*]] = tile.addptr %[[X]], %{{.*}} : !tile.ptr<f32>, i64
// CHECK: tilegpu.buffer_load %[[BASE]] bytes %{{.*}} mask
func.func @until_loaded(%x: !tile.ptr<f32>, %ends: !tile.ptr<i32>, %index: tensor<256xi32, #l>, %m: tensor<256xi1, #l>) -> tensor<256xf32, #l> attributes {tile.small_arrays} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = arith.constant dense<0.0> : tensor<256xf32, #l>
  %step = arith.constant dense<64> : tensor<256xi32, #l>
  %pid = tile.program_id 0 : i32
  %pe = tile.addptr %ends, %pid : !tile.ptr<i32>, i32
  %end = tile.load %pe : (!tile.ptr<i32>) -> i32
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  %first = tile.addptr %px, %index : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
  %r:2 = scf.for %i = %zero to %end step %one iter_args(%s = %none, %p = %first) -> (tensor<256xf32, #l>, tensor<256x!tile.ptr<f32>, #l>) : i32 {
    %v = tile.load %p mask %m : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xi1, #l>) -> tensor<256xf32, #l>
    %sum = arith.addf %s, %v : tensor<256xf32, #l>
    %next = tile.addptr %p, %step : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
    scf.yield %sum, %next : tensor<256xf32, #l>, tensor<256x!tile.ptr<f32>, #l>
  }
  return %r#0 : tensor<256xf32, #l>
}

// A bound that may divide a pair: two stores in place of one and a branch.
// CHECK-LABEL: func.func @divided_pair
// CHECK: tilegpu.buffer_store %{{.*}} bytes %{{.*}} mask %{{.*}} vector 1
func.func @divided_pair(%x: !tile.ptr<f32>, %first: i32, %e: !tile.ptr<i32>) attributes {tile.small_arrays} {
  %end = tile.load %e : (!tile.ptr<i32>) -> i32
  %pid = tile.program_id 0 : i32
  %size = arith.constant 128 : i32
  %part = arith.muli %pid, %size : i32
  %n = arith.subi %end, %first : i32
  %r = tile.arange 0, 128 : tensor<128xi32, #p>
  %ps = tile.splat %part : i32 -> tensor<128xi32, #p>
  %i = arith.addi %ps, %r : tensor<128xi32, #p>
  %ns = tile.splat %n : i32 -> tensor<128xi32, #p>
  %m = arith.cmpi slt, %i, %ns : tensor<128xi32, #p>
  %fs = tile.splat %first : i32 -> tensor<128xi32, #p>
  %o = arith.addi %fs, %i : tensor<128xi32, #p>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #p>
  %ax = tile.addptr %px, %o : tensor<128x!tile.ptr<f32>, #p>, tensor<128xi32, #p>
  %ad = tile.hint %ax divisibility = [128] : tensor<128x!tile.ptr<f32>, #p>
  %ac = tile.hint %ad contiguity = [128] : tensor<128x!tile.ptr<f32>, #p>
  %one = arith.constant dense<1.0> : tensor<128xf32, #p>
  tile.store %ac, %one mask %m : (tensor<128x!tile.ptr<f32>, #p>, tensor<128xf32, #p>, tensor<128xi1, #p>) -> ()
  return
}

// Not four in place of one.
// CHECK-LABEL: func.func @divided_four
// CHECK: tile.store %{{.*}} mask
func.func @divided_four(%x: !tile.ptr<f32>, %first: i32, %e: !tile.ptr<i32>) attributes {tile.small_arrays} {
  %end = tile.load %e : (!tile.ptr<i32>) -> i32
  %pid = tile.program_id 0 : i32
  %size = arith.constant 256 : i32
  %part = arith.muli %pid, %size : i32
  %n = arith.subi %end, %first : i32
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %ps = tile.splat %part : i32 -> tensor<256xi32, #l>
  %i = arith.addi %ps, %r : tensor<256xi32, #l>
  %ns = tile.splat %n : i32 -> tensor<256xi32, #l>
  %m = arith.cmpi slt, %i, %ns : tensor<256xi32, #l>
  %fs = tile.splat %first : i32 -> tensor<256xi32, #l>
  %o = arith.addi %fs, %i : tensor<256xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  %ax = tile.addptr %px, %o : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
  %ad = tile.hint %ax divisibility = [256] : tensor<256x!tile.ptr<f32>, #l>
  %ac = tile.hint %ad contiguity = [256] : tensor<256x!tile.ptr<f32>, #l>
  %one = arith.constant dense<1.0> : tensor<256xf32, #l>
  tile.store %ac, %one mask %m : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xf32, #l>, tensor<256xi1, #l>) -> ()
  return
}

// Of two versions one runs: each may have a base of its own, though they store to one array.
// CHECK-LABEL: func.func @versions
// CHECK: scf.if
// CHECK: tilegpu.buffer_store
// CHECK: else
// CHECK: tilegpu.buffer_store
func.func @versions(%x: !tile.ptr<f32>, %n: i32, %stride: i32, %same: i1, %value: tensor<256xf32, #l>) attributes {tile.small_arrays} {
  %c0 = arith.constant 0 : i32
  %c256 = arith.constant 256 : i32
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %ss = tile.splat %stride : i32 -> tensor<256xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  scf.if %same {
    scf.for %k = %c0 to %n step %c256 : i32 {
      %start = tile.splat %k : i32 -> tensor<256xi32, #l>
      %i = arith.addi %start, %r : tensor<256xi32, #l>
      %o = arith.muli %i, %ss : tensor<256xi32, #l>
      %ax = tile.addptr %px, %o : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
      tilegpu.barrier
      tile.store %ax, %value : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xf32, #l>) -> ()
    }
  } else {
    scf.for %k = %c0 to %n step %c256 : i32 {
      %start = tile.splat %k : i32 -> tensor<256xi32, #l>
      %i = arith.addi %start, %r : tensor<256xi32, #l>
      %o = arith.muli %i, %ss : tensor<256xi32, #l>
      %ax = tile.addptr %px, %o : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
      tile.store %ax, %value : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xf32, #l>) -> ()
    }
  }
  return
}

// Not where a loop around them has both run.
// CHECK-LABEL: func.func @versions_in_turns
// CHECK-NOT: tilegpu.buffer
// CHECK: return
func.func @versions_in_turns(%x: !tile.ptr<f32>, %n: i32, %stride: i32, %value: tensor<256xf32, #l>) attributes {tile.small_arrays} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c256 = arith.constant 256 : i32
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %ss = tile.splat %stride : i32 -> tensor<256xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  scf.for %turn = %c0 to %n step %c1 : i32 {
    %first = arith.cmpi eq, %turn, %c0 : i32
    scf.if %first {
      scf.for %k = %c0 to %n step %c256 : i32 {
        %start = tile.splat %k : i32 -> tensor<256xi32, #l>
        %i = arith.addi %start, %r : tensor<256xi32, #l>
        %o = arith.muli %i, %ss : tensor<256xi32, #l>
        %ax = tile.addptr %px, %o : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
        tile.store %ax, %value : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xf32, #l>) -> ()
      }
    } else {
      scf.for %k = %c0 to %n step %c256 : i32 {
        %start = tile.splat %k : i32 -> tensor<256xi32, #l>
        %i = arith.addi %start, %r : tensor<256xi32, #l>
        %o = arith.muli %i, %ss : tensor<256xi32, #l>
        %ax = tile.addptr %px, %o : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
        tile.store %ax, %value : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xf32, #l>) -> ()
      }
    }
  }
  return
}

// The indices of a single element are added up before they are bytes of 64 bits.
// CHECK-LABEL: func.func @element
// CHECK-SAME: (%[[X:.*]]: !tile.ptr<i32>, %[[A:.*]]: i32, %[[B:.*]]: i32
// CHECK: %[[SUM:.*]] = arith.addi %[[A]], %[[B]] : i32
// CHECK: %[[AT:.*]] = tile.addptr %[[X]], %[[SUM]] : !tile.ptr<i32>, i32
// CHECK: tile.load %[[AT]]
func.func @element(%x: !tile.ptr<i32>, %a: i32, %b: i32) -> i32 attributes {tile.small_arrays} {
  %first = tile.addptr %x, %a : !tile.ptr<i32>, i32
  %second = tile.addptr %first, %b : !tile.ptr<i32>, i32
  %v = tile.load %second : (!tile.ptr<i32>) -> i32
  return %v : i32
}

// Not where they have more bits, the place in between is used, too, or an access has the second as its own offset.
// CHECK-LABEL: func.func @other_elements
// CHECK-NOT: arith.addi
// CHECK: return
func.func @other_elements(%x: !tile.ptr<i32>, %a: i32, %b: i32, %wide: i64) -> (i32, i32, i32, i32) attributes {tile.small_arrays} {
  %c4 = arith.constant 4 : i32
  %first = tile.addptr %x, %a : !tile.ptr<i32>, i32
  %second = tile.addptr %first, %b : !tile.ptr<i32>, i32
  %u = tile.load %first : (!tile.ptr<i32>) -> i32
  %v = tile.load %second : (!tile.ptr<i32>) -> i32
  %far = tile.addptr %x, %wide : !tile.ptr<i32>, i64
  %third = tile.addptr %far, %b : !tile.ptr<i32>, i32
  %w = tile.load %third : (!tile.ptr<i32>) -> i32
  %near = tile.addptr %x, %b : !tile.ptr<i32>, i32
  %fourth = tile.addptr %near, %c4 : !tile.ptr<i32>, i32
  %y = tile.load %fourth : (!tile.ptr<i32>) -> i32
  return %u, %v, %w, %y : i32, i32, i32, i32
}
}
