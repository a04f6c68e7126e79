"""Refused programs: each error has NumPy's type and is raised at the line that made it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import fusewright.frontends.arrays as fa
from fusewright.base import errors
from fusewright.frontends.arrays import shaping


def table() -> Any:
    return fa.asarray(np.arange(12.0).reshape(3, 4))


def integers() -> Any:
    return fa.asarray(np.arange(4))


def assign(array: Any, key: Any, value: Any) -> None:
    array[key] = value


def add_in_place(array: Any, value: Any) -> None:
    array += value


@dataclass(frozen=True)
class Refused:
    """A program, our error, the type of NumPy's that it also is, and words of the message."""

    name: str
    program: Callable[[], Any]
    error: type[Exception]
    numpy_type: type[Exception]
    words: tuple[str, ...]


PROGRAMS = [
    Refused(
        "shapes",
        lambda: table() + table()[:2],
        errors.ShapeError,
        ValueError,
        ("could not be broadcast", "(3, 4) and (2, 4)", "   3  4\n   2  4\n   ^", "help:"),
    ),
    Refused(
        "three shapes",
        lambda: np.add(table(), np.ones(5)),
        errors.ShapeError,
        ValueError,
        ("(3, 4) and (5,)",),
    ),
    Refused(
        "in-place shape",
        lambda: add_in_place(integers(), np.ones((2, 4), int)),
        errors.ShapeError,
        ValueError,
        ("non-broadcastable output", "(4,)", "(2, 4)"),
    ),
    Refused(
        "assigned shape",
        lambda: assign(table(), slice(0, 2), np.ones(3)),
        errors.ShapeError,
        ValueError,
        ("from shape (3,) into shape (2, 4)",),
    ),
    Refused(
        "masked shape",
        lambda: assign(integers(), np.array([True, False, True, True]), [1, 2]),
        errors.ShapeError,
        ValueError,
        ("(2,) into shape (3,)",),
    ),
    Refused(
        "element of array",
        lambda: assign(table(), (0, 0), np.ones(2)),
        errors.ShapeError,
        ValueError,
        ("setting an array element with a sequence",),
    ),
    Refused(
        "reshape",
        lambda: table().reshape(5, -1),
        errors.ShapeError,
        ValueError,
        ("cannot reshape array of size 12 into shape (5, -1)", "(3, 4)"),
    ),
    Refused("matmul", lambda: table() @ table(), errors.ShapeError, ValueError, ("4 != 3",)),
    Refused(
        "negative extent",
        lambda: fa.zeros((2, -1)),
        errors.ShapeError,
        ValueError,
        ("negative dimensions",),
    ),
    Refused(
        "too big", lambda: fa.zeros((1 << 40, 1 << 40)), errors.ShapeError, ValueError, ("too big",)
    ),
    Refused(
        "empty minimum",
        lambda: fa.zeros(0).min(),
        errors.ShapeError,
        ValueError,
        ("zero-size array", "initial="),
    ),
    Refused(
        "empty argmax",
        lambda: fa.zeros(0).argmax(),
        errors.ShapeError,
        ValueError,
        ("attempt to get argmax of an empty sequence",),
    ),
    Refused(
        "squeeze", lambda: table().squeeze(0), errors.ShapeError, ValueError, ("not equal to one",)
    ),
    Refused(
        "broadcast_to",
        lambda: shaping.broadcast_to(table(), (3, 5)),
        errors.ShapeError,
        ValueError,
        ("(3, 4) and (3, 5)",),
    ),
    Refused(
        "in-place cast",
        lambda: add_in_place(integers(), 0.5),
        errors.DTypeError,
        TypeError,
        ("cannot store float64 values in an array of int64", "same_kind", "astype"),
    ),
    Refused(
        "no loop",
        lambda: ~table(),
        errors.DTypeError,
        TypeError,
        ("invert is not defined for float64",),
    ),
    Refused(
        "bool minus",
        lambda: (table() > 1) - (table() > 2),
        errors.DTypeError,
        TypeError,
        ("subtract is not defined for bool, bool",),
    ),
    Refused(
        "unknown dtype",
        lambda: fa.zeros(2, "nonsense"),
        errors.DTypeError,
        TypeError,
        ("nonsense",),
    ),
    Refused(
        "unsupported dtype",
        lambda: fa.zeros(2, "S3"),
        errors.UnsupportedError,
        TypeError,
        ("|S3", "float64"),
    ),
    Refused(
        "casting rule",
        lambda: table().astype(int, casting="safe"),
        errors.DTypeError,
        TypeError,
        ("'safe'",),
    ),
    Refused(
        "axis",
        lambda: table().sum(2),
        errors.AxisError,
        np.exceptions.AxisError,
        ("axis 2 is out of bounds for array of dimension 2", "-2 to 1"),
    ),
    Refused(
        "axis twice",
        lambda: table().sum((0, 0)),
        errors.ValueRangeError,
        ValueError,
        ("duplicate value in 'axis'",),
    ),
    Refused(
        "axis type",
        lambda: table().sum("x"),
        errors.ArgumentError,
        TypeError,
        ("an axis must be an integer, not str",),
    ),
    Refused(
        "permutation",
        lambda: table().transpose(0, 0),
        errors.ValueRangeError,
        ValueError,
        ("axes don't match",),
    ),
    Refused(
        "index",
        lambda: table()[1, 4],
        errors.BoundsError,
        IndexError,
        ("index 4 is out of bounds for axis 1 with size 4", "-4 to 3"),
    ),
    Refused(
        "index array",
        lambda: integers()[[0, -5]],
        errors.BoundsError,
        IndexError,
        ("index -5 is out of bounds for axis 0 with size 4",),
    ),
    Refused(
        "written index array",
        lambda: assign(integers(), [9], 1),
        errors.BoundsError,
        IndexError,
        ("index 9",),
    ),
    Refused(
        "too many indices",
        lambda: table()[0, 0, 0],
        errors.BoundsError,
        IndexError,
        ("too many indices", "2-dimensional, but 3"),
    ),
    Refused(
        "float index",
        lambda: table()[1.0],
        errors.BoundsError,
        IndexError,
        ("only integers, slices", "1.0"),
    ),
    Refused(
        "float index array",
        lambda: table()[np.array([1.0])],
        errors.BoundsError,
        IndexError,
        ("must be of integer (or boolean) type",),
    ),
    Refused(
        "two ellipses",
        lambda: table()[..., ...],
        errors.BoundsError,
        IndexError,
        ("single ellipsis",),
    ),
    Refused(
        "mask shape",
        lambda: table()[np.array([True, False])],
        errors.BoundsError,
        IndexError,
        ("boolean index did not match", "axis 0", "is 3", "is 2"),
    ),
    Refused(
        "slice step",
        lambda: table()[::0],
        errors.ValueRangeError,
        ValueError,
        ("slice step cannot be zero",),
    ),
    Refused(
        "broadcast is read-only",
        lambda: assign(shaping.broadcast_to(integers(), (2, 4)), 0, 1),
        errors.ReadOnlyError,
        ValueError,
        ("read-only", "copy()"),
    ),
    Refused(
        "diagonal is read-only",
        lambda: assign(table().diagonal(), 0, 1),
        errors.ReadOnlyError,
        ValueError,
        ("read-only",),
    ),
    Refused(
        "scalar assignment",
        lambda: assign(table().sum(), (), 1),
        errors.DTypeError,
        TypeError,
        ("does not support item assignment",),
    ),
    Refused(
        "overflow",
        lambda: fa.zeros(2, "uint8") + 256,
        errors.OverflowIntError,
        OverflowError,
        ("256 out of bounds for uint8", "0 to 255"),
    ),
    Refused(
        "stored overflow",
        lambda: assign(fa.zeros(2, "int8"), 0, 128),
        errors.OverflowIntError,
        OverflowError,
        ("128 out of bounds for int8",),
    ),
    Refused(
        "truth",
        lambda: bool(table() > 1),
        errors.ValueRangeError,
        ValueError,
        ("ambiguous", "x.any()"),
    ),
    Refused(
        "float", lambda: float(table()), errors.ArgumentError, TypeError, ("only 0-dimensional",)
    ),
    Refused(
        "integer power",
        lambda: integers() ** -1,
        errors.ValueRangeError,
        ValueError,
        ("negative integer powers",),
    ),
    Refused("len", lambda: len(fa.asarray(1.0)), errors.DTypeError, TypeError, ("unsized",)),
    Refused(
        "arange step",
        lambda: fa.arange(0, 1, 0),
        errors.DivisionError,
        ZeroDivisionError,
        ("step other than 0",),
    ),
    Refused(
        "share with cast",
        lambda: fa.asarray(np.ones(2), "f4", copy=False),
        errors.ValueRangeError,
        ValueError,
        ("unable to share",),
    ),
]


@pytest.mark.parametrize("refused", PROGRAMS, ids=lambda refused: refused.name)
def test_refused(refused: Refused) -> None:
    with pytest.raises(refused.error) as caught:
        refused.program()
    error = caught.value
    assert isinstance(error, refused.numpy_type)
    assert isinstance(error, errors.FusewrightError)
    message = str(error)
    for words in refused.words:
        assert words in message
    assert error.where is not None
    assert error.where[0] == __file__
