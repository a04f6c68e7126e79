"""The cost of a first call, from recording to the result: the first in a process with an empty
cache, a further new kernel, and the same in a new process with the disk cache filled.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from report import milliseconds, start

CHILD = Path(__file__).with_name("first_calls.py")
CACHES = ("FUSEWRIGHT_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "NUMBA_CACHE_DIR")
PEERS = ("numexpr", "jax", "numba", "torch")
LIMITS = {"first call, cold": 0.060, "each further new kernel": 0.015, "new process, warm": 0.010}


@dataclass(frozen=True, slots=True)
class Latency:
    """Median seconds over several processes."""

    cold: float
    further: float
    warm: float
    warm_further: float


def measure(library: str, repeats: int) -> Latency:
    """Each repeat: a process with an empty cache folder, then one that finds it filled."""
    cold, warm = [], []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            cold.append(_child(library, folder))
            warm.append(_child(library, folder))
    columns = [*zip(*cold, strict=True), *zip(*warm, strict=True)]
    return Latency(*(statistics.median(column) for column in columns))


def _child(library: str, folder: str) -> list[float]:
    environment = os.environ | dict.fromkeys(CACHES, folder)
    done = subprocess.run(
        [sys.executable, str(CHILD), library], env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{library}: {done.stderr}")
    times: list[float] = json.loads(done.stdout.splitlines()[-1])
    return times


def main() -> int:
    report = start("latency", __doc__ or "")
    ours = measure("fusewright", 3 if report.quick else 11)
    for (what, limit), value in zip(
        LIMITS.items(), (ours.cold, ours.further, ours.warm), strict=True
    ):
        passed = value <= limit
        report.claim(what, f"≤ {limit * 1e3:.0f} ms", f"{milliseconds(value)} ms", passed)
    section = report.section(
        "First calls (ms), medians over processes",
        "library", "cold, first", "cold, further", "new process, first", "new process, further",
    )  # fmt: skip
    rows = {"Fusewright": ours}
    for peer in PEERS:
        slow = peer in ("numba", "torch")
        rows[peer] = measure(peer, 1 if report.quick or slow else 5)
    for name, row in rows.items():
        values = (row.cold, row.further, row.warm, row.warm_further)
        section.add(name, *map(milliseconds, values))
    report.notes.append("JAX and Numba keep no code on disk here, as by default.")
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
