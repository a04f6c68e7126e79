"""Programs that are not well formed are refused, and the message names what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.unit.programs_of import PROGRAMS, decided, leaves

from fusewright.base.errors import InternalError
from fusewright.ir.dtypes import FLOAT64, INT64
from fusewright.ir.expr import const, index, load, param
from fusewright.ir.nest import Box, Library, Program, Stage
from fusewright.ir.verify import check_program
from fusewright.plan.plan import Kernel
from fusewright.plan.verify import check_plan


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_the_planner_makes_is_well_formed(name: str) -> None:
    slice_, program, plan = decided(PROGRAMS[name]())
    check_program(program, len(slice_.order), leaves(slice_))
    check_plan(program, plan, leaves(slice_))


def with_stage(program: Program, change: Callable[[Stage], Stage]) -> Program:
    *before, last = program.steps
    assert isinstance(last, Stage)
    return replace(program, steps=(*before, change(last)))


def with_body(body: object) -> Callable[[Program], Program]:
    def change(stage: Stage) -> Stage:
        return replace(stage, nests=(replace(stage.nests[0], body=body),))

    return lambda program: with_stage(program, change)


ZERO = const(0, INT64)
BROKEN: dict[str, Callable[[Program], Program]] = {
    "is read before it is computed": with_body(load(77, (index(0),), FLOAT64)),
    "no run-time argument 99": with_body(param(99, FLOAT64)),
    "loop 5 of 1": with_body(load(0, (index(5),), FLOAT64)),
    "2 indices into": lambda p: with_body(load(0, (ZERO,) * 3, FLOAT64))(p),
    "is no int64": with_body(load(0, (param(0, FLOAT64),), FLOAT64)),
    "of 'nonsense'": lambda p: with_stage(p, lambda s: replace(s, fold="nonsense")),
    "axes": lambda p: with_stage(p, lambda s: replace(s, axes=(3,))),
    "no nests": lambda p: with_stage(p, lambda s: replace(s, nests=())),
    "a box of": lambda p: with_stage(
        p, lambda s: replace(s, nests=(replace(s.nests[0], box=Box((), ())),))
    ),
    "indices": lambda p: with_stage(
        p, lambda s: replace(s, nests=(replace(s.nests[0], store=(ZERO,) * 4),))
    ),
    "nothing computes": lambda p: replace(p, outputs=frozenset({500})),
    "no buffer": lambda p: replace(p, steps=(*p.steps, Library(900, ()))),
}


@pytest.mark.parametrize("message", BROKEN)
def test_broken_programs_are_refused(message: str) -> None:
    slice_, program, _ = decided(PROGRAMS["chain"]())
    expected = "3 indices into" if message == "2 indices into" else message
    with pytest.raises(InternalError, match=expected):
        check_program(BROKEN[message](program), len(slice_.order), leaves(slice_))


def test_broken_plans_are_refused() -> None:
    slice_, program, plan = decided(PROGRAMS["scan"]())
    inputs = leaves(slice_)
    with pytest.raises(InternalError, match="not stored"):
        check_plan(program, replace(plan, steps=()), inputs)
    kernels = [step for step in plan.steps if isinstance(step, Kernel)]
    with pytest.raises(InternalError, match=r"reads .* too early"):
        check_plan(program, plan, set())
    (member, *_) = kernels[-1].phases[-1]
    hidden = replace(
        kernels[-1], phases=(*kernels[-1].phases[:-1], (replace(member, place="row"),))
    )
    with pytest.raises(InternalError, match="must be stored"):
        check_plan(program, replace(plan, steps=(*plan.steps[:-1], hidden)), inputs)
    uneven = replace(kernels[-1], phases=((replace(member, ring=3),),))
    with pytest.raises(InternalError, match=r"a ring of 3 rows|too early"):
        check_plan(program, replace(plan, steps=(uneven,)), inputs)
