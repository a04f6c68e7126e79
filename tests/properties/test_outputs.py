"""Ufuncs write into arrays of any class as NumPy does, through every door, and a mask without an
output takes part in the shape of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.properties.operands import attempt, classes

import fusewright as fw
import fusewright.numpy as fnp

SIZE = 700


class Plain(np.ndarray):  # type: ignore[type-arg]
    """A class without methods of its own."""


OUTPUTS: dict[str, Callable[[], Any]] = {
    "masked": lambda: np.ma.array(np.zeros(SIZE), mask=np.arange(SIZE) % 3 == 0),
    "subclass": lambda: np.zeros(SIZE).view(Plain),
    "matrix": lambda: np.zeros((1, SIZE)).view(np.matrix),
    "numpy's": lambda: np.zeros(SIZE),
    "swapped": lambda: np.zeros(SIZE, ">f8"),
    "float32": lambda: np.zeros(SIZE, "f4"),
    "every other": lambda: np.zeros(2 * SIZE)[::2],
    "wide": lambda: np.zeros(SIZE, "g"),
    "objects": lambda: np.zeros(SIZE, "O"),
}
CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda np, x, out: np.add(x, 1, out=out),
    "by place": lambda np, x, out: np.add(x, 1, out),
    "sqrt": lambda np, x, out: np.sqrt(x, out=out),
    "negative": lambda np, x, out: np.negative(x, out=(out,)),
    "where": lambda np, x, out: np.add(x, 1, out=out, where=x > 3),
    "isnan": lambda np, x, out: np.isnan(x, out=out),
    "clip": lambda np, x, out: np.clip(x, 1, 3, out=out),
    "cumsum": lambda np, x, out: np.cumsum(x, out=out),
    "round": lambda np, x, out: np.round(x, 1, out=out),
    "copyto": lambda np, x, out: np.copyto(out, x),
}


def seen(value: Any) -> Any:
    if isinstance(value, np.ma.MaskedArray):
        return type(value), value.data.tolist(), np.ma.getmaskarray(value).tolist()
    return type(value), np.asarray(value).tolist()


@pytest.mark.parametrize("door", [fnp, np])
@pytest.mark.parametrize("name", CALLS)
def test_outputs_of_every_class_are_numpys(name: str, door: Any) -> None:
    numbers = np.arange(float(SIZE))
    for kind, maker in OUTPUTS.items():
        wanted, found = maker(), maker()
        _, refused = attempt(lambda wanted=wanted: CALLS[name](np, numbers, wanted))
        ours = fw.asarray(numbers)
        _, error = attempt(lambda ours=ours, found=found: CALLS[name](door, ours, found))
        assert classes(error) == classes(refused), kind
        assert seen(found) == seen(wanted), kind


@pytest.mark.parametrize("door", [fnp, np])
@pytest.mark.parametrize("shape", [(2, SIZE), (2, 1), (1, SIZE), (SIZE,), (1,), (2, 3), (SIZE, 2)])
def test_masks_take_part_in_shapes(shape: tuple[int, ...], door: Any) -> None:
    numbers, mask = np.arange(float(SIZE)), np.ones(shape, bool)
    for call in (
        lambda np, x, m: np.add(x, 1, where=m),
        lambda np, x, m: np.sqrt(x, where=m),
        lambda np, x, m: np.isnan(x, where=m),
        lambda np, x, m: np.add(x, 1, where=m.tolist(), out=None),
        lambda np, x, m: np.divmod(x, 2, where=m)[1],
    ):
        want, refused = attempt(lambda call=call: call(np, numbers, mask))
        got, error = attempt(lambda call=call: call(door, fw.asarray(numbers), mask))
        assert classes(error) == classes(refused)
        assert refused or np.array_equal(np.asarray(got), want)
