// Offsets for what lives together, reuse for what does not.
// RUN: kiln-opt --pass-pipeline="builtin.module(func.func(kiln-allocate-shared-memory))" --split-input-file --verify-diagnostics %s | FileCheck %s

#rows = #tilegpu.layout<"register: 0,1 0,2 0,4 0,8 0,16; lane: 1,0 2,0 4,0 8,0 16,0; warp: 0,0; block: -> 32x32">
#columns = #tilegpu.layout<"register: 1,0 2,0 4,0 8,0 16,0; lane: 0,1 0,2 0,4 0,8 0,16; warp: 0,0; block: -> 32x32">
#rowsOfOne = #tilegpu.layout<"register: 0,1 0,2 0,4 0,8 0,16; lane: 1,0 2,0 4,0 8,0 16,0; warp:; block: -> 32x32">
#columnsOfOne = #tilegpu.layout<"register: 1,0 2,0 4,0 8,0 16,0; lane: 0,1 0,2 0,4 0,8 0,16; warp:; block: -> 32x32">
#warps = #tilegpu.layout<"register: ; lane: 1 2 4 8 16; warp: 32; block: -> 64">
#rowsInTurn = #tilegpu.layout<"register: 2,0 4,0 8,0; lane: 0,1 0,2 0,4 0,8 0,16; warp: 1,0; block: -> 16x32">
#lanes = #tilegpu.layout<"register:; lane: 1 2 4 8 16; warp: 0; block: -> 32">
#swapped = #tilegpu.layout<"register: ; lane: 32 2 4 8 16; warp: 1; block: -> 64">
#plain = #tilegpu.shared<"offset: 1 2 4 8 16 32 -> 64">

