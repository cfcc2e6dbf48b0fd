"""format.py [ROOT]: C and C++ files that clang-format would write otherwise. clang-format-14 -i FILE mends one."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from source_tree import Tree, answer, own_root

# Versions differ in what they write: everybody has to use this one.
FORMATTER = "clang-format-14"
BATCH = 40


def unformatted(root, paths):
    result = subprocess.run([FORMATTER, "--dry-run", "-Werror", "--ferror-limit=1", *paths], cwd=root, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    found = [line.partition(": ")[0] for line in result.stdout.split("\n") if "clang-format-violations" in line]
    if result.returncode and not found:
        raise RuntimeError(result.stdout)
    return found


def main(root):
    paths = [path for path in Tree(root).files if path.endswith((".h", ".c", ".cpp"))]
    batches = [paths[start:start + BATCH] for start in range(0, len(paths), BATCH)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda batch: unformatted(root, batch), batches)
    return [f"{place}: not as {FORMATTER} writes it" for places in found for place in places]


if __name__ == "__main__":
    answer(main(sys.argv[1] if len(sys.argv) > 1 else own_root()))
