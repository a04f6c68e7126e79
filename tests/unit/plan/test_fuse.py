"""Which operations become one kernel: those that one operation reads may have nothing in common
otherwise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.runtime import trace

SHAPE = (20, 2000)


def both(m: Any, p: Any, q: Any, between: bool = False) -> Any:
    """Differences of two values that share no operand; a step may come between them."""
    u = m.exp(p)
    last = m.sort(u, axis=1)[:, -1:] if between else 3.0
    v = m.exp(q / last)
    return (u[1:, 1:] - u[:-1, 1:]) * (v[1:, 1:] - v[1:, :-1])


def operands(m: Any) -> tuple[Any, Any]:
    random = np.random.default_rng(3)
    return tuple(m.asarray(random.standard_normal(SHAPE)) for _ in range(2))  # type: ignore[return-value]


def test_two_values_that_one_operation_reads_are_one_kernel() -> None:
    with fw.lazy():
        value = both(fnp, *operands(fnp))
        (kernel,) = fw.explain(value).kernels
    assert [o.place for o in kernel.operations if o.name == "exp"] == ["row", "row"]
    np.testing.assert_allclose(np.asarray(value), both(np, *operands(np)), rtol=1e-12, atol=1e-12)


def test_what_a_step_between_them_reads_is_computed_before_it() -> None:
    with fw.lazy():
        value = both(fnp, *operands(fnp), between=True)
        assert len(fw.explain(value).kernels) > 1
    wanted = both(np, *operands(np), between=True)
    np.testing.assert_allclose(np.asarray(value), wanted, rtol=1e-12, atol=1e-12)


def waves(m: Any, steps: int) -> Any:
    """A velocity and a height that follow each other, written into regions."""
    height, speed = (m.asarray(value) * 1.0 for value in operands(np))
    if m is fnp:
        fw.evaluate(height, speed)
    for _ in range(steps):
        speed[:, 1:-1] -= 0.1 * (height[:, 2:] - height[:, :-2])
        height = height - 0.1 * (speed * speed)
    return height, speed


def test_a_version_that_another_replaces_is_made_in_its_pass() -> None:
    once, twice = (trace.take([each._node for each in waves(fnp, steps)]) for steps in (1, 2))
    assert len(once.reusable) == 1
    assert len(twice.reusable) == 0 and len(twice.outputs) == 2
    for steps in (1, 2, 3):
        for ours, theirs in zip(waves(fnp, steps), waves(np, steps), strict=True):
            np.testing.assert_array_equal(np.asarray(ours), theirs)


def basin(m: Any, steps: int) -> tuple[Any, Any]:
    """Waves in a basin: the inside of both arrays, then all four borders, in every step."""
    height, speed = (m.asarray(value) * 1.0 for value in operands(np))
    if m is fnp:
        fw.evaluate(height, speed)
    for _ in range(steps):
        for array, other in ((speed, height), (height, speed)):
            array[1:-1, 1:-1] -= 0.1 * (other[2:, 1:-1] - other[:-2, 1:-1])
            array[0], array[-1] = array[1], array[-2]
            array[:, 0], array[:, -1] = array[:, 1], array[:, -2]
    return height, speed


def test_borders_are_written_in_the_pass_of_the_inside() -> None:
    slice_ = trace.take([each._node for each in basin(fnp, 2)])
    assert not slice_.reusable and len(slice_.outputs) == 2
    with fw.lazy():
        assert len(fw.explain(*basin(fnp, 2)).kernels) == 1
    for ours, theirs in zip(basin(fnp, 2), basin(np, 2), strict=True):
        np.testing.assert_array_equal(np.asarray(ours), theirs)


def products_of_pieces(m: Any, count: int) -> tuple[Any, ...]:
    """Sums of products with shifted pieces of a value that has a border."""
    grad, x = operands(m)
    rows = SHAPE[1]
    padded = m.pad(x * 2.0, ((0, 0), (2, 2)))
    return tuple((grad * padded[:, at : at + rows]).sum(axis=1) for at in range(count))


def test_what_several_sums_look_into_is_stored_once() -> None:
    """Not what each of them adds up, which would be an array for each."""
    with fw.lazy():
        sums = products_of_pieces(fnp, 5)
        kernels = fw.explain(*sums).kernels
    places = [(o.name, o.place) for kernel in kernels for o in kernel.operations]
    assert ("join", "row") in places and places.count(("multiply", "register")) == 6
    for got, want in zip(sums, products_of_pieces(np, 5), strict=True):
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-10, atol=1e-10)
