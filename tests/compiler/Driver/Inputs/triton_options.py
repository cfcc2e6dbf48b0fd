import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({"BLOCK": 64, "schedule_hint": "attention", "enable_fp_fusion": False}, num_warps=4),
    triton.Config({"BLOCK": 128, "schedule_hint": "none", "ptx_options": "-O1", "enable_fp_fusion": True, "hint": 1}, num_warps=4),
    triton.Config({"BLOCK": 256, "extern_libs": {}, "ir_override": None}),
], key=[])
@triton.jit
def fill(out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, 1.0, mask=offsets < n)


@triton.jit
def own(out_ptr, n, BLOCK: tl.constexpr, waves_per_eu: tl.constexpr, schedule_hint: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.static_assert(schedule_hint == "attention")
    tl.store(out_ptr + offsets, 1.0 + waves_per_eu, mask=offsets < n)
