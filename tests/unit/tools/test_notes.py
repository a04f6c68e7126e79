"""Docstrings say where results differ from NumPy's: those names, and no others."""

from __future__ import annotations

import doctest
import inspect
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tools import coverage

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.numpy import dispatch

GROUPS = ("numpy", "linalg", "fft")
"""`random` has NumPy's streams, `special` has no counterpart."""


OTHER_DATA = {
    **{name: f"np.{name}(a)" for name in ("std", "var", "nanstd", "nanvar")},
    "power": "np.power(a * a, 1.5)",
}
"""Names that agree on the operands of `tools.coverage`."""


def _arrays(value: Any) -> Iterator[np.ndarray[Any, Any]]:
    if isinstance(value, tuple | list):
        for each in value:
            yield from _arrays(each)
    else:
        yield np.asarray(value)


def _equal(call: str, operands: dict[str, Any], plain: dict[str, Any]) -> bool:
    """Whether a call has the same bits with arrays of ours."""
    ours = list(_arrays(eval(call, operands | {"np": fnp})))
    theirs = list(_arrays(eval(call, plain | {"np": np})))
    return [(x.dtype, x.shape) for x in ours] == [(x.dtype, x.shape) for x in theirs] and all(
        x.dtype.hasobject or x.tobytes() == y.tobytes() for x, y in zip(ours, theirs, strict=True)
    )


def _differing() -> set[str]:
    found = set()
    with fw.options(small=512), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for row in coverage.rows():
            if row.group not in GROUPS or not hasattr(np, row.name.partition(".")[0]):
                continue
            for dtype in ("float64", "float32"):
                plain = coverage.operands_of(coverage.SIZE, dtype, np.asarray)
                ours = coverage.operands_of(coverage.SIZE, dtype, fw.asarray)
                if not _equal(row.call, ours, plain):
                    found.add(row.name)
        for seed in range(20):
            a = np.random.default_rng(seed).normal(size=30_000) * 1e3
            for name, call in OTHER_DATA.items():
                if not _equal(call, {"a": fw.asarray(a)}, {"a": a}):
                    found.add(name)
    return found


def test_names_that_differ_say_so() -> None:
    zeros = {"empty", "empty_like"}
    products = {"dot", "matmul"}  # the machine's BLAS may sum these few in our order
    assert _differing() | zeros | products == set(dispatch.NOTES)


def test_help_shows_the_note() -> None:
    assert "in blocks of a fixed size" in (fnp.sum.__doc__ or "")
    assert "Sum of array elements" in (fnp.sum.__doc__ or "")
    assert "last digit may differ" in (fnp.exp.__doc__ or "")
    assert "Note of Fusewright" in (fnp.linalg.norm.__doc__ or "")
    assert "Note of Fusewright" not in (fnp.sqrt.__doc__ or "") + (np.sum.__doc__ or "")


@pytest.mark.parametrize("module", ["", "linalg", "fft", "random"])
def test_help_says_all_that_numpys_says(module: str) -> None:
    ours, theirs = (getattr(each, module) if module else each for each in (fnp, np))
    for name in theirs.__all__:
        if callable(getattr(theirs, name)) and hasattr(ours, name):
            assert _says_all(getattr(ours, name), getattr(theirs, name)), name


def test_help_on_methods_says_all_that_numpys_says() -> None:
    for name in dir(np.ndarray):
        if name[0] != "_" and hasattr(fw.Array, name):
            assert _says_all(getattr(fw.Array, name), getattr(np.ndarray, name)), name


def _says_all(ours: object, theirs: object) -> bool:
    own, words = inspect.getdoc(ours) or "", inspect.getdoc(theirs) or ""
    return set(words.split()) <= set(own.split())


@pytest.mark.parametrize("name", fnp.special.__all__)
def test_help_on_special_functions(name: str) -> None:
    """NumPy has no words on these: what they take, give and refuse, with an example that runs."""
    function = getattr(fnp.special, name)
    assert function.__name__ == name
    text = inspect.getdoc(function) or ""
    assert all(f"\n{heading}:\n" in text for heading in ("Args", "Returns", "Raises", "Examples"))
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    assert test.examples and not doctest.DocTestRunner().run(test).failed
    with pytest.raises(TypeError, match="FW102"):
        function(fw.asarray([1j]))
