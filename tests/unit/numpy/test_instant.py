"""Functions that run at once on small values give the bits of those that are recorded."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.evaluators import begin, installed
from tests.unit.numpy.cases import ANY, NONE, VECTORS
from tests.unit.numpy.compared import operand, outcome

import fusewright.numpy as fnp
from fusewright.frontends.arrays import front
from fusewright.numpy import instant

KINDS = ("f8", "f4", "i", "b", "c")
SHAPES = ("matrix", "turned", "vector", "empty", "number")
NAMES = [name for names in instant.STEPS.values() for name in names.split()]
NAMES += [*instant.MOVES.split(), *front.FILLS, *front.ARRANGEMENTS]
NAMES += ["var", "std", "norm"]
ABOUT = [e for e in (*ANY, *VECTORS, *NONE) if any(f"{name}(" in e for name in NAMES)]


@pytest.fixture(autouse=True, scope="module")
def evaluator() -> Iterator[None]:
    """Instead of the folder's: each test uses two."""
    with installed("interpreted"):
        begin()
    yield


def bits(value: Any) -> Any:
    """What tells results apart: class of container, dtype, shape, bytes (any NaN is any other)."""
    if isinstance(value, list):
        return [bits(item) for item in value]
    array = np.asarray(value)
    if array.dtype.kind in "fc":
        array = np.where(np.isnan(array), np.nan, array)
    return array.dtype, array.shape, array.tobytes()


def differing(expression: str, kind: str, shape: str) -> Any:
    """What an expression gives at once, and what recorded and compiled, if they differ."""
    call = eval(f"lambda np, x=None: {expression.lstrip('~')}")
    found = []
    for name in ("interpreted", "driver"):
        with installed(name), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append(outcome(lambda: call(fnp, operand(fnp, kind, shape))))
    (now, error), (later, refused) = found
    if error is not None or refused is not None:
        both = error is not None and refused is not None
        return None if both and issubclass(refused, error) else (error, refused)  # type: ignore[arg-type]
    return None if bits(now) == bits(later) else (now, later)


@pytest.mark.parametrize("expression", ABOUT)
def test_bits_are_those_of_recorded_functions(expression: str) -> None:
    for kind in KINDS:
        for shape in SHAPES:
            assert differing(expression, kind, shape) is None, (kind, shape)
