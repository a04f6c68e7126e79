"""Launches over a range like an earlier one, in a few microseconds: what the work unit takes and
which kernel it is are known, and for views laid out alike the code is, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from fusewright.base.values import dataclass
from fusewright.bridges.pykokkos.dialect.drivers import BLOCKS
from fusewright.bridges.pykokkos.policies import RangePolicy
from fusewright.bridges.pykokkos.reducers import Reducer
from fusewright.bridges.pykokkos.spaces import ExecutionSpace, Trait, get_default_space
from fusewright.bridges.pykokkos.unit_kernel import UnitKernel
from fusewright.bridges.pykokkos.views import ViewType
from fusewright.machine.record import DEFAULT

SMALL = DEFAULT.joined // 2
"""Bytes of a view below which a kernel that is no array statement runs at once: its launch as a
pending value would cost more than it may save."""
MOST = 256
"""Lengths of ranges whose blocks are kept for a work unit: of more, all are forgotten."""
Blocks = tuple[int, list[np.ndarray[Any, Any]]]
"""How long the blocks of a reduction are, and room for what each gives."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a launch over a range needs the next time: the names of its arguments, what it reads of
    its object, its kernel, which ranges that is for (`natural`: those that begin at 0 or above),
    and the types of a reduction's parts; `rooms` has its blocks by the
    length of the range, as often as reductions ran at the same time.
    """

    names: tuple[str, ...]
    fields: tuple[str, ...]
    kernel: UnitKernel
    natural: bool
    parts: tuple[np.dtype[Any], ...] = ()
    rooms: dict[int, list[Blocks]] = field(default_factory=dict)


_plans: dict[Any, Plan] = {}
_ATOMIC, _DEBUG = Trait.Atomic, ExecutionSpace.Debug


def remember(workunit: Any, what: str, plan: Plan) -> None:
    """Note a launch, `what` being "for" or a reducer's name, that can be made again."""
    _plans[_owner_of(workunit), what] = plan


def _owner_of(workunit: Any) -> Any:
    """What a launch is remembered by: a function, or a method and its object's class."""
    kind = type(workunit)
    if kind is MethodType:
        return workunit.__func__, type(workunit.__self__)
    return workunit if kind is FunctionType else None


def _found(
    args: tuple[Any, ...], kwargs: dict[str, Any], what: str
) -> tuple[Plan, int, int, Iterable[Any]] | None:
    """The plan of a launch, the range, and the arguments; None where it is not that simple."""
    if args and type(args[0]) is str:
        args = args[1:]
    if len(args) != 2:
        return None
    policy, workunit = args
    plan = _plans.get((_owner_of(workunit), what))
    if plan is None or tuple(kwargs) != plan.names:
        return None
    if type(policy) is RangePolicy:
        begin, end, space = policy.begin, policy.end, policy.space
    elif type(policy) is int:
        begin, end, space = 0, policy, get_default_space()
    else:
        return None
    if space is _DEBUG or plan.natural is not (begin >= 0):
        return None
    given: Iterable[Any] = kwargs.values()
    if type(workunit) is MethodType:
        owner = workunit.__self__
        given = (*given, *[getattr(owner, name) for name in plan.fields])
    return plan, begin, end, given


def again(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Run `parallel_for(policy, workunit, ...)` as it ran before, if it is that simple."""
    found = _found(args, kwargs, "for")
    if found is None:
        return False
    plan, begin, end, given = found
    words: list[Any] = [begin, end]
    if plan.kernel.is_opaque and is_small(given):
        if not _take_memory(words, given):
            return False
        plan.kernel(*words)
        return True
    for value in given:
        if isinstance(value, ViewType):
            if value.trait is _ATOMIC:
                return False
            value._lent = None
            words.append(value._array)
        else:
            words.append(value)
    plan.kernel(*words)
    return True


def reduced_again(args: tuple[Any, ...], kwargs: dict[str, Any], reducer: Reducer) -> Any:
    """The value of `parallel_reduce(policy, workunit, ...)`, as it ran before; `NotImplemented`
    where it is not that simple.
    """
    found = _found(args, kwargs, reducer.name)
    if found is None:
        return NotImplemented
    plan, begin, end, given = found
    values: list[Any] = []
    if not _take_memory(values, given):
        return NotImplemented
    if len(plan.rooms) > MOST:
        plan.rooms.clear()
    rooms = plan.rooms.setdefault(end - begin, [])
    size, partials = rooms.pop() if rooms else blocks_of(end - begin, plan.parts)
    result = plan.kernel(begin, end, size, *partials, *values)
    rooms.append((size, partials))
    return plain_result(result, reducer)


def _take_memory(words: list[Any], given: Iterable[Any]) -> bool:
    """Add arguments with which a launch runs at once; not where one is updated atomically."""
    for value in given:
        if isinstance(value, ViewType):
            if value.trait is _ATOMIC:
                return False
            value = value._memory if value._lent is None else value._lent
        words.append(value)
    return True


def at_once(values: Iterable[Any]) -> list[Any]:
    """Arguments with which a launch runs at once: the views' memory."""
    return [value._memory if isinstance(value, ViewType) else value for value in values]


def is_small(values: Iterable[Any]) -> bool:
    """Whether all views are small."""
    return all(value._array.nbytes <= SMALL for value in values if isinstance(value, ViewType))


def blocks_of(steps: int, parts: Sequence[np.dtype[Any]]) -> Blocks:
    """The blocks of a reduction over so many steps."""
    size = -(-steps // BLOCKS) if steps > BLOCKS else 1
    blocks = max(0, -(-steps // size))
    return size, [np.empty(blocks, dtype) for dtype in parts]


def plain_result(found: Any, reducer: Reducer) -> Any:
    """What a reduction returns: numbers of Python's."""
    if isinstance(found, tuple):
        numbers = [number.item() if hasattr(number, "item") else number for number in found]
        return reducer.result(*numbers) if reducer.result is not None else tuple(numbers)
    return found.item() if hasattr(found, "item") else found
