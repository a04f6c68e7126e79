"""`pk.execute(space, workload)`: its main runs, then its callbacks.

The main function is Python here: its kernels are compiled one by one.  Bare names in it may mean
fields of the workload, and what it stores in a field takes the field's declared type, as in C++.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from fusewright.base.errors import ArgumentError
from fusewright.bridges.pykokkos.decorators import role_of
from fusewright.bridges.pykokkos.dialect.annotations import fields_of
from fusewright.bridges.pykokkos.dialect.mathematics import C_FUNCTIONS
from fusewright.bridges.pykokkos.dialect.rules import INT, Kind
from fusewright.bridges.pykokkos.printing import printf
from fusewright.bridges.pykokkos.spaces import (
    ExecutionSpace,
    get_default_space,
    on_cpu,
    set_default_space,
)


def execute(space: ExecutionSpace, workload: Any) -> None:
    """Run a workload's main function, then its callbacks."""
    owner: Any = type(workload)
    members = _members(owner)
    mains = [found for found in members if role_of(found) == "main"]
    if len(mains) != 1:
        raise ArgumentError(
            f"{type(workload).__name__} has {len(mains)} main functions",
            help="decorate one method with @pk.main",
        )
    before = get_default_space()
    given = dict(vars(workload))
    set_default_space(on_cpu(space))
    try:
        _with_fields(mains[0], workload)(workload)
    finally:
        set_default_space(before)
    for name, kind in fields_of(owner).items():
        value = getattr(workload, name, None)
        if isinstance(value, int | float) and value is not given.get(name):
            setattr(workload, name, _as(kind, value))
    for found in members:
        if role_of(found) == "callback":
            found(workload)


def _members(owner: type) -> list[FunctionType]:
    """A class's functions, in the order they are written."""
    found = {name: each for base in reversed(owner.__mro__) for name, each in vars(base).items()}
    return [each for each in found.values() if isinstance(each, FunctionType)]


def _as(kind: Kind, value: Any) -> Any:
    """A number as the type a field was declared with."""
    if kind == INT:
        return int(value)
    assert not isinstance(kind, str)
    return kind.numpy.type(value).item()


def _with_fields(function: FunctionType, workload: Any) -> FunctionType:
    """The function with the workload's fields, and C's functions, as global names."""
    known = function.__globals__
    extra = {
        name: getattr(workload, name)
        for name in function.__code__.co_names
        if name not in known and name in vars(workload)
    }
    extra |= {
        name: printf if name == "printf" else C_FUNCTIONS[name]
        for name in function.__code__.co_names
        if name not in known
        and name not in extra
        and name in (*C_FUNCTIONS, "printf")
        and name not in vars(__import__("builtins"))
    }
    if not extra:
        return function
    return FunctionType(
        function.__code__, {**known, **extra}, function.__name__, function.__defaults__,
        function.__closure__,
    )  # fmt: skip
