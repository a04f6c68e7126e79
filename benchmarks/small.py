"""One call on one element, steady state: what recording, looking up, allocating and launching cost.

Ours records the ten operators afresh in every call; the compiled peers call a function.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import peers
from elementwise import NUMEXPR, expression
from pairwise import Contestant, Pair, Times, agreeing
from report import start

import fusewright as fw
import fusewright.numpy as fnp

CALLS = 500
LIMIT = 12e-6


def contestants() -> tuple[Contestant, list[Contestant]]:
    inputs = [peers.normal((1,), "float64", seed) for seed in range(4)]
    arrays = [fw.asarray(values) for values in inputs]
    jax, torch, library = peers.jax(), peers.torch(), peers.numexpr()
    numba = peers.numba()
    names = dict(zip("abcd", inputs, strict=True))
    library.evaluate(NUMEXPR, names)
    compiled = jax.jit(lambda *values: expression(jax.numpy, *values))
    on_device = [jax.numpy.asarray(values) for values in inputs]

    @numba.njit
    def loop(a: Any, b: Any, c: Any, d: Any) -> Any:
        out = np.empty_like(a)
        for i in range(a.size):
            chosen = a[i] if d[i] > 0 else b[i]
            out[i] = np.sqrt(a[i] * a[i] + b[i] * b[i]) * np.exp(-c[i]) + chosen
        return out

    others = [
        Contestant("NumPy", lambda: expression(np, *inputs)),
        Contestant("numexpr, re_evaluate", lambda: library.re_evaluate(names)),
        Contestant("Numba, loop", lambda: loop(*inputs)),
        Contestant("JAX jit", lambda: compiled(*on_device)),
        Contestant(
            "torch.compile",
            peers.torch_compiled(lambda *values: expression(torch, *values), *inputs),
        ),
    ]
    return Contestant("Fusewright", lambda: fw.evaluate(expression(fnp, *arrays))), others


def per_call(run: Callable[[], Any]) -> float:
    """Seconds of one of `CALLS` calls in a row."""
    start = time.perf_counter()
    for _ in range(CALLS):
        run()
    return (time.perf_counter() - start) / CALLS


def main() -> int:
    report = start("small", __doc__ or "")
    ours, others = contestants()
    right, report.notes = agreeing([others[0], ours, *others[1:]], rtol=1e-13, atol=1e-14)
    others = [other for other in right if other is not ours]
    section = report.section(
        "n = 1 (µs a call), pairwise in turns",
        "peer", "ours least", "ours median", "peer least", "peer median", "ratio",
    )  # fmt: skip
    pairs = []
    for other in others:
        for contestant in (ours, other):
            per_call(contestant.run)
        turns = [
            (per_call(ours.run), per_call(other.run)) for _ in range(10 if report.quick else 40)
        ]
        mine, theirs = (Times(tuple(column)) for column in zip(*turns, strict=True))
        pairs.append(Pair(other.name, other.by_hand, mine, theirs))
    for pair in pairs:
        values = (pair.ours.least, pair.ours.median, pair.theirs.least, pair.theirs.median)
        section.add(pair.peer, *(f"{value * 1e6:.2f}" for value in values), f"{pair.ratio:.2f}×")
    median = min(pair.ours.median for pair in pairs)
    report.claim(
        "E at n = 1, recorded afresh", "≤ 12 µs", f"{median * 1e6:.1f} µs", median <= LIMIT
    )
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
