"""The GPU that PyTorch programs see where there is none: tensors on it are in this process's memory.

`device="cuda"` means the CPU to PyTorch, and tensors say that they are on the GPU; torch.cuda answers as one of the target's kind."""

import contextlib
import time

import torch

from kiln.jit import gpu_operators, references, storages

_MAKES_UNWRITTEN = ("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided")
_TAKES_DEVICE = ("to", "empty", "tensor", "type")


def on_cpu(value):
    if isinstance(value, str) and (value == "cuda" or value.startswith("cuda:")):
        return "cpu"
    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device("cpu")
    return value


class OnDevice(torch.overrides.TorchFunctionMode):
    def __init__(self, marks_unwritten):
        super().__init__()
        self.marks_unwritten = marks_unwritten

    def __torch_function__(self, function, types, args=(), kwargs=None):
        described = getattr(function, "__self__", None)
        if described is torch.Tensor.device:
            return torch.device("cuda", 0)
        if described is torch.Tensor.is_cuda:
            return True
        kwargs = dict(kwargs or {})
        if "device" in kwargs:
            kwargs["device"] = on_cpu(kwargs["device"])
        kwargs.pop("pin_memory", None)
        name = getattr(function, "__name__", "")
        if name in ("cuda", "pin_memory"):
            return args[0]
        if name in _TAKES_DEVICE or any(isinstance(arg, torch.device) for arg in args):
            args = tuple(map(on_cpu, args))
        if name in references.FUNCTIONS and getattr(function, "__module__", "") == "torch.nn.functional":
            references.used = True
            if references.enabled:
                return references.in_fp64(function, args, kwargs)
        stand_in = gpu_operators.stand_in_for(name, kwargs)
        if stand_in:
            return stand_in(function, args, kwargs)
        result = function(*args, **kwargs)
        if self.marks_unwritten and name in _MAKES_UNWRITTEN and isinstance(result, torch.Tensor):
            storages.fill_unwritten(result)
        return result


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


def _uncompiled(model=None, **options):
    """torch.compile: PyTorch's own compiler would need the GPU, so functions run as they are."""
    return model if model is not None else lambda function: function


def _keep_in_backward(mode):
    """Tensor.backward and torch.autograd.grad run a program's own backward functions; a mode is off within a function that it has
    seen."""
    run = torch.autograd._engine_run_backward

    def run_on_device(*args, **kwargs):
        if torch.overrides._get_current_function_mode() is mode:
            return run(*args, **kwargs)
        with mode:
            return run(*args, **kwargs)

    torch.autograd._engine_run_backward = run_on_device


def install(target, marks_unwritten):
    for name, answer in _answers(target).items():
        setattr(torch.cuda, name, answer)
    if target.is_hip:
        torch.version.hip = "6.4"
    torch.compile = _uncompiled
    _answer_for_autocast()

    class Generator(torch.Generator):
        def __new__(cls, device="cpu"):
            return super().__new__(cls, on_cpu(device))

    torch.Generator = Generator
    mode = OnDevice(marks_unwritten)
    mode.__enter__()
    _keep_in_backward(mode)
