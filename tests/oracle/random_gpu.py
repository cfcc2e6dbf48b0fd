#!/usr/bin/env python3
"""Compares random kernels (random_kernel.py) on Kiln's CPU target and on the GPU at hand, to the last bit.

  random_gpu.py build FOLDER --kiln KILN --first SEED --count N [--target cuda:sm_90a] [--any-extents]
  random_gpu.py run FOLDER/random.so [--times N]

`build` needs no GPU: it leaves FOLDER/random.so, with the runtime and a library for each seed that compiles, and FOLDER/random.json, the list of them.
`run` needs PyTorch with a GPU, and the processor that `build` ran on or a later one. It prints a line for each seed that differs, launches each kernel
--times times (a race shows in some of them), and ends with the number of seeds that agree.
"""
import argparse
import json
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "python")]

import random_arrays  # noqa: E402
import random_kernel  # noqa: E402
import random_sources as sources  # noqa: E402


def build_seed(args, seed):
    """The seed, and the error if it does not compile."""
    folder = args.folder / f"k{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kernel.py").write_text(random_kernel.generate(seed, any_extents=args.any_extents))
    spec = folder / "spec.json"
    spec.write_text(json.dumps(random_arrays.spec(seed, f"l{seed}", f"k{seed}", "kernel.py", ["cpu:x86-64-v3", args.target])))
    built = subprocess.run([args.kiln, "build", spec, "-o", folder, "-j", "1", "--timeout", "60"], capture_output=True, text=True, errors="replace")
    return seed, built.stderr.strip()[:300] if built.returncode else None


def build(args):
    with ThreadPoolExecutor(args.jobs) as pool:
        outcomes = list(pool.map(lambda seed: build_seed(args, seed), range(args.first, args.first + args.count)))
    for seed, error in outcomes:
        if error:
            print(f"seed {seed}: {error}")
    seeds = [seed for seed, error in outcomes if not error]
    parts = [args.folder / f"k{seed}" / name.format(seed) for seed in seeds for name in ("l{}.c", "libl{}.a")]
    response = args.folder / "link.txt"
    runtime = [str(path) for path in sorted((ROOT / "runtime").glob("*.c"))]
    response.write_text("\n".join([*runtime, "-Wl,--whole-archive", *map(str, parts), "-Wl,--no-whole-archive"]))
    subprocess.run(["cc", "-std=gnu11", "-O1", "-fPIC", "-shared", "-Wl,-Bsymbolic", "-I", ROOT, "-I", ROOT / "runtime", f"@{response}",
                    "-ldl", "-pthread", "-lm", "-o", args.folder / "random.so"], check=True)
    (args.folder / "random.json").write_text(json.dumps(seeds))
    print(f"{len(seeds)} of {args.count} built")


def run_seed(kiln, torch, path, seed, times):
    """What differs, or None."""
    entry = getattr(kiln.load(path, name=f"l{seed}"), f"k{seed}")
    arrays = random_arrays.Arrays(seed)
    initial = arrays.snapshot()
    scalars = [value for _, value in sources.SCALARS.values()]
    grid = (sources.PROGRAMS, 1, 1)
    cpu = kiln.runtime.Stream(kiln.runtime.DRIVERS["cpu"], 0, None)
    entry(*(arrays.address(name) for name in arrays.bytes), *scalars, stream=cpu, grid=grid)
    expected = arrays.snapshot()
    for _ in range(times):
        # Allocations of a GPU begin at multiples of 256 bytes, and so do the arrays, behind a guard.
        on_gpu = {name: torch.from_numpy(whole[arrays.start[name] - random_arrays.GUARD:]).cuda() for name, whole in initial.items()}
        addresses = [tensor.data_ptr() + random_arrays.GUARD for tensor in on_gpu.values()]
        entry(*addresses, *scalars, stream=torch.cuda.current_stream().cuda_stream, grid=grid)
        torch.cuda.synchronize()
        for name, whole in arrays.bytes.items():
            whole[arrays.start[name] - random_arrays.GUARD:] = on_gpu[name].cpu().numpy()
        wrong = arrays.first_difference(expected)
        if wrong:
            return wrong
    return None


def run(args):
    import kiln
    import kiln.runtime
    import torch

    seeds = json.loads(args.library.with_suffix(".json").read_text())
    good = 0
    for seed in seeds:
        try:
            wrong = run_seed(kiln, torch, args.library, seed, args.times)
        except kiln.runtime.Error as error:
            wrong = str(error)
        good += not wrong
        if wrong:
            print(f"seed {seed}: {wrong}", flush=True)
    print(f"{good} of {len(seeds)} agree, {args.times} times each")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    builds = verbs.add_parser("build")
    builds.add_argument("folder", type=lambda text: pathlib.Path(text).resolve())
    builds.add_argument("--kiln", required=True)
    builds.add_argument("--first", type=int, default=1)
    builds.add_argument("--count", type=int, default=20)
    builds.add_argument("--target", default="cuda:sm_90a")
    builds.add_argument("--any-extents", action="store_true")
    builds.add_argument("--jobs", type=int, default=2)
    builds.set_defaults(do=build)
    runs = verbs.add_parser("run")
    runs.add_argument("library", type=pathlib.Path)
    runs.add_argument("--times", type=int, default=3)
    runs.set_defaults(do=run)
    args = parser.parse_args()
    args.do(args)


if __name__ == "__main__":
    main()
