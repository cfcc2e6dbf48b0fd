// Loads of the next iteration come before the work of this one.
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=cuda:sm_90a},canonicalize,cse,func.func(kiln-prefetch-loads,kiln-allocate-shared-memory,kiln-insert-barriers))" %s | FileCheck %s
// RUN: sed "s/tile.program_id 0 : i32/arith.constant 0 : i32/" %s | kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=cuda:sm_90a},canonicalize,cse,func.func(kiln-prefetch-loads,kiln-allocate-shared-memory,kiln-insert-barriers))" | FileCheck %s --check-prefix FROM-0

// Rows of p become rows of q: with barriers if they are one array, else ahead and without.
// CHECK-LABEL: func.func @rows
// CHECK: %[[SAME:.*]] = arith.cmpi eq
// CHECK: scf.if %[[SAME]] {
// CHECK-NEXT: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} : i32 {
// CHECK: tilegpu.barrier{{$}}
// CHECK: tile.load
// CHECK: tile.store
// CHECK: } else {
// CHECK: %[[ANY:.*]] = arith.cmpi slt
// CHECK: %[[NONE:.*]] = tile.splat %[[ANY]] : i1
// CHECK: %[[FIRST:.*]] = tile.load %{{.*}} mask %[[NONE]]
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %[[END:.*]] step %[[STEP:[^ ]*]] iter_args(%[[X:.*]] = %[[FIRST]])
// CHECK-NOT: tilegpu.barrier
// CHECK: %[[LEFT:.*]] = arith.subi %[[END]], %[[ROW]]
// CHECK: %[[EXISTS:.*]] = arith.cmpi ugt, %[[LEFT]], %[[STEP]]
// CHECK: %[[MASK:.*]] = tile.splat %[[EXISTS]] : i1
// CHECK: %[[NEXT:.*]] = tile.load %{{.*}} mask %[[MASK]]
// CHECK: tile.reduce(%[[X]])
// CHECK-NOT: tilegpu.barrier
// CHECK: tile.store
// CHECK: scf.yield %[[NEXT]]

// The end of what begins at 0 has room below it for a step.
// FROM-0-LABEL: func.func @rows
// FROM-0: scf.for %[[ROW:.*]] = %{{.*}} to %[[END:.*]] step %[[STEP:[^ ]*]] iter_args
// FROM-0: %[[LAST:.*]] = arith.subi %[[END]], %[[STEP]]
// FROM-0: %[[EXISTS:.*]] = arith.cmpi slt, %[[ROW]], %[[LAST]]
// FROM-0: tile.splat %[[EXISTS]] : i1
func.func @rows(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32, %a: i32 {tile.divisibility = 16 : i32}, %b: i32 {tile.divisibility = 16 : i32}) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %first = tile.program_id 0 : i32
  %step = tile.num_programs 0 : i32
  %i = tile.arange 0, 1024 : tensor<1024xi32>
  scf.for %row = %first to %n step %step : i32 {
    %start = arith.muli %row, %a : i32
    %ps = tile.addptr %p, %start : !tile.ptr<f32>, i32
    %pt = tile.splat %ps : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
    %pi = tile.addptr %pt, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %x = tile.load %pi : (tensor<1024x!tile.ptr<f32>>) -> tensor<1024xf32>
    %m = tile.reduce(%x) axis 0 : (tensor<1024xf32>) -> f32 {
    ^bb0(%l: f32, %r: f32):
      %max = arith.maxnumf %l, %r : f32
      tile.yield %max : f32
    }
    %ms = tile.splat %m : f32 -> tensor<1024xf32>
    %y = arith.subf %x, %ms : tensor<1024xf32>
    %end = arith.muli %row, %b : i32
    %qs = tile.addptr %q, %end : !tile.ptr<f32>, i32
    %qt = tile.splat %qs : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
    %qi = tile.addptr %qt, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    tile.store %qi, %y : (tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>) -> ()
  }
  return
}

