"""`view(dtype)`: the bytes of the elements of arrays and views of all kinds, read and written."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp

VIEWS: dict[str, Callable[..., Any]] = {
    "itself": lambda np, x: x,
    "rows": lambda np, x: x[::2],
    "turned rows": lambda np, x: x[::-1],
    "turned": lambda np, x: x[:, ::-1],
    "left columns": lambda np, x: x[:, :4],
    "columns within": lambda np, x: x[:, 1:5],
    "every second column": lambda np, x: x[:, ::2],
    "transposed": lambda np, x: x.T,
    "one row transposed": lambda np, x: x[:1].T,
    "repeated": lambda np, x: np.broadcast_to(x, (2, *x.shape)),
    "repeated columns": lambda np, x: np.broadcast_to(x[:, :1], x.shape),
    "a new dim within": lambda np, x: x[:, None],
    "a new dim at the end": lambda np, x: x[..., None],
    "a row": lambda np, x: x[1],
    "a column": lambda np, x: x[:, 1],
    "swapped": lambda np, x: x.reshape(5, 4, 6).swapaxes(0, 1),
    "no rows": lambda np, x: x[:0],
    "no columns": lambda np, x: x[:, :0],
    "in Fortran's order": lambda np, x: np.asfortranarray(x),
}
TYPES = ("u1", "i2", "f4", "f8", "c16")


def outcome(module: Any, view: Callable[..., Any], x: Any, dtype: str) -> Any:
    """The shape and bytes of a view, and of the array after a write; or the class of the error."""
    found: list[Any] = []
    try:
        seen = view(module, x).view(dtype)
        found += [seen.shape, np.asarray(seen).tobytes(), np.asarray(seen != seen).tobytes()]
        seen[...] = 1
    except Exception as error:  # noqa: BLE001
        found.append(next(k for k in type(error).__mro__ if k.__module__ == "builtins"))
    return [*found, np.asarray(x).tobytes()]


@pytest.mark.parametrize("name", VIEWS)
def test_views_as_other_types(name: str) -> None:
    for old, new in itertools.product(TYPES, TYPES):
        a = np.arange(120).reshape(20, 6).astype(old)
        want = outcome(np, VIEWS[name], a.copy(), new)
        assert outcome(fnp, VIEWS[name], fw.asarray(a.copy()), new) == want, (old, new)
        assert outcome(fnp, VIEWS[name], fw.asarray(a) * 1, new) == want, (old, new, "pending")


def retyped(module: Any, view: Callable[..., Any], x: Any, dtype: str) -> Any:
    """What an array and views made before are after `x.dtype = ...` and writes through all."""
    seen = view(module, x)
    try:
        beside = seen[..., 1:]
        before = seen.copy()
        seen.dtype = dtype
    except Exception as error:  # noqa: BLE001
        return next(k for k in type(error).__mro__ if k.__module__ == "builtins")
    seen[...] = seen + seen.dtype.type(1)
    beside[:1] = 3
    return [(a.shape, str(a.dtype), np.asarray(a).tobytes()) for a in (seen, beside, before, x)]


@pytest.mark.parametrize("name", [name for name in VIEWS if "repeated" not in name])
def test_dtypes_set_in_place(name: str) -> None:
    for old, new in itertools.product(("u1", "i2", "f4", "c16"), TYPES):
        a = (np.arange(120) % 7).reshape(20, 6).astype(old)
        want = retyped(np, VIEWS[name], a.copy(), new)
        assert retyped(fnp, VIEWS[name], fw.asarray(a.copy()), new) == want, (old, new)
        assert retyped(fnp, VIEWS[name], fw.asarray(a) * 1, new) == want, (old, new, "pending")
