// Rows do not reach into each other where their columns are below the stride, by a mask or by a comparison of arguments.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-find-row-ends,kiln-insert-barriers))" %s | FileCheck %s

#l = #tilegpu.layout<"register: 4,0 8,0; lane: 0,1 0,2 0,4 0,8 0,16 0,32; warp: 1,0 2,0; block: -> 16x64">
#r = #tilegpu.layout<"register: 4 8; lane: 0 0 0 0 0 0; warp: 1 2; block: -> 16">
#c = #tilegpu.layout<"register:; lane: 1 2 4 8 16 32; warp: 0 0; block: -> 64">
#r1 = #tilegpu.layout<"register: 4,0 8,0; lane: 0,0 0,0 0,0 0,0 0,0 0,0; warp: 1,0 2,0; block: -> 16x1">
#w = #tilegpu.layout<"register:; lane: 1 2 4 8 16 32; warp: 64 128; block: -> 256">
#c1 = #tilegpu.layout<"register:; lane: 0,1 0,2 0,4 0,8 0,16 0,32; warp: 0,0 0,0; block: -> 1x64">

module attributes {tilegpu.target = "hip:gfx942"} {
// CHECK-LABEL: func.func @sameNumber
// CHECK-NOT: tilegpu.barrier
// CHECK: tile.store {{.*}}tilegpu.row_ends = array<i32: 1, 1>
// CHECK-NOT: tilegpu.barrier
// CHECK: return
func.func @sameNumber(%y: !tile.ptr<f32>, %n: i32, %stride: i32, %m: i32) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %one = arith.constant dense<1.0> : tensor<16x64xf32, #l>
  %zero = arith.constant 0 : i32
  %step = arith.constant 64 : i32
  %i = tile.arange 0, 16 : tensor<16xi32, #r>
  %j = tile.arange 0, 64 : tensor<64xi32, #c>
  %s = tile.splat %n : i32 -> tensor<16xi32, #r>
  %is = arith.muli %i, %s : tensor<16xi32, #r>
  %ir = tile.expand_dims %is, 1 : tensor<16xi32, #r> -> tensor<16x1xi32, #r1>
  %base = tile.splat %y : !tile.ptr<f32> -> tensor<16x1x!tile.ptr<f32>, #r1>
  %rows = tile.addptr %base, %ir : tensor<16x1x!tile.ptr<f32>, #r1>, tensor<16x1xi32, #r1>
  %all = tile.broadcast %rows : tensor<16x1x!tile.ptr<f32>, #r1> -> tensor<16x64x!tile.ptr<f32>, #l>
  %end = tile.splat %n : i32 -> tensor<64xi32, #c>
  scf.for %k = %zero to %n step %step : i32 {
    %ks = tile.splat %k : i32 -> tensor<64xi32, #c>
    %kj = arith.addi %ks, %j : tensor<64xi32, #c>
    %below = arith.cmpi slt, %kj, %end : tensor<64xi32, #c>
    %b1 = tile.expand_dims %below, 0 : tensor<64xi1, #c> -> tensor<1x64xi1, #c1>
    %mask = tile.broadcast %b1 : tensor<1x64xi1, #c1> -> tensor<16x64xi1, #l>
    %kj1 = tile.expand_dims %kj, 0 : tensor<64xi32, #c> -> tensor<1x64xi32, #c1>
    %columns = tile.broadcast %kj1 : tensor<1x64xi32, #c1> -> tensor<16x64xi32, #l>
    %p = tile.addptr %all, %columns : tensor<16x64x!tile.ptr<f32>, #l>, tensor<16x64xi32, #l>
    tile.store %p, %one mask %mask : (tensor<16x64x!tile.ptr<f32>, #l>, tensor<16x64xf32, #l>, tensor<16x64xi1, #l>) -> ()
  }
  return
}

// CHECK-LABEL: func.func @stride
// CHECK: %[[LESS:.*]] = arith.cmpi slt, %arg2, %arg1 : i32
// CHECK: tilegpu.barrier if %[[LESS]]
// CHECK-NEXT: tile.store {{.*}}tilegpu.row_ends = array<i32: 2, 1>
// CHECK: return
func.func @stride(%y: !tile.ptr<f32>, %n: i32, %stride: i32, %m: i32) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %one = arith.constant dense<1.0> : tensor<16x64xf32, #l>
  %zero = arith.constant 0 : i32
  %step = arith.constant 64 : i32
  %i = tile.arange 0, 16 : tensor<16xi32, #r>
  %j = tile.arange 0, 64 : tensor<64xi32, #c>
  %s = tile.splat %stride : i32 -> tensor<16xi32, #r>
  %is = arith.muli %i, %s : tensor<16xi32, #r>
  %ir = tile.expand_dims %is, 1 : tensor<16xi32, #r> -> tensor<16x1xi32, #r1>
  %base = tile.splat %y : !tile.ptr<f32> -> tensor<16x1x!tile.ptr<f32>, #r1>
  %rows = tile.addptr %base, %ir : tensor<16x1x!tile.ptr<f32>, #r1>, tensor<16x1xi32, #r1>
  %all = tile.broadcast %rows : tensor<16x1x!tile.ptr<f32>, #r1> -> tensor<16x64x!tile.ptr<f32>, #l>
  %end = tile.splat %n : i32 -> tensor<64xi32, #c>
  scf.for %k = %zero to %n step %step : i32 {
    %ks = tile.splat %k : i32 -> tensor<64xi32, #c>
    %kj = arith.addi %ks, %j : tensor<64xi32, #c>
    %below = arith.cmpi slt, %kj, %end : tensor<64xi32, #c>
    %b1 = tile.expand_dims %below, 0 : tensor<64xi1, #c> -> tensor<1x64xi1, #c1>
    %mask = tile.broadcast %b1 : tensor<1x64xi1, #c1> -> tensor<16x64xi1, #l>
    %kj1 = tile.expand_dims %kj, 0 : tensor<64xi32, #c> -> tensor<1x64xi32, #c1>
    %columns = tile.broadcast %kj1 : tensor<1x64xi32, #c1> -> tensor<16x64xi32, #l>
    %p = tile.addptr %all, %columns : tensor<16x64x!tile.ptr<f32>, #l>, tensor<16x64xi32, #l>
    tile.store %p, %one mask %mask : (tensor<16x64x!tile.ptr<f32>, #l>, tensor<16x64xf32, #l>, tensor<16x64xi1, #l>) -> ()
  }
  return
}

// CHECK-LABEL: func.func @fromBelowZero
// CHECK: tilegpu.barrier{{$}}
// CHECK-NEXT: tile.store
// CHECK-NOT: row_ends
// CHECK: return
func.func @fromBelowZero(%y: !tile.ptr<f32>, %n: i32, %stride: i32, %m: i32) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %one = arith.constant dense<1.0> : tensor<16x64xf32, #l>
  %zero = arith.constant -64 : i32
  %step = arith.constant 64 : i32
  %i = tile.arange 0, 16 : tensor<16xi32, #r>
  %j = tile.arange 0, 64 : tensor<64xi32, #c>
  %s = tile.splat %n : i32 -> tensor<16xi32, #r>
  %is = arith.muli %i, %s : tensor<16xi32, #r>
  %ir = tile.expand_dims %is, 1 : tensor<16xi32, #r> -> tensor<16x1xi32, #r1>
  %base = tile.splat %y : !tile.ptr<f32> -> tensor<16x1x!tile.ptr<f32>, #r1>
  %rows = tile.addptr %base, %ir : tensor<16x1x!tile.ptr<f32>, #r1>, tensor<16x1xi32, #r1>
  %all = tile.broadcast %rows : tensor<16x1x!tile.ptr<f32>, #r1> -> tensor<16x64x!tile.ptr<f32>, #l>
  %end = tile.splat %n : i32 -> tensor<64xi32, #c>
  scf.for %k = %zero to %n step %step : i32 {
    %ks = tile.splat %k : i32 -> tensor<64xi32, #c>
    %kj = arith.addi %ks, %j : tensor<64xi32, #c>
    %below = arith.cmpi slt, %kj, %end : tensor<64xi32, #c>
    %b1 = tile.expand_dims %below, 0 : tensor<64xi1, #c> -> tensor<1x64xi1, #c1>
    %mask = tile.broadcast %b1 : tensor<1x64xi1, #c1> -> tensor<16x64xi1, #l>
    %kj1 = tile.expand_dims %kj, 0 : tensor<64xi32, #c> -> tensor<1x64xi32, #c1>
    %columns = tile.broadcast %kj1 : tensor<1x64xi32, #c1> -> tensor<16x64xi32, #l>
    %p = tile.addptr %all, %columns : tensor<16x64x!tile.ptr<f32>, #l>, tensor<16x64xi32, #l>
    tile.store %p, %one mask %mask : (tensor<16x64x!tile.ptr<f32>, #l>, tensor<16x64xf32, #l>, tensor<16x64xi1, #l>) -> ()
  }
  return
}


// Rows that iterations are, each of which all warps store: from every so manieth on, as many as there are programs.
// CHECK-LABEL: func.func @rowsOfPrograms
// CHECK: %[[OVERLAP:.*]] = arith.cmpi slt, %arg2, %arg3 : i32
// CHECK: scf.for
// CHECK: tilegpu.barrier if %[[OVERLAP]]
// CHECK: tile.store {{.*}}tilegpu.row_ends = array<i32: 2, 3>
// CHECK-NOT: tilegpu.barrier
// CHECK: return

func.func @rowsOfPrograms(%y: !tile.ptr<f32>, %rows: i32, %stride: i32, %n: i32) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %one = arith.constant dense<1.0> : tensor<256xf32, #w>
  %program = tile.program_id 0 : i32
  %programs = tile.num_programs 0 : i32
  %j = tile.arange 0, 256 : tensor<256xi32, #w>
  %end = tile.splat %n : i32 -> tensor<256xi32, #w>
  %mask = arith.cmpi slt, %j, %end : tensor<256xi32, #w>
  scf.for %row = %program to %rows step %programs : i32 {
    %first = arith.muli %row, %stride : i32
    %base = tile.addptr %y, %first : !tile.ptr<f32>, i32
    %bases = tile.splat %base : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #w>
    %p = tile.addptr %bases, %j : tensor<256x!tile.ptr<f32>, #w>, tensor<256xi32, #w>
    tile.store %p, %one mask %mask : (tensor<256x!tile.ptr<f32>, #w>, tensor<256xf32, #w>, tensor<256xi1, #w>) -> ()
  }
  return
}
}