// Two blocks have no registers for as much again, and each works while the other waits.
// CHECK-LABEL: func.func @largeRows
// CHECK: scf.for
// CHECK-NOT: iter_args
// CHECK: tile.load
// CHECK: tile.reduce
// CHECK: return
func.func @largeRows(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f32>, %n: i32, %a: i32 {tile.divisibility = 16 : i32}) attributes {tile.kernel, tile.num_warps = 8 : i32} {
  %first = tile.program_id 0 : i32
  %step = tile.num_programs 0 : i32
  %i = tile.arange 0, 16384 : tensor<16384xi32>
  scf.for %row = %first to %n step %step : i32 {
    %start = arith.muli %row, %a : i32
    %ps = tile.addptr %p, %start : !tile.ptr<f32>, i32
    %pt = tile.splat %ps : !tile.ptr<f32> -> tensor<16384x!tile.ptr<f32>>
    %pi = tile.addptr %pt, %i : tensor<16384x!tile.ptr<f32>>, tensor<16384xi32>
    %x = tile.load %pi : (tensor<16384x!tile.ptr<f32>>) -> tensor<16384xf32>
    %m = tile.reduce(%x) axis 0 : (tensor<16384xf32>) -> f32 {
    ^bb0(%l: f32, %r: f32):
      %max = arith.maxnumf %l, %r : f32
      tile.yield %max : f32
    }
    %ms = tile.splat %m : f32 -> tensor<16384xf32>
    %y = arith.subf %x, %ms : tensor<16384xf32>
    %s = tile.reduce(%y) axis 0 : (tensor<16384xf32>) -> f32 {
    ^bb0(%l: f32, %r: f32):
      %sum = arith.addf %l, %r : f32
      tile.yield %sum : f32
    }
    %qs = tile.addptr %q, %row : !tile.ptr<f32>, i32
    tile.store %qs, %s : (!tile.ptr<f32>, f32) -> ()
  }
  return
}

// What an iteration stores is what the next one loads.
// CHECK-LABEL: func.func @recurrence
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{[^ ]*}} : i32 {
// CHECK: tile.load
// CHECK: tile.store
func.func @recurrence(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c1024 = arith.constant 1024 : i32
  %ones = arith.constant dense<1.0> : tensor<1024xf32>
  %i = tile.arange 0, 1024 : tensor<1024xi32>
  scf.for %row = %c0 to %n step %c1 : i32 {
    %start = arith.muli %row, %c1024 : i32
    %ps = tile.addptr %p, %start : !tile.ptr<f32>, i32
    %pt = tile.splat %ps : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
    %pi = tile.addptr %pt, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %x = tile.load %pi : (tensor<1024x!tile.ptr<f32>>) -> tensor<1024xf32>
    %y = arith.addf %x, %ones : tensor<1024xf32>
    %qs = tile.addptr %ps, %c1024 : !tile.ptr<f32>, i32
    %qt = tile.splat %qs : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
    %qi = tile.addptr %qt, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    tile.store %qi, %y : (tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>) -> ()
  } {tile.num_stages = 3 : i32}
  return
}

// As many iterations at a time as there are stages but one, with the loads of the next ones in front.
// CHECK-LABEL: func.func @iterations
// CHECK-COUNT-3: tile.load
// CHECK: scf.for unsigned {{.*}} iter_args(%[[X:[^ ]*]] = {{.*}}, %[[Y:[^ ]*]] = {{.*}}, %[[Z:[^ ]*]] = {{[^)]*}})
// CHECK: %[[U:.*]] = tile.load
// CHECK: %[[V:.*]] = tile.load
// CHECK: %[[W:.*]] = tile.load
// CHECK: tile.reduce(%[[X]])
// CHECK: tile.store
// CHECK: scf.if
// CHECK: tile.reduce(%[[Y]])
// CHECK: tile.store
// CHECK: scf.if
// CHECK: tile.reduce(%[[Z]])
// CHECK: scf.yield %[[U]], %[[V]], %[[W]]
func.func @iterations(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32, %a: i32 {tile.divisibility = 16 : i32}) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %i = tile.arange 0, 128 : tensor<128xi32>
  scf.for %row = %c0 to %n step %c1 : i32 {
    %start = arith.muli %row, %a : i32
    %ps = tile.addptr %p, %start : !tile.ptr<f32>, i32
    %pt = tile.splat %ps : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
    %pi = tile.addptr %pt, %i : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
    %x = tile.load %pi : (tensor<128x!tile.ptr<f32>>) -> tensor<128xf32>
    %m = tile.reduce(%x) axis 0 : (tensor<128xf32>) -> f32 {
    ^bb0(%l: f32, %r: f32):
      %max = arith.maxnumf %l, %r : f32
      tile.yield %max : f32
    }
    %at = tile.addptr %q, %row : !tile.ptr<f32>, i32
    tile.store %at, %m : (!tile.ptr<f32>, f32) -> ()
  } {tile.num_stages = 4 : i32}
  return
}

