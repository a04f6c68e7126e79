"""Random operands that are made twice, of NumPy's arrays and of ours, and what compares results.

A recipe is plain data: it says type, shape, numbers and layout, and `made` builds it in a world.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import fusewright as fw
from fusewright.frontends.arrays import Array, Scalar

Chance = random.Random
INTEGERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
DTYPES = ("?", *INTEGERS, "f2", "f4", "f8", "f8", "f8", "c8", "c16")
SHAPES = (
    (), (0,), (1,), (2,), (3,), (4,), (1, 3), (2, 3), (3, 1), (3, 3), (4, 3), (0, 3), (2, 0),
    (2, 1, 3), (3, 3, 3), (1, 1), (17,), (40, 13), (513,), (1000,), (5003,),
)  # fmt: skip
"""Small ones, and some on both sides of the sizes at which another way is taken."""
FEW = len(SHAPES) - 5
WILD = (np.nan, np.inf, -np.inf, -0.0, 0.0, 1e300, -1e300, 3e9, -3e9, 1e-310, 2.0**63, 0.5, -7.75)
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "whole": lambda x: x,
    "steps": lambda x: x[::2],
    "reversed": lambda x: x[::-1],
    "turned": lambda x: x.T,
    "last": lambda x: x[..., ::-1],
}


@dataclass(frozen=True, slots=True, repr=False)
class Operand:
    """An array of ours in our world: `tame` numbers are small multiples of a quarter."""

    dtype: str
    shape: tuple[int, ...]
    seed: int
    tame: bool = True
    layout: str = "whole"
    swapped: bool = False
    foreign: bool = False

    def __repr__(self) -> str:
        """Without what is as usual."""
        words = [repr(self.dtype), repr(self.shape), str(self.seed)]
        words += [] if self.tame else ["tame=False"]
        words += [] if self.layout == "whole" else [f"layout={self.layout!r}"]
        words += ["swapped=True"] * self.swapped + ["foreign=True"] * self.foreign
        return f"Operand({', '.join(words)})"


@dataclass(frozen=True, slots=True)
class Number:
    """A number of NumPy's."""

    dtype: str
    value: Any


@dataclass(frozen=True, slots=True)
class Full:
    """A scalar as a full reduction gives it: NumPy's own number in the one world, a lazy one in
    the other.
    """

    dtype: str
    value: Any


def numbers(operand: Operand) -> Any:
    """The elements, in C order and native bytes."""
    rng = np.random.default_rng(operand.seed)
    dtype, shape = np.dtype(operand.dtype), operand.shape
    if dtype.kind == "b":
        return np.asarray(rng.integers(0, 2, shape)).astype(bool)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        low = 0 if dtype.kind == "u" else -9
        values = np.asarray(rng.integers(low, 10, shape)).astype(dtype)
        if not operand.tame and values.size:
            extremes = np.array([info.min, info.max, info.max - 1, info.min + 1], dtype)
            hit = rng.random(shape) < 0.3
            values = np.where(hit, extremes[rng.integers(0, 4, shape)], values)
        return np.asarray(values, dtype)
    values = np.asarray(rng.integers(-36, 37, shape)) / 4
    if dtype.kind == "c":
        values = values + 1j * (np.asarray(rng.integers(-36, 37, shape)) / 4)
    values = np.asarray(values)
    if values.size and (not operand.tame or rng.random() < 0.25):
        some = np.array(WILD if not operand.tame else (np.nan, np.inf, -np.inf, -0.0))
        hit = rng.random(shape) < (0.4 if not operand.tame else 0.1)
        values = np.where(hit, some[rng.integers(0, len(some), shape)], values)
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(dtype)


def made(recipe: Any, convert: Callable[[Any], Any]) -> Any:
    """The recipe's value; `convert` makes an array of the world of one of NumPy's."""
    if isinstance(recipe, Operand):
        array = numbers(recipe)
        if recipe.swapped:  # such an array stays NumPy's in both worlds
            array = array.astype(array.dtype.newbyteorder())
        array = array.copy() if recipe.foreign or recipe.swapped else convert(array)
        if recipe.layout in ("steps", "reversed", "last") and not recipe.shape:
            return array
        return LAYOUTS[recipe.layout](array)
    if isinstance(recipe, Number):
        return np.dtype(recipe.dtype).type(recipe.value)
    if isinstance(recipe, Full):
        return convert(np.array([recipe.value], recipe.dtype)).max()
    if type(recipe) in (list, tuple):
        return type(recipe)(made(item, convert) for item in recipe)
    if type(recipe) is dict:
        return {key: made(item, convert) for key, item in recipe.items()}
    return recipe


