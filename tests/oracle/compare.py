"""Elementwise comparison of memory after two runs."""
import numpy as np

import arguments
import float_formats

# Relative error allowed, and absolute error as a share of the typical magnitude of what was written.
TOLERANCE = {"fp64": (1e-5, 1e-6), "fp32": (2e-4, 5e-5), "fp16": (4e-3, 2e-3), "bf16": (2e-2, 1e-2)}
FLOAT8_TOLERANCE = (0.15, 0.02)


def as_numbers(data, element):
    if element == "bf16":
        return float_formats.bfloat16_numbers(data.view(np.uint16)).astype(np.float64)
    if element.startswith("fp8"):
        return float_formats.float8_numbers(data, element)
    return data.view(arguments.FLOATS[element]).astype(np.float64)


def rounded_to(values, element):
    """The narrower float type whose values these all are: kernels often round to it before they store."""
    if element not in ("fp32", "fp64"):
        return element
    with np.errstate(all="ignore"):
        single = values.astype(np.float32)
        bits = single.view(np.uint32)
        if np.array_equal(single.astype(np.float16).astype(np.float64), values, equal_nan=True):
            return "fp16"
        return "bf16" if not (bits & 0xFFFF).any() else element


def differing(expected, actual, element):
    """Indices of elements that differ by more than the tolerance, among `expected` and `actual` bytes of written elements."""
    if element not in arguments.FLOATS:
        kind = arguments.numpy_type(element) if not element.startswith("*") else np.dtype(np.uint64)
        return np.flatnonzero(expected.view(kind) != actual.view(kind)), 0.0
    want, got = as_numbers(expected, element), as_numbers(actual, element)
    relative, absolute = TOLERANCE.get(rounded_to(want, element), FLOAT8_TOLERANCE)
    finite = np.isfinite(want)
    scale = np.quantile(np.abs(want[finite]), 0.9) if finite.any() else 0.0
    with np.errstate(all="ignore"):
        error = np.abs(want - got)
        good = (error <= relative * np.abs(want) + absolute * scale) | (want == got) | (np.isnan(want) & np.isnan(got))
        # Overflow: one side rounds to the largest number, the other to infinity.
        largest = 65000 if element == "fp16" else 3.3e38 if element in ("fp32", "bf16") else np.inf
        good |= (np.sign(want) == np.sign(got)) & (np.abs(want) > largest) & (np.abs(got) > largest)
        worst = float(np.nanmax(np.where(finite & np.isfinite(got), error / (np.abs(want) + scale + 1e-300), 0)))
    return np.flatnonzero(~good), worst


def elements_where(different, size):
    """A mask of bytes as a mask of elements of `size` bytes."""
    return different.view(f"uint{size * 8}") != 0


def compare(initial, expected, actual, pointers, memory):
    """`pointers`: (name, element type). A summary of each region that either run changed."""
    regions = []
    for index, (name, element) in enumerate(pointers):
        span = memory.region(index)
        before, want, got = initial[span], expected[span], actual[span]
        size = 8 if element.startswith("*") else arguments.numpy_type(element).itemsize
        changed = elements_where((before != want) | (before != got), size)
        if not changed.any():
            continue
        where = np.flatnonzero(changed)
        pick = lambda data: np.ascontiguousarray(data.reshape(-1, size)[where]).reshape(-1)
        bad, worst = differing(pick(want), pick(got), element)
        region = {"name": name, "type": element, "written": int(where.size), "differing": int(bad.size), "worst": worst,
                  "distinct": int(np.unique(pick(want).reshape(-1, size)[:4096], axis=0).shape[0])}
        if element in arguments.FLOATS:
            region["finite"] = int(np.isfinite(as_numbers(pick(want), element)).sum())
        if bad.size:
            region["examples"] = [example(where[i], i, pick(want), pick(got), element, size) for i in bad[:4]]
        regions.append(region)
    return regions


def example(element_index, position, want, got, element, size):
    def shown(data):
        one = data[position * size:(position + 1) * size]
        kind = np.uint64 if element.startswith("*") else None
        value = as_numbers(one, element)[0] if element in arguments.FLOATS else one.view(kind or arguments.numpy_type(element))[0]
        return value.item() if hasattr(value, "item") else value
    return [int(element_index) - arguments.BEFORE // size, shown(want), shown(got)]


def is_telling(regions):
    """Whether the run wrote something that a wrong compiler would hardly write by chance."""
    return any(r["distinct"] > 1 and r.get("finite", 1) > 0 or r["written"] <= 4 and r.get("finite", 1) > 0 for r in regions)
