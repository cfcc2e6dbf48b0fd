// Targets without products of warp groups say so.
// RUN: kiln-opt %s --kiln-expand-target-operations --split-input-file --verify-diagnostics

module attributes {tilegpu.target = "hip:gfx942"} {
llvm.func @product(%x: i64, %c: f32) {
  // expected-error @+1 {{'tilegpu.wgmma' is not supported on hip:gfx942}}
  %d:4 = tilegpu.wgmma a(%x) b(%x) into(%c, %c, %c, %c) {n = 8 : i32, operand = "bf16", accumulator = "f32"}
      : (i64, i64, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  llvm.return
}
}

// -----
module attributes {tilegpu.target = "cuda:sm_100a"} {
llvm.func @wait(%c: f32) {
  // expected-error @+1 {{'tilegpu.wgmma_wait' is not supported on cuda:sm_100a}}
  %r = tilegpu.wgmma_wait %c pending 0 : f32
  llvm.return
}
}
