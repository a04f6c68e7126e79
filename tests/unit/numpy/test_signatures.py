"""What `out=`, `where=`, `axis=`, `keepdims=`, `dtype=` and the methods of ufuncs do."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from tests.unit.numpy.compared import check, operand

import fusewright.numpy as ours

EXPRESSIONS = """
np.add(x, 1, out=y)
np.add(x, 1, y)
np.add(x, 1, out=(y,))
np.sqrt(np.abs(x), where=x > 0, out=y)
np.multiply(x, y, where=[True, False, True, False, True, False], out=y)
np.divmod(x, 2, out=(y, y.copy()))
np.modf(x, y, y.copy())
np.add(x, y, dtype="f4")
np.add(x, y, dtype="f4", casting="no")
np.add(x, 1, out=np.zeros((4, 6), int))
np.add(x, 1, out=np.zeros((4, 6), int), casting="unsafe")
np.add(x, 1, out=np.zeros((2, 6)))
np.add(x, 1, out=np.zeros((3, 4, 6)))
np.less(x, y, dtype=bool)
np.sum(x, axis=0, out=y[0])
np.sum(x, axis=(0, 1), keepdims=True)
np.sum(x, axis=-1, dtype="f4")
~np.sum(x, initial=3, where=x > 0)
np.max(x, axis=0, initial=2, where=x > 0)
np.max(x, axis=0, where=x > 0)
np.mean(x, axis=1, keepdims=True, where=x > 0)
np.var(x, axis=0, ddof=2, keepdims=True)
np.std(x, correction=1)
np.cumsum(x, axis=1, dtype="f4", out=np.zeros((4, 6), "f4"))
np.any(x > 2, axis=1, keepdims=True)
np.argmax(x, axis=1, keepdims=True)
np.add.reduce(x)
np.add.reduce(x, axis=None, keepdims=True)
np.add.reduce(x, 1, None, y[:, 0])
np.maximum.reduce(x, axis=(0, 1))
np.logical_and.reduce(x > -9, axis=1)
np.bitwise_or.reduce(x.astype(int), axis=1)
np.fmin.reduce(x, axis=1)
np.subtract.reduce(x, axis=1)
np.multiply.accumulate(x, axis=1)
np.subtract.accumulate(x, axis=1)
np.add.reduceat(x[0], [0, 2, 4])
np.subtract.outer(x[0], y[0])
np.power(x.astype(int), -1)
np.power(2, x.astype(int))
np.power(2.0, x.astype(int))
np.clip(x, 0, 1, out=y)
np.clip(x, y, 5)
np.clip(x.astype("u1"), -5, 300)
np.round(x, 2, out=y)
np.where(x > 0, x, y)
np.take(x, [0, 1], axis=1, out=y[:, :2])
np.concatenate([x, y], out=np.zeros((8, 6)))
np.stack([x, y], dtype="f4", casting="same_kind")
np.stack([x, y], dtype=int)
np.matmul(x, y.T, out=np.zeros((4, 4)))
np.dot(x, y.T, out=np.zeros((4, 4)))
np.linalg.norm(x, axis=1)
np.linalg.norm(x, axis=(0, 1), keepdims=True)
np.linalg.norm(x, 1)
np.linalg.norm(x, np.inf, keepdims=True)
np.linalg.norm(x, 2)
np.linalg.vector_norm(x, axis=0, ord=1)
np.fft.fft(x, axis=0, norm="ortho")
np.fft.rfft2(x)
np.fft.irfftn(x)
np.fft.fftn(x, axes=(0,))
np.fft.fft2(x, s=(3, 3))
np.fft.hfft(x[0])
np.sort(x, axis=None)
np.unique(x.astype(int), return_counts=True)
np.median(x, axis=0, keepdims=True)
np.percentile(x, 30, axis=1)
np.quantile(x, [0.1, 0.9], axis=0)
np.einsum("ij,jk", x, y.T)
~np.einsum("ij->", x)
np.einsum("ij,i->j", x, y[:, 0])
np.einsum("ii->i", x[:, :4])
np.full((2, 6), x[0])
np.full((2, 2), 3, dtype="f4")
np.linspace(x[0], y[0], 3)
np.array([x[0, 0], 2])
np.array([x[0], y[0]])
np.array([[x[0, 0], 1], [2, y[0, 0]]])
np.array([x[0], y[0, :2]])
np.array(x, dtype="f4", ndmin=3)
np.array2string(x, precision=2)
np.array_repr(x)
repr(x[0]) + str(y) + f"{x[0, 0]:.3f}"
""".strip().splitlines()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_signature(expression: str) -> None:
    """Also what the call leaves in `y`."""

    def call(np: Any, x: Any, y: Any) -> Any:
        value = eval(expression.lstrip("~"), {"np": np, "x": x, "y": y})
        return (value, y) if isinstance(value, str) else (value, y * 1)

    check(
        call,
        lambda np: operand(np, "f8", "matrix"),
        lambda np: operand(np, "f8", "matrix")[::-1] + 1,
        exact=not expression.startswith("~"),
    )


def test_out_is_returned() -> None:
    x, out = ours.arange(4.0), ours.zeros(4)
    assert ours.sin(x, out=out) is out
    assert ours.sum(x, out=out[0:1].reshape(())) is not None
    real = numpy.zeros(4)
    assert ours.sin(x, out=real) is real
    numpy.testing.assert_array_equal(real, numpy.sin(numpy.arange(4.0)))


STATEMENTS = """
np.add.at(x, [0, 0, 2], 1)
np.negative.at(x, [1, 2])
np.put(x, [1, -1], [9, 8])
np.putmask(x, x > 0, [7, 6])
np.place(x, x > 0, [1, 2])
np.copyto(x, 5, where=x > 1)
np.copyto(x, np.arange(6))
np.fill_diagonal(x, 3)
np.put_along_axis(x, np.argmax(x, axis=0, keepdims=True), 99, axis=0)
np.nan_to_num(x, copy=False)
np.random.default_rng(0).shuffle(x)
np.random.RandomState(0).shuffle(x[1])
np.real(x)[0] = 4
np.ravel(x)[3] = 4
np.transpose(x)[1] = 4
np.split(x, 2)[1][...] = 4
np.flip(x)[0] = 4
np.broadcast_to(x, (4, 6))[0] = 1
np.diagonal(x)[0] = 1
x[1:] += x[:-1]
x[np.where(x > 1)] = 0
x[np.ix_([0, 1], [2, 3])] *= 2
np.add(x[1:], x[:-1], out=x[1:])
np.copyto(x, 1j)
""".strip().splitlines()


@pytest.mark.parametrize("statement", STATEMENTS)
def test_writing(statement: str) -> None:
    """Statements that write: what they leave, or that they refuse."""

    def call(np: Any, x: Any) -> Any:
        exec(statement, {"np": np, "x": x})
        return x

    check(call, lambda np: operand(np, "f8", "matrix"))
