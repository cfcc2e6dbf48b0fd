#!/usr/bin/env python3
"""Attention, backward, on one GPU: the launches of kernels/attention/attention_backward beside cuDNN's backward pass, in turns.

    attention_backward_gpu.py LIBRARY.so [--length N ...] [--only TEXT]

LIBRARY.so is the library of kernels/attention/attention_backward.json linked with the runtime (docs/performance.md has the commands). Checks the gradients against
double precision first, odd lengths as well, then prints TFLOP/s by the five products that cuDNN makes (Kiln's two passes make seven): cuDNN's, Kiln's in one
stream, Kiln's with the queries' gradients in a second stream, where their blocks begin as the last ones of the keys' gradients leave processors, and, for heads
of 128, Kiln's one pass with five products, the launches before and behind it included. Needs PyTorch.
"""
import argparse
import functools
import math
import pathlib
import statistics
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE / "../../python")]
import kiln  # noqa: E402

ROUNDS, ROW_UNIT = 16, 128
attention = torch.nn.functional.scaled_dot_product_attention


def normal(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.float16)


def strides(letter, tensor):
    rows = "n" if letter in ("k", "v", "dk", "dv") else "m"
    return dict(zip((f"stride_{letter}b", f"stride_{letter}h", f"stride_{letter}{rows}"), tensor.stride()))


class Problem:
    """Queries, keys, values and the result's gradient of (batch, heads, length, dim), and what a forward pass leaves."""

    def __init__(self, batch, heads, length, dim, causal):
        self.causal, self.scale = causal, 1 / math.sqrt(dim)
        self.q, self.k, self.v, self.dout = (normal(batch, heads, length, dim) for _ in range(4))
        with torch.no_grad(), sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            self.out, self.lse = torch.ops.aten._scaled_dot_product_flash_attention(self.q, self.k, self.v, is_causal=causal)[:2]
        self.lse = self.lse[..., :length].float().contiguous()
        self.out = self.out.contiguous()
        rows = -(-length // ROW_UNIT) * ROW_UNIT
        self.lse2, self.delta = (torch.empty(batch, heads, rows, device="cuda") for _ in range(2))
        self.dq, self.dk, self.dv = (torch.full_like(self.q, float("nan")) for _ in range(3))

    def calls(self, library, in_one_pass=False):
        batch, heads, length, dim = self.q.shape
        suffix = "f16" + (f"_{dim}" if dim != 64 else "")
        causal = "causal_" if self.causal else ""
        arrays = dict(q_ptr=self.q, k_ptr=self.k, v_ptr=self.v, out_ptr=self.out, dout_ptr=self.dout, lse_ptr=self.lse, lse2_ptr=self.lse2,
                      delta_ptr=self.delta, dq_ptr=self.dq, dk_ptr=self.dk, dv_ptr=self.dv)
        numbers = dict(n_heads=heads, n_kv_heads=heads, group=1, n_queries=length, n_keys=length, scale=self.scale, soft_cap=1.0, window=1,
                       batch=batch, longest=length)
        for letter, tensor in (("q", self.q), ("k", self.k), ("v", self.v), ("o", self.out), ("g", self.dout), ("dq", self.dq), ("dk", self.dk),
                               ("dv", self.dv)):
            numbers |= strides(letter, tensor)
        names = (f"attention_row_statistics_{suffix}", f"attention_key_gradients_{causal}{suffix}", f"attention_query_gradients_{causal}{suffix}")
        if in_one_pass:
            names = (f"attention_row_statistics_and_sums_{suffix}", f"attention_gradients_{causal}{suffix}",
                     f"attention_query_gradients_of_sums_{suffix}")
            arrays["dq_sums_ptr"] = torch.full((*self.delta.shape, dim), float("nan"), device="cuda")
        known = arrays | numbers
        entries = [getattr(library, name) for name in names]
        return [functools.partial(entry, **{p.name: known[p.name] for p in entry.parameters}) for entry in entries]

    def kiln(self, library, in_one_pass=False):
        calls = self.calls(library, in_one_pass)
        return lambda: [call() for call in calls]

    def kiln_in_two_streams(self, library):
        row_statistics, key_gradients, query_gradients = self.calls(library)
        other = torch.cuda.Stream()

        def launch():
            current = torch.cuda.current_stream()
            row_statistics()
            other.wait_stream(current)
            key_gradients()
            with torch.cuda.stream(other):
                query_gradients()
            current.wait_stream(other)

        return launch

    def cudnn(self):
        inputs = [t.detach().requires_grad_() for t in (self.q, self.k, self.v)]
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            out = attention(*inputs, is_causal=self.causal)
        return lambda: torch.autograd.grad(out, inputs, self.dout, retain_graph=True)

    def check(self):
        inputs = [t.double().requires_grad_() for t in (self.q, self.k, self.v)]
        attention(*inputs, is_causal=self.causal).backward(self.dout.double())
        for name, tensor, now in zip(("dq", "dk", "dv"), inputs, (self.dq, self.dk, self.dv)):
            error = ((now.double() - tensor.grad).norm() / tensor.grad.norm()).item()
            assert error < 3e-3, f"{name} of {tuple(self.q.shape)} is off by {error:.1e}"


def milliseconds(launches):
    times = [[] for _ in launches]
    for _ in range(ROUNDS):
        for launch, mine in zip(launches, times):
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            torch.cuda._sleep(2000000)  # all launches are queued by then
            start.record()
            launch()
            end.record()
            torch.cuda.synchronize()
            mine.append(start.elapsed_time(end))
    return [statistics.median(mine[ROUNDS // 4:]) for mine in times]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--length", type=int, action="append")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    library = kiln.load(options.library, name="attention_backward")
    for dim in (64, 96, 128, 256):
        for causal in (False, True):
            title = f"{dim}, {'causal' if causal else 'all'}"
            if options.only not in title:
                continue
            def ours(problem):
                in_one_pass = [problem.kiln(library, in_one_pass=True)] if dim == 128 else []
                return [problem.kiln(library), problem.kiln_in_two_streams(library), *in_one_pass]

            for length in (64, 200, 513):
                problem = Problem(2, 3, length, dim, causal)
                for launch in ours(problem):
                    launch()
                    torch.cuda.synchronize()
                    problem.check()
                    for gradient in (problem.dq, problem.dk, problem.dv):
                        gradient.fill_(float("nan"))
            for length in options.length or (4096, 16384):
                batch, heads = max(1, 16384 // length), 2048 // dim
                problem = Problem(batch, heads, length, dim, causal)
                theirs, *times = milliseconds([problem.cudnn(), *ours(problem)])
                work = 10 * batch * heads * length * length * dim * (0.5 if causal else 1) * 1e-9
                print(f"| {title} | {length} | {work / theirs:.0f} |", *(f"{work / mine:.0f} | {theirs / mine:.2f} |" for mine in times), flush=True)


if __name__ == "__main__":
    main()
