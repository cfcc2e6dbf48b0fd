// Code with conditional barriers becomes two versions, with barriers and without; loads ahead are shared, unless they are large.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-version-barriers))" --split-input-file %s | FileCheck %s

#l = #tilegpu.layout<"register: ; lane: 1 2 4 8 16; warp: 32; block: -> 64">
#some = #tilegpu.layout<"register: 64 128 256 512 1024; lane: 1 2 4 8 16; warp: 32; block: -> 2048">
#many = #tilegpu.layout<"register: 64 128 256 512 1024 2048 4096 8192; lane: 1 2 4 8 16; warp: 32; block: -> 16384">
#a = #tilegpu.layout<"register: 0,1 8,0 0,8; lane: 0,2 0,4 1,0 2,0 4,0; warp: ; block: -> 16x16">
#b = #tilegpu.layout<"register: 1,0 8,0; lane: 2,0 4,0 0,1 0,2 0,4; warp: ; block: -> 16x8">
#c = #tilegpu.layout<"register: 0,1 8,0; lane: 0,2 0,4 1,0 2,0 4,0; warp: ; block: -> 16x8">

module attributes {tilegpu.target = "cuda:sm_80"} {
// The arithmetic is made twice. The first barrier stands where its version begins.
// CHECK-LABEL: func.func @straight
// CHECK: tile.load
// CHECK-NEXT: %[[ANY:.*]] = arith.ori %[[A:.*]], %[[B:.*]] : i1
// CHECK-NEXT: scf.if %[[ANY]] {
// CHECK-NEXT: tilegpu.barrier{{$}}
// CHECK-NEXT: arith.addf
// CHECK-NEXT: tile.store
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: tilegpu.barrier{{$}}
// CHECK-NEXT: tile.store
// CHECK-NEXT: tilegpu.barrier{{$}}
// CHECK-NEXT: } else {
// CHECK-NEXT: arith.addf
// CHECK-NEXT: tile.store
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: tile.store
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @straight(%p: tensor<64x!tile.ptr<f32>, #l>, %a: i1, %b: i1) {
  %x = tile.load %p : (tensor<64x!tile.ptr<f32>, #l>) -> tensor<64xf32, #l>
  %y = arith.addf %x, %x : tensor<64xf32, #l>
  tilegpu.barrier if %a
  tile.store %p, %y : (tensor<64x!tile.ptr<f32>, #l>, tensor<64xf32, #l>) -> ()
  %z = arith.mulf %x, %x : tensor<64xf32, #l>
  tilegpu.barrier if %b
  tile.store %p, %z : (tensor<64x!tile.ptr<f32>, #l>, tensor<64xf32, #l>) -> ()
  return
}

// Barriers that are always there stand in both versions; what computes the condition is no part of them.
// CHECK-LABEL: func.func @loop
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %arg1, %arg2
// CHECK-NEXT: scf.if %[[SAME]] {
// CHECK: scf.for
// CHECK-NEXT: tilegpu.barrier{{$}}
// CHECK-NEXT: tile.load
// CHECK-NEXT: tilegpu.barrier{{$}}
// CHECK-NEXT: tile.store
// CHECK-NEXT: tilegpu.barrier{{$}}
// CHECK-NEXT: tile.load
// CHECK: } else {
// CHECK: scf.for
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.store
// CHECK-NEXT: tilegpu.barrier{{$}}
// CHECK-NEXT: tile.load
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @loop(%p: tensor<64x!tile.ptr<f32>, #l>, %a: i64, %b: i64, %n: i32) {
  %same = arith.cmpi eq, %a, %b : i64
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %n step %one : i32 {
    tilegpu.barrier if %same
    %x = tile.load %p : (tensor<64x!tile.ptr<f32>, #l>) -> tensor<64xf32, #l>
    tilegpu.barrier if %same
    tile.store %p, %x : (tensor<64x!tile.ptr<f32>, #l>, tensor<64xf32, #l>) -> ()
    tilegpu.barrier
    %y = tile.load %p : (tensor<64x!tile.ptr<f32>, #l>) -> tensor<64xf32, #l>
  }
  return
}

// A branch has loaded.
// CHECK-LABEL: func.func @branch
// CHECK: scf.for
// CHECK: tilegpu.barrier{{$}}
// CHECK: } else {
// CHECK: scf.for
// CHECK-NOT: tilegpu.barrier
// CHECK: return
func.func @branch(%p: tensor<64x!tile.ptr<f32>, #l>, %a: i1, %any: i1, %zeros: tensor<64xf32, #l>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %n step %one : i32 {
    %x = scf.if %any -> tensor<64xf32, #l> {
      %y = tile.load %p : (tensor<64x!tile.ptr<f32>, #l>) -> tensor<64xf32, #l>
      scf.yield %y : tensor<64xf32, #l>
    } else {
      scf.yield %zeros : tensor<64xf32, #l>
    }
    tilegpu.barrier if %a
    tile.store %p, %x : (tensor<64x!tile.ptr<f32>, #l>, tensor<64xf32, #l>) -> ()
  }
  return
}

// No load is in flight where an iteration begins, and none behind another barrier.
// CHECK-LABEL: func.func @noneInFlight
// CHECK-NOT: scf.if
// CHECK: tilegpu.barrier if
// CHECK: tilegpu.barrier if
func.func @noneInFlight(%p: tensor<64x!tile.ptr<f32>, #l>, %a: i1, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %n step %one : i32 {
    tilegpu.barrier if %a
    %x = tile.load %p : (tensor<64x!tile.ptr<f32>, #l>) -> tensor<64xf32, #l>
    tilegpu.barrier
    tilegpu.barrier if %a
    tile.store %p, %x : (tensor<64x!tile.ptr<f32>, #l>, tensor<64xf32, #l>) -> ()
  }
  return
}

// What is loaded would fill a thread's registers at the branch: each version loads for itself. A barrier ahead of the loads
// keeps LLVM from hoisting them out of both.
// CHECK-LABEL: func.func @large
// CHECK-NEXT: scf.if
// CHECK-NEXT: tilegpu.barrier{{$}}
// CHECK-NEXT: tile.load
// CHECK-NEXT: arith.addf
// CHECK-NEXT: tilegpu.barrier{{$}}
// CHECK-NEXT: tile.store
// CHECK-NEXT: tilegpu.barrier{{$}}
// CHECK-NEXT: } else {
// CHECK-NEXT: tile.load
// CHECK-NEXT: arith.addf
// CHECK-NEXT: tile.store
// CHECK-NEXT: }
func.func @large(%p: tensor<16384x!tile.ptr<f32>, #many>, %a: i1) {
  %x = tile.load %p : (tensor<16384x!tile.ptr<f32>, #many>) -> tensor<16384xf32, #many>
  %1 = arith.addf %x, %x : tensor<16384xf32, #many>
  tilegpu.barrier if %a
  tile.store %p, %1 : (tensor<16384x!tile.ptr<f32>, #many>, tensor<16384xf32, #many>) -> ()
  return
}

// 32 registers hold what is loaded, and none hold something when a branch in front of the loads comes. Branches between loads go along.
// CHECK-LABEL: func.func @some
// CHECK-NEXT: scf.if %arg1 {
// CHECK-NEXT: tilegpu.barrier{{$}}
// CHECK-NEXT: scf.if %arg2
// CHECK: tile.load
// CHECK: tile.load
// CHECK: arith.addf
// CHECK-NEXT: tilegpu.barrier{{$}}
// CHECK-NEXT: tile.store
// CHECK-NEXT: tilegpu.barrier{{$}}
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.if %arg2
// CHECK: tile.load
// CHECK: tile.load
// CHECK: arith.addf
// CHECK-NEXT: tile.store
// CHECK-NEXT: }
func.func @some(%p: tensor<2048x!tile.ptr<f32>, #some>, %a: i1, %b: i1, %q: tensor<2048x!tile.ptr<f32>, #some>) {
  %x = scf.if %b -> tensor<2048xf32, #some> {
    %1 = tile.load %p : (tensor<2048x!tile.ptr<f32>, #some>) -> tensor<2048xf32, #some>
    scf.yield %1 : tensor<2048xf32, #some>
  } else {
    %1 = tile.load %q : (tensor<2048x!tile.ptr<f32>, #some>) -> tensor<2048xf32, #some>
    scf.yield %1 : tensor<2048xf32, #some>
  }
  %y = arith.addf %x, %x : tensor<2048xf32, #some>
  tilegpu.barrier if %a
  tile.store %p, %y : (tensor<2048x!tile.ptr<f32>, #some>, tensor<2048xf32, #some>) -> ()
  return
}

// As many registers hold the sum when a branch in front of the load comes: it stays in front.
// CHECK-LABEL: func.func @noFewer
// CHECK: tile.reduce
// CHECK: tile.load
// CHECK-NEXT: scf.if %arg1 {
func.func @noFewer(%p: tensor<2048x!tile.ptr<f32>, #some>, %a: i1, %q: !tile.ptr<f32>) {
  %x = tile.load %p : (tensor<2048x!tile.ptr<f32>, #some>) -> tensor<2048xf32, #some>
  %sum = tile.reduce(%x) axis 0 {tilegpu.offset = 0 : i32} : (tensor<2048xf32, #some>) -> f32 {
  ^bb0(%u: f32, %v: f32):
    %1 = arith.addf %u, %v : f32
    tile.yield %1 : f32
  }
  %z = tile.load %q : (!tile.ptr<f32>) -> f32
  %d = arith.addf %z, %sum : f32
  %t = tile.splat %d : f32 -> tensor<2048xf32, #some>
  %y = arith.addf %x, %t : tensor<2048xf32, #some>
  tilegpu.barrier if %a
  tile.store %p, %y : (tensor<2048x!tile.ptr<f32>, #some>, tensor<2048xf32, #some>) -> ()
  return
}

// 256 elements a thread, 26 times.
// CHECK-LABEL: func.func @tooLong
// CHECK-NOT: scf.if
// CHECK: tilegpu.barrier if
func.func @tooLong(%p: tensor<16384x!tile.ptr<f32>, #many>, %a: i1) {
  %x = tile.load %p : (tensor<16384x!tile.ptr<f32>, #many>) -> tensor<16384xf32, #many>
  %1 = arith.addf %x, %x : tensor<16384xf32, #many>
  %2 = arith.addf %1, %x : tensor<16384xf32, #many>
  %3 = arith.addf %2, %x : tensor<16384xf32, #many>
  %4 = arith.addf %3, %x : tensor<16384xf32, #many>
  %5 = arith.addf %4, %x : tensor<16384xf32, #many>
  %6 = arith.addf %5, %x : tensor<16384xf32, #many>
  %7 = arith.addf %6, %x : tensor<16384xf32, #many>
  %8 = arith.addf %7, %x : tensor<16384xf32, #many>
  %9 = arith.addf %8, %x : tensor<16384xf32, #many>
  %10 = arith.addf %9, %x : tensor<16384xf32, #many>
  %11 = arith.addf %10, %x : tensor<16384xf32, #many>
  %12 = arith.addf %11, %x : tensor<16384xf32, #many>
  %13 = arith.addf %12, %x : tensor<16384xf32, #many>
  %14 = arith.addf %13, %x : tensor<16384xf32, #many>
  %15 = arith.addf %14, %x : tensor<16384xf32, #many>
  %16 = arith.addf %15, %x : tensor<16384xf32, #many>
  %17 = arith.addf %16, %x : tensor<16384xf32, #many>
  %18 = arith.addf %17, %x : tensor<16384xf32, #many>
  %19 = arith.addf %18, %x : tensor<16384xf32, #many>
  %20 = arith.addf %19, %x : tensor<16384xf32, #many>
  %21 = arith.addf %20, %x : tensor<16384xf32, #many>
  %22 = arith.addf %21, %x : tensor<16384xf32, #many>
  %23 = arith.addf %22, %x : tensor<16384xf32, #many>
  %24 = arith.addf %23, %x : tensor<16384xf32, #many>
  tilegpu.barrier if %a
  tile.store %p, %24 : (tensor<16384x!tile.ptr<f32>, #many>, tensor<16384xf32, #many>) -> ()
  return
}

// Three quotients of 32 elements a thread, each of which counts for 16.
// CHECK-LABEL: func.func @quotients
// CHECK-NOT: scf.if
// CHECK: tilegpu.barrier if
func.func @quotients(%p: tensor<2048x!tile.ptr<i32>, #some>, %d: tensor<2048xi32, #some>, %a: i1) {
  %x = tile.load %p : (tensor<2048x!tile.ptr<i32>, #some>) -> tensor<2048xi32, #some>
  %1 = arith.divsi %x, %d : tensor<2048xi32, #some>
  %2 = arith.remsi %1, %d : tensor<2048xi32, #some>
  %3 = arith.addi %2, %x : tensor<2048xi32, #some>
  %y = arith.divui %3, %d : tensor<2048xi32, #some>
  tilegpu.barrier if %a
  tile.store %p, %y : (tensor<2048x!tile.ptr<i32>, #some>, tensor<2048xi32, #some>) -> ()
  return
}

// By numbers that are known they are products.
// CHECK-LABEL: func.func @knownQuotients
// CHECK: scf.if %arg1 {
// CHECK-NOT: tilegpu.barrier if
func.func @knownQuotients(%p: tensor<2048x!tile.ptr<i32>, #some>, %a: i1) {
  %d = arith.constant dense<7> : tensor<2048xi32, #some>
  %x = tile.load %p : (tensor<2048x!tile.ptr<i32>, #some>) -> tensor<2048xi32, #some>
  %1 = arith.divsi %x, %d : tensor<2048xi32, #some>
  %2 = arith.remsi %1, %d : tensor<2048xi32, #some>
  %3 = arith.addi %2, %x : tensor<2048xi32, #some>
  %y = arith.divui %3, %d : tensor<2048xi32, #some>
  tilegpu.barrier if %a
  tile.store %p, %y : (tensor<2048x!tile.ptr<i32>, #some>, tensor<2048xi32, #some>) -> ()
  return
}

// Beside a matrix product a barrier is nothing.
// CHECK-LABEL: func.func @product
// CHECK-NOT: scf.if
// CHECK: tilegpu.barrier if
func.func @product(%x: tensor<16x16xf16, #a>, %y: tensor<16x8xf16, #b>, %p: tensor<16x8x!tile.ptr<f32>, #c>, %a: i1) {
  %z = tile.load %p : (tensor<16x8x!tile.ptr<f32>, #c>) -> tensor<16x8xf32, #c>
  %d = tilegpu.dot %x, %y, %z unit <"mma.m16n8k16.f16.f32", warps 1 x 1>
      : (tensor<16x16xf16, #a>, tensor<16x8xf16, #b>, tensor<16x8xf32, #c>) -> tensor<16x8xf32, #c>
  tilegpu.barrier if %a
  tile.store %p, %d : (tensor<16x8x!tile.ptr<f32>, #c>, tensor<16x8xf32, #c>) -> ()
  return
}

// The condition has to be known ahead of the branch.
// CHECK-LABEL: func.func @knownLate
// CHECK-NOT: scf.if
// CHECK: tilegpu.barrier if
func.func @knownLate(%p: !tile.ptr<i32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %n step %one : i32 {
    %x = tile.load %p : (!tile.ptr<i32>) -> i32
    %same = arith.cmpi eq, %i, %one : i32
    tilegpu.barrier if %same
    tile.store %p, %x : (!tile.ptr<i32>, i32) -> ()
  }
  return
}
}

// -----

#l = #tilegpu.layout<"register: ; lane: 1 2 4 8 16 32; warp: ; block: -> 64">

module attributes {tilegpu.target = "hip:gfx942"} {
// Here the branch around a barrier stays one.
// CHECK-LABEL: func.func @noPredicates
// CHECK-NOT: scf.if
// CHECK: tilegpu.barrier if
func.func @noPredicates(%p: tensor<64x!tile.ptr<f32>, #l>, %a: i1) {
  %x = tile.load %p : (tensor<64x!tile.ptr<f32>, #l>) -> tensor<64xf32, #l>
  tilegpu.barrier if %a
  tile.store %p, %x : (tensor<64x!tile.ptr<f32>, #l>, tensor<64xf32, #l>) -> ()
  return
}
}
