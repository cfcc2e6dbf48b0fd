"""capture_test.py SCRATCH: a capture of made-up launches of loaded.py in SCRATCH/capture, after tests of how it comes about."""
import array
import json
import os
import pathlib
import struct
import sys
import types
import unittest

from kiln.record.capture import Argument, Capture, CaptureError, Storage, npy_type, write_npy

SCRATCH = pathlib.Path(sys.argv[1])


def storage(memory):
    address, count = memory.buffer_info()
    return Storage(address, count * memory.itemsize, memory.tobytes)


def launch(kernel="f"):
    return types.SimpleNamespace(kernel=kernel)


FACTS = {"grid": [1, 1, 1], "constants": {}, "options": {"num_warps": 4}}


class CaptureTest(unittest.TestCase):
    def made(self, name, most=9, limit=1 << 20):
        return Capture(SCRATCH / self.id().split(".")[-1] / name, most, limit)

    def written(self, capture, name_of=lambda launch: launch.kernel):
        capture.write(name_of, "cpu")
        return json.loads((capture.folder / "capture.json").read_text())["launches"]

    def test_views_of_one_storage_share_it(self):
        memory, capture = array.array("f", range(12)), self.made("c")
        whole = storage(memory)
        views = [Argument("x", "*fp32", address=whole.address, shape=(2, 6), strides=(6, 1)), Argument("y", "*fp32", address=whole.address + 8, shape=(5, 2), strides=(2, 1))]
        pending = capture.begin("f", "f", [*views, Argument("n", "i32", -3), Argument("eps", "fp32", 1.0), Argument("none", "*fp16", address=0)], [whole], FACTS)
        memory[3] = 50
        capture.end(pending, launch())
        (one,) = self.written(capture)
        x, y, n, eps, none = one["arguments"]
        self.assertEqual((x["storage"], x["offset"], y["storage"], y["offset"]), (0, 0, 0, 8))
        self.assertEqual((y["shape"], y["strides"]), ([5, 2], [2, 1]))
        self.assertEqual((n, eps, none), ({"name": "n", "type": "i32", "value": -3}, {"name": "eps", "type": "fp32", "bits": "0x3f800000"}, {"name": "none", "type": "*fp16", "null": True}))
        (kept,) = one["storages"]
        after = (capture.folder / kept["after"]).read_bytes()
        self.assertEqual(after[-48:], memory.tobytes())
        self.assertIn(b"'descr': '<f4', 'fortran_order': False, 'shape': (12,)", after)
        self.assertEqual((capture.folder / kept["before"]).read_bytes()[-48:], array.array("f", range(12)).tobytes())

    def test_what_did_not_change_is_kept_once(self):
        memory, capture = array.array("i", [1, 2]), self.made("c")
        capture.end(capture.begin("f", "f", [Argument("x", "*i32", address=storage(memory).address)], [storage(memory)], FACTS), launch())
        self.assertEqual(list(self.written(capture)[0]["storages"][0]), ["bytes", "type", "before"])

    def test_results_of_trials_are_taken_back(self):
        memory, capture = array.array("f", [1, 2, 3, 4]), self.made("c")
        kept = storage(memory)
        capture.begin_trials([kept])
        memory[0], memory[1] = 10, 20  # a trial
        pending = capture.begin("f", "f", [Argument("x", "*fp32", address=kept.address)], [kept], FACTS)
        memory[1] = 21  # the launch writes 10 again
        capture.end(pending, launch())
        capture.end_trials()
        one = self.written(capture)[0]["storages"][0]
        before, after = ((capture.folder / one[key]).read_bytes()[-16:] for key in ("before", "after"))
        self.assertEqual((array.array("f", before), array.array("f", after)), (array.array("f", [1, 20, 3, 4]), memory))

    def test_notices_kernels_that_read_what_trials_wrote(self):
        for element, code, trial, launched, wanted in [
            ("fp32", "f", 3.0, 4.0, {"f"}),  # counts
            ("fp32", "f", 1 / 3, 0.33333, set()),  # rounds otherwise
            ("fp32", "f", 3.0, 3.0, set()),  # writes alone
            ("i32", "i", 100000, 100001, {"f"}),
        ]:
            memory, capture = array.array(code, [0, 5]), Capture(SCRATCH / "trials", 9, 1 << 20)
            kept = storage(memory)
            capture.begin_trials([kept])
            memory[0] = trial
            pending = capture.begin("f", "f", [Argument("x", "*" + element, address=kept.address)], [kept], FACTS)
            memory[0], memory[1] = launched, 6
            capture.end(pending, launch())
            self.assertEqual(capture.unrestored, wanted, (trial, launched))
            capture.discard()

    def test_addresses_in_storages_are_places(self):
        pointed = array.array("f", [1] * 4)
        target = storage(pointed)
        target.element = "fp32"
        table = array.array("Q", [target.address + 8, 5, target.address + target.size + 4096])
        capture = self.made("c")
        arguments = [Argument("table", "*i64", address=storage(table).address), Argument("p", "**fp32", address=storage(table).address)]
        capture.end(capture.begin("f", "f", arguments, [storage(table), target], FACTS), launch())
        kept = self.written(capture)[0]["storages"]
        self.assertEqual((kept[0]["pointers"], kept[1]["type"]), ([[0, 1, 8]], "fp32"))

    def test_keeps_so_many_of_a_variant(self):
        memory, capture = array.array("i", [1]), self.made("c", most=2)
        pending = [capture.begin("f", key, [], [storage(memory)], FACTS) for key in ("a", "a", "b", "a")]
        self.assertEqual([one is not None for one in pending], [True, True, True, False])
        capture.abandon(pending[0])
        self.assertIsNotNone(capture.begin("f", "a", [], [storage(memory)], FACTS))

    def test_says_what_it_leaves_out(self):
        memory, capture = array.array("i", [1] * 1000), self.made("c", limit=7999)
        self.assertIsNone(capture.begin("big", "a", [], [storage(memory)], FACTS))
        self.assertIn("--capture-limit", capture.left_out["big"])
        self.assertIsNone(capture.begin("astray", "b", [Argument("x", "*i32", address=16)], [], FACTS))
        self.assertEqual(capture.left_out["astray"], "its argument 'x' points into no tensor")

    def test_is_whole_or_not_at_all(self):
        memory, capture = array.array("i", [1]), self.made("c")
        capture.end(capture.begin("f", "f", [], [storage(memory)], FACTS), launch())
        self.assertFalse(capture.folder.exists())
        capture.discard()
        self.assertEqual(list(capture.folder.parent.iterdir()), [])

    def test_takes_the_place_of_a_capture_alone(self):
        first = self.made("c")
        self.written(first)
        again = self.made("c")
        again.end(again.begin("f", "f", [], [storage(array.array("i", [1]))], FACTS), launch("left out"))
        again.end(again.begin("f", "f", [], [storage(array.array("i", [1]))], FACTS), launch("f"))
        self.assertEqual([one["function"] for one in self.written(again, lambda l: None if l.kernel == "left out" else "f_fp32")], ["f_fp32"])
        (first.folder.parent / "other").mkdir()
        with self.assertRaisesRegex(CaptureError, "is there already and is no capture"):
            self.made("other")
        self.assertEqual(sorted(p.name for p in first.folder.parent.iterdir()), ["c", "other"])

    def test_spells_types_as_numpy_does(self):
        spelled = [npy_type(t) for t in ("fp16", "bf16", "fp8e5", "fp64", "i1", "i8", "u8", "i32", "u64")]
        self.assertEqual(spelled, ["<f2", "<u2", "|u1", "<f8", "|b1", "|i1", "|u1", "<i4", "<u8"])
        write_npy(SCRATCH / "odd.npy", "fp32", b"12345")
        self.assertIn(b"'|u1', 'fortran_order': False, 'shape': (5,)", (SCRATCH / "odd.npy").read_bytes())


