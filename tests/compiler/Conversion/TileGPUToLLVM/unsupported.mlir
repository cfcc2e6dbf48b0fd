// What is not supported yet is an error at the operation, once.
// RUN: kiln-opt %s --kiln-tilegpu-to-llvm --split-input-file --verify-diagnostics

#l = #tilegpu.layout<"register: 1; lane: 2 4 8 16 32; warp: 0 0; block: -> 64">
module attributes {tilegpu.target = "cuda:sm_90a"} {
func.func @small_floats(%p: !tile.ptr<f8E4M3B11FNUZ>) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %x = tile.splat %p : !tile.ptr<f8E4M3B11FNUZ> -> tensor<64x!tile.ptr<f8E4M3B11FNUZ>, #l>
  %v = tile.load %x : (tensor<64x!tile.ptr<f8E4M3B11FNUZ>, #l>) -> tensor<64xf8E4M3B11FNUZ, #l>
  // expected-error @+1 {{'arith.addf' of 8-bit floats is not supported on cuda:sm_90a yet}}
  %w = arith.addf %v, %v : tensor<64xf8E4M3B11FNUZ, #l>
  tile.store %x, %w : (tensor<64x!tile.ptr<f8E4M3B11FNUZ>, #l>, tensor<64xf8E4M3B11FNUZ, #l>) -> ()
  return
}
}

// -----
module attributes {tilegpu.target = "hip:gfx942"} {
func.func @asynchronous() attributes {tile.kernel, tile.num_warps = 4 : i32} {
  // expected-error @+1 {{an asynchronous copy is not supported on hip:gfx942 yet}}
  tilegpu.commit
  return
}
}

// -----
#a = #tilegpu.layout<"register: 1; lane: 2 4 8 16 32; warp: 0 0; block: -> 64">
#b = #tilegpu.layout<"register: 32; lane: 1 2 4 8 16; warp: 0 0; block: -> 64">
module attributes {tilegpu.target = "hip:gfx1100"} {
func.func @layouts_apart(%p: !tile.ptr<i32>) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %r = tile.arange 0, 64 : tensor<64xi32, #a>
  // expected-error @+1 {{expected layouts between which registers only change names}}
  %s = tile.reshape %r : tensor<64xi32, #a> -> tensor<64xi32, #b>
  %q = tile.splat %p : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>, #b>
  tile.store %q, %s : (tensor<64x!tile.ptr<i32>, #b>, tensor<64xi32, #b>) -> ()
  return
}
}

// -----
#a = #tilegpu.layout<"register: ; lane: 1 2 4 8 16; warp: 32 64; block: -> 128">
module attributes {tilegpu.target = "hip:gfx1100"} {
func.func @no_scratch(%p: !tile.ptr<i32>) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %r = tile.arange 0, 128 : tensor<128xi32, #a>
  // expected-error @+1 {{needs scratch in shared memory, but allocation gave it none}}
  %s = tile.reduce (%r) axis 0 : (tensor<128xi32, #a>) -> i32 {
  ^bb0(%l: i32, %u: i32):
    %t = arith.addi %l, %u : i32
    tile.yield %t : i32
  }
  tile.store %p, %s : (!tile.ptr<i32>, i32) -> ()
  return
}
}
