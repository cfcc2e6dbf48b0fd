"""Imports kernel modules of repositories whose dependencies are not installed.

A kernel's module usually imports torch and much of its own package, of which the kernel needs nothing. Installing all that
for some twenty repositories is out of the question, so what is missing is replaced by stand-ins: modules whose every
attribute is a mock. Three things keep meaning intact: Triton itself is never replaced; the repository's own modules are
read for real; and an import inside a `try` fails as it would, so that the kernel takes the branch meant for that.

Modules are executed statement by statement. A statement that fails with stand-ins (a registration, a configuration read from
a device) is left out, and the names that a failed import would bind become stand-ins.
"""
import ast
import importlib
import importlib.abc
import importlib.machinery
import os
import re
import sys
import types
from unittest.mock import MagicMock

# What top-level `import`s of kernel modules may name, inside a `try` too, and is taken to be installed.
ASSUMED_INSTALLED = {
    "torch", "einops", "transformers", "packaging", "regex", "pydantic", "fastapi", "psutil", "requests", "yaml", "tqdm",
    "scipy", "pandas", "matplotlib", "PIL", "huggingface_hub", "tabulate", "pytest", "sgl_kernel", "stk",
}


def stand_in_value(name):
    """A mock that also answers comparisons: it is greater than everything, as a version or a capability should be."""
    mock = MagicMock(name=name)
    for value in (mock, mock.return_value):
        for method, answer in (("__lt__", False), ("__le__", False), ("__gt__", True), ("__ge__", True)):
            getattr(value, method).return_value = answer
    return mock


