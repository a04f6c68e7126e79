"""A million iterations of loops nobody asks a value of: memory, pending work and compiled code stay
what they were after the first 350,000.

`scalars` has other numbers in every iteration, `branches` and `shapes` change what an iteration
does every 700 (the loop leaves its memo and comes back to it), `regions` writes to parts of an
array.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from report import start

import fusewright as fw
import fusewright.numpy as fnp
from fusewright import driver
from fusewright._core import native
from fusewright.frontends.arrays import trace
from fusewright.runtime import buffers
from fusewright.runtime.limits import resident_memory

TURN = 700
PART = 50 * TURN
"""Iterations between two looks."""
WARM = 10
"""Parts after which nothing may grow."""
PARTS = 30
GROWTH = 4 << 20
"""Bytes of resident memory that may come on top."""

Note = Callable[[], None]
Loop = Callable[[int, Note], Any]


def steady(steps: int, note: Note) -> Any:
    x, v = fw.asarray(np.linspace(0, 1, 16)), fw.asarray(np.zeros(16))
    for step in range(steps):
        if not step % PART:
            note()
        a = -fnp.sin(x) - 0.1 * v
        v = v + 0.01 * a
        x = x + 0.01 * v
    return x


def scalars(steps: int, note: Note) -> Any:
    x = fw.asarray(np.linspace(0, 1, 16))
    for step in range(steps):
        if not step % PART:
            note()
        x = x * (1.0 - 1.0 / (step + 2)) + step * 1e-9
    return x


def branches(steps: int, note: Note) -> Any:
    x = fw.asarray(np.linspace(0, 1, 16))
    for step in range(steps):
        if not step % PART:
            note()
        if step // TURN % 2:
            x = fnp.sqrt(x * x + 1.0) - 0.5
        else:
            x = x * 0.5 + 0.25
    return x


def shapes(steps: int, note: Note) -> Any:
    wide, narrow = fw.asarray(np.ones(64)), fw.asarray(np.ones(4))
    for step in range(steps):
        if not step % PART:
            note()
        if step // TURN % 2:
            wide = wide * 0.5 + 0.25
        else:
            narrow = narrow * 0.5 + 0.25
    return wide, narrow


def regions(steps: int, note: Note) -> Any:
    u = fw.asarray(np.linspace(0, 1, 64))
    for step in range(steps):
        if not step % PART:
            note()
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u[0] = u[1]
        u[-1] = u[-2]
    return u


LOOPS: tuple[Loop, ...] = (steady, scalars, branches, shapes, regions)


@dataclass(frozen=True, slots=True)
class State:
    """What may not grow while a loop runs."""

    time: float
    resident: int
    mapped: int
    compiled: int
    pending: int
    flushes: int


def state() -> State:
    flushes = native.steady_flushes() if native else 0
    mapped = buffers.statistics().mapped
    return State(
        time.perf_counter(), resident_memory(), mapped, driver.cached(), len(trace.pending), flushes
    )


def main() -> int:
    report = start("growth", __doc__ or "")
    parts = 5 if report.quick else PARTS
    section = report.section(
        f"{parts * PART:,} iterations after {WARM * PART:,}", "loop", "µs an iteration",
        "resident (KiB)", "pool (KiB)", "compiled", "longest list", "flushes from memos",
    )  # fmt: skip
    for loop in LOOPS:
        name, seen = loop.__name__, []
        fw.evaluate(loop((WARM + parts) * PART + 1, lambda: seen.append(state())))  # noqa: B023
        first, last = seen[WARM], seen[-1]
        longest = max(each.pending for each in seen)
        resident, compiled = last.resident - first.resident, last.compiled - first.compiled
        section.add(
            name, f"{(last.time - first.time) / (parts * PART) * 1e6:.2f}", f"{resident >> 10:+,}",
            f"{(last.mapped - first.mapped) >> 10:+,}", f"{compiled:+}", f"{longest:,}",
            f"{last.flushes - first.flushes:,}",
        )  # fmt: skip
        report.claim(f"{name}: resident memory grows", f"≤ {GROWTH >> 20} MiB",
                     f"{resident / (1 << 20):.2f} MiB", resident <= GROWTH)  # fmt: skip
        report.claim(f"{name}: structures compiled", "0", str(compiled), compiled == 0)
        report.claim(f"{name}: pending work", f"≤ {trace.HARD_LIMIT + 1} nodes", f"{longest:,}",
                     longest <= trace.HARD_LIMIT + 1)  # fmt: skip
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
