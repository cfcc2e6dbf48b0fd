"""The memory that a launch may touch: the tensors that it is given, and what stands in them before anybody writes."""

import gc

import torch

from kiln.arrays import of_torch
from kiln.emulator import extent_in_bytes

# A NaN as fp64, fp32, fp16 and bf16, a large number as an integer; no program computes it.
UNWRITTEN = 0x7FFA7FC57FB37FE9
_MOST_FILLED = 1 << 28  # bytes
_MOST_ADDRESSES = 1 << 16  # of a tensor that may hold pointers


def fill_unwritten(tensor):
    """Marks all of a fresh tensor's storage as not written."""
    storage = tensor.untyped_storage()
    size = storage.nbytes()
    if storage.device.type != "cpu" or tensor.dtype is torch.bool or not 0 < size <= _MOST_FILLED:  # other bytes than 0 and 1 are no bool
        return
    octets = torch.empty(0, dtype=torch.uint8).set_(storage)
    whole = size // 8 * 8
    octets[:whole].view(torch.int64).fill_(UNWRITTEN)
    octets[whole:].copy_(torch.tensor(list(UNWRITTEN.to_bytes(8, "little"))[: size - whole], dtype=torch.uint8))


def _whole_storage(tensor):
    storage = tensor.untyped_storage()
    return storage.data_ptr(), storage.nbytes()


def behind_pointers(arguments):
    """Live tensors, one of each storage, at the addresses that integers among the arguments may be: tables of pointers."""
    addresses = set()
    for argument in arguments:
        tensor = argument.tensor
        if tensor is not None and tensor.dtype in (torch.int64, torch.uint64) and tensor.numel() <= _MOST_ADDRESSES:
            addresses.update(tensor.reshape(-1).tolist())
        elif tensor is None and (argument.type.startswith("*") or argument.type in ("i64", "u64")):
            addresses.add(argument.value.value or 0)
    addresses = sorted(address for address in addresses if address >= 1 << 32)
    found = {}
    if addresses:
        for thing in gc.get_objects():
            if issubclass(type(thing), torch.Tensor) and thing.layout is torch.strided:
                first, size = _whole_storage(thing)
                if any(first <= address < first + size for address in addresses):
                    found[first] = thing
    return list(found.values())


def _united(extents):
    """Extents apart from each other: those that share bytes become one."""
    united = []
    for first, size in sorted(extent for extent in extents if extent[1]):
        if united and first < united[-1][0] + united[-1][1]:
            last = united[-1]
            united[-1] = (last[0], max(last[1], first + size - last[0]))
        else:
            united.append((first, size))
    return united


class Registered:
    """Context of a launch: the emulator knows what the arguments point to."""

    def __init__(self, emulator, arguments, whole_storages):
        self.emulator = emulator
        tensors = [argument.tensor for argument in arguments if argument.tensor is not None]
        extents = [_whole_storage(t) if whole_storages else extent_in_bytes(of_torch(t)) for t in tensors]
        self.extents = _united([*extents, *map(_whole_storage, behind_pointers(arguments))])

    def __enter__(self):
        for first, size in self.extents:
            self.emulator.register_memory(first, size, UNWRITTEN)

    def __exit__(self, *_):
        for first, _size in self.extents:
            self.emulator.unregister_memory(first)
