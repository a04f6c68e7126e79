"""Loop nests as in PolyBench, and loops over complex numbers: us against Numba (`@njit`, and
`prange` where one would write it) and against `gcc -O3` with OpenMP, with all results compared.

Ours are the plain functions under `@fw.kernel`, at two sizes: small ones lie in the first caches.
The C code is what a user would write; nobody may change the order of sums of floats.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
import tempfile
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import complex_loops
import numpy as np
import peers
from numpy.typing import NDArray
from pairwise import Contestant, Disagreement, Pair, race
from polybench import PROGRAMS, Program
from report import Report, Section, milliseconds, start

import fusewright as fw

SLOWER = 1.10
Arrays = list[NDArray[Any]]
FLAGS = ["-O3", "-march=native", "-ffp-contract=off", "-fno-trapping-math", "-fopenmp"]


def compiled() -> ctypes.CDLL | None:
    """The nests in C; None where there is no gcc."""
    source = Path(__file__).with_name("polybench.c")
    library = Path(tempfile.mkdtemp()) / "polybench.so"
    command = ["gcc", *FLAGS, "-shared", "-fPIC", str(source), "-o", str(library), "-lm"]
    try:
        subprocess.run(command, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return ctypes.CDLL(str(library))


def in_c(library: ctypes.CDLL, program: Program, arrays: Arrays) -> Callable[[], object]:
    function = getattr(library, program.name)
    words = [ctypes.c_long(arrays[0].shape[0])]
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    return lambda: function(*words, *pointers)


def contestants(program: Program, size: int, library: Any) -> list[tuple[str, Any, Arrays]]:
    """Who, what to call, and arrays of its own; ours first."""
    numba = peers.numba()
    found: list[tuple[str, Any, Arrays]] = []

    def add(name: str, run: Callable[[Arrays], Callable[[], object]]) -> None:
        arrays = program.arrays(size)
        found.append((name, run(arrays), arrays))

    ours = fw.kernel(program.function)
    add("Fusewright", lambda arrays: lambda: ours(*arrays))
    alone = numba.njit(program.loops(range))
    add("Numba", lambda arrays: lambda: alone(*arrays))
    if "prange" in program.function.__code__.co_names:
        threads = numba.njit(program.loops(numba.prange), parallel=True)
        add("Numba, prange", lambda arrays: lambda: threads(*arrays))
    if library is not None:
        add("gcc -O3, OpenMP", lambda arrays: in_c(library, program, arrays))
    return found


def compare(program: Program, found: list[tuple[str, Any, Arrays]]) -> None:
    """The arrays after one call of each."""
    for _, run, _ in found:
        run()
    name, _, ours = found[0]
    for peer, _, theirs in found[1:]:
        for number, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            if not np.allclose(a, b, rtol=1e-9, atol=1e-12, equal_nan=True):
                raise Disagreement(f"{program.name}, array {number}: {name} and {peer}")


def measure(report: Report, section: Section, program: Program, size: int, library: Any) -> float:
    """How many times as fast as the fastest peer we are."""
    found = contestants(program, size, library)
    compare(program, found)
    ours, *others = (Contestant(name, run) for name, run, _ in found)
    seconds = 0.1 if report.quick else 0.4
    pairs = [race(ours, other, seconds) for other in others]
    best = min(pairs, key=lambda pair: pair.ratio)
    times = {pair.peer: milliseconds(pair.theirs.median) for pair in pairs}
    section.add(
        program.name, str(size), milliseconds(best.ours.least), milliseconds(best.ours.median),
        *(times.get(name, "") for name in ("Numba", "Numba, prange", "gcc -O3, OpenMP")),
        f"{best.ratio:.2f}×", f"{_by_least(pairs):.2f}×",
    )  # fmt: skip
    return best.ratio


def _by_least(pairs: list[Pair]) -> float:
    return min(pair.theirs.least / pair.ours.least for pair in pairs)


def main() -> int:
    chosen = [name for name in sys.argv[1:] if not name.startswith("-")]
    sys.argv[1:] = [name for name in sys.argv[1:] if name.startswith("-")]
    report = start("loop_kernels", __doc__ or "")
    section = report.section(
        "Times (ms): ours, and peers' medians; by how much we are ahead of the fastest",
        "program", "n", "ours least", "ours median", "Numba", "Numba, prange", "gcc -O3, OpenMP",
        "ratio of medians", "of least times",
    )  # fmt: skip
    library = compiled()
    ratios = []
    for program in (*PROGRAMS, *complex_loops.PROGRAMS):
        if not chosen or program.name in chosen:
            ratios += [measure(report, section, program, size, library) for size in program.sizes]
    behind = sum(ratio * SLOWER < 1 for ratio in ratios)
    report.claim(
        "slower than the fastest peer by more than 10 %", "0", f"{behind} of {len(ratios)}",
        behind == 0,
    )  # fmt: skip
    mean = prod(ratios) ** (1 / len(ratios))
    report.claim(
        "geometric mean against the fastest peer of each", "≥ 1×", f"{mean:.2f}×", mean >= 1
    )
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
