"""What a program calls: values asked for, options, and the record of what happened.

What is heavy (the planner, the compiler) is imported when the first value is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, ParamSpec, TypeVar, overload

from fusewright._core import native
from fusewright.base.errors import ArgumentError
from fusewright.base.later import later
from fusewright.base.options import current
from fusewright.frontends.arrays import Array, sharing, trace
from fusewright.frontends.arrays.core import handles_in

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

    Arrays in tuples, lists, dicts and dataclasses are computed, too.  Anything else passes through
    unchanged.  One argument is returned as it is, several as a tuple.

    Raises:
        FusewrightError: for what can only be seen while computing, such as an index out of bounds.
            The values stay pending and can be asked for again.

    Examples:
        One pass over `x` gives both:

        >>> import fusewright as fw, fusewright.numpy as np
        >>> x = np.linspace(0.0, 1.0, 1001)
        >>> low, high = fw.evaluate(x.min(), (x * x).max())
        >>> float(low), float(high)
        (0.0, 1.0)
    """
    trace.evaluate(*[handle._node for handle in handles_in(arrays)])
    return arrays[0] if len(arrays) == 1 else arrays


if native is not None:
    evaluate = update_wrapper(native.Evaluator(evaluate), evaluate)  # type: ignore[assignment]


def sync() -> None:
    """Compute every value somebody holds; inside `lazy()`, what was written into NumPy's arrays
    lands there, too.

    Raises:
        FusewrightError: as `evaluate`.

    Examples:
        >>> import fusewright as fw, fusewright.numpy as np
        >>> x = np.sqrt(np.arange(1000.0))  # pending
        >>> fw.sync()  # computed
    """
    if trace.is_lazy():
        sharing.settle()
    trace.flush()


def explain(*things: Any, **kwargs: Any) -> Explanation:
    """What would run if the arrays given were asked for now, without running it; or, given a
    function and its arguments, what it ran.

    `print(fw.explain(x))` shows the kernels, their loops, where every intermediate lives, what was
    not fused and why, and the bytes moved beside what one operation at a time would move.  Arrays
    may stand in tuples, lists, dicts and dataclasses.

    Returns:
        An `Explanation`: text when printed, HTML in notebooks; `kernels` and `library_steps` have
            the same as data, times in seconds and memory in bytes; of a function that was called,
            `result` is what it returned.

    Raises:
        FusewrightError: for arguments that are neither arrays of ours nor one function, and
            whatever the function raises.

    Examples:
        >>> import fusewright as fw, fusewright.numpy as np
        >>> x = fw.evaluate(np.linspace(0.0, 1.0, 100_000))
        >>> explanation = fw.explain((np.sqrt(x) + 1.0).sum())
        >>> explanation.ran, len(explanation.kernels), explanation.bytes_moved
        (False, 1, 800008)
        >>> fw.explain(np.linalg.norm, x).result.shape
        ()
    """
    if things and callable(things[0]) and not isinstance(things[0], Array):
        return inspection.explain_call(things[0], things[1:], kwargs)
    return inspection.explain_arrays(things)


def show(values: Any, what: Literal["loops", "llvm", "asm"] = "loops") -> Text:
    """The kernels that one pending array, or a tuple of them, needs: as `"loops"`, `"llvm"` or
    `"asm"`.

    Nothing is run; what is not compiled yet is compiled.

    Raises:
        FusewrightError: where no value is pending, and for another `what`.

    Examples:
        >>> import fusewright as fw, fusewright.numpy as np
        >>> x = fw.evaluate(np.linspace(0.0, 1.0, 1000))
        >>> print(fw.show(np.sqrt(x) + 1.0))
        # a: float64[1000]
        # n = 1000
        # s1: float64 (given at run time)
        for i in range(n):  # threads, ... lanes
            out[i] = sqrt(a[i]) + s1
    """
    return inspection.show(values, what)


def jit(function: Callable[P, R]) -> Jitted[P, R]:
    """Record the function once for each structure of its arguments, and replay it without running
    its Python code.

    Arguments are arrays, NumPy arrays (read, never written), numbers, and tuples, lists, dicts and
    dataclasses of them.  Arrays that it updates in place are updated by a replay too; floats are
    run-time parameters as long as only arrays meet them.  All results are computed before the call
    returns.  What cannot be replayed (the code looks at a value, reads a list that may change,
    keeps an array) is run anew each time: `fw.explain(function, ...)` says why,
    `fw.options(strict=True)` refuses it.

    Raises:
        FusewrightError: for what is no function; under `fw.options(strict=True)`, of a call that
            cannot be replayed (FW111).

    Examples:
        >>> import fusewright as fw, fusewright.numpy as np
        >>> @fw.jit
        ... def step(position, velocity, dt):
        ...     velocity -= dt * position  # in place: the caller's array
        ...     return position + dt * velocity
        >>> position, velocity = fw.asarray([1.0, 2.0]), fw.asarray([0.0, 0.0])
        >>> step(position, velocity, 0.5).tolist(), velocity.tolist()
        ([0.75, 1.5], [-0.5, -1.0])
    """
    if not callable(function):
        raise ArgumentError(
            f"fw.jit takes a function, not {type(function).__name__}",
            help="write @fw.jit above it; it has no settings",
        )
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
    """How much compiled code is kept, and where.

    Returns:
        `in_memory` and `on_disk`: how many; `nbytes`: on disk, in bytes; `folder`; `unusable`: why
            the folder is not used, or empty.

    Examples:
        >>> import fusewright as fw
        >>> fw.cache_info().nbytes >= 0
        True
    """
    disk = cache.info()
    return CacheInfo(driver.cached(), disk.entries, disk.nbytes, disk.folder, disk.unusable)


def cache_clear(disk: bool = False) -> None:
    """Forget the compiled code in memory, and with `disk=True` remove the files too.

    Results do not change: what is needed again is compiled again.

    Examples:
        >>> import fusewright as fw
        >>> fw.cache_clear()
        >>> fw.cache_info().in_memory
        0
    """
    driver.cache_clear()
    if disk:
        cache.clear()


def info() -> dict[str, Any]:
    """Versions, the machine as Fusewright sees it, and the settings that hold here: for a bug
    report.

    Returns:
        A dict: `memory` is in bytes, `processors` those that this process may use.

    Examples:
        >>> import fusewright as fw
        >>> sorted(fw.info())
        ['llvmlite', 'memory', 'numpy', 'options', 'processors', 'python', 'system', 'vectors']
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
