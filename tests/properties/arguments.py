"""Random arguments by the names of parameters, mostly right ones.

`axis` is drawn for the first operand's rank, `out` and `where` for its shape, and so on; a wrong
one is drawn of values that belong elsewhere.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.properties.operands import DTYPES, FEW, LAYOUTS, SHAPES, Full, Number, Operand

Chance = random.Random


def operand(chance: Chance, shape: tuple[int, ...] | None = None, **fixed: Any) -> Operand:
    """Any array."""
    if shape is None:
        shape = SHAPES[chance.randrange(FEW if chance.random() < 0.97 else len(SHAPES))]
    plainly = chance.random() < 0.6
    given: dict[str, Any] = {
        "dtype": chance.choice(DTYPES), "shape": shape, "seed": chance.randrange(1 << 16),
        "tame": chance.random() < 0.7,
        "layout": "whole" if plainly else chance.choice(sorted(LAYOUTS)),
        "swapped": chance.random() < 0.03, "foreign": chance.random() < 0.08,
    }  # fmt: skip
    return Operand(**(given | fixed))


def number(chance: Chance) -> Any:
    """Any number: Python's, NumPy's, one that a reduction gave."""
    value = chance.choice((0, 1, 2, 3, -1, -2, 7, 100, 200, 300, 0.5, -0.0, 2.0, -1.5))
    pick = chance.random()
    if pick < 0.5:
        return chance.choice(
            (value, value, float(value), True, False, 1j, float("nan"), float("inf"), 70_000, 2**64)
        )
    if pick < 0.75:
        dtype = chance.choice(DTYPES)
        return Number(dtype, value if dtype[0] not in "ui?" else abs(int(value)) % 100)
    if pick < 0.9:
        dtype = chance.choice(DTYPES)
        return Full(dtype, value if dtype[0] not in "ui?" else abs(int(value)) % 100)
    return operand(chance, ())


def broadcastable(chance: Chance, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that fits another one, mostly."""
    pick = chance.random()
    if pick < 0.6:
        return shape
    if pick < 0.75:
        return tuple(1 if chance.random() < 0.5 else n for n in shape)
    if pick < 0.85:
        return shape[1:]
    return chance.choice(SHAPES[:FEW])


def second(chance: Chance, first: Any) -> Any:
    """Something that may stand beside an operand."""
    if chance.random() < 0.35 or not isinstance(first, Operand):
        return number(chance) if chance.random() < 0.9 else [1, 2, 3]
    return operand(chance, broadcastable(chance, shape_of(first)))


