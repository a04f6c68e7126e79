"""What an element costs in single operations, as torch's own and as ours among others: the figures
of `fusewright.machine.torch_operations`.

    python -m benchmarks.torch_operations [--dtype D] [word ...]

float32 unless another type is given, one thread, 256 x 256 elements (they stay in the second-level
cache), CPU time: the least of turns that alternate.  Of torch's the call is taken off, of ours the
time of a segment that only reads and writes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import torch

from fusewright.bridges.torch import partition
from fusewright.bridges.torch.report import graphs

ATEN = torch.ops.aten
SIDE, SMALL = 256, 4
Operation = Callable[..., Any]
ROW = (SIDE,)
UNARY = (
    "relu", "exp", "tanh", "sigmoid", "silu", "gelu", "log", "sin", "cos", "erf", "rsqrt", "sqrt",
    "softplus", "hardtanh", "leaky_relu", "elu", "mish", "hardswish", "hardsigmoid", "log1p",
    "expm1", "neg", "clone",
)  # fmt: skip
BINARY = (
    "add", "mul", "div", "maximum", "sigmoid_backward", "tanh_backward", "silu_backward",
    "gelu_backward", "eq",
)  # fmt: skip
OPERATIONS: dict[str, tuple[int, Operation]] = {
    **{name: (1, getattr(ATEN, name)) for name in UNARY},
    **{name: (2, getattr(ATEN, name)) for name in BINARY},
    "gelu tanh": (1, lambda x: ATEN.gelu(x, approximate="tanh")),
    "gelu_backward tanh": (2, lambda g, x: ATEN.gelu_backward(g, x, approximate="tanh")),
    "threshold_backward": (2, lambda g, x: ATEN.threshold_backward(g, x, 0)),
    "where": (2, lambda x, y: ATEN.where(x > 0, x, y)),
    "masked_fill": (1, lambda x: ATEN.masked_fill(x, x > 0, 1.0)),
    "pow 3": (1, lambda x: ATEN.pow(x, 3)),
    "pow 1.5": (1, lambda x: ATEN.pow(ATEN.abs(x), 1.5)),
    "clamp": (1, lambda x: ATEN.clamp(x, -1, 1)),
    "sum last": (1, lambda x: ATEN.sum(x, [-1])),
    "sum first": (1, lambda x: ATEN.sum(x, [0])),
    "mean last": (1, lambda x: ATEN.mean(x, [-1])),
    "amax last": (1, lambda x: ATEN.amax(x, [-1])),
    "softmax": (1, lambda x: ATEN._softmax(x, -1, False)),
    "log_softmax": (1, lambda x: ATEN._log_softmax(x, -1, False)),
    "softmax_backward": (2, lambda g, x: ATEN._softmax_backward_data(g, x, -1, x.dtype)),
    "log_softmax_backward": (
        2, lambda g, x: ATEN._log_softmax_backward_data(g, x, -1, x.dtype),
    ),
    "layer_norm": (1, lambda x: ATEN.native_layer_norm(x, ROW, None, None, 1e-5)[0]),
    "layer_norm_backward": (
        2,
        lambda g, x: ATEN.native_layer_norm_backward(
            g, x, ROW, x[:, :1], x[:, 1:2], None, None, [True, False, False]
        )[0],
    ),
    "batch_norm": (
        1,
        lambda x: ATEN._native_batch_norm_legit_no_training(
            x.view(4, 64, 16, 16), None, None, x[0, :64], x[1, :64], 0.1, 1e-5
        )[0],
    ),
    "cat": (2, lambda x, y: ATEN.cat([x, y])),
    "turned clone": (1, lambda x: ATEN.clone(x.t(), memory_format=torch.contiguous_format)),
}  # fmt: skip


def least(runs: list[Operation], seconds: float = 0.4) -> list[float]:
    """The least CPU seconds of each, in turns that alternate."""
    found, end = [float("inf")] * len(runs), time.perf_counter() + seconds
    while time.perf_counter() < end:
        for number, run in enumerate(runs):
            began = time.thread_time()
            for _ in range(10):
                run()
            found[number] = min(found[number], (time.thread_time() - began) / 10)
    return found


def segment(run: Operation, *given: torch.Tensor) -> Operation | None:
    """A function's only segment, as it runs; None where it is torch's."""
    graphs.clear()
    torch._dynamo.reset()
    torch.compile(run, backend="fusewright", options={"always": True})(*given)
    running = [each for graph in graphs for each in graph.running]
    if len(running) != 1 or running[0].refused:
        return None
    time.sleep(0.2)  # better code comes in the background
    return lambda: running[0](*given[: len(running[0].segment.inputs)])


def measured(count: int, run: Operation, dtype: torch.dtype) -> tuple[float, float | None]:
    """Nanoseconds of an element, torch's and ours."""
    large = [(torch.rand(SIDE, SIDE) + 0.5).to(dtype) for _ in range(count)]
    small = [(torch.rand(SIDE, SMALL) + 0.5).to(dtype).t() for _ in range(count)]
    ours, passing = segment(run, *large), segment(lambda *x: x[0] + x[-1], *large)
    assert passing is not None
    runs = [lambda: run(*large), lambda: run(*small), passing, *([ours] if ours else [])]
    try:
        run(*small)
    except RuntimeError:  # its shape is part of it
        runs[1] = lambda: ATEN.relu(small[0])
    whole, call, base, *own = least(runs)
    size = SIDE * SIDE * 1e-9
    return (whole - call) / size, (own[0] - base) / size if own else None


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--dtype", default="float32")
    given = parser.parse_args()
    words, dtype = given.words, getattr(torch, given.dtype)
    torch.set_num_threads(1)
    partition.LEAST = 1
    print("| operation | torch, ns | ours, ns |\n|---|---|---|")
    for name, (count, run) in OPERATIONS.items():
        if not words or any(word in name for word in words):
            with torch.no_grad():
                theirs, ours = measured(count, run, dtype)
            print(f"| {name} | {theirs:.2f} | {'-' if ours is None else f'{ours:.2f}'} |")


if __name__ == "__main__":
    main()
