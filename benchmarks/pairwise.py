"""How every benchmark measures: two programs take turns in one process, so that both meet the same machine.

A *turn* rests a moment (other libraries' threads stop spinning), warms up with one call, and times as many calls as fit into
`TURN` seconds.  Ratios are ratios of medians over all turns of a pair.
"""

from __future__ import annotations

import gc
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

REST = 0.004
"""Seconds between turns: GNU OpenMP's threads spin for 1 to 3 ms after a parallel region."""
TURN = 0.02
"""Seconds of timed calls in one turn."""
LONG = 0.05
"""A call of this many seconds needs no warm-up: what it could find in a cache is gone by its end."""
LEAST = 3
MOST = 60


@dataclass(frozen=True, slots=True)
class Contestant:
    """A program to time.  `run` computes and returns something; `result` makes an array of that.

    `share` is the part of the program that one call does (fewer steps, where all would take minutes): its
    times are divided by it, and its result is compared with nobody's.
    """

    name: str
    run: Callable[[], object]
    result: Callable[[object], NDArray[np.generic]] = np.asarray
    share: float = 1.0


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
    return Pair(peer.name, Times(tuple(our_times)), Times(tuple(their_times)))


def race_all(ours: Contestant, peers: Sequence[Contestant], seconds: float) -> list[Pair]:
    """One race with each peer."""
    return [race(ours, peer, seconds) for peer in peers]


class Disagreement(AssertionError):
    """Two contestants computed different things: no time is worth quoting."""


def agree(
    contestants: Sequence[Contestant], rtol: float, atol: float, mismatched: float = 0.0
) -> None:
    """Every result equals the first one's within the tolerance, except a share `mismatched`."""
    first, *others = contestants
    want = np.asarray(first.result(first.run()))
    for other in others:
        if other.share != 1:
            continue
        got = np.asarray(other.result(other.run()))
        if got.shape != want.shape:
            raise Disagreement(f"{other.name}: shape {got.shape}, {first.name}: {want.shape}")
        wrong, compared = _wrong(got.reshape(-1), want.reshape(-1), rtol, atol)
        if wrong > mismatched * compared:
            raise Disagreement(f"{other.name} and {first.name} differ in {wrong} elements of {compared}")


def _wrong(
    got: NDArray[np.generic], want: NDArray[np.generic], rtol: float, atol: float
) -> tuple[int, int]:
    """Elements that differ, of how many looked at: all of them, or every so manyth of very many."""
    step = max(want.size // COMPARED, 1) | 1
    close = np.isclose(got[::step], want[::step], rtol=rtol, atol=atol, equal_nan=True)
    return close.size - np.count_nonzero(close), close.size


COMPARED = 5_000_000
COPY_BYTES = 512 << 20


def copy_bandwidth(threads: int, nbytes: int = COPY_BYTES) -> float:
    """Bytes a second, read and written, of the C library's own copy on this many threads."""
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

    copy()
    taken = [_timed(copy) for _ in range(9)]
    return 2 * nbytes / statistics.median(taken)


def _ranges(count: int, parts: int) -> list[tuple[int, int]]:
    edges = [count * k // parts for k in range(parts + 1)]
    return list(zip(edges, edges[1:], strict=False))
