"""plugin_parts_test.py SCRATCH RUNTIME.so"""
import array
import ctypes
import importlib
import pathlib
import sys
import threading
import types
import unittest
from unittest import mock

import kiln
from kiln import case_sampling, installation, toolchain

# The package kiln.jit itself is for Triton's programs; these modules of it are not.
from kiln.jit.compile_cache import CompileCache
from kiln.jit.modules import Module, Origin
from kiln.jit.target import Device, Target

SCRATCH, RUNTIME = map(pathlib.Path, sys.argv[1:])
KERNEL = """
import triton
import triton.language as tl

@triton.jit
def double(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)
"""
SPEC = {
    "kiln": 1,
    "library": "kernel",
    "targets": ["emu:sm_90a"],
    "kernels": [{"name": "k", "source": "k.py", "kernel": "double", "signature": {"x": "*fp32", "n": "i32", "BLOCK": 64}}],
}


class SamplingTest(unittest.TestCase):
    NAMES = [f"a.py::test_{f}[{size}-x]" for f in "ab" for size in (8, 2, 4096, 16)] + ["a.py::test_c"]

    def test_takes_some_of_each_function(self):
        kept = [self.NAMES[i] for i in case_sampling.sample(self.NAMES, 2)]
        self.assertEqual(sorted(name.split("[")[0][-1] for name in kept), list("aabbc"))
        self.assertEqual(case_sampling.sample(self.NAMES, 2), case_sampling.sample(self.NAMES, 2))
        self.assertNotEqual(
            {frozenset(case_sampling.sample(self.NAMES, 2, seed)) for seed in range(9)}, {frozenset(case_sampling.sample(self.NAMES, 2))}
        )
        self.assertEqual(len(case_sampling.sample(self.NAMES, 9)), 9)

    def test_takes_the_smallest(self):
        self.assertEqual(case_sampling.sample(self.NAMES, 2, smallest=True), {0, 1, 4, 5, 8})
        self.assertEqual(case_sampling.size_of("a.py::test_x[4-1024-float32-0.5]"), 4096)
        self.assertEqual(case_sampling.size_of("a.py::test_x"), 1)


class ModuleTest(unittest.TestCase):
    def test_knows_where_its_lines_come_from(self):
        module = Module("kernel0")
        module.define("A = 1")
        module.define("@triton.jit\ndef f():\n    pass", Origin("model.py", 41, 4))
        module.imports.append("import math")
        lines = module.text().split("\n")
        line = lines.index("def f():") + 1
        self.assertEqual(module.origin_of(line, 5), ("model.py", 42, 9))
        self.assertEqual(module.origin_of(line + 1, 0), ("model.py", 43, 4))
        self.assertIsNone(module.origin_of(lines.index("A = 1") + 1, 1))
        self.assertIsNone(module.origin_of(1, 1))


class TargetTest(unittest.TestCase):
    def test_describes_the_gpu(self):
        for name, capability, warp in [("emu:sm_90a", (9, 0), 32), ("emu:gfx942", (9, 4), 64), ("emu:gfx1100", (11, 0), 32), ("emu:sm_86", (8, 6), 32)]:
            target = Target(name)
            self.assertEqual((target.capability, target.warp_size), (capability, warp))
        self.assertEqual(Target("cpu").capability, (9, 0))
        for name in ("emu:sm_1", "cuda:sm_90a", "emu:", ""):
            with self.assertRaisesRegex(ValueError, "expected cpu or one of emu:sm_80"):
                Target(name)


