#!/usr/bin/env python3
"""Compares what Kiln's code computes with Triton's own interpreter, kernel by kernel.

For each record (a kernel of a public repository with the types of its arguments, see docs/corpus.md): compile it with
Kiln, choose arguments by name and type, run the interpreter and Kiln's code on equal memory, and compare every byte that either
changed. Each kernel runs in a process of its own, because the arguments are guesses and a bad one may crash either side. A kernel
counts as matched when every run that the interpreter finished agrees, and at least one wrote something telling.

  oracle.py RECORDS.jsonl --kiln KILN --runtime FOLDER --sources FOLDER [--python PYTHON ...] [--device cpu ...] --json OUT.json

All devices are compared with one run of the interpreter, which takes most of the time. A device is "cpu", an emulated GPU ("gfx942"), or
one of AMD's whose machine code is executed ("hip:gfx942", with --machine bazel-bin/tests/amdgcn/libmachinehip.so).

PYTHON is an interpreter with NumPy and Triton; with several, the next is asked where the former's Triton cannot run the
kernel (block pointers need one before 3.8). FOLDER of --sources holds a folder `owner+name@<12 digits of the commit>` for each repository, as
the corpus's own run.py leaves them. --runtime holds libinternals.a and emulator/libemulator.a (bazel-bin/runtime).
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
RUNTIME_HEADERS = HERE.parents[1] / "runtime"


def spec_of(record, source, target):
    value = lambda v: {"dtype": v[3:]} if isinstance(v, str) and v.startswith("tl.") else v
    signature = {**record["signature"], **{name: value(v) for name, v in record["constexprs"].items()}}
    config = {"num_warps": record.get("num_warps") or 4, "num_stages": record.get("num_stages") or 2}
    return {"kiln": 1, "library": "record", "targets": [target],
            "kernels": [{"name": "k", "source": source, "kernel": record["kernel"], "signature": signature, "configs": [config]}]}


def first_error(text):
    lines = [line for line in text.splitlines() if "error" in line.lower()] or text.strip().splitlines() or ["no message"]
    return lines[0][:240]


def link(runtime, out):
    """The path of a shared object of the library `record` in `out`/lib, and None; or None and the error."""
    shared = out / "record.so"
    archives = [out / "lib/librecord.a", *(runtime / name for name in ("libinternals.a", "zstd/libzstd.a", "emulator/libemulator.a"))]
    linked = subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-I", str(RUNTIME_HEADERS), str(out / "lib/record.c"), "-o", str(shared),
                             "-Wl,--whole-archive", *map(str, archives), "-Wl,--no-whole-archive",
                             "-lstdc++", "-lzstd", "-lboost_context", "-lm", "-ldl", "-pthread"], capture_output=True, text=True)
    return (None, "link: " + linked.stderr[-300:]) if linked.returncode else (str(shared), None)


def compile_library(args, record, root, device, out):
    """The path of a shared object with the kernel `k` and Kiln's runtime, and None; or None and the error."""
    target = device if device == "cpu" or device.startswith("hip:") else f"emu:{device}"
    out.mkdir()
    spec = out / "spec.json"
    spec.write_text(json.dumps(spec_of(record, str(root / record["path"]), target)))
    try:
        built = subprocess.run([args.kiln, "build", str(spec), "-o", str(out / "lib"), "-I", str(root)], capture_output=True,
                               text=True, errors="replace", timeout=args.compile_seconds)
    except subprocess.TimeoutExpired:
        return None, "compiling took too long"
    if built.returncode:
        return None, first_error(built.stderr + built.stdout)
    return link(args.runtime, out)


def run_seeds(args, python, record, root, libraries, out):
    """All steps of all seeds. A process that dies is followed by another one for the seeds that it did not reach."""
    seeds, steps = list(range(args.seeds)), []
    while seeds:
        job = {key: record[key] for key in ("path", "kernel", "signature", "constexprs")}
        job.update(root=str(root), libraries=libraries, machine=args.machine, seeds=seeds, memory_limit=args.memory_gib << 30, seconds=args.seconds)
        (out / "job.json").write_text(json.dumps(job))
        try:
            run = subprocess.run([python, str(HERE / "compare_record.py"), str(out / "job.json")], capture_output=True, text=True,
                                 errors="replace", timeout=args.seconds * len(seeds) + 120)
            printed, code, message = run.stdout, run.returncode, run.stderr.strip()[-300:]
        except subprocess.TimeoutExpired as expired:
            printed, code, message = (expired.stdout or b"").decode(errors="replace"), -1, "time limit"
        new = [json.loads(line) for line in printed.splitlines() if line.startswith('{"step"')]
        steps += new
        if code == 0 or not new:
            break
        steps.append({"step": "died", "in": new[-1]["step"], "seed": new[-1].get("seed"), "device": new[-1].get("device"),
                      "code": code, "message": message})
        if "seed" not in new[-1]:  # before any run
            break
        seeds = [s for s in seeds if s > new[-1]["seed"]]
        if sum(s["step"] == "died" for s in steps) >= 3:
            break
    return steps


