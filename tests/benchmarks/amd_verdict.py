#!/usr/bin/env python3
"""What `amd_static.py --json` has written, row by row: where Kiln's loop is above Triton's, or what changed since another run.

  amd_verdict.py OUT.json            for each measure the kernels in which Kiln's is above Triton's, as Kiln's / Triton's for the same products
  amd_verdict.py OUT.json BEFORE.json  Kiln's rows that differ from those of another run, and both runs' geometric means over what both have

Measures are those of amd_static.py's table. Waves of a SIMD are above Triton's where they are fewer, and the total is of all instructions in the loop.
"""
import argparse
import json
import math
import pathlib
import statistics

from amd_assembly import CLASSES

CYCLES = ("lds_cycles", "mca", "simd")
OF_KERNEL = ("spilled", "occupancy")
MEASURES = (*CLASSES, "total", *CYCLES, *OF_KERNEL)


def per_iteration(outcome):
    """Both loops' numbers for the same products: those of the longer one are divided. None is not known."""
    least = min(outcome[name]["products"] for name in ("kiln", "triton"))
    loops = {}
    for name in ("kiln", "triton"):
        measured = outcome[name]
        share = measured["products"] / least if least else 1
        of_loop = {**measured["classes"], "total": sum(measured["classes"].values()), **{c: measured[c] for c in CYCLES}}
        loops[name] = {m: None if value is None else value / share for m, value in of_loop.items()}
        loops[name].update({m: measured[m] for m in OF_KERNEL})
    return loops


def number(value):
    return "?" if value is None else f"{value:.0f}" if float(value).is_integer() or value >= 100 else f"{value:.1f}"


def is_above(measure, one, other):
    """Beyond what division by products rounds."""
    if one is None or other is None:
        return False
    return other > one if measure == "occupancy" else one > other * (1 + 1e-9)


def compared(outcomes):
    """Of the kernels that both have compiled: the name and both loops."""
    return [(o["name"], per_iteration(o)) for o in outcomes if not any("error" in o[c] for c in ("kiln", "triton"))]


def mean_of_ratios(rows, measure):
    ratios = [loops["triton"][measure] / loops["kiln"][measure] for _, loops in rows if loops["triton"][measure] and loops["kiln"][measure]]
    return f"{statistics.geometric_mean(ratios):.3f} over {len(ratios)}" if ratios else "of none"


def print_verdict(outcomes):
    rows = compared(outcomes)
    nowhere = [name for name, loops in rows if not any(is_above(m, loops["kiln"][m], loops["triton"][m]) for m in CLASSES)]
    print(f"{len(rows)} kernels; no class of instructions above Triton's in {len(nowhere)}: " + ", ".join(nowhere))
    for measure in MEASURES:
        above = [(name, loops["kiln"][measure], loops["triton"][measure]) for name, loops in rows if is_above(measure, loops["kiln"][measure], loops["triton"][measure])]
        above.sort(key=lambda row: -abs(math.log((row[1] + 1) / (row[2] + 1))))
        print(f"{measure} {len(above)}: " + ", ".join(f"{name} {number(mine)}/{number(theirs)}" for name, mine, theirs in above))


def print_changes(now, before):
    before = dict(compared(before))
    both = [(name, loops) for name, loops in compared(now) if name in before]
    for name, loops in both:
        mine, was, theirs = loops["kiln"], before[name]["kiln"], loops["triton"]
        changed = [f"{m} {number(was[m])} -> {number(mine[m])} ({number(theirs[m])})" for m in MEASURES if mine[m] != was[m]]
        if changed:
            print(f"{name}: " + ", ".join(changed))
    for measure in ("mca", "simd"):
        print(f"{measure}: {mean_of_ratios([(name, before[name]) for name, _ in both], measure)} -> {mean_of_ratios(both, measure)}")


def read_outcomes(parser, path):
    outcomes = json.loads(path.read_text())
    if any("classes" not in o[c] for o in outcomes for c in ("kiln", "triton") if "error" not in o[c]):
        parser.error(f"{path}: expected loops of products: of what --streaming has written only the table is of use")
    return outcomes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("outcomes", type=pathlib.Path)
    parser.add_argument("before", type=pathlib.Path, nargs="?")
    args = parser.parse_args()
    outcomes = read_outcomes(parser, args.outcomes)
    if args.before:
        print_changes(outcomes, read_outcomes(parser, args.before))
    else:
        print_verdict(outcomes)


if __name__ == "__main__":
    main()
