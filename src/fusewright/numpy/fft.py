"""`numpy.fft`: transforms are library steps of known shape and type; shifts are recorded as
rolls.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from fusewright.frontends.arrays import axes as axis_rules
from fusewright.frontends.arrays import methods, opaque
from fusewright.numpy import dispatch, instant, laying, standard
from fusewright.numpy.arranging import roll
from fusewright.numpy.elementwise import finished
from fusewright.numpy.files import on_host
from fusewright.numpy.modules import lookup
from fusewright.numpy.operands import LIBRARY, Function, hand_over, handle_of, recorded

__all__ = list(np.fft.__all__)

LENGTHS = {
    "half": lambda n: n // 2 + 1,
    "double": lambda n: 2 * (n - 1),
    "same": lambda n: n,
}
"""The extent of the last transformed axis: of a real input, of a real output, of neither."""
ONE = {
    "fft": "same",
    "ifft": "same",
    "rfft": "half",
    "irfft": "double",
    "hfft": "double",
    "ihfft": "half",
}
MANY = {"fft": "same", "ifft": "same", "rfft": "half", "irfft": "double"}


@cache
def _result(name: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The element type that a transform gives."""
    given: np.dtype[Any] = getattr(np.fft, name)(np.ones(2, dtype)).dtype
    return given


def _one(name: str) -> Function:
    original, rule = getattr(np.fft, name), ONE[name]

    @recorded(original, name=f"fft.{name}")
    def function(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
        a = handle_of(a)
        at = axis_rules.one_axis(axis, len(a._shape))
        extent = a._shape[at] if n is None else int(n)
        if rule == "double":
            length = LENGTHS[rule](extent) if n is None else extent
        else:
            length = LENGTHS[rule](extent)
        if extent < 1 or length < 1 or norm not in (None, "backward", "ortho", "forward"):
            return hand_over(f"fft.{name}", original, (a, n, axis, norm, out), {}, LIBRARY)
        shape = (*a._shape[:at], length, *a._shape[at + 1 :])
        dtype = _result(name, a.dtype)

        def step(x: Any) -> Any:
            return original(x, n, at, norm)

        return finished(opaque.opaque(f"fft.{name}", step, (a,), dtype, shape), out)

    return function


def _many(name: str, suffix: str) -> Function:
    label = f"{name}{suffix}"
    original, rule = getattr(np.fft, label), MANY[name]
    usual = (-2, -1) if suffix == "2" else None

    @recorded(original, name=f"fft.{label}")
    def function(
        a: Any, s: Any = None, axes: Any = usual, norm: Any = None, out: Any = None
    ) -> Any:
        a = handle_of(a)
        rank = len(a._shape)
        chosen = range(rank) if axes is None else axes
        places = [axis_rules.one_axis(axis, rank) for axis in chosen]
        odd = norm not in (None, "backward", "ortho", "forward") or 0 in a._shape
        if s is not None or odd or not places or (rule == "double" and a._shape[places[-1]] < 2):
            keywords = {"s": s, "axes": axes, "norm": norm, "out": out}
            return hand_over(f"fft.{label}", original, (a,), keywords, LIBRARY)
        shape = list(a._shape)
        shape[places[-1]] = LENGTHS[rule](shape[places[-1]])
        dtype = _result(name, a.dtype)

        def step(x: Any) -> Any:
            return original(x, None, axes, norm)

        return finished(opaque.opaque(f"fft.{label}", step, (a,), dtype, tuple(shape)), out)

    return function


def _shift(name: str, sign: int) -> Function:
    @recorded(getattr(np.fft, name), name=f"fft.{name}")
    def function(x: Any, axes: Any = None) -> Any:
        x = handle_of(x)
        rank = len(x._shape)
        chosen = tuple(range(rank)) if axes is None else axes
        chosen = chosen if isinstance(chosen, tuple | list) else (chosen,)
        amounts = [sign * (x._shape[axis_rules.one_axis(a, rank)] // 2) for a in chosen]
        return roll(x, tuple(amounts), tuple(chosen)) if chosen else x.copy()

    return function


TRANSFORMS: dict[str, Function] = {
    **{name: _one(name) for name in ONE},
    **{f"{name}{suffix}": _many(name, suffix) for name in MANY for suffix in ("2", "n")},
}
EXPORTS: dict[str, Function] = {
    **laying.like_operand(TRANSFORMS),
    "fftshift": _shift("fftshift", 1),
    "ifftshift": _shift("ifftshift", -1),
    "fftfreq": on_host(np.fft.fftfreq),
    "rfftfreq": on_host(np.fft.rfftfreq),
}
RECORDED = EXPORTS | instant.quick("fft", EXPORTS)
RECORDED |= standard.extended(RECORDED)
EXPORTS = dispatch.in_front_of(np.fft, RECORDED)
dispatch.annotate("fft", EXPORTS, np.fft)
globals().update(EXPORTS)
__getattr__ = lookup("fft", EXPORTS)
methods.functions.update({f"fft.{name}": value for name, value in RECORDED.items()})
