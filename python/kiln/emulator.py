"""An emulated GPU of a loaded library's runtime: docs/emulator.md."""

import ctypes
import math

from kiln import element_types
from kiln.arrays import array_of
from kiln.runtime import Count, CountedKernel


def extent_in_bytes(array):
    """The first byte of an array's elements, and how many there are from it to behind its last one."""
    size = ctypes.sizeof(element_types.C_TYPES[array.element])
    if math.prod(array.shape) == 0:
        return array.address, 0
    steps = [(extent - 1) * stride for extent, stride in zip(array.shape, array.strides)]
    low, high = sum(step for step in steps if step < 0), sum(step for step in steps if step > 0)
    return array.address + low * size, (high - low + 1) * size


class Emulator:
    """Pass it as `stream`. With `check` it finds races, accesses out of bounds and the like."""

    def __init__(self, runtime, arch, check=False, pool=None):
        self.runtime, self.handle = runtime, ctypes.c_void_p()
        runtime.succeed(runtime.function("kiln_emulator_create")(arch.encode(), pool, ctypes.byref(self.handle)))
        self.stream = runtime.function("kiln_emulator_stream")(self.handle)
        runtime.function("kiln_emulator_set_check")(self.handle, int(check))

    def __del__(self):
        if self.handle:
            self.runtime.function("kiln_emulator_destroy")(self.handle)

    def register(self, array):
        """An array that kernels may access: with `check` they may then access nothing that is not registered."""
        self.register_memory(*extent_in_bytes(array_of(array)))

    def unregister(self, array):
        self.unregister_memory(extent_in_bytes(array_of(array))[0])

    def register_memory(self, address, size, unwritten=0):
        """`unwritten`: the word that stands where nobody has written yet; with `check` reads of it are reported."""
        self.runtime.succeed(self.runtime.function("kiln_emulator_register")(self.handle, address, size))
        if unwritten:
            self.runtime.succeed(self.runtime.function("kiln_emulator_set_unwritten")(self.handle, address, unwritten))

    def unregister_memory(self, address):
        self.runtime.succeed(self.runtime.function("kiln_emulator_unregister")(self.handle, address))

    def take_reports(self):
        """What the checks have found since the last call."""
        report = self.runtime.function("kiln_emulator_report")
        count = self.runtime.function("kiln_emulator_num_reports")(self.handle)
        found = [report(self.handle, index).decode(errors="replace") for index in range(count)]
        self.runtime.function("kiln_emulator_clear_reports")(self.handle)
        return found

    def set_count(self, count):
        """Whether launches count what a profiler would: docs/counting.md."""
        self.runtime.function("kiln_emulator_set_count")(self.handle, int(count))

    def take_counts(self):
        """The sums of each kernel since the last call, by the names of kiln_emulator_count."""
        runtime, kernel, count = self.runtime, CountedKernel(), Count()
        found = []
        for index in range(runtime.function("kiln_emulator_num_kernels")(self.handle)):
            runtime.succeed(runtime.function("kiln_emulator_kernel_at")(self.handle, index, ctypes.byref(kernel)))
            sums = dict.fromkeys(Count.NUMBERS, 0)
            for place in range(kernel.first_count, kernel.first_count + kernel.num_counts):
                runtime.succeed(runtime.function("kiln_emulator_count_at")(self.handle, place, ctypes.byref(count)))
                for name in sums:
                    sums[name] += getattr(count, name)
            found.append({"kernel": kernel.name.decode(), "blocks": kernel.blocks, **sums})
        runtime.function("kiln_emulator_clear_counts")(self.handle)
        return found