module attributes {tilegpu.target = "cuda:sm_80"} {
// Scratch of one after the other shares; a conversion within a warp needs none.
// CHECK-LABEL: func.func @scratch
// CHECK-SAME: tilegpu.shared_bytes = 256 : i32
func.func @scratch(%x: tensor<64xf32, #warps>, %t: tensor<32x32xf32, #rows>) -> (tensor<64xf32, #warps>, tensor<32x32xf32, #columns>) {
  // CHECK: convert_layout %{{.*}} {tilegpu.offset = 0 : i32}
  %y = tilegpu.convert_layout %x : tensor<64xf32, #warps> -> tensor<64xf32, #swapped>
  %e = math.exp %y : tensor<64xf32, #swapped>
  // CHECK: convert_layout %{{.*}} {tilegpu.offset = 0 : i32}
  %z = tilegpu.convert_layout %e : tensor<64xf32, #swapped> -> tensor<64xf32, #warps>
  // CHECK: convert_layout %{{[a-z0-9]*}} : tensor<32x32xf32
  %c = tilegpu.convert_layout %t : tensor<32x32xf32, #rows> -> tensor<32x32xf32, #columns>
  return %z, %c : tensor<64xf32, #warps>, tensor<32x32xf32, #columns>
}

// A block of one warp goes through memory, too, where shuffles would need selects.
// CHECK-LABEL: func.func @oneWarp
// CHECK-SAME: tilegpu.shared_bytes = 4096 : i32
func.func @oneWarp(%t: tensor<32x32xf32, #rowsOfOne>) -> tensor<32x32xf32, #columnsOfOne> {
  // CHECK: convert_layout %{{.*}} {tilegpu.offset = 0 : i32}
  %c = tilegpu.convert_layout %t : tensor<32x32xf32, #rowsOfOne> -> tensor<32x32xf32, #columnsOfOne>
  return %c : tensor<32x32xf32, #columnsOfOne>
}

// A buffer used in a loop that it is outside of lives to the loop's end.
// CHECK-LABEL: func.func @buffers
// CHECK-SAME: tilegpu.shared_bytes = 768 : i32
func.func @buffers(%x: tensor<64xf32, #warps>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // CHECK: tilegpu.alloc {tilegpu.offset = [[A:[0-9]+]] : i32}
  %a = tilegpu.alloc : !tilegpu.buffer<64xf32, #plain>
  tilegpu.shared_store %x, %a : tensor<64xf32, #warps>, !tilegpu.buffer<64xf32, #plain>
  scf.for %i = %zero to %n step %one {
    %v = tilegpu.shared_load %a : !tilegpu.buffer<64xf32, #plain> -> tensor<64xf32, #swapped>
    // CHECK-NOT: tilegpu.offset = [[A]] :
    // CHECK: convert_layout %{{.*}} {tilegpu.offset = {{[0-9]+}} : i32}
    %w = tilegpu.convert_layout %v : tensor<64xf32, #swapped> -> tensor<64xf32, #warps>
    // CHECK: tilegpu.alloc {tilegpu.offset = {{[0-9]+}} : i32}
    %b = tilegpu.alloc : !tilegpu.buffer<64xf32, #plain>
    tilegpu.shared_store %w, %b : tensor<64xf32, #warps>, !tilegpu.buffer<64xf32, #plain>
  }
  return
}

// Warps share the axis: the reduction exchanges partial sums.
// CHECK-LABEL: func.func @reduce
// CHECK: tile.reduce(%{{.*}}) axis 0 {tilegpu.offset = 0 : i32}
func.func @reduce(%x: tensor<64xf32, #warps>) -> f32 {
  %s = tile.reduce (%x) axis 0 : (tensor<64xf32, #warps>) -> f32 {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tile.yield %t : f32
  }
  return %s : f32
}

// Rows of two warps that are neighbours, eight of each: of a sum each warp has one total, where the order counts a thread's eight are exchanged.
// CHECK-LABEL: func.func @inAnyOrder
// CHECK-SAME: tilegpu.shared_bytes = 256 : i32
func.func @inAnyOrder(%x: tensor<16x32xf32, #rowsInTurn>) -> tensor<32xf32, #lanes> {
  %s = tile.reduce (%x) axis 0 : (tensor<16x32xf32, #rowsInTurn>) -> tensor<32xf32, #lanes> {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tile.yield %t : f32
  }
  return %s : tensor<32xf32, #lanes>
}
// CHECK-LABEL: func.func @inOrder
// CHECK-SAME: tilegpu.shared_bytes = 2048 : i32
func.func @inOrder(%x: tensor<16x32xf32, #rowsInTurn>) -> tensor<32xf32, #lanes> {
  %s = tile.reduce (%x) axis 0 : (tensor<16x32xf32, #rowsInTurn>) -> tensor<32xf32, #lanes> {
  ^bb0(%l: f32, %r: f32):
    %t = arith.subf %l, %r : f32
    tile.yield %t : f32
  }
  return %s : tensor<32xf32, #lanes>
}
}

// -----
#plain = #tilegpu.shared<"offset: 1 2 4 8 16 32 64 128 256 512 1024 2048 4096 8192 16384 -> 32768">
module attributes {tilegpu.target = "hip:gfx942"} {
// expected-error @+1 {{expected at most 65536 bytes of shared memory on hip:gfx942, got 131072}}
func.func @tooLarge() {
  // expected-note @+1 {{the largest part, 131072 bytes, is needed here}}
  %a = tilegpu.alloc : !tilegpu.buffer<32768xf32, #plain>
  return
}
}

// -----
#rows = #tilegpu.layout<"register: 0,1 0,2 2,0 4,0 8,0 16,0 32,0 64,0 128,0; lane: 0,4 0,8 0,16 0,32 0,64; warp: 0,128 1,0; block: -> 256x256">
#columns = #tilegpu.layout<"register: 1,0 2,0 0,2 0,4 0,8 0,16 0,32 0,64 0,128; lane: 4,0 8,0 16,0 32,0 64,0; warp: 128,0 0,1; block: -> 256x256">

