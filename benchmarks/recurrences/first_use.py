"""What the first use of a class of electron-repulsion integrals costs: planning and compiling it.

    python benchmarks/recurrences/first_use.py [class ...]
    python benchmarks/recurrences/first_use.py --all d f

Spherical classes, in an empty cache, wall-clock seconds, one after the other; a table on standard
output.  `--all`: all classes of shells up to these, CPU seconds of this process and of the one that
LLVM runs in, their start included, against what they may take.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from itertools import combinations_with_replacement
from pathlib import Path

import fusewright as fw
from fusewright.integrals.classes import QuartetClass, code_of
from fusewright.targets.cpu import compiler

CLASSES = ("ssss", "psps", "pppp", "dsds", "dpdp", "dddp", "dddd", "fsfs", "ffff")

MOST_SECONDS = {"d": 4.0, "f": 15.0}


def seconds(name: str) -> float:
    """Planning and compiling one class."""
    momenta = tuple("spdfg".index(letter) for letter in name)
    start = time.perf_counter()
    code_of(QuartetClass(momenta, True, ((False,),), False))  # type: ignore[arg-type]
    return time.perf_counter() - start


def up_to(letter: str) -> list[str]:
    """All classes of shells up to this one."""
    shells = "spdfg"[: "spdfg".index(letter) + 1]
    pairs = [b + a for a, b in combinations_with_replacement(shells, 2)]
    return [ket + bra for bra, ket in combinations_with_replacement(pairs, 2)]


def all_of(letter: str) -> float:
    """CPU seconds of a process that compiles all of them."""
    command = [sys.executable, __file__, "--times", *up_to(letter)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


def with_llvm() -> float:
    """CPU seconds of this process and of those in which LLVM ran for it."""
    ticks = 0
    for worker in compiler.idle_workers:
        fields = Path(f"/proc/{worker.pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Print a row for each class."""
    if sys.argv[1:2] == ["--all"]:
        print(
            "| all classes to | classes | CPU s | at most | |\n| --- | ---: | ---: | ---: | --- |"
        )
        for letter in sys.argv[2:]:
            found, most = all_of(letter), MOST_SECONDS.get(letter, float("inf"))
            verdict = "PASS" if found <= most else "MISS"
            row = f"| {letter} | {len(up_to(letter))} | {found:.1f} | {most} | {verdict} |"
            print(row, flush=True)
        return
    names = [name for name in sys.argv[1:] if name != "--times"]
    compiler.start()  # LLVM starts once in a process
    print("| class | first use s |\n| --- | ---: |", flush=True)
    with tempfile.TemporaryDirectory() as folder, fw.options(cache_dir=folder):
        for name in names or CLASSES:
            print(f"| {name} | {seconds(name):.2f} |", flush=True)
    if "--times" in sys.argv:
        print(with_llvm())


if __name__ == "__main__":
    main()
