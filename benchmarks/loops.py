"""Kernels of loops: a group of four loops as in Genesis' rigid-body solver, a chain of three
stencils, and what a first call costs.

Fused and unfused are the same kernel under `fw.options(fuse=...)`; *temporaries gone* are the same
loops where what only they use need not be kept.  `FUSEWRIGHT_QUADRANTS_PYTHON` names an interpreter
that has Quadrants; without it that peer is left out.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import peers
from loop_programs import DOFS, c_step, numba_step, quadrants_seconds, stencil, step
from pairwise import Contestant, race
from report import Report, milliseconds, start

import fusewright as fw
from fusewright.base.options import current
from fusewright.kernels.run import failed
from fusewright.kernels.specialise import apart, with_facts
from fusewright.targets.cpu import loops
from fusewright.targets.cpu.loops import obtain

LEAST_GROUP, LEAST_STENCIL, LEAST_QUADRANTS = 1.5, 2.0, 8.0
FIRST_CALL, FROM_DISK = 60e-3, 10e-3


def direct(kernel: Any, arrays: list[Any], dead: set[str]) -> Callable[[], None]:
    """A call of the kernel with some arrays dead, past the look-up by argument types."""
    kernel(*[array[tuple(slice(0, 16) for _ in array.shape)].copy() for array in arrays])
    (found,) = next(iter(kernel.specialisations.values()))
    names = list(kernel.signature.parameters)
    statements = with_facts(found.kernel, apart(found.kernel, arrays))
    buffers = tuple(replace(b, dead=names[b.slot] in dead) for b in statements.buffers)
    code = obtain(replace(statements, buffers=buffers), current())
    extents = [arrays[source.slot].shape[source.dim] for source in statements.arguments]
    return lambda: code.run(arrays, extents, failed)


def under(chosen: dict[str, Any], run: Callable[..., object], *arrays: Any) -> Contestant:
    """A call under some options."""

    def call() -> None:
        with fw.options(**chosen):
            run(*arrays)

    name = ", ".join(f"{key}={value}" for key, value in chosen.items())
    return Contestant(f"Fusewright {name}", call)


def group(report: Report, envs: int) -> None:
    """Four loops over 18 dofs and many environments."""
    shape = (DOFS, envs)
    arrays = [peers.normal(shape, "float32", k) for k in range(7)] + [np.zeros(envs, "float32")]
    ours = under({"fuse": True}, step, *arrays)
    others = [under({"fuse": False}, step, *arrays)]
    compiled = c_step()
    if compiled is not None:
        others.append(Contestant("gcc -O3, OpenMP", lambda: compiled(*arrays)))
    numba = numba_step(peers.numba())
    others.append(Contestant("Numba, prange", lambda: numba(*arrays)))
    section = report.pairs_section()
    pairs = [race(ours, other, 0.5 if report.quick else 4.0) for other in others]
    section.add_pairs(f"group of 4, 18 x {envs}", pairs)
    gone = Contestant("temporaries gone", direct(step, arrays, {"acc"}))
    kept, pair = pairs[0], race(gone, others[0], 0.5 if report.quick else 4.0)
    section.add_pairs("acc not kept", [pair])
    report.claim(
        f"group of 4, 18 x {envs}, acc not kept: unfused", f"≥ {LEAST_GROUP}×",
        f"{pair.ratio:.2f}× (all kept {kept.ratio:.2f}×)", pair.ratio >= LEAST_GROUP,
    )  # fmt: skip
    python = os.environ.get("FUSEWRIGHT_QUADRANTS_PYTHON")
    if python:
        theirs, own = quadrants_seconds(python, envs), pairs[0].ours.median
        report.claim(
            f"group of 4, 18 x {envs}: Quadrants", f"≥ {LEAST_QUADRANTS}×",
            f"{theirs / own:.1f}× ({milliseconds(theirs)} ms)", theirs / own >= LEAST_QUADRANTS,
        )  # fmt: skip


def stencils(report: Report, size: int) -> None:
    """Three stencils, one after the other, through arrays nobody keeps."""
    arrays = [peers.normal((size,), "float64", 1)] + [np.zeros(size) for _ in range(3)]
    unfused = under({"fuse": False}, stencil, *arrays)
    unfused.run()
    wanted = arrays[3].copy()
    gone = Contestant("temporaries gone", direct(stencil, arrays, {"b", "c"}))
    arrays[3][:] = 0
    gone.run()
    same = arrays[3].tobytes() == wanted.tobytes()
    kept = under({"fuse": True}, stencil, *arrays)
    seconds = 0.5 if report.quick else 4.0
    section = report.pairs_section()
    pair = race(gone, unfused, seconds)
    section.add_pairs(f"3 stencils, 2^{size.bit_length() - 1}", [pair])
    section.add_pairs("temporaries kept", [race(kept, unfused, seconds)])
    report.claim(
        f"3 stencils, 2^{size.bit_length() - 1}: unfused, bits equal", f"≥ {LEAST_STENCIL}×",
        f"{pair.ratio:.2f}×{'' if same else ', bits differ'}", same and pair.ratio >= LEAST_STENCIL,
    )  # fmt: skip


def first_calls(report: Report) -> None:
    """A kernel never seen, then the same from the disk, in a process that runs kernels already."""
    section = report.section("First calls (ms)", "kernel", "compiled", "from disk")
    for kernel, arrays in (
        (step, [np.zeros((4, 32), "f4") for _ in range(7)] + [np.zeros(32, "f4")]),
        (stencil, [np.zeros(64) for _ in range(4)]),
    ):
        times = []
        for _ in range(2):
            loops._memory.clear()
            fresh = fw.kernel(kernel.__wrapped__)
            begin = time.perf_counter()
            fresh(*arrays)
            times.append(time.perf_counter() - begin)
        name = kernel.function.__name__
        section.add(name, *map(milliseconds, times))
        report.claim(
            f"first call of {name}", f"≤ {FIRST_CALL * 1e3:.0f} ms", f"{milliseconds(times[0])} ms",
            times[0] <= FIRST_CALL,
        )  # fmt: skip
        report.claim(
            f"{name} from disk", f"≤ {FROM_DISK * 1e3:.0f} ms", f"{milliseconds(times[1])} ms",
            times[1] <= FROM_DISK,
        )  # fmt: skip


def main() -> int:
    report = start("loops", __doc__ or "")
    fw.cache_clear(disk=True)
    warm = np.zeros(8)
    fw.kernel(stencil.__wrapped__, integers="c")(warm, warm.copy(), warm.copy(), warm.copy())
    fw.cache_clear(disk=True)
    first_calls(report)
    for envs in (8192, 30000):
        group(report, envs)
    for size in (1 << 20,) if report.quick else (1 << 20, 1 << 26):
        stencils(report, size)
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
