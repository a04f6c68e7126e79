"""Random pools: numbers that depend on the pool's seed, the launch and the index alone, so that
they are the same on any number of threads.
"""

from __future__ import annotations

import random as _random
from typing import Any


class RandomPool:
    """A source of random numbers for work units: `pk.rand(pk.double)` draws from it."""

    def __init__(self, seed: int, num_states: int = 0) -> None:
        self.seed, self.num_states = seed, num_states
        self.launches = 0

    def next_launch(self) -> int:
        """A number of its own for each kernel that draws from the pool."""
        self.launches += 1
        return self.launches


class Random_XorShift64_Pool(RandomPool):
    """PyKokkos' name for a pool; the numbers are this package's own."""


class Random_XorShift1024_Pool(RandomPool):
    """See `Random_XorShift64_Pool`."""


def rand(dtype: Any = float) -> Any:
    """In plain Python: a number in [0, 1), or any of an integer type."""
    name = getattr(dtype, "__name__", str(dtype))
    if name.startswith(("int", "uint")):
        bits = int("".join(filter(str.isdigit, name)) or 32)
        return _random.getrandbits(bits - (name[0] == "i"))
    return _random.random()
