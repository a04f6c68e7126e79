"""Kernels of loops: a group of four loops as in Genesis' rigid-body solver, a chain of three
stencils, what a first call costs, and fused against unfused at all sizes.

Fused and unfused are the same kernel under `@fw.kernel(fuse=...)`; *temporaries gone* are the same
loops where what only they use need not be kept.  `FUSEWRIGHT_QUADRANTS_PYTHON` and
`FUSEWRIGHT_TAICHI_PYTHON` name interpreters that have Quadrants and Taichi; without one that peer
is left out.  Both have two kinds of arrays, and both are shown.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import peers
from loop_programs import (
    DOFS,
    c_step,
    columns,
    elementwise,
    exponentials,
    jacobi,
    numba_step,
    ramps,
    scaled_rows,
    stencil,
    step,
    taichi_seconds,
    unequal,
    wave,
)
from numpy.typing import NDArray
from pairwise import Contestant, Pair, Times, race
from report import Report, Section, milliseconds, start

import fusewright as fw
from fusewright.base.options import current
from fusewright.kernels.run import failed, parameters
from fusewright.kernels.specialise import apart, large_ones, with_facts
from fusewright.targets.cpu import loops
from fusewright.targets.cpu.loops import obtain

LEAST_GROUP, LEAST_STENCIL, LEAST_QUADRANTS = 1.5, 2.0, 8.0
MOST_SLOWER = 1.05
SIZES = range(6, 23)
FIRST_CALL, FROM_DISK = 60e-3, 10e-3


def without(kernel: Any, arrays: list[Any], dead: set[str]) -> Callable[[], object]:
    """Runs of the kernel's code with some arrays dead."""
    kernel(*[array[tuple(slice(0, 16) for _ in array.shape)].copy() for array in arrays])
    (found,) = next(iter(kernel.specialisations.values()))
    names = list(kernel.signature.parameters)
    statements = with_facts(
        found.kernel, apart(found.kernel, arrays), large_ones(found.kernel, arrays)
    )
    buffers = tuple(replace(b, dead=names[b.slot] in dead) for b in statements.buffers)
    code = obtain(replace(statements, buffers=buffers), current())
    params = parameters(found, arrays, dict(zip(names, arrays, strict=True)))
    return lambda: code.run(arrays, params, failed)


def once(kernel: Any, fuse: bool | None, *arrays: Any) -> Contestant:
    """The kernel with its loops fused, as they are written, or (None) as it is by default."""
    chosen = fw.kernel(kernel.__wrapped__, fuse=fuse)
    return Contestant(f"Fusewright fuse={fuse}", lambda: chosen(*arrays))


@fw.kernel
def copy(a, b):
    for i in range(a.shape[0]):
        b[i] = a[i]


