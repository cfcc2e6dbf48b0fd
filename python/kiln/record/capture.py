"""Inputs and outputs of launches, kept in a folder for `kiln verify`: docs/record.md describes its files.

A launch is kept with the whole storages of its tensors, as bytes before and after it: tensors that share a storage share it in a
replay, whatever their strides. Where integers in these storages, or among the arguments, are addresses of other tensors, their
storages are kept, too, and the addresses as places in them."""

import array
import ctypes
import json
import os
import pathlib
import shutil
import struct
import tempfile

from kiln import element_types

VERSION = 1
INDEX = "capture.json"

_NPY_TYPES = {"i1": "|b1", "fp16": "<f2", "fp32": "<f4", "fp64": "<f8", "bf16": "<u2"}


class CaptureError(Exception):
    """The folder cannot be used: the text says why."""


def npy_type(element):
    """How .npy files spell elements: those that NumPy lacks are their bits."""
    if element in element_types.FP8:
        return "|u1"
    if element in _NPY_TYPES:
        return _NPY_TYPES[element]
    size = int(element[1:]) // 8
    return ("|" if size == 1 else "<") + element[0] + str(size)


def write_npy(path, element, octets):
    """The octets as elements, one after the other; octets that are no whole elements as they are."""
    size = ctypes.sizeof(element_types.C_TYPES[element])
    element, size = (element, size) if len(octets) % size == 0 else ("u8", 1)
    header = f"{{'descr': '{npy_type(element)}', 'fortran_order': False, 'shape': ({len(octets) // size},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(octets)


class Storage:
    """Memory that a launch may touch. `read()` gives its octets now; `element` is what a tensor in it has."""

    def __init__(self, address, size, read, element="u8"):
        self.address, self.size, self.read, self.element = address, size, read, element

    def holds(self, address):
        return self.address <= address < self.address + max(self.size, 1)

    def ends_at(self, address):
        return self.address + self.size == address


class Argument:
    """What a launch passes for one argument of the C function.

    A scalar has `value`; an array `address`, and where it is a tensor `shape` and `strides` in elements."""

    def __init__(self, name, type_, value=None, address=None, shape=None, strides=None):
        self.name, self.type, self.value = name, type_, value
        self.address, self.shape, self.strides = address, shape, strides

    @property
    def element(self):
        """Of what the address points to; "": of pointers."""
        if self.type.startswith("tensordesc"):
            return self.type.partition("<")[2].partition("[")[0]
        depth = len(self.type) - len(self.type.lstrip("*"))
        return self.type[depth:].removeprefix("k") if depth == 1 else ""


def scalar_json(type_, value):
    if type_ in element_types.INTEGERS or type_ == "i1":
        return {"type": type_, "value": int(value)}
    octets = bytes(element_types.C_TYPES[type_](value))
    return {"type": type_, "bits": f"0x{int.from_bytes(octets, 'little'):x}"}


def _argument_json(argument, storages):
    if argument.address is None:
        return scalar_json(argument.type, argument.value)
    written = {"type": argument.type}
    if argument.address:
        found = [s for s in storages if s.holds(argument.address)] or [s for s in storages if s.ends_at(argument.address)]
        if not found:
            raise CaptureError(f"its argument '{argument.name}' points into no tensor")
        written |= {"storage": storages.index(found[0]), "offset": argument.address - found[0].address}
    else:
        written["null"] = True
    if argument.shape is not None:
        written |= {"shape": list(argument.shape), "strides": list(argument.strides)}
    return written


def _pointers_in(octets, storages):
    """Places of 8 octets that are the address of a byte of a storage: [place, storage, place there]."""
    if len(octets) % 8 or len(octets) > 1 << 19:
        return []
    found = []
    for index, (word,) in enumerate(struct.iter_unpack("<Q", octets)):
        for number, storage in enumerate(storages):
            if word >= 1 << 32 and storage.holds(word):
                found.append([8 * index, number, word - storage.address])
    return found


_WORDS = {1: "B", 2: "H", 4: "I", 8: "Q"}  # of array.array


def before_trials(earlier, before, after, element):
    """What a storage held before an autotuner's trials, where the launch behind them has written what they had written already.

    Elements that it has changed, or reads and leaves alone, are as they were before it."""
    size = ctypes.sizeof(element_types.C_TYPES[element])
    if earlier == before or len(earlier) != len(before) or len(before) % size:
        return before
    views = (memoryview(octets).cast(_WORDS[size]) for octets in (earlier, before, after))
    return array.array(_WORDS[size], (e if b == a else b for e, b, a in zip(*views))).tobytes()


_ROUNDING = {"fp64": 1e-6, "fp32": 1e-3, "fp16": 1e-2, "bf16": 4e-2}  # how far configs are apart that compute the same


def _numbers(octets, element):
    if element == "bf16":
        return (struct.unpack("<f", struct.pack("<I", bits << 16))[0] for (bits,) in struct.iter_unpack("<H", octets))
    formats = {"fp64": "<d", "fp32": "<f", "fp16": "<e"}
    size = ctypes.sizeof(element_types.C_TYPES[element])
    return (number for (number,) in struct.iter_unpack(formats.get(element, "<" + _WORDS[size]), octets))


