"""Convolutions of single pixels under `torch.compile(backend="fusewright")`, against eager.

    python -m benchmarks.pointwise [--seconds S]

float32, `channels_last`, one thread: CPU milliseconds, the least of turns that alternate in one
process, each the second of two calls.  Results are compared first.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
from benchmarks.pairwise import least_cpu
from tests.bridges.torch.test_convolutions import Bottleneck
from torch import nn

LAST = torch.channels_last


def layers(*widths: int) -> nn.Sequential:
    """Convolutions of single pixels with ReLU behind each."""
    found: list[Any] = []
    for k, n in pairwise(widths):
        found += [nn.Conv2d(k, n, 1), nn.ReLU()]
    return nn.Sequential(*found)


CASES: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "64-64-64, 56 x 56, batch 8": (lambda: layers(64, 64, 64), (8, 64, 56, 56)),
    "64-64-64, 56 x 56, batch 64": (lambda: layers(64, 64, 64), (64, 64, 56, 56)),
    "256-512, 28 x 28, batch 4": (lambda: layers(256, 512), (4, 256, 28, 28)),
    "bottleneck 64-32-32-64, 56 x 56, batch 8": (Bottleneck, (8, 64, 56, 56)),
    "32-32, 14 x 14, batch 22": (lambda: layers(32, 32), (22, 32, 14, 14)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0)
    seconds = parser.parse_args().seconds
    torch.set_num_threads(1)
    print("| layers | eager | ours | eager / ours |\n|---|---|---|---|")
    for name, (make, shape) in CASES.items():
        torch._dynamo.reset()
        model, x = make().to(memory_format=LAST).eval(), torch.randn(*shape).to(memory_format=LAST)
        made = torch.compile(model, backend="fusewright")
        with torch.no_grad():
            torch.testing.assert_close(made(x), model(x), rtol=1e-4, atol=1e-4)
            runs = [lambda m=model, x=x: m(x), lambda m=made, x=x: m(x)]
            eager, ours = (1e3 * each for each in least_cpu(runs, seconds, warm=5))
        print(f"| {name} | {eager:.2f} | {ours:.2f} | {eager / ours:.2f} |", flush=True)


if __name__ == "__main__":
    main()
