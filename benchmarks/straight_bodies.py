"""Does it matter in which order a straight body is written, or whether the stack is aligned?

    python benchmarks/straight_bodies.py

A loop in vectors computes 20 to 90 values: each right before its one use, or all before the first
use; then each used twice, far apart, with a stack aligned to whole vectors or not.  Printed: the
best of 60 times, in microseconds for 4000 float64 (decision 0046).
"""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import fusewright as fw
from fusewright import driver
from fusewright.codegen import statements

ELEMENTS, TRIES, CALLS = 4000, 60, 10


def near(count: int) -> Iterator[str]:
    """Each value where it is used."""
    yield "s = 0.0"
    yield from (f"s = s * 0.5 + a[i + {k}] * {1 + k / 7} * (a[i + {k}] + {k}.0)"
                for k in range(count))  # fmt: skip
    yield "b[i] = s"


def early(count: int) -> Iterator[str]:
    """All values before the first is used."""
    yield from (f"t{k} = a[i + {k}] * {1 + k / 7} * (a[i + {k}] + {k}.0)" for k in range(count))
    yield "s = 0.0"
    yield from (f"s = s * 0.5 + t{k}" for k in range(count))
    yield "b[i] = s"


def twice(count: int) -> Iterator[str]:
    """Each value used twice, in two orders: all are live in between."""
    yield from (f"t{k} = a[i + {k}] * {1 + k / 7}" for k in range(count))
    yield "s = 0.0"
    yield from (f"s = s * 0.5 + t{k}" for k in range(count))
    yield "r = s"
    yield from (f"r = r * t{k * 7 % count} + s" for k in range(count))
    yield "b[i] = r"


def made(body: Callable[[int], Iterator[str]], count: int, folder: Path) -> Any:
    """A kernel with such a body, compiled."""
    path = folder / f"straight_{body.__name__}_{count}.py"
    lines = "".join(f"        {line}\n" for line in body(count))
    loop = f"    for i in range(a.shape[0] - {count}):\n"
    path.write_text(f"import fusewright as fw\n\n\n@fw.kernel\ndef kernel(a, b):\n{loop}{lines}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.kernel(*arrays())
    return module.kernel


def arrays() -> tuple[Any, Any]:
    return np.linspace(0.1, 0.2, ELEMENTS), np.zeros(ELEMENTS)


def compared(kernels: dict[str, Any]) -> str:
    """The best times of kernels that take turns."""
    best = dict.fromkeys(kernels, 1.0)
    given = arrays()
    for _ in range(TRIES):
        for name, kernel in kernels.items():
            start = perf_counter()
            for _ in range(CALLS):
                kernel(*given)
            best[name] = min(best[name], (perf_counter() - start) / CALLS)
    return ", ".join(f"{name} {seconds * 1e6:.1f} us" for name, seconds in best.items())


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for count in (20, 45, 90):
            kernels = {body.__name__: made(body, count, folder) for body in (near, early)}
            print(f"{count} values, used once: {compared(kernels)}")
        for count in (10, 37, 60):
            plain = statements.ATTRIBUTES
            kernels = {"as it is": made(twice, count, folder)}
            statements.ATTRIBUTES = plain.replace("nounwind", "nounwind alignstack=64")
            driver.cache_clear()
            with fw.options(cache_dir=str(folder / f"aligned{count}")):
                kernels["aligned stack"] = made(twice, count, folder)
            statements.ATTRIBUTES = plain
            print(f"{count} values, used twice: {compared(kernels)}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as cache, fw.options(threads=1, cache_dir=cache):
        main()
