#!/usr/bin/env python3
"""Kernels bound by memory (streaming.json) on one GPU: several builds of the library, and Triton's JIT, in turns.

    streaming_gpu.py [--only TEXT] [--rows N] LIBRARY.so...

Each LIBRARY.so is the library linked with the runtime, by one Kiln or another (docs/performance.md has the commands). Checks every config's result
against PyTorch in double precision first, times all configs of all in turns behind a cold L2 cache, and prints, for each kernel, what copies reach in the
same turns, of 1 GiB to another (the best of three, as what comes first behind a synchronisation may have waited for the host) and of half the kernel's
bytes, which ends as soon (with 65536 rows most kernels move as much as the large copy); the GB/s of the best config of each library, their shares of both copies, and the ratio of the first library's time to the others'. Needs PyTorch and Triton.
"""
import argparse
import json
import math
import pathlib
import statistics
import sys

import torch

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "../../python")]
import kiln  # noqa: E402
import streaming  # noqa: E402

ROUNDS = 24
PROCESSORS = torch.cuda.get_device_properties(0).multi_processor_count
SPEC = {entry["name"]: entry for entry in json.loads((HERE / "streaming.json").read_text())["kernels"]}


def normal(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda", dtype=torch.float32).to(dtype)


class Case:
    """Launches of one kernel: `grids` are functions of a config, `moved` the bytes, `expected` from copies of the arguments."""

    def __init__(self, name, grids, arguments, moved, expected, tolerance):
        self.name, self.arguments, self.moved, self.expected, self.tolerance = name, arguments, moved, expected, tolerance
        self.initial = [a.clone() if isinstance(a, torch.Tensor) else a for a in arguments]
        self.launches = [(i, config, grid(config)) for i, config in enumerate(SPEC[name]["configs"]) for grid in grids]

    def restore(self):
        for now, before in zip(self.arguments, self.initial):
            if isinstance(now, torch.Tensor):
                now.copy_(before)

    def check(self, who, launch):
        self.restore()
        launch()
        torch.cuda.synchronize()
        for index, expected in self.expected(self.initial).items():
            now = self.arguments[index].double()
            error = (now - expected).abs().max().item() / max(1e-9, expected.abs().max().item())
            assert error < self.tolerance, f"{self.name}, {who}: argument {index} is off by {error:.1e}"
        self.restore()

    def kiln(self, library):
        entry = getattr(library, self.name)
        return [lambda i=i, grid=grid: entry.run_variant(i, *self.arguments, grid=grid) for i, _, grid in self.launches]

    def triton(self):
        kernel = getattr(streaming, SPEC[self.name]["kernel"])
        return [lambda config=config, grid=grid: kernel[(grid,)](*self.arguments, **config) for _, config, grid in self.launches]


def rotated(q, cos, sin):
    q, cos, sin = q.double(), cos.double()[:, None], sin.double()[:, None]
    left, right = q.chunk(2, -1)
    return torch.cat((left * cos - right * sin, right * cos + left * sin), -1)


def swiglu_gradients(dc, a, b):
    dc, a, b = dc.double(), a.double(), b.double()
    sigmoid = torch.sigmoid(a)
    return dc * (a * sigmoid * (1 - sigmoid) + sigmoid) * b, dc * a * sigmoid


def cross_entropy_gradient(x, target):
    return torch.softmax(x.double(), 1) - torch.nn.functional.one_hot(target, x.shape[1])


def norm_gradient(norm, x, w, dy):
    x = x.double().requires_grad_()
    norm(x, w.double()).backward(dy.double())
    return x.grad


def layer_norm(x, w, b=None):
    return torch.nn.functional.layer_norm(x, x.shape[1:], w, b, 1e-5)


def rms_norm(x, w):
    return x * torch.rsqrt((x * x).mean(1, keepdim=True) + 1e-5) * w


def cases(rows):
    n, columns, wide = 1 << 28, 4096, 8192
    half, brain = torch.float16, torch.bfloat16
    pieces = [lambda config: n // config["BLOCK"]]
    a_row = [lambda config: rows]
    many = [lambda config, k=k: PROCESSORS * k for k in (1, 2, 4)]
    x, y = normal(n), normal(n)
    yield Case("add", pieces, [x, y, torch.empty_like(x), n], 12 * n, lambda a: {2: a[0].double() + a[1]}, 1e-6)
    yield Case("increment", pieces, [x, n], 8 * n, lambda a: {0: a[0].double() + 1}, 1e-6)
    x, y = normal(rows, columns), None
    expected = {1: torch.softmax(x.double(), 1)}
    for name, grids, extents in (("softmax", a_row, [columns]), ("softmax_rows", many, [rows, columns])):
        yield Case(name, grids, [x, torch.empty_like(x), columns, *extents], 8 * x.numel(), lambda a: expected, 1e-5)
    x = normal(rows // 4, 32768)
    expected = {1: torch.softmax(x.double(), 1)}
    yield Case("softmax_wide", [lambda config: rows // 4], [x, torch.empty_like(x), 32768, 32768], 8 * x.numel(), lambda a: expected, 1e-5)
    x, w, b, dy = (normal(*shape, dtype=half) for shape in ((rows, wide), (wide,), (wide,), (rows, wide)))
    expected = {3: layer_norm(x.double(), w.double(), b.double())}
    for name in ("layer_norm", "layer_norm_row"):
        yield Case(name, a_row, [x, w, b, torch.empty_like(x), wide, wide, 1e-5], 4 * x.numel(), lambda a: expected, 2e-3)
    sums = [torch.empty(PROCESSORS * 4, wide, device="cuda") for _ in range(2)]
    gradient = {3: norm_gradient(layer_norm, x, w, dy)}
    yield Case("layer_norm_backward", many, [x, w, dy, torch.empty_like(x), *sums, wide, rows, wide, 1e-5], 6 * x.numel(), lambda a: gradient, 2e-3)
    x, w, dy = x.to(brain), w.to(brain), dy.to(brain)
    normed = {2: rms_norm(x.double(), w.double())}
    yield Case("rms_norm", a_row, [x, w, torch.empty_like(x), wide, wide, 1e-5], 4 * x.numel(), lambda a: normed, 1e-2)
    gradient = {3: norm_gradient(rms_norm, x, w, dy)}
    yield Case("rms_norm_backward", many, [x, w, dy, torch.empty_like(x), sums[0], wide, rows, wide, 1e-5], 6 * x.numel(), lambda a: gradient, 1e-2)
    dc, a, b = (normal(rows, columns, dtype=brain) for _ in range(3))
    gated = {2: torch.nn.functional.silu(a.double()) * b.double()}
    yield Case("swiglu", a_row, [a, b, torch.empty_like(a), columns, columns], 6 * a.numel(), lambda v: gated, 1e-2)
    yield Case("swiglu_backward", a_row, [dc, a, b, columns, columns], 10 * a.numel(),
               lambda v: dict(zip((1, 2), swiglu_gradients(*v[:3]))), 2e-2)
    q, angle = normal(rows, 32, 128, dtype=brain), normal(rows, 64)
    yield Case("rotary", a_row, [q, angle.cos().to(brain), angle.sin().to(brain), 32 * 128, 32],
               4 * (q.numel() + angle.numel()), lambda v: {0: rotated(*v[:3])}, 2e-2)
    x, target = normal(rows // 8, 128000, dtype=brain), torch.randint(0, 128000, (rows // 8,), device="cuda")
    yield Case("cross_entropy", [lambda config: rows // 8], [x, target, torch.empty(rows // 8, device="cuda"), 128000, 128000], 6 * x.numel(),
               lambda v: {0: cross_entropy_gradient(*v[:2])}, 2e-2)


def milliseconds(launches, cold):
    """Of each launch, the median over rounds in which all take turns. `cold` is written before each, which also hides what a launch costs the host."""
    times = [[] for _ in launches]
    for _ in range(ROUNDS):
        events = []
        for launch in launches:
            cold.zero_()
            events.append([torch.cuda.Event(enable_timing=True) for _ in range(2)])
            events[-1][0].record()
            launch()
            events[-1][1].record()
        torch.cuda.synchronize()
        for (start, end), mine in zip(events, times):
            mine.append(start.elapsed_time(end))
    return [statistics.median(mine[ROUNDS // 8:]) for mine in times]


def copies(case):
    """Launches of copies, and the bytes that each moves: three of 2 GiB, and one of as many as the kernel's."""
    pairs = [torch.empty(2, 1 << 30, dtype=torch.uint8, device="cuda")] * 3
    pairs.append(torch.empty(2, case.moved // 32 * 16, dtype=torch.uint8, device="cuda"))
    return [lambda pair=pair: pair[1].copy_(pair[0]) for pair in pairs], [pair.numel() for pair in pairs]


def best(case, launches, times):
    index = min(range(len(launches)), key=lambda i: times[i])
    _, config, grid = case.launches[index]
    text = " ".join(str(v) for v in config.values())
    return times[index], f"{text} x {grid}" if len({g for _, _, g in case.launches}) > 1 else text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--rows", type=int, default=16384)
    parser.add_argument("libraries", nargs="+")
    options = parser.parse_args()
    libraries = [kiln.load(path, name="streaming") for path in options.libraries]
    names = [pathlib.Path(path).stem for path in options.libraries] + ["triton"]
    cold = torch.empty(1 << 28, dtype=torch.uint8, device="cuda")
    ratios = {name: [] for name in names}
    for case in cases(options.rows):
        if options.only not in case.name:
            continue
        groups = [case.kiln(library) for library in libraries] + [case.triton()]
        for name, group in zip(names, groups):
            for launch in group:
                case.check(name, launch)
        copying, moved = copies(case)
        times = milliseconds([*copying, *(launch for group in groups for launch in group)], cold)
        *large, alike = (count / time for count, time in zip(moved, times))
        copy, times = max(large), times[len(copying):]
        del copying
        chosen = []
        for group in groups:
            chosen.append(best(case, group, times[:len(group)]))
            times = times[len(group):]
        for name, (time, _) in zip(names, chosen):
            ratios[name].append(chosen[0][0] / time)
        print(f"| {case.name} | {copy * 1e-6:.0f} | {alike * 1e-6:.0f} | " + " | ".join(
            f"{case.moved / time * 1e-6:.0f} ({case.moved / time / copy:.3f}, {case.moved / time / alike:.3f}; {config}) | {chosen[0][0] / time:.3f}"
            for time, config in chosen) + " |", flush=True)
    print("geometric mean: " + ", ".join(f"{name} {math.exp(statistics.mean(map(math.log, r))):.3f}" for name, r in ratios.items()))


if __name__ == "__main__":
    main()
