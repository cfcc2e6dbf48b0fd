#!/usr/bin/env python3
"""How much slower than the fastest variant the variants are that a tuned library takes, at measured shapes and at others.

  tuning_regret.py --kiln KILN [--device cpu] [--time MS] [--folder FOLDER] [--runs N]

kernels/matmul/matmul.py in fp32 with 24 tiles is timed on the CPU by the tuner of `kiln tune` in MEASURED and in OTHERS. Then the library is
built with the times in MEASURED alone, as each line of SETTINGS says, and asked which variant it plans for every shape. Regret is
that variant's time over the least of all 24, so what noise makes the least counts against dispatch: with --runs the shapes are timed
so often, and each variant's time is the median. What FOLDER has of an earlier call is not measured again.
"""
import argparse
import itertools
import json
import math
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

TILES = [(m, n, k) for m, n, k in itertools.product((16, 32, 64, 128), (32, 64, 128), (32, 64))]
MEASURED = [(m, n, k) for m, n, k in itertools.product((1, 4, 16, 64, 256, 512), (256, 1024), (256, 1024))]
OTHERS = [(1, 512, 512), (2, 768, 320), (3, 640, 896), (8, 512, 640), (12, 768, 768), (24, 512, 384), (32, 640, 512), (48, 768, 896),
          (96, 512, 512), (100, 704, 448), (128, 640, 768), (160, 512, 896), (192, 768, 384), (250, 576, 640), (320, 512, 512), (384, 768, 768)]
SETTINGS = {"the model alone": None, "all measured": {}, '"regret": 0.05': {"regret": 0.05}, '"regret": 0.1': {"regret": 0.1},
            '"max_variants": 6': {"max_variants": 6}}
ARGUMENTS = ("M", "N", "K")

# What dispatch takes: the place of the plan's variant for each line of "M N K".
CHOICE = r"""
#include "regret.h"
#include <stdio.h>

int main(void) {
  static _Alignas(64) float memory[16];
  int m, n, k;
  while (scanf("%d %d %d", &m, &n, &k) == 3) {
    matmul_plan plan;
    kiln_status status = matmul_plan_init(&plan, kiln_cpu_stream(NULL), memory, memory, memory, m, n, k, k, n, n);
    if (status != KILN_SUCCESS) {
      fprintf(stderr, "%s\n", kiln_last_error());
      return 1;
    }
    puts(kiln_variant_name(&matmul_entry, plan.variant));
  }
  return 0;
}
"""


def spec_of(dispatch):
    signature = {"a_ptr": "*fp32:16", "b_ptr": "*fp32:16", "c_ptr": "*fp32:16", "M": "i32", "N": "i32:16", "K": "i32:16",
                 "stride_am": "i32:16", "stride_ak": 1, "stride_bk": "i32:16", "stride_bn": 1, "stride_cm": "i32:16", "stride_cn": 1,
                 "ACTIVATION": ""}
    configs = [{"BLOCK_SIZE_M": m, "BLOCK_SIZE_N": n, "BLOCK_SIZE_K": k, "GROUP_SIZE_M": 8} for m, n, k in TILES]
    kernel = {"name": "matmul", "source": str(ROOT / "kernels/matmul/matmul.py"), "kernel": "matmul_kernel", "signature": signature,
              "configs": configs, "grid": ["cdiv(M, BLOCK_SIZE_M) * cdiv(N, BLOCK_SIZE_N)"], "dispatch": {"key": list(ARGUMENTS), **dispatch}}
    return {"kiln": 1, "library": "regret", "targets": ["cpu"], "kernels": [kernel]}


def write_spec(folder, dispatch):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "spec.json").write_text(json.dumps(spec_of(dispatch), indent=1))
    return folder / "spec.json"


def compile_c(output, sources, folder, runtime):
    """With the runtime, which is compiled once, into the folder `runtime`."""
    compiler = ["cc", "-std=gnu11", "-O2", f"-I{folder}", f"-I{ROOT}/runtime", f"-I{ROOT}"]
    if not runtime.exists():
        runtime.mkdir()
        subprocess.run([*compiler, "-c", *sorted((ROOT / "runtime").glob("*.c"))], cwd=runtime, check=True)
    libraries = [folder / "libregret.a", "-ldl", "-pthread", "-lm"]
    subprocess.run([*compiler, *sources, *sorted(runtime.glob("*.o")), *libraries, "-o", output], check=True)


