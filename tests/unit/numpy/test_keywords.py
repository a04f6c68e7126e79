"""Operands given by name are the operands given by place, whatever they are."""

from __future__ import annotations

import inspect
import random
from typing import Any

import numpy as np
import pytest
from tests.evaluators import installed
from tests.properties.operands import Operand
from tests.properties.random_calls import FUNCTIONS, Call, compare, function_call

import fusewright as fw
import fusewright.numpy as fnp

OFTEN = 3
"""Calls of each function."""


def named(call: Call) -> Call | None:
    """The call with its arguments by name; nothing where a signature gives none."""
    parameters = list(FUNCTIONS[call.path].parameters.values())[: len(call.args)]
    by_name = all(each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for each in parameters)
    if not by_name or len(parameters) < len(call.args):
        return None
    pairs = zip(parameters, call.args, strict=True)
    return Call(call.door, call.path, (), {each.name: value for each, value in pairs} | call.kwargs)


@pytest.mark.parametrize("small", [0, 512])
def test_operands_by_name(small: int) -> None:
    chance, found = random.Random(7), []
    with installed("interpreted"), fw.options(small=small):
        # LAPACK does not end for some of the matrices that are drawn.
        for path in sorted(name for name in FUNCTIONS if not name.startswith("linalg.")):
            for _ in range(OFTEN):
                call = function_call(chance, path, wrong=0.0)
                other = named(call)
                if other is None or not any(isinstance(a, Operand) for a in call.args):
                    continue
                how = compare(other)
                if how and not compare(call):
                    found.append(f"{other}: {how}")
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("function", "given"),
    [
        ("pad", {"array": (30, 30), "pad_width": 1}), ("tile", {"A": (30, 30), "reps": 2}),
        ("repeat", {"a": (30, 30), "repeats": 2, "axis": 0}), ("round", {"a": (30, 30)}),
        ("zeros_like", {"a": (30, 30)}), ("empty_like", {"prototype": (30, 30)}),
        ("full_like", {"a": (30, 30), "fill_value": 2}), ("median", {"a": (30, 30), "axis": 0}),
        ("sort", {"a": (30, 30), "axis": 0}), ("argmax", {"a": (30, 30, 2), "axis": 0}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("order", ["C", "F"])
def test_results_lie_as_numpys(function: str, given: dict[str, Any], order: str) -> None:
    """Those that are laid out in an order of their own."""

    def laid(np_: Any) -> Any:
        made = dict(given)
        for name, value in given.items():
            if isinstance(value, tuple):
                values = np.arange(np.prod(value)).reshape(value) * 1.0
                made[name] = np_.array(values, order=order)
        return getattr(np_, function)(**made)

    got, want = laid(fnp), laid(np)
    assert (got.shape, got.strides) == (want.shape, want.strides)
    if function != "empty_like":
        assert np.array_equal(np.asarray(got), want)
