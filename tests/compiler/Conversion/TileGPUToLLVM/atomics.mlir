// What atomics order, and between whom.
// RUN: sed s/TARGET/cuda:sm_80/ %s | kiln-opt --kiln-tilegpu-to-llvm --split-input-file | FileCheck %s --check-prefix=NVVM
// RUN: sed s/TARGET/hip:gfx90a/ %s | kiln-opt --kiln-tilegpu-to-llvm --split-input-file | FileCheck %s --check-prefixes=ROCDL,CDNA
// RUN: sed s/TARGET/hip:gfx942/ %s | kiln-opt --kiln-tilegpu-to-llvm --split-input-file | FileCheck %s --check-prefixes=ROCDL,CDNA
// RUN: sed s/TARGET/hip:gfx950/ %s | kiln-opt --kiln-tilegpu-to-llvm --split-input-file | FileCheck %s --check-prefixes=ROCDL,CDNA
// RUN: sed s/TARGET/hip:gfx1100/ %s | kiln-opt --kiln-tilegpu-to-llvm --split-input-file | FileCheck %s --check-prefixes=ROCDL,RDNA
// RUN: sed s/TARGET/hip:gfx1201/ %s | kiln-opt --kiln-tilegpu-to-llvm --split-input-file | FileCheck %s --check-prefixes=ROCDL,RDNA

// Both ways: a barrier before and one behind, and fences around the operation, of its thread. On CDNA
// every wave waits for its stores in front of the first barrier, as that does not.
// NVVM-LABEL: llvm.func @both
// NVVM-NOT: llvm.fence
// NVVM: nvvm.barrier0
// NVVM: llvm.cond_br
// NVVM: llvm.fence syncscope("device") release
// NVVM: llvm.atomicrmw add {{.*}} syncscope("device") monotonic
// NVVM: llvm.fence syncscope("device") acquire
// NVVM: llvm.br
// NVVM: nvvm.barrier0
// NVVM-NOT: llvm.fence
// NVVM: llvm.return

// ROCDL-LABEL: llvm.func @both
// RDNA-NOT: {{llvm.fence|rocdl.s.waitcnt}}
// CDNA: llvm.fence syncscope("workgroup") release
// CDNA-NEXT: rocdl.s.waitcnt 3952
// CDNA-NEXT: rocdl.barrier
// RDNA: rocdl.barrier
// ROCDL: llvm.cond_br
// ROCDL: llvm.fence syncscope("agent") release
// ROCDL: llvm.atomicrmw add {{.*}} syncscope("agent") monotonic
// ROCDL: llvm.fence syncscope("agent") acquire
// ROCDL: llvm.br
// ROCDL: rocdl.barrier
// ROCDL-NOT: llvm.fence
// ROCDL: llvm.return
module attributes {tilegpu.target = "TARGET"} {
func.func @both(%p: !tile.ptr<i32>) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %one = arith.constant 1 : i32
  %a = tile.atomic_rmw <add> %p, %one : (!tile.ptr<i32>, i32) -> i32
  tile.store %p, %one : (!tile.ptr<i32>, i32) -> ()
  return
}
}

// -----
// There is nothing to acquire at the kernel's end, in a branch neither, but in a loop.
// NVVM-LABEL: llvm.func @end
// NVVM: nvvm.barrier0
// NVVM: llvm.fence syncscope("device") release
// NVVM: llvm.atomicrmw add
// NVVM-NOT: llvm.fence
// NVVM-NOT: nvvm.barrier0
// NVVM: llvm.return

// ROCDL-LABEL: llvm.func @end
// ROCDL: llvm.atomicrmw add
// ROCDL-NOT: llvm.fence
// ROCDL-NOT: rocdl.barrier
// ROCDL: llvm.return

// NVVM-LABEL: llvm.func @repeated
// NVVM: llvm.atomicrmw add
// NVVM: llvm.fence syncscope("device") acquire
// NVVM: nvvm.barrier0
module attributes {tilegpu.target = "TARGET"} {
func.func @end(%p: !tile.ptr<i32>, %any: i1) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %one = arith.constant 1 : i32
  scf.if %any {
    %a = tile.atomic_rmw <add> %p, %one : (!tile.ptr<i32>, i32) -> i32
  }
  return
}
func.func @repeated(%p: !tile.ptr<i32>, %n: i32) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %one = arith.constant 1 : i32
  scf.for %i = %one to %n step %one : i32 {
    %a = tile.atomic_rmw <add> %p, %one : (!tile.ptr<i32>, i32) -> i32
  }
  return
}
}

