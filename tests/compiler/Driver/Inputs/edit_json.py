"""Writes a JSON file with some values replaced: edit_json.py FROM TO PATH=VALUE ...; PATH is like kernels.0.dispatch.regret."""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    whole = json.load(file)
for edit in sys.argv[3:]:
    path, value = edit.split("=", 1)
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    inner = whole
    for step in steps:
        inner = inner[step]
    inner[last] = json.loads(value)
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(whole, file, indent=1)
