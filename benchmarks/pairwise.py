"""How every benchmark measures: two programs take turns in one process, so that both meet the same
machine.

A *turn* rests a moment (other libraries' threads stop spinning), warms up with one call, and times
as many calls as fit into `TURN` seconds.  Ratios are ratios of medians over all turns of a pair.
"""

from __future__ import annotations

import gc
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

REST = 0.004
"""Seconds between turns: GNU OpenMP's threads spin for 1 to 3 ms after a parallel region."""
TURN = 0.02
"""Seconds of timed calls in one turn."""
LONG = 0.05
"""A call of this many seconds needs no warm-up: nothing it could find in a cache lasts so long."""
LEAST = 3
MOST = 60


@dataclass(frozen=True, slots=True)
class Contestant:
    """A program to time.  `run` computes and returns something; `result` makes an array of that.

    `share` is the part of the program that one call does (fewer steps, where all would take
    minutes): its times are divided by it, and its result is compared with nobody's.  `by_hand`
    marks a loop nest that somebody fused by hand, where the others get the array program.
    """

    name: str
    run: Callable[[], object]
    result: Callable[[object], NDArray[np.generic]] = np.asarray
    share: float = 1.0
    by_hand: bool = False


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of the calls of one contestant."""

    seconds: tuple[float, ...]

    @property
    def least(self) -> float:
        return min(self.seconds)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


@dataclass(frozen=True, slots=True)
class Pair:
    """Ours and a peer's times from turns in alternation."""

    peer: str
    by_hand: bool
    ours: Times
    theirs: Times

    @property
    def ratio(self) -> float:
        """How many times as fast we are, by medians."""
        return self.theirs.median / self.ours.median


def turn(run: Callable[[], object]) -> list[float]:
    """The times of one turn."""
    time.sleep(REST)
    first = _timed(run)
    if first > LONG:
        return [first]
    taken: list[float] = []
    while sum(taken) < TURN and len(taken) < MOST:
        taken.append(_timed(run))
    return taken


def _timed(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    value = run()
    end = time.perf_counter()
    del value  # giving the result's memory back is not part of the call, for anybody
    return end - start


def least_cpu(runs: Sequence[Callable[[], object]], seconds: float, warm: int) -> list[float]:
    """CPU seconds of one call of each in this thread, the least of turns that alternate; a turn
    times the second of two calls.  Each has run `warm` times before.
    """
    for run in runs:
        for _ in range(warm):
            run()
    time.sleep(0.5)  # better code is made meanwhile
    best, end = [float("inf")] * len(runs), time.perf_counter() + seconds
    while time.perf_counter() < end:
        for number, run in enumerate(runs):
            run()
            began = time.thread_time_ns()
            run()
            best[number] = min(best[number], 1e-9 * (time.thread_time_ns() - began))
    return best


def race(ours: Contestant, peer: Contestant, seconds: float) -> Pair:
    """Alternate turns until `seconds` have gone, at least `LEAST` of each."""
    gc.collect()
    for contestant in (ours, peer):
        contestant.run()
    our_times: list[float] = []
    their_times: list[float] = []
    turns, end = 0, time.perf_counter() + seconds
    while turns < LEAST or time.perf_counter() < end:
        our_times += turn(ours.run)
        their_times += [seconds / peer.share for seconds in turn(peer.run)]
        turns += 1
    return Pair(peer.name, peer.by_hand, Times(tuple(our_times)), Times(tuple(their_times)))


def compete(
    ours: Contestant,
    peers: Sequence[Contestant],
    seconds: float,
    *,
    rtol: float,
    atol: float,
    mismatched: float = 0.0,
) -> tuple[list[Pair], list[str]]:
    """Check everybody against the first peer that runs it all; race each that is right."""
    reference = next(peer for peer in peers if peer.share == 1)
    rest = [peer for peer in peers if peer is not reference]
    kept, notes = agreeing([reference, ours, *rest], rtol, atol, mismatched)
    right = [peer for peer in peers if peer in kept]
    return [race(ours, peer, seconds) for peer in right], notes


class Disagreement(AssertionError):
    """We computed something else than the reference: no time is worth quoting."""


def agreeing(
    contestants: Sequence[Contestant], rtol: float, atol: float, mismatched: float = 0.0
) -> tuple[list[Contestant], list[str]]:
    """Those whose results equal the first one's within the tolerance, and notes on the others.

    The second is ours; when it is wrong the benchmark fails.  A share `mismatched` of the elements
    may differ.
    """
    first, ours, *_ = contestants
    want = np.asarray(first.result(first.run()))
    kept, notes = [first], []
    for other in contestants[1:]:
        problem = "" if other.share != 1 else _problem(other, want, rtol, atol, mismatched)
        if problem and other is ours:
            raise Disagreement(f"{ours.name} and {first.name}: {problem}")
        if problem:
            notes.append(f"Not timed, its result is wrong: {other.name} ({problem}).")
        else:
            kept.append(other)
    return kept, notes


def _problem(
    other: Contestant, want: NDArray[np.generic], rtol: float, atol: float, mismatched: float
) -> str:
    got = np.asarray(other.result(other.run()))
    if got.shape != want.shape:
        return f"shape {got.shape}, not {want.shape}"
    wrong, compared = _wrong(got.reshape(-1), want.reshape(-1), rtol, atol)
    if wrong <= mismatched * compared:
        return ""
    seen = f": {got} for {want}" if want.ndim == 0 else ""
    return f"{wrong} elements of {compared} differ{seen}"


def _wrong(
    got: NDArray[np.generic], want: NDArray[np.generic], rtol: float, atol: float
) -> tuple[int, int]:
    """Elements that differ, of how many looked at: all of them, or every so manyth of very many."""
    step = max(want.size // COMPARED, 1) | 1
    close = np.isclose(got[::step], want[::step], rtol=rtol, atol=atol, equal_nan=True)
    return close.size - np.count_nonzero(close), close.size


COMPARED = 5_000_000
COPY_BYTES = 512 << 20


def copying(threads: int, nbytes: int = COPY_BYTES) -> Contestant:
    """The C library's own copy, a part of the array for each thread."""
    source = np.full(nbytes // 8, 1.0)
    target = np.zeros(nbytes // 8)
    pieces = [(target[lo:hi], source[lo:hi]) for lo, hi in _ranges(source.size, threads)]

    def copy() -> None:
        workers = [threading.Thread(target=np.copyto, args=piece) for piece in pieces[1:]]
        for worker in workers:
            worker.start()
        np.copyto(*pieces[0])
        for worker in workers:
            worker.join()

    return Contestant("copy", copy)


def bandwidths(ours: Contestant, moved: int, threads: int, seconds: float) -> tuple[float, float]:
    """Bytes a second of ours, which moves `moved` bytes, and of a copy, by medians of turns."""
    pair = race(ours, copying(threads), seconds)
    return moved / pair.ours.median, 2 * COPY_BYTES / pair.theirs.median


def _ranges(count: int, parts: int) -> list[tuple[int, int]]:
    edges = [count * k // parts for k in range(parts + 1)]
    return list(pairwise(edges))
