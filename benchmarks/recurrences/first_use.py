"""What the first use of a class of electron-repulsion integrals costs: planning and compiling it.

    python benchmarks/recurrences/first_use.py [class ...]

Spherical classes, in an empty cache, wall-clock seconds, one after the other; a table on standard
output.
"""

from __future__ import annotations

import sys
import tempfile
import time

import fusewright as fw
from fusewright.integrals.classes import QuartetClass, code_of
from fusewright.targets.cpu import compiler

CLASSES = ("ssss", "psps", "pppp", "dsds", "dpdp", "dddp", "dddd", "fsfs", "ffff")


def seconds(name: str) -> float:
    """Planning and compiling one class."""
    momenta = tuple("spdfg".index(letter) for letter in name)
    start = time.perf_counter()
    code_of(QuartetClass(momenta, True, (False,), False))  # type: ignore[arg-type]
    return time.perf_counter() - start


def main() -> None:
    """Print a row for each class."""
    compiler.start()  # LLVM starts once in a process
    print("| class | first use s |\n| --- | ---: |", flush=True)
    with tempfile.TemporaryDirectory() as folder, fw.options(cache_dir=folder):
        for name in sys.argv[1:] or CLASSES:
            print(f"| {name} | {seconds(name):.2f} |", flush=True)


if __name__ == "__main__":
    main()