def measure(folder, kiln, options):
    """The tuner's files, one of each run."""
    shapes = [dict(zip(ARGUMENTS, shape)) for shape in MEASURED + OTHERS]
    spec = write_spec(folder, {"shapes": shapes, "arguments": {"stride_am": "K", "stride_bk": "N", "stride_cm": "N"},
                               "arrays": {"a_ptr": "M * K", "b_ptr": "K * N", "c_ptr": ["M", "N"]}})
    tuner = folder / "tuner/tuner"
    if not tuner.exists():
        subprocess.run([kiln, "tune", spec, "-o", folder / "tuner"], check=True)
        sources = [folder / "tuner/regret.c", folder / "tuner/regret_tuner.c", *sorted((ROOT / "runtime/tuner").glob("*.c"))]
        compile_c(tuner, sources, folder / "tuner", folder / "runtime")
    files = [folder / f"times_{run}.json" for run in range(options.runs)]
    for file in files:  # goes on where it was stopped
        subprocess.run([tuner, "-o", file, "--time", str(options.time)], check=True)
    return files


def shape_of(measurement):
    return tuple(measurement["shape"][name] for name in ARGUMENTS)


def times_of(files):
    """By shape and variant: the median of the runs."""
    times = {}
    for file in files:
        for measurement in json.loads(file.read_text())["runs"][0]["measurements"]:
            if measurement["failures"]:
                raise SystemExit(f"{file}: {measurement}")
            for variant, time in measurement["times_us"].items():
                times.setdefault(shape_of(measurement), {}).setdefault(variant, []).append(time)
    return {shape: {variant: statistics.median(all_) for variant, all_ in variants.items()} for shape, variants in times.items()}


def known_times(file, times):
    """The tuner's file with the measured shapes alone, and the medians."""
    content = json.loads(file.read_text())
    run = content["runs"][0]
    run["measurements"] = [dict(one, times_us=times[shape_of(one)]) for one in run["measurements"] if shape_of(one) in MEASURED]
    return content


def chosen_by(folder, kiln, setting, known):
    """The number of variants, and which of them the library takes for each shape."""
    dispatch = {}
    if setting is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "known.json").write_text(json.dumps(known))
        dispatch = {"tuning": "known.json", **setting}
    spec = write_spec(folder, dispatch)
    subprocess.run([kiln, "build", "-q", spec, "-o", folder / "out", "--cache", folder.parent / "cache"], check=True)
    (folder / "choice.c").write_text(CHOICE)
    compile_c(folder / "choice", [folder / "choice.c", folder / "out/regret.c"], folder / "out", folder.parent / "runtime")
    shapes = MEASURED + OTHERS
    text = "".join("%d %d %d\n" % shape for shape in shapes)
    names = subprocess.run([folder / "choice"], input=text, text=True, stdout=subprocess.PIPE, check=True).stdout.split("\n")
    count = len(json.loads((folder / "out/regret.json").read_text())["entries"][0]["variants"])
    return count, dict(zip(shapes, names))


def by_config(variants, name):
    """The tuner's name of the variant, which says what it relies on, too."""
    return next(one for one in variants if one.split(" for ")[0] == name.split(" for ")[0])


def summary(shapes, chosen, times):
    losses = [times[shape][by_config(times[shape], chosen[shape])] / min(times[shape].values()) for shape in shapes]
    mean = math.exp(sum(map(math.log, losses)) / len(losses))
    return f"{100 * (mean - 1):.1f} %, {100 * (max(losses) - 1):.1f} %"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kiln", type=pathlib.Path, required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--time", type=int, default=30)
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    kiln = options.kiln.resolve()
    files = measure(options.folder.resolve(), kiln, options)
    times = times_of(files)
    known = known_times(files[0], times)
    print("| | variants | measured shapes | other shapes |\n| --- | --- | --- | --- |")
    for place, (name, setting) in enumerate(SETTINGS.items()):
        count, chosen = chosen_by(options.folder.resolve() / f"setting_{place}", kiln, setting, known)
        print(f"| {name} | {count} | {summary(MEASURED, chosen, times)} | {summary(OTHERS, chosen, times)} |", flush=True)
    if options.runs > 1:
        spread = [max(times_of([file])[shape][variant] / times[shape][variant] for file in files) for shape in times for variant in times[shape]]
        print(f"the slower of a variant's {options.runs} times is {100 * (statistics.median(spread) - 1):.1f} % above their median, in the median")
    return 0


if __name__ == "__main__":
    sys.exit(main())
