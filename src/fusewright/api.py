"""What a program calls: values asked for, options, and the record of what happened.

What is heavy (the planner, the compiler) is imported when the first value is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar, overload

from fusewright._core import native
from fusewright.base.later import later
from fusewright.base.options import current
from fusewright.frontends.arrays import Array, sharing, trace
from fusewright.frontends.arrays.core import Handle

if TYPE_CHECKING:
    from typing import TypeVarTuple

    from fusewright import driver, inspection
    from fusewright.inspection import Text
    from fusewright.replay.function import Jitted
    from fusewright.runtime import cache
    from fusewright.runtime.explanation import Explanation
else:
    # These bring the compiler in.
    driver, inspection = later("fusewright.driver"), later("fusewright.inspection")
    cache = later("fusewright.runtime.cache")

T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")
if TYPE_CHECKING:
    Ts = TypeVarTuple("Ts")


@overload
def evaluate(array: T, /) -> T: ...


@overload
def evaluate(*arrays: *Ts) -> tuple[*Ts]: ...


def evaluate(*arrays: Any) -> Any:  # type: ignore[misc]  # mypy 2.4: *Any accepts *Ts
    """Compute all the arrays given, as few kernels as possible; returns them.

    Anything that is not a lazy array passes through unchanged.  One argument is returned as it is,
    several as a tuple.
    """
    if len(arrays) == 1:
        only = arrays[0]
        if isinstance(only, Handle):
            trace.evaluate(only._node)
        return only
    trace.evaluate(*[array._node for array in arrays if isinstance(array, Handle)])
    return arrays


if native is not None:
    evaluate = update_wrapper(native.Evaluator(evaluate), evaluate)  # type: ignore[assignment]


def sync() -> None:
    """Compute every value somebody holds; inside `lazy()`, what was written into NumPy's arrays
    lands there, too.
    """
    if trace.is_lazy():
        sharing.settle()
    trace.flush()


def explain(*things: Any, **kwargs: Any) -> Explanation:
    """What would run if the arrays given were asked for now, without running it; or, given a
    function and its arguments, what it ran.

    `print(fw.explain(x))` shows the kernels, their loops, where every intermediate lives, what was
    not fused and why, and the bytes moved beside what one operation at a time would move.
    """
    if things and callable(things[0]) and not isinstance(things[0], Array):
        return inspection.explain_call(things[0], things[1:], kwargs)
    return inspection.explain_arrays(things)


def show(values: Any, what: str = "loops") -> Text:
    """The kernels that one pending array, or a tuple of them, needs: as `"loops"`, `"llvm"` or
    `"asm"`.

    Nothing is run; what is not compiled yet is compiled.
    """
    return inspection.show(values, what)


def jit(function: Callable[P, R]) -> Jitted[P, R]:
    """Record the function once for each structure of its arguments, and replay it without running
    its Python code.

    Arguments are arrays, NumPy arrays (read, never written), numbers, and tuples, lists, dicts and
    dataclasses of them.  Arrays that it updates in place are updated by a replay too; floats are
    run-time parameters as long as only arrays meet them.  All results are computed before the call
    returns.  What cannot be replayed (the code looks at a value, reads a list that may change,
    keeps an array) is run anew each time: `fw.explain(function, ...)` says why, `strict=True`
    refuses it.
    """
    # Imported here: it brings the compiler in.
    from fusewright.replay.function import Jitted

    return Jitted(function)


class CacheInfo(NamedTuple):
    """Compiled code: structures in memory, files and bytes on disk, and why the folder is not used
    (empty: it is).
    """

    in_memory: int
    on_disk: int
    nbytes: int
    folder: str
    unusable: str


def cache_info() -> CacheInfo:
    """How much compiled code is kept, and where."""
    disk = cache.info()
    return CacheInfo(driver.cached(), disk.entries, disk.nbytes, disk.folder, disk.unusable)


def cache_clear(disk: bool = False) -> None:
    """Forget the compiled code in memory, and with `disk=True` remove the files too."""
    driver.cache_clear()
    if disk:
        cache.clear()


def info() -> dict[str, Any]:
    """Versions, the machine as Fusewright sees it, and the settings that hold here: for a bug
    report.
    """
    # Imported here: only bug reports need these, and the compiler comes with them.
    import platform
    from importlib import metadata

    from fusewright.runtime import limits
    from fusewright.targets.target import target

    chosen = current()
    features = target("cpu").features(chosen.features)
    return {
        **{name: metadata.version(name) for name in ("numpy", "llvmlite")},
        "python": platform.python_version(),
        "system": platform.platform(),
        "vectors": f"{features.name}, {8 * features.vector_bytes} bits",
        "processors": limits.cpu_count(),
        "memory": limits.total_memory(),
        "options": chosen._asdict(),
    }