// Where the kernel has a mask, its elements are as they would be without the loads ahead.
// CHECK-LABEL: func.func @masked_iterations
// CHECK-COUNT-3: tile.load
// CHECK: scf.for unsigned
// CHECK-NOT: other
// CHECK: return
func.func @masked_iterations(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32, %a: i32 {tile.divisibility = 16 : i32}) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %i = tile.arange 0, 128 : tensor<128xi32>
  %end = tile.splat %a : i32 -> tensor<128xi32>
  %mask = arith.cmpi slt, %i, %end : tensor<128xi32>
  scf.for %row = %c0 to %n step %c1 : i32 {
    %start = arith.muli %row, %a : i32
    %ps = tile.addptr %p, %start : !tile.ptr<f32>, i32
    %pt = tile.splat %ps : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
    %pi = tile.addptr %pt, %i : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
    %x = tile.load %pi mask %mask : (tensor<128x!tile.ptr<f32>>, tensor<128xi1>) -> tensor<128xf32>
    %m = tile.reduce(%x) axis 0 : (tensor<128xf32>) -> f32 {
    ^bb0(%l: f32, %r: f32):
      %max = arith.maxnumf %l, %r : f32
      tile.yield %max : f32
    }
    %at = tile.addptr %q, %row : !tile.ptr<f32>, i32
    tile.store %at, %m : (!tile.ptr<f32>, f32) -> ()
  } {tile.num_stages = 4 : i32}
  return
}

// With loads of three iterations a processor would have registers for 7 of these blocks, not for 16.
// CHECK-LABEL: func.func @many_blocks
// CHECK-COUNT-1: tile.load
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{[^ ]*}} iter_args(%{{[^ ,]*}} = %{{[^ ,]*}})
func.func @many_blocks(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32, %a: i32 {tile.divisibility = 16 : i32}) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %i = tile.arange 0, 1024 : tensor<1024xi32>
  scf.for %row = %c0 to %n step %c1 : i32 {
    %start = arith.muli %row, %a : i32
    %ps = tile.addptr %p, %start : !tile.ptr<f32>, i32
    %pt = tile.splat %ps : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
    %pi = tile.addptr %pt, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %x = tile.load %pi : (tensor<1024x!tile.ptr<f32>>) -> tensor<1024xf32>
    %m = tile.reduce(%x) axis 0 : (tensor<1024xf32>) -> f32 {
    ^bb0(%l: f32, %r: f32):
      %max = arith.maxnumf %l, %r : f32
      tile.yield %max : f32
    }
    %at = tile.addptr %q, %row : !tile.ptr<f32>, i32
    tile.store %at, %m : (!tile.ptr<f32>, f32) -> ()
  } {tile.num_stages = 4 : i32}
  return
}

// A warp by itself that carries a state: it waits for each step, and nothing hides that.
// CHECK-LABEL: func.func @state(
// CHECK: } else {
// CHECK: %[[FIRST:.*]] = tile.load
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[NOW:.*]] = %[[FIRST]])
// CHECK: %[[NEXT:.*]] = tile.load
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %[[NOW]]
// CHECK: tile.reduce
// CHECK: scf.yield %[[SUM]], %[[NEXT]]
func.func @state(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %n: i32) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %none = arith.constant dense<0.0> : tensor<32xf32>
  %i = tile.arange 0, 32 : tensor<32xi32>
  %s = scf.for %row = %c0 to %n step %c1 iter_args(%h = %none) -> (tensor<32xf32>) : i32 {
    %start = arith.muli %row, %c32 : i32
    %ps = tile.addptr %p, %start : !tile.ptr<f32>, i32
    %pt = tile.splat %ps : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
    %pi = tile.addptr %pt, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
    %x = tile.load %pi : (tensor<32x!tile.ptr<f32>>) -> tensor<32xf32>
    %next = arith.addf %h, %x : tensor<32xf32>
    %sum = tile.reduce(%next) axis 0 : (tensor<32xf32>) -> f32 {
    ^bb0(%l: f32, %r: f32):
      %t = arith.addf %l, %r : f32
      tile.yield %t : f32
    }
    %qi = tile.addptr %q, %row : !tile.ptr<f32>, i32
    tile.store %qi, %sum : (!tile.ptr<f32>, f32) -> ()
    scf.yield %next : tensor<32xf32>
  }
  return
}

