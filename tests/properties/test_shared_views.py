"""What gives a view of a NumPy array, or of one of ours, shares its memory where NumPy's does, and
copies where NumPy copies: writes on either side are seen, or not seen, on the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.evaluators import installed
from tests.properties.operands import attempt, classes

import fusewright as fw
import fusewright.numpy as fnp

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "array_split": lambda np, x: np.array_split(x, 2),
    "asanyarray": lambda np, x: np.asanyarray(x),
    "asarray": lambda np, x: np.asarray(x),
    "asarray of a type": lambda np, x: np.asarray(x, dtype=x.dtype),
    "asarray of another": lambda np, x: np.asarray(x, dtype="c8"),
    "ascontiguousarray": lambda np, x: np.ascontiguousarray(x),
    "asfortranarray": lambda np, x: np.asfortranarray(x),
    "array": lambda np, x: np.array(x),
    "atleast_1d": lambda np, x: np.atleast_1d(x),
    "atleast_2d": lambda np, x: np.atleast_2d(x),
    "atleast_3d": lambda np, x: np.atleast_3d(x),
    "broadcast_arrays": lambda np, x: np.broadcast_arrays(x, x[:1])[0],
    "broadcast_to": lambda np, x: np.broadcast_to(x, (2, *x.shape)),
    "copy": lambda np, x: np.copy(x),
    "diag": lambda np, x: np.diag(x),
    "diagonal": lambda np, x: np.diagonal(x),
    "dsplit": lambda np, x: np.dsplit(x[None], 2),
    "expand_dims": lambda np, x: np.expand_dims(x, 1),
    "flip": lambda np, x: np.flip(x),
    "flip of one": lambda np, x: np.flip(x, 0),
    "fliplr": lambda np, x: np.fliplr(x),
    "flipud": lambda np, x: np.flipud(x),
    "hsplit": lambda np, x: np.hsplit(x, 2),
    "imag": lambda np, x: np.imag(x),
    "matrix_transpose": lambda np, x: np.matrix_transpose(x),
    "moveaxis": lambda np, x: np.moveaxis(x, 0, -1),
    "permute_dims": lambda np, x: np.permute_dims(x, (1, 0)),
    "ravel": lambda np, x: np.ravel(x),
    "ravel in order": lambda np, x: np.ravel(x, "F"),
    "real": lambda np, x: np.real(x),
    "reshape": lambda np, x: np.reshape(x, -1),
    "reshape of one": lambda np, x: np.reshape(x, (2, -1)),
    "rollaxis": lambda np, x: np.rollaxis(x, 1),
    "rot90": lambda np, x: np.rot90(x),
    "rot90 of none": lambda np, x: np.rot90(x, 0),
    "sliding_window_view": lambda np, x: np.lib.stride_tricks.sliding_window_view(x, 2, axis=0),
    "split": lambda np, x: np.split(x, 2),
    "squeeze": lambda np, x: np.squeeze(x),
    "swapaxes": lambda np, x: np.swapaxes(x, 0, 1),
    "transpose": lambda np, x: np.transpose(x),
    "unstack": lambda np, x: np.unstack(x),
    "vsplit": lambda np, x: np.vsplit(x, 2),
    "nan_to_num": lambda np, x: np.nan_to_num(x),
    "roll of none": lambda np, x: np.roll(x, 0),
    "tile of one": lambda np, x: np.tile(x, 1),
    "repeat of one": lambda np, x: np.repeat(x, 1, axis=0),
    "concatenate of one": lambda np, x: np.concatenate((x,)),
    "clip": lambda np, x: np.clip(x, -99, 99),
    "sum of none": lambda np, x: np.sum(x, axis=()),
    "max of none": lambda np, x: np.max(x, axis=()),
    "positive": lambda np, x: np.positive(x),
}
"""Functions that give views, and some that give what their operand holds and must not."""
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "C": lambda x: x,
    "F": lambda x: x.T.copy().T,
    "transposed": lambda x: x.T,
    "steps": lambda x: x[::2, 1:],
    "reversed": lambda x: x[::-1, ::-1],
    "broadcast": lambda x: np.broadcast_to(x[:1], x.shape),
    "one row": lambda x: x[:1],
}
SHAPES = ((4, 6), (40, 30))


def base_of(shape: tuple[int, ...], layout: str, dtype: str, locked: bool) -> Any:
    values = np.arange(float(np.prod(shape))).reshape(shape).astype(dtype)
    array = LAYOUTS[layout](values)
    array.flags.writeable = array.flags.writeable and not locked
    return array


def first_of(value: Any) -> Any:
    return value[0] if isinstance(value, list | tuple) else value


def story(module: Any, array: Any, name: str) -> list[Any]:
    """What happens when a function's result, and then its operand, is written."""
    view, error = attempt(lambda: first_of(FUNCTIONS[name](module, array)))
    if error is not None:
        return [classes(error)]
    told: list[Any] = [np.array(view)]
    for target in (view, array):
        _, error = attempt(lambda target=target: target.__setitem__(..., target[...] * 0 + 7))
        told += [error is None, np.array(view), np.array(array)]
    return told


@pytest.fixture(autouse=True, scope="module")
def evaluator() -> Iterator[None]:
    """What users have."""
    with installed("interpreted"):
        yield


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("small", [0, 512])
def test_views_are_views_where_numpys_are(name: str, small: int) -> None:
    for base in ("plain", "ours"):
        for shape in SHAPES:
            for layout in LAYOUTS:
                for dtype in ("f8", "i4", "c16"):
                    for locked in (False, True):
                        made = [base_of(shape, layout, dtype, locked) for _ in range(3)]
                        wanted = story(np, made[0], name)
                        with fw.options(small=small):
                            array = fw.asarray(made[1], copy=False) if base == "ours" else made[1]
                            found = story(fnp, array, name)
                        case = f"{base} {shape} {layout} {dtype} locked={locked}"
                        assert len(found) == len(wanted), case
                        for got, want in zip(found, wanted, strict=True):
                            assert np.array_equal(got, want), case
