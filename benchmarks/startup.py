"""How long `import fusewright` takes in a fresh process, NumPy's own import included."""

from __future__ import annotations

import statistics
import subprocess
import sys

from report import milliseconds, start

LIMIT = 0.150
MODULES = ("fusewright", "fusewright.numpy", "numpy", "numexpr", "numba", "jax", "torch")
PROGRAM = """
import time
start = time.perf_counter()
import {module}
print(time.perf_counter() - start)
"""


def seconds(module: str, repeats: int) -> float:
    """The median over processes, after one whose file reads fill the page cache."""
    taken = []
    for _ in range(repeats + 1):
        command = [sys.executable, "-c", PROGRAM.format(module=module)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        taken.append(float(done.stdout.splitlines()[-1]))
    return statistics.median(taken[1:])


def main() -> int:
    report = start("startup", __doc__ or "")
    section = report.section("Import (ms), medians over processes", "module", "ms")
    times = {module: seconds(module, 3 if report.quick else 15) for module in MODULES}
    for module, value in times.items():
        section.add(module, milliseconds(value))
    value = times["fusewright"]
    report.claim("import fusewright", "≤ 150 ms", f"{milliseconds(value)} ms", value <= LIMIT)
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
