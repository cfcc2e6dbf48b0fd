// Where memory serves a warp's accesses in order, an exchange of each warp with itself has no barrier.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-insert-barriers))" %s | FileCheck %s

#rows = #tilegpu.layout<"register: 0,1 0,2 0,4 0,8 0,32; lane: 1,0 2,0 4,0 8,0 16,0 0,16; warp: 32,0; block: -> 64x64">
#columns = #tilegpu.layout<"register: 1,0 2,0 4,0 8,0 0,32; lane: 0,1 0,2 0,4 0,8 16,0 0,16; warp: 32,0; block: -> 64x64">
#across = #tilegpu.layout<"register: 1,0 2,0 4,0 8,0 0,32; lane: 0,1 0,2 0,4 0,8 32,0 0,16; warp: 16,0; block: -> 64x64">
#l = #tilegpu.layout<"register: ; lane: 1 2 4 8 16 32; warp: 64; block: -> 128">
#s = #tilegpu.shared<"offset: 1 2 4 8 16 32 64 -> 128">

module attributes {tilegpu.target = "hip:gfx942"} {
// Neither of its own nor for the next iteration, whole and in slices.
// CHECK-LABEL: func.func @loop
// CHECK-NOT: tilegpu.barrier
// CHECK: return
func.func @loop(%x: tensor<64x64xf32, #rows>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    %y = tilegpu.convert_layout %x {tilegpu.offset = 0 : i32} : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
    %z = tilegpu.convert_layout %x {tilegpu.offset = 16384 : i32, tilegpu.slices = 2 : i32} : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
  }
  return
}

// It does not separate other accesses, either, and what it writes is not to be read by others before.
// CHECK-LABEL: func.func @others
// CHECK: shared_store
// CHECK-NEXT: convert_layout
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: shared_load
// CHECK-NEXT: convert_layout
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: convert_layout
// CHECK-NEXT: return
func.func @others(%x: tensor<64x64xf32, #rows>, %v: tensor<128xf32, #l>) {
  %b = tilegpu.alloc {tilegpu.offset = 16384 : i32} : !tilegpu.buffer<128xf32, #s>
  tilegpu.shared_store %v, %b : tensor<128xf32, #l>, !tilegpu.buffer<128xf32, #s>
  %y = tilegpu.convert_layout %x {tilegpu.offset = 0 : i32} : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
  %w = tilegpu.shared_load %b : !tilegpu.buffer<128xf32, #s> -> tensor<128xf32, #l>
  %z = tilegpu.convert_layout %x {tilegpu.offset = 0 : i32} : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
  %u = tilegpu.convert_layout %x {tilegpu.offset = 0 : i32} : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #across>
  return
}
}
