"""Sliding windows and `as_strided` as views: random bases, chains of views, reads and writes, each
as NumPy's.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright._core import native

DTYPES = ("float64", "float32", "int32", "int64", "uint8", "bool", "complex128")
LAYOUTS = ("plain", "transposed", "every other", "reversed", "pending", "shared", "grid")
BITS = (np.max, np.min, np.any, np.argmax, np.ravel, np.copy)
"""Functions whose results have NumPy's bits whatever the elements."""


def make(draw: random.Random, xp: Any, values: Any, layout: str) -> Any:
    """One base on each side; the second array is what owns the memory."""
    if xp is np:
        array = values.copy()
    elif layout == "shared":
        array = fw.asarray(values.copy())
    else:
        array = fw.asarray(values) * fw.asarray(np.ones((), values.dtype))
        if values.dtype == bool:
            array = fw.asarray(values).copy()
        if layout != "pending":
            np.asarray(array)
    return array


def turned(array: Any, layout: str) -> Any:
    """The array seen in a way."""
    if layout == "transposed":
        return array.T
    if layout == "every other":
        return array[::2]
    if layout == "reversed":
        return array[..., ::-1]
    if layout == "grid":
        return array.reshape(-1, 2) if array.size % 2 == 0 else array
    return array


def windows(draw: random.Random, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """A window shape and axes that fit, one axis twice at times."""
    axes = [draw.randrange(len(shape)) for _ in range(draw.randint(1, 3))]
    left, sizes = list(shape), []
    for axis in axes:
        size = draw.randint(1, max(1, min(4, left[axis])))
        left[axis] -= size - 1
        sizes.append(size)
    return tuple(sizes), tuple(axes)


def strides(draw: random.Random, array: Any) -> tuple[Any, Any, int]:
    """A shape and strides within a flat array from an element on."""
    count, size = array.size, array.itemsize
    shape, steps = [], []
    room, first = count - 1, 0
    for _ in range(draw.randint(1, 3)):
        extent = draw.randint(1, 4)
        most = room // max(extent - 1, 1)
        step = draw.randint(0, min(most, 5))
        room -= step * (extent - 1)
        if draw.random() < 0.3:
            first += step * (extent - 1)
            step = -step
        shape.append(extent)
        steps.append(step * size)
    return tuple(shape), tuple(steps), first


def followed(draw: random.Random) -> Any:
    """A further view of a view: the same function for both sides."""
    kind = draw.randrange(6)
    pace, at = draw.randint(1, 3), draw.randint(0, 1)
    if kind == 0:
        return lambda xp, v: v[at::pace] if v.shape[0] > at else v
    if kind == 1:
        return lambda xp, v: xp.moveaxis(v, 0, -1)
    if kind == 2:
        return lambda xp, v: v[..., ::-1]
    if kind == 3:
        return lambda xp, v: v[..., None, 0]
    if kind == 4:
        return lambda xp, v: xp.squeeze(v)[None]
    return lambda xp, v: v.T


def same(mine: Any, theirs: Any, what: str, close: bool = False) -> None:
    ours = np.asarray(mine)
    assert ours.shape == theirs.shape, what
    assert ours.dtype == theirs.dtype, what
    if close:
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5, err_msg=what)
    else:
        np.testing.assert_array_equal(ours, theirs, err_msg=what)


