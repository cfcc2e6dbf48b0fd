"""Checks what kiln inspect --json says of a library: every binary of a GPU has an occupancy and a main loop."""

import json
import sys

with open(sys.argv[1]) as file:
    library = json.load(file)
assert library["kiln_inspect"] == 1
binaries = [one for entry in library["entries"] for variant in entry["variants"] for one in variant["binaries"]]
assert binaries
for one in binaries:
    if one["format"] in ("ptx", "obj"):
        assert "occupancy" not in one, one
    else:
        held = one["occupancy"]
        assert 0 < held["warps"] <= held["max_warps"], one
        assert held["limits"], one
    assert ("main_loop" in one) == (one["format"] != "obj"), one
