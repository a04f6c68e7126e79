"""Boolean selection stays recorded as long as the same mask decides, and always means NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusewright.frontends.arrays as fa
from fusewright.base import errors
from fusewright.base.figures import KERNEL_ELEMENTS
from fusewright.frontends.arrays import masking
from fusewright.frontends.arrays.handle import Masked
from fusewright.ir.graph import LEAF

Program = Callable[[Any, Any, Any], Any]


def operands() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 5, 4)) * 3
    return x, y + 8, rng.random((5, 4)) < 0.5


def large(elements: int = KERNEL_ELEMENTS) -> Any:
    """The same many times: more than is looked at at once."""
    return [np.tile(values, (1 + elements // values.size, 1)) for values in operands()]


def squares(x: Any, y: Any, m: Any) -> Any:
    x[m] = x[m] * x[m] + y[m]
    return x


def grows(x: Any, y: Any, m: Any) -> Any:
    x[m] += 2
    y[m] *= x[m]
    return x, y


def functions(x: Any, y: Any, m: Any) -> Any:
    t = np.minimum(np.abs(x[m]), 1.5)
    y[m] = 1 / (1 + t) - -t
    return y, t > 1, 2 ** np.floor(t)


def old_values(x: Any, y: Any, m: Any) -> Any:
    kept = x[m]
    x[m] = 0
    m[0, 0] = ~m[0, 0]
    y[m] = 1
    return x, y, kept, m


def written_twice(x: Any, y: Any, m: Any) -> Any:
    x[x > 0] = x[x > 0] ** 0.5 + y[x > 0]
    x[x > 1] -= x[x > 0][: int((x > 1).sum())]  # not the same
    t = x - y.mean()
    t[(t * t > 2) & m] /= t[(t * t > 2) & m]
    t[t == 0.0] = 1 / t[t == -0.0]
    return x, y, t


def other_mask(x: Any, y: Any, m: Any) -> Any:
    n = ~m
    count = min(int(m.sum()), int(n.sum()))
    part = x[m][:count] + y[n][:count]
    x[n] = 3 * x[n]
    return part, x


def written(x: Any, y: Any, m: Any) -> Any:
    t = x[m]
    view = t[1:]
    t += 1
    t[0] = 7
    view[-1] = 9
    y[m] = t
    return t, view, y


def numbers(x: Any, y: Any, m: Any) -> Any:
    t = x[m]
    return len(t), t.size, x.sum() * t, t.copy() - 1, t.astype("f4"), [float(v) for v in t]


def same_mask_twice(x: Any, y: Any, m: Any) -> Any:
    x[(x > 0) & (y < 9)] = x[(x > 0) & (y < 9)] ** 0.5
    return x


PROGRAMS = [
    squares, grows, functions, old_values, written_twice, same_mask_twice,
    other_mask, written, numbers,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_meaning_is_numpys(program: Program) -> None:
    want = program(*operands())
    got = program(*map(fa.asarray, operands()))
    want, got = (v if isinstance(v, tuple) else (v,) for v in (want, got))
    for ours, theirs in zip(got, want, strict=True):
        np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-14)


@pytest.mark.parametrize("program", [squares, grows, same_mask_twice])
def test_one_mask_evaluates_nothing(program: Program) -> None:
    x, y, m = map(fa.asarray, large())
    program(x, y, m > 0)
    assert x._node.kind != LEAF


def test_reductions_of_what_a_mask_selects_stay_recorded() -> None:
    x, _, m = large()
    ours, mask = fa.asarray(x), fa.asarray(m)
    for name in ("sum", "mean", "std", "any", "all"):
        got = getattr(ours[mask], name)()
        assert got._node.kind != LEAF
        np.testing.assert_allclose(got, getattr(x[m], name)(), rtol=1e-11)
    assert float(ours[mask].max()) == x[m].max()
    with pytest.raises(ValueError, match="zero-size"):
        ours[mask & ~mask].max()


def by_numpys(x: Any, y: Any, m: Any) -> Any:
    return np.sqrt(np.abs(x[m])) * 3.0 - 1 + np.linspace(0, 1, np.asarray(m).sum())


def by_one_more(x: Any, y: Any, m: Any) -> Any:
    kept = x[m] * y[m]
    return kept[1:] - kept[:-1]


def by_numbers(x: Any, y: Any, m: Any) -> Any:
    return (x[m] - x.mean())[::2] - x[m].max()


def by_many(x: Any, y: Any, m: Any) -> Any:
    kept = x[m]
    for _ in range(200):
        kept = kept * 0.5 + kept
    return kept[3:]


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("program", [by_numpys, by_one_more, by_many])
def test_functions_of_what_is_picked_out_have_the_same_bits(program: Program, share: float) -> None:
    x, y, _ = large()
    m = np.random.default_rng(4).random(x.shape) < share
    want = np.asarray(program(x, y, m))
    np.testing.assert_array_equal(np.asarray(program(fa.asarray(x), fa.asarray(y), m)), want)
    np.testing.assert_array_equal(
        np.asarray(program(fa.asarray(x), fa.asarray(y), fa.asarray(m))), want
    )


def test_what_is_not_of_elements_goes_another_way() -> None:
    x, y, m = large()
    want = by_numbers(x, y, m > 0)
    got = np.asarray(by_numbers(*map(fa.asarray, (x, y, m > 0))))
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


def test_few_elements_are_picked_out_before_functions_of_them_are_computed() -> None:
    x, y, _ = map(fa.asarray, large())
    for few, is_whole in ((x > 2.5, False), (x > -9, True)):
        product = x[few] * y[few]
        found = masking.parts(product)
        assert found is not None
        product.tolist()
        assert (found[0].kind == LEAF) is is_whole


@pytest.mark.parametrize(
    "elements", [1000, KERNEL_ELEMENTS, KERNEL_ELEMENTS + 1, 4 * KERNEL_ELEMENTS]
)
@pytest.mark.parametrize("written", [1, 2])
def test_one_or_more_elements_are_written_where_a_mask_holds(elements: int, written: int) -> None:
    x = np.zeros(elements)
    ours, mask = fa.asarray(x.copy()) + 0.0, np.arange(elements) < written
    for _ in range(3):
        ours[fa.asarray(mask)] = ours[fa.asarray(mask)] * 0.5 + np.ones(written)
        x[mask] = x[mask] * 0.5 + np.ones(written)
    np.testing.assert_array_equal(np.asarray(ours), x)


def test_values_a_mask_leaves_out_are_not_looked_at() -> None:
    base, exponent = fa.asarray([2, 3, 4]), fa.asarray([1, -1, 2])
    chosen = exponent > 0
    assert (base[chosen] ** exponent[chosen]).tolist() == [2, 16]
    whole = fa.asarray([6, 7, 8]) // fa.asarray([2, 0, 4])
    assert whole[chosen].tolist() == [3, 2]
    divided = fa.asarray([6, 7, 8])[chosen] // fa.asarray([2, 0, 4])[chosen]
    assert divided.tolist() == [3, 2]


def test_a_mask_of_another_shape_is_refused_at_the_line() -> None:
    x = fa.asarray(np.ones((3, 4)))
    with pytest.raises(errors.BoundsError, match="boolean index did not match"):
        x[fa.asarray(np.ones((3, 3), bool))]


def test_memory_that_numpy_sees_is_read_at_once() -> None:
    shared = np.arange(4.0)
    x = fa.asarray(shared, copy=False)
    mask = fa.asarray([True, False, True, False])
    chosen = x[mask]
    shared[:] = 0
    assert not isinstance(chosen, Masked)
    assert chosen.tolist() == [0.0, 2.0]


def test_an_in_place_operator_keeps_the_type() -> None:
    x = fa.asarray(np.arange(3))
    mask = x > 0
    with pytest.raises(errors.DTypeError, match="same_kind"):
        x[mask] += 0.5
    chosen = x[mask]
    same = chosen
    chosen += 2
    assert same.tolist() == [3, 4] and x.tolist() == [0, 1, 2]


@pytest.mark.parametrize("use", [
    lambda chosen: chosen[1], lambda chosen: list(chosen), lambda chosen: chosen[1:].sum(),
    lambda chosen: chosen.__setitem__(0, 7.0), lambda chosen: np.asarray(chosen),
])  # fmt: skip
def test_what_has_been_picked_out_is_an_array(use: Any) -> None:
    """Each element of a kept selection once took a walk through Python."""
    x = fa.asarray(np.arange(2000.0)) * 1.0
    chosen, other = x[x > 3], x[x > 3]
    view, before = chosen[2:], type(other)  # where the values are known, they are picked at once
    use(chosen)
    assert type(chosen) is fa.Array and type(other) is before
    chosen *= 2.0
    want = np.arange(4.0, 2000.0)
    assert chosen.tolist()[1:] == (want * 2).tolist()[1:] and view[0] == 12.0
    assert other.tolist() == want.tolist() and x[5] == 5.0


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "any", "all", "mean"])
def test_few_elements_are_picked_before_they_are_reduced(name: str) -> None:
    """A kernel for all elements would cost more than NumPy's whole statement: a mean of 500 of
    8,000 elements took 115 us (NumPy: 14).  What is reduced are the elements, in their order.
    """
    for size in (5_000, KERNEL_ELEMENTS):
        x = fa.asarray(np.linspace(0.9, 1.1, size)) * 1.0
        mask = fa.asarray(np.arange(size)) % 7 == 3
        few = x[mask]
        wanted = np.asarray(getattr(fa.asarray(np.asarray(x)[np.asarray(mask)]) * 1.0, name)())
        assert np.asarray(getattr(few, name)()).tobytes() == wanted.tobytes()
        assert type(few) is not Masked, size


def test_many_elements_are_reduced_under_their_mask() -> None:
    x = fa.asarray(np.linspace(0.9, 1.1, 40_000)) * 1.0
    many = x[x > 1.0]
    assert float(many.sum()) == pytest.approx(float(np.asarray(x)[np.asarray(x) > 1.0].sum()))
    assert type(many) is Masked
