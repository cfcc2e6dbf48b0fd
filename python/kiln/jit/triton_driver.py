"""The device that Triton sees."""

import time

import torch
import triton
from triton.backends.compiler import GPUTarget


class _Utilities:
    def __init__(self, target):
        self.target = target

    def get_device_properties(self, device):
        target = self.target
        return {
            "max_shared_mem": target.shared_bytes,
            "multiprocessor_count": target.processors,
            "max_num_regs": 65536,
            "warpSize": target.warp_size,
            "sm_clock_rate": 1_980_000,
            "mem_clock_rate": 2_619_000,
            "mem_bus_width": 5120,
        }


class Driver:
    def __init__(self, target):
        self.target, self.utils = target, _Utilities(target)

    @classmethod
    def is_active(cls):
        return True

    def get_current_target(self):
        if self.target.is_hip:
            return GPUTarget("hip", self.target.arch, self.target.warp_size)
        major, minor = self.target.capability
        return GPUTarget("cuda", 10 * major + minor, 32)

    def get_active_torch_device(self):
        return torch.device("cuda", 0)

    def get_device_interface(self):
        return torch.cuda

    def get_current_device(self):
        return 0

    def set_current_device(self, device):
        pass

    def get_current_stream(self, device=0):
        return 0

    def get_device_capability(self, device=0):
        return self.target.capability

    def map_python_to_cpp_type(self, ty):
        return ty

    def get_benchmarker(self):
        """One run: times on an emulated GPU say nothing about a real one."""

        def benchmark(function, *_, quantiles=None, **__):
            begin = time.perf_counter()
            function()
            milliseconds = 1000 * (time.perf_counter() - begin)
            return [milliseconds] * len(quantiles) if quantiles else milliseconds

        return benchmark

    def get_empty_cache_for_benchmark(self):
        return torch.empty(16)

    def clear_cache(self, cache):
        pass


def install(target):
    triton.runtime.driver.set_active(Driver(target))
