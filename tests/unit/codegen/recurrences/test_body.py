"""Lists as machine code: the interpreter's bits at any width, and LLVM keeps the planned order."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from hypothesis import given, settings
from tests.unit.ir.recurrences.lists import straights

import fusewright as fw
from fusewright.base.options import current
from fusewright.codegen.recurrences import body as bodies
from fusewright.codegen.recurrences.body import body
from fusewright.codegen.recurrences.stack import predicted_stores
from fusewright.codegen.recurrences.vectors import ATTRIBUTES
from fusewright.integrals.classes import QuartetClass, listed
from fusewright.ir.recurrences.phases import Phases, run_phases
from fusewright.ir.recurrences.straight import Straight, Summand
from fusewright.plan.recurrences.cut import CUT_FROM, PART, crossing, parts
from fusewright.targets.cpu import compiler
from fusewright.targets.cpu.features import UnsupportedCPU, select
from fusewright.targets.target import target

FEATURES = ["avx2", "avx512"]


def require(features: str) -> None:
    try:
        select(features)
    except UnsupportedCPU:
        pytest.skip(f"this processor has no {features}")


def made_up(statements: int, seed: int, leaves: tuple[str, ...]) -> Straight:
    chance, values, terms = random.Random(seed), 3 + len(leaves), []
    for place in range(statements):
        near = values + place - 1 - min(values + place - 1, int(chance.expovariate(0.2)))
        statement = [Summand(chance.choice([1.0, -1.0, 0.5]), chance.choice([None, 0, 1, 2]), near)]
        for _ in range(chance.randrange(3)):
            other = chance.randrange(3, values + place)
            factor = chance.choice([1.0, -1.0, 2.0, -0.25])
            statement.append(Summand(factor, chance.choice([None, 0, 2]), other))
        terms.append(tuple(statement))
    results = tuple(chance.randrange(3, values + statements) for _ in range(7))
    return Straight(("a", "b", "c"), leaves, tuple(terms), results)


def rows(names: tuple[str, ...], shape: tuple[int, ...], seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: 0.5 * rng.standard_normal(shape) for name in names}


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("statements", [1, 60, CUT_FROM + 150, 3 * PART + 50])
def test_bits_are_the_interpreters(features: str, statements: int) -> None:
    require(features)
    phases = Phases(made_up(statements, 7, ("x", "y", "z")))
    with fw.options(features=features, threads=2):
        kernel = target().compile(phases, current())
        for columns in (1, 7, 8, 1023):
            scalars = rows(phases.outer.scalars, (columns,), 1)
            leaves = rows(phases.outer.leaves, (columns,), 2)
            found, meant = kernel.run(scalars, leaves), run_phases(phases, scalars, leaves)
            assert found.tobytes() == meant.tobytes()


def test_slots_of_values_that_cross() -> None:
    """Exactly the values that later parts read have one, and each holds one value at a time."""
    straight = made_up(4 * PART + 10, 5, ("x",))
    functions = parts(len(straight.statements))
    assert [place for part in functions for place in part] == list(range(4 * PART + 10))
    assert len(functions) == 5 and max(map(len, functions)) <= PART
    slots, many = crossing(straight, functions)
    where = {straight.first + p: n for n, part in enumerate(functions) for p in part}
    last: dict[int, int] = {}
    for value, number in where.items():
        for read in straight.operands(value - straight.first):
            last[read] = number
    crosses = {value for value, number in where.items() if last.get(value, number) > number}
    assert set(slots) == crosses and 0 < many < len(crosses)
    holders: dict[int, int] = {}
    for value in sorted(slots):
        holder = holders.get(slots[value])
        assert holder is None or last[holder] < where[value]
        holders[slots[value]] = value
    assert sorted(holders) == list(range(many))


@pytest.mark.parametrize("features", FEATURES)
def test_bits_of_sums_along_an_axis(features: str) -> None:
    require(features)
    inner = made_up(30, 3, ("x", "y", "z"))
    outer = made_up(20, 4, ("sum:4", "x", "sum:0"))
    phases = Phases(outer, inner, "place")
    scalars = rows(("a", "b", "c"), (13,), 1)
    leaves = {"x": rows(("x",), (13,), 2)["x"], **rows(("y",), (5, 13), 3), "z": np.array(0.25)}
    with fw.options(features=features):
        found = target().compile(phases, current()).run(scalars, leaves)
    assert found.tobytes() == run_phases(phases, scalars, leaves).tobytes()


@settings(max_examples=6, deadline=None)
@given(straights())
def test_bits_of_random_lists(straight: Straight) -> None:
    scalars, leaves = rows(straight.scalars, (9,), 1), rows(straight.leaves, (9,), 2)
    phases = Phases(straight)
    found = target().compile(phases, current()).run(scalars, leaves)
    assert found.tobytes() == run_phases(phases, scalars, leaves).tobytes()


STORE = re.compile(r"vmov\w+\s+%[yz]mm\d+, -?\d*\(%r[sb]p\)")
REGISTERS = {"avx2": (16, 4), "avx512": (32, 8)}


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("momenta", [(1, 1, 1, 1), (2, 1, 2, 1)], ids=["pppp", "dpdp"])
def test_llvm_stores_what_the_planner_predicts(
    features: str, momenta: tuple[int, int, int, int]
) -> None:
    """Without anchors it is three to four times as much: the day LLVM changes, this says so."""
    require(features)
    registers, lanes = REGISTERS[features]
    code = listed(QuartetClass(momenta, True, ((False,),), False))
    steps = [step.straight for step in code.steps or ()] or [code.horizontal]
    for straight in (code.vertical, *steps):
        text = body(straight, "f", lanes).replace("define private", "define") + ATTRIBUTES
        listing = compiler.assembly(text, select(features), 2)
        stores, predicted = len(STORE.findall(listing)), predicted_stores(straight, registers)
        assert predicted / 1.5 <= stores <= 1.5 * predicted
        assert "andq\t$-64, %rsp" in listing or not stores


@pytest.mark.parametrize("cut_from", [CUT_FROM, 10**9], ids=["cuts", "anchors"])
def test_without_cuts_and_anchors_llvm_reorders(
    cut_from: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What they are there for, so that they go when it does not need them any more."""
    require("avx512")
    monkeypatch.setattr(bodies, "CUT_FROM", cut_from)
    straight = listed(QuartetClass((2, 1, 2, 1), True, ((False,),), False)).vertical
    text = body(straight, "f", 8).replace("define private", "define") + ATTRIBUTES
    anchor = r"= call (<8 x double>) asm sideeffect .*\(<8 x double> (.*)\)"
    bare = re.sub(anchor, r"= freeze \1 \2", text)
    bare = re.sub(r"br i1 %never, label %quit, label (%b\d+)", r"br label \1", bare)
    assert bare != text
    many = [len(STORE.findall(compiler.assembly(t, select("avx512"), 2))) for t in (text, bare)]
    assert many[1] > 1.5 * many[0]
