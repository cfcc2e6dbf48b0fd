#!/usr/bin/env python3
"""How long kernels of the corpus (docs/corpus.md) take to compile, cold, with Kiln and with Triton, in turns on one machine.

  triton_compile_time.py RECORDS.jsonl --kiln KILN --sources FOLDER --python PYTHON [--target cuda:sm_90a] [--kernels 40] [--seed 1]

Takes records at random until `--kernels` of them compile with both, each of --repeats times: `kiln build -j 1` as a whole process, and the one
call of `triton.compile` with an empty cache: the first one of a process (not Python's start, not the imports), and the same again, when Triton has
set itself up. The least of the times counts. PYTHON has Triton and needs no GPU. Prints CPU and wall milliseconds, of them the tools' (ptxas, lld),
and ratios: Triton's / Kiln's. --ptxas: one ptxas for both, else each takes its own. --compare KILN: another Kiln beside the first, in the same
turns. FOLDER is as for corpus_time.py.
"""
import argparse
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracle"))
from corpus_time import TOOLS, build_record, source_root

HERE = pathlib.Path(__file__).resolve().parent
GPU_TARGETS = {"cuda:sm_80": ["cuda", 80, 32], "cuda:sm_86": ["cuda", 86, 32], "cuda:sm_90a": ["cuda", 90, 32],
               "hip:gfx942": ["hip", "gfx942", 64], "hip:gfx1100": ["hip", "gfx1100", 32]}


def with_triton(args, record, root, target):
    job = {key: record[key] for key in ("path", "kernel", "signature", "constexprs")}
    job.update(root=str(root), target=GPU_TARGETS[target],
               options={"num_warps": record.get("num_warps") or 4, "num_stages": record.get("num_stages") or 2})
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "job.json"
        path.write_text(json.dumps(job))
        environment = {**os.environ, "TRITON_CACHE_DIR": folder, "TRITON_ALWAYS_COMPILE": "1", **({"TRITON_PTXAS_PATH": args.ptxas} if args.ptxas else {})}
        done = subprocess.run([args.python, str(HERE / "compile_with_triton.py"), str(path)], capture_output=True, text=True,
                              errors="replace", env=environment)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return json.loads(lines[-1]) if lines else {"error": f"exit status {done.returncode}"}


def with_kiln(kiln, args, record, root, target):
    options = [f"--ptxas={args.ptxas}"] if args.ptxas else []
    built = build_record(kiln, record, root, target, options)
    tool = {clock: sum(times[clock] for stage, times in built["stages"].items() if stage in TOOLS) for clock in ("wall", "cpu")}
    return {**built, "tool": tool}


def least(outcomes):
    """Of each time the least; the first error, if there is one."""
    failed = next((o for o in outcomes if o.get("error")), None)
    if failed:
        return failed
    best = dict(outcomes[0])
    for clock in ("wall", "cpu"):
        fastest = min(outcomes, key=lambda o: o[clock])
        best[clock] = fastest[clock]
        best["tool"] = {**best["tool"], clock: fastest["tool"][clock]}
    return best


def measure(args, record, target):
    """Times by compiler, or one compiler with its error."""
    root = source_root(args.sources, record)
    compilers = {"triton": lambda: with_triton(args, record, root, target),
                 "kiln": lambda: {"kiln": with_kiln(args.kiln, args, record, root, target)}}
    if args.compare:
        compilers["other"] = lambda: {"other": with_kiln(args.compare, args, record, root, target)}
    outcomes = {}
    for _ in range(args.repeats):
        for name, run in compilers.items():
            times = run()
            error = times.get("error") or times.get(name, {}).get("error")
            if error:
                return {name: {"error": error}}
            for what, of in times.items():
                outcomes.setdefault(what, []).append(of)
    return {what: least(of) for what, of in outcomes.items()}


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def summary(name, ratios):
    ratios = sorted(ratios)
    return (f"| {name} | {geometric_mean(ratios):.2f} | {ratios[0]:.2f} | {ratios[len(ratios) // 2]:.2f} | {ratios[-1]:.2f} | "
            f"{sum(r < 1 for r in ratios)} |")


