"""Programs of others with PySCF alone and with our integrals: do they print the same?

    python benchmarks/recurrences/scripts.py [--seconds N] [--ways direct,memory,predicted] FILE ...

Each file runs in processes of its own, in a copy of its folder, on one thread: as it is, and with
`fp.install()`, J and K always direct, all integrals always ours and in memory, and as predicted.
Energies, convergence and cycles of every SCF are compared to 1e-8 hartree, and all numbers that are
printed to 2e-6 of themselves, but for times and memory.

Where something differs, PySCF alone runs again with J and K moved by 1e-14 of their largest element
(`--seeds` times): a program that prints other numbers then, too, has several answers (degenerate
orbitals, an SCF that does not converge, a localisation with several maxima), and says so.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

WAYS = ("direct", "memory", "predicted")
NUMBER = re.compile(r"[-+]?\d+\.\d+(?:[eE][-+]?\d+)?")
UNCOMPARED = re.compile(r"CPU time|wall time| sec|norm\(g|gradient\||\bMB\b|\bat 0x|^Date:|/tmp")
"""Lines with times, memory or what has few digits: norms of what is nearly zero."""
NOISE = 1e-14


class Run(NamedTuple):
    """How a program ended; class, convergence, energy and cycles of each SCF; what it printed."""

    status: int | str
    fields: list[list[Any]]
    printed: str


def watched(way: str, seed: int, log: Path) -> None:
    """Within the program's process: what each SCF found goes to a file."""
    from pyscf.scf import hf, uhf  # the parent needs no PySCF

    original, file = hf.kernel, log.open("w")

    def kernel(mf: Any, *arguments: Any, **keywords: Any) -> Any:
        found = original(mf, *arguments, **keywords)
        row = [type(mf).__name__, bool(found[0]), float(found[1]), int(getattr(mf, "cycles", 0))]
        file.write(json.dumps(row) + "\n")
        file.flush()
        return found

    hf.kernel = kernel
    if way == "noise":
        for kind in (hf.RHF, uhf.UHF):
            kind.get_jk = moved(kind.get_jk, seed)
    elif way != "alone":
        ours(way)


def moved(get_jk: Any, seed: int) -> Any:
    """J and K with noise."""
    import numpy as np

    rng = np.random.default_rng(seed)

    def changed(matrix: Any) -> Any:
        if getattr(matrix, "dtype", None) != np.float64:
            return matrix
        noise = rng.uniform(-1, 1, matrix.shape) * NOISE * np.abs(matrix).max()
        return matrix + noise + noise.swapaxes(-1, -2)

    return lambda *arguments, **keywords: tuple(map(changed, get_jk(*arguments, **keywords)))


def ours(way: str) -> None:
    """Install ours; but for `predicted` whatever is predicted to be faster."""
    import fusewright.bridges.pyscf as fp
    from fusewright.bridges.pyscf import compiling, direct, in_core

    if way != "predicted":
        direct.check_size = lambda mol, fits: None
        direct.worth = lambda fock: None
        compiling.require = lambda basis, operators, whole: None
        in_core.too_small = lambda mol: ""
        in_core.slower = lambda *numbers: ""
        direct.prefers_memory = lambda geometry: way == "memory"
    fp.install()


def run(path: Path, way: str, seconds: float, seed: int = 1) -> Run:
    """One run in a copy of the program's folder."""
    with tempfile.TemporaryDirectory() as folder:
        log, copy = Path(folder) / "log", Path(folder) / path.parent.name
        shutil.copytree(path.parent, copy, symlinks=True)
        command = [sys.executable, "-W", "ignore", __file__, "--as", f"{way},{seed},{log}"]
        try:
            done = subprocess.run(
                [*command, str(copy / path.name)], cwd=copy, capture_output=True, text=True,
                timeout=seconds, env={**os.environ, "OMP_NUM_THREADS": "1"},
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Run("too long", [], "")
        rows = log.read_text().splitlines() if log.exists() else []
        last = "".join(done.stderr.strip().splitlines()[-1:])
        status = done.returncode and f"{done.returncode}: {last[:80]}"
        return Run(status, [json.loads(row) for row in rows], done.stdout)


def numbers(printed: str) -> list[float]:
    """All that are compared."""
    lines = (line for line in printed.splitlines() if not UNCOMPARED.search(line))
    return [float(each) for line in lines for each in NUMBER.findall(line)]


def difference(one: Run, two: Run) -> str:
    """What is not the same, empty for nothing."""
    if two.status:
        return f"ended with {two.status}"
    if len(one.fields) != len(two.fields):
        return f"{len(one.fields)} SCFs, {len(two.fields)}"
    for number, (a, b) in enumerate(zip(one.fields, two.fields, strict=True)):
        if [*a[:2], a[3]] != [*b[:2], b[3]] or abs(a[2] - b[2]) > 1e-8:
            return f"SCF {number}: {a}, {b}"
    first, second = numbers(one.printed), numbers(two.printed)
    if len(first) != len(second):
        return f"{len(first)} numbers, {len(second)}"
    pairs = zip(first, second, strict=True)
    bad = [(a, b) for a, b in pairs if abs(a - b) > 2e-6 * max(1.0, abs(a))]
    return f"{len(bad)} of {len(first)} numbers, first {bad[0][0]}, {bad[0][1]}" if bad else ""


def main() -> int:
    """Print a row for each program and way; 1 where one differs and noise does not explain it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--as", dest="way")
    parser.add_argument("files", nargs="+")
    chosen = parser.parse_args()
    if chosen.way:
        way, seed, log = chosen.way.split(",", 2)
        watched(way, int(seed), Path(log))
        sys.argv = chosen.files
        sys.path[0] = str(Path(chosen.files[0]).parent)
        runpy.run_path(chosen.files[0], run_name="__main__")
        return 0
    unexplained = 0
    for path in map(Path, chosen.files):
        alone = run(path, "alone", chosen.seconds)
        if alone.status:
            print(f"{path}: PySCF alone ends with {alone.status}", flush=True)
            continue
        noise: list[str] | None = None
        for way in chosen.ways.split(","):
            found = difference(alone, run(path, way, 4 * chosen.seconds))
            if found and noise is None:
                seeds = range(1, chosen.seeds + 1)
                noise = [
                    difference(alone, run(path, "noise", chosen.seconds, seed)) for seed in seeds
                ]
            why = next(filter(None, noise or ()), "")
            unexplained += bool(found) and not why
            print(
                f"{path} {way}: " + (f"{found}; by noise: {why or 'nothing'}" if found else "same"),
                flush=True,
            )
    return int(unexplained > 0)


if __name__ == "__main__":
    raise SystemExit(main())