// More warps hide each other's waits.
// CHECK-LABEL: func.func @state_of_warps
// CHECK-NOT: scf.if
// CHECK: scf.for {{.*}} iter_args(%{{[^,]*}}) -> (tensor<4x32xf32
func.func @state_of_warps(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %n: i32) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %none = arith.constant dense<0.0> : tensor<4x32xf32>
  %r = tile.arange 0, 4 : tensor<4xi32>
  %r1 = tile.expand_dims %r, 1 : tensor<4xi32> -> tensor<4x1xi32>
  %i = tile.arange 0, 32 : tensor<32xi32>
  %s = scf.for %row = %c0 to %n step %c1 iter_args(%h = %none) -> (tensor<4x32xf32>) : i32 {
    %start = arith.muli %row, %c32 : i32
    %ps = tile.addptr %p, %start : !tile.ptr<f32>, i32
    %pt = tile.splat %ps : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
    %pi = tile.addptr %pt, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
    %x = tile.load %pi : (tensor<32x!tile.ptr<f32>>) -> tensor<32xf32>
    %x1 = tile.expand_dims %x, 0 : tensor<32xf32> -> tensor<1x32xf32>
    %x2 = tile.broadcast %x1 : tensor<1x32xf32> -> tensor<4x32xf32>
    %next = arith.addf %h, %x2 : tensor<4x32xf32>
    %sum = tile.reduce(%next) axis 1 : (tensor<4x32xf32>) -> tensor<4xf32> {
    ^bb0(%l: f32, %rr: f32):
      %t = arith.addf %l, %rr : f32
      tile.yield %t : f32
    }
    %qs = tile.addptr %q, %row : !tile.ptr<f32>, i32
    %qt = tile.splat %qs : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
    %qi = tile.addptr %qt, %r : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
    tile.store %qi, %sum : (tensor<4x!tile.ptr<f32>>, tensor<4xf32>) -> ()
    scf.yield %next : tensor<4x32xf32>
  }
  return
}

// A loop that only reads a little loads for four iterations at once; those that there are not read
// nothing, and are left out.
// CHECK-LABEL: func.func @together
// CHECK: %[[WHOLE:.*]] = arith.andi
// CHECK: scf.if %[[WHOLE]]
// CHECK: %[[GROUPS:.*]] = arith.select
// CHECK: scf.for unsigned %[[GROUP:.*]] = %{{.*}} to %[[GROUPS]] step
// CHECK: %[[BEHIND:.*]] = arith.subi
// CHECK: %[[X:.*]] = tile.load %{{[^ ]*}} :
// CHECK: %[[SECOND:.*]] = arith.cmpi uge, %[[BEHIND]]
// CHECK: %[[MASK:.*]] = tile.splat %[[SECOND]] : i1
// CHECK: %[[Y:.*]] = tile.load %{{.*}} mask %[[MASK]]
// CHECK-COUNT-2: tile.load %{{.*}} mask
// CHECK-NOT: tile.load
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %[[X]]
// CHECK: %[[MORE:.*]] = arith.cmpi uge, %[[BEHIND]]
// CHECK: scf.if %[[MORE]]
// CHECK: arith.addf %[[SUM]], %[[Y]]
// CHECK: scf.if
// CHECK: scf.if
// CHECK: } else {
// CHECK: } else {
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[SUM]]
// CHECK: } else {
// CHECK-NEXT: scf.for %{{.*}} to %{{[^ ]*}} step
// CHECK-NEXT: tile.splat
// CHECK: return
func.func @together(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f32>, %n: i32) attributes {tile.kernel, tile.num_warps = 8 : i32} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 256 : i32
  %none = arith.constant dense<0.0> : tensor<256xf32>
  %i = tile.arange 0, 256 : tensor<256xi32>
  %pt = tile.splat %p : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %total = scf.for %start = %zero to %n step %step iter_args(%sum = %none) -> (tensor<256xf32>) : i32 {
    %at = tile.splat %start : i32 -> tensor<256xi32>
    %index = arith.addi %at, %i : tensor<256xi32>
    %pi = tile.addptr %pt, %index : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
    %x = tile.load %pi : (tensor<256x!tile.ptr<f32>>) -> tensor<256xf32>
    %next = arith.addf %sum, %x : tensor<256xf32>
    scf.yield %next : tensor<256xf32>
  }
  %qt = tile.splat %q : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %qi = tile.addptr %qt, %i : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  tile.store %qi, %total : (tensor<256x!tile.ptr<f32>>, tensor<256xf32>) -> ()
  return
}