def without_tool(times, clock):
    return max(times[clock] - times["tool"][clock], 1e-4)


def report_kernels(rows):
    print("| kernel | Triton first, CPU | again | Kiln | ratios | Triton first, wall | again | Kiln | ratios |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    cell = lambda times, clock: f"{1000 * times[clock]:.0f} ({1000 * times['tool'][clock]:.0f})"
    for row in sorted(rows, key=lambda row: row["again"]["cpu"] / row["kiln"]["cpu"]):
        cells = []
        for clock in ("cpu", "wall"):
            cells += [cell(row[what], clock) for what in ("first", "again", "kiln")]
            cells.append(", ".join(f"{row[what][clock] / row['kiln'][clock]:.1f}" for what in ("first", "again")))
        print(f"| `{row['kernel']}` | {' | '.join(cells)} |")


def report_ratios(rows):
    print("\n| ratio | geometric mean | worst | median | best | below 1 |\n| --- | --- | --- | --- | --- | --- |")
    for clock in ("cpu", "wall"):
        for what, title in (("first", "Triton / Kiln"), ("again", "Triton set up / Kiln"), ("other", "the other Kiln / Kiln")):
            if what not in rows[0]:
                continue
            print(summary(f"{title}, {clock}", [row[what][clock] / row["kiln"][clock] for row in rows]))
            print(summary(f"{title}, {clock}, without tools",
                          [without_tool(row[what], clock) / without_tool(row["kiln"], clock) for row in rows]))
            if all(row[name]["tool"][clock] for row in rows for name in (what, "kiln")):
                print(summary(f"{title}, {clock}, tools alone", [row[what]["tool"][clock] / row["kiln"]["tool"][clock] for row in rows]))


def report_stages(rows, name):
    stages = list(dict.fromkeys(stage for row in rows for stage in row[name]["stages"]))
    sums = {stage: sum(row[name]["stages"].get(stage, {"cpu": 0})["cpu"] for row in rows) for stage in stages}
    total = sum(row[name]["cpu"] for row in rows)
    sums["start, reading, writing"] = total - sum(sums.values())
    print(f"\n| stages of {name}, CPU ms of all kernels | sum | share |\n| --- | --- | --- |")
    for stage, seconds in sums.items():
        print(f"| {stage} | {1000 * seconds:.0f} | {100 * seconds / total:.1f} % |")


def report(target, rows, left_out):
    print(f"\n{target}: {len(rows)} kernels; milliseconds, in brackets the tools' part\n")
    report_kernels(rows)
    report_ratios(rows)
    for name in ("kiln", "other"):
        if name in rows[0]:
            report_stages(rows, name)
    print("\nleft out:", *left_out, sep="\n  ")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records")
    parser.add_argument("--kiln", required=True)
    parser.add_argument("--compare", help="another kiln")
    parser.add_argument("--python", required=True)
    parser.add_argument("--sources", type=pathlib.Path, required=True)
    parser.add_argument("--target", action="append")
    parser.add_argument("--kernels", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--ptxas")
    parser.add_argument("--json")
    args = parser.parse_args()
    records = [json.loads(line) for line in pathlib.Path(args.records).read_text().splitlines() if line.strip()]
    records = [r for r in records if (source_root(args.sources, r) / r["path"]).exists()]
    random.Random(args.seed).shuffle(records)
    kept = []
    for target in args.target or ["cuda:sm_90a"]:
        rows, left_out = [], []
        for record in records:
            outcome = measure(args, record, target)
            failed = next((f"{name}: {of['error']}" for name, of in outcome.items() if of.get("error")), None)
            if failed:
                left_out.append(f"{record['kernel']}: {failed}")
                continue
            rows.append({"kernel": record["kernel"], "path": record["path"], "target": target, **outcome})
            if len(rows) == args.kernels:
                break
        report(target, rows, left_out)
        kept += rows
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(kept, indent=0))


if __name__ == "__main__":
    main()