def case(seed: int) -> None:
    draw = random.Random(seed)
    dtype, layout = draw.choice(DTYPES), draw.choice(LAYOUTS)
    shape = draw.choice([(12,), (7,), (5, 6), (4, 3), (3, 4, 5)])
    values = np.random.default_rng(seed).integers(0, 9, shape).astype(dtype)
    made = {xp: make(draw, xp, values, layout) for xp in (np, fnp)}
    seen = {xp: turned(array, layout) for xp, array in made.items()}
    what = f"{seed}: {dtype} {layout} {shape}"
    view = {}
    writes = draw.random() < 0.5
    if draw.random() < 0.5:
        size, axes = windows(draw, seen[np].shape)
        for xp, array in seen.items():
            view[xp] = xp.lib.stride_tricks.sliding_window_view(array, size, axes, writeable=writes)
        what += f" windows {size} {axes}"
    else:
        flat = {xp: array.reshape(-1) if layout == "plain" else made[xp].reshape(-1)
                for xp, array in seen.items()}  # fmt: skip
        extents, steps, first = strides(draw, flat[np])
        for xp, array in flat.items():
            view[xp] = xp.lib.stride_tricks.as_strided(
                array[first:], extents, steps, writeable=writes
            )
        what += f" strided {extents} {steps}"
    for _ in range(draw.randrange(3)):
        step = followed(draw)
        view = {xp: step(xp, each) for xp, each in view.items()}
    assert view[fnp].strides == view[np].strides, what
    assert view[fnp].flags.writeable == view[np].flags.writeable, what
    assert fnp.shares_memory(view[fnp], made[fnp]) == np.shares_memory(view[np], made[np]), what
    if draw.random() < 0.3:
        same(view[fnp], view[np], what)
    for _ in range(draw.randint(1, 4)):
        act(draw, made, view, what)
    same(made[fnp], made[np], what)
    same(view[fnp], view[np], what)


Sides = dict[Any, Any]
"""What NumPy has, and what we have, by module."""


def base_written(draw: random.Random, made: Sides, view: Sides, what: str) -> None:
    number = draw.randint(0, 5)
    for array in made.values():
        array[..., number % array.shape[-1]] = number
    same(view[fnp], view[np], what)


def every_other(draw: random.Random, made: Sides, view: Sides, what: str) -> None:
    for each in view.values():
        each[::2] = 7


def whole(draw: random.Random, made: Sides, view: Sides, what: str) -> None:
    theirs = view[np]
    block = np.arange(theirs.size).reshape(theirs.shape).astype(theirs.dtype)
    for each in view.values():
        each[...] = block


def masked(draw: random.Random, made: Sides, view: Sides, what: str) -> None:
    theirs = view[np]
    mask = np.arange(theirs.size).reshape(theirs.shape) % 3 == 1
    for xp, each in view.items():
        each[mask if xp is np else fw.asarray(mask)] = 6


def rows(draw: random.Random, made: Sides, view: Sides, what: str) -> None:
    chosen = np.array([draw.randrange(view[np].shape[0]), 0])
    for xp, each in view.items():
        each[chosen if xp is np else fw.asarray(chosen)] = 5


def element(draw: random.Random, made: Sides, view: Sides, what: str) -> None:
    at = tuple(draw.randrange(extent) for extent in view[np].shape)
    for each in view.values():
        each[at] = 4


def updated(draw: random.Random, made: Sides, view: Sides, what: str) -> None:
    """All of it is read before any is written: an element that stands twice gets the last sum."""
    part = view[np].shape[-1] // 2
    number = np.arange(view[np].size).reshape(view[np].shape).astype(view[np].dtype)
    for each in view.values():
        each += number
        line = each[(0,) * (each.ndim - 1)][part:]
        line += line.dtype.type(1)


def chosen_by_numpy(draw: random.Random, made: Sides, view: Sides, what: str) -> None:
    """Functions of NumPy's that leave elements as they are."""
    theirs = view[np]
    mask = np.zeros(theirs.shape, bool)
    mask[(0,) * theirs.ndim] = True
    for xp, each in view.items():
        xp.copyto(each, each.dtype.type(3), where=mask)
        xp.put(each, [theirs.size - 1], 2)
        if theirs.dtype != bool:
            xp.add(each[:1], each.dtype.type(1), out=each[:1], where=mask[:1])


def folded(draw: random.Random, made: Sides, view: Sides, what: str) -> None:
    mine, theirs = view[fnp], view[np]
    same(mine.sum(-1), theirs.sum(-1), what)
    if theirs.dtype.kind != "c":
        same(mine.mean(-1), theirs.mean(-1), what, close=True)
        same(mine.std(-1), theirs.std(-1), what, close=True)