// Behind the last iteration what it divides by is zero: no address is computed there.
// CHECK-LABEL: func.func @ownDivisor
// CHECK: scf.for
// CHECK: arith.divui
// CHECK: tile.load
// CHECK-NOT: tile.load
// CHECK: return
func.func @ownDivisor(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f32>, %n: i32) attributes {tile.kernel, tile.num_warps = 8 : i32} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 256 : i32
  %none = arith.constant dense<0.0> : tensor<256xf32>
  %i = tile.arange 0, 256 : tensor<256xi32>
  %pt = tile.splat %p : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %total = scf.for %start = %zero to %n step %step iter_args(%sum = %none) -> (tensor<256xf32>) : i32 {
    %left = arith.subi %n, %start : i32
    %part = arith.divui %start, %left : i32
    %at = tile.splat %part : i32 -> tensor<256xi32>
    %index = arith.addi %at, %i : tensor<256xi32>
    %pi = tile.addptr %pt, %index : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
    %x = tile.load %pi : (tensor<256x!tile.ptr<f32>>) -> tensor<256xf32>
    %next = arith.addf %sum, %x : tensor<256xf32>
    scf.yield %next : tensor<256xf32>
  }
  %qt = tile.splat %q : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %qi = tile.addptr %qt, %i : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  tile.store %qi, %total : (tensor<256x!tile.ptr<f32>>, tensor<256xf32>) -> ()
  return
}

// Wide accesses are as they were.
// CHECK-LABEL: func.func @wide
// CHECK: scf.for
// CHECK: tile.load
// CHECK-NOT: tile.load
// CHECK: return
func.func @wide(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f32>, %n: i32) attributes {tile.kernel, tile.num_warps = 8 : i32} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 1024 : i32
  %none = arith.constant dense<0.0> : tensor<1024xf32>
  %i = tile.arange 0, 1024 : tensor<1024xi32>
  %pt = tile.splat %p : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %total = scf.for %start = %zero to %n step %step iter_args(%sum = %none) -> (tensor<1024xf32>) : i32 {
    %at = tile.splat %start : i32 -> tensor<1024xi32>
    %index = arith.addi %at, %i : tensor<1024xi32>
    %pi = tile.addptr %pt, %index : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %x = tile.load %pi : (tensor<1024x!tile.ptr<f32>>) -> tensor<1024xf32>
    %next = arith.addf %sum, %x : tensor<1024xf32>
    scf.yield %next : tensor<1024xf32>
  }
  %qt = tile.splat %q : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %qi = tile.addptr %qt, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  tile.store %qi, %total : (tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>) -> ()
  return
}

// 64 bytes a thread are 16 registers, in four accesses.
// CHECK-LABEL: func.func @bytes
// CHECK: %[[FIRST:.*]] = tile.load
// CHECK: scf.for {{.*}} = %[[FIRST]])
// CHECK: return
func.func @bytes(%p: !tile.ptr<i8> {tile.divisibility = 16 : i32}, %q: !tile.ptr<i8> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 8192 : i32
  %none = arith.constant dense<0> : tensor<8192xi8>
  %i = tile.arange 0, 8192 : tensor<8192xi32>
  %apart = arith.constant dense<1> : tensor<8192xi32>
  %pt = tile.splat %p : !tile.ptr<i8> -> tensor<8192x!tile.ptr<i8>>
  %total = scf.for %start = %zero to %n step %step iter_args(%sum = %none) -> (tensor<8192xi8>) : i32 {
    %at = tile.splat %start : i32 -> tensor<8192xi32>
    %index = arith.addi %at, %i : tensor<8192xi32>
    %place = arith.muli %index, %apart : tensor<8192xi32>
    %pi = tile.addptr %pt, %place : tensor<8192x!tile.ptr<i8>>, tensor<8192xi32>
    %x = tile.load %pi : (tensor<8192x!tile.ptr<i8>>) -> tensor<8192xi8>
    %next = arith.addi %sum, %x : tensor<8192xi8>
    scf.yield %next : tensor<8192xi8>
  }
  %qt = tile.splat %q : !tile.ptr<i8> -> tensor<8192x!tile.ptr<i8>>
  %qi = tile.addptr %qt, %i : tensor<8192x!tile.ptr<i8>>, tensor<8192xi32>
  tile.store %qi, %total : (tensor<8192x!tile.ptr<i8>>, tensor<8192xi8>) -> ()
  return
}

