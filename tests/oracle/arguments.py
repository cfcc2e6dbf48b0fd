"""Values for a kernel's arguments, guessed from their names and types.

Nothing says how large a kernel's tensors are, so every pointer gets room on both sides of its base (`Memory`), sizes are
small and odd, and strides are those of tensors larger than the sizes, so that most accesses stay inside. What is read
beyond a tensor is random data too, but the same for both sides of the comparison.
"""
import ctypes
import mmap
import re

import numpy as np

import float_formats

# Where the buffers lie. Fixed, so that pointers stored in buffers mean the same in both runs.
ADDRESS = 0x200000000000
BEFORE, AFTER = 4 << 20, 12 << 20
MAP_FIXED_NOREPLACE = 0x100000

INTEGERS = {"i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
            "u1": np.bool_, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64}
FLOATS = {"fp16": np.float16, "bf16": np.uint16, "fp32": np.float32, "fp64": np.float64,
          "fp8e4nv": np.uint8, "fp8e5": np.uint8, "fp8e4b8": np.uint8, "fp8e5b16": np.uint8, "fp8e4b15": np.uint8}


def numpy_type(name):
    return np.dtype(INTEGERS.get(name) or FLOATS[name])


class Memory:
    """One mapping at a fixed address with a region for each pointer; the base of a region has BEFORE bytes in front of it."""

    def __init__(self, count):
        self.size = max(1, count) * (BEFORE + AFTER)
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_FIXED_NOREPLACE
        if libc.mmap(ADDRESS, self.size, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0) != ADDRESS:
            raise OSError("the address range of the buffers is taken")
        self.bytes = np.frombuffer((ctypes.c_uint8 * self.size).from_address(ADDRESS), dtype=np.uint8)

    def region(self, index):
        return slice(index * (BEFORE + AFTER), (index + 1) * (BEFORE + AFTER))

    def base(self, index):
        return ADDRESS + index * (BEFORE + AFTER) + BEFORE