def are_trials_changed_again(earlier, before, after, element):
    """Whether a launch has changed what an autotuner's trials had changed, by more than configs of one kernel round apart. Then it reads
    what it writes: whoever only writes would have written the same."""
    size = ctypes.sizeof(element_types.C_TYPES[element])
    if earlier == before or before == after or len(earlier) != len(before) or len(before) % size:
        return False
    rounding = _ROUNDING.get(element, 0)
    triples = zip(*(_numbers(octets, element) for octets in (earlier, before, after)))
    return any(e != b and abs(a - b) > rounding * abs(a) for e, b, a in triples)


class Pending:
    """A launch whose outputs are yet to come."""

    def __init__(self, key, arguments, storages, facts):
        self.key, self.arguments, self.storages = key, arguments, storages
        self.facts = {**facts, "arguments": [{"name": a.name, **_argument_json(a, storages)} for a in arguments]}
        self.before = [storage.read() for storage in storages]
        holders = [argument for argument in arguments if argument.address and argument.element in ("", "i64", "u64")]
        self.pointers = [
            _pointers_in(octets, storages) if any(storage.holds(argument.address) for argument in holders) else []
            for storage, octets in zip(storages, self.before)
        ]

    def element_of(self, storage):
        """That of all arguments that point into it, or of a tensor to which no argument leads directly; where they differ, octets."""
        elements = {argument.element or "u64" for argument in self.arguments if argument.address and storage.holds(argument.address)}
        if not elements:
            return storage.element
        return elements.pop() if len(elements) == 1 else "u8"


class Capture:
    def __init__(self, folder, most, limit):
        """Keeps at most `most` launches of a variant and `limit` octets in all."""
        self.folder, self.most, self.limit = pathlib.Path(folder), most, limit
        self.counts, self.size = {}, 0
        self._earlier = {}  # address of a storage -> what it held before an autotuner's trials
        self.left_out = {}  # kernel -> why
        self.unrestored = set()  # kernels that have read what their autotuner's trials had written
        self.launches = []  # their facts, with the launch that they are of
        if self.folder.exists() and not (self.folder / INDEX).is_file():
            raise CaptureError(f"{folder} is there already and is no capture: expected another --capture-folder")
        try:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            self.work = pathlib.Path(tempfile.mkdtemp(prefix=self.folder.name + ".", dir=self.folder.parent))
        except OSError as error:
            raise CaptureError(f"cannot write to {self.folder.parent}: {error.strerror}") from None

    def begin(self, kernel, key, arguments, storages, facts):
        """Keeps what storages hold before a launch; None: enough of its kind are there, or it is too large."""
        if self.counts.get(key, 0) >= self.most:
            return None
        wanted = sum(storage.size for storage in storages)
        if self.size + 2 * wanted > self.limit:
            self.left_out[kernel] = (
                f"a launch may take {-(-2 * wanted // 2**20)} MiB, {max(0, self.limit - self.size) // 2**20} MiB of "
                f"--capture-limit {self.limit // 2**20} are left"
            )
            return None
        try:
            pending = Pending(key, arguments, storages, facts)
        except CaptureError as error:
            self.left_out[kernel] = str(error)
            return None
        self.counts[key] = self.counts.get(key, 0) + 1
        return pending

    def begin_trials(self, storages):
        """An autotuner is about to time configs."""
        if self.size + sum(storage.size for storage in storages) <= self.limit:
            self._earlier = {storage.address: storage.read() for storage in storages}

    def end_trials(self):
        """The launch that follows them has been made."""
        self._earlier = {}

    def abandon(self, pending):
        """The launch failed."""
        self.counts[pending.key] -= 1

    def end(self, pending, launch):
        """After the launch: writes its files."""
        name = f"{len(self.launches):04}-{launch.kernel}"
        (self.work / name).mkdir()
        stored = [self._store(launch.kernel, pending, number, f"{name}/{number}") for number in range(len(pending.storages))]
        self.launches.append((launch, {**pending.facts, "storages": stored}))

    def _store(self, kernel, pending, number, stem):
        storage, before = pending.storages[number], pending.before[number]
        after, element = storage.read(), pending.element_of(storage)
        earlier = self._earlier.get(storage.address, before)
        if are_trials_changed_again(earlier, before, after, element):
            self.unrestored.add(kernel)
        before = before_trials(earlier, before, after, element)
        entry = {"bytes": storage.size, "type": element, "before": f"{stem}.before.npy"}
        write_npy(self.work / entry["before"], element, before)
        if after != before:
            entry["after"] = f"{stem}.after.npy"
            write_npy(self.work / entry["after"], element, after)
        self.size += storage.size * (2 if after != before else 1)
        if pending.pointers[number]:
            entry["pointers"] = pending.pointers[number]
        return entry

    def write(self, name_of, recorded_on):
        """Makes the folder, in place of an older capture: all or nothing. `name_of(launch)`: of its C function, None: left out."""
        named = [(name_of(launch), facts) for launch, facts in self.launches]
        kept = [{"function": name, **facts} for name, facts in named if name]
        index = {"kiln_capture": VERSION, "recorded_on": recorded_on, "launches": kept}
        (self.work / INDEX).write_text(json.dumps(index, indent=1) + "\n")
        os.chmod(self.work, 0o755)
        if self.folder.exists():
            shutil.rmtree(self.folder)
        self.work.rename(self.folder)
        return len(kept)

    def discard(self):
        shutil.rmtree(self.work, ignore_errors=True)
