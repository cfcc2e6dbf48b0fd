"""Checks a plan of library.json: every variant for every target once, with the files that it may read."""

import json
import sys

with open(sys.argv[1]) as file:
    plan = json.load(file)
pieces = plan["pieces"]
assert plan["kiln_plan"] == 1 and plan["library"] == "pieces", plan
assert plan["outputs"] == ["pieces.h", "pieces.c", "pieces.json", "libpieces.a"], plan["outputs"]
assert len({piece["name"] for piece in pieces}) == len(pieces)
# Two signatures of scale and one of scale_f16, in two configs, for two targets; of product's three
# configs the planner drops the one that has too many threads for the GPU.
assert [sum(piece["entry"] == name for piece in pieces) for name in ("scale", "scale_f16", "product")] == [8, 4, 5]
for piece in pieces:
    assert piece["name"].startswith(piece["group"] + "@"), piece
    assert piece["group"] == piece["entry"] + ("@cpu_x86_64_v3" if piece["target"] == "cpu:x86-64-v3" else "@hip_gfx942")
    names = [path.rsplit("/", 1)[-1] for path in piece["reads"]]
    assert names == ["library.json"] + (["product.py"] if piece["entry"] == "product" else ["scale.py", "factors.py"]), names
    assert piece["may_be_dropped"] == (piece["entry"] == "product"), piece
    assert piece["config"]["BLOCK"] in (16, 32, 64, 128, 256), piece
    assert piece["num_warps"] in (4, 8, 16, 32), piece
