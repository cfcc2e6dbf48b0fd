#!/usr/bin/env python3
"""How long the kernels of the corpus (docs/corpus.md) take to compile, stage by stage, on one core.

  corpus_time.py RECORDS.jsonl --kiln KILN --sources FOLDER --target cpu --target hip:gfx942 [--json OUT.json]

One `kiln build --timing` at a time for each record and target. Prints, for each target, the median, the 95th percentile and the
largest CPU time (milliseconds) of each stage, of all up to LLVM IR ("to LLVM IR": Sema to translation), and of all but the tools
of others ("without tools": ptxas and lld); then the records above --limit seconds. FOLDER holds the sources as the corpus's own
run.py leaves them.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracle"))
from oracle import first_error, spec_of

TO_LLVM_IR = ("sema", "tile", "tilegpu", "llvm", "translate")
TOOLS = ("cubin", "hsaco")


def source_root(sources, record):
    return sources / f"{record['repo'].replace('/', '+')}@{record['commit'][:12]}"


def sum_of_stages(timing):
    """Seconds by stage and clock. A kernel that has a fallback goes through most stages twice."""
    stages = {}
    for variant in timing["variants"]:
        for stage in variant["stages"]:
            times = stages.setdefault(stage["stage"], {"wall": 0.0, "cpu": 0.0})
            for clock in times:
                times[clock] += stage[f"{clock}_us"] / 1e6
    return stages


def build_record(kiln, record, root, target, options):
    """Seconds of one `kiln build -j 1` and of its stages, and the first error, None where there is none."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        (out / "spec.json").write_text(json.dumps(spec_of(record, str(root / record["path"]), target)))
        with open(out / "printed", "wb") as printed:
            start = time.perf_counter()
            process = subprocess.Popen([kiln, "build", str(out / "spec.json"), "-o", str(out / "lib"), "-I", str(root), "-j", "1", "--timing",
                                        str(out / "timing.json"), *options], stdout=printed, stderr=printed)
            _, status, used = os.wait4(process.pid, 0)
            wall = time.perf_counter() - start
            process.returncode = os.waitstatus_to_exitcode(status)
        timing = out / "timing.json"
        stages = sum_of_stages(json.loads(timing.read_text())) if timing.exists() else {}
        error = first_error((out / "printed").read_text(errors="replace")) if process.returncode else None
    return {"wall": wall, "cpu": used.ru_utime + used.ru_stime, "stages": stages, "error": error}


def compile_record(kiln, record, root, target, options):
    """A record of the stages' CPU milliseconds and the first error, None where there is none."""
    built = build_record(kiln, record, root, target, options)
    return {"kernel": record["kernel"], "path": record["path"], "target": target, "error": built["error"],
            "stages": {stage: 1000 * times["cpu"] for stage, times in built["stages"].items()}}


def row(name, times):
    times = sorted(times)
    at = lambda share: times[min(len(times) - 1, int(share * len(times)))]
    return f"| {name} | {at(0.5):.1f} | {at(0.95):.0f} | {times[-1]:.0f} |"


def report(target, outcomes, limit):
    compiled = [o for o in outcomes if o["error"] is None]
    print(f"\n{target}: {len(compiled)} of {len(outcomes)} records compile\n\n| stage, CPU ms | median | 95th percentile | largest |\n| --- | --- | --- | --- |")
    names = list(dict.fromkeys(stage for o in compiled for stage in o["stages"]))
    of = lambda o, stages: sum(o["stages"].get(stage, 0) for stage in stages)
    for name in names:
        print(row(name, [of(o, [name]) for o in compiled]))
    print(row("to LLVM IR", [of(o, TO_LLVM_IR) for o in compiled]))
    without_tools = lambda o: of(o, [stage for stage in o["stages"] if stage not in TOOLS])
    print(row("without tools", [without_tools(o) for o in compiled]))
    for o in sorted(outcomes, key=without_tools, reverse=True):
        if without_tools(o) > 1000 * limit:
            print(f"  {without_tools(o) / 1000:.1f} s  {o['kernel']} ({o['path']}): {o['error'] or o['stages']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records")
    parser.add_argument("--kiln", required=True)
    parser.add_argument("--sources", type=pathlib.Path, required=True)
    parser.add_argument("--target", action="append", required=True)
    parser.add_argument("--kernel", help="only kernels whose name contains this")
    parser.add_argument("--limit", type=float, default=2, help="name the records that take more seconds")
    parser.add_argument("--option", action="append", default=[], help="for kiln build, such as --option=--cuda-emit=ptx")
    parser.add_argument("--json")
    args = parser.parse_args()
    records = [json.loads(line) for line in pathlib.Path(args.records).read_text().splitlines() if line.strip()]
    outcomes = []
    for target in args.target:
        for record in records:
            root = source_root(args.sources, record)
            if (root / record["path"]).exists() and (args.kernel or "") in record["kernel"]:
                outcomes.append(compile_record(args.kiln, record, root, target, args.option))
        report(target, [o for o in outcomes if o["target"] == target], args.limit)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(outcomes, indent=0))


if __name__ == "__main__":
    main()
