// AMD: two versions of loops that hold conditional barriers, not of what runs once.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-version-barriers))" %s | FileCheck %s

#l = #tilegpu.layout<"register: ; lane: 1 2 4 8 16 32; warp: 64; block: -> 128">

module attributes {tilegpu.target = "hip:gfx942"} {
// CHECK-LABEL: func.func @straight
// CHECK: tilegpu.barrier if
// CHECK-NOT: scf.if
// CHECK: return
func.func @straight(%x: tensor<128x!tile.ptr<f32>, #l>, %y: tensor<128x!tile.ptr<f32>, #l>, %same: i1) {
  %v = tile.load %x : (tensor<128x!tile.ptr<f32>, #l>) -> tensor<128xf32, #l>
  tilegpu.barrier if %same
  tile.store %y, %v : (tensor<128x!tile.ptr<f32>, #l>, tensor<128xf32, #l>) -> ()
  return
}

// CHECK-LABEL: func.func @loop
// CHECK: scf.if %arg2 {
// CHECK: scf.for
// CHECK: tilegpu.barrier{{$}}
// CHECK: tile.store
// CHECK: } else {
// CHECK: scf.for
// CHECK-NOT: tilegpu.barrier
// CHECK: tile.store
// CHECK: return
func.func @loop(%x: tensor<128x!tile.ptr<f32>, #l>, %y: tensor<128x!tile.ptr<f32>, #l>, %same: i1, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %v = tile.load %x : (tensor<128x!tile.ptr<f32>, #l>) -> tensor<128xf32, #l>
    tilegpu.barrier if %same
    tile.store %y, %v : (tensor<128x!tile.ptr<f32>, #l>, tensor<128xf32, #l>) -> ()
  }
  return
}
}
