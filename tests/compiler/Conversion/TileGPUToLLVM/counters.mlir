// On CDNA the counter of a loop does not overflow behind its last iteration, so that LLVM need not widen it in each; one without sign may.
// RUN: kiln-opt %s --kiln-tilegpu-to-llvm | FileCheck %s
// RUN: sed 's/gfx942/gfx1100/' %s | kiln-opt --kiln-tilegpu-to-llvm | FileCheck %s --check-prefix=OTHER

module attributes {tilegpu.target = "hip:gfx942"} {
// CHECK-LABEL: llvm.func @signed
// CHECK: llvm.icmp "slt" %[[COUNTER:.*]], %{{.*}} : i32
// CHECK: llvm.add %[[COUNTER]], %{{.*}} overflow<nsw> : i32
// OTHER-NOT: overflow<nsw>
func.func @signed(%p: !tile.ptr<i32>, %n: i32, %step: i32) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %zero = arith.constant 0 : i32
  scf.for %i = %zero to %n step %step : i32 {
    tile.store %p, %i : (!tile.ptr<i32>, i32) -> ()
  }
  func.return
}

// CHECK-LABEL: llvm.func @unsigned
// CHECK: llvm.icmp "ult"
// CHECK-NOT: overflow<nsw>
// CHECK: llvm.return
func.func @unsigned(%p: !tile.ptr<i32>, %n: i32, %step: i32) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %zero = arith.constant 0 : i32
  scf.for unsigned %i = %zero to %n step %step : i32 {
    tile.store %p, %i : (!tile.ptr<i32>, i32) -> ()
  }
  func.return
}
}