// The same in 64 accesses hide each other's wait.
// CHECK-LABEL: func.func @single_bytes
// CHECK-NOT: tile.load
// CHECK: scf.for
// CHECK: tile.load
// CHECK: return
func.func @single_bytes(%p: !tile.ptr<i8> {tile.divisibility = 16 : i32}, %q: !tile.ptr<i8> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 8192 : i32
  %none = arith.constant dense<0> : tensor<8192xi8>
  %i = tile.arange 0, 8192 : tensor<8192xi32>
  %apart = arith.constant dense<3> : tensor<8192xi32>
  %pt = tile.splat %p : !tile.ptr<i8> -> tensor<8192x!tile.ptr<i8>>
  %total = scf.for %start = %zero to %n step %step iter_args(%sum = %none) -> (tensor<8192xi8>) : i32 {
    %at = tile.splat %start : i32 -> tensor<8192xi32>
    %index = arith.addi %at, %i : tensor<8192xi32>
    %place = arith.muli %index, %apart : tensor<8192xi32>
    %pi = tile.addptr %pt, %place : tensor<8192x!tile.ptr<i8>>, tensor<8192xi32>
    %x = tile.load %pi : (tensor<8192x!tile.ptr<i8>>) -> tensor<8192xi8>
    %next = arith.addi %sum, %x : tensor<8192xi8>
    scf.yield %next : tensor<8192xi8>
  }
  %qt = tile.splat %q : !tile.ptr<i8> -> tensor<8192x!tile.ptr<i8>>
  %qi = tile.addptr %qt, %i : tensor<8192x!tile.ptr<i8>>, tensor<8192xi32>
  tile.store %qi, %total : (tensor<8192x!tile.ptr<i8>>, tensor<8192xi8>) -> ()
  return
}

// What other programs have written by then is read in its iteration, and what comes behind it behind it.
// CHECK-LABEL: func.func @asks
// CHECK-NOT: tile.load
// CHECK: scf.for
// CHECK: tile.load {{.*}} {cache = #tile.cache<cv>}
// CHECK: tile.load
// CHECK-NOT: tile.load
// CHECK: return
func.func @asks(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f32>, %n: i32) attributes {tile.kernel, tile.num_warps = 8 : i32} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 256 : i32
  %none = arith.constant dense<0.0> : tensor<256xf32>
  %i = tile.arange 0, 256 : tensor<256xi32>
  %pt = tile.splat %p : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %qt = tile.splat %q : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %qi = tile.addptr %qt, %i : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  %total = scf.for %start = %zero to %n step %step iter_args(%sum = %none) -> (tensor<256xf32>) : i32 {
    %at = tile.splat %start : i32 -> tensor<256xi32>
    %index = arith.addi %at, %i : tensor<256xi32>
    %pi = tile.addptr %pt, %index : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
    %asked = tile.load %qi {cache = #tile.cache<cv>} : (tensor<256x!tile.ptr<f32>>) -> tensor<256xf32>
    %x = tile.load %pi : (tensor<256x!tile.ptr<f32>>) -> tensor<256xf32>
    %both = arith.mulf %asked, %x : tensor<256xf32>
    %next = arith.addf %sum, %both : tensor<256xf32>
    scf.yield %next : tensor<256xf32>
  }
  tile.store %qi, %total : (tensor<256x!tile.ptr<f32>>, tensor<256xf32>) -> ()
  return
}

// 128 registers of an iteration and as many of the next one are more than threads have.
// CHECK-LABEL: func.func @wideRows
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} : i32 {
// CHECK-NOT: scf.for
func.func @wideRows(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32, %a: i32 {tile.divisibility = 16 : i32}) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %first = tile.program_id 0 : i32
  %step = tile.num_programs 0 : i32
  %i = tile.arange 0, 16384 : tensor<16384xi32>
  scf.for %row = %first to %n step %step : i32 {
    %start = arith.muli %row, %a : i32
    %ps = tile.addptr %p, %start : !tile.ptr<f32>, i32
    %pt = tile.splat %ps : !tile.ptr<f32> -> tensor<16384x!tile.ptr<f32>>
    %pi = tile.addptr %pt, %i : tensor<16384x!tile.ptr<f32>>, tensor<16384xi32>
    %x = tile.load %pi : (tensor<16384x!tile.ptr<f32>>) -> tensor<16384xf32>
    %m = tile.reduce(%x) axis 0 : (tensor<16384xf32>) -> f32 {
    ^bb0(%l: f32, %r: f32):
      %max = arith.maxnumf %l, %r : f32
      tile.yield %max : f32
    }
    %qs = tile.addptr %q, %row : !tile.ptr<f32>, i32
    tile.store %qs, %m : (!tile.ptr<f32>, f32) -> ()
  }
  return
}
