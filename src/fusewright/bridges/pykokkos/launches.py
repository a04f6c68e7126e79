"""From a work unit and a policy to a kernel that runs: found again by what they are.

What PyKokkos leaves open is decided here: a team of `AUTO` has one member, and reductions go by
blocks of the range (see `dialect.drivers`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from types import FunctionType, MethodType
from typing import Any

from fusewright.base.errors import ArgumentError, UnsupportedError
from fusewright.base.values import dataclass
from fusewright.bridges.pykokkos import reducers, repeats
from fusewright.bridges.pykokkos.dialect import lambdas, scratch
from fusewright.bridges.pykokkos.dialect.annotations import element_of, numpy_of
from fusewright.bridges.pykokkos.dialect.drivers import Form
from fusewright.bridges.pykokkos.dialect.rules import Kind
from fusewright.bridges.pykokkos.dialect.units import (
    Unit,
    is_ordered,
    program,
    take_apart,
)
from fusewright.bridges.pykokkos.policies import (
    ExecutionPolicy,
    MDRangePolicy,
    RangePolicy,
    TeamPolicy,
)
from fusewright.bridges.pykokkos.randoms import RandomPool
from fusewright.bridges.pykokkos.reducers import Reducer
from fusewright.bridges.pykokkos.spaces import Trait
from fusewright.bridges.pykokkos.unit_kernel import UnitKernel
from fusewright.bridges.pykokkos.views import ViewType
from fusewright.frontends.kernels import source as sources
from fusewright.ir.dtypes import FLOAT64


@dataclass(slots=True)
class Launch:
    """A work unit under one pattern; `kernels` are by what its tree depends on."""

    unit: Unit
    pattern: str
    dims: int
    kernels: dict[Any, UnitKernel] = field(default_factory=dict)
    ordered: bool = False
    sizes: scratch.Sizes | None = None

    def kernel(
        self, reducer: Reducer, declared: bool, natural: bool, team: int, extents: Any
    ) -> UnitKernel:
        """The kernel for a reducer, a team size and the extents of scratch views."""
        key = (reducer.name, declared, natural, team, extents)
        found = self.kernels.get(key)
        if found is None:
            form = Form(self.pattern, self.dims, declared, reducer, self.kind(reducer), natural)
            found = self.kernels[key] = UnitKernel(program(self.unit, form, team, list(extents)))
        return found

    def kind(self, reducer: Reducer) -> Kind:
        """The type of the accumulator: `Acc[T]`, or double."""
        if self.pattern == "for":
            return FLOAT64
        tree = self.unit.source.tree
        for arg in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs):
            if arg.arg == self.unit.acc:
                found = element_of(self.unit.function, arg.annotation)
                return found or reducer.kind or FLOAT64
        return FLOAT64


_launches: dict[Any, Launch] = {}


def launch_of(workunit: Any, pattern: str, policy: ExecutionPolicy, view: bool) -> Launch:
    """The launch of a work unit: a function, a bound method, or a lambda."""
    function = workunit.__func__ if type(workunit) is MethodType else workunit
    owner = type(workunit.__self__) if type(workunit) is MethodType else None
    dims = len(policy.begin) if isinstance(policy, MDRangePolicy) else 1
    team = isinstance(policy, TeamPolicy)
    code = getattr(function, "__code__", None)
    key = (code, function if owner is None else None, owner, pattern, dims, team, view)
    found = _launches.get(key)
    if found is None:
        found = _launches[key] = _new(function, owner, pattern, dims, team, view)
    return found


def _new(
    function: Any, owner: type | None, pattern: str, dims: int, team: bool, view: bool
) -> Launch:
    if not isinstance(function, FunctionType):
        raise TypeError(f"ERROR: {function} is not a valid workunit")
    if function.__name__ == "<lambda>":
        function, source, owner = lambdas.as_function(function, pattern, dims, view)
    else:
        source = sources.read(function)
    unit = take_apart(function, source, owner, pattern, dims)
    if team:
        unit.team = unit.indices[0]
    sizes = scratch.Sizes.of(unit) if team else None
    return Launch(unit, pattern, dims, ordered=is_ordered(unit), sizes=sizes)


def arguments(launch: Launch, kwargs: Mapping[str, Any], instance: Any) -> tuple[list[Any], bool]:
    """What the work unit takes beside its indices, in its order; and whether its iterations are
    independent: they are unless they meet in atomic updates or print.
    """
    unit = launch.unit
    names = unit.keywords
    if set(kwargs) != set(names):
        raise _wrong_arguments(unit, kwargs)
    given = [kwargs[name] for name in names]
    if unit.draws:
        pool = _pool(unit, kwargs, instance)
        given += [pool.seed, pool.next_launch()]
    if instance is not None:
        given += [getattr(instance, name) for name in unit.fields]
    declared = not launch.ordered
    for place, value in enumerate(given):
        if isinstance(value, ViewType):
            declared = declared and value.trait is not Trait.Atomic
        elif isinstance(value, RandomPool):
            given[place] = 0  # What is drawn comes from the seed and the launch's number.
    return given, declared


def _wrong_arguments(unit: Unit, kwargs: Mapping[str, Any]) -> ArgumentError:
    span = unit.source.span(unit.source.tree)
    missing = [name for name in unit.keywords if name not in kwargs]
    if missing:
        return ArgumentError(
            f"{unit.function.__name__} needs the argument `{missing[0]}`",
            span,
            help=f"pass it by keyword: {missing[0]}=...",
        )
    extra = sorted(set(kwargs) - set(unit.keywords))
    return ArgumentError(f"{unit.function.__name__} has no argument `{extra[0]}`", span)


def _pool(unit: Unit, kwargs: Mapping[str, Any], instance: Any) -> RandomPool:
    """The one random pool among a work unit's arguments and its object's fields."""
    values = [*kwargs.values(), *(vars(instance).values() if instance is not None else ())]
    pools = {id(value): value for value in values if isinstance(value, RandomPool)}
    if len(pools) != 1:
        raise UnsupportedError(
            f"{unit.function.__name__} draws from {len(pools)} random pools",
            unit.source.span(unit.source.tree),
            help="pass one pool to it",
        )
    return next(iter(pools.values()))


def bounds_of(policy: Any) -> tuple[list[int], int]:
    """The numbers a driver takes for the range, and how many steps its first dim has."""
    if isinstance(policy, RangePolicy):
        return [policy.begin, policy.end], policy.end - policy.begin
    if isinstance(policy, TeamPolicy):
        return [0, policy.league_size], policy.league_size
    pairs = zip(policy.begin, policy.end, strict=True)
    return [bound for pair in pairs for bound in pair], policy.end[0] - policy.begin[0]


def run(
    pattern: str,
    policy: ExecutionPolicy,
    workunit: Any,
    kwargs: Mapping[str, Any],
    reducer: Reducer = reducers.Sum,
    view: Any = None,
) -> Any:
    """Run a work unit; what a reduction or scan gives."""
    launch = launch_of(workunit, pattern, policy, view is not None)
    instance = _instance(workunit, launch)
    if view is not None:
        kwargs = {**kwargs, lambdas.VIEW: view}
    given, declared = arguments(launch, kwargs, instance)
    team = 1
    extents: tuple[tuple[int, ...], ...] = ()
    if isinstance(policy, TeamPolicy):
        team = policy.team_size
        assert launch.sizes is not None
        extents = launch.sizes.extents(kwargs, instance, team, policy.league_size)
    numbers, steps = bounds_of(policy)
    natural = min(numbers[::2]) >= 0
    kernel = launch.kernel(reducer, declared, natural, team, extents)
    simple = declared and _is_simple(launch, workunit, kwargs)
    if pattern == "for":
        at_once = kernel.is_opaque and repeats.is_small(given)
        kernel(*numbers, *(repeats.at_once if at_once else _lazy)(given))
        if simple:
            plan = repeats.Plan(tuple(kwargs), launch.unit.fields, kernel, natural)
            repeats.remember(workunit, pattern, plan)
        return None
    rest = repeats.at_once(given)  # The result is a number now, and so are its arguments.
    if pattern == "scan":
        return repeats.plain_result(kernel(*numbers, *rest), reducer)
    parts = tuple(numpy_of(part.kind_of(launch.kind(reducer))) for part in reducer.parts)
    size, partials = repeats.blocks_of(steps, parts)
    found = repeats.plain_result(kernel(*numbers, size, *partials, *rest), reducer)
    if simple:
        plan = repeats.Plan(tuple(kwargs), launch.unit.fields, kernel, natural, parts)
        repeats.remember(workunit, reducer.name, plan)
    return found


def _lazy(values: Iterable[Any]) -> list[Any]:
    """Arguments with which a launch is recorded."""
    return [value._argument() if isinstance(value, ViewType) else value for value in values]


def _is_simple(launch: Launch, workunit: Any, kwargs: Mapping[str, Any]) -> bool:
    """Whether such a launch is known by its work unit and the names of its arguments."""
    unit = launch.unit
    if launch.dims > 1 or unit.draws or unit.team or tuple(kwargs) != unit.keywords:
        return False
    if any(isinstance(value, RandomPool) for value in kwargs.values()):
        return False
    return type(workunit) is MethodType or (
        type(workunit) is FunctionType and workunit.__name__ != "<lambda>"
    )


def _instance(workunit: Any, launch: Launch) -> Any:
    if type(workunit) is MethodType:
        return workunit.__self__
    if launch.unit.owner is not None:
        return lambdas.receiver_of(workunit)
    return None
