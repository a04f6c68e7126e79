"""Orders, and what is counted of them, against brute force."""

from __future__ import annotations

import random
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusewright.plan.recurrences import cut, order, tier
from fusewright.plan.recurrences.live import Operands, lower_bound, pressure, spills


@st.composite
def graphs(draw: Any, most: int = 12) -> dict[int, tuple[int, ...]]:
    """Statements in topological order; values below 0 are leaves."""
    found: dict[int, tuple[int, ...]] = {}
    for statement in range(draw(st.integers(1, most))):
        reads = st.lists(st.integers(-3, statement - 1), min_size=0, max_size=4, unique=True)
        found[statement] = tuple(draw(reads))
    return found


def sinks(operands: Operands) -> list[int]:
    read = {value for reads in operands.values() for value in reads}
    return [statement for statement in operands if statement not in read]


def is_topological(found: order.Order, operands: Operands) -> bool:
    place = {statement: n for n, statement in enumerate(found)}
    return sorted(found) == sorted(operands) and all(
        place[value] < place[statement]
        for statement in found
        for value in operands[statement]
        if value in operands
    )


def counted(found: order.Order, operands: Operands) -> list[int]:
    """Live values at each statement, from the intervals in which values live: at its beginning or
    its end, whichever are more.
    """
    last = {value: n for n, statement in enumerate(found) for value in operands[statement]}
    born = {statement: n + 0.5 for n, statement in enumerate(found)}
    for n, statement in reversed(list(enumerate(found))):
        born.update({value: n for value in operands[statement] if value < 0})
    return [
        max(
            sum(born[value] <= n <= last[value] for value in last),
            sum(born[value] < n + 1 <= last[value] for value in last) + (found[n] not in last),
        )
        for n in range(len(found))
    ]


@settings(max_examples=150, deadline=None)
@given(graphs(), st.randoms(use_true_random=False))
def test_orders_are_topological_and_live_values_are_counted(operands: Any, chance: Any) -> None:
    targets = sinks(operands)
    chance.shuffle(targets)
    found = {**order.starts(operands, {"given": targets}), "by level": order.by_level(operands)}
    _, found["searched"] = order.search(found["depth first, given"], operands, targets, 300, 1)
    for name, each in found.items():
        assert is_topological(each, operands), name
        live = counted(each, operands)
        got = pressure(each, operands)
        assert got.peak == max(live)
        assert got.mean == pytest.approx(sum(live) / len(live))
        assert got.peak >= lower_bound(operands)
    peaks = {name: pressure(each, operands).peak for name, each in found.items()}
    assert peaks["searched"] <= peaks["depth first, given"]


@settings(max_examples=60, deadline=None)
@given(graphs(most=6))
def test_the_least_peak_is_that_of_all_permutations(operands: Any) -> None:
    best = order.least_peak(operands)
    assert best is not None and is_topological(best, operands)
    every = [each for each in permutations(operands) if is_topological(each, operands)]
    assert pressure(best, operands).peak == min(pressure(e, operands).peak for e in every)


def test_how_far_searched_orders_are_from_the_best() -> None:
    """60 seeded graphs of 20 to 60 statements that read near ones: a twelfth on average."""
    ratios = []
    for seed in range(60):
        chance, operands = random.Random(seed), dict[int, tuple[int, ...]]()
        for statement in range(20 + seed % 41):
            near = (int(chance.expovariate(0.15)) for _ in range(chance.randint(1, 3)))
            operands[statement] = tuple({max(statement - 1 - each, -4): None for each in near})
        targets = sinks(operands)
        best = order.least_peak(operands)
        assert best is not None and is_topological(best, operands)
        found = order.starts(operands, {"given": targets}).values()
        start = min(found, key=lambda each: pressure(each, operands).peak)
        _, searched = order.search(start, operands, targets, 20_000, 0)
        ratios.append(pressure(searched, operands).peak / pressure(best, operands).peak)
    assert min(ratios) >= 1.0
    assert sum(ratios) / len(ratios) <= 1.09 and max(ratios) <= 1.3


@settings(max_examples=60, deadline=None)
@given(graphs(most=30), st.integers(2, 8))
def test_spills_keep_every_operand_at_hand(operands: Any, registers: int) -> None:
    found = order.depth_first(order.ranked(operands, order.labels(operands)), sinks(operands))
    moved = spills(found, operands, registers)
    stored = {value: place for place, value in moved.stores}
    assert len(stored) == len(moved.stores)  # stored once
    computed = {statement: n for n, statement in enumerate(found)}
    for place, value in moved.loads:
        assert value in operands[found[place]]
        if value in operands:
            assert computed[value] < stored[value] <= place
    if registers >= pressure(found, operands).peak + 1:
        assert not moved.stores
    more = spills(found, operands, registers + 1)
    assert len(more.loads) <= len(moved.loads)


def test_a_tree_gets_its_sethi_ullman_number() -> None:
    """A complete binary tree of height h over leaves that are computed needs h + 1 places."""
    operands: dict[int, tuple[int, ...]] = {}
    level = list(range(8))
    operands.update(dict.fromkeys(level, ()))
    while len(level) > 1:
        level = [_joined(operands, pair) for pair in zip(level[::2], level[1::2], strict=True)]
    assert order.labels(operands)[level[0]] == 4
    found = order.starts(operands, {"only": level})["depth first, only"]
    assert pressure(found, operands).peak == 4
    assert pressure(order.by_level(operands), operands).peak == 8


def _joined(operands: dict[int, tuple[int, ...]], pair: tuple[int, int]) -> int:
    number = len(operands)
    operands[number] = pair
    return number


def test_pieces_and_tiers() -> None:
    assert cut.pieces(0) == ()
    assert cut.pieces(199) == (range(199),)
    assert cut.pieces(301)[-1] == range(300, 301) and len(cut.pieces(301)) == 7
    assert tier.tier(30, 32, 8) == tier.Tier("registers", 0, 0)
    assert tier.tier(132, 32, 8) == tier.Tier("L1", 100, 6400)
    assert tier.tier(634, 32, 8).place == "L2"
    assert tier.tier(634, 16, 4).place == "L1"
