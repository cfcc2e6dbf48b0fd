"""What becomes of kernel[grid](…): Kiln compiles the kernel for what Triton's binder says of the arguments, and runs it."""

import contextlib
import ctypes
import sys
import time
import types
import warnings

import triton
from triton.runtime.jit import JITFunction, compute_cache_key

from kiln.jit import launch_spec, places, storages
from kiln.jit.compiled import Compiled, CompiledText
from kiln.jit.kernel_source import KernelSource
from kiln.jit.literals import Unwritable
from kiln.jit.refusals import Refusal, refusal_of
from kiln.toolchain import BuildError


# What Triton warns of when it compiles, too.
TRITONS_WARNINGS = ("sema-where-condition", "sema-old-byte-float")


class LaunchError(RuntimeError):
    """The launch failed, or the emulator's checks found something: `reports`, with places in the program's own files."""

    def __init__(self, text, reports=()):
        super().__init__("\n".join(reports) if reports else text)
        self.reports = list(reports)


def refuse_contradictions(kernel):
    """What Triton says of marks of a kernel that are not in the source that Kiln is given."""
    for parameter in kernel.params:
        if parameter.is_constexpr and (parameter.do_not_specialize or parameter.do_not_specialize_on_alignment):
            raise Refusal(f"{kernel.__name__}: {parameter.name} marked as constexpr and listed in do_not_specialize/do_not_specialize_on_alignment")


class Bound:
    """A launch as Triton's binder and Triton itself describe it."""

    def __init__(self, kernel, args, kwargs):
        self.kernel, self.kwargs = kernel, kwargs
        self.kernels, keys, self.target, self.backend, binder = kernel.device_caches[0]
        self.values, self.specialization, options = binder(*args, **kwargs)
        self.key = compute_cache_key(keys, self.specialization, options)
        self.options, self.signature, self.constants, self.attributes = kernel._pack_args(
            self.backend, kwargs, self.values, self.specialization, options
        )

    def call(self, hook, is_warmup):
        """A hook of triton.knobs.runtime for kernels that are compiled; True: it wants nothing to be."""
        if not hook or self.key in self.kernels:
            return False
        arguments = (self.key, self.signature, self.target, 0, self.constants, self.options, [self.attributes], is_warmup)
        return bool(self.kernel._call_hook(hook, *arguments))


class Prepared:
    """A launch whose library is there."""

    def __init__(self, path, source, launch, arguments, signature):
        self.path, self.source, self.options, self.bound = path, source, launch.options, launch.values
        self.arguments, self.signature = arguments, signature


