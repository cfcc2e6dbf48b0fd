"""What becomes of kernel[grid](…): Kiln compiles the kernel for what Triton's binder says of the arguments, and runs it."""

import contextlib
import ctypes
import sys
import time
import warnings

import triton
from triton.compiler.errors import CompilationError, CompileTimeAssertionFailure
from triton.runtime.jit import JITFunction

from kiln.jit import launch_spec, places, storages
from kiln.jit.compiled import Compiled, CompiledText
from kiln.jit.kernel_source import KernelSource
from kiln.jit.literals import Unwritable
from kiln.toolchain import BuildError


# What Triton warns of when it compiles, too.
TRITONS_WARNINGS = ("sema-where-condition", "sema-old-byte-float")


class Refusal(CompilationError):
    """Kiln does not compile the kernel: its text is the message."""

    def __init__(self, text):
        Exception.__init__(self, text)
        self.src = self.node = None
        self.error_message = self.message = text
        cause = ValueError(text)
        cause.error_message = cause.message = text
        self.__cause__ = cause

    def __str__(self):
        return self.message

    def __reduce__(self):
        return type(self), (self.message,)


class FailedStaticAssert(Refusal, CompileTimeAssertionFailure):
    pass


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


class Prepared:
    """A launch whose library is there."""

    def __init__(self, path, source, options, bound, arguments, signature):
        self.path, self.source, self.options, self.bound = path, source, options, bound
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

    def prepare(self, kernel, args, kwargs):
        """Binds the arguments as Triton does, and makes a library for them."""
        __tracebackhide__ = True
        refuse_contradictions(kernel)
        _, _, _target, backend, binder = kernel.device_caches[0]
        bound, specialization, options = binder(*args, **kwargs)
        options, *_ = kernel._pack_args(backend, kwargs, bound, specialization, options)
        source = KernelSource()
        try:
            home, name = source.function(kernel)
            arguments = launch_spec.Arguments(source, home)
            signature = {
                parameter.name: arguments.signature_value(
                    kind, None if kind == "constexpr" else hint, bound[parameter.name]
                )
                for parameter, (kind, hint, *_) in zip(kernel.params, specialization)
            }
        except Unwritable as error:
            raise Refusal(f"{kernel.__name__}: Kiln cannot write down {error}") from None
        path = self.library(source, home, name, signature, vars(options), kwargs.get("debug"))
        return Prepared(path, source, options, bound, arguments.at_run_time, signature)

    def library(self, source, home, name, signature, options, debug=False):
        __tracebackhide__ = True
        spec = launch_spec.spec_of(self.device.target, home.file, name, signature, options, debug, self.portable)
        try:
            path = self.cache.library(source.files(), spec)
        except BuildError as error:
            text = source.original_places(str(error))
            raise (FailedStaticAssert if "[sema-static-assert" in text else Refusal)(text) from None
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
        prepared = self.prepare(kernel, args, kwargs)
        if not warmup:
            places.refuse_cpu(kernel.__name__, prepared.bound.values(), prepared.bound)
            grid = grid(prepared.bound) if callable(grid) else grid
            sizes = [int(size) for size in (*grid, 1, 1, 1)][:3]
            for observe in self.observers:
                observe(kernel, prepared, sizes)
            self.launch(prepared, sizes)
        return Compiled(kernel, prepared.options, self)

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
        self.prepare(kernel, args, dict(kwargs or {}))
        return CompiledText()

    def compile_source(self, src, target=None, options=None, _env_vars=None, **ignored):
        """triton.compile(ASTSource(…)): whether Kiln compiles it."""
        if not hasattr(src, "fn"):
            Compiled(None, None, self).skip("compiles IR of Triton's")
        refuse_contradictions(src.fn)
        names = [parameter.name for parameter in src.fn.params]

        def name_of(key):
            key = key[0] if isinstance(key, tuple) else key
            return names[key] if isinstance(key, int) else key

        source = KernelSource()
        try:
            home, name = source.function(src.fn)
            arguments = launch_spec.Arguments(source, home)
            constants = {name_of(key): arguments.constant(value) for key, value in (src.constants or {}).items()}
            signature = {name_of(key): kind for key, kind in src.signature.items() if kind != "constexpr"}
        except Unwritable as error:
            raise Refusal(f"{src.fn.__name__}: Kiln cannot write down {error}") from None
        self.warned.clear()  # a compilation of its own
        signature = {key: "i1" if kind == "u1" else kind for key, kind in signature.items()}
        self.library(source, home, name, {**signature, **constants}, options or {})
        return Compiled(src.fn, None, self)


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
