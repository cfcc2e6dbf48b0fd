// Grid-stride loops, whose steps are multiples of the number of programs: lanes move, and base and bytes are the same in all
// iterations, as where the step is a constant.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-peel-loops,kiln-use-buffers),canonicalize)" %s | FileCheck %s

#l = #tilegpu.layout<"register: 1 2; lane: 4 8 16 32 64 128; warp: ; block: -> 256">

module attributes {tilegpu.target = "hip:gfx942"} {
// CHECK-LABEL: func.func @elements
// CHECK-SAME: (%[[X:.*]]: !tile.ptr<f32> {{.*}}, %[[N:[a-z0-9]+]]: i32)
// CHECK: %[[FIRST:.*]] = arith.muli
// CHECK: scf.for %[[K:[a-z0-9]+]] = %[[FIRST]] to %[[N]]
// CHECK: %[[BASE:.*]] = tile.bitcast %{{.*}} -> !tile.ptr<f32>
// CHECK: %[[MOVED:.*]] = arith.subi %[[K]], %[[FIRST]]
// CHECK: %[[START:.*]] = arith.muli %[[MOVED]]
// CHECK: tilegpu.buffer_store %{{.*}}, %[[BASE]] bytes %{{[a-z0-9_]+}} start %[[START]] strides [4] axis 0 vector 4
func.func @elements(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel, tile.small_arrays} {
  %size = arith.constant 256 : i32
  %v = arith.constant dense<1.0> : tensor<256xf32, #l>
  %program = tile.program_id 0 : i32
  %programs = tile.num_programs 0 : i32
  %first = arith.muli %program, %size : i32
  %step = arith.muli %programs, %size : i32
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  %ns = tile.splat %n : i32 -> tensor<256xi32, #l>
  scf.for %k = %first to %n step %step : i32 {
    %ks = tile.splat %k : i32 -> tensor<256xi32, #l>
    %at = arith.addi %ks, %r : tensor<256xi32, #l>
    %m = arith.cmpi slt, %at, %ns : tensor<256xi32, #l>
    %a = tile.addptr %px, %at : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
    tile.store %a, %v mask %m : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xf32, #l>, tensor<256xi1, #l>) -> ()
  }
  return
}

// Of numbers of tiles, a begun one included: t * 256 < n. A program may have a run of them alone.
// CHECK-LABEL: func.func @tiles
// CHECK: scf.for
// CHECK: tilegpu.buffer_store %{{.*}} start %{{.*}} strides [4] axis 0 vector 4
// CHECK: scf.for
// CHECK: tilegpu.buffer_store %{{.*}} start %{{.*}} strides [4] axis 0 vector 4
func.func @tiles(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32, %most: i32) attributes {tile.kernel, tile.small_arrays} {
  %one = arith.constant 1 : i32
  %size = arith.constant 256 : i32
  %less = arith.constant 255 : i32
  %v = arith.constant dense<1.0> : tensor<256xf32, #l>
  %program = tile.program_id 0 : i32
  %programs = tile.num_programs 0 : i32
  %more = arith.addi %n, %less : i32
  %tiles = arith.divsi %more, %size : i32
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  %ns = tile.splat %n : i32 -> tensor<256xi32, #l>
  scf.for %t = %program to %tiles step %programs : i32 {
    %k = arith.muli %t, %size : i32
    %ks = tile.splat %k : i32 -> tensor<256xi32, #l>
    %at = arith.addi %ks, %r : tensor<256xi32, #l>
    %m = arith.cmpi slt, %at, %ns : tensor<256xi32, #l>
    %a = tile.addptr %px, %at : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
    tile.store %a, %v mask %m : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xf32, #l>, tensor<256xi1, #l>) -> ()
  }
  %end = arith.minsi %most, %tiles : i32
  scf.for %t = %program to %end step %one : i32 {
    %k = arith.muli %t, %size : i32
    %ks = tile.splat %k : i32 -> tensor<256xi32, #l>
    %at = arith.addi %ks, %r : tensor<256xi32, #l>
    %m = arith.cmpi slt, %at, %ns : tensor<256xi32, #l>
    %a = tile.addptr %py, %at : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
    tile.store %a, %v mask %m : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xf32, #l>, tensor<256xi1, #l>) -> ()
  }
  return
}

// Two tiles more than there are whole ones: the last may begin behind the end.
// CHECK-LABEL: func.func @more_tiles
// CHECK: scf.for
// CHECK-NOT: start
// CHECK: return
func.func @more_tiles(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel, tile.small_arrays} {
  %size = arith.constant 256 : i32
  %more = arith.constant 511 : i32
  %v = arith.constant dense<1.0> : tensor<256xf32, #l>
  %program = tile.program_id 0 : i32
  %programs = tile.num_programs 0 : i32
  %sum = arith.addi %n, %more : i32
  %tiles = arith.divsi %sum, %size : i32
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  %ns = tile.splat %n : i32 -> tensor<256xi32, #l>
  scf.for %t = %program to %tiles step %programs : i32 {
    %k = arith.muli %t, %size : i32
    %ks = tile.splat %k : i32 -> tensor<256xi32, #l>
    %at = arith.addi %ks, %r : tensor<256xi32, #l>
    %m = arith.cmpi slt, %at, %ns : tensor<256xi32, #l>
    %a = tile.addptr %px, %at : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
    tile.store %a, %v mask %m : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xf32, #l>, tensor<256xi1, #l>) -> ()
  }
  return
}

// 16-bit floats of any number, of which a bound may divide a word: the last iteration alone asks.
// CHECK-LABEL: func.func @halves
// CHECK: scf.if
// CHECK: scf.for
// CHECK-NOT: arith.cmpi
// CHECK: tile.store %{{[0-9]+}}, %{{[a-z0-9_]+}} :
// CHECK: }
// CHECK: arith.cmpi slt
// CHECK: tile.store %{{.*}} mask
func.func @halves(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel, tile.small_arrays} {
  %size = arith.constant 256 : i32
  %v = arith.constant dense<1.0> : tensor<256xf16, #l>
  %program = tile.program_id 0 : i32
  %programs = tile.num_programs 0 : i32
  %first = arith.muli %program, %size : i32
  %step = arith.muli %programs, %size : i32
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %px = tile.splat %x : !tile.ptr<f16> -> tensor<256x!tile.ptr<f16>, #l>
  %ns = tile.splat %n : i32 -> tensor<256xi32, #l>
  scf.for %k = %first to %n step %step : i32 {
    %ks = tile.splat %k : i32 -> tensor<256xi32, #l>
    %at = arith.addi %ks, %r : tensor<256xi32, #l>
    %m = arith.cmpi slt, %at, %ns : tensor<256xi32, #l>
    %a = tile.addptr %px, %at : tensor<256x!tile.ptr<f16>, #l>, tensor<256xi32, #l>
    tile.store %a, %v mask %m : (tensor<256x!tile.ptr<f16>, #l>, tensor<256xf16, #l>, tensor<256xi1, #l>) -> ()
  }
  return
}

// Of an even number none does.
// CHECK-LABEL: func.func @pairs
// CHECK-NOT: scf.if
// CHECK: scf.for
// CHECK: tilegpu.buffer_store %{{.*}} start %{{.*}} strides [2] axis 0 vector 4
// CHECK: return
func.func @pairs(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %n: i32 {tile.divisibility = 2 : i32}) attributes {tile.kernel, tile.small_arrays} {
  %size = arith.constant 256 : i32
  %v = arith.constant dense<1.0> : tensor<256xf16, #l>
  %program = tile.program_id 0 : i32
  %programs = tile.num_programs 0 : i32
  %first = arith.muli %program, %size : i32
  %step = arith.muli %programs, %size : i32
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %px = tile.splat %x : !tile.ptr<f16> -> tensor<256x!tile.ptr<f16>, #l>
  %ns = tile.splat %n : i32 -> tensor<256xi32, #l>
  scf.for %k = %first to %n step %step : i32 {
    %ks = tile.splat %k : i32 -> tensor<256xi32, #l>
    %at = arith.addi %ks, %r : tensor<256xi32, #l>
    %m = arith.cmpi slt, %at, %ns : tensor<256xi32, #l>
    %a = tile.addptr %px, %at : tensor<256x!tile.ptr<f16>, #l>, tensor<256xi32, #l>
    tile.store %a, %v mask %m : (tensor<256x!tile.ptr<f16>, #l>, tensor<256xf16, #l>, tensor<256xi1, #l>) -> ()
  }
  return
}

// Offsets that a loop carries, whose last iteration stands behind it: both have the array's beginning as their base, which
// is one for what both write.
// CHECK-LABEL: func.func @behind
// CHECK-SAME: (%[[X:[a-z0-9]+]]: !tile.ptr<f32>
// CHECK: scf.if
// CHECK: scf.for
// CHECK: tilegpu.buffer_store %{{.*}}, %[[X]] bytes %{{[a-z0-9_]+}} start
// CHECK: }
// CHECK: tilegpu.buffer_store %{{.*}}, %[[X]] bytes %{{[a-z0-9_]+}} start
func.func @behind(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel, tile.small_arrays} {
  %one = arith.constant 1 : i32
  %size = arith.constant 256 : i32
  %v = arith.constant dense<1.0> : tensor<256xf32, #l>
  %program = tile.program_id 0 : i32
  %programs = tile.num_programs 0 : i32
  %first = arith.muli %program, %size : i32
  %step = arith.muli %programs, %size : i32
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  %ns = tile.splat %n : i32 -> tensor<256xi32, #l>
  %firsts = tile.splat %first : i32 -> tensor<256xi32, #l>
  %steps = tile.splat %step : i32 -> tensor<256xi32, #l>
  %begin = arith.addi %firsts, %r : tensor<256xi32, #l>
  %any = arith.cmpi slt, %first, %n : i32
  scf.if %any {
    %span = arith.subi %n, %first : i32
    %before = arith.subi %span, %one : i32
    %count = arith.divui %before, %step : i32
    %moved = arith.muli %count, %step : i32
    %last = arith.addi %first, %moved : i32
    %at = scf.for %k = %first to %last step %step iter_args(%o = %begin) -> (tensor<256xi32, #l>) : i32 {
      %a = tile.addptr %px, %o : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
      tile.store %a, %v : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xf32, #l>) -> ()
      %next = arith.addi %o, %steps : tensor<256xi32, #l>
      scf.yield %next : tensor<256xi32, #l>
    }
    %m = arith.cmpi slt, %at, %ns : tensor<256xi32, #l>
    %a = tile.addptr %px, %at : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
    tile.store %a, %v mask %m : (tensor<256x!tile.ptr<f32>, #l>, tensor<256xf32, #l>, tensor<256xi1, #l>) -> ()
  }
  return
}
}
