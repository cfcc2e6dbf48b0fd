"""The GPU that PyTorch programs see where there is none: tensors on it are in this process's memory.

`device="cuda"` means the CPU to PyTorch; tensors say where the program has put them, and torch.cuda answers as a GPU of the target's kind."""

import contextlib
import time

import torch

from kiln.jit import gpu_operators, places, references, storages
from kiln.jit.moves import ATTRIBUTES, CONVERTS, MOVES, on_cpu

_MAKES_UNWRITTEN = ("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided")


class OnDevice(torch.overrides.TorchFunctionMode):
    def __init__(self, marks_unwritten):
        super().__init__()
        self.marks_unwritten = marks_unwritten

    def __torch_function__(self, function, types, args=(), kwargs=None):
        name = getattr(function, "__name__", "")
        kwargs = dict(kwargs or {})
        if name == "__get__":
            return self.attribute(function, args)
        move = MOVES.get(name)
        if move and (args and isinstance(args[0], torch.Tensor) or name in CONVERTS):
            result, place = move(function, args, kwargs)
        else:
            result, place = self.computed(function, name, args, kwargs)
        places.mark(result, place, name, args, kwargs)
        return result

    def attribute(self, function, args):
        """x.device, x.shape, x.grad …"""
        answer = ATTRIBUTES.get(function.__self__)
        result = function(*args)
        if answer:
            tensor = args[0]
            is_here = tensor.device.type == "cpu"  # and not meta
            return answer(places.of(tensor) or places.GPU) if is_here else result
        if function.__self__ is torch.Tensor.grad and result is not None:
            there = places.gradient_of(args[0], result)
            if there is not result:
                args[0].grad = there
            return there
        places.mark(result, None, "", args, {})
        return result

    def computed(self, function, name, args, kwargs):
        """What a function gives, and where the program has asked for it."""
        device = kwargs.get("device")
        if device is None and function is not torch.device:
            device = next((arg for arg in args if isinstance(arg, torch.device)), None)
            args = tuple(map(on_cpu, args)) if device is not None else args
        elif device is not None:
            kwargs["device"] = on_cpu(device)
        place = places.of_device(device)
        if kwargs.pop("pin_memory", False):
            place = places.PINNED
        if name in references.FUNCTIONS and getattr(function, "__module__", "") == "torch.nn.functional":
            references.used = True
            if references.enabled:
                return references.in_fp64(function, args, kwargs), place
        stand_in = gpu_operators.stand_in_for(name, kwargs)
        if stand_in:
            return stand_in(function, args, kwargs), place
        result = function(*args, **kwargs)
        if self.marks_unwritten and name in _MAKES_UNWRITTEN and isinstance(result, torch.Tensor):
            storages.fill_unwritten(result)
        return result, place


class Properties:
    """torch.cuda.get_device_properties."""

    def __init__(self, target):
        self.name = f"Kiln ({target.name})"
        self.major, self.minor = target.capability
        self.warp_size, self.multi_processor_count = target.warp_size, target.processors
        self.total_memory = 80 << 30
        self.shared_memory_per_block = 48 << 10
        self.shared_memory_per_block_optin = self.shared_memory_per_multiprocessor = target.shared_bytes
        self.gcnArchName = target.arch if target.is_hip else ""
        self.max_threads_per_multi_processor = 2048
        self.regs_per_multiprocessor = 65536
        self.L2_cache_size = 50 << 20

    def __repr__(self):
        return self.name


class Stream:
    """The one stream: launches are synchronous."""

    cuda_stream, device, priority = 0, torch.device("cuda", 0), 0

    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def query(self):
        return True

    def is_capturing(self):
        return False

    def record_event(self, event=None):
        event = event or Event()
        event.record()
        return event

    def synchronize(self):
        pass

    wait_event = wait_stream = lambda self, other: None


class Event:
    def __init__(self, *args, **kwargs):
        self.time = 0.0

    def record(self, stream=None):
        self.time = time.perf_counter()

    def elapsed_time(self, end):
        return 1000 * (end.time - self.time)

    def query(self):
        return True

    wait = synchronize = lambda self, *_: None