class Launcher:
    def __init__(self, device, cache, whole_storages=False, portable=False):
        self.device, self.cache, self.whole_storages, self.portable = device, cache, whole_storages, portable
        self.warned = set()  # libraries whose warnings have been given
        self.functions = {}
        self.observers = []  # called with (kernel, Prepared, grid) before a launch
        self.launches, self.seconds, self.findings = 0, 0.0, []

    def forget(self):
        """Begins a test."""
        self.launches, self.findings = 0, []

    def prepare(self, launch):
        """Makes a library for the arguments."""
        __tracebackhide__ = True
        kernel, source = launch.kernel, KernelSource()
        try:
            home, name = source.function(kernel)
            arguments = launch_spec.Arguments(source, home)
            signature = {
                parameter.name: arguments.signature_value(kind, None if kind == "constexpr" else hint, launch.values[parameter.name])
                for parameter, (kind, hint, *_) in zip(kernel.params, launch.specialization)
            }
        except Unwritable as error:
            raise Refusal(f"{kernel.__name__}: Kiln cannot write down {error}") from None
        path = self.library(source, home, name, signature, vars(launch.options), launch.kwargs.get("debug"))
        return Prepared(path, source, launch, arguments.at_run_time, signature)

    def library(self, source, home, name, signature, options, debug=False):
        __tracebackhide__ = True
        spec = launch_spec.spec_of(self.device.target, home.file, name, signature, options, debug, self.portable)
        try:
            path = self.cache.library(source.files(), spec)
        except BuildError as error:
            refusal = refusal_of(source, str(error))
            raise refusal from refusal.__cause__
        if path not in self.warned:
            self.warned.add(path)
            for warning in self.cache.warnings(path):
                if any(f"[{kind}]" in warning for kind in TRITONS_WARNINGS):
                    warnings.warn(source.original_places(warning), stacklevel=2)
        return path

    def run(self, kernel, *args, grid, warmup, **kwargs):
        __tracebackhide__ = True
        kwargs["debug"] = kwargs.get("debug", kernel.debug) or triton.knobs.runtime.debug
        for hook in kernel.pre_run_hooks:
            hook(*args, **kwargs)
        refuse_contradictions(kernel)
        launch, hooks = Bound(kernel, args, kwargs), triton.knobs.runtime
        if launch.call(hooks.jit_cache_hook, warmup):
            return None
        prepared = self.prepare(launch)
        compiled = Compiled(kernel, launch.options, self, prepared.path, launch.signature, launch.constants)
        launch.call(hooks.jit_post_compile_hook, warmup)
        launch.kernels[launch.key] = compiled
        if not warmup:
            places.refuse_cpu(kernel.__name__, launch.values.values(), launch.values)
            grid = grid(launch.values) if callable(grid) else grid
            sizes = [int(size) for size in (*grid, 1, 1, 1)][:3]
            for observe in self.observers:
                observe(kernel, prepared, sizes)
            self.launch(prepared, sizes)
        return compiled

    def launch(self, prepared, grid):
        __tracebackhide__ = True
        function = self.functions.get(prepared.path)
        if function is None:
            function = self.functions[prepared.path] = ctypes.CDLL(str(prepared.path)).k
        emulator = self.device.emulator
        registered = contextlib.nullcontext()
        if self.device.check:
            registered = storages.Registered(emulator, prepared.arguments, self.whole_storages)
        self.launches += 1
        sys.stdout.flush()  # a kernel's own prints come behind what was printed before
        begin = time.monotonic()
        with registered:
            values = [argument.value for argument in prepared.arguments]
            status = function(self.device.stream, *map(ctypes.c_uint32, grid), *values)
        self.seconds += time.monotonic() - begin
        if status:
            text = self.device.last_error()
            reports = emulator.take_reports() if emulator else []
            reports = [prepared.source.original_places(report) for report in reports]
            self.findings += reports
            raise LaunchError(prepared.source.original_places(text), reports)

    def parse_only(self, kernel, args=(), kwargs=None, target=None):
        """triton._filecheck.run_parser: whether Kiln compiles the kernel; there is no IR of Triton's to look at."""
        refuse_contradictions(kernel)
        self.prepare(Bound(kernel, args, dict(kwargs or {})))
        return CompiledText()

    def compile_source(self, src, target=None, options=None, _env_vars=None, **ignored):
        """triton.compile(ASTSource(…)): whether Kiln compiles it."""
        if not hasattr(src, "fn"):
            Compiled(None, None, self).skip("compiles IR of Triton's")
        refuse_contradictions(src.fn)
        source = KernelSource()
        try:
            home, name = source.function(src.fn)
            signature = launch_spec.signature_of(src, launch_spec.Arguments(source, home))
        except Unwritable as error:
            raise Refusal(f"{src.fn.__name__}: Kiln cannot write down {error}") from None
        self.warned.clear()  # a compilation of its own
        options = dict(options or {})
        path = self.library(source, home, name, signature, options, options.get("debug"))
        return Compiled(src.fn, types.SimpleNamespace(**options), self, path, src.signature, src.constants)


def install(launcher):
    """Every @triton.jit function runs by the launcher from now on."""
    import triton._filecheck
    import triton.compiler

    def run(kernel, *args, **named):
        __tracebackhide__ = True
        return launcher.run(kernel, *args, **named)

    JITFunction.run = run
    triton.compile = triton.compiler.compile = launcher.compile_source
    triton._filecheck.run_parser = launcher.parse_only
    triton._filecheck.run_filecheck = lambda *_: None  # there is no IR of Triton's


def limit_autotuner(count):
    """The autotuner tries the first `count` configs: each has to be compiled and run."""
    from triton.runtime.autotuner import Autotuner

    prune = Autotuner.prune_configs
    Autotuner.prune_configs = lambda tuner, named: list(prune(tuner, named))[:count]
