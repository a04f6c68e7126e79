"""What a function reads besides its arguments: globals and closures, which may change between two
calls.
 Immutable values, arrays, functions and modules are guarded by identity (functions with all they
read in turn).  Anything whose content can change unseen (a list, a dict, an object) makes a
function unfit for replay, and is named.
"""

from __future__ import annotations

import builtins
import dis
import sys
from collections.abc import Callable, Iterator
from dataclasses import field
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from fusewright.base.source import is_inside
from fusewright.base.values import dataclass
from fusewright.frontends.arrays.core import Handle
from fusewright.ir.graph import Node, is_shared

_READS = frozenset({"LOAD_GLOBAL", "LOAD_NAME"})
_WRITES = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF"})
_PLAIN = (
    int,
    float,
    complex,
    bool,
    str,
    bytes,
    type(None),
    type,
    type(Ellipsis),
    np.generic,
    np.dtype,
)
_MISSING = object()


class Unfit(Exception):
    """Why a function cannot be replayed."""


@dataclass(slots=True)
class Captured:
    """The values read, with how to look them up again, and the array values among them by node."""

    guards: list[tuple[dict[str, Any], str, Any]] = field(default_factory=list)
    cells: list[tuple[Any, Any]] = field(default_factory=list)
    arrays: list[Handle] = field(default_factory=list)
    nodes: list[tuple[Handle, Node]] = field(default_factory=list)

    def holds(self) -> bool:
        """Whether everything is what it was when the function was recorded."""
        for namespace, name, value in self.guards:
            if namespace.get(name, _MISSING) is not value:
                return False
        for cell, value in self.cells:
            if cell.cell_contents is not value:
                return False
        return all(handle._node is node for handle, node in self.nodes)

    def fix(self) -> None:
        """Guard the arrays' present values, which are in memory."""
        self.nodes = [(handle, handle._node) for handle in self.arrays]
        if any(is_shared(node) for _, node in self.nodes):
            raise Unfit("it reads an array whose memory is shared with NumPy")


def captured_by(function: Callable[..., Any]) -> Captured:
    """Everything a function reads besides its arguments; raises `Unfit`."""
    found = Captured()
    _Walk(found).function(function)
    return found


class _Walk:
    def __init__(self, found: Captured) -> None:
        self.found = found
        self.seen: set[int] = set()

    def function(self, function: Any) -> None:
        if id(function) in self.seen:
            return
        self.seen.add(id(function))
        if not isinstance(function, FunctionType):
            raise Unfit(f"{function!r} is no plain Python function")
        code = function.__code__
        if is_inside(code):
            return
        for cell, name in zip(function.__closure__ or (), code.co_freevars, strict=True):
            try:
                value = cell.cell_contents
            except ValueError:
                raise Unfit(f"its variable {name!r} has no value yet") from None
            self.found.cells.append((cell, value))
            self.value(name, value)
        for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self.value("a default", default)
        self.code(code, function.__globals__, frozenset(code.co_freevars))

    def code(self, code: CodeType, namespace: dict[str, Any], free: frozenset[str]) -> None:
        names: dict[str, None] = {}
        for instruction in dis.get_instructions(code):
            name = instruction.argval
            if instruction.opname in _READS:
                names[name] = None
            elif instruction.opname in _WRITES and (
                instruction.opname != "STORE_DEREF" or name in free
            ):
                raise Unfit(f"it assigns to {name!r} outside of itself")
        for name in names:
            value = namespace.get(name, _MISSING)
            if value is _MISSING:
                continue  # a built-in, or an error when the function runs
            self.found.guards.append((namespace, name, value))
            self.value(name, value, code)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self.code(constant, namespace, free)

    def value(self, name: str, value: Any, code: CodeType | None = None) -> None:
        kind = type(value)
        if isinstance(value, Handle):
            self.found.arrays.append(value)
        elif kind is FunctionType:
            self.function(value)
        elif kind is ModuleType:
            self.module(value, code)
        elif kind is tuple or kind is frozenset:
            for item in value:
                self.value(name, item, code)
        elif hasattr(kind, "__wrapped_by_jit__"):
            self.function(value.__wrapped__)
        elif not isinstance(value, (*_PLAIN, BuiltinFunctionType, np.ufunc, slice, range)):
            raise Unfit(
                f"it reads {name!r} ({kind.__name__}), which can change unseen: "
                "pass it as an argument"
            )

    def module(self, module: ModuleType, code: CodeType | None) -> None:
        """What the code may read from a module of the user's."""
        if id(module) in self.seen or _is_library(module):
            return
        self.seen.add(id(module))
        for name in _attributes(code):
            value = vars(module).get(name, _MISSING)
            if value is not _MISSING:
                self.found.guards.append((vars(module), name, value))
                self.value(f"{module.__name__}.{name}", value, code)
        self.seen.discard(id(module))


def _attributes(code: CodeType | None) -> Iterator[str]:
    if code is not None:
        yield from code.co_names


def _is_library(module: ModuleType) -> bool:
    """Modules that do not change: ours, NumPy's, the standard library's, installed ones."""
    top = module.__name__.partition(".")[0]
    file = getattr(module, "__file__", None) or ""
    known = top in ("fusewright", "numpy") or top in sys.stdlib_module_names
    return module is builtins or known or "site-packages" in file
