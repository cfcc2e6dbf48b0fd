"""Writes captures of launches for kiln verify, with nothing but Python's own library.

  write_capture.py scale FOLDER         scale_kernel of scale.py: four launches, the last of which was recorded wrong
  write_capture.py product FOLDER       product_kernel of described.py, whose operands are two views of one storage
"""

import json
import os
import random
import struct
import sys

from check_npy import write


def store(folder, name, descr, values):
    os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
    write(os.path.join(folder, name), descr, values)
    return name


def single(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def scale(folder):
    launches = []
    for number, n in enumerate((1000, 7, 128, 300)):
        x = [single(random.gauss(0, 1)) for _ in range(n)]
        after = [single(value * 0.5) for value in x]
        if number == 3:
            after[-1] += 1
        launches.append({
            "function": "scale",
            "grid": [-(-n // 128), 1, 1],
            "constants": {"BLOCK": 128},
            "arguments": [
                {"name": "x_ptr", "type": "*fp32", "storage": 0, "offset": 0, "shape": [n], "strides": [1]},
                {"name": "out_ptr", "type": "*fp32", "storage": 1, "offset": 4, "shape": [n // 2, 2], "strides": [2, 1]},
                {"name": "n", "type": "i32", "value": n},
                {"name": "factor", "type": "fp32", "bits": "0x3f000000"},
            ],
            "storages": [
                {"bytes": 4 * n, "type": "fp32", "before": store(folder, f"{number}/x.npy", "<f4", x)},
                {
                    "bytes": 4 * n + 8,
                    "type": "fp32",
                    "before": store(folder, f"{number}/before.npy", "<f4", [0] * (n + 2)),
                    "after": store(folder, f"{number}/after.npy", "<f4", [0, *after, 0]),
                },
            ],
        })
    return launches


def product(folder):
    values = [float(random.randint(-4, 4)) for _ in range(2 * 64 * 64)]
    a, b = values[: 64 * 64], values[64 * 64 :]
    out = [sum(a[64 * i + k] * b[64 * k + j] for k in range(64)) for i in range(64) for j in range(64)]
    half = {"type": "tensordesc<fp16[64, 64]>", "storage": 0, "shape": [64, 64], "strides": [64, 1]}
    return [{
        "function": "product",
        "grid": [1, 1, 1],
        "constants": {"BLOCK": 64},
        "arguments": [
            {"name": "a", "offset": 0, **half},
            {"name": "b", "offset": 64 * 64 * 2, **half},
            {"name": "out_ptr", "type": "*fp32", "storage": 1, "offset": 0, "shape": [64, 64], "strides": [64, 1]},
            {"name": "K", "type": "i32", "value": 64},
        ],
        "storages": [
            {"bytes": 4 * 64 * 64, "type": "fp16", "before": store(folder, "0/0.npy", "<f2", values)},
            {"bytes": 4 * 64 * 64, "type": "fp32", "before": store(folder, "0/1.npy", "<f4", [0] * 64 * 64), "after": store(folder, "0/2.npy", "<f4", out)},
        ],
    }]


if __name__ == "__main__":
    random.seed(1)
    what, folder = sys.argv[1:]
    launches = {"scale": scale, "product": product}[what](folder)
    with open(os.path.join(folder, "capture.json"), "w", encoding="utf-8") as file:
        json.dump({"kiln_capture": 1, "recorded_on": "gpu", "launches": launches}, file)
