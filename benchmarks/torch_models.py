"""Models under `torch.compile(backend="fusewright")`, eager and inductor, in one process.  `dynamo`
is the model's own graph behind `torch.compile`'s guards (the backend `eager`).

    python -m benchmarks.torch_models [--turns N] [--without-inductor] [--dtype D] [model ...]

One thread, CPU seconds: the least of turns that alternate.  Results are compared first.
The first call's wall seconds stand beside.
"""

from __future__ import annotations

import argparse
import copy
import random
import time
from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import torch
from tests.bridges.torch.models import (
    Encoder,
    Gpt,
    LlamaBlock,
    Perceptron,
    ResidualBlock,
    Separable,
)
from torch import nn

Case = tuple[Callable[[], nn.Module], Callable[[], Any]]
CASES: dict[str, Case] = {
    "MLP 32-64-64-4, 16 rows": (
        lambda: Perceptron((32, 64, 64, 4)), lambda: torch.randn(16, 32),
    ),
    "MLP 8-64-64-4 (tanh), 128 rows": (
        lambda: Perceptron((8, 64, 64, 4), nn.Tanh), lambda: torch.randn(128, 8),
    ),
    "MLP 784-256-10, 128 rows": (
        lambda: Perceptron((784, 256, 10), nn.ReLU), lambda: torch.randn(128, 784),
    ),
    "MLP 256 x 4, 1024 rows": (
        lambda: Perceptron((256,) * 5), lambda: torch.randn(1024, 256),
    ),
    "encoder layer 128, 4 x 64": (lambda: Encoder(128), lambda: torch.randn(4, 64, 128)),
    "GPT 48, 3 layers, 4 x 64 tokens": (
        lambda: Gpt(65, 48, 3, 3), lambda: torch.randint(0, 65, (4, 64)),
    ),
    "separable convolutions 96 x 16 x 16, batch 2": (
        lambda: nn.Sequential(*(Separable(96) for _ in range(6))),
        lambda: torch.randn(2, 96, 16, 16),
    ),
    "MLP 256-1024-1024-256, 1024 rows": (
        lambda: Perceptron((256, 1024, 1024, 256)), lambda: torch.randn(1024, 256),
    ),
    "MLP 64-256-64 (tanh GELU), 8192 rows": (
        lambda: Perceptron((64, 256, 64), lambda: nn.GELU("tanh")), lambda: torch.randn(8192, 64),
    ),
    "encoder layer 512, 2 x 256": (lambda: Encoder(512), lambda: torch.randn(2, 256, 512)),
    "LLaMA block 768, 256 tokens": (
        lambda: LlamaBlock(768, 12, 2048), lambda: torch.randn(1, 256, 768),
    ),
    "LLaMA block 256, 1024 tokens": (
        lambda: LlamaBlock(256, 8, 688), lambda: torch.randn(1, 1024, 256),
    ),
    "GPT-2 768, 4 of 12 layers, 256 tokens": (
        lambda: Gpt(50257, 768, 12, 4), lambda: torch.randint(0, 50257, (1, 256)),
    ),
    "residual blocks 64 x 56 x 56, batch 4": (
        lambda: nn.Sequential(*(ResidualBlock(64) for _ in range(3))),
        lambda: torch.randn(4, 64, 56, 56),
    ),
}  # fmt: skip


def inference(model: Any) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        with torch.no_grad():
            return model(x)

    return run


def training(model: Any) -> Callable[[Any], Any]:
    """Forward and backward."""

    def run(x: Any) -> Any:
        made = model(x)
        made.sum().backward()
        return made.detach()

    return run


def contenders(model: nn.Module, inductor: bool) -> Iterator[tuple[str, nn.Module]]:
    yield "eager", model
    yield "dynamo", torch.compile(copy.deepcopy(model), backend="eager")
    yield "ours", torch.compile(copy.deepcopy(model), backend="fusewright")
    if inductor:
        yield "inductor", torch.compile(copy.deepcopy(model))


def measured(
    case: Case, mode: str, turns: int, inductor: bool, dtype: torch.dtype
) -> dict[str, tuple[float, float]]:
    """Of each contender the seconds of the first call, and the least CPU seconds after it."""
    torch.manual_seed(0)
    torch._dynamo.reset()
    model, x = case[0]().to(dtype), case[1]()
    x = x.to(dtype) if x.is_floating_point() else x
    near = 1e-3 if dtype is torch.float32 else 0.1
    model.train(mode == "training")
    runs, first, least, want = {}, {}, {}, None
    for name, each in contenders(model, inductor):
        runs[name] = (inference if mode == "inference" else training)(each)
        began = time.perf_counter()
        made = runs[name](x)
        first[name] = time.perf_counter() - began
        want = made if want is None else want
        apart = near if dtype is torch.float32 else max(near, float(want.abs().max()) / 64)
        torch.testing.assert_close(made, want, rtol=near, atol=apart)
        least[name] = float("inf")
    began = time.perf_counter()
    runs["eager"](x)
    calls = max(1, int(2e-3 / (time.perf_counter() - began)))
    shuffled = random.Random(0)
    for turn in range(turns):
        if turn == turns // 2:
            time.sleep(1.0)  # better code comes in the background
        for name, run in shuffled.sample(list(runs.items()), len(runs)):  # who is first is slower
            began = time.process_time()
            for _ in range(calls):
                run(x)
            least[name] = min(least[name], (time.process_time() - began) / calls)
    return {name: (first[name], least[name]) for name in runs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=30)
    parser.add_argument("--without-inductor", action="store_true")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("models", nargs="*")
    given = parser.parse_args()
    torch.set_num_threads(1)
    print("| model | mode | eager, ms | dynamo | inductor | ours | eager / ours | first call, s |")
    print("|---|---|---|---|---|---|---|---|")
    ratios: dict[str, list[float]] = {"inference": [], "training": []}
    for name, case in CASES.items():
        if given.models and not any(word in name for word in given.models):
            continue
        for mode, found in ratios.items():
            dtype = getattr(torch, given.dtype)
            rows = measured(case, mode, given.turns, not given.without_inductor, dtype)
            eager, ours = rows["eager"][1], rows["ours"][1]
            found.append(eager / ours)
            other = f"{rows['inductor'][1] * 1e3:.2f}" if "inductor" in rows else "-"
            print(
                f"| {name} | {mode} | {eager * 1e3:.2f} | {rows['dynamo'][1] * 1e3:.2f} "
                f"| {other} | {ours * 1e3:.2f} "
                f"| {eager / ours:.2f} | {rows['ours'][0]:.1f} |",
                flush=True,
            )
    for mode, found in ratios.items():
        if found:
            print(f"\n{mode}: geometric mean {prod(found) ** (1 / len(found)):.2f}")


if __name__ == "__main__":
    main()
