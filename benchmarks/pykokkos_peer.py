"""What PyKokkos itself takes, printed as JSON: run by an interpreter that has it (see
`pykokkos.py`), from the folder in which it keeps what it has compiled.

The programs are in `pykokkos_programs.py`; nothing here needs Fusewright.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from pathlib import Path
from typing import Any

import pykokkos as pk

# This folder is not on the path: it holds a script named `pykokkos`.
_spec = importlib.util.spec_from_file_location(
    "pykokkos_programs", Path(__file__).with_name("pykokkos_programs.py")
)
programs = importlib.util.module_from_spec(_spec)
sys.modules["pykokkos_programs"] = programs
_spec.loader.exec_module(programs)
LARGE, SMALL = programs.LARGE, programs.SMALL

FRESH = """
import pykokkos as pk

@pk.workunit
def fresh_{number}(i, a, b):
    b[i] = a[i] * {number} + i
"""


class Chain(programs.Chain):
    """The five kernels, and an element."""

    def run(self) -> float:
        self.launch()
        return float(self.out[1])


def least(run: Any, repeats: int, rounds: int) -> float:
    run()
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(repeats):
            run()
        best = min(best, (time.perf_counter() - start) / repeats)
    return best


def first_call() -> float:
    """A kernel nobody has seen: its text says when it was written."""
    number = time.time_ns() % 10**9
    file = Path(f"fresh_{number}.py")
    file.write_text(FRESH.format(number=number))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    a, b = pk.View([SMALL], pk.double), pk.View([SMALL], pk.double)
    policy = pk.RangePolicy(pk.OpenMP, 0, SMALL)
    start = time.perf_counter()
    pk.parallel_for(policy, getattr(module, f"fresh_{number}"), a=a, b=b)
    return time.perf_counter() - start


def main() -> None:
    pk.set_default_space(pk.OpenMP)
    chain, large, functor = Chain(SMALL), Chain(LARGE), programs.Scaled(SMALL)
    policy, a, b, out = chain.policy, chain.a, chain.b, chain.out
    micro, milli = 1e6, 1e3
    found = {
        "parallel_for, 1 view": micro
        * least(lambda: pk.parallel_for(policy, programs.square, a=a, out=a), 100, 20),
        "parallel_for, 3 views and a scalar": micro
        * least(
            lambda: pk.parallel_for(policy, programs.subtract_scaled, a=a, b=b, out=out, scale=2.0),
            100,
            20,
        ),
        "parallel_for, a functor's method": micro
        * least(lambda: pk.parallel_for(policy, functor.scaled), 100, 20),
        "parallel_reduce and its value": micro
        * least(lambda: float(pk.parallel_reduce(policy, programs.total, a=b)), 100, 20),
        "5 kernels and a value, N = 10": micro * least(chain.run, 50, 20),
        "5 kernels, N = 2^22, ms": milli * least(large.run, 1, 20),
        "first call, ms": milli * first_call(),
    }
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
