// CDNA: barriers that need no comparison of arguments.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-insert-barriers))" %s | FileCheck %s

#l = #tilegpu.layout<"register: ; lane: 1 2 4 8 16 32; warp: 64; block: -> 128">
#one = #tilegpu.layout<"register: ; lane: 1 2 4 8 16 32; warp: ; block: -> 64">

module attributes {tilegpu.target = "hip:gfx942"} {
// One wave meets at no cost.
// CHECK-LABEL: func.func @one_wave
// CHECK-NOT: arith.cmpi
// CHECK: tilegpu.barrier{{$}}
// CHECK-NEXT: tile.store
func.func @one_wave(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.num_warps = 1 : i32} {
  %r = tile.arange 0, 64 : tensor<64xi32, #one>
  %c63 = arith.constant dense<63> : tensor<64xi32, #one>
  %back = arith.subi %c63, %r : tensor<64xi32, #one>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #one>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #one>
  %ax = tile.addptr %px, %back : tensor<64x!tile.ptr<f32>, #one>, tensor<64xi32, #one>
  %ay = tile.addptr %py, %r : tensor<64x!tile.ptr<f32>, #one>, tensor<64xi32, #one>
  %v = tile.load %ax : (tensor<64x!tile.ptr<f32>, #one>) -> tensor<64xf32, #one>
  tile.store %ay, %v : (tensor<64x!tile.ptr<f32>, #one>, tensor<64xf32, #one>) -> ()
  return
}

// Several do where two comparisons would be more than meeting once, ahead of what is stored.
// CHECK-LABEL: func.func @once
// CHECK-NOT: arith.cmpi
// CHECK: tilegpu.barrier{{$}}
// CHECK-NEXT: tile.store
func.func @once(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %z: !tile.ptr<f32>) attributes {tile.num_warps = 2 : i32} {
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

// Not for one comparison, and not again and again.
// CHECK-LABEL: func.func @two_arguments
// CHECK: tilegpu.barrier if
func.func @two_arguments(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.num_warps = 2 : i32} {
  %r = tile.arange 0, 128 : tensor<128xi32, #l>
  %c127 = arith.constant dense<127> : tensor<128xi32, #l>
  %back = arith.subi %c127, %r : tensor<128xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  %ax = tile.addptr %px, %back : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
  %ay = tile.addptr %py, %r : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
  %v = tile.load %ax : (tensor<128x!tile.ptr<f32>, #l>) -> tensor<128xf32, #l>
  tile.store %ay, %v : (tensor<128x!tile.ptr<f32>, #l>, tensor<128xf32, #l>) -> ()
  return
}

// CHECK-LABEL: func.func @in_a_loop
// CHECK: scf.for
// CHECK-NOT: tilegpu.barrier{{$}}
// CHECK: return
func.func @in_a_loop(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %z: !tile.ptr<f32>, %n: i32) attributes {tile.num_warps = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tile.arange 0, 128 : tensor<128xi32, #l>
  %c127 = arith.constant dense<127> : tensor<128xi32, #l>
  %back = arith.subi %c127, %r : tensor<128xi32, #l>
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  %pz = tile.splat %z : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #l>
  %ax = tile.addptr %px, %back : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
  %ay = tile.addptr %py, %back : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
  %az = tile.addptr %pz, %r : tensor<128x!tile.ptr<f32>, #l>, tensor<128xi32, #l>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %v = tile.load %ax : (tensor<128x!tile.ptr<f32>, #l>) -> tensor<128xf32, #l>
    %w = tile.load %ay : (tensor<128x!tile.ptr<f32>, #l>) -> tensor<128xf32, #l>
    %s = arith.addf %v, %w : tensor<128xf32, #l>
    tile.store %az, %s : (tensor<128x!tile.ptr<f32>, #l>, tensor<128xf32, #l>) -> ()
  }
  return
}
}
