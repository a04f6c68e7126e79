"""Scaled dot-product attention as ours beside torch's operation, in one process.

    python -m benchmarks.torch_attention [--turns N]

One thread, least CPU milliseconds of turns that alternate.  Results are compared first; what is
torch's (`explain`) is measured as ours too, where it is one call more.
"""

from __future__ import annotations

import argparse
import time
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F

from fusewright.bridges.torch.report import graphs


class Attention(NamedTuple):
    """Extents of one call."""

    batch: int
    heads: int
    queries: int
    keys: int
    width: int
    kind: str = "plain"
    dtype: torch.dtype = torch.float32


CASES = (
    Attention(1, 12, 256, 256, 64, "causal"),
    Attention(1, 12, 512, 512, 64),
    Attention(1, 12, 512, 512, 64, "causal"),
    Attention(1, 12, 1024, 1024, 64),
    Attention(1, 12, 1024, 1024, 64, "causal"),
    Attention(1, 12, 1024, 1024, 64, "masked"),
    Attention(1, 8, 1024, 1024, 32, "causal"),
    Attention(1, 12, 1024, 1024, 128, "causal"),
    Attention(1, 4, 2048, 2048, 256),
    Attention(1, 4, 4096, 4096, 64, "causal"),
    Attention(1, 2, 8192, 8192, 64),
    Attention(2, 12, 1024, 333, 64, "masked"),
    Attention(16, 12, 300, 300, 64),
    Attention(1, 12, 1024, 1024, 64, "plain", torch.float64),
)


def measured(case: Attention, turns: int) -> tuple[bool, float, float]:
    """Whether it is ours, and the least seconds: torch's operation, and compiled."""
    shapes = [(case.batch, n, case.heads, case.width) for n in (case.queries, case.keys, case.keys)]
    given = [torch.randn(shape, dtype=case.dtype).transpose(1, 2) for shape in shapes]
    mask = torch.randn(case.queries, case.keys, dtype=case.dtype) if case.kind == "masked" else None

    def attend(q: Any, k: Any, v: Any) -> Any:
        return F.scaled_dot_product_attention(q, k, v, mask, is_causal=case.kind == "causal")

    torch._dynamo.reset()
    compiled = torch.compile(attend, backend="fusewright")
    for _ in range(4):
        torch.testing.assert_close(compiled(*given), attend(*given), rtol=1e-4, atol=1e-5)
    time.sleep(1.0)  # better code comes in the background
    least = [float("inf")] * 2
    for _ in range(turns):
        for number, run in enumerate((attend, compiled)):
            began = time.process_time()
            run(*given)
            least[number] = min(least[number], time.process_time() - began)
    return bool(graphs[-1].ours), *least


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=10)
    turns = parser.parse_args().turns
    torch.set_num_threads(1)
    print("| batch, heads, queries, keys, width | | torch, ms | compiled, ms | ratio | whose |")
    print("|---|---|---|---|---|---|")
    for case in CASES:
        with torch.no_grad():
            ours, eager, own = measured(case, turns)
        kind = case.kind if case.dtype is torch.float32 else f"{case.kind}, float64"
        print(
            f"| {', '.join(map(str, case[:5]))} | {kind} | {eager * 1e3:.2f} | {own * 1e3:.2f} "
            f"| {eager / own:.2f} | {'ours' if ours else 'torch'} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
