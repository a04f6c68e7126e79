"""What PyKokkos itself takes, printed as JSON: run by an interpreter that has it (see
`pykokkos.py`), from the folder in which it keeps what it has compiled.

The programs are those of `pykokkos.py`; nothing here needs Fusewright.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pykokkos as pk

LARGE, SMALL = 1 << 22, 10


@pk.workunit
def add(i, a, b, out):
    out[i] = a[i] + b[i]


@pk.workunit
def multiply(i, a, b, out):
    out[i] = a[i] * b[i]


@pk.workunit
def subtract_scaled(i, a, b, out, scale):
    out[i] = a[i] - scale * b[i]


@pk.workunit
def square(i, a, out):
    out[i] = a[i] * a[i] + 1.0


@pk.workunit
def divide(i, a, b, out):
    out[i] = a[i] / (b[i] + 2.0)


@pk.workunit
def total(i, acc, a):
    acc += a[i]


@pk.functor
class Scaled:
    def __init__(self, n: int):
        self.a: pk.View1D[pk.double] = pk.View([n], pk.double)
        self.scale: float = 0.5

    @pk.workunit
    def scaled(self, i: int):
        self.a[i] = self.a[i] * self.scale


FRESH = """
import pykokkos as pk

@pk.workunit
def fresh_{number}(i, a, b):
    b[i] = a[i] * {number} + i
"""


class Chain:
    """The five kernels on views."""

    def __init__(self, n: int) -> None:
        rng = np.random.default_rng(0)
        self.policy = pk.RangePolicy(pk.OpenMP, 0, n)
        self.a, self.b, self.out, *self.kept = (pk.View([n], pk.double) for _ in range(7))
        self.a[:], self.b[:] = rng.random(n), rng.random(n)

    def run(self) -> float:
        policy, a, b, (t1, t2, t3, t4) = self.policy, self.a, self.b, self.kept
        pk.parallel_for(policy, add, a=a, b=b, out=t1)
        pk.parallel_for(policy, multiply, a=t1, b=a, out=t2)
        pk.parallel_for(policy, subtract_scaled, a=t2, b=b, out=t3, scale=3.0)
        pk.parallel_for(policy, square, a=t3, out=t4)
        pk.parallel_for(policy, divide, a=t4, b=a, out=self.out)
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
    chain, large, functor = Chain(SMALL), Chain(LARGE), Scaled(SMALL)
    policy, a, b, out = chain.policy, chain.a, chain.b, chain.out
    micro, milli = 1e6, 1e3
    found = {
        "parallel_for, 1 view": micro
        * least(lambda: pk.parallel_for(policy, square, a=a, out=a), 100, 20),
        "parallel_for, 3 views and a scalar": micro
        * least(
            lambda: pk.parallel_for(policy, subtract_scaled, a=a, b=b, out=out, scale=2.0), 100, 20
        ),
        "parallel_for, a functor's method": micro
        * least(lambda: pk.parallel_for(policy, functor.scaled), 100, 20),
        "parallel_reduce and its value": micro
        * least(lambda: float(pk.parallel_reduce(policy, total, a=b)), 100, 20),
        "5 kernels and a value, N = 10": micro * least(chain.run, 50, 20),
        "5 kernels, N = 2^22, ms": milli * least(large.run, 1, 20),
        "first call, ms": milli * first_call(),
    }
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
