"""`numpy.random`: NumPy's own generators and streams; what they return is adopted as ours
without a copy.

Drawing advances a state, so it happens at once, in the order of the program.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy as np
import numpy.random as original

from fusewright.frontends.arrays import inplace, opaque, sharing
from fusewright.frontends.arrays.core import Handle
from fusewright.numpy import dispatch, standard
from fusewright.numpy.modules import lookup
from fusewright.numpy.operands import LIBRARY, Function, by_numpy, hand_over, holds_array

__all__ = list(original.__all__)


def _drawing(draw: Callable[..., Any]) -> Function:
    """A drawing method: arguments of ours are computed, arrays it returns become ours."""

    @wraps(draw)
    def method(*args: Any, **kwargs: Any) -> Any:
        if isinstance(kwargs.get("out"), Handle):
            return _filled(draw, args, kwargs)
        if not opaque.listeners and not kwargs and not any(map(holds_array, args)):
            return opaque.from_numpy_result(draw(*args))
        return hand_over(f"random.{draw.__name__}", draw, args, kwargs, LIBRARY)

    return by_numpy(draw, method)


def _filled(draw: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Draw into a copy of `out`, which becomes its new content: the shape says how many."""
    target = kwargs.pop("out")
    inplace.check_writable(target)
    work = np.array(sharing.content(target), order="C")
    hand_over(f"random.{draw.__name__}", partial(draw, out=work), args, kwargs, LIBRARY)
    inplace.store(target, sharing.adopted(work))
    return target


def _shuffling(draw: Callable[..., Any], first: int) -> Function:
    """`shuffle`: works in place on its argument, a copy of ours becomes the new content."""

    @wraps(draw)
    def method(*args: Any, **kwargs: Any) -> Any:
        target = args[first] if len(args) > first else kwargs.get("x")
        if not isinstance(target, Handle):
            return draw(*args, **kwargs)
        inplace.check_writable(target)
        work = np.array(sharing.content(target), order="C")
        given = (*args[:first], work, *args[first + 1 :])
        named = {key: value for key, value in kwargs.items() if key != "x"}
        opaque.in_numpy("random.shuffle", partial(draw, **named), *given)
        inplace.store(target, sharing.adopted(work))
        return None

    return method


KEPT = frozenset(
    ("spawn", "bit_generator", "get_state", "set_state", "seed", "get_bit_generator",
     "set_bit_generator", "default_rng")
)  # fmt: skip


def _methods(kind: type) -> dict[str, Any]:
    """The drawing methods of a generator class, each made to return our arrays."""
    found: dict[str, Any] = {"__module__": __name__, "__doc__": kind.__doc__}
    for name in dir(kind):
        method = getattr(kind, name)
        if name.startswith("_") or name in KEPT or not callable(method):
            continue
        ours = _shuffling(method, 1) if name == "shuffle" else _drawing(method)
        found[name] = dispatch.in_front(name, method, ours)
    return found


Generator: Any = standard.Extending(
    "Generator", (original.Generator,), _methods(original.Generator)
)
"""NumPy's `Generator` with results of our kind."""
RandomState: Any = standard.Extending(
    "RandomState", (original.RandomState,), _methods(original.RandomState)
)
"""NumPy's `RandomState` with results of our kind."""


def default_rng(seed: Any = None) -> Any:
    """A generator with NumPy's default stream."""
    if isinstance(seed, Generator):
        return seed
    seed = opaque.to_numpy(seed) if holds_array(seed) else seed
    return Generator(original.default_rng(seed).bit_generator)


def _legacy() -> dict[str, Any]:
    """The functions on NumPy's global state."""
    found: dict[str, Any] = {}
    for name in original.__all__:
        function = getattr(original, name)
        if isinstance(function, type) or name in KEPT or not callable(function):
            continue
        ours = _shuffling(function, 0) if name == "shuffle" else _drawing(function)
        found[name] = dispatch.in_front(name, function, ours)
    return found


EXPORTS: dict[str, Any] = {
    **_legacy(), "Generator": Generator, "RandomState": RandomState, "default_rng": default_rng,
    "seed": original.seed, "get_state": original.get_state, "set_state": original.set_state,
}  # fmt: skip
dispatch.annotate("random", EXPORTS, original)
__getattr__ = lookup("random", EXPORTS)