def weighed(draw: random.Random, made: Sides, view: Sides, what: str) -> None:
    mine, theirs = view[fnp], view[np]
    factor = np.arange(theirs.shape[-1]).astype(theirs.dtype)
    same((mine * factor).sum(-1), (theirs * factor).sum(-1), what)


def looked_at(draw: random.Random, made: Sides, view: Sides, what: str) -> None:
    function = draw.choice(BITS)
    mine, theirs = view[fnp], view[np]
    if theirs.dtype.kind != "c" or function in (np.ravel, np.copy):
        ours = getattr(fnp, function.__name__)(mine)
        same(ours, np.asarray(function(theirs)), what)


READS = (base_written, folded, weighed, looked_at)
WRITES = (every_other, whole, masked, rows, element, updated, chosen_by_numpy)


def act(draw: random.Random, made: Sides, view: Sides, what: str) -> None:
    """One read or write, the same on both sides."""
    action = draw.choice(READS + WRITES * bool(view[np].flags.writeable))
    action(draw, made, view, f"{what} {action.__name__}")
    if draw.random() < 0.3:
        same(made[fnp], made[np], f"{what} {action.__name__}")


@pytest.mark.parametrize("start", range(0, 400, 20))
def test_views_with_any_steps_are_as_numpys(start: int) -> None:
    for seed in range(start, start + 20):
        case(seed)


def test_a_recorded_function_reads_windows() -> None:
    @fw.jit
    def smoothed(x: Any) -> Any:
        frames = fnp.lib.stride_tricks.sliding_window_view(x * 2, 5)[::3]
        return (frames * frames).sum(-1)

    for seed in range(4):
        x = np.random.default_rng(seed).integers(0, 9, 40).astype(float)
        frames = np.lib.stride_tricks.sliding_window_view(x * 2, 5)[::3]
        same(smoothed(fw.asarray(x)), (frames * frames).sum(-1), f"{seed}")


REFUSED = [
    lambda xp, x: xp.lib.stride_tricks.sliding_window_view(x, 9),
    lambda xp, x: xp.lib.stride_tricks.sliding_window_view(x, -1),
    lambda xp, x: xp.lib.stride_tricks.sliding_window_view(x, (2, 2)),
    lambda xp, x: xp.lib.stride_tricks.sliding_window_view(x, 2, axis=1),
    lambda xp, x: xp.lib.stride_tricks.sliding_window_view(x, 2.5),
    lambda xp, x: xp.lib.stride_tricks.sliding_window_view(x, 2).__setitem__(0, 1),
    lambda xp, x: xp.lib.stride_tricks.as_strided(x, (2, 2), (8,)),
    lambda xp, x: xp.lib.stride_tricks.as_strided(x, (-1,), (8,)),
    lambda xp, x: xp.lib.stride_tricks.as_strided(x, (2,), (8,), writeable=False).fill(1),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_errors_are_numpys(number: int) -> None:
    with pytest.raises(Exception) as theirs:
        REFUSED[number](np, np.arange(6.0))
    with pytest.raises(theirs.type):
        REFUSED[number](fnp, fnp.arange(6.0))


def test_large_windows_take_no_memory() -> None:
    x = fw.asarray(np.arange(100_000, dtype=float))
    frames = fnp.lib.stride_tricks.sliding_window_view(x, 50_000)  # 20 GB, were it copied
    assert float(frames[7, 3]) == 10.0
    assert frames[::10_000, ::25_000].tolist() == [
        [10_000.0 * row + 25_000.0 * column for column in range(2)] for row in range(6)
    ]


@pytest.mark.skipif(native is None, reason="without the core every array is ours")
@fw.options(small=512)
def test_views_of_numpys_arrays_are_numpys() -> None:
    plain = np.zeros(12)
    fnp.lib.stride_tricks.as_strided(plain, (3, 3), (8, 8))[1] = 5
    assert plain.tolist() == [0, 5, 5, 5, *[0] * 8]
    windows = fnp.lib.stride_tricks.sliding_window_view(plain, 3)
    assert type(windows) is np.ndarray
    assert np.shares_memory(windows, plain)
    assert np.shares_memory(fnp.lib.stride_tricks.broadcast_to(plain, (2, 12)), plain)