def write_capture(folder):
    """A launch of scale, and one of row_sum, whose operands are in one storage with a table that it does not know of."""
    capture = Capture(folder, 1, 1 << 20)
    x, y = array.array("f", [0.5 * i for i in range(100)]), array.array("f", [7] * 100)
    kept = [storage(x), storage(y)]
    arguments = [Argument("x", "*kfp32", address=kept[0].address, shape=(100,), strides=(1,)), Argument("y", "*fp32", address=kept[1].address, shape=(100,), strides=(1,))]
    arguments += [Argument("n", "i32", 90), Argument("factor", "fp16", 0x4200)]
    pending = capture.begin("scale_kernel", "scale", arguments, kept, {**FACTS, "grid": [2, 1, 1], "constants": {"BLOCK": 64}})
    for i in range(90):
        y[i] = 3 * x[i]
    capture.end(pending, launch("scale"))

    rows = array.array("H", struct.unpack("<48H", struct.pack("<48e", *range(48))))
    while rows.buffer_info()[0] % 16:  # as descriptors need it
        rows = array.array("H", rows)
    out, scales = array.array("f", [0] * 3), array.array("f", [1, 2, 4])
    kept = [storage(rows), storage(out), storage(scales)]
    arguments = [
        Argument("rows", "tensordesc<fp16[1, 16]>", address=kept[0].address, shape=(3, 16), strides=(16, 1)),
        Argument("y", "*fp32", address=kept[1].address, shape=(3,), strides=(1,)),
        Argument("pair_0", "*fp32", address=kept[2].address, shape=(3,), strides=(1,)),
        Argument("pair_1", "i1", True),
    ]
    pending = capture.begin("row_sum_kernel", "row_sum", arguments, kept, {**FACTS, "grid": [3, 1, 1], "constants": {"BLOCK": 16}})
    for row in range(3):
        out[row] = sum(range(16 * row, 16 * row + 16)) * scales[row] + 1
    capture.end(pending, launch("row_sum"))
    capture.write(lambda launch: launch.kernel, "cpu")


if __name__ == "__main__":
    SCRATCH.mkdir(exist_ok=True)
    unittest.main(argv=sys.argv[:1], exit=False).result.wasSuccessful() or sys.exit(1)
    assert not os.path.exists(SCRATCH / "capture")
    write_capture(SCRATCH / "capture")
