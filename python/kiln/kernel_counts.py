"""What an emulated GPU has counted in a run of tests: a table, and a file."""

import json
import os
import pathlib

VERSION = 1
_MOST = 30  # kernels in the table
_COLUMNS = [  # title, width
    ("launching tests", 16),
    ("blocks", 12),
    ("warp instructions", 18),
    ("FLOPs", 16),
    ("global bytes", 16),
    ("sectors/ideal", 14),
    ("bank conflicts", 15),
]


def _add(sums, counts):
    for name, number in counts.items():
        if name != "kernel":
            sums[name] = sums.get(name, 0) + number


class KernelCounts:
    def __init__(self, target, path):
        self.target, self.path = target, path and pathlib.Path(path)
        if self.path and (not self.path.absolute().parent.is_dir() or self.path.is_dir()):
            raise ValueError(f"--kiln-count-json: no file can be written at {path}")
        self.of_tests = {}  # test -> kernel -> sums

    def add(self, test, counts):
        for one in counts:
            _add(self.of_tests.setdefault(test, {}).setdefault(one["kernel"], {}), one)

    def of_kernels(self):
        """The sums over all tests, and how many there were: those with most instructions first."""
        kernels = {}
        for of_test in self.of_tests.values():
            for name, counts in of_test.items():
                sums = kernels.setdefault(name, {"tests": 0})
                sums["tests"] += 1
                _add(sums, counts)
        return sorted(kernels.items(), key=lambda pair: (-pair[1]["instructions"], pair[0]))

    def table(self):
        kernels = self.of_kernels()
        yield "".join(title.rjust(width) for title, width in _COLUMNS) + "  kernel"
        for name, sums in kernels[:_MOST]:
            ideal = sums["ideal_sectors"]
            values = [
                f"{sums['tests']:,}",
                f"{sums['blocks']:,}",
                f"{sums['instructions']:,}",
                f"{sums['flops'] + sums['matrix_operations']:,}",
                f"{sums['global_read'] + sums['global_written']:,}",
                f"{sums['sectors'] / ideal:.2f}" if ideal else "",
                f"{sums['wavefronts'] - sums['ideal_wavefronts']:,}",
            ]
            yield "".join(value.rjust(width) for value, (_, width) in zip(values, _COLUMNS)) + f"  {name}"
        if len(kernels) > _MOST:
            yield f"… and {len(kernels) - _MOST} kernels with fewer instructions"

    def write(self):
        tests = [
            {"test": test, "kernels": [{"kernel": name, **sums} for name, sums in sorted(kernels.items())]}
            for test, kernels in sorted(self.of_tests.items())
        ]
        text = json.dumps({"kiln_test_counts": VERSION, "target": self.target, "tests": tests}, indent=1) + "\n"
        temporary = self.path.with_name(self.path.name + ".part")
        temporary.write_text(text)
        os.replace(temporary, self.path)
