"""Operations and arrays of which the tests compare layout: what is a view, what is a copy, and in
which order the elements of a result lie.

Every entry is a function of a module and an array of it; `x` has up to three dims.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

Base = Callable[[Any], Any]
"""From a new C-ordered array of shape (4, 3, 5), or what else it needs, to the array under test."""
Operation = Callable[[Any, Any], Any]

BASES: dict[str, Base] = {
    "c": lambda x: x,
    "c 2d": lambda x: x[0],
    "c 1d": lambda x: x[0, 0],
    "flat": lambda x: x.reshape(-1),
    "rows": lambda x: x.reshape(12, 5),
    "square": lambda x: x.reshape(60)[:49].reshape(7, 7),
    "transposed": lambda x: x.T,
    "transposed 2d": lambda x: x[0].T,
    "transposed rows": lambda x: x.reshape(12, 5).T,
    "transposed square": lambda x: x.reshape(60)[:49].reshape(7, 7).T,
    "axes 1 0 2": lambda x: x.transpose(1, 0, 2),
    "axes 0 2 1": lambda x: x.transpose(0, 2, 1),
    "axes 1 2 0": lambda x: x.transpose(1, 2, 0),
    "axes 2 0 1": lambda x: x.transpose(2, 0, 1),
    "strided": lambda x: x[::2, :, ::2],
    "strided last": lambda x: x[..., ::2],
    "sliced": lambda x: x[1:3, 1:, 1:4],
    "sliced rows": lambda x: x[1:3],
    "column": lambda x: x[:, 1],
    "last": lambda x: x[..., 0],
    "reversed": lambda x: x[::-1],
    "reversed all": lambda x: x[::-1, ::-1, ::-1],
    "reversed 1d": lambda x: x[0, 0, ::-1],
    "reversed transposed": lambda x: x.T[::-1],
    "transposed sliced": lambda x: x.T[1:4, ::2],
    "new dim": lambda x: x[:, None, 1],
    "one row": lambda x: x[:1].T,
    "one column": lambda x: x[..., :1],
    "one element": lambda x: x[1:2, 1:2, 1:2],
    "0-d": lambda x: x[1, 1, 1, ...],
    "empty": lambda x: x[:0],
    "empty transposed": lambda x: x[:, :0].T,
    "diagonal": lambda x: x.diagonal(),
    "real": lambda x: (x + 0j).real,
    "swapped": lambda x: x.swapaxes(0, 1),
    "product of a transposed": lambda x: x.T * 2,
    "copy of a transposed": lambda x: x.transpose(1, 2, 0).copy(),
    "reshaped transposed": lambda x: x.T.reshape(3, 5, 4),
}
"""By name: the shapes of C, F, transposed, strided, reversed, sliced, 0-d and empty arrays."""


def broadcast(np: Any, x: Any) -> Any:
    """A row repeated."""
    return np.broadcast_to(x[0, 0], (3, 5))


def broadcast_column(np: Any, x: Any) -> Any:
    """A column repeated."""
    return np.broadcast_to(x[0, :, :1], (3, 4))


def fortran(np: Any, x: Any) -> Any:
    """A new array in Fortran order."""
    return np.asfortranarray(x)


def fortran_rows(np: Any, x: Any) -> Any:
    """The same of two dims."""
    return np.array(x[0], order="F")


MADE: dict[str, Operation] = {
    "broadcast": broadcast,
    "broadcast column": broadcast_column,
    "fortran": fortran,
    "fortran rows": fortran_rows,
}
"""Bases that functions make."""


def bases() -> dict[str, Operation]:
    """All of them."""
    simple = {name: lambda np, x, make=make: make(x) for name, make in BASES.items()}
    return simple | MADE


OPERATIONS: dict[str, Operation] = {
    # operators
    "x * 2": lambda np, x: x * 2,
    "2 - x": lambda np, x: 2 - x,
    "x + x": lambda np, x: x + x,
    "x + copy": lambda np, x: x + np.ascontiguousarray(x).reshape(x.shape),
    "copy + x": lambda np, x: np.ascontiguousarray(x).reshape(x.shape) + x,
    "x + x.T.T": lambda np, x: x + x.T.T,
    "x + reversed": lambda np, x: x + x[..., ::-1] if x.ndim else x + x,
    "x + row": lambda np, x: x + np.ones(x.shape[-1:]),
    "x + more dims": lambda np, x: x + np.ones((2, *x.shape)),
    "x.T + square": lambda np, x: x.T + np.ones(x.shape[::-1]),
    "x < 3": lambda np, x: x < 3,
    "x == x": lambda np, x: x == x,
    "-x": lambda np, x: -x,
    "+x": lambda np, x: +x,
    "abs": lambda np, x: abs(x),
    "x ** 2": lambda np, x: x**2,
    "x ** 3": lambda np, x: x**3,
    "x ** 0.5": lambda np, x: x**0.5,
    "x ** 1.5": lambda np, x: x**1.5,
    "x // 3": lambda np, x: x // 3,
    "x % 3": lambda np, x: x % 3,
    "divmod": lambda np, x: divmod(x, 3),
    "~": lambda np, x: ~(x > 3),
    "(x > 1) & (x < 5)": lambda np, x: (x > 1) & (x < 5),
    "chain": lambda np, x: (x * 2 + 1) / 3 - x,
    "np.float64 * x": lambda np, x: numpy.float64(2) * x,
    "plain * x": lambda np, x: numpy.ones(x.shape) * x,
    "x * plain.T": lambda np, x: x * numpy.ones(x.shape[::-1]).T,
    # element-wise functions
    "sqrt": lambda np, x: np.sqrt(x),
    "sin": lambda np, x: np.sin(x),
    "add": lambda np, x: np.add(x, 1),
    "add dtype": lambda np, x: np.add(x, 1, dtype=numpy.float32),
    "add order": lambda np, x: np.add(x, 1, order="F"),
    "add order c": lambda np, x: np.add(x, 1, order="C"),
    "add order a": lambda np, x: np.add(x, x, order="A"),
    "maximum": lambda np, x: np.maximum(x, 3),
    "minimum x x": lambda np, x: np.minimum(x, x),
    "where": lambda np, x: np.where(x > 3, x, 0),
    "where x x": lambda np, x: np.where(x > 3, x, -x),
    "clip": lambda np, x: np.clip(x, 1, 5),
    "x.clip": lambda np, x: x.clip(1, 5),
    "round": lambda np, x: np.round(x, 1),
    "isnan": lambda np, x: np.isnan(x),
    "isclose": lambda np, x: np.isclose(x, 3.0),
    "exp log": lambda np, x: np.log(np.exp(x)),
    "arctan2": lambda np, x: np.arctan2(x, x),
    "heaviside": lambda np, x: np.heaviside(x, 0.5),
    "nan_to_num": lambda np, x: np.nan_to_num(x),
    "nan_to_num in place": lambda np, x: (
        (y := x.copy("K"), np.nan_to_num(y, copy=False))[1] if x.ndim else x
    ),
    "modf": lambda np, x: np.modf(x),
    "frexp": lambda np, x: np.frexp(x),
    "square": lambda np, x: np.square(x),
    "conj": lambda np, x: x.conj(),
    "angle": lambda np, x: np.angle(x),
    "real of complex": lambda np, x: (x + 1j).real,
    "imag of complex": lambda np, x: (x * 1j).imag,
    "real": lambda np, x: x.real,
    "logical_not": lambda np, x: np.logical_not(x),
    "sinc": lambda np, x: np.sinc(x),
    "fix": lambda np, x: np.fix(x),
    "sign": lambda np, x: np.sign(x),
    # copies
    "copy": lambda np, x: x.copy(),
    "copy K": lambda np, x: x.copy("K"),
    "copy A": lambda np, x: x.copy("A"),
    "copy F": lambda np, x: x.copy(order="F"),
    "np.copy": lambda np, x: np.copy(x),
    "np.copy C": lambda np, x: np.copy(x, order="C"),
    "np.array": lambda np, x: np.array(x),
    "np.array C": lambda np, x: np.array(x, order="C"),
    "np.array F": lambda np, x: np.array(x, order="F"),
    "np.array no copy": lambda np, x: np.array(x, copy=None),
    "np.array no copy F": lambda np, x: np.array(x, copy=None, order="F"),
    "np.array no copy C": lambda np, x: np.array(x, copy=None, order="C"),
    "np.array ndmin": lambda np, x: np.array(x, copy=None, ndmin=4),
    "asarray": lambda np, x: np.asarray(x),
    "asarray C": lambda np, x: np.asarray(x, order="C"),
    "asarray F": lambda np, x: np.asarray(x, order="F"),
    "asarray A": lambda np, x: np.asarray(x, order="A"),
    "asarray dtype": lambda np, x: np.asarray(x, dtype=numpy.float32),
    "ascontiguousarray": lambda np, x: np.ascontiguousarray(x),
    "asfortranarray": lambda np, x: np.asfortranarray(x),
    "require": lambda np, x: np.require(x, requirements=["F"]),
    "astype": lambda np, x: x.astype(numpy.float32),
    "astype same": lambda np, x: x.astype(numpy.float64),
    "astype no copy": lambda np, x: x.astype(numpy.float64, copy=False),
    "astype C": lambda np, x: x.astype(numpy.float32, order="C"),
    "astype F": lambda np, x: x.astype(numpy.int64, order="F"),
    "astype F no copy": lambda np, x: x.astype(numpy.float64, order="F", copy=False),
    "astype C no copy": lambda np, x: x.astype(numpy.float64, order="C", copy=False),
    "copy.copy": lambda np, x: __import__("copy").copy(x),
    "deepcopy": lambda np, x: __import__("copy").deepcopy(x),
    "zeros_like": lambda np, x: np.zeros_like(x),
    "ones_like": lambda np, x: np.ones_like(x),
    "full_like": lambda np, x: np.full_like(x, 3.0),
    "full_like F": lambda np, x: np.full_like(x, 3.0, order="F"),
    "empty_like": lambda np, x: np.empty_like(x) * 0,
    "zeros_like C": lambda np, x: np.zeros_like(x, order="C"),
    "zeros_like shape": lambda np, x: np.zeros_like(x, shape=(2, 3)),
    "zeros F": lambda np, x: np.zeros(x.shape, order="F"),
    "ones F": lambda np, x: np.ones(x.shape, order="F"),
    "full F": lambda np, x: np.full(x.shape, 2.0, order="F"),
    "empty F": lambda np, x: np.empty(x.shape, order="F") * 0,
    # arrangements
    "reshape": lambda np, x: x.reshape(-1),
    "reshape 2": lambda np, x: x.reshape(
        x.shape[0] if x.ndim else 1, x.size // len(x) if x.ndim and len(x) else 1
    ),
    "reshape A": lambda np, x: x.reshape(-1, order="A"),
    "reshape F": lambda np, x: x.reshape(-1, order="F"),
    "reshape 1": lambda np, x: x.reshape(1, *x.shape, 1),
    "reshape reversed": lambda np, x: x.reshape(x.shape[::-1]),
    "reshape reversed F": lambda np, x: x.reshape(x.shape[::-1], order="F"),
    "reshape reversed A": lambda np, x: np.reshape(x, x.shape[::-1], order="A"),
    "ravel": lambda np, x: x.ravel(),
    "ravel F": lambda np, x: x.ravel("F"),
    "ravel A": lambda np, x: x.ravel("A"),
    "ravel K": lambda np, x: x.ravel("K"),
    "np.ravel K": lambda np, x: np.ravel(x, "K"),
    "flatten": lambda np, x: x.flatten(),
    "flatten F": lambda np, x: x.flatten("F"),
    "flatten A": lambda np, x: x.flatten("A"),
    "flatten K": lambda np, x: x.flatten("K"),
    "(x * 2).ravel()": lambda np, x: (x * 2).ravel(),
    "(x * 2).T.ravel()": lambda np, x: (x * 2).T.ravel(),
    "(x * 2).ravel('K')": lambda np, x: (x * 2).ravel("K"),
    "(x * 2).reshape": lambda np, x: (x * 2).reshape(-1),
    "(x * 2).reshape A": lambda np, x: (x * 2).reshape(-1, order="A"),
    "(x * 2)[1:]": lambda np, x: (x * 2)[1:] if x.ndim else x * 2,
    "(x * 2)[..., 0]": lambda np, x: (x * 2)[..., :1] if x.ndim else x * 2,
    "T": lambda np, x: x.T,
    "transpose": lambda np, x: np.transpose(x),
    "swapaxes": lambda np, x: np.swapaxes(x, 0, -1) if x.ndim else x,
    "moveaxis": lambda np, x: np.moveaxis(x, 0, -1) if x.ndim else x,
    "rollaxis": lambda np, x: np.rollaxis(x, x.ndim - 1) if x.ndim else x,
    "squeeze": lambda np, x: np.squeeze(x),
    "expand_dims": lambda np, x: np.expand_dims(x, 0),
    "atleast_1d": lambda np, x: np.atleast_1d(x),
    "atleast_2d": lambda np, x: np.atleast_2d(x),
    "atleast_3d": lambda np, x: np.atleast_3d(x),
    "broadcast_to": lambda np, x: np.broadcast_to(x, (2, *x.shape)),
    "broadcast_arrays": lambda np, x: np.broadcast_arrays(x, np.ones(x.shape)),
    "flip": lambda np, x: np.flip(x),
    "flipud": lambda np, x: np.flipud(x) if x.ndim else x,
    "rot90": lambda np, x: np.rot90(x) if x.ndim > 1 else x,
    "diagonal": lambda np, x: np.diagonal(x) if x.ndim > 1 else x,
    "diag": lambda np, x: np.diag(x) if x.ndim in (1, 2) else x,
    "view": lambda np, x: x.view(),
    "view int": lambda np, x: x.view(numpy.int64),
    "split": lambda np, x: np.array_split(x, 2) if x.ndim else x,
    "vsplit": lambda np, x: np.array_split(x, 2, axis=-1) if x.ndim else x,
    "unstack": lambda np, x: np.unstack(x) if x.ndim else x,
    "trim_zeros": lambda np, x: np.trim_zeros(x) if x.ndim == 1 else x,
    "ix_": lambda np, x: np.ix_(x) if x.ndim == 1 and x.size else x,
    "meshgrid": lambda np, x: np.meshgrid(x.reshape(-1), np.arange(3.0)),
    "meshgrid view": lambda np, x: np.meshgrid(
        x[0, 0] if x.ndim == 3 and x.size else x.reshape(-1), np.arange(3.0), copy=False
    ),
    "meshgrid ij": lambda np, x: np.meshgrid(
        np.arange(2.0), np.arange(3.0), np.arange(4.0), indexing="ij"
    ),
    "meshgrid xy": lambda np, x: np.meshgrid(np.arange(2.0), np.arange(3.0), np.arange(4.0)),
    # subscripts
    "x[0]": lambda np, x: x[0] if x.ndim > 1 and len(x) else x,
    "x[...]": lambda np, x: x[...],
    "x[::2]": lambda np, x: x[::2] if x.ndim else x,
    "x[None]": lambda np, x: x[None],
    "x[[0, 0]]": lambda np, x: x[[0, 0]] if x.ndim and len(x) else x,
    "x[..., [0, 0]]": lambda np, x: x[..., [0, 0, -1]] if x.ndim and x.shape[-1] else x,
    "x[:, [0]]": lambda np, x: x[:, [0, 0]] if x.ndim > 1 and x.shape[1] else x,
    "x[:, [[0]]]": lambda np, x: x[:, [[0, 0], [0, 0]]] if x.ndim > 1 and x.shape[1] else x,
    "x[[0], :, [0]]": lambda np, x: x[[0, 0], :, [0, 0]] if x.ndim > 2 and x.size else x,
    "x[[0], [0]]": lambda np, x: x[[0, 0], [0, 0]] if x.ndim > 1 and x.size else x,
    "x[:, [0], [0]]": lambda np, x: x[:, [0, 0], [0, 0]] if x.ndim > 2 and x.size else x,
    "x[1:, [0]]": lambda np, x: x[1:, [0, 0]] if x.ndim > 1 and x.shape[1] else x,
    "x[0, :, [0]]": lambda np, x: x[0, :, [0, 0]] if x.ndim > 2 and x.size else x,
    "x[mask]": lambda np, x: x[x > 3],
    "x[row mask]": lambda np, x: x[np.arange(len(x)) < 2] if x.ndim else x,
    "x[:, mask]": lambda np, x: x[:, np.arange(x.shape[1]) < 2] if x.ndim > 1 else x,
    "fancy reshape": lambda np, x: x[..., [0, 0, -1]].reshape(-1) if x.ndim and x.shape[-1] else x,
    "take": lambda np, x: np.take(x, [0, 0], axis=0) if x.ndim and len(x) else x,
    "take last": lambda np, x: np.take(x, [0, 0], axis=-1) if x.ndim and x.shape[-1] else x,
    "x.take flat": lambda np, x: x.take([0, 0]) if x.size else x,
    "take_along_axis": lambda np, x: (
        np.take_along_axis(x, np.argsort(x, axis=-1), -1) if x.ndim else x
    ),
    "compress": lambda np, x: np.compress([True], x, axis=0) if x.ndim and len(x) else x,
    "delete": lambda np, x: np.delete(x, 0, axis=0) if x.ndim and len(x) else x,
    "insert": lambda np, x: np.insert(x, 0, 1.0, axis=0) if x.ndim else x,
    # joining
    "concatenate": lambda np, x: np.concatenate((x, x)) if x.ndim else x,
    "concatenate last": lambda np, x: np.concatenate((x, x), axis=-1) if x.ndim else x,
    "concatenate mixed": lambda np, x: np.concatenate((x, np.ones(x.shape))) if x.ndim else x,
    "stack": lambda np, x: np.stack((x, x)),
    "stack last": lambda np, x: np.stack((x, x), axis=-1),
    "vstack": lambda np, x: np.vstack((x, x)),
    "hstack": lambda np, x: np.hstack((x, x)),
    "dstack": lambda np, x: np.dstack((x, x)),
    "column_stack": lambda np, x: np.column_stack((x, x)) if x.ndim else x,
    "append": lambda np, x: np.append(x, x, axis=0) if x.ndim else x,
    "tile": lambda np, x: np.tile(x, 2),
    "repeat": lambda np, x: np.repeat(x, 2, axis=0) if x.ndim else x,
    "repeat last": lambda np, x: np.repeat(x, 2, axis=-1) if x.ndim else x,
    "pad": lambda np, x: np.pad(x, 1),
    "pad edge": lambda np, x: np.pad(x, 1, mode="edge") if x.size else x,
    "roll": lambda np, x: np.roll(x, 1),
    "roll axis": lambda np, x: np.roll(x, 1, axis=0) if x.ndim else x,
    "resize": lambda np, x: np.resize(x, (3, 4)) if x.size else x,
    # reductions, scans, sorting
    "sum": lambda np, x: x.sum(axis=0) if x.ndim else x,
    "sum last": lambda np, x: x.sum(axis=-1) if x.ndim else x,
    "sum keepdims": lambda np, x: x.sum(axis=1, keepdims=True) if x.ndim > 1 else x,
    "sum empty axes": lambda np, x: x.sum(axis=()),
    "mean": lambda np, x: x.mean(axis=0) if x.ndim and len(x) else x,
    "max": lambda np, x: x.max(axis=0) if x.ndim and len(x) else x,
    "max keepdims": lambda np, x: (
        np.max(x, axis=-1, keepdims=True) if x.ndim and x.shape[-1] else x
    ),
    "std": lambda np, x: x.std(axis=0) if x.ndim and len(x) else x,
    "var last": lambda np, x: x.var(axis=-1) if x.ndim and x.shape[-1] else x,
    "median": lambda np, x: np.median(x, axis=0) if x.ndim and len(x) else x,
    "argmax": lambda np, x: x.argmax(axis=0) if x.ndim and len(x) else x,
    "all": lambda np, x: (x > 1).all(axis=0) if x.ndim else x,
    "nansum": lambda np, x: np.nansum(x, axis=0) if x.ndim else x,
    "cumsum": lambda np, x: x.cumsum(axis=0) if x.ndim else x,
    "cumsum flat": lambda np, x: x.cumsum(),
    "cumprod last": lambda np, x: np.cumprod(x, axis=-1) if x.ndim else x,
    "diff": lambda np, x: np.diff(x, axis=0) if x.ndim else x,
    "diff last": lambda np, x: np.diff(x) if x.ndim else x,
    "gradient": lambda np, x: np.gradient(x, axis=0) if x.ndim and len(x) > 1 else x,
    "maximum.accumulate": lambda np, x: np.maximum.accumulate(x, axis=0) if x.ndim else x,
    "add.reduce": lambda np, x: np.add.reduce(x, axis=0) if x.ndim else x,
    "sort": lambda np, x: np.sort(x, axis=0) if x.ndim else x,
    "sort last": lambda np, x: np.sort(x) if x.ndim else x,
    "argsort": lambda np, x: x.argsort(axis=0) if x.ndim else x,
    "argsort last": lambda np, x: np.argsort(x) if x.ndim else x,
    "partition": lambda np, x: np.partition(x, 0, axis=0) if x.ndim and len(x) else x,
    "unique": lambda np, x: np.unique(x),
    "argwhere": lambda np, x: np.argwhere(x),
    "searchsorted": lambda np, x: np.searchsorted(np.arange(9.0), x),
    "digitize": lambda np, x: np.digitize(x, np.arange(9.0)),
    "interp": lambda np, x: np.interp(x, np.arange(9.0), np.arange(9.0)),
    "bincount": lambda np, x: np.bincount(x.reshape(-1).astype(numpy.int64)),
    # products
    "matmul": lambda np, x: x @ np.swapaxes(x, -1, -2) if x.ndim > 1 else x,
    "x.T @ x": lambda np, x: x.T @ x if x.ndim == 2 else x,
    "dot": lambda np, x: np.dot(x, x.T) if x.ndim == 2 else x,
    "outer": lambda np, x: np.outer(x, x),
    "multiply.outer": lambda np, x: np.multiply.outer(x, np.arange(2.0)),
    "tensordot": lambda np, x: (
        np.tensordot(x, x, 1) if x.ndim == 2 and x.shape[0] == x.shape[1] else x
    ),
    "einsum T": lambda np, x: np.einsum("ij->ji", x) if x.ndim == 2 else x,
    "einsum": lambda np, x: np.einsum("ij,kj->ik", x, x) if x.ndim == 2 else x,
    "einsum elementwise": lambda np, x: np.einsum("ij,ij->ij", x, x) if x.ndim == 2 else x,
    "kron": lambda np, x: np.kron(x, np.ones((2,) * x.ndim)) if x.ndim else x,
    "trace": lambda np, x: np.trace(x) if x.ndim > 1 else x,
    "triu": lambda np, x: np.triu(x) if x.ndim > 1 else x,
    "tril": lambda np, x: np.tril(x) if x.ndim > 1 else x,
    "fft": lambda np, x: np.fft.fft(x) if x.ndim and x.size else x,
    "fft axis 0": lambda np, x: np.fft.fft(x, axis=0) if x.ndim and x.size else x,
    "inv": lambda np, x: np.linalg.inv(x + 50 * np.eye(7)) if x.shape == (7, 7) else x,
    "cross": lambda np, x: np.cross(x, x + 1) if x.ndim and x.shape[-1] == 3 else x,
    "apply_along_axis": lambda np, x: (
        np.apply_along_axis(lambda row: row * 2, 0, x) if x.ndim and x.size else x
    ),
    "vectorize": lambda np, x: np.vectorize(lambda a: a * 2.0)(x) if x.size else x,
    "select": lambda np, x: np.select([x > 3, x > 1], [x, -x], 0.0),
    "choose": lambda np, x: np.choose((x > 3).astype(numpy.int64), [x, -x]),
    "piecewise": lambda np, x: np.piecewise(x, [x > 3], [lambda v: v * 2, 0.0]),
    "putmask": lambda np, x: (y := x.copy("K"), np.putmask(y, y > 3, 0.0))[0],
    "vander": lambda np, x: np.vander(x, 3) if x.ndim == 1 else x,
    "rand like": lambda np, x: np.asarray(np.asfortranarray(x).T),
}
