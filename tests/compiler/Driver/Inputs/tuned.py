"""Checks a tuning file: tuned.py FILE n=-VARIANT:REASON ... says which variant of a shape has no time, and why; runs=N and shapes=N count,
times=N is how many variants every shape has a time of. Which of them is the fastest is left to the devices whose times are made up."""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    runs = json.load(file)["runs"]
shapes = [one for run in runs for one in run["measurements"]]
for check in sys.argv[2:]:
    what, wanted = check.split("=", 1)
    if what in ("runs", "shapes"):
        assert len(runs if what == "runs" else shapes) == int(wanted), check
        continue
    if what == "times":
        assert all(len(one["times_us"]) == int(wanted) and min(one["times_us"].values()) > 0 for one in shapes), (check, shapes)
        continue
    (one,) = [one for one in shapes if one["shape"]["n"] == int(what)]
    variant, reason = wanted.removeprefix("-").rsplit(":", 1)
    assert variant not in one["times_us"] and reason in one["failures"][variant], (check, one)
