// What atomics order, and between whom.
// RUN: sed s/TARGET/cuda:sm_80/ %s | kiln-opt --kiln-tilegpu-to-llvm | FileCheck %s --check-prefix=NVVM
// RUN: sed s/TARGET/hip:gfx942/ %s | kiln-opt --kiln-tilegpu-to-llvm | FileCheck %s --check-prefix=ROCDL

// The PTX back end drops the ordering of atomics, so fences stand around them.
// NVVM: nvvm.barrier0
// NVVM: llvm.fence syncscope("device") release
// NVVM: llvm.atomicrmw add {{.*}} syncscope("device") monotonic
// NVVM: llvm.fence syncscope("device") acquire
// NVVM: nvvm.barrier0
// NVVM-NOT: llvm.fence
// NVVM: llvm.atomicrmw fadd {{.*}} syncscope("block") monotonic
// NVVM-NOT: llvm.fence
// NVVM: llvm.return

// ROCDL: rocdl.barrier
// ROCDL-NOT: llvm.fence
// ROCDL: llvm.atomicrmw add {{.*}} syncscope("agent") acq_rel
// ROCDL: rocdl.barrier
// ROCDL: llvm.atomicrmw fadd {{.*}} syncscope("workgroup") monotonic {{.*}}rocdl.no_fine_grained_memory
module attributes {tilegpu.target = "TARGET"} {
func.func @kernel(%p: !tile.ptr<i32>, %q: !tile.ptr<f32>, %x: f32) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %one = arith.constant 1 : i32
  %a = tile.atomic_rmw <add> %p, %one : (!tile.ptr<i32>, i32) -> i32
  %b = tile.atomic_rmw <fadd> %q, %x {semantic = #tile.semantic<relaxed>, scope = #tile.scope<cta>} : (!tile.ptr<f32>, f32) -> f32
  return
}
}
