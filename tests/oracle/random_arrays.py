"""What random kernels are run on, and with which types, promises and config they are built: the same for a seed everywhere."""
import random

import numpy as np

import float_formats
import random_sources as sources
from arguments import numpy_type

GUARD = 4096
KINDS = {**sources.INPUTS, **sources.ANY, **sources.OUTPUTS}


def spec(seed, library, name, source, targets):
    rng = random.Random(seed)
    signature = {name: kind + (":16" if kind.startswith("*") and rng.random() < 0.8 else "") for name, kind in sources.PARAMETERS.items()}
    config = {"num_warps": rng.choice((1, 2, 4, 4, 8, 16)), "num_stages": rng.choice((1, 2, 3))}
    return {"kiln": 1, "library": library, "targets": targets,
            "kernels": [{"name": name, "source": source, "kernel": "kernel", "signature": signature, "configs": [config]}]}


def elements(name):
    return sources.OUTPUT_ELEMENTS if name in sources.OUTPUTS else sources.INPUT_ELEMENTS


def any_floats(rng, kind, count):
    """Bits of all kinds of floats, half of them of moderate size."""
    unsigned = np.dtype(f"uint{kind.itemsize * 8}")
    anything = rng.integers(0, np.iinfo(unsigned).max, count, dtype=unsigned, endpoint=True)
    moderate = (rng.integers(-64, 64, count) / 8).astype(kind if kind.kind == "f" else np.float32)
    if kind == np.uint16:
        moderate = float_formats.bfloat16_bits(moderate)
    return np.where(rng.integers(0, 2, count) > 0, anything, moderate.view(unsigned) if kind.itemsize > 1 else anything)


class Arrays:
    """The kernel's arrays, each between guards."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.bytes, self.start = {}, {}
        for name, kind in KINDS.items():
            count = elements(name)
            if name in sources.ANY:
                self.add(name, any_floats(rng, numpy_type(kind), count))
                continue
            values = rng.integers(-8, 8, count)
            if kind.startswith("u"):
                values = values & 0xff
            if kind == "i1":
                values = values > 0
            if kind == "bf16":
                content = float_formats.bfloat16_bits(values.astype(np.float32))
            elif kind.startswith("fp8"):
                content = float_formats.float8_bits(values.astype(np.float32), kind)
            else:
                content = values.astype(numpy_type(kind))
            self.add(name, content)

    def add(self, name, content):
        data = np.ascontiguousarray(content).view(np.uint8)
        whole = np.full(data.size + 2 * GUARD + 64, 0xA5, np.uint8)
        self.start[name] = GUARD + (-(whole.ctypes.data + GUARD)) % 64
        whole[self.start[name]:self.start[name] + data.size] = data
        self.bytes[name] = whole

    def address(self, name):
        return self.bytes[name].ctypes.data + self.start[name]

    def size(self, name):
        return elements(name) * numpy_type(KINDS[name]).itemsize

    def snapshot(self):
        return {name: whole.copy() for name, whole in self.bytes.items()}

    def restore(self, snapshot):
        for name, whole in snapshot.items():
            self.bytes[name][:] = whole

    def first_difference(self, expected):
        """What differs from the snapshot `expected` first, or None."""
        for name, whole in self.bytes.items():
            if (whole != expected[name]).any():
                at = int(np.flatnonzero(whole != expected[name])[0]) - self.start[name]
                size = numpy_type(KINDS[name]).itemsize
                element = slice(self.start[name] + at // size * size, self.start[name] + at // size * size + size)
                wrong = (whole != expected[name]).sum() / size
                return f"{name}[{at // size}] is {whole[element].tolist()}, not {expected[name][element].tolist()} ({wrong:.0f} or more wrong)"
        return None
