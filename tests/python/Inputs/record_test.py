"""record_test.py SPEC: writes a spec of made-up launches of loaded.py, after tests of how it comes about."""
import contextlib
import io
import json
import os
import pathlib
import sys
import types
import unittest

from kiln.record import command, grid_expression, spec_writer
from kiln.record.launch import Launch, Value

FOLDER = os.path.dirname(os.path.abspath(sys.argv[1]))  # which has loaded.py


def cdiv(a, b):
    return -(-a // b)


def launch(n=100, block=64, element="fp32", promise="", grid=None, tuned=(), options=None, expressions=None):
    values = {
        "x": Value("*" + element, "16"),
        "y": Value("*" + element, promise),
        "n": Value("i32", "16" if n % 16 == 0 else "1" if n == 1 else ""),
        "factor": Value("fp32"),
        "BLOCK": Value(constant=block),
    }
    expressions = ((grid_expression.Expression("cdiv(n, BLOCK)"),),) if expressions is None else expressions
    grid = grid or (cdiv(n, block), 1, 1)
    return Launch(
        "loaded.py", "scale_kernel", values, options or {"num_warps": 4}, frozenset(tuned), ("n",), {"n": n, "BLOCK": block}, grid, expressions
    )


class GridTest(unittest.TestCase):
    NUMBERS = {"n": 100, "m": 7, "k": 100, "BLOCK": 64}

    def of(self, function):
        return grid_expression.of_function(function, self.NUMBERS)

    def test_reads_lambdas(self):
        n, rows = 100, [0] * 7
        self.assertEqual(self.of(lambda meta: (cdiv(n, meta["BLOCK"]),)), (("cdiv(n, BLOCK)", "cdiv(k, BLOCK)"),))
        grid = lambda META: (len(rows), (n + META["BLOCK"] - 1) // META["BLOCK"])  # noqa: E731
        self.assertEqual(self.of(grid), (("m",), ("(((n + BLOCK) - 1) // BLOCK)", "(((k + BLOCK) - 1) // BLOCK)")))
        self.assertEqual(self.of(lambda meta: (min(n, 7) * 2, 1))[1], ("1",))

    def test_constants_have_their_own_names(self):
        width, BLOCK, m = 64, 64, 64
        of = lambda grid: grid_expression.of_function(grid, {"m": 64, "BLOCK": 64, "OTHER": 64}, {"BLOCK", "OTHER"})  # noqa: E731
        self.assertEqual(of(lambda meta: (width * m,)), (("(m * m)",),))
        self.assertEqual(of(lambda meta: (BLOCK,)), (("BLOCK", "m"),))

    def test_reads_functions(self):
        size = 7

        def grid(meta):
            """Of one program a row."""
            return (size, cdiv(size, meta["BLOCK"]), 3)

        self.assertEqual(self.of(grid), (("m",), ("cdiv(m, BLOCK)",), ("3",)))

    def test_an_argument_that_is_the_same_object_comes_first(self):
        rows, columns = int("1000"), int("1000")
        numbers = {"columns": columns, "rows": rows, "size": rows}
        of = lambda grid: grid_expression.of_function(grid, numbers)[0]  # noqa: E731
        self.assertEqual(of(lambda meta: (rows,)), ("rows", "size", "columns"))
        self.assertEqual([found.is_guess for found in of(lambda meta: (rows * 2,))], [False, False, True])
        columns = rows  # the name is then what the kernel's argument is not
        self.assertEqual(of(lambda meta: (columns,))[:2], ("rows", "size"))
        self.assertEqual(grid_expression.of_sizes((rows,), {"columns": int("1000"), "rows": rows})[0], ("rows", "columns"))

    def doubts(self, *sizes):
        """Of a program with a variable for n that no argument has the name of."""
        launches = []
        for n, k in sizes:
            numbers = {"n": n, "k": k, "BLOCK": 64}
            launches.append(launch(n, expressions=self.grid_of(n, numbers)))
            launches[-1].numbers.update(numbers)
        return grid_expression.agreed(launches), grid_expression.doubts(launches)

    @staticmethod
    def grid_of(n, numbers):
        size = [0] * n
        return grid_expression.of_function(lambda meta: (cdiv(len(size), meta["BLOCK"]),), numbers)

    def test_says_what_values_alone_cannot_tell(self):
        expressions, doubts = self.doubts((100, 100), (300, 300))
        self.assertEqual((expressions, doubts), (["cdiv(n, BLOCK)"], ["'cdiv(n, BLOCK)' may as well be 'cdiv(k, BLOCK)', which was the same in every launch"]))
        expressions, doubts = self.doubts((100, 7))
        self.assertEqual((expressions, doubts), (["cdiv(n, BLOCK)"], ["'cdiv(n, BLOCK)' is known from one value alone, 2, and may be so by chance"]))

    def test_is_sure_of_names_objects_and_several_values(self):
        self.assertEqual(self.doubts((100, 7), (300, 300))[1], [])
        n = k = 100
        named = grid_expression.of_function(lambda meta: (cdiv(n, meta["BLOCK"]),), {"k": k, "n": n, "BLOCK": 64})
        one = launch(n, expressions=named)
        one.numbers["k"] = k
        self.assertEqual((grid_expression.agreed([one]), grid_expression.doubts([one])), (["cdiv(n, BLOCK)"], []))

    def test_gives_up(self):
        unknown = 12345
        self.assertEqual(self.of(lambda meta: (unknown,)), ((),))
        self.assertEqual(self.of(lambda meta: (meta["OTHER"],)), ((),))
        self.assertEqual(self.of(print), ())

        def several(meta):
            count = meta["BLOCK"]
            return (count,)

        self.assertEqual(self.of(several), ())

    def test_is_compared_with_every_grid(self):
        self.assertEqual(grid_expression.agreed([launch(100), launch(300)]), ["cdiv(n, BLOCK)"])
        self.assertIsNone(grid_expression.agreed([launch(100), launch(300, grid=(9, 1, 1))]))
        two = [launch(100, expressions=(("n // BLOCK", "cdiv(n, BLOCK)"),)), launch(128)]
        self.assertEqual(grid_expression.agreed(two), ["cdiv(n, BLOCK)"])
        self.assertIsNone(grid_expression.agreed([launch(expressions=((),))]))

    def test_takes_no_equality_by_chance(self):
        once = launch(7, grid=(7, 1, 1), expressions=grid_expression.of_sizes((7,), {"n": 7}))
        again = launch(9, grid=(9, 1, 1), expressions=grid_expression.of_sizes((9,), {"n": 9}))
        self.assertIsNone(grid_expression.agreed([once]))
        self.assertEqual(grid_expression.agreed([once, again]), ["n"])
        one = [launch(n, grid=(1, 1, 1), expressions=grid_expression.of_sizes((1,), {"n": n})) for n in (7, 9)]
        self.assertIsNone(grid_expression.agreed(one))
        self.assertIsNone(grid_expression.agreed([again, launch(9, expressions=(("n",), ("n",)))]))


class SpecTest(unittest.TestCase):
    def test_constants_of_the_program_keep_functions_apart(self):
        names = [entry.name for entry in spec_writer.entries_of([launch(block=64), launch(block=128), launch(200, block=64)])]
        self.assertEqual(names, ["scale_kernel_BLOCK_64", "scale_kernel_BLOCK_128"])

    def test_names_stay_short(self):
        blocks = [int("9" * 150 + digit) for digit in "12"]
        names = [entry.name for entry in spec_writer.entries_of([launch(block=block) for block in blocks])]
        self.assertEqual(len(set(names)), 2)
        self.assertTrue(all(len(name) == 120 and name.startswith("scale_kernel_BLOCK_999") for name in names), names)

    def test_names_that_c_keeps_for_itself(self):
        for kernel, name in (("_scale", "_scale"), ("__scale", "scale"), ("_Scale__kernel", "Scale_kernel")):
            first = launch()
            first.kernel = kernel
            self.assertEqual([entry.name for entry in spec_writer.entries_of([first])], [name])
        for many in range(105, 125):
            first = launch(block=1)
            first.kernel = "a" * many + "__kernel"
            second = launch(block=2)
            second.kernel = first.kernel
            names = [entry.name for entry in spec_writer.entries_of([first, second])]
            self.assertEqual(len(set(names)), 2)
            self.assertFalse([name for name in names if "__" in name])

    def test_what_an_autotuner_chose_are_configs(self):
        (entry,) = spec_writer.entries_of([launch(n, block, tuned=["BLOCK"], options={"num_warps": w}) for n, block, w in [(100, 64, 4), (300, 128, 8)]])
        made = entry.spec("loaded.py")
        self.assertEqual(made["configs"], [{"BLOCK": 64}, {"BLOCK": 128, "num_warps": 8}])
        self.assertEqual(made["dispatch"], {"key": ["n"]})
        self.assertEqual(made["signature"], {"x": "*fp32:16", "y": "*fp32", "n": "i32", "factor": "fp32"})
        self.assertEqual(entry.seen(), {"n": (100, 300)})

    def test_promises_are_specialisations(self):
        (entry,) = spec_writer.entries_of([launch(100), launch(160, promise="16"), launch(1), launch(300)])
        spelled = [(s["signature"]["y"], s["signature"]["n"]) for s in entry.spec("loaded.py")["signatures"]]
        self.assertEqual(spelled, [("*fp32:16", "i32:16"), ("*fp32", "i32:1"), ("*fp32", "i32")])


class CommandTest(unittest.TestCase):
    """What kiln record prints, of launches that an observer has seen."""

    def printed(self, launches, capture=None):
        for one in launches:
            one.path = os.path.join(FOLDER, "loaded.py")
        observer = types.SimpleNamespace(launches=launches, sources={}, left_out={}, capture=capture)
        arguments = types.SimpleNamespace(output=pathlib.Path(FOLDER, "printed.json"), target=None, library=None, roots=[], stand_in="cpu")
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            self.assertEqual(command.write_spec(observer, arguments), 0)
        return out.getvalue(), err.getvalue()

    def test_says_where_a_grid_is_a_guess(self):
        numbers = {"n": 300, "factor": 300, "BLOCK": 64}
        guessed = launch(300, expressions=GridTest.grid_of(300, numbers))
        guessed.numbers.update(numbers)
        out, err = self.printed([guessed])
        self.assertEqual(out, "scale_kernel: 1 launches, grid cdiv(n, BLOCK); n 300, factor 300\n")
        self.assertEqual(
            err,
            "kiln record: scale_kernel: in its grid 'cdiv(n, BLOCK)' may as well be 'cdiv(factor, BLOCK)', which was the same in every launch; "
            "record other sizes, or see to it\n",
        )
        self.assertEqual(self.printed([launch(100)])[1], "")

    def test_says_which_kernels_read_what_their_trials_wrote(self):
        capture = types.SimpleNamespace(write=lambda *_: 1, folder="kept", size=1, left_out={}, unrestored={"scale_kernel"})
        out, err = self.printed([launch(100)], capture)
        self.assertIn("1 launches captured in kept, 1 MiB", out)
        self.assertRegex(err, "^kiln record: scale_kernel: its autotuner's trials .* restore_value or reset_to_zero\n$")


def write_spec(path):
    launches = [launch(n, element=e, promise=p) for e in ("fp32", "fp16") for p in ("16", "") for n in (1, 100, 160)]
    entries = spec_writer.entries_of(launches)
    with open(path, "w") as file:
        json.dump(spec_writer.spec_of(entries, "recorded", ["cpu"], lambda _: "loaded.py"), file)


if __name__ == "__main__":
    assert not os.path.exists(sys.argv[1])
    unittest.main(argv=sys.argv[:1], exit=False).result.wasSuccessful() or sys.exit(1)
    write_spec(sys.argv[1])
