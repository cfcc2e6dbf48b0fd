"""load_test.py LIBRARY: kiln.load, with arrays of Python's own and of a stand-in for other libraries."""
import array
import ctypes
import pathlib
import sys
import tempfile
import unittest

import kiln
from kiln import arrays, element_types


class DLPackArray:
    """What NumPy, JAX or CuPy would give: a capsule of the version asked for."""

    def __init__(self, values, shape, strides=None, dtype=(2, 32), device=(1, 0), read_only=False, newest=1):
        letter = {(2, 32): "f", (2, 16): "H", (0, 32): "i", (4, 16): "H"}[dtype]
        self.memory = array.array(letter, values)
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.strides = strides and (ctypes.c_int64 * len(shape))(*strides)
        self.dtype, self.device, self.read_only, self.newest = dtype, device, read_only, newest

    def tensor(self):
        address, _ = self.memory.buffer_info()
        # Half of the address as byte_offset: both count.
        tensor = arrays.DLTensor(address - 64, arrays.Device(*self.device), len(self.shape), arrays.DType(*self.dtype, 1))
        tensor.shape = ctypes.cast(self.shape, ctypes.POINTER(ctypes.c_int64))
        if self.strides:
            tensor.strides = ctypes.cast(self.strides, ctypes.POINTER(ctypes.c_int64))
        tensor.byte_offset = 64
        return tensor

    def __dlpack__(self, **options):
        if options and not self.newest:
            raise TypeError("unexpected keyword argument 'max_version'")
        capsule = ctypes.pythonapi.PyCapsule_New
        capsule.restype = ctypes.py_object
        capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        if options:
            self.managed = arrays.Versioned(1, 1, None, None, int(self.read_only), self.tensor())
        else:
            self.managed = self.tensor()
        self.name = b"dltensor_versioned" if options else b"dltensor"
        return capsule(ctypes.addressof(self.managed), self.name, None)


class LoadTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = kiln.load(sys.argv[1])

    def setUp(self):
        self.x = array.array("f", range(100))
        self.y = array.array("f", [-1] * 100)

    def refused(self, kind, text, *args, function=None, **named):
        with self.assertRaises(kind) as caught:
            (function or self.library.scale)(*args, **named)
        self.assertIn(text, str(caught.exception))

    def test_launches(self):
        self.library.scale(self.x, self.y, 99, 2.5)
        self.assertEqual(list(self.y), [2.5 * i for i in range(99)] + [-1])

    def test_takes_arguments_by_name(self):
        self.library.scale(self.x, factor=3, n=100, y=self.y)
        self.assertEqual(list(self.y), [3 * i for i in range(100)])

    def test_runs_a_variant(self):
        self.library.scale(array.array("f"), array.array("f"), 0, 1)  # without elements
        self.assertEqual(len(self.library.scale.variants), 2)
        self.library.scale.run_variant(1, self.x, self.y, 2, 1)
        self.assertEqual(list(self.y[:3]), [0, 1, -1])
        self.refused(kiln.Error, "variant", 99, self.x, self.y, 2, 1, function=self.library.scale.run_variant)

    def test_takes_dlpack_of_both_versions(self):
        for newest in (0, 1):
            x, y = DLPackArray([1, 2, 3, 4], [4], newest=newest), DLPackArray([0] * 4, [4], newest=newest)
            self.library.scale(x, y, 4, 2)
            self.assertEqual(list(y.memory), [2, 4, 6, 8])

    def test_takes_tensors_tuples_and_the_callers_grid(self):
        rows = DLPackArray([0x3C00] * 3 * 24, [3, 16], [24, 1], dtype=(2, 16))
        scales, sums = array.array("f", [1, 2, 3]), array.array("f", [0] * 3)
        self.library.row_sum(rows, sums, scales, True, grid=3)
        self.assertEqual(list(sums), [17, 33, 49])
        self.library.row_sum(rows, sums, scales, False, grid=(2, 1))
        self.assertEqual(list(sums), [16, 32, 49])
        function = self.library.row_sum
        self.refused(TypeError, "expected grid=", rows, sums, scales, True, function=function)
        self.refused(ValueError, "one to three sizes", rows, sums, scales, True, grid=(1, 1, 1, 1), function=function)
        self.refused(ValueError, "rank 1, expected 2", DLPackArray([0] * 8, [8], dtype=(2, 16)), sums, scales, True, grid=1, function=function)

    def test_refuses_the_wrong_elements(self):
        self.refused(TypeError, "'x' (*kfp32): an array of fp64, expected fp32", array.array("d", [1]), self.y, 1, 1)
        self.refused(TypeError, "an array of i32", DLPackArray([1], [1], dtype=(0, 32)), self.y, 1, 1)
        self.refused(TypeError, "got list, expected an array", [1.0], self.y, 1, 1)

    def test_refuses_to_write_what_is_read_only(self):
        fixed = DLPackArray([1, 2], [2], read_only=True)
        self.library.scale(fixed, self.y, 2, 1)
        self.assertEqual(list(self.y[:3]), [1, 2, -1])
        self.refused(ValueError, "the array is read-only", self.x, fixed, 2, 1)
        self.refused(TypeError, "the buffer is read-only", memoryview(self.x).toreadonly(), self.y, 2, 1)

    def test_refuses_other_devices(self):
        there = DLPackArray([1], [1], device=(2, 1))
        self.refused(ValueError, "arrays are on different devices: 'x' on cuda 1, 'y' on cpu 0", there, self.y, 1, 1)
        self.refused(ValueError, "on cuda, but the library is for cpu, emu", there, DLPackArray([1], [1], device=(2, 1)), 1, 1)
        self.refused(TypeError, "a device of DLPack's kind 7", DLPackArray([1], [1], device=(7, 0)), self.y, 1, 1)
        self.refused(ValueError, "the stream is a GPU's", self.x, self.y, 1, 1, stream=1234)

    def test_refuses_numbers_out_of_range(self):
        self.refused(OverflowError, "'n' (i32): 2147483648, expected -2147483648 to 2147483647", self.x, self.y, 1 << 31, 1)
        self.refused(TypeError, "'float' object cannot be interpreted as an integer", self.x, self.y, 1.5, 1)
        self.refused(TypeError, "grid", self.x, self.y, 1, 1, grid=1)

    def test_refuses_wrong_arguments(self):
        self.refused(TypeError, "no value for n, factor", self.x, self.y)
        self.refused(TypeError, "5 arguments, expected 4: x, y, n, factor", 1, 2, 3, 4, 5)
        self.refused(TypeError, "argument 'x': given twice", self.x, self.y, 1, 1, x=self.x)
        self.refused(TypeError, "argument 'z': expected one of x, y, n, factor", self.x, self.y, 1, 1, z=1)

    def test_raises_what_the_library_says(self):
        self.refused(kiln.Error, "scale: n is 1001, expected", self.x, self.y, 1001, 1)
        self.refused(kiln.Error, "y is null", self.x, None, 1, 1)

    def test_runs_on_an_emulated_gpu(self):
        gpu = self.library.emulator("sm_90a", check=True)
        gpu.register(self.x)
        gpu.register(self.y)
        self.library.scale(self.x, self.y, 100, 2, stream=gpu)
        self.assertEqual(list(self.y), [2 * i for i in range(100)])
        self.refused(kiln.Error, "load from no registered allocation", self.x, self.y, 101, 1, stream=gpu)
        found = gpu.take_reports()
        self.assertTrue(any("loaded.py:8" in text and "element 100 of argument 'x'" in text for text in found), found)
        self.assertEqual(gpu.take_reports(), [])
        with self.assertRaisesRegex(kiln.Error, "'sm_1' cannot be emulated"):
            self.library.emulator("sm_1")

    def test_describes_itself(self):
        self.assertEqual(repr(self.library.scale), "<scale(x: *kfp32, y: *fp32, n: i32, factor: fp16)>")
        self.assertIn("'loaded'", repr(self.library))

    def test_refuses_what_is_no_library(self):
        with self.assertRaisesRegex(ValueError, "expected a library of Kiln named 'other'"):
            kiln.load(sys.argv[1], name="other")
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder) / "libtext.so"
            text.write_text("no library")
            with self.assertRaises(OSError):
                kiln.load(text)


class NumbersTest(unittest.TestCase):
    def test_small_floats(self):
        for value, half, bfloat in [(1.0, 0x3C00, 0x3F80), (-2.5, 0xC100, 0xC020), (1e9, 0x7C00, 0x4E6E), (-1e9, 0xFC00, 0xCE6E)]:
            self.assertEqual(element_types.half_bits(value), half)
            self.assertEqual(element_types.bfloat_bits(value), bfloat)
        self.assertEqual(element_types.bfloat_bits(1 + 2**-8), 0x3F80)  # a tie, to even
        self.assertEqual(element_types.bfloat_bits(1 + 3 * 2**-8), 0x3F82)
        self.assertEqual(element_types.bfloat_bits(float("nan")) & 0x7FC0, 0x7FC0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
