"""Scaled dot-product attention as ours beside torch's operation, in one process.

    python -m benchmarks.torch_attention [--turns N] [--always] [--backward] [--dtype D]

One thread, least CPU milliseconds of turns that alternate.  Results are compared first; what is
torch's (`explain`) is measured as ours too, where it is one call more; with `--always` what can be
is ours.  `--backward` has the gradients alone.
"""

from __future__ import annotations

import argparse
import time
from typing import Any, NamedTuple

import torch

from fusewright.bridges.torch.report import graphs

FORWARD = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
BACKWARD = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward
NEAR = {torch.bfloat16: 5e-2, torch.float16: 1e-2}
"""How near results are to eager's, where it is not 1e-4."""


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


def measured(
    case: Attention, turns: int, always: bool, backward: bool
) -> tuple[bool, float, float]:
    """Whether it is ours, and the least seconds: torch's operation, and compiled."""
    shapes = [(case.batch, n, case.heads, case.width) for n in (case.queries, case.keys, case.keys)]
    given = [torch.randn(shape).to(case.dtype).transpose(1, 2) for shape in shapes]
    mask = torch.randn(case.queries, case.keys).to(case.dtype) if case.kind == "masked" else None
    is_causal = case.kind == "causal"

    def attend(*given: Any) -> Any:
        return FORWARD(*given, 0.0, is_causal, attn_mask=mask)[0]

    def gradients(*given: Any) -> Any:
        return BACKWARD(*given, 0.0, is_causal, attn_mask=mask)

    run = attend
    if backward:
        made, sums = FORWARD(*given, 0.0, is_causal, attn_mask=mask)
        given, run = [torch.randn_like(made), *given, made, sums], gradients
    torch._dynamo.reset()
    compiled = torch.compile(run, backend="fusewright", options={"always": always})
    near = NEAR.get(case.dtype, 1e-4)
    for _ in range(4):
        torch.testing.assert_close(compiled(*given), run(*given), rtol=near, atol=near)
    time.sleep(1.0)  # better code comes in the background
    least = [float("inf")] * 2
    for _ in range(turns):
        for number, each in enumerate((run, compiled)):
            began = time.process_time()
            each(*given)
            least[number] = min(least[number], time.process_time() - began)
    return bool(graphs[-1].ours), *least


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--always", action="store_true")
    parser.add_argument("--backward", action="store_true")
    parser.add_argument("--dtype")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    print("| batch, heads, queries, keys, width | | torch, ms | compiled, ms | ratio | whose |")
    print("|---|---|---|---|---|---|")
    for case in CASES:
        if chosen.dtype:
            case = case._replace(dtype=getattr(torch, chosen.dtype))
        with torch.no_grad():
            ours, eager, own = measured(case, chosen.turns, chosen.always, chosen.backward)
        name = str(case.dtype).removeprefix("torch.")
        kind = case.kind if case.dtype is torch.float32 else f"{case.kind}, {name}"
        print(
            f"| {', '.join(map(str, case[:5]))} | {kind} | {eager * 1e3:.2f} | {own * 1e3:.2f} "
            f"| {eager / own:.2f} | {'ours' if ours else 'torch'} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