class StandInModule(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = stand_in_value(f"{self.__name__}.{name}")
        setattr(self, name, value)
        return value


class RepositoryPackage(types.ModuleType):
    """A package whose `__init__` runs only when something other than one of its submodules is asked for."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return importlib.import_module(f"{self.__name__}.{name}")
        except ImportError:
            pass
        init = os.path.join(self.__path__[0], "__init__.py")
        if not self.__dict__.get("_initialised") and os.path.exists(init):
            self._initialised = True
            execute_leniently(self, init)
            if name in self.__dict__:
                return self.__dict__[name]
        value = stand_in_value(f"{self.__name__}.{name}")
        setattr(self, name, value)
        return value


class KernelDecorators(ast.NodeTransformer):
    """Leaves out what decorates a kernel beside `jit`: tuners and wrappers of the repository's own would be mocks."""

    def visit_FunctionDef(self, function):
        jit = [d for d in function.decorator_list if re.match(r"(\w+\.)*jit\b", ast.unparse(d))]
        if jit:
            function.decorator_list = jit[-1:]
        return self.generic_visit(function)


def execute_leniently(module, path):
    with open(path, encoding="utf-8") as file:
        tree = KernelDecorators().visit(ast.parse(file.read()))
    for statement in tree.body:
        try:
            exec(compile(ast.Module([statement], []), path, "exec", dont_inherit=True), module.__dict__)
        except Exception:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                for alias in statement.names:
                    name = (alias.asname or alias.name).split(".")[0]
                    module.__dict__.setdefault(name, stand_in_value(name))


class LenientLoader(importlib.machinery.SourceFileLoader):
    def exec_module(self, module):
        execute_leniently(module, self.path)


class AssumedFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name.split(".")[0] in ASSUMED_INSTALLED:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return StandInModule(spec.name)

    def exec_module(self, module):
        pass


class RepositoryFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The repository's files: packages are lazy, modules lenient."""

    def __init__(self, root):
        self.root = os.path.abspath(root) + os.sep

    def find_spec(self, name, path, target=None):
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None:
            return None
        if spec.origin and spec.origin.startswith(self.root):
            if spec.submodule_search_locations:
                lazy = importlib.machinery.ModuleSpec(name, self, is_package=True)
                lazy.submodule_search_locations = spec.submodule_search_locations
                return lazy
            spec.loader = LenientLoader(name, spec.origin)
            return spec
        return None

    def create_module(self, spec):
        return RepositoryPackage(spec.name)

    def exec_module(self, module):
        pass


class Version:
    """The part of packaging.version.Version that version checks use."""

    def __init__(self, text="99"):
        self.release = tuple(int(part) for part in re.findall(r"\d+", str(text))[:3])
        self.major, self.minor = (self.release + (0, 0))[:2]

    def __eq__(self, other):
        return self.release == other.release

    def __lt__(self, other):
        return self.release < other.release

    def __le__(self, other):
        return self.release <= other.release

    def __gt__(self, other):
        return self.release > other.release

    def __ge__(self, other):
        return self.release >= other.release


class FloatInfo:
    max, min, eps, bits, tiny = 448.0, -448.0, 2.0**-23, 8, 2.0**-126

    def __init__(self, dtype=None):
        pass


class HostModule:
    def __init__(self, *args, **kwargs):
        pass


def plain_decorator(*args, **kwargs):
    if len(args) == 1 and callable(args[0]) and not kwargs:
        return args[0]
    return lambda function: function


def install(root):
    sys.meta_path.insert(0, AssumedFinder())
    sys.meta_path.insert(1, RepositoryFinder(root))
    import packaging.version
    import torch

    packaging.version.Version = packaging.version.parse = Version
    torch.__version__ = "2.8.0"
    torch.version = types.SimpleNamespace(cuda="12.8", hip=None, xpu=None)
    torch.cuda.is_available = lambda: True
    torch.cuda.get_device_capability = lambda *args: (9, 0)
    torch.cuda.get_device_properties = lambda *args: types.SimpleNamespace(
        name="NVIDIA H100", major=9, minor=0, warp_size=32, multi_processor_count=132, max_threads_per_multi_processor=2048,
        total_memory=80 << 30, shared_memory_per_block_optin=232448)
    torch.xpu = types.SimpleNamespace(is_available=lambda: False)
    torch.finfo = FloatInfo
    function = type("Function", (), {"apply": classmethod(lambda *args, **kwargs: None)})
    torch.autograd = types.SimpleNamespace(Function=function)
    torch.nn = StandInModule("torch.nn")
    torch.nn.Module = HostModule
    for name in ("Tensor", "dtype", "device"):
        setattr(torch, name, type(name, (), {}))
    torch.amp = torch.cuda.amp = types.SimpleNamespace(custom_fwd=plain_decorator, custom_bwd=plain_decorator,
                                                       autocast=plain_decorator)
    torch.compile = torch.no_grad = plain_decorator
    decorator = lambda *args, **kwargs: plain_decorator
    torch.library = types.SimpleNamespace(custom_op=decorator, triton_op=decorator, register_fake=decorator,
                                          wrap_triton=lambda function: function)
    use_device_of_sm_90()
    # The record has chosen, and arguments of the decorator's have changed over time.
    import triton
    triton.autotune = lambda *args, **kwargs: lambda function: function


def use_device_of_sm_90():
    import triton
    from triton.backends.compiler import GPUTarget

    class Driver:
        def get_current_target(self):
            return GPUTarget("cuda", 90, 32)

        def get_current_device(self):
            return 0

        def get_current_stream(self, device):
            return 0

        def __getattr__(self, name):
            return stand_in_value(name)

    triton.runtime.driver.set_active(Driver())


def import_module(root, path):
    """The module of the file `path` of the repository at `root`, with the name it has inside its package."""
    install(root)
    parts = path[:-len(".py")].split("/")
    package = len(parts) - 1
    while package > 0 and os.path.exists(os.path.join(root, *parts[:package], "__init__.py")):
        package -= 1
    sys.path[0:0] = [os.path.join(root, *parts[:depth]) for depth in range(package, -1, -1)]
    sys.path.append(os.path.join(root, "python", "triton_kernels"))
    importlib.invalidate_caches()
    return importlib.import_module(".".join(parts[package:]))
