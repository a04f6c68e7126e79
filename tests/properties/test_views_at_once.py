"""Views of views, read and written at once: what each name sees is what NumPy's sees, after every
step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluators import begin, installed
from tests.properties.chance import examples

import fusewright as fw
import fusewright.numpy as fnp


@pytest.fixture(autouse=True, scope="module")
def evaluator() -> Iterator[None]:
    """Past the steps of a program that are recorded whatever they are."""
    with installed("interpreted"):
        begin()
        yield


VIEWS = [
    "x[1:]", "x[::-1]", "x[::2]", "x.ravel()", "x.reshape(-1)", "x.T", "x.reshape(2, -1)", "x[0]",
    "x[..., 1:]", "x[None]", "np.transpose(x)", "x.reshape(-1, 1)", "x[:, 0]",
    "np.swapaxes(x, 0, -1)",
]  # fmt: skip
"""Of a name `x`; what NumPy refuses is left out."""
WRITES = [
    "x[0] = 7.5", "x[-1] = y[0]", "x[...] = 2.0", "x[1:] = x[:-1]", "x += 1.0", "x[:1] *= y[:1]",
    "x[:] = x[::-1]", "x[0], x[-1] = x[-1], x[0]", "x[x > 1] = 0.5", "x[[0, -1]] = 3.0",
    "x[1:] += x[:-1] * 0.5", "x[:1] = y[-1:] + 1", "x.sort()", "x[0] -= x[-1]", "x.fill(1.25)",
    "y = x * 2", "y = x.copy()", "y += x[0]", "x[:] = np.where(x > 0, x, y)",
]  # fmt: skip
READS = [
    "x.sum()",
    "x[0]",
    "x[-1] + 1",
    "np.sort(x, axis=None)",
    "x[[0, 0]]",
    "x.tolist()",
    "x + y",
    "x[x > 0]",
]

steps = st.lists(
    st.tuples(
        st.sampled_from(["view"] * 2 + ["write"] * 4 + ["read"]),
        st.integers(0, 99), st.integers(0, 99), st.integers(0, 99),
    ),
    min_size=1, max_size=14,
)  # fmt: skip


def step(np_: Any, names: list[Any], kind: str, which: int, first: int, second: int) -> Any:
    """One step of a program on the arrays so far; what it shows, or the kind of its error."""
    scope = {"np": np_, "x": names[first % len(names)], "y": names[second % len(names)]}
    texts = {"view": VIEWS, "write": WRITES, "read": READS}[kind]
    text = texts[which % len(texts)]
    try:
        if kind == "write":
            before = scope["y"]
            exec(text, scope)
            if scope["y"] is not before:
                names.append(scope["y"])
            return None
        found = eval(text, scope)
    except (IndexError, TypeError, ValueError):
        return "refused"
    if kind == "view":
        names.append(found)
    return found


@examples(150)
@given(steps)
def test_every_name_sees_what_numpys_sees(program: list[tuple[str, int, int, int]]) -> None:
    values = np.arange(24.0).reshape(4, 6) - 7
    theirs: list[Any] = [values.copy(), values[:3, 1].copy()]
    ours: list[Any] = [fw.asarray(theirs[0].copy()), fw.asarray(theirs[1].copy())]
    for kind, which, first, second in program:
        with np.errstate(all="ignore"):
            want = step(np, theirs, kind, which, first, second)
        got = step(fnp, ours, kind, which, first, second)
        assert (isinstance(want, str)) == (isinstance(got, str)), (want, got)
        if want is not None and not isinstance(want, str):
            np.testing.assert_array_equal(np.asarray(got), want)
        assert len(ours) == len(theirs)
        for mine, theirs_ in zip(ours, theirs, strict=True):
            assert mine.shape == theirs_.shape
            np.testing.assert_array_equal(np.asarray(mine), theirs_)
