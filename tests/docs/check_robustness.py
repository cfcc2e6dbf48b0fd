"""check_robustness.py PAGE TESTS: whether each row of the page names tests or benchmarks that exist.

TESTS has a line for each, as bazel query --output=label_kind writes it: "cc_test rule //tests/…".
"""

import re
import sys

ROWS = 22


def main(page, tests):
    with open(tests, encoding="utf-8") as file:
        kinds = {label: kind for kind, _, label in (line.split() for line in file)}
    mistakes, named, numbers = [], set(), []
    with open(page, encoding="utf-8") as file:
        for line in file:
            row = re.match(r"\| (\d+) \|", line)
            if not row:
                continue
            numbers.append(int(row.group(1)))
            labels = re.findall(r"`(//[^`]+)`", line.split("|")[4])
            if not labels:
                mistakes.append(f"row {numbers[-1]} names no test")
            named.update(labels)
    if numbers != list(range(1, ROWS + 1)):
        mistakes.append(f"expected rows 1 to {ROWS}, got {numbers}")
    for label in sorted(named):
        kind = kinds.get(label)
        if kind is None:
            mistakes.append(f"{label} is not among the tests of BUILD")
        elif not kind.endswith("_test") and not (kind == "cc_binary" and label.endswith("Benchmark")):
            mistakes.append(f"{label} is a {kind}, neither a test nor a benchmark")
    mistakes += [f"{label} is not on the page" for label in sorted(kinds.keys() - named)]
    print("\n".join(f"{page}: {mistake}" for mistake in mistakes))
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
