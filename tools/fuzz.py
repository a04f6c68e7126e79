"""Random programs against their oracle: array programs against NumPy, kernels against CPython.

    python tools/fuzz.py --seed 1 --count 10000
    python tools/fuzz.py --kind kernels --seed 1 --seconds 600

Program `n` of seed `s` is the same at each run.  Each program that differs is made smaller and
printed with its number; `--only NUMBER` runs that one again.  The exit code is 1 if any differed.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.properties.random_replays import replay_difference  # noqa: E402
from tests.properties.whole_kernels import kernel_difference  # noqa: E402
from tests.properties.whole_programs import program  # noqa: E402
from tests.properties.whole_runs import MODES, difference, reduced, source  # noqa: E402

APART = 1 << 32
"""Programs of a seed."""
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
"""Names of glibc's."""
COMPILED_EACH = 12
"""One of so many array programs is compiled at once, too: that takes most of the time."""


def modes_of(number: int) -> tuple[str, ...]:
    """The settings under which a program runs."""
    if number % COMPILED_EACH == 0:
        return tuple(MODES)
    return (("default",), ("small=0",), ("default", "unfused"), ("small=0", "small=0, unfused"))[
        number % 4
    ]


def arrays(number: int) -> str:
    """A failing program and how it differs; nothing where it does not."""
    (blocks, oracle), modes = program(number), modes_of(number)
    found = difference(blocks, modes, oracle)
    if not found:
        return ""
    small = reduced(blocks, modes)
    return f"{difference(small, modes)}\n{source(small)}"


KINDS = {"arrays": arrays, "kernels": kernel_difference, "replays": replay_difference}


def keep_memory() -> None:
    """Let glibc keep what is freed: fresh pages cost more than what is computed in them."""
    with contextlib.suppress(OSError, AttributeError):
        for option in (TRIM_THRESHOLD, MMAP_THRESHOLD):
            ctypes.CDLL("libc.so.6").mallopt(option, 1 << 30)


def main() -> int:
    """The command."""
    keep_memory()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000, help="programs")
    parser.add_argument("--seconds", type=float, default=0.0, help="stop after so long")
    parser.add_argument("--kind", choices=sorted(KINDS), default="arrays")
    parser.add_argument("--only", type=int, help="the one program of this number")
    chosen = parser.parse_args()
    numbers = [chosen.only] if chosen.only is not None else range(chosen.count)
    started = time.process_time()
    wrong, ran, end = 0, 0, time.monotonic() + (chosen.seconds or float("inf"))
    for number in numbers:
        if time.monotonic() > end:
            break
        ran += 1
        found = KINDS[chosen.kind](chosen.seed * APART + number)
        if found:
            wrong += 1
            print(f"--- seed {chosen.seed}, program {number}: {found}", flush=True)
    rate = ran / max(time.process_time() - started, 1e-9)
    print(f"{wrong} of {ran} programs differ; {rate:.1f} a second of the processor", flush=True)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
