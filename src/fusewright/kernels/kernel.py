"""The decorators: `@fw.kernel` and `@fw.func`."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

from fusewright._core import native
from fusewright.base.errors import ArgumentError, FusewrightError, KernelCallError, UnsupportedError
from fusewright.base.options import FUSE_LEVELS, current
from fusewright.runtime.listening import listeners

if TYPE_CHECKING:
    from fusewright.frontends.kernels.context import Dialect
    from fusewright.frontends.kernels.source import Source
    from fusewright.kernels.again import Repeated
    from fusewright.kernels.bound import Calls
    from fusewright.kernels.explain import KernelExplanation, KernelStats
    from fusewright.kernels.quick import Quick
    from fusewright.kernels.specialise import Specialised

Fuse = bool | str | None
P = ParamSpec("P")
_record_call: Any = None if native is None else native.record_call
R = TypeVar("R")


class Kernel(Generic[P, R]):
    """A function of loops that is compiled for the types it is called with.

    `integers="c"` lets `//` and `%` of integers round towards zero.  `__wrapped__` is the function
    itself: what it does under CPython is what the kernel means.  `fuse` says whether, or up to
    which level, its loops fuse, whatever the options say.
    """

    def __init__(
        self, function: Callable[P, R], integers: str = "python", fuse: Fuse = None
    ) -> None:
        if integers not in ("python", "c"):
            raise ArgumentError(f"integers={integers!r}", help='use "python" or "c"')
        if fuse not in (None, True, False, *FUSE_LEVELS):
            raise ArgumentError(f"fuse={fuse!r}", help=f"use a bool or one of {FUSE_LEVELS}")
        self.fuse = fuse
        self.function: FunctionType = plain_function(function)
        self.c_integers = integers == "c"
        self.signature = inspect.signature(function)
        self.specialisations: dict[Any, list[Specialised]] = {}
        self.bound: Calls | None = None
        self.cache: Any = None
        """The core's cache of calls that run at once."""
        self.quick: dict[Any, Quick] = {}
        self.chains: dict[type, Any] = {}
        self.repeated: dict[Any, Repeated] = {}
        self.recorders: tuple[Any, ...] = ()
        self.deferrals: tuple[Any, ...] = ()
        self.known: tuple[Any, ...] = ()
        """The recorders and the deferrals."""
        self.replayed = self.redeferred = 0
        functools.update_wrapper(self, function)
        self.__wrapped__ = function
        self._source: Source | None = None
        self.dialect: Dialect | None = None
        self.static: frozenset[str] = frozenset()
        self._names = tuple(self.signature.parameters)
        self._count = len(self._names)
        parameters = self.signature.parameters.items()
        self._defaults = {n: p.default for n, p in parameters if p.default is not p.empty}
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

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run it, or with lazy arrays record it."""
        if self.known and not kwargs:
            recorded = _record_call(self.known, args)
            if recorded is not NotImplemented:
                return recorded  # type: ignore[no-any-return]
        if self.cache is not None and not listeners:
            done = self.cache.run(args, kwargs)
            if done is not NotImplemented:
                return done  # type: ignore[no-any-return]
        # Imported here: as above, and an import that has happened costs a fraction of a call.
        from fusewright.kernels import run

        if self.quick or self.repeated:
            given = (
                args if len(args) == self._count and not kwargs else self._in_order(args, kwargs)
            )
            if given is not None:
                known, quick = run.quickly(self, given)
                if known:
                    return quick  # type: ignore[no-any-return]
        try:
            result: R = run.run(self, self.bind(*args, **kwargs))
        except FusewrightError as error:
            if current().debug:
                raise
            raise error.with_traceback(None)  # noqa: B904  # twenty frames of ours say nothing
        return result

    def _in_order(self, args: Any, kwargs: Any) -> Any:
        """The arguments by position; None where something is wrong with them."""
        names = self._names[len(args) :]
        if not self._plain or len(args) > len(self._names):
            return None
        try:
            rest = [kwargs[name] if name in kwargs else self._defaults[name] for name in names]
        except KeyError:
            return None
        return None if kwargs.keys() - set(names) else (*args, *rest)

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

    def explain(self) -> KernelExplanation:
        """What has been compiled for which arguments, and how each loop runs."""
        # Imported here: few programs ask.
        from fusewright.kernels.explain import explain

        return explain(self)

    @property
    def stats(self) -> KernelStats:
        """Counts, for tests."""
        # Imported here: as above.
        from fusewright.kernels.explain import stats

        return stats(self)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<fw.kernel {self.function.__qualname__}>"


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


@overload
def kernel(
    function: Callable[P, R], *, integers: str = "python", fuse: Fuse = None
) -> Kernel[P, R]: ...


@overload
def kernel(
    function: None = None, *, integers: str = "python", fuse: Fuse = None
) -> Callable[[Callable[P, R]], Kernel[P, R]]: ...


def kernel(function: Any = None, *, integers: str = "python", fuse: Fuse = None) -> Any:
    """Compile a function of loops: `@fw.kernel`, or `@fw.kernel(fuse=...)` with settings.

    The function is plain Python over arrays and numbers: loops over ranges, `while`, `if`,
    arithmetic, `math` and NumPy functions, statements on rows, functions marked with `fw.func`.
    It means what CPython makes of it: loops run in the order written.  Loops that are proved
    independent run in vectors and on threads, neighbours fuse where that is proved and pays, and
    the bits stay the same.  Arguments are NumPy arrays (read and written in place), arrays of
    `fusewright.numpy` (the call is recorded, and fuses with what stands before and after it),
    and numbers; the types of the arguments decide what is compiled, extents never do.

    >>> import numpy, fusewright as fw
    >>> @fw.kernel
    ... def running(x, out):
    ...     total = 0.0
    ...     for i in range(len(x)):
    ...         total += x[i]
    ...         out[i] = total
    >>> x, out = numpy.arange(5.0), numpy.zeros(5)
    >>> running(x, out)
    >>> out.tolist()
    [0.0, 1.0, 3.0, 6.0, 10.0]

    Args:
        function: the function; it is read when the kernel is first called.
        integers: `"python"`: `//` and `%` of integers round as Python's do; `"c"`: they may round
            towards zero.
        fuse: whether its loops may fuse with others: None follows `fw.options(fuse=...)`.

    `running.__wrapped__` is the undecorated function, `running.explain()` says how each loop
    runs and why, `fw.options(check=True)` checks every index.  Errors: `fw.FusewrightError` for
    what cannot be compiled, with the line, the reason and what to write instead.
    """
    if function is None:
        return lambda decorated: Kernel(decorated, integers, fuse)
    return Kernel(function, integers, fuse)


def func(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a function that kernels call: it is inlined there, and plain Python elsewhere."""
    plain_function(function)
    return function
