"""Checks specs of many kernels, each in a file of its own, and compares the CPU time.

check_growth.py FOLDER: fails unless four times as many kernels cost less than seven times the time.
"""
import json
import os
import resource
import subprocess
import sys


def write_spec(folder, count):
    kernels = []
    for i in range(count):
        with open(f"{folder}/k{i}.py", "w") as source:
            source.write("import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
                         f"def k{i}(x_ptr, n):\n    tl.store(x_ptr, n + {i})\n")
        kernels.append({"name": f"k{i}", "source": f"k{i}.py", "kernel": f"k{i}",
                        "signature": {"x_ptr": "*i32", "n": "i32"}, "grid": ["1"]})
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
few, many = (cpu_seconds(write_spec(folder, count)) for count in (500, 2000))
print(f"500 kernels: {few:.2f} s, 2000 kernels: {many:.2f} s")
sys.exit(many >= 7 * few)
