"""Threads among neighbours: a large kernel of ours alternating with `numpy.matmul` (OpenBLAS) and
`torch.mm` (OpenMP), each side's time alone and in alternation; what starting and ending our threads
costs, back to back and after 10 ms of idleness.

Alone: one after the other, the data in the caches and the threads awake.  Quiet: what anybody pays
for the presence of other work even if that is as harmless as can be, between two runs this thread
goes once through as much memory as the neighbour does, and then waits for as long as the neighbour
takes alone.  What alternating costs beyond quiet is what the threads do to one another: the claims
are about that.  The last pair are two neighbours without us.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import peers
from futex import sleeper
from report import Report, start

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.targets.cpu import threads

SIDE = 256
COUNT = 200_000
HARM = 1.25
"""Times as long as in quiet that either may take in alternation."""
IDLE = 0.010
SETTLE = 0.1
"""Seconds after which nobody's threads spin any more."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of a pair, and the bytes it touches."""

    name: str
    run: Callable[[], Any]
    nbytes: int


@dataclass(frozen=True, slots=True)
class Times:
    """Median seconds of a side."""

    alone: float
    quiet: float
    alternating: float

    @property
    def harm(self) -> float:
        return self.alternating / self.quiet


def timed(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def alone(run: Callable[[], Any], rounds: int) -> float:
    time.sleep(SETTLE)
    for _ in range(20):
        run()
    return statistics.median(timed(run) for _ in range(rounds))


def quietly(side: Side, seconds: float) -> Callable[[], None]:
    """As much memory as the side touches, on this thread; then nothing until so long has passed."""
    source = np.ones(side.nbytes // 2, np.int8)
    target = np.empty_like(source)

    def run() -> None:
        end = time.perf_counter() + seconds
        np.copyto(target, source)
        while time.perf_counter() < end:
            pass

    return run


def alternating(
    first: Callable[[], Any], second: Callable[[], Any], rounds: int
) -> tuple[float, float]:
    time.sleep(SETTLE)
    for _ in range(20):
        first()
        second()
    pairs = [(timed(first), timed(second)) for _ in range(rounds)]
    mine, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    return mine, theirs


def measure(first: Side, second: Side, rounds: int) -> tuple[Times, Times]:
    """Both sides of a pair."""
    single = [alone(side.run, rounds) for side in (first, second)]
    quiet = [
        alternating(side.run, quietly(other, seconds), rounds)[0]
        for side, other, seconds in ((first, second, single[1]), (second, first, single[0]))
    ]
    both = alternating(first.run, second.run, rounds)
    mine, theirs = (Times(*row) for row in zip(single, quiet, both, strict=True))
    return mine, theirs


def after_rest(run: Callable[[], Any], rounds: int) -> float:
    """Seconds of a call after 10 ms of idleness."""
    run()
    times = []
    for _ in range(rounds):
        time.sleep(IDLE)
        times.append(timed(run))
    return statistics.median(times)


def fork_join(report: Report) -> None:
    """An empty launch on two threads; beside it, what waking a thread costs on this machine."""
    idle = threads.code().image.address("idle")

    def launch() -> None:
        threads.launch(idle, 0, 2, 1, 0, 2)

    wake, ping = sleeper()
    time.sleep(SETTLE)
    per_call(launch, 50)
    straight = statistics.median(per_call(launch, 20) for _ in range(200))
    rested = after_rest(launch, 200)
    for what, value, limit in (
        ("back to back", straight, 1e-6),
        ("after 10 ms idle", rested, 25e-6),
    ):
        report.claim(f"fork/join at 2 threads, {what}", f"≤ {limit * 1e6:.0f} µs",
                     f"{value * 1e6:.2f} µs", value <= limit)  # fmt: skip
    section = report.section("After 10 ms idle (medians, µs)", "what", "time")
    section.add("fork/join at 2 threads", f"{rested * 1e6:.1f}")
    section.add("bare futex wake: the call", f"{after_rest(wake, 200) * 1e6:.1f}")
    section.add("bare futex wake: until answered", f"{after_rest(ping, 200) * 1e6:.1f}")


def per_call(run: Callable[[], Any], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        run()
    return (time.perf_counter() - start) / count


def us() -> Side:
    """A kernel of ours that takes both threads, after a look at what it computes."""
    x = fw.asarray(peers.normal((COUNT,), "float64", 1))

    def ours() -> Any:
        return fw.evaluate(fnp.exp(x) * 0.5 + x)

    np.testing.assert_allclose(
        np.asarray(ours()),
        np.exp(np.asarray(x)) * 0.5 + np.asarray(x),
        rtol=1e-12,
        atol=1e-14,
    )
    return Side("ours", ours, 2 * 8 * COUNT)


def neighbours() -> tuple[Side, Side]:
    torch = peers.torch()
    left, right = (peers.normal((SIDE, SIDE), "float64", seed) for seed in (2, 3))
    tensors = torch.from_numpy(left), torch.from_numpy(right)
    nbytes = 3 * left.nbytes
    return (
        Side("numpy.matmul", lambda: np.matmul(left, right), nbytes),
        Side("torch.mm", lambda: torch.mm(*tensors), nbytes),
    )


def main() -> int:
    report = start("neighbours", __doc__ or "")
    rounds = 100 if report.quick else 1000
    mine, (matmul, mm) = us(), neighbours()
    section = report.section(
        "Medians (µs)", "what", "alternating with", "alone", "quiet", "alternating",
        "against quiet", "against alone",
    )  # fmt: skip
    # Two that spin against each other take 10 to 50 times as long: fewer rounds, and last.
    for first, second, count in ((mine, matmul, rounds), (mine, mm, rounds), (matmul, mm, 100)):
        found = measure(first, second, count)
        for side, other, row in ((first, second, found[0]), (second, first, found[1])):
            columns = (f"{t * 1e6:.0f}" for t in (row.alone, row.quiet, row.alternating))
            section.add(side.name, other.name, *columns, f"{row.harm:.2f}×",
                        f"{row.alternating / row.alone:.2f}×")  # fmt: skip
            if first is mine:
                report.claim(f"{side.name}, alternating with {other.name}", f"≤ {HARM}× quiet",
                             f"{row.harm:.2f}×", row.harm <= HARM)  # fmt: skip
    fork_join(report)
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
