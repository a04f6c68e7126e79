"""Convolutions of each channel by itself (depth-wise) under `torch.compile(backend="fusewright")`,
against eager.

    python -m benchmarks.windows [--seconds S] [words of a case ...]

float32, one thread: CPU milliseconds, the least and the median of turns that alternate in one
process, each the second of two calls.  Results are compared first; training is a forward and a
backward pass.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import torch
from torch import nn


class Conformer(nn.Module):
    """The convolutions of a Conformer: pixels, GLU, windows of 31, batch norm, SiLU, pixels."""

    def __init__(self, width: int, taps: int = 31) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.first, self.last = nn.Conv1d(width, 2 * width, 1), nn.Conv1d(width, width, 1)
        self.windows = nn.Conv1d(width, width, taps, padding=taps // 2, groups=width)
        self.scale = nn.BatchNorm1d(width)

    def forward(self, x: Any) -> Any:
        y = nn.functional.glu(self.first(self.norm(x).transpose(1, 2)), dim=1)
        y = nn.functional.silu(self.scale(self.windows(y)))
        return x + self.last(y).transpose(1, 2)


class Causal(nn.Module):
    """Windows of four behind each place, cut to its length, and SiLU, as in state space models."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.windows = nn.Conv1d(width, width, 4, padding=3, groups=width)

    def forward(self, x: Any) -> Any:
        return nn.functional.silu(self.windows(x)[..., : x.shape[-1]])


class Separable(nn.Module):
    """Windows of 3 x 3 with batch norm and a bounded ReLU, and pixels."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1, groups=width, bias=False),
            nn.BatchNorm2d(width), nn.ReLU6(),
            nn.Conv2d(width, width, 1, bias=False), nn.BatchNorm2d(width),
        )  # fmt: skip

    def forward(self, x: Any) -> Any:
        return self.layers(x)


class ConvNext(nn.Module):
    """Windows of 7 x 7, layer norm of channels, a perceptron of pixels."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.windows = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Any) -> Any:
        y = self.norm(self.windows(x).permute(0, 2, 3, 1))
        return x + self.down(nn.functional.gelu(self.up(y))).permute(0, 3, 1, 2)


CASES: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "windows of 4 and SiLU, 512 x 1024, batch 2": (lambda: Causal(512), (2, 512, 1024)),
    "Conformer 144, 31 taps, 400 frames, batch 4": (lambda: Conformer(144), (4, 400, 144)),
    "Conformer 256, 15 taps, 200 frames, batch 4": (lambda: Conformer(256, 15), (4, 200, 256)),
    "windows of 31, 256 x 512, batch 4": (
        lambda: nn.Conv1d(256, 256, 31, padding=15, groups=256), (4, 256, 512),
    ),
    "windows of 3, dilated by 4, 256 x 1024, batch 4": (
        lambda: nn.Conv1d(256, 256, 3, padding=4, dilation=4, groups=256), (4, 256, 1024),
    ),
    "separable 32, 112 x 112": (lambda: Separable(32), (1, 32, 112, 112)),
    "separable 96, 56 x 56, batch 4": (lambda: Separable(96), (4, 96, 56, 56)),
    "separable 96, 28 x 28, batch 4": (lambda: Separable(96), (4, 96, 28, 28)),
    "ConvNeXt 96, 56 x 56": (lambda: ConvNext(96), (1, 96, 56, 56)),
    "ConvNeXt 192, 28 x 28, batch 2": (lambda: ConvNext(192), (2, 192, 28, 28)),
}  # fmt: skip


def trained(model: Any, x: Any) -> Any:
    """A forward and a backward pass; the gradients."""
    parameters = list(model.parameters())
    return torch.autograd.grad(model(x).square().mean(), parameters)


def inferred(model: Any, x: Any) -> Any:
    """A forward pass."""
    with torch.no_grad():
        return model(x)


def timed(runs: list[Callable[[], Any]], seconds: float) -> list[list[float]]:
    """CPU seconds of each, turn by turn."""
    found: list[list[float]] = [[] for _ in runs]
    end = time.process_time() + seconds
    while time.process_time() < end or len(found[0]) < 5:
        for run, times in zip(runs, found, strict=True):
            run()
            began = time.process_time()
            run()
            times.append(time.process_time() - began)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("words", nargs="*")
    given = parser.parse_args()
    torch.set_num_threads(1)
    print(
        "| layers | mode | eager (median) | ours (median) | eager / ours |\n|---|---|---|---|---|"
    )
    for name, (make, shape) in CASES.items():
        if not all(word in name for word in given.words):
            continue
        for mode, run in (("inference", inferred), ("training", trained)):
            torch._dynamo.reset()
            torch.manual_seed(0)
            model, x = make().train(mode == "training"), torch.randn(*shape)
            made = torch.compile(model, backend="fusewright")
            for got, want in zip(run(made, x), run(model, x), strict=True):
                torch.testing.assert_close(got, want, rtol=1e-3, atol=1e-3)
            runs = [lambda m=m, x=x, run=run: run(m, x) for m in (model, made)]
            timed(runs, 0.2)
            time.sleep(4.0)  # better code comes in the background
            eager, ours = timed(runs, given.seconds)
            cells = [f"{1e3 * min(each):.2f} ({1e3 * median(each):.2f})" for each in (eager, ours)]
            ratio = f"{min(eager) / min(ours):.2f}"
            print(f"| {name} | {mode} | {' | '.join(cells)} | {ratio} |", flush=True)


if __name__ == "__main__":
    main()
