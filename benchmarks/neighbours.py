"""Threads among neighbours: a large kernel of ours alternating with `numpy.matmul` (OpenBLAS) and
`torch.mm` (OpenMP), each side's time alone and in alternation; what starting and ending our threads
costs, back to back and after 10 ms of idleness.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import peers
from report import start

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.targets.cpu import threads

SIDE = 256
COUNT = 200_000
HARM = 1.25
"""Times as long as alone that either may take in alternation."""
IDLE = 0.010


def timed(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def alone(run: Callable[[], Any], rounds: int) -> float:
    for _ in range(20):
        run()
    return statistics.median(timed(run) for _ in range(rounds))


def alternating(
    first: Callable[[], Any], second: Callable[[], Any], rounds: int
) -> tuple[float, float]:
    pairs = [(timed(first), timed(second)) for _ in range(rounds)]
    mine, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    return mine, theirs


def fork_join(rest: float, rounds: int) -> float:
    """Seconds of an empty launch on two threads, after so long a rest."""
    idle = threads.code().image.address("idle")
    for _ in range(50):
        threads.launch(idle, 0, 2, 1, 0, 2)
    times = []
    for _ in range(rounds):
        if rest:
            time.sleep(rest)
        count = 1 if rest else 20
        start = time.perf_counter()
        for _ in range(count):
            threads.launch(idle, 0, 2, 1, 0, 2)
        times.append((time.perf_counter() - start) / count)
    return statistics.median(times)


def main() -> int:
    report = start("neighbours", __doc__ or "")
    rounds = 200 if report.quick else 1500
    torch = peers.torch()
    x = fw.asarray(peers.normal((COUNT,), "float64", 1))
    left, right = (peers.normal((SIDE, SIDE), "float64", seed) for seed in (2, 3))
    tensors = torch.from_numpy(left), torch.from_numpy(right)
    others: dict[str, Callable[[], Any]] = {
        "numpy.matmul": lambda: np.matmul(left, right),
        "torch.mm": lambda: torch.mm(*tensors),
    }

    def ours() -> Any:
        return fw.evaluate(fnp.exp(x) * 0.5 + x)

    np.testing.assert_allclose(
        np.asarray(ours()), np.exp(np.asarray(x)) * 0.5 + np.asarray(x), rtol=1e-12
    )
    section = report.section(
        "Medians (µs)", "neighbour", "ours alone", "ours alternating", "neighbour alone",
        "neighbour alternating",
    )  # fmt: skip
    for name, run in others.items():
        mine, theirs = alone(ours, rounds), alone(run, rounds)
        together = alternating(ours, run, rounds)
        section.add(name, *(f"{t * 1e6:.0f}" for t in (mine, together[0], theirs, together[1])))
        for what, single, both in (("ours", mine, together[0]), (name, theirs, together[1])):
            ratio = both / single
            report.claim(f"{what}, alternating with {'ours' if what == name else name}",
                         f"≤ {HARM}× alone", f"{ratio:.2f}×", ratio <= HARM)  # fmt: skip
    for what, rest, limit in (("back to back", 0.0, 1e-6), ("after 10 ms idle", IDLE, 25e-6)):
        value = fork_join(rest, 200)
        report.claim(f"fork/join at 2 threads, {what}", f"≤ {limit * 1e6:.0f} µs",
                     f"{value * 1e6:.2f} µs", value <= limit)  # fmt: skip
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
