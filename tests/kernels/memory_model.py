# What orders accesses is what LLVM's memory model asks for (docs/memory-model.md), on each target.
#
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "acq_rel", "cta"' -t hip:gfx90a --emit amdgcn | FileCheck %s --check-prefix=GFX90A-ACQ-REL-CTA
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "acq_rel", "gpu"' -t hip:gfx90a --emit amdgcn | FileCheck %s --check-prefix=GFX90A-ACQ-REL-GPU
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "acq_rel", "sys"' -t hip:gfx90a --emit amdgcn | FileCheck %s --check-prefix=GFX90A-ACQ-REL-SYS
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "release", "gpu"' -t hip:gfx90a --emit amdgcn | FileCheck %s --check-prefix=GFX90A-RELEASE-GPU
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "acquire", "gpu"' -t hip:gfx90a --emit amdgcn | FileCheck %s --check-prefix=GFX90A-ACQUIRE-GPU
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "relaxed", "gpu"' -t hip:gfx90a --emit amdgcn | FileCheck %s --check-prefix=GFX90A-RELAXED-GPU
# RUN: kiln compile %s -n global_barrier -s '*i32:16, *i32:16, 256' -t hip:gfx90a --emit amdgcn | FileCheck %s --check-prefix=GFX90A-GLOBAL
# RUN: kiln compile %s -n shared_barrier -s '*i32:16, 256' -t hip:gfx90a --emit amdgcn | FileCheck %s --check-prefix=GFX90A-SHARED
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "acq_rel", "cta"' -t hip:gfx942 --emit amdgcn | FileCheck %s --check-prefix=GFX942-ACQ-REL-CTA
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "acq_rel", "gpu"' -t hip:gfx942 --emit amdgcn | FileCheck %s --check-prefix=GFX942-ACQ-REL-GPU
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "acq_rel", "sys"' -t hip:gfx942 --emit amdgcn | FileCheck %s --check-prefix=GFX942-ACQ-REL-SYS
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "release", "gpu"' -t hip:gfx942 --emit amdgcn | FileCheck %s --check-prefix=GFX942-RELEASE-GPU
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "acquire", "gpu"' -t hip:gfx942 --emit amdgcn | FileCheck %s --check-prefix=GFX942-ACQUIRE-GPU
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "relaxed", "gpu"' -t hip:gfx942 --emit amdgcn | FileCheck %s --check-prefix=GFX942-RELAXED-GPU
# RUN: kiln compile %s -n global_barrier -s '*i32:16, *i32:16, 256' -t hip:gfx942 --emit amdgcn | FileCheck %s --check-prefix=GFX942-GLOBAL
# RUN: kiln compile %s -n shared_barrier -s '*i32:16, 256' -t hip:gfx942 --emit amdgcn | FileCheck %s --check-prefix=GFX942-SHARED
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "acq_rel", "cta"' -t hip:gfx950 --emit amdgcn | FileCheck %s --check-prefix=GFX942-ACQ-REL-CTA
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "acq_rel", "gpu"' -t hip:gfx950 --emit amdgcn | FileCheck %s --check-prefix=GFX942-ACQ-REL-GPU
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "acq_rel", "sys"' -t hip:gfx950 --emit amdgcn | FileCheck %s --check-prefix=GFX942-ACQ-REL-SYS
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "release", "gpu"' -t hip:gfx950 --emit amdgcn | FileCheck %s --check-prefix=GFX942-RELEASE-GPU
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "acquire", "gpu"' -t hip:gfx950 --emit amdgcn | FileCheck %s --check-prefix=GFX942-ACQUIRE-GPU
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "relaxed", "gpu"' -t hip:gfx950 --emit amdgcn | FileCheck %s --check-prefix=GFX942-RELAXED-GPU
# RUN: kiln compile %s -n global_barrier -s '*i32:16, *i32:16, 256' -t hip:gfx950 --emit amdgcn | FileCheck %s --check-prefix=GFX942-GLOBAL
# RUN: kiln compile %s -n shared_barrier -s '*i32:16, 256' -t hip:gfx950 --emit amdgcn | FileCheck %s --check-prefix=GFX942-SHARED
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "acq_rel", "cta"' -t hip:gfx1100 --emit amdgcn | FileCheck %s --check-prefix=GFX11-ACQ-REL-CTA
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "acq_rel", "gpu"' -t hip:gfx1100 --emit amdgcn | FileCheck %s --check-prefix=GFX11-ACQ-REL-GPU
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "acq_rel", "sys"' -t hip:gfx1100 --emit amdgcn | FileCheck %s --check-prefix=GFX11-ACQ-REL-SYS
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "release", "gpu"' -t hip:gfx1100 --emit amdgcn | FileCheck %s --check-prefix=GFX11-RELEASE-GPU
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "acquire", "gpu"' -t hip:gfx1100 --emit amdgcn | FileCheck %s --check-prefix=GFX11-ACQUIRE-GPU
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "relaxed", "gpu"' -t hip:gfx1100 --emit amdgcn | FileCheck %s --check-prefix=GFX11-RELAXED-GPU
# RUN: kiln compile %s -n global_barrier -s '*i32:16, *i32:16, 256' -t hip:gfx1100 --emit amdgcn | FileCheck %s --check-prefix=GFX11-GLOBAL
# RUN: kiln compile %s -n shared_barrier -s '*i32:16, 256' -t hip:gfx1100 --emit amdgcn | FileCheck %s --check-prefix=GFX11-SHARED
# RUN: kiln compile %s -n reads_barrier -s '*i32:16, 256' -t hip:gfx1100 --emit amdgcn | FileCheck %s --check-prefix=GFX11-READS
# RUN: kiln compile %s -n global_barrier -s '*i32:16, *i32:16, 64' -w 1 -t hip:gfx1100 --emit amdgcn | FileCheck %s --check-prefix=GFX11-ONE-WAVE
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "acq_rel", "cta"' -t hip:gfx1201 --emit amdgcn | FileCheck %s --check-prefix=GFX12-ACQ-REL-CTA
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "acq_rel", "gpu"' -t hip:gfx1201 --emit amdgcn | FileCheck %s --check-prefix=GFX12-ACQ-REL-GPU
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "acq_rel", "sys"' -t hip:gfx1201 --emit amdgcn | FileCheck %s --check-prefix=GFX12-ACQ-REL-SYS
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "release", "gpu"' -t hip:gfx1201 --emit amdgcn | FileCheck %s --check-prefix=GFX12-RELEASE-GPU
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "acquire", "gpu"' -t hip:gfx1201 --emit amdgcn | FileCheck %s --check-prefix=GFX12-ACQUIRE-GPU
# RUN: kiln compile %s -n atomic -s '*i32:16, 256, "relaxed", "gpu"' -t hip:gfx1201 --emit amdgcn | FileCheck %s --check-prefix=GFX12-RELAXED-GPU
# RUN: kiln compile %s -n global_barrier -s '*i32:16, *i32:16, 256' -t hip:gfx1201 --emit amdgcn | FileCheck %s --check-prefix=GFX12-GLOBAL
# RUN: kiln compile %s -n shared_barrier -s '*i32:16, 256' -t hip:gfx1201 --emit amdgcn | FileCheck %s --check-prefix=GFX12-SHARED
# RUN: kiln compile %s -n reads_barrier -s '*i32:16, 256' -t hip:gfx1201 --emit amdgcn | FileCheck %s --check-prefix=GFX12-READS
# RUN: kiln compile %s -n global_barrier -s '*i32:16, *i32:16, 64' -w 1 -t hip:gfx1201 --emit amdgcn | FileCheck %s --check-prefix=GFX12-ONE-WAVE
#
# One cache is the block's: at its scope waves wait for nothing.
# GFX90A-ACQ-REL-CTA: {{(global|buffer)_store}}
# GFX90A-ACQ-REL-CTA-NOT: buffer_wb
# GFX90A-ACQ-REL-CTA-NOT: buffer_inv
# GFX90A-ACQ-REL-CTA: s_barrier
# GFX90A-ACQ-REL-CTA-NOT: buffer_wb
# GFX90A-ACQ-REL-CTA-NOT: buffer_inv
# GFX90A-ACQ-REL-CTA: global_atomic_add
# GFX90A-ACQ-REL-CTA-NOT: buffer_wb
# GFX90A-ACQ-REL-CTA-NOT: buffer_inv
# GFX90A-ACQ-REL-CTA: s_barrier
# GFX90A-ACQ-REL-CTA-NOT: buffer_wb
# GFX90A-ACQ-REL-CTA-NOT: buffer_inv
# GFX90A-ACQ-REL-CTA: {{(global|buffer)_load}}
#
# GFX90A-GLOBAL: {{(global|buffer)_store}}
# GFX90A-GLOBAL-NOT: buffer_wb
# GFX90A-GLOBAL-NOT: buffer_inv
# GFX90A-GLOBAL: s_barrier
# GFX90A-GLOBAL-NOT: buffer_wb
# GFX90A-GLOBAL-NOT: buffer_inv
# GFX90A-GLOBAL: {{(global|buffer)_load}}
#
# GFX90A-SHARED: {{(global|buffer)_store}}
# GFX90A-SHARED: s_waitcnt lgkmcnt(0)
# GFX90A-SHARED: s_barrier
# GFX90A-SHARED: ds_read
#
# GFX90A-RELAXED-GPU: {{(global|buffer)_store}}
# GFX90A-RELAXED-GPU-NOT: buffer_wb
# GFX90A-RELAXED-GPU-NOT: buffer_inv
# GFX90A-RELAXED-GPU-NOT: s_barrier
# GFX90A-RELAXED-GPU: global_atomic_add
# GFX90A-RELAXED-GPU-NOT: buffer_wb
# GFX90A-RELAXED-GPU-NOT: buffer_inv
# GFX90A-RELAXED-GPU-NOT: s_barrier
# GFX90A-RELAXED-GPU: {{(global|buffer)_load}}
#
# GFX942-ACQ-REL-CTA: {{(global|buffer)_store}}
# GFX942-ACQ-REL-CTA-NOT: buffer_wb
# GFX942-ACQ-REL-CTA-NOT: buffer_inv
# GFX942-ACQ-REL-CTA: s_barrier
# GFX942-ACQ-REL-CTA-NOT: buffer_wb
# GFX942-ACQ-REL-CTA-NOT: buffer_inv
# GFX942-ACQ-REL-CTA: global_atomic_add
# GFX942-ACQ-REL-CTA-NOT: buffer_wb
# GFX942-ACQ-REL-CTA-NOT: buffer_inv
# GFX942-ACQ-REL-CTA: s_barrier
# GFX942-ACQ-REL-CTA-NOT: buffer_wb
# GFX942-ACQ-REL-CTA-NOT: buffer_inv
# GFX942-ACQ-REL-CTA: {{(global|buffer)_load}}
#
# GFX942-GLOBAL: {{(global|buffer)_store}}
# GFX942-GLOBAL-NOT: buffer_wb
# GFX942-GLOBAL-NOT: buffer_inv
# GFX942-GLOBAL: s_barrier
# GFX942-GLOBAL-NOT: buffer_wb
# GFX942-GLOBAL-NOT: buffer_inv
# GFX942-GLOBAL: {{(global|buffer)_load}}
#
# GFX942-SHARED: {{(global|buffer)_store}}
# GFX942-SHARED: s_waitcnt lgkmcnt(0)
# GFX942-SHARED: s_barrier
# GFX942-SHARED: ds_read
#
# GFX942-RELAXED-GPU: {{(global|buffer)_store}}
# GFX942-RELAXED-GPU-NOT: buffer_wb
# GFX942-RELAXED-GPU-NOT: buffer_inv
# GFX942-RELAXED-GPU-NOT: s_barrier
# GFX942-RELAXED-GPU: global_atomic_add
# GFX942-RELAXED-GPU-NOT: buffer_wb
# GFX942-RELAXED-GPU-NOT: buffer_inv
# GFX942-RELAXED-GPU-NOT: s_barrier
# GFX942-RELAXED-GPU: {{(global|buffer)_load}}
#
# Each wave waits for its stores, on gfx11 and gfx12 in the barrier; one writes back and drops what is not the block's alone.
# GFX90A-ACQ-REL-GPU: {{(global|buffer)_store}}
# GFX90A-ACQ-REL-GPU: s_waitcnt vmcnt(0)
# GFX90A-ACQ-REL-GPU: s_barrier
# GFX90A-ACQ-REL-GPU: global_atomic_add
# GFX90A-ACQ-REL-GPU: s_waitcnt vmcnt(0)
# GFX90A-ACQ-REL-GPU: buffer_wbinvl1_vol
# GFX90A-ACQ-REL-GPU: s_barrier
# GFX90A-ACQ-REL-GPU-NOT: buffer_wbinv
# GFX90A-ACQ-REL-GPU: {{(global|buffer)_load}}
#
# GFX90A-RELEASE-GPU: {{(global|buffer)_store}}
# GFX90A-RELEASE-GPU: s_waitcnt vmcnt(0)
# GFX90A-RELEASE-GPU: s_barrier
# GFX90A-RELEASE-GPU-NOT: buffer_wbinvl1
# GFX90A-RELEASE-GPU: global_atomic_add
# GFX90A-RELEASE-GPU-NOT: buffer_wbinvl1
# GFX90A-RELEASE-GPU: {{(global|buffer)_load}}
#
# GFX90A-ACQUIRE-GPU: {{(global|buffer)_store}}
# GFX90A-ACQUIRE-GPU-NOT: s_barrier
# GFX90A-ACQUIRE-GPU: global_atomic_add
# GFX90A-ACQUIRE-GPU: s_waitcnt vmcnt(0)
# GFX90A-ACQUIRE-GPU: buffer_wbinvl1_vol
# GFX90A-ACQUIRE-GPU: s_barrier
# GFX90A-ACQUIRE-GPU-NOT: buffer_wbinv
# GFX90A-ACQUIRE-GPU: {{(global|buffer)_load}}
#
# GFX90A-ACQ-REL-SYS: {{(global|buffer)_store}}
# GFX90A-ACQ-REL-SYS-NOT: buffer_wbl2
# GFX90A-ACQ-REL-SYS: s_waitcnt vmcnt(0)
# GFX90A-ACQ-REL-SYS: s_barrier
# GFX90A-ACQ-REL-SYS: buffer_wbl2
# GFX90A-ACQ-REL-SYS: global_atomic_add
# GFX90A-ACQ-REL-SYS: s_waitcnt vmcnt(0)
# GFX90A-ACQ-REL-SYS: buffer_invl2
# GFX90A-ACQ-REL-SYS: buffer_wbinvl1_vol
# GFX90A-ACQ-REL-SYS: s_barrier
# GFX90A-ACQ-REL-SYS-NOT: buffer_wbinv
# GFX90A-ACQ-REL-SYS: {{(global|buffer)_load}}
#
# GFX942-ACQ-REL-GPU: {{(global|buffer)_store}}
# GFX942-ACQ-REL-GPU-NOT: buffer_wbl2
# GFX942-ACQ-REL-GPU: s_waitcnt vmcnt(0)
# GFX942-ACQ-REL-GPU: s_barrier
# GFX942-ACQ-REL-GPU: buffer_wbl2 sc1
# GFX942-ACQ-REL-GPU: global_atomic_add
# GFX942-ACQ-REL-GPU: s_waitcnt vmcnt(0)
# GFX942-ACQ-REL-GPU: buffer_inv sc1
# GFX942-ACQ-REL-GPU: s_barrier
# GFX942-ACQ-REL-GPU-NOT: buffer_inv
# GFX942-ACQ-REL-GPU: {{(global|buffer)_load}}
#
# GFX942-ACQ-REL-SYS: {{(global|buffer)_store}}
# GFX942-ACQ-REL-SYS-NOT: buffer_wbl2
# GFX942-ACQ-REL-SYS: s_waitcnt vmcnt(0)
# GFX942-ACQ-REL-SYS: s_barrier
# GFX942-ACQ-REL-SYS: buffer_wbl2 sc0 sc1
# GFX942-ACQ-REL-SYS: global_atomic_add
# GFX942-ACQ-REL-SYS: s_waitcnt vmcnt(0)
# GFX942-ACQ-REL-SYS: buffer_inv sc0 sc1
# GFX942-ACQ-REL-SYS: s_barrier
# GFX942-ACQ-REL-SYS-NOT: buffer_inv
# GFX942-ACQ-REL-SYS: {{(global|buffer)_load}}
#
# GFX942-RELEASE-GPU: {{(global|buffer)_store}}
# GFX942-RELEASE-GPU-NOT: buffer_wbl2
# GFX942-RELEASE-GPU: s_waitcnt vmcnt(0)
# GFX942-RELEASE-GPU: s_barrier
# GFX942-RELEASE-GPU: buffer_wbl2 sc1
# GFX942-RELEASE-GPU-NOT: buffer_inv
# GFX942-RELEASE-GPU: global_atomic_add
# GFX942-RELEASE-GPU-NOT: buffer_inv
# GFX942-RELEASE-GPU: {{(global|buffer)_load}}
#
# GFX942-ACQUIRE-GPU: {{(global|buffer)_store}}
# GFX942-ACQUIRE-GPU-NOT: buffer_wbl2
# GFX942-ACQUIRE-GPU-NOT: s_barrier
# GFX942-ACQUIRE-GPU: global_atomic_add
# GFX942-ACQUIRE-GPU: s_waitcnt vmcnt(0)
# GFX942-ACQUIRE-GPU: buffer_inv sc1
# GFX942-ACQUIRE-GPU: s_barrier
# GFX942-ACQUIRE-GPU-NOT: buffer_inv
# GFX942-ACQUIRE-GPU: {{(global|buffer)_load}}
#
# Two caches in a work-group processor: a full barrier waits for stores and drops them, one of shared memory does neither.
# GFX11-GLOBAL: {{(global|buffer)_store}}
# GFX11-GLOBAL: s_waitcnt_vscnt null, 0x0
# GFX11-GLOBAL: s_barrier
# GFX11-GLOBAL: buffer_gl0_inv
# GFX11-GLOBAL: {{(global|buffer)_load}}
#
# One wave sees what its lanes do in the program's order.
# GFX11-ONE-WAVE: {{(global|buffer)_store}}
# GFX11-ONE-WAVE-NOT: vscnt
# GFX11-ONE-WAVE-NOT: buffer_gl
# GFX11-ONE-WAVE: {{(global|buffer)_load}}
#
# GFX11-SHARED: {{(global|buffer)_store}}
# GFX11-SHARED-NOT: vscnt
# GFX11-SHARED-NOT: buffer_gl
# GFX11-SHARED: s_barrier
# GFX11-SHARED-NOT: vscnt
# GFX11-SHARED-NOT: buffer_gl
# GFX11-SHARED: ds_load
#
# One of reads before writes waits for what was loaded.
# GFX11-READS: {{(global|buffer)_load}}
# GFX11-READS: s_waitcnt vmcnt(0) lgkmcnt(0)
# GFX11-READS-NOT: vscnt
# GFX11-READS: s_barrier
# GFX11-READS-NOT: buffer_gl
# GFX11-READS: {{(global|buffer)_store}}
#
# GFX11-RELAXED-GPU: {{(global|buffer)_store}}
# GFX11-RELAXED-GPU-NOT: buffer_gl
# GFX11-RELAXED-GPU-NOT: s_barrier
# GFX11-RELAXED-GPU: global_atomic_add
# GFX11-RELAXED-GPU-NOT: buffer_gl
# GFX11-RELAXED-GPU-NOT: s_barrier
# GFX11-RELAXED-GPU: {{(global|buffer)_load}}
#
# GFX11-ACQ-REL-CTA: {{(global|buffer)_store}}
# GFX11-ACQ-REL-CTA: s_waitcnt_vscnt null, 0x0
# GFX11-ACQ-REL-CTA: s_barrier
# GFX11-ACQ-REL-CTA: buffer_gl0_inv
# GFX11-ACQ-REL-CTA-NOT: buffer_gl1_inv
# GFX11-ACQ-REL-CTA: global_atomic_add
# GFX11-ACQ-REL-CTA: s_waitcnt_vscnt null, 0x0
# GFX11-ACQ-REL-CTA: buffer_gl0_inv
# GFX11-ACQ-REL-CTA: s_barrier
# GFX11-ACQ-REL-CTA-NOT: buffer_gl1_inv
# GFX11-ACQ-REL-CTA: buffer_gl0_inv
# GFX11-ACQ-REL-CTA: {{(global|buffer)_load}}
#
# GFX11-ACQ-REL-GPU: {{(global|buffer)_store}}
# GFX11-ACQ-REL-GPU: s_waitcnt_vscnt null, 0x0
# GFX11-ACQ-REL-GPU: s_barrier
# GFX11-ACQ-REL-GPU: global_atomic_add
# GFX11-ACQ-REL-GPU: s_waitcnt_vscnt null, 0x0
# GFX11-ACQ-REL-GPU: buffer_gl1_inv
# GFX11-ACQ-REL-GPU: buffer_gl0_inv
# GFX11-ACQ-REL-GPU: s_barrier
# GFX11-ACQ-REL-GPU-NOT: buffer_gl1_inv
# GFX11-ACQ-REL-GPU: buffer_gl0_inv
# GFX11-ACQ-REL-GPU: {{(global|buffer)_load}}
#
# GFX11-ACQ-REL-SYS: {{(global|buffer)_store}}
# GFX11-ACQ-REL-SYS: s_waitcnt_vscnt null, 0x0
# GFX11-ACQ-REL-SYS: s_barrier
# GFX11-ACQ-REL-SYS: global_atomic_add
# GFX11-ACQ-REL-SYS: s_waitcnt_vscnt null, 0x0
# GFX11-ACQ-REL-SYS: buffer_gl1_inv
# GFX11-ACQ-REL-SYS: buffer_gl0_inv
# GFX11-ACQ-REL-SYS: s_barrier
# GFX11-ACQ-REL-SYS-NOT: buffer_gl1_inv
# GFX11-ACQ-REL-SYS: buffer_gl0_inv
# GFX11-ACQ-REL-SYS: {{(global|buffer)_load}}
#
# GFX11-RELEASE-GPU: {{(global|buffer)_store}}
# GFX11-RELEASE-GPU: s_waitcnt_vscnt null, 0x0
# GFX11-RELEASE-GPU: s_barrier
# GFX11-RELEASE-GPU-NOT: buffer_gl1_inv
# GFX11-RELEASE-GPU: global_atomic_add
# GFX11-RELEASE-GPU-NOT: buffer_gl1_inv
# GFX11-RELEASE-GPU: {{(global|buffer)_load}}
#
# GFX11-ACQUIRE-GPU: {{(global|buffer)_store}}
# GFX11-ACQUIRE-GPU-NOT: s_barrier
# GFX11-ACQUIRE-GPU: global_atomic_add
# GFX11-ACQUIRE-GPU: s_waitcnt_vscnt null, 0x0
# GFX11-ACQUIRE-GPU: buffer_gl1_inv
# GFX11-ACQUIRE-GPU: buffer_gl0_inv
# GFX11-ACQUIRE-GPU: s_barrier
# GFX11-ACQUIRE-GPU-NOT: buffer_gl1_inv
# GFX11-ACQUIRE-GPU: buffer_gl0_inv
# GFX11-ACQUIRE-GPU: {{(global|buffer)_load}}
#
# GFX12-GLOBAL: {{(global|buffer)_store}}
# GFX12-GLOBAL: s_wait_storecnt
# GFX12-GLOBAL: s_barrier_signal
# GFX12-GLOBAL: s_barrier_wait
# GFX12-GLOBAL: global_inv scope:SCOPE_SE
# GFX12-GLOBAL: {{(global|buffer)_load}}
#
# GFX12-ONE-WAVE: {{(global|buffer)_store}}
# GFX12-ONE-WAVE-NOT: storecnt
# GFX12-ONE-WAVE-NOT: global_inv
# GFX12-ONE-WAVE: {{(global|buffer)_load}}
#
# GFX12-SHARED: {{(global|buffer)_store}}
# GFX12-SHARED-NOT: storecnt
# GFX12-SHARED-NOT: global_inv
# GFX12-SHARED: s_barrier_signal
# GFX12-SHARED: s_barrier_wait
# GFX12-SHARED-NOT: global_inv
# GFX12-SHARED: ds_load
#
# GFX12-READS: {{(global|buffer)_load}}
# GFX12-READS: s_wait_loadcnt{{(_dscnt)?}} 0x0
# GFX12-READS-NOT: storecnt
# GFX12-READS: s_barrier_signal
# GFX12-READS: s_barrier_wait
# GFX12-READS-NOT: global_inv
# GFX12-READS: {{(global|buffer)_store}}
#
# GFX12-RELAXED-GPU: {{(global|buffer)_store}}
# GFX12-RELAXED-GPU-NOT: global_inv
# GFX12-RELAXED-GPU-NOT: s_barrier
# GFX12-RELAXED-GPU: global_atomic_add
# GFX12-RELAXED-GPU-NOT: global_inv
# GFX12-RELAXED-GPU-NOT: s_barrier
# GFX12-RELAXED-GPU: {{(global|buffer)_load}}
#
# GFX12-ACQ-REL-CTA: {{(global|buffer)_store}}
# GFX12-ACQ-REL-CTA: s_wait_storecnt
# GFX12-ACQ-REL-CTA: s_barrier_wait
# GFX12-ACQ-REL-CTA-NOT: global_wb
# GFX12-ACQ-REL-CTA: global_atomic_add
# GFX12-ACQ-REL-CTA: s_wait_storecnt
# GFX12-ACQ-REL-CTA: global_inv scope:SCOPE_SE
# GFX12-ACQ-REL-CTA: s_barrier_wait
# GFX12-ACQ-REL-CTA: global_inv scope:SCOPE_SE
# GFX12-ACQ-REL-CTA: {{(global|buffer)_load}}
#
# GFX12-ACQ-REL-GPU: {{(global|buffer)_store}}
# GFX12-ACQ-REL-GPU: s_wait_storecnt
# GFX12-ACQ-REL-GPU: s_barrier_wait
# GFX12-ACQ-REL-GPU-NOT: global_wb
# GFX12-ACQ-REL-GPU: global_atomic_add
# GFX12-ACQ-REL-GPU: s_wait_storecnt
# GFX12-ACQ-REL-GPU: global_inv scope:SCOPE_DEV
# GFX12-ACQ-REL-GPU: s_barrier_wait
# GFX12-ACQ-REL-GPU: global_inv scope:SCOPE_SE
# GFX12-ACQ-REL-GPU: {{(global|buffer)_load}}
#
# GFX12-ACQ-REL-SYS: {{(global|buffer)_store}}
# GFX12-ACQ-REL-SYS-NOT: global_wb
# GFX12-ACQ-REL-SYS: s_wait_storecnt
# GFX12-ACQ-REL-SYS: s_barrier_wait
# GFX12-ACQ-REL-SYS: global_wb scope:SCOPE_SYS
# GFX12-ACQ-REL-SYS: global_atomic_add
# GFX12-ACQ-REL-SYS: s_wait_storecnt
# GFX12-ACQ-REL-SYS: global_inv scope:SCOPE_SYS
# GFX12-ACQ-REL-SYS: s_barrier_wait
# GFX12-ACQ-REL-SYS: global_inv scope:SCOPE_SE
# GFX12-ACQ-REL-SYS: {{(global|buffer)_load}}
#
# GFX12-RELEASE-GPU: {{(global|buffer)_store}}
# GFX12-RELEASE-GPU: s_wait_storecnt
# GFX12-RELEASE-GPU: s_barrier_wait
# GFX12-RELEASE-GPU-NOT: global_inv scope:SCOPE_DEV
# GFX12-RELEASE-GPU: global_atomic_add
# GFX12-RELEASE-GPU-NOT: global_inv scope:SCOPE_DEV
# GFX12-RELEASE-GPU: {{(global|buffer)_load}}
#
# GFX12-ACQUIRE-GPU: {{(global|buffer)_store}}
# GFX12-ACQUIRE-GPU-NOT: s_barrier
# GFX12-ACQUIRE-GPU: global_atomic_add
# GFX12-ACQUIRE-GPU: s_wait_storecnt
# GFX12-ACQUIRE-GPU: global_inv scope:SCOPE_DEV
# GFX12-ACQUIRE-GPU: s_barrier_wait
# GFX12-ACQUIRE-GPU: global_inv scope:SCOPE_SE
# GFX12-ACQUIRE-GPU: {{(global|buffer)_load}}
import triton
import triton.language as tl


@triton.jit
def atomic(x_ptr, N: tl.constexpr, SEM: tl.constexpr, SCOPE: tl.constexpr):
    """Parts of one array, so that nothing else has to be ordered."""
    i = tl.arange(0, N)
    tl.store(x_ptr + i, i)
    tl.atomic_add(x_ptr + N, 1, sem=SEM, scope=SCOPE)
    tl.store(x_ptr + 3 * N + i, tl.load(x_ptr + 2 * N + i))


@triton.jit
def global_barrier(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x_ptr + i, i)
    tl.debug_barrier()
    tl.store(out_ptr + i, tl.load(x_ptr + (N - 1 - i)))


@triton.jit
def shared_barrier(x_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x_ptr + i, i)
    tl.store(x_ptr + 3 * N, tl.sum(tl.load(x_ptr + 2 * N + i), axis=0))


@triton.jit
def reads_barrier(x_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x_ptr + i, tl.load(x_ptr + (N - 1 - i)))
