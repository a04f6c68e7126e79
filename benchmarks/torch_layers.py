"""What `torch.compile` puts around a graph: of each layer the time of a call, and of an operation.

    python -m benchmarks.torch_layers

Perceptrons of 2 to 16 layers, 16 rows of 32 numbers, one thread, CPU microseconds: the least of
turns that alternate.  `dynamo` is the backend `eager`: guards, and the model's own graph.
`graphs` is ours with nothing of ours in it: AOTAutograd's function, and torch's operations called
from Python.  The last lines are what `fusewright.machine.torch_operations` says of both graphs.
"""

from __future__ import annotations

import copy
import time
from typing import Any

import torch
from torch import nn
from torch._dynamo.backends.common import aot_autograd

from fusewright.bridges.torch.graphs import Boxed, compiled

DEPTHS = (2, 4, 8, 16)


def written(graph: Any, given: Any) -> Boxed:
    """A graph as ours; of these nothing is worth it."""
    run, _, running = compiled(graph)
    assert not running
    return run


CONTENDERS: dict[str, Any] = {
    "eager": None,
    "dynamo": "eager",
    "graphs": aot_autograd(fw_compiler=written),
}


def step(model: Any, x: torch.Tensor, mode: str) -> None:
    """One call, or one step of training."""
    if mode == "inference":
        with torch.no_grad():
            model(x)
    else:
        model(x).sum().backward()


def measured(depth: int, mode: str, seconds: float = 3.0) -> dict[str, float]:
    """The least CPU microseconds of each contender."""
    torch._dynamo.reset()
    layers = [layer for _ in range(depth) for layer in (nn.Linear(32, 32), nn.ReLU())]
    model, x = nn.Sequential(*layers), torch.randn(16, 32)
    runs: dict[str, Any] = {}
    for name, backend in CONTENDERS.items():
        own: Any = copy.deepcopy(model)
        runs[name] = own if backend is None else torch.compile(own, backend=backend)
        step(runs[name], x, mode)
    least = dict.fromkeys(runs, float("inf"))
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, run in runs.items():
            began = time.process_time()
            for _ in range(20):
                step(run, x, mode)
            least[name] = min(least[name], (time.process_time() - began) / 20 * 1e6)
    return least


def main() -> None:
    """Print the table, and a line through it."""
    torch.set_num_threads(1)
    print("| mode | layers | eager | dynamo | graphs |\n|---|---|---|---|---|")
    lines = []
    for mode, count in (("inference", 2), ("training", 6)):
        points = []
        for depth in DEPTHS:
            least = measured(depth, mode)
            points.append((count * depth, least["graphs"] - least["dynamo"]))
            print(f"| {mode} | {depth} | " + " | ".join(f"{t:.0f}" for t in least.values()) + " |")
        (n, low), (m, high) = points[0], points[-1]
        slope = (high - low) / (m - n)
        lines.append(f"{mode}: {low - slope * n:.0f} us, and {slope:.1f} for each operation")
    print("\n" + "\n".join(lines))


if __name__ == "__main__":
    main()