def plain(array: Any) -> Any:
    """NumPy's world."""
    return array.copy()


def ours(array: Any) -> Any:
    """Our world."""
    return fw.asarray(array)


CLASSES: tuple[type[BaseException], ...] = (
    TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError, AttributeError,
    NotImplementedError, RuntimeError, MemoryError, BufferError, np.exceptions.AxisError,
    np.linalg.LinAlgError, np.exceptions.DTypePromotionError, KeyError,
    np.exceptions.ComplexWarning,
)  # fmt: skip
"""What a program may catch."""


def classes(error: BaseException | None) -> frozenset[type]:
    """Every `except` clause that catches an error."""
    return frozenset(kind for kind in CLASSES if isinstance(error, kind))


def attempt(call: Callable[[], Any]) -> tuple[Any, Exception | None]:
    """A value, or the error."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return call(), None
        except Exception as error:  # noqa: BLE001
            return None, error


def kind_of(value: Any) -> str:
    """What sort of thing a result is: Python's own, a number of NumPy's, an array."""
    if isinstance(value, Scalar | np.generic):
        return "scalar"
    if isinstance(value, Array | np.ndarray):
        return "array" if type(value) is not np.ma.MaskedArray else "masked"
    if isinstance(value, tuple):
        return "tuple"
    return type(value).__name__


def difference(got: Any, want: Any, ulps: float) -> str:
    """How two results differ; nothing where they do not."""
    if kind_of(got) != kind_of(want):
        return f"kind {kind_of(got)} for {kind_of(want)}"
    if isinstance(want, list | tuple):
        if len(got) != len(want):
            return f"{len(got)} results for {len(want)}"
        pairs = zip(got, want, strict=True)
        return next((found for g, w in pairs if (found := difference(g, w, ulps))), "")
    if not isinstance(want, np.ndarray | np.generic):
        same = got == want or (got != got and want != want)
        return "" if isinstance(want, type(NotImplemented)) or same else "python value"
    got, want = np.asarray(got), np.asarray(want)
    if got.dtype != want.dtype:
        return f"dtype {got.dtype} for {want.dtype}"
    if got.shape != want.shape:
        return f"shape {got.shape} for {want.shape}"
    return "" if alike(got, want, ulps) else "values"


def alike(got: Any, want: Any, ulps: float) -> bool:
    """Equal bits but for the payload of NaNs; with `ulps`, that many units in the last place of
    the larger part of the number.
    """
    if want.dtype.kind not in "fc":
        return bool(np.array_equal(got, want))
    if want.dtype.kind == "c":
        if ulps:
            with np.errstate(all="ignore"):
                size = np.maximum(abs(want.real), abs(want.imag))
            return _parts(got.real, want.real, ulps, size) and _parts(
                got.imag, want.imag, ulps, size
            )
        return _parts(got.real, want.real, 0) and _parts(got.imag, want.imag, 0)
    return _parts(got, want, ulps)


def _parts(got: Any, want: Any, ulps: float, size: Any = None) -> bool:
    nan = want != want
    if not np.array_equal(got != got, nan):
        return False
    bits = f"u{want.dtype.itemsize}"
    equal = np.ascontiguousarray(got).view(bits) == np.ascontiguousarray(want).view(bits)
    rest = ~(equal.reshape(want.shape) | nan)
    if not rest.any():
        return True
    if not ulps:
        return False
    with np.errstate(all="ignore"):
        size = abs(want) if size is None else size
        room = ulps * np.spacing(np.where(np.isfinite(size), size, 1).astype(want.dtype))
        close = abs(got.astype("f8") - want.astype("f8")) <= room.astype("f8")
        finite = np.isfinite(want) & np.isfinite(got)
        zeros = (want == 0) & (got == 0) & (np.signbit(want) != np.signbit(got))
    return bool(((close & finite & ~zeros) | ~rest).all())
