"""What NumPy says to a call: whether it is right, and which error a wrong one ends with.

Our own code refuses what it cannot do, in its own words.  Which *class* of error a program catches
is NumPy's to say, and so is whether the call is wrong at all: it is asked when ours refuses.  What
ours would accept and NumPy refuses is found by calling NumPy on stand-ins: arrays of the same types
and few elements, whose extents are equal where the real ones are.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np

from fusewright._core import native
from fusewright.base import errors
from fusewright.base.errors import FusewrightError, StrictError
from fusewright.base.later import later
from fusewright.base.options import current
from fusewright.frontends.arrays import opaque, trace
from fusewright.frontends.arrays.core import Handle
from fusewright.ir.dtypes import ALL

if TYPE_CHECKING:
    from fusewright.base import interruptions, signatures
    from fusewright.frontends.arrays import standins
    from fusewright.frontends.arrays.standins import Standins
else:
    interruptions = later("fusewright.base.interruptions")
    signatures = later("fusewright.base.signatures")
    standins = later("fusewright.frontends.arrays.standins")

REFUSALS = (
    TypeError, ValueError, IndexError, OverflowError, AttributeError, KeyError, ArithmeticError,
)  # fmt: skip
"""Errors that NumPy may see otherwise."""
WHY = "only NumPy takes these arguments"
KINDS: tuple[tuple[type[Exception], type[FusewrightError]], ...] = (
    (np.exceptions.AxisError, errors.AxisError),
    (TypeError, errors.ArgumentError),
    (IndexError, errors.BoundsError),
    (OverflowError, errors.OverflowIntError),
    (ZeroDivisionError, errors.DivisionError),
    (ValueError, errors.ValueRangeError),
)
"""NumPy's errors by what a program catches, and ours that is caught the same way."""
CAUGHT: tuple[type[Exception], ...] = (
    *(kind for kind, _ in KINDS), AttributeError, KeyError, NotImplementedError, RuntimeError,
    np.linalg.LinAlgError, np.exceptions.DTypePromotionError, MemoryError,
)  # fmt: skip
MEMORY = 1 << 26
"""Elements of operands up to which NumPy is asked: it may compute all of them."""


def settled(
    error: Exception,
    name: str,
    original: Callable[..., Any],
    args: Any,
    kwargs: dict[str, Any],
    written: tuple[int, ...] = (),
) -> Any:
    """NumPy's result of a call that ours refuses, or the error: ours where NumPy's is caught by the
    same clauses, else NumPy's.
    """
    try:
        if (
            current().strict
            or trace.is_held()
            or _is_large((args, kwargs))
            or interruptions.is_interruption(error)
        ):
            raise error
        try:
            return opaque.delegate(name, original, args, kwargs, WHY, written=written)
        except StrictError:
            raise error from None
        except Exception as theirs:  # noqa: BLE001
            theirs.__traceback__ = (
                None  # what is raised remembers it: arrays in its frames would live
            )
            raise _as_caught(error, theirs) from None
    finally:
        del error  # its traceback holds this frame: arrays would live until the next collection


def caught_alike(
    error: Exception, name: str, original: Callable[..., Any], args: tuple[Any, ...]
) -> Exception:
    """Our error for a call whose result would be a view, or one that is caught as NumPy's is."""
    try:
        settled(error, name, original, args, {})
    except REFUSALS as found:
        return found.with_traceback(None)
    return error


def _is_large(value: Any) -> bool:
    if isinstance(value, Handle):
        size = 1
        for extent in value._shape:
            size *= extent
        return size > MEMORY
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list | tuple):
        return False
    return any(map(_is_large, value))


def _caught(error: BaseException) -> frozenset[type]:
    return frozenset(kind for kind in CAUGHT if isinstance(error, kind))


def _as_caught(error: Exception, theirs: Exception) -> Exception:
    """Our error where a program catches both alike, else one that is caught as NumPy's is."""
    return error if _caught(error) == _caught(theirs) else in_our_words(theirs)


def in_our_words(theirs: Exception) -> Exception:
    """NumPy's error with the user's line; NumPy's own where none of ours is caught alike."""
    wanted = _caught(theirs)
    if isinstance(theirs, TypeError) and type(theirs) is not TypeError:
        return errors.DTypeError(str(theirs))  # NumPy's classes for element types that do not fit
    for _, ours in KINDS:
        made = ours(str(theirs))
        if _caught(made) == wanted:
            return made
    return theirs


