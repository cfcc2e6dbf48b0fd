// On AMD the counter of a loop does not overflow behind its last iteration, so that LLVM need not widen it in each; one without sign may.
// RUN: kiln-opt %s --kiln-tilegpu-to-llvm | FileCheck %s
// RUN: sed 's/gfx942/gfx1100/' %s | kiln-opt --kiln-tilegpu-to-llvm | FileCheck %s
// RUN: sed 's/hip:gfx942/cuda:sm_80/' %s | kiln-opt --kiln-tilegpu-to-llvm | FileCheck %s --check-prefix=OTHER

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

// What runs an iteration ahead adds the same, and so fits too, also where the step is written as a product.
// CHECK-LABEL: llvm.func @ahead
// CHECK: llvm.icmp "slt" %[[COUNTER:.*]], %{{.*}} : i32
// CHECK-COUNT-2: llvm.add %[[COUNTER]], %{{.*}} overflow<nsw> : i32
// CHECK: llvm.add %[[COUNTER]], %{{[^ ]*}} : i32
// CHECK: llvm.add %[[COUNTER]], %{{.*}} overflow<nsw> : i32
// CHECK: llvm.return
func.func @ahead(%p: !tile.ptr<i32>, %n: i32, %other: i32) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %step = arith.constant 32 : i32
  scf.for %i = %zero to %n step %step : i32 {
    %next = arith.addi %i, %step : i32
    tile.store %p, %next : (!tile.ptr<i32>, i32) -> ()
    %by = arith.muli %step, %one : i32
    %also = arith.addi %i, %by : i32
    tile.store %p, %also : (!tile.ptr<i32>, i32) -> ()
    %far = arith.addi %i, %other : i32
    tile.store %p, %far : (!tile.ptr<i32>, i32) -> ()
  }
  func.return
}
}
