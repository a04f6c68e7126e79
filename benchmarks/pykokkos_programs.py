"""The programs that `pykokkos.py` runs on the bridge and `pykokkos_peer.py` on PyKokkos itself:
each has given the name `pykokkos` its meaning before.
"""

from __future__ import annotations

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


class Chain:
    """The five kernels on views; the temporaries live on."""

    def __init__(self, n: int) -> None:
        rng = np.random.default_rng(0)
        self.host = rng.random(n), rng.random(n)
        self.policy = pk.RangePolicy(pk.OpenMP, 0, n)
        self.a, self.b, self.out, *self.kept = (pk.View([n], pk.double) for _ in range(7))
        self.a[:], self.b[:] = self.host

    def launch(self) -> None:
        policy, a, b, (t1, t2, t3, t4) = self.policy, self.a, self.b, self.kept
        pk.parallel_for(policy, add, a=a, b=b, out=t1)
        pk.parallel_for(policy, multiply, a=t1, b=a, out=t2)
        pk.parallel_for(policy, subtract_scaled, a=t2, b=b, out=t3, scale=3.0)
        pk.parallel_for(policy, square, a=t3, out=t4)
        pk.parallel_for(policy, divide, a=t4, b=a, out=self.out)
