"""Floating-point errors that a program asks for: while one is to raise or to call (`errstate`,
`seterr`), every statement is run at once by NumPy, operation by operation, which sees them.
"""

from __future__ import annotations

import functools
from contextlib import ExitStack
from contextvars import ContextVar
from typing import Any

import numpy as np

from fusewright.base.options import options
from fusewright.frontends.arrays import trace

SEEN = frozenset(("raise", "call"))
"""Treatments of errors that have to happen in the statement."""
_mode: ContextVar[ExitStack | None] = ContextVar("fusewright_floating_errors", default=None)


def _follow() -> None:
    """Begin or end running statements at once, as the treatment of errors now wants it."""
    wanted, running = bool(SEEN & set(np.geterr().values())), _mode.get()
    if wanted and running is None:
        stack = ExitStack()
        trace.flush()
        trace.watch(1, lines=True)
        stack.callback(trace.watch, -1, lines=True)
        stack.enter_context(options(target="reference", interpret=False))
        trace.at_once.set(True)
        _mode.set(stack)
    elif running is not None and not wanted:
        _mode.set(None)
        trace.at_once.set(False)
        running.close()


def seterr(**treatments: Any) -> Any:
    """NumPy's `seterr`."""
    old = np.seterr(**treatments)
    _follow()
    return old


TREATED = ("all", "divide", "over", "under", "invalid")
"""NumPy's object keeps each treatment under its name with a `_` in front."""


class errstate(np.errstate):
    """NumPy's `errstate`: a context manager and a decorator."""

    __slots__ = ()

    def __enter__(self) -> None:
        np.errstate.__enter__(self)
        state: Any = self
        asked = (state._all, state._divide, state._over, state._under, state._invalid)
        if _mode.get() is not None or not SEEN.isdisjoint(asked):
            _follow()

    def __exit__(self, *error: Any) -> None:
        np.errstate.__exit__(self, *error)
        if _mode.get() is not None:
            _follow()

    def __call__(self, function: Any) -> Any:
        """One state for each call, as threads and recursion need it."""
        named = {name: getattr(self, f"_{name}") for name in (*TREATED, "call")}
        named = {name: value for name, value in named.items() if isinstance(value, str)} | (
            {"call": named["call"]} if callable(named["call"]) else {}
        )

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with type(self)(**named):
                return function(*args, **kwargs)

        return call


EXPORTS: dict[str, Any] = {"errstate": errstate, "seterr": seterr}