class CacheTest(unittest.TestCase):
    def cache(self):
        return CompileCache(SCRATCH, "emu:sm_90a", RUNTIME)

    def test_makes_a_library_once(self):
        first, again = self.cache(), self.cache()
        path = first.library({"k.py": KERNEL}, SPEC)
        self.assertEqual(again.library({"k.py": KERNEL}, SPEC), path)
        self.assertEqual((first.compiles, again.compiles), (1, 0))
        self.assertNotEqual(again.library({"k.py": KERNEL + "# other"}, SPEC), path)
        self.assertEqual(sorted(file.name for file in path.parent.iterdir()), ["k.py", "libkernel.so", "spec.json"])

    def test_keeps_refusals(self):
        wrong = {"k.py": KERNEL.replace("tl.load", "tl.laod")}
        for cache, compiles in ((self.cache(), 1), (self.cache(), 0)):
            with self.assertRaisesRegex(toolchain.BuildError, r"k.py:8:\d+: error: module 'triton.language' has no attribute 'laod'"):
                cache.library(wrong, SPEC)
            self.assertEqual(cache.compiles, compiles)

    def test_keeps_warnings(self):
        warns = {"k.py": KERNEL.replace("tl.load(x + i, mask=i < n) * 2", "tl.where(i, 1.0, 2.0)")}
        for cache in (self.cache(), self.cache()):
            said = cache.warnings(cache.library(warns, SPEC))
            self.assertEqual(len(said), 1, said)
            self.assertRegex(said[0], r"k.py:8:\d+: warning: the condition of tl.where is int32, not int1.*\[sema-where-condition\]")
            self.assertEqual(cache.warnings(cache.library({"k.py": KERNEL + "# quiet"}, SPEC)), [])

    def test_several_may_make_one_at_once(self):
        paths, wanted = [], {"k.py": KERNEL + "# at once"}
        threads = [threading.Thread(target=lambda: paths.append(self.cache().library(wanted, SPEC))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(set(paths)), 1)
        self.assertEqual([f for f in paths[0].parent.parent.iterdir() if f.name.startswith("tmp")], [])

    def test_runs_and_reports_unwritten_memory(self):
        device = Device(Target("emu:sm_90a"), RUNTIME, check=True, threads=2)
        library = kiln.load(self.cache().library({"k.py": KERNEL}, SPEC))
        unwritten = 0x7FFA7FC57FB37FE9
        memory = array.array("Q", [unwritten] * 32)
        x = memoryview(memory).cast("B").cast("f")
        x[:63] = memoryview(array.array("f", [1] * 63))
        device.emulator.register_memory(memory.buffer_info()[0], 256, unwritten)
        library.k(x, 63, stream=device.emulator, grid=1)
        self.assertEqual(list(x[:63]), [2] * 63)
        with self.assertRaisesRegex(kiln.Error, r"k.py:8:\d+: double, .*read of global memory that was never written"):
            library.k(x, 64, stream=device.emulator, grid=1)

    def test_says_what_is_missing(self):
        with self.assertRaisesRegex(toolchain.BuildError, "expected a C compiler 'no-such-cc' on PATH"):
            toolchain._run(["no-such-cc"], SCRATCH)
        with self.assertRaisesRegex(toolchain.BuildError, "sleep took longer than 1 s"):
            toolchain._run(["sleep", "9"], SCRATCH, seconds=1)


class RuntimeTest(unittest.TestCase):
    """A checkout with a small runtime; to compile the real one takes half a minute."""

    def setUp(self):
        self.root = SCRATCH / self.id()
        (self.root / "runtime" / "emulator").mkdir(parents=True)
        self.write("number.h", "enum { NUMBER = 41 };")
        self.write("number.c", '#include "runtime/number.h"\nint number(void) { return NUMBER; }')
        self.write("emulator/next.cpp", 'extern "C" int number();\nextern "C" int next() { return number() + 1; }')
        for name, folder in (("sources", self.root), ("tool", self.root / "bazel-bin" / "kiln")):
            patch = mock.patch.object(installation, name, return_value=folder)
            patch.start()
            self.addCleanup(patch.stop)

    def write(self, name, text):
        (self.root / "runtime" / name).write_text(text)

    def library(self):
        return toolchain.runtime_library(self.root / "cache")

    def test_is_compiled_once_for_its_content(self):
        first = self.library()
        self.assertEqual(ctypes.CDLL(first).next(), 42)
        with mock.patch.object(toolchain, "_run", side_effect=AssertionError("compiled again")):
            self.assertEqual(self.library(), first)
        self.write("number.h", "enum { NUMBER = 1 };")
        self.assertNotEqual(self.library(), first)
        self.assertEqual(ctypes.CDLL(self.library()).next(), 2)
        self.assertEqual([file.name for file in first.parent.iterdir()], ["libkiln_runtime.so"])

    def test_leaves_nothing_of_a_mistake(self):
        self.write("number.c", "int number(void) { return NUMBER; }")
        with self.assertRaisesRegex(toolchain.BuildError, "NUMBER"):
            self.library()
        self.assertEqual(list((self.root / "cache").iterdir()), [])

    def test_needs_the_emulator(self):
        (self.root / "runtime" / "emulator" / "next.cpp").unlink()
        with self.assertRaisesRegex(toolchain.BuildError, "no runtime/emulator in"):
            self.library()

    def test_is_the_packages_where_there_is_one(self):
        (self.root / "lib").mkdir()
        packaged = self.root / "lib" / "libkiln_emulated.so"
        packaged.touch()
        self.assertEqual(self.library(), packaged)


class PluginTest(unittest.TestCase):
    def test_pytest_finds_it(self):
        self.assertEqual(kiln.pytest_plugins, ["kiln.pytest_plugin"])
        sys.modules.setdefault("pytest", types.SimpleNamespace(hookimpl=lambda **_: lambda function: function))
        self.assertTrue(callable(importlib.import_module(kiln.pytest_plugins[0]).pytest_addoption))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