def shape_of(recipe: Operand) -> tuple[int, ...]:
    if recipe.layout == "turned":
        return recipe.shape[::-1]
    if recipe.layout == "steps" and recipe.shape:
        return ((recipe.shape[0] + 1) // 2, *recipe.shape[1:])
    return recipe.shape


WRONGS: tuple[Any, ...] = (
    "x", None, -7, 99, (0, 0), (5,), 1.5, object, [], (1, 2, 3, 4), "f8", {}, b"1", 2**70,
    float("nan"), True, "abc", (0.5,), ["a"], 1000,
)  # fmt: skip
Domain = Callable[[Chance, Operand], Any]


def _axis(chance: Chance, first: Operand) -> Any:
    rank = len(shape_of(first))
    pick = chance.random()
    if pick < 0.25:
        return None
    if pick < 0.75 and rank:
        return chance.randrange(-rank, rank)
    if pick < 0.9:
        return tuple(chance.sample(range(rank), chance.randrange(rank + 1)))
    return chance.choice((0, -1, 1, rank, np.int64(0)))


def _mask(chance: Chance, first: Operand) -> Any:
    if chance.random() < 0.2:
        return chance.choice((True, False))
    dtype = "?" if chance.random() < 0.8 else chance.choice(("i4", "f8"))
    return operand(chance, broadcastable(chance, shape_of(first)), dtype=dtype)


def _out(chance: Chance, first: Operand) -> Any:
    shape = shape_of(first)
    pick = chance.random()
    if pick < 0.1:
        return None
    if shape and pick < 0.3:
        drop = chance.randrange(len(shape))
        shape = shape[:drop] + shape[drop + 1 :]
    elif pick < 0.4:
        shape = ()
    elif pick < 0.5:
        shape = chance.choice(SHAPES[:FEW])
    made = operand(chance, shape, layout="whole" if chance.random() < 0.8 else "reversed")
    return (made,) if chance.random() < 0.15 else made


def _shapes(chance: Chance, first: Operand) -> Any:
    return chance.choice(
        (
            chance.choice(SHAPES[:FEW]),
            -1,
            (-1,),
            (2, -1),
            3,
            (),
            shape_of(first),
            (3, 2),
            (1, -1, 1),
        )
    )


def _one_of(*values: Any) -> Domain:
    return lambda chance, first: chance.choice(values)


def _like(chance: Chance, first: Operand) -> Any:
    return second(chance, first)


def _indices(chance: Chance, first: Operand) -> Any:
    extent = max(shape_of(first), default=1)
    if chance.random() < 0.2:
        return chance.choice((0, -1, 1, extent, np.int64(0), [0, 0], [0, -1], [], [True], [0.5]))
    shape = chance.choice(((2,), (3,), (1, 2), (0,), (), (2, 2)))
    return operand(chance, shape, dtype=chance.choice(("i8", "i4", "u1", "i8", "f8", "?")))


def _arrays(chance: Chance, first: Operand) -> Any:
    count = chance.choice((1, 2, 2, 3, 0))
    parts = [operand(chance, broadcastable(chance, shape_of(first))) for _ in range(count)]
    return chance.choice((list, tuple))([*parts, first][: max(count, 1)])


def _numbers(chance: Chance, first: Operand) -> Any:
    return number(chance)


DTYPE = _one_of(
    None, "f8", "f4", "i8", "i4", "u1", "u4", "?", "c16", "c8", "f2", float, int, bool, complex,
    np.float32, np.int16, ">f8", ">i4", "U3", object, "M8[s]", "V4",
)  # fmt: skip
BOOLEAN = _one_of(True, False)
SMALL = _one_of(0, 1, 2, 3, -1, 5)
DOMAINS: dict[str, Domain] = {
    "axis": _axis, "axes": _axis, "axisa": _axis, "axisb": _axis, "axisc": _axis,
    "axis1": SMALL, "axis2": SMALL, "source": _axis, "destination": _axis, "dtype": DTYPE,
    "out": _out, "keepdims": BOOLEAN, "where": _mask, "initial": _numbers, "ddof": SMALL,
    "correction": SMALL, "order": _one_of("C", "F", "A", "K", "C"), "casting": _one_of(
        "no", "equiv", "safe", "same_kind", "unsafe"), "subok": BOOLEAN, "copy": _one_of(
        True, False, None), "k": SMALL, "n": SMALL, "N": SMALL, "M": SMALL, "decimals": _one_of(
        0, 1, 2, -1, 3), "shape": _shapes, "newshape": _shapes, "new_shape": _shapes,
    "shift": _one_of(0, 1, -2, 5, (1, 2)), "repeats": _one_of(0, 1, 2, [1, 2], [1, 0, 2]),
    "reps": _one_of(1, 2, (2, 1), (1, 2, 2), ()), "indices_or_sections": _one_of(
        1, 2, 3, [1], [1, 2], [0, 5]), "indices": _indices, "mode": _one_of(
        "raise", "wrap", "clip", "constant", "edge", "reflect", "full", "same", "valid",
        "reduced", "complete"), "kind": _one_of(None, "stable", "quicksort", "heapsort"),
    "kth": SMALL, "side": _one_of("left", "right"), "q": _one_of(
        0, 50, 0.5, [0.25, 0.5], 1, 100), "method": _one_of("linear", "lower", "nearest"),
    "weights": _like, "mean": _like, "values": _like, "v": _like, "b": _like, "y": _like,
    "x2": _like, "a2": _like, "ar2": _like, "test_elements": _like, "xp": _like, "fp": _like,
    "a_min": _numbers, "a_max": _numbers, "min": _numbers, "max": _numbers, "fill_value": _numbers,
    "prepend": _like, "append": _like, "to_end": _numbers, "to_begin": _numbers,
    "nan": _numbers, "posinf": _numbers, "neginf": _numbers, "condition": _mask, "obj": _indices,
    "arrays": _arrays, "tup": _arrays, "arys": _arrays, "pad_width": _one_of(
        0, 1, 2, (1, 2), ((0, 1), (2, 0))), "bins": _one_of(3, 5, [0, 1, 2], "auto"),
    "range": _one_of(None, (0, 4), (2, 1)), "density": BOOLEAN, "start": _numbers,
    "stop": _numbers, "step": _numbers, "num": SMALL, "endpoint": BOOLEAN, "retstep": BOOLEAN,
    "base": _one_of(2.0, 10.0), "deg": _one_of(0, 1, 2), "invert": BOOLEAN,
    "assume_unique": BOOLEAN, "return_index": BOOLEAN, "return_inverse": BOOLEAN,
    "return_counts": BOOLEAN, "return_indices": BOOLEAN, "sorted": BOOLEAN, "rtol": _one_of(
        1e-5, 0.1, 0), "atol": _one_of(1e-8, 0.1, 0), "equal_nan": BOOLEAN, "stable": _one_of(
        None, True, False), "rowvar": BOOLEAN, "bias": BOOLEAN, "include_initial": BOOLEAN,
    "like": _one_of(None), "device": _one_of(None, "cpu"),
    "a_": _like, "period": _one_of(None, 3.0), "left": _numbers, "right": _one_of(True, False),
    "sparse": BOOLEAN, "indexing": _one_of("ij", "xy"), "discont": _one_of(None, 1.0),
    "increasing": BOOLEAN, "dx": _one_of(1.0, 0.5, 2), "edge_order": _one_of(1, 2), "minlength":
    SMALL, "offset": _one_of(0, 1, -1, 5), "arr": _like, "element": _like, "x": _like,
    "sorter": _one_of(None), "window_shape": _one_of(2, (1,)), "ndmin": SMALL, "beta": _numbers,
    "condlist": _arrays, "choicelist": _arrays, "default": _numbers, "choices": _arrays,
    "mask": _mask, "vals": _like, "p": _like, "full": BOOLEAN, "cov": BOOLEAN, "u": _like,
    "unique": BOOLEAN, "sample": _like, "ord": _one_of(None, 1, 2, np.inf, -np.inf, "fro", 0),
    "norm": _one_of(None, "ortho", "forward", "backward"), "s": _one_of(None, (2,), (2, 3)),
    "upper": BOOLEAN, "full_matrices": BOOLEAN, "compute_uv": BOOLEAN, "hermitian": BOOLEAN,
    "xi": _like, "returned": BOOLEAN, "dimensions": _shapes, "dims": _shapes, "start_or_stop":
    _numbers, "ary": _like, "f": _like, "varargs": _numbers, "signature": _one_of(None),
    "arg1": _like, "arg2": _like, "X": _like, "filt": _like, "stacklevel": SMALL,
}  # fmt: skip
FIRST = "shape dimensions N M n start stop arrays tup start_or_stop"
REQUIRED_FIRST = frozenset(FIRST.split())


def draw(chance: Chance, name: str, first: Operand, wrong: float) -> Any:
    if chance.random() < wrong:
        return chance.choice(WRONGS)
    return DOMAINS[name](chance, first)