def _answers(target):
    """What torch.cuda says."""
    return {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "init": lambda: None,
        "_lazy_init": lambda: None,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "set_device": lambda *_: None,
        "device": lambda *_: contextlib.nullcontext(),
        "get_device_name": lambda *_: Properties(target).name,
        "get_device_properties": lambda *_: Properties(target),
        "get_device_capability": lambda *_: target.capability,
        "is_bf16_supported": lambda *_, **__: True,
        "synchronize": lambda *_: None,
        "empty_cache": lambda: None,
        "manual_seed": torch.manual_seed,
        "manual_seed_all": lambda *_: None,  # torch.manual_seed calls it
        "get_rng_state": lambda *_: torch.get_rng_state(),
        "set_rng_state": lambda state, *_: torch.set_rng_state(state),
        "memory_allocated": lambda *_: 0,
        "max_memory_allocated": lambda *_: 0,
        "reset_peak_memory_stats": lambda *_: None,
        "Stream": Stream,
        "stream": lambda *_: contextlib.nullcontext(),
        "current_stream": lambda *_: Stream(),
        "default_stream": lambda *_: Stream(),
        "Event": Event,
    }


def _answer_as_accelerator():
    """What torch.accelerator says."""
    answers = {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_accelerator": lambda *_, **__: torch.device("cuda"),
        "current_device_index": lambda: 0,
        "set_device_index": lambda *_: None,
        "current_stream": lambda *_: Stream(),
        "synchronize": lambda *_: None,
    }
    for name, answer in answers.items():
        setattr(torch.accelerator, name, answer)


def _answer_for_autocast():
    """Mixed precision of the device is the CPU's."""

    class Autocast(torch.amp.autocast_mode.autocast):
        def __init__(self, device_type, *args, **kwargs):
            super().__init__(on_cpu(device_type), *args, **kwargs)

    torch.autocast = torch.amp.autocast = torch.amp.autocast_mode.autocast = Autocast
    for name in ("custom_fwd", "custom_bwd"):

        def custom(*args, device_type, function=getattr(torch.amp, name), **kwargs):
            return function(*args, device_type=on_cpu(device_type), **kwargs)

        setattr(torch.amp, name, custom)
    for name in ("is_autocast_enabled", "get_autocast_dtype"):

        def asked(*args, function=getattr(torch, name)):
            return function(*map(on_cpu, args))

        setattr(torch, name, asked)


def _answer_for_checkpoints():
    """Recomputed tensors are compared by where they are: within an operator, where no mode sees them, as outside of it."""
    from torch.utils import checkpoint

    def described(tensor):
        with torch._C.DisableTorchFunction():
            return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}

    checkpoint._allowed_determinism_checks_to_fns["default"] = described


def _uncompiled(model=None, **options):
    """torch.compile: PyTorch's own compiler would need the GPU, so functions run as they are."""
    return model if model is not None else lambda function: function


def _keep_in_backward(mode):
    """Tensor.backward and torch.autograd.grad run a program's own backward functions; a mode is off within a function that it has
    seen. Gradients are where that is which they are of."""
    run = torch.autograd._engine_run_backward

    def run_on_device(roots, gradients, keep_graph, create_graph, inputs, *args, **kwargs):
        is_within = torch.overrides._get_current_function_mode() is mode
        with contextlib.nullcontext() if is_within else mode:
            results = run(roots, gradients, keep_graph, create_graph, inputs, *args, **kwargs)
        return tuple(places.gradient_of(*pair) for pair in zip(inputs, results)) if results else results

    torch.autograd._engine_run_backward = run_on_device


def install(target, marks_unwritten):
    for name, answer in _answers(target).items():
        setattr(torch.cuda, name, answer)
    _answer_as_accelerator()
    if target.is_hip:
        torch.version.hip = "6.4"
    torch.compile = _uncompiled
    _answer_for_autocast()
    _answer_for_checkpoints()

    class Generator(torch.Generator):
        def __new__(cls, device="cpu"):
            return super().__new__(cls, on_cpu(device))

    torch.Generator = Generator
    places.install()
    mode = OnDevice(marks_unwritten)
    mode.__enter__()
    _keep_in_backward(mode)
