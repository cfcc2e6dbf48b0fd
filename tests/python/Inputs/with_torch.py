"""with_torch.py OPERATORS LIBRARY: torch.ops of `kiln build --torch`, and kiln.load, with PyTorch's and NumPy's arrays."""
import sys
import unittest

import numpy
import torch

import kiln


class OperatorsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        torch.ops.load_library(sys.argv[1])
        cls.ops = torch.ops.loaded

    def test_launches(self):
        x, y = torch.randn(100), torch.zeros(100)
        self.ops.scale(x, y, 99, 2.5)
        torch.testing.assert_close(y[:99], 2.5 * x[:99])
        self.assertEqual(y[99], 0)
        self.ops.scale(torch.empty(0), torch.empty(0), 0, 2.5)

    def test_takes_tensors_and_the_callers_grid(self):
        rows, sums, scales = torch.randn(3, 16).half(), torch.zeros(3), torch.tensor([1.0, 2.0, 3.0])
        self.ops.row_sum([3], rows, sums, scales, True)
        torch.testing.assert_close(sums, rows.float().sum(1) * scales + 1)

    def refused(self, kind, text, function, *args):
        with self.assertRaises(kind) as caught:
            function(*args)
        self.assertIn(text, str(caught.exception))

    def test_refuses_what_the_library_is_not_for(self):
        x, y = torch.randn(8), torch.zeros(8)
        scale, row_sum = self.ops.scale, self.ops.row_sum
        self.refused(TypeError, "scale: x: a tensor of Double, expected Float", scale, x.double(), y, 8, 1.0)
        self.refused(ValueError, "scale: n: 2147483648 does not fit", scale, x, y, 1 << 31, 1.0)
        self.refused(RuntimeError, "scale: n is 1001, expected", scale, x, y, 1001, 1.0)
        self.refused(ValueError, "row_sum: rows: a tensor of rank 1, expected 2", row_sum, [1], x.half(), y, x, True)
        self.refused(ValueError, "a grid of 4 sizes", row_sum, [1] * 4, x.half()[None], y, x, True)
        self.refused(NotImplementedError, "loaded::scale", scale, x.to_sparse(), y, 8, 1.0)

    def test_meta_functions_check_and_do_nothing(self):
        x = torch.zeros(8, device="meta")
        self.ops.scale(x, x, 8, 1.0)
        self.refused(TypeError, "a tensor of Half, expected Float", self.ops.scale, x.half(), x, 8, 1.0)

    def test_is_what_pytorch_demands_of_an_operator(self):
        x, y = torch.randn(100), torch.zeros(100)
        torch.library.opcheck(self.ops.scale.default, (x, y, 100, 2.0))
        rows, sums, scales = torch.randn(3, 16).half(), torch.zeros(3), torch.ones(3)
        torch.library.opcheck(self.ops.row_sum.default, ([3, 1, 1], rows, sums, scales, False))

    def test_compiles(self):
        @torch.compile(fullgraph=True, dynamic=True, backend="aot_eager")
        def double(x):
            y = torch.empty_like(x)
            torch.ops.loaded.scale(x, y, x.numel(), 2.0)
            return y + 1

        for count in (10, 100):
            x = torch.randn(count)
            torch.testing.assert_close(double(x), 2 * x + 1)


class LoadTest(unittest.TestCase):
    def setUp(self):
        self.library = kiln.load(sys.argv[2])

    def test_takes_tensors_of_pytorch(self):
        x, y = torch.randn(100), torch.zeros(100)
        self.library.scale(x, y, 100, 2)
        torch.testing.assert_close(y, 2 * x)
        with self.assertRaisesRegex(TypeError, r"'x' \(\*kfp32\): an array of bf16, expected fp32"):
            self.library.scale(x.bfloat16(), y, 100, 2)
        rows, sums = torch.randn(4, 32).half()[:, :16], torch.zeros(4)
        self.library.row_sum(rows, sums, torch.ones(4), False, grid=4)
        torch.testing.assert_close(sums, rows.float().sum(1))

    def test_takes_arrays_of_numpy(self):
        x, y = numpy.arange(100, dtype="f"), numpy.zeros(100, "f")
        self.library.scale(x, y, 100, 2)
        numpy.testing.assert_equal(y, 2 * x)
        y.flags.writeable = False
        self.library.scale(y, x, 100, 2)
        numpy.testing.assert_equal(x, 2 * y)
        with self.assertRaisesRegex(ValueError, "the array is read-only"):
            self.library.scale(x, y, 100, 2)

    def test_reads_dlpack_as_pytorch_writes_it(self):
        class OnlyDLPack:
            def __init__(self, tensor):
                self.__dlpack__ = tensor.__dlpack__

        x, y = torch.randn(100), torch.zeros(100)
        self.library.scale(OnlyDLPack(x), OnlyDLPack(y[10:]), 90, 2)
        torch.testing.assert_close(y[10:], 2 * x[:90])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
