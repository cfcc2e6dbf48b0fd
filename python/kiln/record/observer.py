"""Sees every launch of Triton's JIT, wherever the program makes it."""

import contextlib

import triton
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from kiln.jit.kernel_source import KernelSource
from kiln.jit.launch_spec import AMD_OPTIONS, OPTIONS, Arguments
from kiln.jit.literals import Unwritable
from kiln.record import grid_expression
from kiln.record.launch import Launch, Value
from kiln.record.tensor_arguments import named_arguments, storages_of, tensors_in


class Observer:
    def __init__(self, capture=None):
        self.capture = capture  # a Capture, which keeps some of the launches
        self.launches = []
        self.sources = {}  # (path, kernel) -> its KernelSource and the module there, for where the file itself does not do
        self.left_out = {}  # kernel -> why
        self._trying = 0  # an autotuner times configs
        self._has_tried = False  # since the tuned launch began
        self._tuners = []

    def install(self):
        run, tuned_run, bench = JITFunction.run, Autotuner.run, Autotuner._bench

        def observed_run(kernel, *args, grid, warmup, **kwargs):
            launch = pending = None
            if not warmup and not self._trying:
                launch, pending = self.observe(kernel, args, dict(kwargs), grid)
            try:
                compiled = run(kernel, *args, grid=grid, warmup=warmup, **kwargs)
            except BaseException:
                if pending:
                    self.capture.abandon(pending)
                raise
            if pending:
                self.capture.end(pending, launch)
            return compiled

        def observed_tuned_run(tuner, *args, **kwargs):
            with self._within(tuner):
                return tuned_run(tuner, *args, **kwargs)

        def observed_bench(tuner, *args, **kwargs):
            if self.capture and not self._has_tried:
                self._has_tried = True
                self.capture.begin_trials(storages_of(tensors_in([*args, *kwargs.values()])))
            self._trying += 1
            try:
                return bench(tuner, *args, **kwargs)
            finally:
                self._trying -= 1

        JITFunction.run, Autotuner.run, Autotuner._bench = observed_run, observed_tuned_run, observed_bench

    @contextlib.contextmanager
    def _within(self, tuner):
        self._tuners.append(tuner)
        try:
            yield
        finally:
            self._tuners.pop()
            if self._has_tried:
                self._has_tried = False
                self.capture.end_trials()

    def observe(self, kernel, args, kwargs, grid):
        """The launch, and what is kept of it until it has run."""
        try:
            launch, arguments = self._launch(kernel, args, kwargs, grid)
        except Unwritable as error:
            self.left_out[kernel.__name__] = f"a spec cannot have {error}"
            return None, None
        self.launches.append(launch)
        return launch, self.capture and self._begin_capture(launch, arguments)

    def _begin_capture(self, launch, arguments):
        facts = {"grid": list(launch.grid), "constants": launch.integer_constants(), "options": launch.options}
        variant = (launch.path, launch.kernel, repr(launch.values), repr(launch.options))
        storages = storages_of(arguments)
        return self.capture.begin(launch.kernel, variant, named_arguments(launch, arguments, storages), storages, facts)

    def _launch(self, kernel, args, kwargs, grid):
        kwargs["debug"] = kwargs.get("debug", kernel.debug) or triton.knobs.runtime.debug
        device = triton.runtime.driver.active.get_current_device()
        _, _, _target, backend, binder = kernel.device_caches[device]
        bound, specialization, options = binder(*args, **kwargs)
        options, *_ = kernel._pack_args(backend, kwargs, bound, specialization, options)
        source = KernelSource()
        home, name = source.function(kernel)
        arguments = Arguments(source, home)
        values, numbers = {}, {}
        for parameter, (kind, hint, *_) in zip(kernel.params, specialization):
            value = bound[parameter.name]
            values[parameter.name] = _value(arguments, parameter, kind, hint, value)
            if type(value) is int:
                numbers[parameter.name] = value
        path = kernel.fn.__code__.co_filename
        self.sources[path, name] = source, home
        sizes = tuple(int(size) for size in (grid(bound) if callable(grid) else grid))
        constants = {parameter for parameter, value in values.items() if value.is_constant}
        candidates = grid_expression.of_function(grid, numbers, constants) if callable(grid) else ()
        tuner = self._tuners[-1] if self._tuners else None
        given = {k: v for k, v in vars(options).items() if k in OPTIONS + AMD_OPTIONS and k in kwargs}
        launch = Launch(
            path,
            name,
            values,
            {"num_warps": options.num_warps, **given},
            frozenset(k for config in tuner.configs for k in config.kwargs if k in values) if tuner else frozenset(),
            tuple(tuner.keys) if tuner else (),
            numbers,
            (*sizes, 1, 1, 1)[:3],
            candidates or grid_expression.of_sizes(sizes, numbers),
        )
        return launch, arguments.at_run_time


def _value(arguments, parameter, kind, hint, value):
    if kind == "constexpr" and not parameter.is_constexpr and type(value) is int:
        return Value("i32", "1")  # Triton compiles ones in
    spelled = arguments.signature_value(kind, None if kind == "constexpr" else hint, value)
    if kind == "constexpr" or not isinstance(spelled, str):
        return Value(constant=spelled)
    if spelled.startswith("tensordesc"):
        return Value(spelled)
    name, _, promise = spelled.partition(":")
    return Value(name, promise)
