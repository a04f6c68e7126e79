"""Are two runs of a program the same?  Collects the results it names, and compares them.

The results are the names in the program's `__results__ = ["a", "b"]`, or those of `--results a,b`;
a program that names none is compared in every array and number its main module holds at the end.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fusewright.base.values import dataclass

Results = dict[str, NDArray[Any]]

RTOL = {"float16": 2e-3, "float32": 1e-5, "float64": 1e-12}
RTOL |= {"complex64": RTOL["float32"], "complex128": RTOL["float64"]}
"""Relative tolerance by dtype; every other dtype must be equal.

The scale of an element is its own magnitude or the root mean square of its array, whichever is
larger: a sum that cancels to nearly zero keeps the error of its terms.  float64: 4500 ulp, float32:
84 ulp, float16: 2 ulp.  Element-wise functions differ by 2 ulp at most; the rest is for sums in
another order and for what a long iteration makes of them."""

_KINDS = "biufcSUmM"
_BLOCK = 1 << 20
"""Elements compared at a time, so that huge results need no second copy in memory."""


class NoResults(Exception):
    """There is nothing to compare, or a result that was named does not exist."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """How far one result is from plain NumPy's; `problem` is empty when it agrees.

    `largest_ulp` counts in units in the last place of the larger of the two values.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    rtol: float
    identical: bool
    largest_absolute: float
    largest_relative: float
    largest_ulp: float
    problem: str


def collect(namespace: Mapping[str, Any], names: Sequence[str] | None) -> Results:
    """The results as NumPy arrays; asks for every value that is still pending."""
    if names is None:
        names = namespace.get("__results__")
    if names is None:
        found = {name: _array(value) for name, value in namespace.items() if _counts(name, value)}
        return {name: array for name, array in found.items() if array is not None}
    results = {}
    for name in names:
        if name not in namespace:
            raise NoResults(f"the program has no result named {name!r}")
        array = _array(namespace[name])
        if array is None:
            raise NoResults(f"result {name!r} ({type(namespace[name]).__name__}) is not an array")
        results[name] = array
    return results


def _counts(name: str, value: Any) -> bool:
    """Whether a global name is a result where the program names none."""
    number = isinstance(value, bool | int | float | complex)
    return not name.startswith("_") and (
        number or (hasattr(value, "dtype") and hasattr(value, "__array__"))
    )


def _array(value: Any) -> NDArray[Any] | None:
    try:
        array = np.asarray(value)
    except ValueError:  # a ragged list
        return None
    return array if array.dtype.kind in _KINDS else None


def save(folder: Path, results: Results, seconds: float) -> None:
    """Write the results of a run for the process that compares."""
    for number, array in enumerate(results.values()):
        np.save(folder / f"{number}.npy", array, allow_pickle=False)
    text = json.dumps({"names": list(results), "seconds": seconds})
    (folder / "results.json").write_text(text, encoding="utf-8")


def load(folder: Path) -> tuple[Results, float]:
    """The results another process has saved, and how long it ran."""
    found = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    results = {
        name: np.load(os.fspath(folder / f"{number}.npy"), mmap_mode="r")
        for number, name in enumerate(found["names"])
    }
    return results, found["seconds"]


def compare_all(ours: Results, theirs: Results, rtol: float | None) -> list[Comparison]:
    """Compare what both runs hold; what only one of them holds is a difference too."""
    if not ours and not theirs:
        raise NoResults(
            "the program leaves no array or number to compare; "
            'name its results: __results__ = ["a", "b"]'
        )
    rows = []
    for name in ours | theirs:
        if name in ours and name in theirs:
            rows.append(compare(name, ours[name], theirs[name], rtol))
        else:
            side = "Fusewright" if name in ours else "NumPy"
            array = ours.get(name, theirs.get(name))
            assert array is not None
            rows.append(_refuse(name, array, f"only {side}'s run has it"))
    return rows


def compare(
    name: str, ours: NDArray[Any], theirs: NDArray[Any], rtol: float | None = None
) -> Comparison:
    """Compare one result; shape and dtype must be equal."""
    if ours.shape != theirs.shape:
        return _refuse(name, theirs, f"shape {ours.shape}, NumPy's has {theirs.shape}")
    if ours.dtype != theirs.dtype:
        return _refuse(name, theirs, f"dtype {ours.dtype}, NumPy's has {theirs.dtype}")
    if theirs.dtype.kind in "fc":
        tolerance = RTOL.get(theirs.dtype.name, 0.0) if rtol is None else rtol
        return _compare_floats(name, ours, theirs, tolerance)
    wrong = sum(int(np.count_nonzero(a != b)) for a, b in _blocks(ours, theirs))
    problem = f"{wrong:,} of {theirs.size:,} elements differ" if wrong else ""
    largest = float(wrong > 0)
    if theirs.dtype.kind in "iu" and wrong:
        largest = max(
            float(np.max(np.abs(a.astype(float) - b.astype(float))))
            for a, b in _blocks(ours, theirs)
        )
    return Comparison(
        name, theirs.dtype.name, theirs.shape, 0.0, not wrong, largest, 0.0, 0.0, problem
    )


def _refuse(name: str, array: NDArray[Any], problem: str) -> Comparison:
    nan = float("nan")
    return Comparison(name, array.dtype.name, array.shape, 0.0, False, nan, nan, nan, problem)


def _compare_floats(name: str, ours: NDArray[Any], theirs: NDArray[Any], rtol: float) -> Comparison:
    scale = _root_mean_square(theirs)
    absolute = relative = ulp = 0.0
    wrong, identical = 0, True
    with np.errstate(all="ignore"):
        for a, b in _blocks(ours, theirs):
            same = (a == b) | ((a != a) & (b != b))
            identical = identical and bool(same.all())
            difference = np.where(same, 0.0, np.abs(a - b).astype(np.float64))
            magnitude = np.abs(b).astype(np.float64)
            # Where one side is infinite or NaN and the other is not the same, no tolerance helps.
            near = np.isfinite(difference) & (difference <= rtol * np.maximum(magnitude, scale))
            wrong += int(np.count_nonzero(~(same | near)))
            absolute = max(absolute, _largest(difference))
            relative = max(relative, _largest(np.where(same, 0.0, difference / magnitude)))
            larger = np.maximum(np.abs(a), np.abs(b))
            ulp = max(ulp, _largest(np.where(same, 0.0, difference / np.spacing(larger))))
    problem = f"{wrong:,} of {theirs.size:,} elements differ" if wrong else ""
    return Comparison(
        name, theirs.dtype.name, theirs.shape, rtol, identical, absolute, relative, ulp, problem
    )


def _largest(values: NDArray[Any]) -> float:
    """The maximum; a NaN (finite against NaN) counts as infinite."""
    return float(np.max(np.where(np.isnan(values), np.inf, values), initial=0.0))


def _root_mean_square(array: NDArray[Any]) -> float:
    """Over the finite elements."""
    total, count = 0.0, 0
    with np.errstate(all="ignore"):
        for block, _ in _blocks(array, array):
            finite = np.abs(block[np.isfinite(block)]).astype(np.float64)
            total += float(np.sum(finite * finite))
            count += finite.size
    return float(np.sqrt(total / count)) if count else 0.0


def _blocks(
    ours: NDArray[Any], theirs: NDArray[Any]
) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    a, b = ours.reshape(-1), theirs.reshape(-1)
    for start in range(0, b.size, _BLOCK):
        yield a[start : start + _BLOCK], b[start : start + _BLOCK]
