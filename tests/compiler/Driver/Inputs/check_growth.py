"""Checks specs of many kernels, each in a file of its own and all in one, and compares the CPU time.

check_growth.py FOLDER: fails unless four times as many kernels cost less than seven times the time.
"""
import json
import os
import resource
import subprocess
import sys


HEAD = "import triton\nimport triton.language as tl\n"


def write_spec(folder, count, together):
    texts = [f"\n\n@triton.jit\ndef k{i}(x_ptr, n):\n    tl.store(x_ptr, n + {i})\n" for i in range(count)]
    files = {"all.py": HEAD + "".join(texts)} if together else {f"k{i}.py": HEAD + text for i, text in enumerate(texts)}
    for name, text in files.items():
        with open(f"{folder}/{name}", "w") as source:
            source.write(text)
    kernels = [{"name": f"k{i}", "source": "all.py" if together else f"k{i}.py", "kernel": f"k{i}",
                "signature": {"x_ptr": "*i32", "n": "i32"}, "grid": ["1"]} for i in range(count)]
    path = f"{folder}/spec{count}.json"
    with open(path, "w") as spec:
        json.dump({"kiln": 1, "library": "many", "targets": ["cpu"], "kernels": kernels}, spec)
    return path


def cpu_seconds(spec):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["kiln", "check", spec, "-j", "2"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
for together in (False, True):
    few, many = (cpu_seconds(write_spec(folder, count, together)) for count in (500, 2000))
    print(f"{'in one file' if together else 'in files of their own'}: 500 kernels {few:.2f} s, 2000 kernels {many:.2f} s")
    if many >= 7 * few:
        sys.exit(1)
