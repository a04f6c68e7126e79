"""A turned array that was stored by itself, before what it is a part of, lies as NumPy's does when
NumPy reads it.
"""

from __future__ import annotations

from typing import Any

import numpy
from tests.evaluators import begin, installed

import fusewright.numpy as ours


def numbers(np: Any, seed: int) -> Any:
    return ((np.arange(720) * 7919 + seed) % 23 - 9).reshape(8, 9, 10).astype("f8")


def steps(np: Any) -> list[Any]:
    other, turned = numbers(np, 3), np.asfortranarray(numbers(np, 4))
    written = np.repeat(numbers(np, 5), 2, axis=0)[::2]
    other = other + np.select([written > 2, written < 0], [written, 2.0], 1j)
    bits = turned.view("i8")
    written[0] = 200
    swapped = turned.astype(">f8")
    objects = turned.astype("O")
    return [
        turned.strides, swapped.strides, objects.strides, turned.tobytes("A"), bits.strides,
        turned.tobytes("C"), complex(other.sum()),
    ]  # fmt: skip


def test_it_lies_as_numpys() -> None:
    with installed("interpreted"):
        begin()
        assert steps(ours) == steps(numpy)
