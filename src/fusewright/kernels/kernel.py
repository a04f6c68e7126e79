"""The decorators: `@fw.kernel` and `@fw.func`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

from fusewright._core import native
from fusewright.base.errors import ArgumentError, FusewrightError
from fusewright.base.options import current
from fusewright.kernels.full import Full
from fusewright.kernels.kernel_data import Fuse, Integers, KernelData, plain_function
from fusewright.runtime.listening import listeners

if TYPE_CHECKING:
    from fusewright.kernels.explain import KernelExplanation, KernelStats

P = ParamSpec("P")
_record_call: Any = None if native is None else native.record_call
R = TypeVar("R")


class Kernel(KernelData, Generic[P, R]):
    """A function of loops that is compiled for the types it is called with.

    `integers="c"` lets `//` and `%` of integers round towards zero.  `__wrapped__` is the function
    itself: what it does under CPython is what the kernel means.  `fuse` says whether, or up to
    which level, its loops fuse, whatever the options say.
    """

    def __init__(
        self, function: Callable[P, R], integers: Integers = "python", fuse: Fuse = None
    ) -> None:
        super().__init__(function, integers, fuse)
        functools.update_wrapper(self, function)
        self.__wrapped__ = function

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run it, or with lazy arrays record it."""
        if self.known and not kwargs:
            recorded = _record_call(self.known, args)
            if recorded is not NotImplemented:
                return recorded  # type: ignore[no-any-return]
        if self.cache is not None and not listeners:
            try:
                done = self.cache.run(args, kwargs)
            except Full:  # nothing of the caller's has been written
                done = NotImplemented
            if done is not NotImplemented:
                return done  # type: ignore[no-any-return]
        # Imported here: as above, and an import that has happened costs a fraction of a call.
        from fusewright.kernels import run

        try:
            bound = self.bind(*args, **kwargs)
            result: R = (
                native.as_recording(run.run, (self, bound), {})
                if listeners and native is not None
                else run.run(self, bound)
            )
        except FusewrightError as error:
            if current().debug:
                raise
            raise error.with_traceback(None)  # noqa: B904  # twenty frames of ours say nothing
        return result

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


ELSEWHERE = {
    "parallel": "leave it out: loops that are proved independent run on threads by themselves",
    "nopython": "leave it out: all of a kernel is compiled",
    "nogil": "leave it out: kernels run on threads of their own",
    "cache": "leave it out: compiled code is kept on disk",
    "inline": "leave it out: functions that kernels call are inlined",
    "fastmath": "with fw.options(reassociate=True) sums of floats go in any order",
    "boundscheck": "with fw.options(check=True) every index is checked",
}
"""Settings of other tools' decorators, and what there is instead."""


@overload
def kernel(
    function: Callable[P, R], *, integers: Integers = "python", fuse: Fuse = None
) -> Kernel[P, R]: ...


@overload
def kernel(
    function: None = None, *, integers: Integers = "python", fuse: Fuse = None
) -> Callable[[Callable[P, R]], Kernel[P, R]]: ...


def kernel(
    function: Any = None, *, integers: Integers = "python", fuse: Fuse = None, **others: Any
) -> Any:
    """Compile a function of loops: `@fw.kernel`, or `@fw.kernel(fuse=...)` with settings.

    The function is plain Python over arrays and numbers: loops over ranges, `while`, `if`,
    arithmetic, `math` and NumPy functions, statements on rows, functions marked with `fw.func`.
    It means what CPython makes of it: loops run in the order written.  Loops that are proved
    independent run in vectors and on threads, neighbours fuse where that is proved and pays, and
    the bits stay the same.  Arguments are NumPy arrays (read and written in place), arrays of
    `fusewright.numpy` (the call is recorded, and fuses with what stands before and after it),
    and numbers; the types of the arguments decide what is compiled, extents never do.

    Args:
        function: the function; it is read when the kernel is first called.
        integers: `"python"`: `//` and `%` of integers round as Python's do; `"c"`: they round
            towards zero.
        fuse: whether its loops may fuse with others, or up to which level: None follows
            `fw.options(fuse=...)`.
        others: refused, with what to write instead of Numba's settings.

    Returns:
        A kernel `k`: `k.__wrapped__` is the undecorated function, `k.explain()` says how each loop
            runs and why.

    Raises:
        FusewrightError: at a call that cannot be compiled, before anything runs, with the line,
            the reason and what to write instead; under `fw.options(check=True)` for an index out
            of bounds, which is undefined otherwise.

    Examples:
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
    """
    for name in others:
        # Imported here: only a mistake needs it.
        from fusewright.base.meant import did_you_mean

        meant = did_you_mean(name, ("integers", "fuse")) or "there are integers and fuse"
        raise ArgumentError(f"fw.kernel has no setting {name!r}", help=ELSEWHERE.get(name) or meant)
    if function is None:
        return lambda decorated: Kernel(decorated, integers, fuse)
    return Kernel(function, integers, fuse)


def func(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a function that kernels call: it is inlined there, and plain Python elsewhere.

    Kernels inline functions without the mark, too; it says that one is meant for them, and lets a
    type checker see its types.

    Raises:
        FusewrightError: for what is no Python function.

    Examples:
        >>> import numpy, fusewright as fw
        >>> @fw.func
        ... def square(x):
        ...     return x * x
        >>> @fw.kernel
        ... def squares(a):
        ...     for i in range(len(a)):
        ...         a[i] = square(a[i])
        >>> a = numpy.arange(4.0)
        >>> squares(a)
        >>> a.tolist(), square(3)
        ([0.0, 1.0, 4.0, 9.0], 9)
    """
    plain_function(function)
    return function
