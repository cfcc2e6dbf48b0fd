"""Checks a tuning file: tuned.py FILE n=VARIANT ... names the fastest variant of a shape, or none of its times, n=-VARIANT=REASON why one
has none, and runs=N and shapes=N count."""

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
    (one,) = [one for one in shapes if one["shape"]["n"] == int(what)]
    if wanted.startswith("-"):
        variant, reason = wanted[1:].rsplit(":", 1)
        assert variant not in one["times_us"] and reason in one["failures"][variant], (check, one)
    else:
        assert min(one["times_us"], key=one["times_us"].get) == wanted, (check, one)