// -----
// The larger float is the larger integer, or, where the operand is negative, the smaller one.
// NVVM-LABEL: llvm.func @extremes
// ROCDL-LABEL: llvm.func @extremes
// NVVM: llvm.atomicrmw umin {{.*}} : !llvm.ptr<1>, i32
// NVVM: llvm.atomicrmw max {{.*}} : !llvm.ptr<1>, i32
// ROCDL: llvm.atomicrmw umin {{.*}} : !llvm.ptr<1>, i32
// ROCDL: llvm.atomicrmw max {{.*}} : !llvm.ptr<1>, i32
// NVVM: llvm.atomicrmw umax {{.*}} : !llvm.ptr<1>, i64
// NVVM: llvm.atomicrmw min {{.*}} : !llvm.ptr<1>, i64
// ROCDL: llvm.atomicrmw umax {{.*}} : !llvm.ptr<1>, i64
// ROCDL: llvm.atomicrmw min {{.*}} : !llvm.ptr<1>, i64
module attributes {tilegpu.target = "TARGET"} {
func.func @extremes(%p: !tile.ptr<f32>, %x: f32, %q: !tile.ptr<f64>, %y: f64) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %a = tile.atomic_rmw <fmax> %p, %x {semantic = #tile.semantic<relaxed>} : (!tile.ptr<f32>, f32) -> f32
  %b = tile.atomic_rmw <fmin> %q, %y {semantic = #tile.semantic<relaxed>} : (!tile.ptr<f64>, f64) -> f64
  return
}
}

// -----
// NVVM-LABEL: llvm.func @release
// NVVM: nvvm.barrier0
// NVVM: llvm.fence release
// NVVM: llvm.atomicrmw xchg
// NVVM-NOT: llvm.fence
// NVVM-NOT: nvvm.barrier0
// NVVM: llvm.return

// ROCDL-LABEL: llvm.func @release
// CDNA: rocdl.s.waitcnt 3952
// ROCDL: rocdl.barrier
// ROCDL: llvm.fence release
// ROCDL: llvm.atomicrmw xchg
// ROCDL-NOT: llvm.fence
// ROCDL-NOT: rocdl.barrier
// ROCDL: llvm.return
module attributes {tilegpu.target = "TARGET"} {
func.func @release(%p: !tile.ptr<i32>) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %one = arith.constant 1 : i32
  %a = tile.atomic_rmw <xchg> %p, %one {semantic = #tile.semantic<release>, scope = #tile.scope<sys>} : (!tile.ptr<i32>, i32) -> i32
  return
}
}

// -----
// NVVM-LABEL: llvm.func @acquire
// NVVM-NOT: nvvm.barrier0
// NVVM-NOT: llvm.fence
// NVVM: llvm.cmpxchg {{.*}} syncscope("block") monotonic monotonic
// NVVM: llvm.fence syncscope("block") acquire
// NVVM: nvvm.barrier0
// NVVM-NOT: llvm.fence
// NVVM: llvm.return

// ROCDL-LABEL: llvm.func @acquire
// ROCDL-NOT: rocdl.barrier
// ROCDL-NOT: llvm.fence
// ROCDL: llvm.cmpxchg {{.*}} syncscope("workgroup") monotonic monotonic
// ROCDL: llvm.fence syncscope("workgroup") acquire
// ROCDL: rocdl.barrier
// ROCDL-NOT: llvm.fence
// ROCDL: llvm.return
module attributes {tilegpu.target = "TARGET"} {
func.func @acquire(%p: !tile.ptr<i32>) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %one = arith.constant 1 : i32
  %a = tile.atomic_cas %p, %one, %one {semantic = #tile.semantic<acquire>, scope = #tile.scope<cta>} : (!tile.ptr<i32>, i32, i32) -> i32
  tile.store %p, %one : (!tile.ptr<i32>, i32) -> ()
  return
}
}

// -----
// A relaxed operation orders nothing. What hardware may drop on other memory than the device's own
// it is permitted only where the kernel promises that there is none.
// NVVM-LABEL: llvm.func @relaxed
// NVVM-NOT: {{llvm.fence|nvvm.barrier0}}
// NVVM: llvm.atomicrmw fadd {{.*}} syncscope("block") monotonic
// NVVM-NOT: {{llvm.fence|nvvm.barrier0}}
// NVVM: llvm.return

// ROCDL-LABEL: llvm.func @relaxed
// ROCDL-NOT: {{llvm.fence|rocdl.barrier}}
// ROCDL: llvm.atomicrmw fadd {{.*}} syncscope("workgroup") monotonic
// ROCDL-NOT: rocdl.no_fine_grained_memory
// ROCDL-NOT: {{llvm.fence|rocdl.barrier}}
// ROCDL: llvm.return
module attributes {tilegpu.target = "TARGET"} {
func.func @relaxed(%q: !tile.ptr<f32>, %x: f32) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %b = tile.atomic_rmw <fadd> %q, %x {semantic = #tile.semantic<relaxed>, scope = #tile.scope<cta>} : (!tile.ptr<f32>, f32) -> f32
  return
}
}

// -----
// NVVM-LABEL: llvm.func @promised
// ROCDL-LABEL: llvm.func @promised
// ROCDL: llvm.atomicrmw fadd {{.*}} rocdl.no_fine_grained_memory, rocdl.no_remote_memory
// ROCDL: llvm.atomicrmw fadd {{.*}} monotonic
// ROCDL-NOT: rocdl.no_fine_grained_memory
// ROCDL: llvm.return
module attributes {tilegpu.target = "TARGET"} {
func.func @promised(%q: !tile.ptr<f32>, %x: f32) attributes {tile.kernel, tile.device_memory, tile.num_warps = 4 : i32} {
  %a = tile.atomic_rmw <fadd> %q, %x {semantic = #tile.semantic<relaxed>} : (!tile.ptr<f32>, f32) -> f32
  %b = tile.atomic_rmw <fadd> %q, %x {semantic = #tile.semantic<relaxed>, scope = #tile.scope<sys>} : (!tile.ptr<f32>, f32) -> f32
  return
}
}

// -----
// Threads that own nothing of a tensor have no fences.
// NVVM-LABEL: llvm.func @owners
// NVVM: nvvm.barrier0
// NVVM-NOT: llvm.fence
// NVVM: llvm.cond_br
// NVVM: llvm.fence syncscope("device") release
// NVVM-NOT: llvm.fence
// NVVM: llvm.return
// ROCDL-LABEL: llvm.func @owners
// ROCDL: llvm.return
#few = #tilegpu.layout<"register:; lane: 1 2 4 8 0; warp: 0 0; block: -> 16">
module attributes {tilegpu.target = "TARGET"} {
func.func @owners(%p: !tile.ptr<f32>, %v: f32) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %i = tile.arange 0, 16 : tensor<16xi32, #few>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>, #few>
  %at = tile.addptr %ps, %i : tensor<16x!tile.ptr<f32>, #few>, tensor<16xi32, #few>
  %vs = tile.splat %v : f32 -> tensor<16xf32, #few>
  %a = tile.atomic_rmw <fadd> %at, %vs : (tensor<16x!tile.ptr<f32>, #few>, tensor<16xf32, #few>) -> tensor<16xf32, #few>
  return
}
}

// -----
// Within the block, and in a block of one wave, nothing waits for stores.
// ROCDL-LABEL: llvm.func @near
// ROCDL-NOT: rocdl.s.waitcnt
// ROCDL: llvm.return
// ROCDL-LABEL: llvm.func @alone
// ROCDL-NOT: rocdl.s.waitcnt
// ROCDL: llvm.return
module attributes {tilegpu.target = "TARGET"} {
func.func @near(%p: !tile.ptr<i32>) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %one = arith.constant 1 : i32
  %a = tile.atomic_rmw <add> %p, %one {scope = #tile.scope<cta>} : (!tile.ptr<i32>, i32) -> i32
  return
}
func.func @alone(%p: !tile.ptr<i32>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %one = arith.constant 1 : i32
  %a = tile.atomic_rmw <add> %p, %one : (!tile.ptr<i32>, i32) -> i32
  return
}
}