def bandwidth(nbytes: int) -> float:
    """Bytes a second of a copy that touches so many, read and written."""
    a, b = (np.ones(nbytes // 16) for _ in range(2))
    return nbytes / min(seconds(lambda: copy(a, b), 200))


def seconds(run: Callable[[], object], repeats: int) -> list[float]:
    run()
    found = []
    for _ in range(repeats):
        begin = time.perf_counter()
        run()
        found.append(time.perf_counter() - begin)
    return found


def group(report: Report, envs: int) -> None:
    """Four loops over 18 dofs and many environments."""
    shape = (DOFS, envs)
    arrays = ramps([shape] * 7 + [(envs,)], "float32")
    ours, unfused = (once(step, fuse, *arrays) for fuse in (True, False))
    others = [unfused]
    compiled = c_step()
    if compiled is not None:
        others.append(Contestant("gcc -O3, OpenMP", lambda: compiled(*arrays)))
    numba = numba_step(peers.numba())
    others.append(Contestant("Numba, prange", lambda: numba(*arrays)))
    section, turn = report.pairs_section(), 0.5 if report.quick else 4.0
    pairs = [race(ours, other, turn) for other in others]
    name = f"group of 4, {DOFS} x {envs}"
    section.add_pairs(name, pairs)
    pair = race(Contestant("temporaries gone", without(step, arrays, {"acc"})), unfused, turn)
    section.add_pairs(f"{name}, acc not kept", [pair])
    report.claim(
        f"{name}, acc not kept: unfused", f"≥ {LEAST_GROUP}×",
        f"{pair.ratio:.2f}× (all kept {pairs[0].ratio:.2f}×)", pair.ratio >= LEAST_GROUP,
    )  # fmt: skip
    array = arrays[0].nbytes
    limits = report.section(
        f"{name}: memory", "program", "arrays moved", "GB/s", "of a copy of as many bytes"
    )
    for what, count, taken in (
        ("fused", 7, pairs[0].ours.least), ("unfused", 10, pairs[0].theirs.least),
        ("acc not kept", 6, pair.ours.least),
    ):  # fmt: skip
        rate, most = count * array / taken, bandwidth(count * array)
        limits.add(what, str(count), f"{rate / 1e9:.0f}", f"{rate / most:.0%}")
    wanted, all_kept = arrays[-1], pairs[0].ours
    for peer, least, theirs in against_others(section, name, "group", envs, wanted, all_kept):
        limits.add(peer, "10", f"{10 * array / least / 1e9:.0f}", "")
        if peer.startswith("Quadrants"):
            ratio = theirs / all_kept.median
            report.claim(
                f"{name}: {peer}", f"≥ {LEAST_QUADRANTS}×",
                f"{ratio:.1f}× (acc not kept {theirs / pair.ours.median:.1f}×)",
                ratio >= LEAST_QUADRANTS,
            )  # fmt: skip


def against_others(
    section: Section, name: str, program: str, size: int, wanted: NDArray[Any], ours: Times
) -> Iterator[tuple[str, float, float]]:
    """Quadrants and Taichi, each in a process of its own, on as many threads as we have (their
    default): who, the least and the median time.
    """
    for library in ("Quadrants", "Taichi"):
        python = os.environ.get(f"FUSEWRIGHT_{library.upper()}_PYTHON")
        if python:
            for form, *theirs in taichi_seconds(library.lower(), python, program, size, wanted):
                times = map(milliseconds, (ours.least, ours.median, *theirs))
                peer = f"{library}, {form}s"
                section.add(name, peer, *times, f"{theirs[1] / ours.median:.2f}×")
                yield peer, theirs[0], theirs[1]


def stencils(report: Report, size: int) -> None:
    """Three stencils, one after the other, through arrays nobody keeps."""
    arrays = ramps([(size,)] * 4, "float64")
    kept, unfused = (once(stencil, fuse, *arrays) for fuse in (True, False))
    unfused.run()
    wanted = arrays[3].copy()
    gone = Contestant("temporaries gone", without(stencil, arrays, {"b", "c"}))
    arrays[3][3:-3] = 0
    gone.run()
    same = arrays[3].tobytes() == wanted.tobytes()
    turn = 0.5 if report.quick else 4.0
    section = report.pairs_section()
    pair = race(gone, unfused, turn)
    section.add_pairs(f"3 stencils, 2^{size.bit_length() - 1}", [pair])
    all_kept = race(kept, unfused, turn)
    section.add_pairs("temporaries kept", [all_kept])
    list(against_others(section, "temporaries kept", "stencil", size, wanted, all_kept.ours))
    report.claim(
        f"3 stencils, 2^{size.bit_length() - 1}: unfused, bits equal", f"≥ {LEAST_STENCIL}×",
        f"{pair.ratio:.2f}×{'' if same else ', bits differ'}", same and pair.ratio >= LEAST_STENCIL,
    )  # fmt: skip


SWEPT: tuple[tuple[Any, Callable[[int], list[Any]]], ...] = (
    (step, lambda n: [*vectors(7, (DOFS, max(n // DOFS, 1)), "float32"),
                      np.zeros(max(n // DOFS, 1), "float32")]),
    (stencil, lambda n: vectors(4, (n,))),
    (elementwise, lambda n: vectors(4, (n,))),
    (unequal, lambda n: vectors(4, (n,))),
    (wave, lambda n: vectors(2, (n,))),
    (jacobi, lambda n: vectors(2, (round(n**0.5), round(n**0.5)))),
    (columns, lambda n: [*vectors(2, (DOFS, max(n // DOFS, 1))), np.zeros(max(n // DOFS, 1))]),
    (scaled_rows, lambda n: [*vectors(1, (round(n**0.5), round(n**0.5))),
                             *vectors(2, (round(n**0.5),)),
                             np.zeros((round(n**0.5), round(n**0.5)))]),
    (exponentials, lambda n: vectors(3, (n,))),
)  # fmt: skip
"""Programs with a maker of their arrays of about n elements."""


def vectors(count: int, shape: tuple[int, ...], dtype: str = "float64") -> list[Any]:
    return [peers.normal(shape, dtype, k) for k in range(count)]


def against_unfused(kernel: Any, arrays: list[Any], seconds: float) -> Pair:
    """Fused as by default, and what is measured first has been."""
    ours = once(kernel, None, *arrays)
    for _ in range(40):
        ours.run()
    return race(ours, once(kernel, False, *arrays), seconds)


def sizes(report: Report) -> None:
    """As loops are fused by default, never slower than unfused, whatever the size; without what
    earlier runs have measured and remembered on disk.
    """
    section = report.section(
        "Fused against unfused, 2^6 to 2^22 elements", "program", "time / unfused time, by medians",
        "worst", "at", "least of times there",
    )  # fmt: skip
    for kernel, make in SWEPT:
        name, found = kernel.function.__name__, {}
        for power in SIZES[:: 4 if report.quick else 1]:
            seconds = 0.1 if report.quick else 0.5
            with tempfile.TemporaryDirectory() as new, fw.options(cache_dir=new):
                found[power] = against_unfused(kernel, make(1 << power), seconds)
                if found[power].ratio * MOST_SLOWER < 1:  # or so it seems: looked at for longer
                    found[power] = against_unfused(kernel, make(1 << power), 4.0)
        slower = {power: 1 / pair.ratio for power, pair in found.items()}
        worst = max(slower, key=lambda power: slower[power])
        least = found[worst].ours.least / found[worst].theirs.least
        section.add(
            name, " ".join(f"{ratio:.2f}" for ratio in slower.values()), f"{slower[worst]:.2f}",
            f"2^{worst}", f"{least:.2f}",
        )  # fmt: skip
        report.claim(
            f"{name}: never slower than unfused, 2^6 to 2^22", f"≤ {MOST_SLOWER}×",
            f"{slower[worst]:.2f}× at 2^{worst}", slower[worst] <= MOST_SLOWER,
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
    sizes(report)
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
