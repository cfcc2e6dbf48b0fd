"""Puts Kiln and the CPU in the place of Triton's compiler and a GPU, in this process."""

import pathlib

from kiln import toolchain
from kiln.jit import launches, target, torch_device, triton_driver
from kiln.jit.compile_cache import CompileCache


def start(name, cache=None, check=False, threads=0, whole_storages=False, configs=0, portable=False):
    """The launcher for the target of that name. ValueError, OSError, BuildError: it cannot be."""
    chosen = target.Target(name)
    folder = pathlib.Path(cache or toolchain.default_cache())
    runtime = toolchain.runtime_library(folder)
    device = target.Device(chosen, runtime, check, threads)
    launcher = launches.Launcher(device, CompileCache(folder, chosen.name, runtime), whole_storages, portable)
    launches.install(launcher)
    if configs:
        launches.limit_autotuner(configs)
    triton_driver.install(chosen)
    torch_device.install(chosen, marks_unwritten=True)
    return launcher
