// Barriers that keep accesses to global memory in program order, and none where a thread meets only itself.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-insert-barriers))" %s | FileCheck %s

#l = #tilegpu.layout<"register: ; lane: 1 2 4 8 16; warp: 32; block: -> 64">
#one = #tilegpu.layout<"register: ; lane: 1 2 4 8 16; warp: ; block: -> 32">
#few = #tilegpu.layout<"register: ; lane: 1 2 4 8 16; warp: 0; block: -> 32">

module attributes {tilegpu.target = "cuda:sm_80"} {
// The same element in the same thread, whichever array the arguments are.
// CHECK-LABEL: func.func @streaming
// CHECK-NOT: tilegpu.barrier
// CHECK: return
func.func @streaming(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %pid: i32) {
  %c64 = arith.constant 64 : i32
  %start = arith.muli %pid, %c64 : i32
  %r = tile.arange 0, 64 : tensor<64xi32, #l>
  %s = tile.splat %start : i32 -> tensor<64xi32, #l>
  %i = arith.addi %s, %r : tensor<64xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %ax = tile.addptr %px, %i : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
  %ay = tile.addptr %py, %i : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
  %v = tile.load %ax : (tensor<64x!tile.ptr<f32>, #l>) -> tensor<64xf32, #l>
  tile.store %ay, %v : (tensor<64x!tile.ptr<f32>, #l>, tensor<64xf32, #l>) -> ()
  tile.store %ax, %v : (tensor<64x!tile.ptr<f32>, #l>, tensor<64xf32, #l>) -> ()
  return
}

// At other indices: always a barrier within one argument, and if they are equal between two.
// CHECK-LABEL: func.func @reversed
// CHECK: %[[A:.*]] = tile.bitcast %arg0
// CHECK: %[[B:.*]] = tile.bitcast %arg1
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[A]], %[[B]]
// CHECK: tile.load
// CHECK-NEXT: tilegpu.barrier if %[[SAME]]
// CHECK-NEXT: tile.store
// CHECK-NEXT: tilegpu.barrier{{$}}
// CHECK-NEXT: tile.load
func.func @reversed(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) {
  %r = tile.arange 0, 64 : tensor<64xi32, #l>
  %c63 = arith.constant dense<63> : tensor<64xi32, #l>
  %back = arith.subi %c63, %r : tensor<64xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %ax = tile.addptr %px, %back : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
  %ay = tile.addptr %py, %r : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
  %by = tile.addptr %py, %back : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
  %v = tile.load %ax : (tensor<64x!tile.ptr<f32>, #l>) -> tensor<64xf32, #l>
  tile.store %ay, %v : (tensor<64x!tile.ptr<f32>, #l>, tensor<64xf32, #l>) -> ()
  %w = tile.load %by : (tensor<64x!tile.ptr<f32>, #l>) -> tensor<64xf32, #l>
  return
}

// The threads of one warp meet in any case where many arguments would be compared, but not where few are.
// CHECK-LABEL: func.func @one_warp(
// CHECK-NOT: arith.cmpi
// CHECK: tilegpu.barrier{{$}}
// CHECK: tilegpu.barrier{{$}}
// CHECK: return
func.func @one_warp(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %z: !tile.ptr<f32>, %w: !tile.ptr<f32>) attributes {tile.num_warps = 1 : i32} {
  %r = tile.arange 0, 32 : tensor<32xi32, #one>
  %c31 = arith.constant dense<31> : tensor<32xi32, #one>
  %back = arith.subi %c31, %r : tensor<32xi32, #one>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #one>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #one>
  %pz = tile.splat %z : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #one>
  %pw = tile.splat %w : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #one>
  %ax = tile.addptr %px, %back : tensor<32x!tile.ptr<f32>, #one>, tensor<32xi32, #one>
  %ay = tile.addptr %py, %back : tensor<32x!tile.ptr<f32>, #one>, tensor<32xi32, #one>
  %az = tile.addptr %pz, %r : tensor<32x!tile.ptr<f32>, #one>, tensor<32xi32, #one>
  %aw = tile.addptr %pw, %r : tensor<32x!tile.ptr<f32>, #one>, tensor<32xi32, #one>
  %u = tile.load %ax : (tensor<32x!tile.ptr<f32>, #one>) -> tensor<32xf32, #one>
  %v = tile.load %ay : (tensor<32x!tile.ptr<f32>, #one>) -> tensor<32xf32, #one>
  tile.store %az, %u : (tensor<32x!tile.ptr<f32>, #one>, tensor<32xf32, #one>) -> ()
  %t = tile.load %ay : (tensor<32x!tile.ptr<f32>, #one>) -> tensor<32xf32, #one>
  tile.store %aw, %t : (tensor<32x!tile.ptr<f32>, #one>, tensor<32xf32, #one>) -> ()
  return
}

// CHECK-LABEL: func.func @one_warp_of_two_arguments
// CHECK: tilegpu.barrier if
func.func @one_warp_of_two_arguments(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.num_warps = 1 : i32} {
  %r = tile.arange 0, 32 : tensor<32xi32, #one>
  %c31 = arith.constant dense<31> : tensor<32xi32, #one>
  %back = arith.subi %c31, %r : tensor<32xi32, #one>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #one>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #one>
  %ax = tile.addptr %px, %back : tensor<32x!tile.ptr<f32>, #one>, tensor<32xi32, #one>
  %ay = tile.addptr %py, %r : tensor<32x!tile.ptr<f32>, #one>, tensor<32xi32, #one>
  %v = tile.load %ax : (tensor<32x!tile.ptr<f32>, #one>) -> tensor<32xf32, #one>
  tile.store %ay, %v : (tensor<32x!tile.ptr<f32>, #one>, tensor<32xf32, #one>) -> ()
  return
}

// Both warps load what one of them stores; every thread loads a scalar that all need, one stores it.
// CHECK-LABEL: func.func @redundant
// CHECK: tile.load
// CHECK-NEXT: tilegpu.barrier{{$}}
// CHECK-NEXT: tile.store
// CHECK-NEXT: tilegpu.barrier if
// CHECK-NEXT: tile.load
// CHECK-NEXT: tilegpu.barrier{{$}}
// CHECK-NEXT: tile.store
// CHECK-NEXT: tile.store
// CHECK-NEXT: tile.print
func.func @redundant(%x: !tile.ptr<f32>, %y: !tile.ptr<i32>) -> tensor<32xf32, #few> {
  %r = tile.arange 0, 32 : tensor<32xi32, #few>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #few>
  %ax = tile.addptr %px, %r : tensor<32x!tile.ptr<f32>, #few>, tensor<32xi32, #few>
  %v = tile.load %ax : (tensor<32x!tile.ptr<f32>, #few>) -> tensor<32xf32, #few>
  tile.store %ax, %v : (tensor<32x!tile.ptr<f32>, #few>, tensor<32xf32, #few>) -> ()
  %s = tile.load %y : (!tile.ptr<i32>) -> i32
  tile.store %y, %s : (!tile.ptr<i32>, i32) -> ()
  tile.store %y, %s : (!tile.ptr<i32>, i32) -> ()
  tile.print "s: %i"(%s) : i32
  return %v : tensor<32xf32, #few>
}

// Both warps need not load what only the one stores that owns it, whatever is computed of it by the element.
// CHECK-LABEL: func.func @few_elements
// CHECK-NOT: tilegpu.barrier
// CHECK: tile.load {{.*}}tilegpu.by_owner
// CHECK: tile.load {{.*}}tilegpu.by_owner
// CHECK-NOT: tilegpu.barrier
// CHECK: return
func.func @few_elements(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) {
  %r = tile.arange 0, 32 : tensor<32xi32, #few>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #few>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #few>
  %ax = tile.addptr %px, %r : tensor<32x!tile.ptr<f32>, #few>, tensor<32xi32, #few>
  %ay = tile.addptr %py, %r : tensor<32x!tile.ptr<f32>, #few>, tensor<32xi32, #few>
  %v = tile.load %ax : (tensor<32x!tile.ptr<f32>, #few>) -> tensor<32xf32, #few>
  %w = tile.load %ay : (tensor<32x!tile.ptr<f32>, #few>) -> tensor<32xf32, #few>
  %sum = arith.addf %v, %w : tensor<32xf32, #few>
  %e = math.exp %sum : tensor<32xf32, #few>
  tile.store %ax, %e : (tensor<32x!tile.ptr<f32>, #few>, tensor<32xf32, #few>) -> ()
  tile.store %ay, %v : (tensor<32x!tile.ptr<f32>, #few>, tensor<32xf32, #few>) -> ()
  return
}

// They need what an address of another load is computed of; and a barrier for another index makes this one no shorter.
// CHECK-LABEL: func.func @few_indices
// CHECK-NOT: tilegpu.by_owner
// CHECK: tilegpu.barrier
// CHECK: tile.store
func.func @few_indices(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>) {
  %r = tile.arange 0, 32 : tensor<32xi32, #few>
  %px = tile.splat %x : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>, #few>
  %py = tile.splat %y : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>, #few>
  %ax = tile.addptr %px, %r : tensor<32x!tile.ptr<i32>, #few>, tensor<32xi32, #few>
  %i = tile.load %ax : (tensor<32x!tile.ptr<i32>, #few>) -> tensor<32xi32, #few>
  %ay = tile.addptr %py, %i : tensor<32x!tile.ptr<i32>, #few>, tensor<32xi32, #few>
  %v = tile.load %ay : (tensor<32x!tile.ptr<i32>, #few>) -> tensor<32xi32, #few>
  tile.store %ax, %v : (tensor<32x!tile.ptr<i32>, #few>, tensor<32xi32, #few>) -> ()
  return
}

// What only goes into stored scalars the thread that stores loads by itself.
// CHECK-LABEL: func.func @counter
// CHECK-NOT: tilegpu.barrier
// CHECK: tile.load {{.*}}tilegpu.by_owner
// CHECK-NOT: tilegpu.barrier
// CHECK: return
func.func @counter(%x: !tile.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %c0) -> (i32) : i32 {
    %p = tile.addptr %x, %i : !tile.ptr<i32>, i32
    %v = tile.load %p : (!tile.ptr<i32>) -> i32
    %next = arith.addi %sum, %v : i32
    tile.store %p, %next : (!tile.ptr<i32>, i32) -> ()
    scf.yield %next : i32
  }
  tile.store %x, %last : (!tile.ptr<i32>, i32) -> ()
  return
}

// Not what is a bound of a loop, an address of a load, or in a tensor.
// CHECK-LABEL: func.func @steering
// CHECK-NOT: tilegpu.by_owner
// CHECK: return
func.func @steering(%x: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %n = tile.load %x : (!tile.ptr<i32>) -> i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %p = tile.addptr %x, %i : !tile.ptr<i32>, i32
    %at = tile.load %p : (!tile.ptr<i32>) -> i32
    %q = tile.addptr %x, %at : !tile.ptr<i32>, i32
    %v = tile.load %q : (!tile.ptr<i32>) -> i32
    %s = tile.splat %v : i32 -> tensor<64xi32, #l>
    %r = tile.arange 0, 64 : tensor<64xi32, #l>
    %ps = tile.splat %p : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>, #l>
    %as = tile.addptr %ps, %r : tensor<64x!tile.ptr<i32>, #l>, tensor<64xi32, #l>
    tile.store %as, %s : (tensor<64x!tile.ptr<i32>, #l>, tensor<64xi32, #l>) -> ()
    tile.store %p, %c0 : (!tile.ptr<i32>, i32) -> ()
  }
  return
}

// Iterations that are a tile apart need none; those that may not be need one in the loop; and what came
// before the loop needs one in front of it.
// CHECK-LABEL: func.func @apart
// CHECK-NOT: tilegpu.barrier
// CHECK: return
func.func @apart(%x: !tile.ptr<f32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %r = tile.arange 0, 64 : tensor<64xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %start = tile.addptr %px, %r : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
  %step = arith.constant dense<64> : tensor<64xi32, #l>
  %end = scf.for %i = %zero to %n step %c64 iter_args(%p = %start) -> (tensor<64x!tile.ptr<f32>, #l>) : i32 {
    %s = tile.splat %i : i32 -> tensor<64xi32, #l>
    %a = tile.addptr %start, %s : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
    %v = tile.load %a : (tensor<64x!tile.ptr<f32>, #l>) -> tensor<64xf32, #l>
    tile.store %p, %v : (tensor<64x!tile.ptr<f32>, #l>, tensor<64xf32, #l>) -> ()
    %next = tile.addptr %p, %step : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
    scf.yield %next : tensor<64x!tile.ptr<f32>, #l>
  }
  return
}

// CHECK-LABEL: func.func @backEdge
// CHECK: scf.for
// CHECK: tilegpu.barrier{{$}}
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.store
// CHECK: return
func.func @backEdge(%x: !tile.ptr<f32>, %n: i32, %stride: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r = tile.arange 0, 64 : tensor<64xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %start = tile.addptr %px, %r : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
  scf.for %i = %zero to %n step %one : i32 {
    %row = arith.muli %i, %stride : i32
    %s = tile.splat %row : i32 -> tensor<64xi32, #l>
    %a = tile.addptr %start, %s : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
    %v = tile.load %a : (tensor<64x!tile.ptr<f32>, #l>) -> tensor<64xf32, #l>
    tile.store %a, %v : (tensor<64x!tile.ptr<f32>, #l>, tensor<64xf32, #l>) -> ()
  }
  return
}

// One barrier in front of an iteration's loads, for all arrays that may be the one that the iteration
// before has stored to; and one behind them, late.
// CHECK-LABEL: func.func @oneForSeveral
// CHECK-DAG: %[[XY:.*]] = arith.cmpi eq
// CHECK-DAG: %[[WY:.*]] = arith.cmpi eq
// CHECK: scf.for
// CHECK: tilegpu.barrier if
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.load
// CHECK-NEXT: arith.addf
// CHECK-NEXT: tilegpu.barrier if
// CHECK-NEXT: tile.store
// CHECK: return
func.func @oneForSeveral(%x: !tile.ptr<f32>, %w: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i32, %from: i32) {
  %zero = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %r = tile.arange 0, 64 : tensor<64xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %pw = tile.splat %w : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  scf.for %i = %zero to %n step %c64 : i32 {
    %start = arith.addi %i, %from : i32
    %s = tile.splat %start : i32 -> tensor<64xi32, #l>
    %o = arith.addi %s, %r : tensor<64xi32, #l>
    %ax = tile.addptr %px, %o : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
    %aw = tile.addptr %pw, %o : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
    %t = tile.splat %i : i32 -> tensor<64xi32, #l>
    %to = arith.addi %t, %r : tensor<64xi32, #l>
    %ay = tile.addptr %py, %to : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
    %u = tile.load %ax : (tensor<64x!tile.ptr<f32>, #l>) -> tensor<64xf32, #l>
    %v = tile.load %aw : (tensor<64x!tile.ptr<f32>, #l>) -> tensor<64xf32, #l>
    %z = arith.addf %u, %v : tensor<64xf32, #l>
    tile.store %ay, %z : (tensor<64x!tile.ptr<f32>, #l>, tensor<64xf32, #l>) -> ()
  }
  return
}

// CHECK-LABEL: func.func @inFront
// CHECK: tile.store
// CHECK-NEXT: tilegpu.barrier{{$}}
// CHECK-NEXT: scf.for
// CHECK-NOT: tilegpu.barrier
// CHECK: return
func.func @inFront(%x: !tile.ptr<i32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  tile.store %x, %n : (!tile.ptr<i32>, i32) -> ()
  scf.for %i = %zero to %n step %one : i32 {
    %v = tile.load %x : (!tile.ptr<i32>) -> i32
  }
  return
}

// A while loop is left from its condition: its body's barrier does not separate what follows.
// CHECK-LABEL: func.func @afterWhile
// CHECK: scf.while
// CHECK: tile.load
// CHECK: tile.barrier
// CHECK: }
// CHECK-NEXT: tilegpu.barrier{{$}}
// CHECK-NEXT: tile.store
func.func @afterWhile(%x: !tile.ptr<i32>, %n: i32) {
  scf.while : () -> () {
    %v = tile.load %x : (!tile.ptr<i32>) -> i32
    %c = arith.cmpi slt, %v, %n : i32
    scf.condition(%c)
  } do {
    tile.barrier
    scf.yield
  }
  tile.store %x, %n : (!tile.ptr<i32>, i32) -> ()
  return
}

// Atomics that commute, and whose results nobody asks for, come in any order. (Those that release or
// acquire have barriers of their own.)
// CHECK-LABEL: func.func @atomics
// CHECK: tile.atomic_rmw <add>
// CHECK-NEXT: tile.atomic_rmw <add>
// CHECK-NEXT: tilegpu.barrier{{$}}
// CHECK-NEXT: tile.atomic_rmw <smax>
func.func @atomics(%x: !tile.ptr<i32>) {
  %r = tile.arange 0, 64 : tensor<64xi32, #l>
  %c63 = arith.constant dense<63> : tensor<64xi32, #l>
  %back = arith.subi %c63, %r : tensor<64xi32, #l>
  %px = tile.splat %x : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>, #l>
  %a = tile.addptr %px, %r : tensor<64x!tile.ptr<i32>, #l>, tensor<64xi32, #l>
  %b = tile.addptr %px, %back : tensor<64x!tile.ptr<i32>, #l>, tensor<64xi32, #l>
  %0 = tile.atomic_rmw <add> %a, %r {semantic = #tile.semantic<relaxed>} : (tensor<64x!tile.ptr<i32>, #l>, tensor<64xi32, #l>) -> tensor<64xi32, #l>
  %1 = tile.atomic_rmw <add> %b, %r {semantic = #tile.semantic<relaxed>} : (tensor<64x!tile.ptr<i32>, #l>, tensor<64xi32, #l>) -> tensor<64xi32, #l>
  %2 = tile.atomic_rmw <smax> %a, %r {semantic = #tile.semantic<relaxed>} : (tensor<64x!tile.ptr<i32>, #l>, tensor<64xi32, #l>) -> tensor<64xi32, #l>
  return
}
}
