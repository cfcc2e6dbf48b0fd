"""Which tensors are on the GPU that programs see, and which they have left on the CPU.

All are in this process's memory, so it is the storage that says it, by an attribute: PyTorch keeps that as long as the storage. An
operator's new results are where its arguments are. What nobody has seen being made, such as a gradient that PyTorch adds up,
has no mark: it counts as being on the GPU, kernels and NumPy take it, and whatever moves it copies it."""

import torch
import torch.utils._device

GPU, CPU, PINNED = "cuda", "cpu", "pinned"

# They make tensors on the CPU unless they are given a device, whatever their arguments are.
_MAKES = frozenset(
    "empty empty_permuted empty_strided ones zeros full eye arange range linspace logspace rand randn randint randperm scalar_tensor "
    "tril_indices triu_indices bartlett_window blackman_window hamming_window hann_window kaiser_window".split()
)
_CONVERTS = frozenset(("tensor", "as_tensor", "asarray"))  # these keep the place of a tensor


def of_device(device):
    """The place that a program's `device` names; None: none of these (a dtype, device "meta")."""
    if isinstance(device, int) and not isinstance(device, bool):
        return GPU
    kind = getattr(device, "type", device) if not isinstance(device, torch.Tensor) else None
    kind = kind.partition(":")[0] if isinstance(kind, str) else None
    return kind if kind in (GPU, CPU) else None


def storage_of(tensor):
    """None: a tensor of another kind (sparse, of torch.func …)."""
    try:
        return tensor.untyped_storage()
    except (RuntimeError, NotImplementedError):
        return None


def of(tensor):
    """The place of a tensor; None: nobody has said."""
    return getattr(storage_of(tensor), "kiln_place", None)


def put(tensor, place):
    storage = storage_of(tensor)
    if storage is not None:
        storage.kiln_place = place
    return tensor


def carried(result, place, source=None):
    """`result`, made of `source`, at another place: a copy unless it is there, or is one already."""
    storage = storage_of(result)
    now = getattr(storage, "kiln_place", None)
    if storage is None or place is None or now == place or (now, place) == (PINNED, CPU):
        return result
    if source is not None and storage is not storage_of(source):
        return put(result, place)
    return put(result.to(result.device, copy=True), place)


def gradient_of(tensor, gradient):
    """A gradient at its tensor's place. PyTorch has not copied it on its way back through a move: it may be a view of another's storage."""
    if not isinstance(tensor, torch.Tensor) or not isinstance(gradient, torch.Tensor):
        return gradient
    place, now = of(tensor), of(gradient)
    if now is None and place:
        return put(gradient, place)
    return carried(gradient, place)


def _tensors_in(values):
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors_in(value)


def of_result(name, args, kwargs):
    """Where what a function has made is; None: nobody has said."""
    if name in _MAKES:
        return CPU
    if name in _CONVERTS:
        data = args[0] if args else kwargs.get("data", kwargs.get("obj"))
        return of(data) if isinstance(data, torch.Tensor) else CPU
    found = {of(tensor) for tensor in _tensors_in((*args, *kwargs.values()))}
    if GPU in found:
        return GPU
    return CPU if None not in found and (found or name == "normal") else None


def mark(result, place, name, args, kwargs):
    """Marks new storages among the results of a function, which a program has told to make them at `place`, if at any."""
    results = (result,) if isinstance(result, torch.Tensor) else result
    if not isinstance(results, (tuple, list)):
        return
    for tensor in results:
        storage = storage_of(tensor) if isinstance(tensor, torch.Tensor) else None
        if storage is None or hasattr(storage, "kiln_place"):
            continue
        place = place or of_result(name, args, kwargs)
        if place is None:
            return
        storage.kiln_place = place


def refuse_cpu(kernel, values, names):
    """What a GPU cannot access is no argument of a kernel: ValueError, as in Triton."""
    for name, value in zip(names, values):
        if isinstance(value, (tuple, list)):
            refuse_cpu(kernel, value, (f"{name}[{index}]" for index in range(len(value))))
            continue
        tensor = value if isinstance(value, torch.Tensor) else getattr(value, "base", None)  # of a descriptor, or of another type
        if isinstance(tensor, torch.Tensor) and tensor.numel() and of(tensor) == CPU:
            raise ValueError(f"{kernel}: {name} is a tensor on the CPU, which a kernel cannot access: copy it with .to('cuda')")


def _tag(storage):
    """Where torch.save says that a storage is."""
    place = getattr(getattr(storage, "_untyped_storage", storage), "kiln_place", None)
    return {GPU: "cuda:0", CPU: "cpu", PINNED: "cpu"}.get(place)


def _restore(storage, location):
    place = of_device(location)
    if place is None:
        return None
    storage.kiln_place = place
    return storage


def _made_on_cpu(function):
    """Of the few functions that modes do not see."""

    def make(data, *args, **kwargs):
        result = function(data, *args, **kwargs)
        return put(result, (of(data) or GPU) if isinstance(data, torch.Tensor) else CPU)

    return make


def _with_default(context, function, _types, args=(), kwargs=None):
    """DeviceContext.__torch_function__: what torch.set_default_device and `with torch.device(…)` are for."""
    kwargs = kwargs or {}
    applies = kwargs.get("device") is None and function in torch.utils._device._device_constructors()
    if not applies:
        return function(*args, **kwargs)
    place = of_device(context.device)
    result = function(*args, **{**kwargs, "device": "cpu" if place == GPU else context.device})
    source = next((value for value in (*args[:1], *kwargs.values()) if isinstance(value, torch.Tensor)), None)
    return carried(result, place, source) if source is not None or place is None else put(result, place)


def install():
    torch.utils._device.DeviceContext.__torch_function__ = _with_default
    for name in ("from_numpy", "frombuffer", "from_dlpack"):
        setattr(torch, name, _made_on_cpu(getattr(torch, name)))
    torch.serialization.register_package(5, _tag, _restore)
