"""The arguments of a launch by the names that the C function has for them, and the memory that they point to."""

import ctypes

import torch

from kiln import element_types
from kiln.jit import launch_spec
from kiln.jit.storages import behind_pointers
from kiln.record.capture import Argument, Storage


def _leaves(name, spelled):
    """The names of a signature's value and what each is: a tuple's elements are NAME_0, those of a named one NAME_FIELD."""
    if isinstance(spelled, dict) and "namedtuple" in spelled:
        for field, item in spelled["namedtuple"].items():
            yield from _leaves(f"{name}_{field}", item)
    elif isinstance(spelled, list):
        for index, item in enumerate(spelled):
            yield from _leaves(f"{name}_{index}", item)
    else:
        yield name, spelled


def named_arguments(launch, at_run_time, storages):
    """What is passed at run time, and the ones that Triton compiles in, which the C function takes all the same."""
    arguments = list(_named(launch, at_run_time))
    for argument in arguments:
        is_word = argument.type in ("i64", "u64") and argument.value >= 1 << 32
        if is_word and any(storage.holds(argument.value) for storage in storages):
            argument.address = argument.value
    return arguments


def _named(launch, at_run_time):
    left = iter(at_run_time)
    for parameter, value in launch.values.items():
        if value.promise == "1":
            yield Argument(parameter, "i32", 1)
            continue
        for name, leaf in _leaves(parameter, value.type if value.type else value.constant):
            if isinstance(leaf, str):
                yield _argument(name, next(left))
            elif type(leaf) is int and name != parameter:
                yield Argument(name, "i32" if -(1 << 31) <= leaf < 1 << 31 else "i64", leaf)


def _argument(name, passed):
    type_ = passed.type.partition(":")[0]
    if type_.startswith("tensordesc"):
        tensor = passed.value
        shape, strides = tensor.shape[: tensor.rank], tensor.strides[: tensor.rank]
        return Argument(name, type_, address=tensor.base or 0, shape=shape, strides=strides)
    value = passed.value.value
    if type_.startswith("*"):
        shape, strides = (tuple(passed.tensor.shape), tuple(passed.tensor.stride())) if passed.tensor is not None else (None, None)
        return Argument(name, type_, address=value or 0, shape=shape, strides=strides)
    return Argument(name, type_, value)


def _octets(storage):
    if storage.device.type != "cpu":
        octets = torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage).cpu()
        return ctypes.string_at(octets.data_ptr(), storage.nbytes())
    return ctypes.string_at(storage.data_ptr(), storage.nbytes()) if storage.nbytes() else b""


def tensors_in(values):
    """Those that a program passes, also as descriptors, as arguments that storages_of() takes."""
    tensors = [getattr(value, "base", None) if not isinstance(value, torch.Tensor) else value for value in values]
    return [launch_spec.Argument("", None, tensor) for tensor in tensors if isinstance(tensor, torch.Tensor)]


def storages_of(at_run_time):
    """The whole storages of the tensors, and of those at addresses that the arguments hold, each once."""
    found = {}
    for tensor in [*(passed.tensor for passed in at_run_time if passed.tensor is not None), *behind_pointers(at_run_time)]:
        if tensor.untyped_storage().data_ptr():
            found.setdefault(tensor.untyped_storage().data_ptr(), tensor)
    return [_storage(tensor) for tensor in found.values()]


def _storage(tensor):
    storage = tensor.untyped_storage()
    element = element_types.of_array(str(tensor.dtype).removeprefix("torch.")) or "u8"
    return Storage(storage.data_ptr(), storage.nbytes(), lambda: _octets(storage), element)
