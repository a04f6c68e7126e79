"""A kernel as data: its function, and all that is remembered of its calls."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, Literal

from fusewright.base.errors import ArgumentError, KernelCallError, UnsupportedError
from fusewright.base.options import FUSE_LEVELS

if TYPE_CHECKING:
    from fusewright.frontends.kernels.context import Dialect
    from fusewright.frontends.kernels.source import Source

Fuse = bool | Literal["disjoint", "same", "dims", "shift", "overlap"] | None
Integers = Literal["python", "c"]


class KernelData:
    """What the parts of a call work on.

    `specialisations` are the translations by the arguments' types; `bound` and `cache` are the
    calls that the core runs at once; `recorders` and `deferrals` are calls with lazy arrays, in the
    core's form.
    """

    def __init__(
        self, function: Callable[..., Any], integers: Integers = "python", fuse: Fuse = None
    ) -> None:
        if integers not in ("python", "c"):
            raise ArgumentError(f"integers={integers!r}", help='use "python" or "c"')
        if fuse not in (None, True, False, *FUSE_LEVELS):
            raise ArgumentError(f"fuse={fuse!r}", help=f"use a bool or one of {FUSE_LEVELS}")
        self.fuse = fuse
        self.function: FunctionType = plain_function(function)
        self.c_integers = integers == "c"
        self.signature = inspect.signature(function)
        self.specialisations: dict[Any, list[Any]] = {}
        self.bound: Any = None
        self.cache: Any = None
        """The core's cache of calls that run at once."""
        self.recorders: tuple[Any, ...] = ()
        self.deferrals: tuple[Any, ...] = ()
        self.forms: dict[Any, Any] = {}
        """The newest deferral for each form of deferred call."""
        self.known: tuple[Any, ...] = ()
        """The recorders and the deferrals."""
        self.replayed = self.redeferred = 0
        self._source: Source | None = None
        self.dialect: Dialect | None = None
        self.static: frozenset[str] = frozenset()
        self._names = tuple(self.signature.parameters)
        self._plain = all(
            p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
            for p in self.signature.parameters.values()
        )

    @property
    def source(self) -> Source:
        """The definition, read when the kernel is first called."""
        if self._source is None:
            # Imported here: a program that calls no kernel needs none of it.
            from fusewright.frontends.kernels.source import read

            found = read(self.function)
            for argument in (found.tree.args.vararg, found.tree.args.kwarg):
                if argument is not None:
                    raise KernelCallError(
                        f"a kernel cannot take *{argument.arg}",
                        found.span(argument),
                        help="name each argument; a tuple is an argument too",
                    )
            self.static = static_parameters(found.tree)
            self._source = found
        return self._source

    @property
    def is_simple(self) -> bool:
        """Whether arguments come by position, and no value of theirs is part of the key."""
        return self._plain and not self.static

    def bind(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The arguments by name."""
        if self._source is None:
            _ = self.source
        if self._plain and not kwargs and len(args) == len(self._names):
            return dict(zip(self._names, args, strict=True))
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise ArgumentError(f"{self.function.__name__}: {error}") from None
        bound.apply_defaults()
        return bound.arguments


def static_parameters(tree: ast.FunctionDef) -> frozenset[str]:
    """The parameters that appear in `fw.static(...)`, and those that say along which dims a
    function of NumPy's goes: `axis=axis`.
    """
    arguments = tree.args
    names = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    found = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if _called(node.func) == "static":
            found |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        given = [k.value for k in node.keywords if k.arg in OF_DIMS]
        found |= {n.id for n in given if isinstance(n, ast.Name)}
        found |= {n.id for n in node.args if isinstance(n, ast.Name) and n.id in OF_DIMS}
    return frozenset(found & names)


OF_DIMS = frozenset({"axis", "keepdims"})
"""Arguments of NumPy's functions that decide how many dims a result has."""


def _called(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def plain_function(function: Callable[..., Any]) -> FunctionType:
    """The Python function itself; refused where it is something else."""
    if hasattr(function, "py_func"):
        raise UnsupportedError(
            f"{getattr(function, '__name__', 'this')} is compiled by Numba",
            why="a kernel is made of the Python function itself",
            help="write @fw.kernel in the place of @njit; prange is range there, and what may run "
            "on threads is found out",
        )
    if not isinstance(function, FunctionType):
        raise UnsupportedError(
            f"a kernel is made of a Python function, not of {type(function).__name__}",
            help="decorate a function written with def",
        )
    return function
