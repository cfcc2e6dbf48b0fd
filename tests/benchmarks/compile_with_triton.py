"""Compiles one record with `triton.compile`: `compile_with_triton.py JOB.json`. Prints its times, or why it cannot, as one line of JSON.

JOB: root, path, kernel, signature, constexprs, options, target (the three arguments of GPUTarget). Times are seconds of two calls: the first one
of the process, which sets Triton up (not Python's start, not the imports), and the same again. "tool": ptxas, which Triton runs as a process.
Nothing may come from Triton's cache: TRITON_ALWAYS_COMPILE=1.
"""
import json
import pathlib
import resource
import subprocess
import sys
import time
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracle"))
warnings.filterwarnings("ignore")

import kernels
import stand_ins


def cpu_seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


class Clock:
    def __init__(self):
        self.wall, self.cpu = time.perf_counter(), cpu_seconds()

    def read(self):
        return {"wall": time.perf_counter() - self.wall, "cpu": cpu_seconds() - self.cpu}


def watch_tools():
    """The times of processes from now on; summed up in what it returns."""
    spent, run = {"wall": 0.0, "cpu": 0.0}, subprocess.run

    def timed_run(*args, **kwargs):
        clock = Clock()
        try:
            return run(*args, **kwargs)
        finally:
            for key, seconds in clock.read().items():
                spent[key] += seconds

    subprocess.run = timed_run
    return spent


def compile_kernel(job):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    module = stand_ins.import_module(job["root"], job["path"])
    kernel = kernels.find_kernel(module, job["kernel"], triton.runtime.jit.JITFunction)
    constants = {name: kernels.constant(value, module) for name, value in job["constexprs"].items()}
    signature = {name: "constexpr" if name in constants else job["signature"][name] for name in kernel.arg_names}
    source = ASTSource(kernel, signature, constants)
    tool, calls = watch_tools(), []
    for _ in range(2):
        tool.update(wall=0.0, cpu=0.0)
        clock = Clock()
        triton.compile(source, target=GPUTarget(*job["target"]), options=job["options"])
        calls.append({**clock.read(), "tool": dict(tool)})
    return {"first": calls[0], "again": calls[1]}


def main():
    job = json.loads(pathlib.Path(sys.argv[1]).read_text())
    try:
        outcome = compile_kernel(job)
    except BaseException as error:
        outcome = {"error": f"{type(error).__name__}: {str(error)[:200]}"}
    print(json.dumps(outcome))


if __name__ == "__main__":
    main()
