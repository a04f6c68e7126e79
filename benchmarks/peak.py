"""The child of `memory.py`: the peak memory of a chain of twenty element-wise operators, in bytes
above the start.

python peak.py fusewright|numpy|numexpr|numba|jax|torch
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import peers

ELEMENTS = 100_000_000
TEXT = (
    "((((((x + y) * 2 - y) / 3 + sqrt(abs(x))) * y - 1) * x + 2) * 0.5 - y)"
    " * (x - y) + exp(-x * x) * y"
)


def chain(np: Any, x: Any, y: Any) -> Any:
    """Twenty operators; each would be an array of its own."""
    z = ((x + y) * 2 - y) / 3 + np.sqrt(np.abs(x))
    z = ((z * y - 1) * x + 2) * 0.5 - y
    return z * (x - y) + np.exp(-x * x) * y


def fusewright(x: Any, y: Any) -> Callable[[], Any]:
    import fusewright as fw
    import fusewright.numpy as fnp

    arrays = fw.asarray(x), fw.asarray(y)
    return lambda: fw.evaluate(chain(fnp, *arrays))


def numpy(x: Any, y: Any) -> Callable[[], Any]:
    return lambda: chain(np, x, y)


def numexpr(x: Any, y: Any) -> Callable[[], Any]:
    library = peers.numexpr()
    return lambda: library.evaluate(TEXT, {"x": x, "y": y})


def numba(x: Any, y: Any) -> Callable[[], Any]:
    @peers.numba().njit(parallel=True)
    def compiled(x: Any, y: Any) -> Any:
        z = ((x + y) * 2 - y) / 3 + np.sqrt(np.abs(x))
        z = ((z * y - 1) * x + 2) * 0.5 - y
        return z * (x - y) + np.exp(-x * x) * y

    return lambda: compiled(x, y)


def jax(x: Any, y: Any) -> Callable[[], Any]:
    return peers.jitted(lambda *values: chain(peers.jax().numpy, *values), x, y)


def torch(x: Any, y: Any) -> Callable[[], Any]:
    return peers.torch_compiled(lambda *values: chain(peers.torch(), *values), x, y)


LIBRARIES = {f.__name__: f for f in (fusewright, numpy, numexpr, numba, jax, torch)}


def resident() -> int:
    """Bytes resident now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def peak() -> int:
    """The most bytes ever resident."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def main() -> None:
    name = sys.argv[1]
    LIBRARIES[name](*(peers.normal((64,), "float64", seed) for seed in range(2)))()
    before = resident()
    x, y = (peers.normal((ELEMENTS,), "float64", seed) for seed in range(2))
    peers.freeze(x, y)
    result = np.asarray(LIBRARIES[name](x, y)())
    most = peak()
    want = chain(np, x[:1000], y[:1000])
    np.testing.assert_allclose(result[:1000], want, rtol=1e-10, atol=1e-10)
    print(json.dumps(most - before))


if __name__ == "__main__":
    main()
