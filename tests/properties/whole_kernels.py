"""Random kernels of all makers against CPython, and sequences of their calls with lazy arrays."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

from tests.evaluators import installed
from tests.kernel_runs import is_refused, loaded, same_as_cpython, short_strips
from tests.properties import (
    lazy_kernels,
    random_complex,
    random_kernels,
    random_loops,
    random_scratch,
)

MAKERS: tuple[tuple[Any, int], ...] = (
    (random_kernels, 14), (random_complex, 9), (random_loops, 6), (random_scratch, 6),
)  # fmt: skip
SETTINGS: tuple[dict[str, object], ...] = ({}, {"fuse": False}, {"target": "reference"})


def kernel_difference(seed: int) -> str:
    """A kernel or a sequence of calls that differs, as text."""
    chance = random.Random(seed)
    with installed("driver"):
        which = chance.randrange(len(MAKERS) + 1)
        if which == len(MAKERS):
            return _sequence(chance)
        return _kernel(*MAKERS[which], chance, seed)


def _sequence(chance: random.Random) -> str:
    steps = lazy_kernels.program(chance.randint, chance.choice((12, 12, 60)))
    wanted = lazy_kernels.run(steps, "plain", {})
    for options in SETTINGS:
        if lazy_kernels.run(steps, "lazy", options) != wanted:
            return f"a sequence of {len(steps)} calls under {options}"
    return "" if lazy_kernels.run(steps, "blocks", {}) == wanted else "a sequence in lazy blocks"


def _kernel(maker: Any, most: int, chance: random.Random, seed: int) -> str:
    text = maker.Writer(chance.randint, chance.randrange(2, most + 1)).source()
    with tempfile.TemporaryDirectory() as folder:
        kernel = loaded(text, Path(folder) / f"random_{seed}.py")
        values = maker.arguments(seed % 2**32)
        if is_refused(kernel, values):
            return ""
        try:
            with short_strips():
                same_as_cpython(kernel, *values)
        except Exception as error:  # noqa: BLE001
            return f"{type(error).__name__}: {error}\n{text}"
    return ""
