"""Time loops over small arrays with many small updates (boundary rows, single elements), against
NumPy: what recording costs, and that what runs is not slower.
"""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
from pairwise import Contestant, compete
from report import Report, Section, milliseconds, start

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.runtime import profile

STEPS = (100, 1000)
"""A call of the loop begins by finding it: that takes about 150 records, whatever follows."""
LEAST = 5
SLOWER = 1.1


def line(np: Any, arrays: Any, steps: int) -> Any:
    """Diffusion on a line with mirrored ends."""
    (u,) = arrays
    for _ in range(steps):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u[0] = u[1]
        u[-1] = u[-2]
    return u


def plate(np: Any, arrays: Any, steps: int) -> Any:
    """Diffusion on a plate with mirrored edges."""
    (u,) = arrays
    for _ in range(steps):
        u[1:-1, 1:-1] += 0.1 * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        )
        u[0, :] = u[1, :]
        u[-1, :] = u[-2, :]
        u[:, 0] = u[:, 1]
        u[:, -1] = u[:, -2]
    return u


def cavity(np: Any, arrays: Any, steps: int) -> Any:
    """A lid-driven cavity: twelve boundary updates in each step."""
    u, v, p = arrays
    for _ in range(steps):
        b = u[1:-1, 2:] - u[1:-1, :-2] + v[2:, 1:-1] - v[:-2, 1:-1]
        p[1:-1, 1:-1] = 0.25 * (p[1:-1, 2:] + p[1:-1, :-2] + p[2:, 1:-1] + p[:-2, 1:-1]) - b * 0.01
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0
        u[1:-1, 1:-1] -= 0.01 * (p[1:-1, 2:] - p[1:-1, :-2])
        v[1:-1, 1:-1] -= 0.01 * (p[2:, 1:-1] - p[:-2, 1:-1])
        for side in (np.s_[0, :], np.s_[:, 0], np.s_[:, -1]):
            u[side] = 0
            v[side] = 0
        u[-1, :] = 1
        v[-1, :] = 0
    return u + v + p


PROGRAMS = (
    ("line of 2000", line, (2000,), 1),
    ("plate of 50 × 50", plate, (50, 50), 1),
    ("cavity of 41 × 41", cavity, (41, 41), 3),
)


def running(program: Any, inputs: list[Any], steps: int) -> tuple[float, int]:
    """Seconds spent in kernels, and how many of them, without recording."""
    seconds, kernels = [], 0
    for _ in range(LEAST):
        with profile.listen() as record:
            fw.evaluate(program(fnp, [values.copy() for values in inputs], steps))
        seconds.append(sum(kernel.seconds for kernel in record.kernels))
        kernels = len(record.kernels)
    return statistics.median(seconds), kernels


def race(
    report: Report, races: Section, parts: Section, what: str, program: Any, first: Any, steps: int
) -> None:
    """One program against NumPy, and its kernels alone."""
    held = [fw.asarray(values) for values in first]

    def ours() -> Any:
        return fw.evaluate(program(fnp, [values.copy() for values in held], steps))

    def theirs() -> Any:
        return program(np, [values.copy() for values in first], steps)

    pairs, notes = compete(
        Contestant("Fusewright", ours), [Contestant("NumPy", theirs)],
        0.5 if report.quick else 3.0, rtol=1e-12, atol=0.0,
    )  # fmt: skip
    report.notes += [f"{what}: {note}" for note in notes]
    races.add_pairs(what, pairs)
    alone, kernels = running(program, held, steps)
    numpy = pairs[0].theirs.median
    parts.add(what, str(kernels), milliseconds(alone), milliseconds(numpy))
    report.claim(f"{what}: kernels alone", "≤ NumPy", f"{milliseconds(alone)} ms", alone <= numpy)
    slower = pairs[0].ours.median / numpy
    report.claim(f"{what}: all of it", f"≤ {SLOWER}× NumPy", f"{slower:.2f}×", slower <= SLOWER)


def main() -> int:
    report = start("small_updates", __doc__ or "")
    races = report.pairs_section()
    parts = report.section("Kernels alone", "program", "kernels", "ours (ms)", "NumPy (ms)")
    generator = np.random.default_rng(11)
    for what, program, shape, count in PROGRAMS:
        first = [generator.random(shape) for _ in range(count)]
        for steps in STEPS:
            race(report, races, parts, f"{what}, {steps:,} steps", program, first, steps)
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
