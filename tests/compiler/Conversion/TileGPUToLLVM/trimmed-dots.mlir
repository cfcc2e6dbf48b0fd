// Products of warp groups stop where their tiles are known to hold nothing more (kiln-trim-dots).
// RUN: kiln-opt %s --kiln-tilegpu-to-llvm | FileCheck %s

#a = #tilegpu.layout<"register: 0,1 8,0 0,8 0,16 0,32; lane: 0,2 0,4 1,0 2,0 4,0; warp: 16,0 32,0; block: -> 64x64">
#c = #tilegpu.layout<"register: 0,1 8,0 0,8 0,16 0,32 0,64; lane: 0,2 0,4 1,0 2,0 4,0; warp: 16,0 32,0; block: -> 64x128">
!buffer = !tilegpu.buffer<64x128xf16, #tilegpu.shared<"offset: 0,1 0,2 0,4 0,8 0,16 0,32 1,8 2,16 4,32 8,0 16,0 32,0 0,64 -> 64x128">>
!sum = tensor<64x128xf32, #c>

module attributes {tilegpu.target = "cuda:sm_90a"} {
// Three of four steps along k, 96 of 128 columns: 48 of a thread's 64 sums.
// CHECK-LABEL: @trimmed
// CHECK: %{{[0-9]+}}:48 = tilegpu.wgmma a({{.*}}) b(%{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}) into({{.*}} n = 96 : i32
func.func @trimmed(%out: !tile.ptr<f32> {tile.divisibility = 16 : i32}) attributes {tile.kernel, tile.num_warps = 4 : i32, tilegpu.shared_bytes = 16384 : i32} {
  %x = arith.constant dense<1.0> : tensor<64x64xf16, #a>
  %zero = arith.constant dense<0.0> : !sum
  %b = tilegpu.alloc {tilegpu.offset = 0 : i32} : !buffer
  %d = tilegpu.dot %x, %b, %zero unit <"wgmma.m64n128k16.f16.f32", warps 1 x 1> {tile.used_depth = 40 : i32, tile.used_columns = 90 : i32}
      : (tensor<64x64xf16, #a>, !buffer, !sum) -> !sum
  %p = tile.splat %out : !tile.ptr<f32> -> tensor<64x128x!tile.ptr<f32>, #c>
  tile.store %p, %d : (tensor<64x128x!tile.ptr<f32>, #c>, !sum) -> ()
  return
}
}
