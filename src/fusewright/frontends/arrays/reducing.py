"""The methods that reduce, made from their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fusewright.frontends.arrays import reductions, scans
from fusewright.frontends.arrays.agreement import asked
from fusewright.frontends.arrays.core import Handle
from fusewright.frontends.arrays.reductions import NO_VALUE


def reduction(name: str) -> Callable[..., Any]:
    """A reduction that takes `dtype=`."""

    @asked(name, ranked=True)
    def method(
        self: Handle,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = NO_VALUE,
        where: Any = True,
    ) -> Any:
        return reductions.reduction(name, self, axis, dtype, out, keepdims, initial, where)

    return method


def typeless_reduction(name: str) -> Callable[..., Any]:
    """One whose type is the array's."""

    @asked(name, ranked=True)
    def method(
        self: Handle,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = NO_VALUE,
        where: Any = True,
    ) -> Any:
        return reductions.reduction(name, self, axis, None, out, keepdims, initial, where)

    return method


def logical_reduction(name: str) -> Callable[..., Any]:
    """`any` or `all`."""

    @asked(name, ranked=True)
    def method(
        self: Handle, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
    ) -> Any:
        return reductions.reduction(name, self, axis, None, out, keepdims, NO_VALUE, where)

    return method


def arg_reduction(name: str) -> Callable[..., Any]:
    """`argmin` or `argmax`."""

    @asked(name, ranked=True)
    def method(self: Handle, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
        return reductions.arg_reduction(name, self, axis, out, keepdims)

    return method


def scan(name: str) -> Callable[..., Any]:
    """A running sum or product."""

    @asked(name, ranked=True)
    def method(self: Handle, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        return scans.scan(name, self, axis, dtype, out)

    return method