class Method:
    """NumPy's method of an array or a number, as a function; `inspect` sees its signature."""

    __slots__ = ("__name__",)

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, array: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(array, self.__name__)(*args, **kwargs)

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(getattr(np.ndarray, self.__name__))

    @property
    def __text_signature__(self) -> str | None:
        return getattr(getattr(np.ndarray, self.__name__), "__text_signature__", None)


def asked(
    name: str,
    writes: bool = False,
    ranked: bool = False,
    known: int = 1,
    function: Callable[..., Any] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let NumPy's method (or its `function`) say what becomes of calls that ours refuses; it
    `writes` into the array.

    A `ranked` one is right for the real arrays where it is for stand-ins; it looks at its first
    `known` arguments itself.
    """
    original = function or Method(name)
    written = (0,) if writes else ()

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                if len(args) > known or kwargs:
                    if not is_usual(original, args, kwargs):
                        check(original, args, kwargs, None if writes else function)
                    if ranked and is_doubtful(args, kwargs, known):
                        return agreed(name, original, function, args, kwargs)
                return function(*args, **kwargs)
            except REFUSALS as error:
                refused = [error]  # no variable of this frame holds it, which its traceback holds
            return settled(refused.pop(), name, original, args, kwargs, written)

        call.__name__ = name
        if writes:
            return call

        def judge(args: Any, kwargs: dict[str, Any]) -> Any:
            if len(args) <= known and not kwargs:
                return True
            return judged(original, args, kwargs, ranked, known)

        return remembering(function, call, judge)

    return decorate


# ---------------------------------------------------------------------------------- what is known


def remembering(
    function: Callable[..., Any],
    general: Callable[..., Any],
    judge: Callable[..., Any],
    step: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """The general form behind the core, which calls the function itself where such a call has been
    judged before, or the `step` of NumPy's.
    """
    if native is None:
        return general
    made = native.Agreed(function, general, judge, step)
    functools.update_wrapper(made, general)
    return made  # type: ignore[no-any-return]


def judged(
    original: Callable[..., Any], args: Any, kwargs: dict[str, Any], ranked: bool, known: int = 1
) -> Any:
    """What NumPy says to all calls with operands of these types and arguments like these: the type
    of its result, True where ours need not be compared with that, False where the call is to be
    looked at each time.
    """
    if "out" in kwargs or opaque.gives_out(original, len(args)):
        return opaque.place_of_out(original, args, kwargs)
    if not is_usual(original, args, kwargs):
        return False
    if not (ranked and is_doubtful(args, kwargs, known)):
        return True
    try:
        expected = check(original, args, kwargs)
    except REFUSALS:
        return False
    return expected.dtype if isinstance(expected, np.ndarray | np.generic) else True


# ------------------------------------------------------------------------------------- arguments

ORDERS = frozenset(("C", "F", "A", "K", None))
MOST = 1 << 62
"""Integers above are too large for any extent or place."""


def _is_axis(value: Any) -> bool:
    if type(value) is tuple:
        return all(map(_is_count, value))
    return value is None or _is_count(value)


def _is_flag(value: Any) -> bool:
    return type(value) is bool or value is np._NoValue


def _is_copy(value: Any) -> bool:
    return type(value) in (bool, NoneType)


def _is_count(value: Any) -> bool:
    return (type(value) is int and -MOST < value < MOST) or isinstance(value, np.integer)


def _is_extent(value: Any) -> bool:
    return value is None or (_is_count(value) and value >= 0)


USUAL: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("axis", "axes", "source", "destination"), _is_axis),
    **dict.fromkeys(("keepdims", "subok", "sparse", "include_initial", "rowvar", "bias", "retstep",
                     "endpoint", "equal_nan", "invert"), _is_flag),
    "copy": _is_copy,
    **dict.fromkeys(("k", "decimals", "offset", "axis1", "axis2"), _is_count),
    **dict.fromkeys(("N", "M"), _is_extent),
    "order": lambda value: type(value) in (str, NoneType) and value in ORDERS,
    "casting": lambda value: value == "same_kind",
    "like": lambda value: value is None,
}  # fmt: skip
"""Arguments by their names: what our own code is written for.  NumPy takes the others."""
_guards: dict[Any, tuple[tuple[Callable[[Any], bool] | None, ...], frozenset[str]]] = {}


def is_usual(original: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> bool:
    """Whether the arguments of a call of NumPy's function are of the kinds ours is written for."""
    found = _guards.get(original)
    if found is None:
        every = signatures.parameters(original)
        named = [p.name for p in every if p.kind is p.POSITIONAL_OR_KEYWORD]
        several = any(p.kind is p.VAR_POSITIONAL for p in every)
        alone = sum(p.kind is p.POSITIONAL_ONLY for p in every)
        guards = () if several else (*(None,) * alone, *map(USUAL.get, named))
        found = guards, frozenset(p.name for p in every)
        _guards[original] = found
    guards, names_known = found
    if not kwargs.keys() <= names_known:
        return True  # the call ends with an error
    for guard, value in zip(guards, args, strict=False):
        if guard is not None and not guard(value):
            return False
    return all(key not in USUAL or USUAL[key](value) for key, value in kwargs.items())


# ------------------------------------------------------------------------------------ stand-ins

PLAIN = frozenset((int, bool, NoneType, type(np._NoValue)))
WIDE = frozenset((float, np.float64))
"""What `dtype=` often is, and right for real numbers."""


def is_doubtful(args: Any, kwargs: dict[str, Any], known: int = 1) -> bool:
    """Whether a call has arguments, after those known, that may be wrong in many ways."""
    for value in args[known:]:
        if type(value) not in PLAIN:
            return True
    for key, value in kwargs.items():
        if type(value) not in PLAIN:
            wide = key == "dtype" and type(value) is type and value in WIDE
            if not wide or not args or getattr(args[0], "dtype", None) not in REAL:
                return True
    return False


REAL = frozenset(row.numpy for row in ALL if not row.is_complex)


def agreed(
    name: str,
    original: Callable[..., Any],
    function: Callable[..., Any],
    args: Any,
    kwargs: dict[str, Any],
) -> Any:
    """Our result of a call that NumPy takes, if it has the type of NumPy's; else NumPy's."""
    expected = check(original, args, kwargs)
    single = isinstance(expected, np.ndarray | np.generic)
    if single and not isinstance(original, np.ufunc) and _is_of_another_type(args, kwargs):
        return opaque.delegate(name, original, args, kwargs, WHY)  # it computes in `out`'s type
    result = function(*args, **kwargs)
    if not single or getattr(result, "dtype", None) == expected.dtype:
        return result
    return opaque.delegate(name, original, args, kwargs, WHY)


def _is_of_another_type(args: Any, kwargs: dict[str, Any]) -> bool:
    """Whether the result goes to an array of another type than the operand's: reductions and
    running values are computed in that type.
    """
    given = [kwargs.get("out"), *args[2:]]
    outs = [out for each in given for out in (each if type(each) is tuple else (each,))]
    dtype = getattr(args[0], "dtype", None)
    arrays: list[Any] = [out for out in outs if isinstance(out, Handle | np.ndarray)]
    return any(array.dtype != dtype for array in arrays)


def check(
    function: Callable[..., Any],
    args: Any,
    kwargs: dict[str, Any],
    ours: Callable[..., Any] | None = None,
) -> Any:
    """NumPy's result for stand-ins of the operands; its error where it refuses them, in the words
    of `ours` (a function without effects) where that refuses them alike.
    """
    try:
        return _tried(function, args, kwargs, standins.Standins())
    except REFUSALS as error:
        theirs = error
    try:  # once more, for an error that names the shapes the operands have
        _tried(function, args, kwargs, standins.Shapes())
    except REFUSALS as error:
        theirs = error
    except standins.TooLarge:
        pass
    try:
        raise (_refusal(theirs, ours, args, kwargs) or in_our_words(theirs)) from None
    finally:
        del theirs  # its traceback holds this frame


def _tried(
    function: Callable[..., Any], args: Any, kwargs: dict[str, Any], standin: Standins
) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*map(standin, args), **{k: standin(v) for k, v in kwargs.items()})


def _refusal(
    theirs: Exception, ours: Callable[..., Any] | None, args: Any, kwargs: dict[str, Any]
) -> Exception | None:
    """Our own error for a call that NumPy refuses, if it is caught as NumPy's is."""
    if ours is None or "out" in kwargs:
        return None
    try:
        ours(*args, **kwargs)
    except REFUSALS as found:
        return found.with_traceback(None) if _caught(found) == _caught(theirs) else None
    return None
