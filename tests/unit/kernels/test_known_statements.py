"""Array statements that join a group of deferred calls again and again: the native core lets them.
Reductions and scans join where their order shows in no bit, or is that of a loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.properties.test_deferred_groups import halved, running, smoothed
from tests.unit.kernels.test_groups import allocated, arrays
from tests.unit.kernels.test_statements import N, as_is, calls_of, joining, numbers, plainly

import fusewright as fw
import fusewright.numpy as fnp
from fusewright import driver
from fusewright._core import native
from fusewright.ir.graph import PART
from fusewright.kernels import statements

__all__ = ["joining"]  # a fixture of these tests too

# -- what the core does by itself -----------------------------------------------------------------


def known_to_the_core(monkeypatch: pytest.MonkeyPatch, run: Callable[[], object]) -> list[str]:
    """What is asked of Python in the runs after the first ones."""
    for _ in range(30):
        run()
    asked: list[str] = []
    for name in ("join_operands", "join_requested", "_join"):
        function = getattr(statements, name)

        def noted(*args: Any, name: str = name, function: Any = function) -> Any:
            asked.append(name)
            return function(*args)

        monkeypatch.setattr(statements, name, noted)
    monkeypatch.setattr(driver, "joiners", [statements.join_requested])
    for _ in range(5):
        run()
    return asked


def with_operators(a: Any, b: Any) -> Any:
    u, w = fnp.empty(N), fnp.empty(N)
    halved(a * 2.0 + b[::-1], u)
    smoothed(u * a - 1.0, b, w, 0.25)
    return w + u


def with_regions(a: Any, b: Any) -> Any:
    u, w = fnp.empty(N), fnp.zeros(N)
    halved(a, u)
    u[1:-1] = 0.5 * (u[2:] + u[:-2])
    u[3:7] *= 0.5
    w[2:] = b[2:] * 3.0
    smoothed(u, w, w, 0.25)
    w[0] = 7.0
    running(u, w)
    return w


@pytest.mark.skipif(native is None, reason="it is the core's")
@pytest.mark.parametrize("program", [with_operators, with_regions])
@pytest.mark.parametrize("at_once", [N, 1 << 60])
def test_a_known_statement_joins_in_the_core(
    program: Any, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements.set_least(N, at_once)
    (a, b), _ = arrays(2)
    found: list[Any] = []

    def run() -> None:
        found.append(program(a, b))
        members = calls_of(found[-1]) if found[-1]._node.kind == PART else []
        fw.evaluate(found[-1])
        found.append(members)

    assert known_to_the_core(monkeypatch, run) == []
    assert "array_statement" in found[-1] or program is with_operators
    statements.set_least(1 << 60, 1 << 60)
    apart = np.asarray(program(a, b)).tobytes()
    assert {np.asarray(each).tobytes() for each in found[::2]} == {apart}


@pytest.mark.skipif(native is None, reason="it is the core's")
def test_statements_that_share_a_place_do_not_take_turns() -> None:
    """Of 200 programs some have two statements in a place where an old one is."""
    statements.set_least(N, N)
    joins: list[int] = []
    for size in range(N, N + 200):
        a, b = fw.asarray(np.linspace(0.0, 1.0, size)), fw.asarray(np.linspace(1.0, 2.0, size))

        def run(a: Any = a, b: Any = b, size: int = size) -> None:
            u, w = fnp.empty(size), fnp.empty(size)
            halved(a * 2.0 + b[::-1], u)
            smoothed(u * a - 1.0, b, w, 0.25)
            fw.evaluate(w + u)

        with pytest.MonkeyPatch.context() as patch:
            joins.append(known_to_the_core(patch, run).count("join_operands"))
    assert joins == [0] * 200


@pytest.mark.skipif(native is None, reason="it is the core's")
def test_a_rare_statement_stays_apart() -> None:
    statements.set_least(N, 1 << 60)
    driver.cache_clear()  # what other tests have recorded is no part of how often it comes
    scaled = fw.kernel(halved.__wrapped__)
    (a, b), _ = arrays(2)
    joined = []
    for _ in range(20):
        u = fnp.zeros(N)
        scaled((a * 2.0 - b / 3.0) * 0.75 + (b - a) / 7.0, u)  # met in no other test
        joined.append(calls_of(u))
    assert joined[0] == joined[3] == ["halved"]
    assert joined[-1] == ["array_statement", "halved"]


@pytest.mark.skipif(native is None, reason="it is the core's")
def test_numbers_and_places_of_a_known_statement_are_its_own() -> None:
    (a, b), (p, q) = arrays(2)
    for turn in range(20):
        u, x = fnp.zeros(N), np.zeros(N)
        halved(a[turn : turn + 400] * (turn * 0.5) + b[turn % 3 : 400 + turn % 3], u[:400])
        u[turn : turn + 9] = turn * 1.5
        halved.__wrapped__(
            p[turn : turn + 400] * (turn * 0.5) + q[turn % 3 : 400 + turn % 3], x[:400]
        )
        x[turn : turn + 9] = turn * 1.5
        running(b, u)
        running.__wrapped__(q, x)
        assert np.asarray(u).tobytes() == x.tobytes(), turn


@pytest.mark.skipif(native is None, reason="it is the core's")
def test_a_version_that_somebody_holds_stays_in_the_core_too() -> None:
    (a, b), (p, q) = arrays(2)
    for turn in range(20):
        u, x = fnp.zeros(N), np.zeros(N)
        halved(a, u)
        halved.__wrapped__(p, x)
        old, was = (u.copy(), x.copy()) if turn % 2 else (u, x)
        u[3:9] = b[3:9] * 2.0
        x[3:9] = q[3:9] * 2.0
        running(b, u)
        running.__wrapped__(q, x)
        assert np.asarray(u + old).tobytes() == (x + was).tobytes(), turn


# -- reductions and scans -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fold",
    [
        lambda u: (u > 1.0).sum(),
        lambda u: (u * 4.0).astype("int32").max(),
        lambda u: (u * 4.0).astype("int8").sum(),
        lambda u: (u > 1.0).any(),
        lambda u: (u >= 0.0).all(),
        lambda u: (u * 4.0).astype("int64").reshape(5, 100).min(axis=0),
        lambda u: u.reshape(5, 100).cumsum(axis=1),
        lambda u: (u * 0.5).cumsum(),
        lambda u: (u * 4.0).astype("uint8") - (u * 4.0).astype("uint8").min(),
    ],
)
def test_folds_whose_order_no_bit_shows(fold: Any) -> None:
    def program(xp: Any, k: Any, a: Any, b: Any) -> Any:
        u = xp.zeros(N)
        k(halved)(a, u)
        u += b
        return fold(u)

    given = numbers(2)
    wanted = program(np, plainly, *[x.copy() for x in given])
    mine = [fw.asarray(x) for x in given]
    for _ in range(3):
        assert np.asarray(program(fnp, as_is, *mine)).tobytes() == wanted.tobytes()


@pytest.mark.skipif(native is None, reason="Python takes memory for what it computes")
def test_what_is_counted_gets_no_memory() -> None:
    (a, b), _ = arrays(2)

    def step() -> None:
        u = fnp.empty(N)
        smoothed(a, b, u, 0.5)
        fw.evaluate((u > b).sum())

    assert allocated(step) == 1  # the count


@pytest.mark.parametrize("fold", [lambda u: u.sum(), lambda u: u.max(), lambda u: u.mean()])
def test_sums_and_extremes_of_floats_keep_their_order(fold: Any) -> None:
    def program(a: Any) -> Any:
        u = fnp.zeros(N)
        halved(a, u)
        return np.asarray(fold(u - 1.0)).tobytes()

    (a,), _ = arrays(1)
    found = {program(a) for _ in range(3)}
    statements.set_least(1 << 60, 1 << 60)
    assert found == {program(a)}
