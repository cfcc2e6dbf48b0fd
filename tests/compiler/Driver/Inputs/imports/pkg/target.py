import torch
import triton
import functools

@functools.lru_cache
def is_cuda():
    return triton.runtime.driver.active.get_current_target().backend == "cuda"

def is_hip():
    return torch.version.hip is not None

def cap():
    return torch.cuda.get_device_capability()

IS_HOPPER = is_cuda() and cap()[0] >= 9
if is_hip():
    WHO = 2
elif is_cuda():
    WHO = 1 + (100 if IS_HOPPER else 0)
else:
    WHO = 0