module attributes {tilegpu.target = "hip:gfx1100"} {
// 262144 bytes are needed, 65536 there: registers tell four slices apart.
// CHECK-LABEL: func.func @slices
// CHECK-SAME: tilegpu.shared_bytes = 65536 : i32
func.func @slices(%x: tensor<256x256xf32, #rows>) -> tensor<256x256xf32, #columns> {
  // CHECK: convert_layout %{{.*}} {tilegpu.offset = 0 : i32, tilegpu.slices = 4 : i32}
  %y = tilegpu.convert_layout %x : tensor<256x256xf32, #rows> -> tensor<256x256xf32, #columns>
  return %y : tensor<256x256xf32, #columns>
}
}

// -----
#rows = #tilegpu.layout<"register: 0,1 0,2 2,0 4,0 8,0 16,0 32,0 64,0 128,0; lane: 0,4 0,8 0,16 0,32 0,64; warp: 0,128 1,0; block: -> 256x256">
#columns = #tilegpu.layout<"register: 1,0 2,0 0,2 0,4 0,8 0,16 0,32 0,64 0,128; lane: 4,0 8,0 16,0 32,0 64,0; warp: 128,0 0,1; block: -> 256x256">

module attributes {tilegpu.target = "hip:gfx1100"} {
// With 64 bits each not even that is enough.
// expected-error @+1 {{expected at most 65536 bytes of shared memory on hip:gfx1100, got 131072}}
func.func @tooLargeInSlices(%x: tensor<256x256xf64, #rows>) -> tensor<256x256xf64, #columns> {
  // expected-note @+1 {{the largest part, 131072 bytes, is needed here}}
  %y = tilegpu.convert_layout %x : tensor<256x256xf64, #rows> -> tensor<256x256xf64, #columns>
  return %y : tensor<256x256xf64, #columns>
}
}

// -----
#rows = #tilegpu.layout<"register: 0,1 0,2 0,4 32,0 64,0; lane: 0,8 0,16 1,0 2,0 4,0; warp: 8,0 16,0; block: -> 128x32">
#columns = #tilegpu.layout<"register: 1,0 2,0 4,0 32,0 64,0; lane: 0,1 0,2 0,4 0,8 0,16; warp: 16,0 8,0; block: -> 128x32">

module attributes {tilegpu.target = "hip:gfx1100", tilegpu.shared_limit = 5000 : i32} {
// As far as the module asks for it.
// CHECK-LABEL: func.func @asked
// CHECK-SAME: tilegpu.shared_bytes = 4096 : i32
func.func @asked(%x: tensor<128x32xf32, #rows>) -> tensor<128x32xf32, #columns> {
  // CHECK: convert_layout %{{.*}} {tilegpu.offset = 0 : i32, tilegpu.slices = 4 : i32}
  %y = tilegpu.convert_layout %x : tensor<128x32xf32, #rows> -> tensor<128x32xf32, #columns>
  return %y : tensor<128x32xf32, #columns>
}
}

// -----
#rows = #tilegpu.layout<"register: 0,1 0,2 0,4 32,0 64,0; lane: 0,8 0,16 0,32 1,0 2,0 4,0; warp: 8,0 16,0; block: -> 128x64">
#columns = #tilegpu.layout<"register: 1,0 2,0 4,0 32,0 64,0; lane: 0,1 0,2 0,4 0,8 0,16 0,32; warp: 16,0 8,0; block: -> 128x64">
#plain = #tilegpu.shared<"offset: 1 2 4 8 16 32 64 128 256 512 1024 2048 4096 -> 8192">
#inARow = #tilegpu.layout<"register: 1 2 1024 2048 4096; lane: 4 8 16 32 64 128; warp: 256 512; block: -> 8192">

