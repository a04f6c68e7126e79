"""Chains of bfloat16 products under `torch.compile`, against torch eager, torch with `out=`, and
torch's own compiler, in one process.

    python -m benchmarks.torch_chains [--turns N] [--threads T] [--ours] [--without-inductor] [NAME]

CPU milliseconds of one thread (wall time of more), the least of turns that alternate.  `out` writes
all that it computes into tensors that were touched before; the others allocate.  Results are
compared with eager's first.  `--ours` has the backend take all products of bfloat16, whatever it
thinks of them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any
from unittest import mock

import torch
import torch.nn.functional as F
from torch import Tensor

from fusewright.bridges.torch import partition
from fusewright.ir.dtypes import BFLOAT16
from fusewright.targets.cpu import products

Run = Callable[[], Any]
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "ReLU": torch.relu,
    "SiLU": F.silu,
    "GELU": lambda x: F.gelu(x, approximate="tanh"),
}
IN_PLACE: dict[str, Callable[[Tensor], Any]] = {
    "ReLU": torch.relu_,
    "SiLU": lambda x: F.silu(x, inplace=True),
    "GELU": lambda x: torch.ops.aten.gelu.out(x, approximate="tanh", out=x),
}
PERCEPTRONS: Sequence[tuple[int, tuple[int, ...], str]] = (
    (65536, (32, 128, 32), "ReLU"),
    (65536, (64, 256, 64), "ReLU"),
    (65536, (64, 256, 64), "SiLU"),
    (32768, (128, 512, 128), "GELU"),
    (16384, (128, 1024, 128), "ReLU"),
    (8192, (256, 1024, 256), "GELU"),
    (4096, (768, 3072, 768), "GELU"),
    (131072, (64, 64, 64, 64), "ReLU"),
    (128, (768, 3072, 768), "GELU"),
    (512, (1024, 1024, 1024), "ReLU"),
)
GATED = ((32768, 128, 512), (4096, 768, 2048))


def numbers(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(len(shape))).bfloat16()


def perceptron(rows: int, widths: Sequence[int], name: str) -> tuple[Any, list[Tensor], Run]:
    """The function, what it is given, and the same with `out=`."""
    act, act_ = ACTIVATIONS[name], IN_PLACE[name]
    weights = [numbers(k, n) / k**0.5 for k, n in pairwise(widths)]
    x = numbers(rows, widths[0])
    rooms = [torch.zeros(rows, n, dtype=torch.bfloat16) for n in widths[1:]]

    def run(x: Tensor, *weights: Tensor) -> Tensor:
        for w in weights[:-1]:
            x = act(x @ w)
        return x @ weights[-1]

    def out() -> Tensor:
        value = x
        for w, room in zip(weights[:-1], rooms[:-1], strict=True):
            torch.mm(value, w, out=room)
            act_(room)
            value = room
        return torch.mm(value, weights[-1], out=rooms[-1])

    return run, [x, *weights], out


def gated(rows: int, width: int, hidden: int) -> tuple[Any, list[Tensor], Run]:
    """`(silu(x @ g) * (x @ u)) @ d`."""
    x, g, u = numbers(rows, width), numbers(width, hidden), numbers(width, hidden)
    g, u, d = g / width**0.5, u.flip(0) / width**0.5, numbers(hidden, width) / hidden**0.5
    a, b = (torch.zeros(rows, hidden, dtype=torch.bfloat16) for _ in range(2))
    made = torch.zeros(rows, width, dtype=torch.bfloat16)

    def run(x: Tensor, g: Tensor, u: Tensor, d: Tensor) -> Tensor:
        return (F.silu(x @ g) * (x @ u)) @ d

    def out() -> Tensor:
        torch.mm(x, g, out=a)
        F.silu(a, inplace=True)
        torch.mm(x, u, out=b)
        a.mul_(b)
        return torch.mm(a, d, out=made)

    return run, [x, g, u, d], out


def cases() -> dict[str, Callable[[], tuple[Any, list[Tensor], Run]]]:
    """By name."""
    found: dict[str, Any] = {}
    for rows, widths, act in PERCEPTRONS:
        name = f"{rows}; {'-'.join(map(str, widths))} {act}"
        found[name] = lambda r=rows, w=widths, a=act: perceptron(r, w, a)
    for row in GATED:
        found[f"gated {row[0]}; {row[1]}, {row[2]}"] = lambda r=row: gated(*r)
    return found


def contenders(case: tuple[Any, list[Tensor], Run], with_inductor: bool) -> dict[str, Run]:
    """What is timed."""
    run, given, out = case
    torch._dynamo.reset()
    ours = torch.compile(run, backend="fusewright")
    found = {"ours": lambda: ours(*given), "out": out, "eager": lambda: run(*given)}
    if with_inductor:
        inductor = torch.compile(run)
        found["inductor"] = lambda: inductor(*given)
    return found


def measured(runs: dict[str, Run], turns: int, clock: Callable[[], float]) -> dict[str, float]:
    """Milliseconds of each."""
    least = dict.fromkeys(runs, float("inf"))
    for _ in range(turns):
        for name, run in runs.items():
            began = clock()
            run()
            least[name] = min(least[name], clock() - began)
    return {name: 1e3 * each for name, each in least.items()}


def difference(runs: dict[str, Run]) -> str:
    """How far results lie apart, in parts of the largest number; each runs until it is ready."""
    found = {}
    for name, run in runs.items():
        for _ in range(6):
            found[name] = run().clone()
        time.sleep(1.0 if name == "ours" else 0.0)  # code is compiled beside
    for _ in range(3):
        found["ours"] = runs["ours"]().clone()
    same = torch.equal(found["ours"], found["eager"])
    apart = (found["ours"].float() - found["eager"].float()).abs().max()
    return "same" if same else f"{float(apart / found['eager'].float().abs().max()):.1e}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--turns", type=int, default=12)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--ours", action="store_true")
    parser.add_argument("--without-inductor", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    clock = time.process_time if given.threads == 1 else time.perf_counter
    print(f"products of ours with {products.features_for(BFLOAT16).llvm_features[-30:]}")
    print("| chain | ours, ms | GFLOP/s | out / ours | eager / ours | inductor / ours | apart |")
    print("|---|---|---|---|---|---|---|")
    choice = (lambda node: False) if given.ours else partition.is_tuned
    with mock.patch.object(partition, "is_tuned", choice):
        for name, made in cases().items():
            if given.names and not any(each in name for each in given.names):
                continue
            with torch.no_grad():
                case = made()
                runs = contenders(case, not given.without_inductor)
                apart = difference(runs)
                found = measured(runs, given.turns, clock)
            shapes = [tuple(each.shape) for each in case[1]]
            work = 2 * shapes[0][0] * sum(k * n for k, n in shapes[1:])
            peers = ("out", "eager", "inductor")
            ratios = [f"{found[p] / found['ours']:.2f}" if p in found else "" for p in peers]
            speed = f"{found['ours']:.2f} | {1e-6 * work / found['ours']:.0f}"
            print(f"| {name} | {speed} | {' | '.join(ratios)} | {apart} |", flush=True)


if __name__ == "__main__":
    with torch.no_grad():
        main()
