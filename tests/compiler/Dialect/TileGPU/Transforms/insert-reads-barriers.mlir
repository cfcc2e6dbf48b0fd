// RDNA: barriers that order reads before writes, and nothing else.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-insert-barriers))" %s | FileCheck %s

#l = #tilegpu.layout<"register: ; lane: 1 2 4 8 16; warp: 32 64; block: -> 128">
#w = #tilegpu.layout<"register: ; lane: 1 2 4 8 16; warp: ; block: -> 32">

module attributes {tilegpu.target = "hip:gfx1100"} {
// What was read is written in another order; what was written is not read but behind a full one.
// CHECK-LABEL: func.func @in_place
// CHECK: tile.load
// CHECK: tilegpu.barrier of_reads{{$}}
// CHECK-NEXT: tile.store
// CHECK: tilegpu.barrier{{$}}
// CHECK-NEXT: tile.load
// CHECK: return
func.func @in_place(%x: !tile.ptr<f32>) -> tensor<128xf32, #l> attributes {tile.num_warps = 4 : i32} {
  %r = tile.arange 0, 128 : tensor<128xi32, #l>
  %c127 = arith.constant dense<127> : tensor<128xi32, #l>
  %back = arith.subi %c127, %r : tensor<128xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  %ax = tile.addptr %px, %r : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
  %bx = tile.addptr %px, %back : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
  %v = tile.load %bx : (tensor<128x!tile.ptr<f32>, #l>) -> tensor<128xf32, #l>
  tile.store %ax, %v : (tensor<128x!tile.ptr<f32>, #l>, tensor<128xf32, #l>) -> ()
  %w = tile.load %bx : (tensor<128x!tile.ptr<f32>, #l>) -> tensor<128xf32, #l>
  return %w : tensor<128xf32, #l>
}

// Several waves meet where comparisons would be more, if reads alone are ordered.
// CHECK-LABEL: func.func @once
// CHECK-NOT: arith.cmpi
// CHECK: tilegpu.barrier of_reads{{$}}
// CHECK-NEXT: tile.store
func.func @once(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %z: !tile.ptr<f32>) attributes {tile.num_warps = 4 : i32} {
  %r = tile.arange 0, 128 : tensor<128xi32, #l>
  %c127 = arith.constant dense<127> : tensor<128xi32, #l>
  %back = arith.subi %c127, %r : tensor<128xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  %pz = tile.splat %z : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  %ax = tile.addptr %px, %back : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
  %ay = tile.addptr %py, %back : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
  %az = tile.addptr %pz, %r : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
  %v = tile.load %ax : (tensor<128x!tile.ptr<f32>, #l>) -> tensor<128xf32, #l>
  %w = tile.load %ay : (tensor<128x!tile.ptr<f32>, #l>) -> tensor<128xf32, #l>
  %s = arith.addf %v, %w : tensor<128xf32, #l>
  tile.store %az, %s : (tensor<128x!tile.ptr<f32>, #l>, tensor<128xf32, #l>) -> ()
  return
}

// Not where what they write meets.
// CHECK-LABEL: func.func @writes
// CHECK: tilegpu.barrier if
func.func @writes(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %z: !tile.ptr<f32>) attributes {tile.num_warps = 4 : i32} {
  %r = tile.arange 0, 128 : tensor<128xi32, #l>
  %c127 = arith.constant dense<127> : tensor<128xi32, #l>
  %back = arith.subi %c127, %r : tensor<128xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  %pz = tile.splat %z : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  %ax = tile.addptr %px, %back : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
  %ay = tile.addptr %py, %back : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
  %az = tile.addptr %pz, %r : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
  %v = tile.load %ax : (tensor<128x!tile.ptr<f32>, #l>) -> tensor<128xf32, #l>
  tile.store %ay, %v : (tensor<128x!tile.ptr<f32>, #l>, tensor<128xf32, #l>) -> ()
  tile.store %az, %v : (tensor<128x!tile.ptr<f32>, #l>, tensor<128xf32, #l>) -> ()
  return
}

// One wave meets whatever the arguments, as it waits for nothing.
// CHECK-LABEL: func.func @one_wave
// CHECK-NOT: arith.cmpi
// CHECK: tilegpu.barrier{{$}}
func.func @one_wave(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %z: !tile.ptr<f32>) attributes {tile.num_warps = 1 : i32} {
  %r = tile.arange 0, 32 : tensor<32xi32, #w>
  %c31 = arith.constant dense<31> : tensor<32xi32, #w>
  %back = arith.subi %c31, %r : tensor<32xi32, #w>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #w>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #w>
  %pz = tile.splat %z : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #w>
  %ax = tile.addptr %px, %back : tensor<32x!tile.ptr<f32>, #w>, tensor<32xi32, #w>
  %ay = tile.addptr %py, %back : tensor<32x!tile.ptr<f32>, #w>, tensor<32xi32, #w>
  %az = tile.addptr %pz, %r : tensor<32x!tile.ptr<f32>, #w>, tensor<32xi32, #w>
  %v = tile.load %ax : (tensor<32x!tile.ptr<f32>, #w>) -> tensor<32xf32, #w>
  tile.store %ay, %v : (tensor<32x!tile.ptr<f32>, #w>, tensor<32xf32, #w>) -> ()
  tile.store %az, %v : (tensor<32x!tile.ptr<f32>, #w>, tensor<32xf32, #w>) -> ()
  return
}
}
