"""Views, joined and gathered values, broadcasting, 0-d, empty and high-rank arrays: NumPy's values
on every target.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.targets.compared import assert_close

import fusewright as fw
import fusewright.numpy as fnp

Form = Callable[[Any, Any], Any]
"""(namespace, x) -> value; x is a (6, 7) array."""


def _written(key: Any, value: Any) -> Form:
    def form(np: Any, x: Any) -> Any:
        y = x.copy()
        y[key] = value(np, x) if callable(value) else value
        return y + 0 * x

    return form


def _overlapping(np: Any, x: Any) -> Any:
    y = x.copy()
    y[1:] += y[:-1]
    y[:, :-2] -= y[:, 2:]
    return y


def _through_a_view(np: Any, x: Any) -> Any:
    y = x.copy()
    row, column = y[2], y[:, 3]
    row *= 2
    column += row[0]
    y.T[1] = 5
    return y


FORMS: dict[str, Form] = {
    "slice": lambda np, x: x[1:5, 2:] + 1,
    "steps": lambda np, x: x[::2, ::3] * 2,
    "negative steps": lambda np, x: x[::-1, 5:0:-2] + 0,
    "row": lambda np, x: x[-1] * x[0],
    "element": lambda np, x: x[2, 3] + x,
    "newaxis": lambda np, x: x[:, None, :] + x[None, :, 0, None],
    "ellipsis": lambda np, x: x[..., 1] * 2,
    "transpose": lambda np, x: x.T + 1,
    "transpose twice": lambda np, x: (x.T * 2).T + x,
    "reshape": lambda np, x: (x + 1).reshape(7, 6) * 2,
    "reshape to three": lambda np, x: (x * 2).reshape(2, 3, 7)[1, ::-1] + 1,
    "ravel": lambda np, x: (x.T + 1).ravel()[3:30] * 2,
    "flip": lambda np, x: np.flip(x) + np.flip(x, 0),
    "roll": lambda np, x: np.roll(x, 2, axis=1) - np.roll(x, -1, axis=0),
    "roll flat": lambda np, x: np.roll(x, 5) + x,
    "rot90": lambda np, x: np.rot90(x) + 1,
    "broadcast": lambda np, x: x + x[0] + x[:, :1],
    "broadcast_to": lambda np, x: np.broadcast_to(x[:, 1:2], (6, 7)) * x,
    "outer": lambda np, x: x[:, 0][:, None] * x[0],
    "diagonal": lambda np, x: np.diagonal(x) + 1,
    "stack": lambda np, x: np.stack([x, x + 1], axis=1) * 2,
    "stack of rows": lambda np, x: np.stack([x[k] for k in range(6)]) + x,
    "concatenate": lambda np, x: np.concatenate([x, x[:2] * 3, x[::-1]], axis=0) + 1,
    "hstack": lambda np, x: np.hstack([x, x[:, :1]]) * 2,
    "pad": lambda np, x: np.pad(x, ((1, 2), (0, 3))) + 1,
    "pad edge": lambda np, x: np.pad(x, 2, mode="edge") * 2,
    "pad wrap": lambda np, x: np.pad(x, 1, mode="wrap") * 2,
    "tile": lambda np, x: np.tile(x, (2, 3)) + 1,
    "repeat": lambda np, x: np.repeat(x, 3, axis=1) + 1,
    "take": lambda np, x: np.take(x, [3, 0, 3, -1], axis=1) * 2,
    "integer array": lambda np, x: x[[0, 5, 5, -2]] + 1,
    "two integer arrays": lambda np, x: x[[0, 1, 2], [6, 5, -4]] * 2,
    "integer array of two dims": lambda np, x: x[:, np.asarray([[0, 1], [2, 3]])] + 1,
    "boolean": lambda np, x: x[x > 20] + 1,
    "boolean row": lambda np, x: x[np.asarray([True, False, True, True, False, False])] * 2,
    "take_along_axis": lambda np, x: np.take_along_axis(x, np.argsort(-x, axis=1), axis=1) + 1,
    "write slice": _written((slice(1, 3), slice(None, None, 2)), -1),
    "write row": _written(4, lambda np, x: x[0] * 2),
    "write column": _written((slice(None), 2), lambda np, x: x[:, 0] + 1),
    "write reversed": _written(slice(None, None, -1), lambda np, x: x),
    "write integer array": _written(([0, 2, 4], [1, 1, 6]), -7),
    "write boolean": lambda np, x: _written(x > 13, -3)(np, x),
    "overlapping": _overlapping,
    "through a view": _through_a_view,
    "where": lambda np, x: np.where(x % 2 == 0, x, -x),
    "clip": lambda np, x: np.clip(x, 5, 30),
    "meshgrid": lambda np, x: sum(np.meshgrid(x[0], x[:, 0])),
    "arange": lambda np, x: x + np.arange(7) * 2,
    "linspace": lambda np, x: x * np.linspace(0, 1, 7),
    "full": lambda np, x: np.full((6, 7), 3) + x + np.zeros(7) + np.ones((6, 1)),
    "eye": lambda np, x: np.eye(6, 7) * x,
    "tril": lambda np, x: np.tril(x) + np.triu(x, 1),
    "moveaxis": lambda np, x: np.moveaxis((x + 1).reshape(2, 3, 7), 0, -1) * 2,
    "swapaxes": lambda np, x: np.swapaxes((x + 1).reshape(2, 3, 7), 0, 2) * 2,
    "squeeze": lambda np, x: np.squeeze(x[:, 3:4]) + np.expand_dims(x[:, 0], 0),
    "split": lambda np, x: np.split(x, 3)[1] * np.split(x, 3)[2],
    "astype": lambda np, x: (x / 3).astype("int16") + x.astype("float32"),
    "matmul": lambda np, x: (x @ x.T) + 1,
    "sort": lambda np, x: np.sort(-x, axis=1) * 2,
}  # fmt: skip


def layouts() -> list[Any]:
    x = np.arange(42.0).reshape(6, 7)
    wide = np.zeros((12, 21))[::2, ::3]
    wide[...] = x
    return [x, np.asfortranarray(x), np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1], wide]


@pytest.mark.parametrize("name", sorted(FORMS))
def test_form(target: str, name: str) -> None:
    for x in layouts():
        want = FORMS[name](np, x.copy())
        assert_close(FORMS[name](fnp, fw.asarray(x)), want, 0, name)
        assert_close(FORMS[name](fnp, fw.asarray(x, copy=False)), want, 0, f"{name}, shared")


@pytest.mark.parametrize(
    "shape", [(), (0,), (1,), (0, 4), (4, 0), (1, 1, 1), (2, 1, 3, 1, 2), (3,) * 6]
)
def test_every_rank(target: str, shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).standard_normal(shape)
    ours = fw.asarray(x)
    assert_close(ours * 2 + 1, x * 2 + 1)
    assert_close(fnp.sqrt(abs(ours)), np.sqrt(abs(x)))
    assert_close(ours.T + 1, x.T + 1)
    assert_close(ours.reshape(-1) * 3, x.reshape(-1) * 3)
    assert_close(ours[..., None] * 2, x[..., None] * 2)
    assert_close((ours > 0).any(), (x > 0).any())
    if x.size:
        assert_close(ours.max(), x.max())


def test_high_rank_programs(target: str) -> None:
    x = np.random.default_rng(0).integers(-9, 9, (3, 4, 2, 5, 3)).astype(float)

    def program(np: Any, x: Any) -> Any:
        y = np.flip(x, 3) * 2 - x.max(axis=(1, 3), keepdims=True)
        y[:, 1:-1] += y[:, 2:] - y[:, :-2]
        return np.transpose(y, (4, 0, 2, 1, 3)).sum(axis=2)

    assert_close(program(fnp, fw.asarray(x)), program(np, x))


@pytest.mark.parametrize("count", [1, 7, 8, 9, 63, 64, 65, 8191, 8192, 8193, 50_000])
def test_every_length(target: str, count: int) -> None:
    x = np.arange(count, dtype=float)

    def program(np: Any, x: Any) -> Any:
        return x * 2 + np.roll(x, 1) - np.flip(x), (x * 3).sum(), np.cumsum(x)[-1], x[::2] + 1

    for got, want in zip(program(fnp, fw.asarray(x)), program(np, x), strict=True):
        assert_close(got, want)


def test_reading_back_what_shares_memory(target: str) -> None:
    theirs = np.arange(12.0).reshape(3, 4)
    ours = fw.asarray(theirs, copy=False)
    ours[1] *= 10
    assert theirs[1, 3] == 70
    theirs[0, 0] = 99
    assert float(ours[0, 0]) == 99