def judge(steps, device):
    compared = [s for s in steps if s["step"] == "compared" and s["device"] == device]
    wrong = [s for s in compared if any(r["differing"] for r in s["regions"])]
    crashed = [s for s in steps if s["step"] == "died" and s["in"] == "kiln" and s["device"] == device]
    if crashed:
        return "kiln crashed", crashed[0]["message"] or f"signal {-crashed[0]['code']}"
    if wrong:
        regions = [r for r in wrong[0]["regions"] if r["differing"]]
        return "mismatched", json.dumps(regions)[:1500]
    if any(s["telling"] for s in compared):
        return "matched", f"{sum(s['telling'] for s in compared)} telling runs"
    if compared:
        return "nothing written", "no run wrote anything telling"
    reasons = collections.Counter(s.get("error") or f"{s['step']} in {s.get('in')}: {s.get('code')} {s.get('message', '')}"
                                  for s in steps if s["step"] in ("import failed", "interpreter failed", "died"))
    return "interpreter cannot run it", reasons.most_common(1)[0][0] if reasons else "no output"


def examine(args, record):
    """The record's names, and under `devices` a verdict and a detail for each device."""
    root = args.sources / f"{record['repo'].replace('/', '+')}@{record['commit'][:12]}"
    result = {key: record[key] for key in ("repo", "path", "kernel")}
    if not (root / record["path"]).exists():
        return {**result, "devices": {device: {"verdict": "no source", "detail": ""} for device in args.device}}
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        built = {device: compile_library(args, record, root, device, out / device) for device in args.device}
        libraries = {device: library for device, (library, _) in built.items() if library}
        devices = {device: {"verdict": "kiln refuses it", "detail": error} for device, (_, error) in built.items() if error}
        steps = []
        for python in args.python if libraries else ():
            steps = run_seeds(args, python, record, root, libraries, out)
            if any(s["step"] == "compared" or s["step"] == "died" and s["in"] == "kiln" or s.get("error") == "time limit" for s in steps):
                break
        for device in libraries:
            devices[device] = dict(zip(("verdict", "detail"), judge(steps, device)))
        return {**result, "devices": devices, "python": python if libraries else None, "steps": steps}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records")
    parser.add_argument("--kiln", required=True)
    parser.add_argument("--runtime", required=True, type=pathlib.Path)
    parser.add_argument("--sources", required=True, type=pathlib.Path)
    parser.add_argument("--python", action="append")
    parser.add_argument("--device", action="append", help="cpu, sm_90a, gfx942, hip:gfx942 …")
    parser.add_argument("--machine", help="libmachinehip.so, for hip:…")
    parser.add_argument("--only", help="a JSON list of [repo, path, kernel]")
    parser.add_argument("--kernel", help="only kernels of this name")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=30, help="for one run of the interpreter")
    parser.add_argument("--compile-seconds", type=int, default=60)
    parser.add_argument("--memory-gib", type=int, default=6)
    parser.add_argument("--json", required=True)
    parser.add_argument("--resume", action="store_true", help="keep what the file of --json has")
    args = parser.parse_args()
    args.python, args.device = args.python or [sys.executable], args.device or ["cpu"]
    args.runtime, args.sources = args.runtime.absolute(), args.sources.absolute()
    with open(args.records) as file:
        records = [json.loads(line) for line in file if line.strip()]
    if args.only:
        wanted = {tuple(key) for key in json.loads(pathlib.Path(args.only).read_text())}
        records = [r for r in records if (r["repo"], r["path"], r["kernel"]) in wanted]
    if args.kernel:
        records = [r for r in records if r["kernel"] == args.kernel]
    out = pathlib.Path(args.json)
    results = json.loads(out.read_text()) if args.resume and out.exists() else []
    done = {(r["repo"], r["path"], r["kernel"]) for r in results}
    records = [r for r in records if (r["repo"], r["path"], r["kernel"]) not in done]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for job in concurrent.futures.as_completed([pool.submit(examine, args, record) for record in records]):
            results.append(job.result())
            for device, found in results[-1]["devices"].items():
                print(device, found["verdict"], results[-1]["repo"], results[-1]["kernel"], found["detail"][:160], sep=" | ", flush=True)
            pathlib.Path(args.json + ".part").write_text(json.dumps(results, indent=0))
            os.replace(args.json + ".part", args.json)
    for device in args.device:
        for verdict, count in collections.Counter(r["devices"][device]["verdict"] for r in results).most_common():
            print(f"{count:5d}  {device}: {verdict}")


if __name__ == "__main__":
    main()
