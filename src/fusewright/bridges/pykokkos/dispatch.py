"""`parallel_for`, `parallel_reduce`, `parallel_scan`: what a program calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fusewright.api import sync
from fusewright.base.errors import UnsupportedError
from fusewright.bridges.pykokkos import debug, launches, reducers, repeats
from fusewright.bridges.pykokkos.policies import (
    ExecutionPolicy,
    RangePolicy,
    TeamThreadMDRange,
    _Nested,
)
from fusewright.bridges.pykokkos.reducers import Reducer
from fusewright.bridges.pykokkos.spaces import ExecutionSpace
from fusewright.bridges.pykokkos.views import ViewType


def parallel_for(*args: Any, **kwargs: Any) -> None:
    """`parallel_for([name,] policy, workunit[, view], **arguments)`.

    The policy may be a number of iterations; several work units in a list run one after the other,
    with the arguments `args_0`, `args_1`, ...
    """
    if repeats.again(args, kwargs):
        return
    policy, workunit, extra = _taken(args)
    view = extra if isinstance(extra, ViewType) else None
    if isinstance(workunit, list | tuple):
        _several(policy, workunit, kwargs)
        return
    if isinstance(policy, _Nested | TeamThreadMDRange):
        debug.nested("for", policy, workunit)
        return
    if policy.space is ExecutionSpace.Debug:
        debug.run("for", policy, workunit, kwargs, reducers.Sum, view)
        return
    launches.run("for", policy, workunit, kwargs, view=view)


def parallel_reduce(*args: Any, reducer: Any = None, **kwargs: Any) -> Any:
    """`parallel_reduce([name,] policy, workunit[, initial value], reducer=Sum, **arguments)`."""
    joined: Reducer = reducers.Sum if reducer is None else reducer
    if not isinstance(joined, Reducer):
        raise TypeError(f"{reducer!r} is not a reducer such as pk.Max")
    known = repeats.reduced_again(args, kwargs, joined)
    if known is not NotImplemented:
        return known
    policy, workunit, initial = _taken(args)
    if isinstance(policy, _Nested | TeamThreadMDRange):
        return debug.nested("reduce", policy, workunit)
    if policy.space is ExecutionSpace.Debug:
        found = debug.run("reduce", policy, workunit, kwargs, joined, None)
    else:
        found = launches.run("reduce", policy, workunit, kwargs, joined)
    return found + initial if initial and joined is reducers.Sum else found


def parallel_scan(*args: Any, **kwargs: Any) -> Any:
    """`parallel_scan([name,] policy, workunit, **arguments)`: the total."""
    policy, workunit, _ = _taken(args)
    if isinstance(policy, _Nested | TeamThreadMDRange):
        return debug.nested("scan", policy, workunit)
    if policy.space is ExecutionSpace.Debug:
        return debug.run("scan", policy, workunit, kwargs, reducers.Sum, None)
    return launches.run("scan", policy, workunit, kwargs)


def _taken(args: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    """The policy, the work unit, and what came after."""
    if args and (args[0] is None or isinstance(args[0], str)):
        args = args[1:]
    if not 2 <= len(args) <= 3:
        raise ValueError(f"ERROR: incorrect number of arguments {len(args)}")
    policy, workunit = args[0], args[1]
    if isinstance(policy, int | np.integer):
        policy = RangePolicy(ExecutionSpace.Default, 0, policy)
    elif not isinstance(policy, ExecutionPolicy | _Nested | TeamThreadMDRange):
        raise TypeError(f"ERROR: {policy} is not a valid execution policy")
    extra = args[2] if len(args) > 2 else None
    if not isinstance(extra, int | float | ViewType | None):
        raise TypeError(f"ERROR: wrong arguments {args}")
    return policy, workunit, extra


def _several(policy: Any, workunits: Sequence[Any], kwargs: dict[str, Any]) -> None:
    for place, workunit in enumerate(workunits):
        given = kwargs.get(f"args_{place}")
        if given is None:
            raise UnsupportedError(
                f"work unit {place} of a list has no arguments",
                help=f"pass args_{place}={{...}}",
            )
        parallel_for(policy, workunit, **given)


def single(policy: Any, closure: Any) -> None:
    """In plain Python: the closure once (for each team, where it says so)."""
    debug.single(policy, closure)


def fence(name: str = "") -> None:
    """Compute everything that is pending."""
    del name
    sync()


def flush() -> None:
    """See `fence`."""
    sync()
