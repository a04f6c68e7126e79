"""Loops found again in unrolled bodies: unrolling what was found gives the body, node by node."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from fusewright.ir.dtypes import BOOL, FLOAT64, INT64
from fusewright.ir.expr import Expr, cast, const, index, load, op, param, postorder, typed_op
from fusewright.rules.recurrence import Recurrence, find, replaced
from fusewright.rules.standstill import standstill

HERE = index(0)
TURNS = 20
Loop = Callable[[int], list[Expr]]


def _number(turn: int, place: int) -> Expr:
    return param(10 * turn + place, FLOAT64)


def _source(number: int) -> Expr:
    return load(number, (HERE,), FLOAT64)


def _newton(turns: int) -> list[Expr]:
    x, a = _source(0), _source(1)
    for turn in range(turns):
        residue = op("subtract", op("multiply", x, x), a)
        x = op("subtract", x, op("divide", residue, op("multiply", x, _number(turn, 0))))
    return [x]


def _masked(turns: int) -> list[Expr]:
    x, y, count = _source(0), _source(1), param(9999, FLOAT64)
    for turn in range(turns):
        inside = op("less", op("hypot", x, y), _number(turn, 0))
        count = op("where", inside, _number(turn, 1), count)
        x, y = (
            op("where", inside, op("fma", x, x, op("multiply", y, y)), x),
            op("where", inside, op("multiply", x, y), y),
        )
    return [x, y, count]


def _counted(turns: int) -> list[Expr]:
    x, count = _source(0), const(0, INT64)
    alive: Expr = op("less", x, _number(0, 3))
    for turn in range(turns):
        x = op("where", alive, op("fma", x, x, _source(1)), x)
        alive = op("bitwise_and", alive, op("less", op("multiply", x, x), _number(turn, 0)))
        count = op("add", count, cast(alive, INT64))
    return [count, x]


LOOPS: dict[str, Loop] = {"newton": _newton, "masked": _masked, "counted": _counted}


def _unrolled(found: Recurrence) -> list[Expr]:
    state: Sequence[Expr] = found.start
    for values in found.values:
        given = dict(zip((*found.state, *found.varying), (*state, *values), strict=True))
        state = replaced(found.step, given)
    return replaced(found.roots, dict(zip(found.state, state, strict=True)))


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("turns", [13, 22, 40])
def test_unrolling_gives_the_body(name: str, turns: int) -> None:
    roots = LOOPS[name](turns)
    found = find(roots, HERE)
    assert found is not None
    assert len(found.values) >= turns - 1
    assert _unrolled(found) == roots
    assert sum(1 for _ in postorder(found.step)) < 25


@pytest.mark.parametrize("kept", range(3))
def test_the_end_may_use_some_of_the_state(kept: int) -> None:
    one = _masked(TURNS)[kept]
    roots = [op("add", one, op("square", one))]
    found = find(roots, HERE)
    assert found is not None
    assert _unrolled(found) == roots
    assert found.rest is not None


def test_values_between_the_turns_are_not_lost() -> None:
    """A value of the middle is asked for, too: that is no loop any more."""
    whole, part = _newton(30)[0], _newton(11)[0]
    found = find([whole, part], HERE)
    assert found is None or _unrolled(found) == [whole, part]


def test_a_turn_that_differs_ends_the_loop() -> None:
    x = _source(0)
    for turn in range(30):
        name = "subtract" if turn == 12 else "add"
        x = op(name, op("multiply", x, _source(1)), _number(turn, 0))
    found = find([x], HERE)
    assert found is not None
    assert len(found.values) <= 17
    assert _unrolled(found) == [x]


def test_what_does_not_repeat_is_left_alone() -> None:
    names = ["add", "multiply", "subtract", "maximum", "minimum", "divide"]
    x = _source(0)
    for turn in range(80):
        x = op(names[turn * turn * 7 % 5 + turn % 2], x, _source(turn % 7))
    found = find([x], HERE)
    assert found is None or _unrolled(found) == [x]
    assert find([op("add", _source(0), _source(1))], HERE) is None


def test_a_mask_that_stays_is_a_standstill() -> None:
    found = find(_masked(TURNS), HERE)
    assert found is not None and found.rest is not None
    assert found.rest.condition.name == "less" and not found.rest.value
    assert [found.values[0][n] for n in found.rest.steady] == [_number(0, 0)]


def _state() -> tuple[Expr, Expr]:
    return _source(0), load(1, (HERE,), BOOL)


def test_steps_that_come_to_rest() -> None:
    x, alive = _state()
    grown = op("multiply", x, x)
    still = op("less", x, const(2.0, FLOAT64))
    both = op("bitwise_and", alive, still)
    for step, condition, value in (
        ([op("where", still, grown, x)], still, False),
        ([op("where", still, x, grown)], still, True),
        ([op("where", alive, grown, x), both], alive, False),
    ):
        rest = standstill(step, [x, alive][: len(step)], ())
        assert rest is not None
        assert (rest.condition, rest.value) == (condition, value)


def test_steps_that_never_rest() -> None:
    x, alive = _state()
    still = op("less", x, const(2.0, FLOAT64))
    grown = op("add", x, const(1.0, FLOAT64))
    zero = op("where", still, grown, const(0.0, FLOAT64))
    assert standstill([op("where", still, grown, zero)], [x], ()) is None
    # -0.0 + 0.0 is 0.0: a float that nothing is added to may change
    added = op("add", x, cast(still, FLOAT64))
    assert standstill([op("where", still, grown, added)], [x], ()) is None
    # the mask may come back: it is not what it was
    flipped = typed_op("invert", BOOL, alive)
    assert standstill([op("where", alive, grown, x), flipped], [x, alive], ()) is None
