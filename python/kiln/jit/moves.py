"""What moves tensors to the GPU that programs see and back, and what depends on where they are: each function gives the result of a function of
PyTorch's, and the place that the program has asked for."""

import torch

from kiln.jit import places


def on_cpu(device):
    """The device that PyTorch is to use for the one that a program names."""
    if isinstance(device, torch.device):
        return torch.device("cpu") if device.type == "cuda" else device
    return "cpu" if places.of_device(device) == places.GPU else device


def _to(function, args, kwargs):
    tensor, target = args[0], kwargs.get("device", kwargs.get("other", args[1] if len(args) > 1 else None))
    place = places.of(target) if isinstance(target, torch.Tensor) else places.of_device(target)
    if "device" in kwargs:
        kwargs["device"] = on_cpu(kwargs["device"])
    result = function(tensor, *map(on_cpu, args[1:2]), *args[2:], **kwargs)
    return places.carried(result, place, tensor), place


def _at(place):
    def move(_function, args, kwargs):
        tensor, format_ = args[0], kwargs.get("memory_format", torch.preserve_format)
        return places.carried(tensor.to(memory_format=format_), place, tensor), place

    return move


def _type(function, args, kwargs):
    tensor, target = args[0], kwargs.get("dtype", args[1] if len(args) > 1 else None)
    if target is None:
        name = function(tensor)
        return name if places.of(tensor) in (places.CPU, places.PINNED) else name.replace("torch.", "torch.cuda."), None
    if not isinstance(target, str):
        return function(*args, **kwargs), None
    place = places.GPU if target.startswith("torch.cuda.") else places.CPU
    result = function(tensor, target.replace("torch.cuda.", "torch."))
    return places.carried(result, place, tensor), place


def _type_as(function, args, kwargs):
    place = places.of(args[1] if len(args) > 1 else kwargs["other"])
    return places.carried(function(*args, **kwargs), place, args[0]), place


def _converted(function, args, kwargs):
    """as_tensor and asarray: what is there already is not copied, but onto another device."""
    data, device = args[0] if args else kwargs.get("data", kwargs.get("obj")), kwargs.pop("device", None)
    result = function(*args, device=on_cpu(device), **kwargs)
    place = places.of_device(device)
    if place is None:
        return result, None
    if isinstance(data, torch.Tensor):
        return places.carried(result, place, data), place
    return result.clone() if place == places.GPU else result, place


def _as_array(function, args, kwargs):
    tensor = args[0]
    is_forced = kwargs.get("force", False) or function.__name__ == "numpy" and args[1:2] == (True,)
    if places.of(tensor) == places.GPU and not is_forced:
        raise TypeError("a tensor on cuda:0 is no NumPy array: copy it with .cpu() first")
    return function(*args, **kwargs), None


def _get_device(function, args, kwargs):
    return (-1 if places.of(args[0]) in (places.CPU, places.PINNED) else 0), None


def _is_pinned(function, args, kwargs):
    return places.of(args[0]) == places.PINNED, None


CONVERTS = ("as_tensor", "asarray")  # of anything, while all others are methods of tensors
MOVES = {
    "to": _to,
    "cuda": _at(places.GPU),
    "cpu": _at(places.CPU),
    "pin_memory": _at(places.PINNED),
    "type": _type,
    "type_as": _type_as,
    "as_tensor": _converted,
    "asarray": _converted,
    "numpy": _as_array,
    "__array__": _as_array,
    "get_device": _get_device,
    "is_pinned": _is_pinned,
}

# What a tensor says of where it is, by its place.
ATTRIBUTES = {
    torch.Tensor.device: lambda place: torch.device("cuda", 0) if place == places.GPU else torch.device("cpu"),
    torch.Tensor.is_cuda: lambda place: place == places.GPU,
    torch.Tensor.is_cpu: lambda place: place != places.GPU,
}