module attributes {tilegpu.target = "hip:gfx942"} {
// A processor has registers for eight blocks: each has an eighth of the memory.
// CHECK-LABEL: func.func @once
// CHECK-SAME: tilegpu.shared_bytes = 8192 : i32
func.func @once(%x: tensor<128x64xf32, #rows>) -> tensor<128x64xf32, #columns> {
  // CHECK: convert_layout %{{.*}} {tilegpu.offset = 0 : i32, tilegpu.slices = 4 : i32}
  %y = tilegpu.convert_layout %x : tensor<128x64xf32, #rows> -> tensor<128x64xf32, #columns>
  return %y : tensor<128x64xf32, #columns>
}

// Not so where a buffer takes as much anyhow, at another time.
// CHECK-LABEL: func.func @besideAsMuch
// CHECK-SAME: tilegpu.shared_bytes = 32768 : i32
func.func @besideAsMuch(%x: tensor<128x64xf32, #rows>) -> tensor<128x64xf32, #columns> {
  %a = tilegpu.alloc : !tilegpu.buffer<8192xf32, #plain>
  %z = tilegpu.shared_load %a : !tilegpu.buffer<8192xf32, #plain> -> tensor<8192xf32, #inARow>
  // CHECK: convert_layout
  // CHECK-NOT: slices
  // CHECK: return
  %y = tilegpu.convert_layout %x : tensor<128x64xf32, #rows> -> tensor<128x64xf32, #columns>
  return %y : tensor<128x64xf32, #columns>
}

// Not so where a loop would wait between the slices in each of its iterations.
// CHECK-LABEL: func.func @often
// CHECK-SAME: tilegpu.shared_bytes = 32768 : i32
func.func @often(%x: tensor<128x64xf32, #rows>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // CHECK: scf.for
  scf.for %i = %zero to %n step %one {
    // CHECK-NOT: slices
    %y = tilegpu.convert_layout %x : tensor<128x64xf32, #rows> -> tensor<128x64xf32, #columns>
  }
  // CHECK: return
  return
}

// One block is all that a processor holds with the loop's buffers: the conversion's scratch may
// have the rest, so that no warp waits for those that still read the buffers.
// CHECK-LABEL: func.func @asManyBlocks
// CHECK-SAME: tilegpu.shared_bytes = 65536 : i32
func.func @asManyBlocks(%x: tensor<128x64xf16, #rows>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    %y = tilegpu.convert_layout %x : tensor<128x64xf16, #rows> -> tensor<128x64xf16, #columns>
    %a = tilegpu.alloc : !tilegpu.buffer<8192xf32, #plain>
    %b = tilegpu.alloc : !tilegpu.buffer<8192xf16, #plain>
    %z = tilegpu.shared_load %a : !tilegpu.buffer<8192xf32, #plain> -> tensor<8192xf32, #inARow>
    %w = tilegpu.shared_load %b : !tilegpu.buffer<8192xf16, #plain> -> tensor<8192xf16, #inARow>
  }
  return
}

// Not so where a second block would have no room.
// CHECK-LABEL: func.func @fewerBlocks
// CHECK-SAME: tilegpu.shared_bytes = 32768 : i32
func.func @fewerBlocks(%x: tensor<128x64xf16, #rows>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    %y = tilegpu.convert_layout %x : tensor<128x64xf16, #rows> -> tensor<128x64xf16, #columns>
    %a = tilegpu.alloc : !tilegpu.buffer<8192xf32, #plain>
    %z = tilegpu.shared_load %a : !tilegpu.buffer<8192xf32, #plain> -> tensor<8192xf32, #inARow>
  }
  return
}

// Nor where the conversion is around another loop, and so less often there.
// CHECK-LABEL: func.func @aroundALoop
// CHECK-SAME: tilegpu.shared_bytes = 8192 : i32
func.func @aroundALoop(%x: tensor<128x64xi8, #rows>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    scf.for %j = %zero to %n step %one {
      %a = tilegpu.alloc : !tilegpu.buffer<8192xi8, #plain>
      %z = tilegpu.shared_load %a : !tilegpu.buffer<8192xi8, #plain> -> tensor<8192xi8, #inARow>
    }
    %y = tilegpu.convert_layout %x : tensor<128x64xi8, #rows> -> tensor<128x64xi8, #columns>
  }
  return
}
}

// -----
module {
// expected-error @+1 {{expected the module to have 'tilegpu.target', got none}}
func.func @noTarget() { return }
}