def pointer_contents(name, element, seed, rng, memory):
    """A region's bytes: random elements of the type, repeated; element 0 lies at the base."""
    count = 1 << 16
    if element.startswith("*"):
        values = np.full(count, memory.base(0), np.uint64)
    elif element in ("i1", "u1"):
        values = rng.integers(0, 2, count).astype(np.bool_)
    elif element in INTEGERS:
        values = integer_contents(name.lower(), element, seed, rng, count, memory)
    elif element in ("fp16", "fp32", "fp64", "bf16"):
        floats = rng.standard_normal(count) if seed % 2 == 0 else rng.uniform(0.05, 1, count)
        values = float_formats.bfloat16_bits(floats) if element == "bf16" else floats.astype(FLOATS[element])
    else:  # 8-bit floats: finite ones of moderate size
        values = rng.integers(0, 256, count).astype(np.uint8) & np.uint8(0xBF)
    data = np.tile(values.view(np.uint8), (BEFORE + AFTER) // values.nbytes)
    return np.roll(data, BEFORE % values.nbytes) if BEFORE % values.nbytes else data


def integer_contents(name, element, seed, rng, count, memory):
    kind = numpy_type(element)
    if element in ("i64", "u64") and re.search(r"ptrs|pointers", name):
        return np.full(count, memory.base(0), kind)
    if element in ("i8", "u8"):
        return rng.integers(0, 100, count).astype(kind)
    if re.search(r"cu_|cum|offs|indptr|starts?_|_starts?|_loc|prefix", name):
        return np.minimum(np.arange(count) * 7, 4096 if seed % 2 else 700).astype(kind)
    if re.search(r"len|num|count|size", name):
        return rng.integers(1, 40, count).astype(kind)
    if re.search(r"ind|idx|perm|slot|table|map|page|loc|ids?$", name) and seed % 2 == 0:
        return (np.arange(count) * 5 % 61).astype(kind)
    return rng.integers(0, 8, count).astype(kind)


def tensor_of_stride(name):
    """What names of strides of one tensor have in common: stride_qb and stride_qh, x_stride_0 and x_stride_1."""
    head, _, last = name.rpartition("_")
    if re.fullmatch(r"strides?", last) and "_" in head:
        return head.rpartition("_")[0]
    if "stride" in last or not head:
        return name[:-1] if len(name) <= 4 else name
    if re.fullmatch(r"strides?", head):
        if len(last) == 1:
            return name if last in "qkvoxywz" else head
        return f"{head}_{last[0]}" if len(last) <= 3 else head
    return head


def stride_groups(names):
    """Runs of neighbouring parameters that are strides of one tensor."""
    groups = []
    for name in names:
        tensor = tensor_of_stride(name)
        if groups and groups[-1][0] == tensor and len(groups[-1][1]) < 5:
            groups[-1][1].append(name)
        else:
            groups.append((tensor, [name]))
    return [group for _, group in groups]


def is_stride(name):
    lower = name.lower()
    return "stride" in lower or re.match(r"^(ld[a-z]|s[a-z]{0,2}_[a-z0-9]+|.*_s[0-9a-z]?)$", lower) is not None


def strides(names, seed):
    """Row-major strides, from the last of a group to the first; a group of one is the distance of rows. Odd seeds leave room
    for one more dimension of stride 1, which kernels often do not pass."""
    row = (272, 1040, 80, 4112)[seed % 4]
    values = {}
    for group in stride_groups(names):
        if len(group) == 1:
            values[group[0]] = 1 if re.search(r"col|_[dkn]$|feat", group[0]) and seed % 4 == 2 else row
            continue
        steps = [1, row, row * 67, row * 201, row * 603, row * 1809]
        values.update(zip(reversed(group), steps[seed % 2:]))
    return values


def integer_scalar(name, rng, seed):
    lower = name.lower()
    odd = lambda low, high: int(rng.integers(low, high)) | 1
    rules = (
        (r"seed", lambda: int(rng.integers(1, 10000))),
        (r"ignore_index", lambda: -100),
        (r"^(is|has|use|do|with|enable)_|causal|flag", lambda: int(rng.integers(0, 2))),
        (r"shift|log2|pow", lambda: int(rng.integers(1, 4))),
        (r"per_|_per|divisor|world_size", lambda: int(rng.integers(1, 5))),
        (r"offset|start|begin|pid|_idx|index|rank|layer|pad|step_id", lambda: int(rng.integers(0, 3))),
        (r"page_size|block_size|chunk_size|group_size|blk", lambda: 16),
        (r"head_?(dim|size)|d_?head|hidden", lambda: 512 if seed % 3 == 2 else odd(17, 100)),
        (r"batch|^b$|^z$|head|^h$|group|expert|splits?|top_?k|n_?levels|width|kernel", lambda: int(rng.integers(1, 5))),
        (r"total|numel|elements|^n$|size", lambda: odd(100, 600) if seed % 2 == 0 else odd(1, 200)),
        (r"max|end|len|dim|cols?|rows?|vocab|^[mnktdlcsw]$|^[a-z]_[a-z]$", lambda: odd(17, 200)),
    )
    for pattern, value in rules:
        if re.search(pattern, lower):
            return value()
    return odd(3, 120)


def float_scalar(name, rng):
    lower = name.lower()
    if "eps" in lower:
        return 1e-5
    if re.search(r"drop|^p$|prob", lower):
        return 0.25
    return float(np.float32(rng.uniform(0.05, 1)))


def scalar(name, kind, rng, seed, known_strides):
    if kind in ("i1", "u1"):
        return bool(rng.integers(0, 2))
    if kind in FLOATS:
        return float_scalar(name, rng)
    return known_strides.get(name) or integer_scalar(name, rng, seed)


def choose(parameters, seed):
    """Values of scalar arguments by name, for `parameters`: pairs of name and type."""
    rng = np.random.default_rng([seed, 1])
    stride_names = [name for name, kind in parameters if kind in INTEGERS and kind[1:] != "1" and is_stride(name)]
    known_strides = strides(stride_names, seed)
    return {name: scalar(name, kind, rng, seed, known_strides) for name, kind in parameters if not kind.startswith("*")}


def fill(memory, parameters, seed):
    rng = np.random.default_rng([seed, 2])
    pointers = [(name, kind) for name, kind in parameters if kind.startswith("*")]
    for index, (name, kind) in enumerate(pointers):
        memory.bytes[memory.region(index)] = pointer_contents(name, kind[1:], seed, rng, memory)
