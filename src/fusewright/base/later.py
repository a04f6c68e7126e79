"""Modules that are loaded when they are first used, so that a program which needs no compiler pays
for none.

    if TYPE_CHECKING:
        from fusewright.runtime import cache
    else:
        cache = later("fusewright.runtime.cache")

Type checkers and `lint-imports` see an ordinary import.  The first look at `cache.clear` loads the
module and puts it in the place of the stand-in, so that everything after it is an ordinary global
name.

So modules are loaded in the midst of a program, at a place that the program does not know of.
Whatever happens there must not be seen: an interruption (Ctrl-C) would leave half of our modules
behind, a signal's handler that computes with arrays would need what is being loaded, and a program
near the end of its stack would have a `RecursionError` in the place of a module.  So Python's
handlers wait until the modules are there, and imports have room of their own on the stack.
"""

from __future__ import annotations

import _signal as raw_signal  # type: ignore[import-not-found]  # `signal` makes enumerations of all it has
import sys
from _thread import RLock  # `threading` is more than a lock
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

TYPE = "__fusewright_type__"
"""The built-in function that redirected code calls in the place of `type(x)`: Python's own until
there are arrays.
"""
ROOM = 1000
"""Frames; our deepest chain of imports takes 300."""


class _Room:
    """The limit of the stack, higher while any thread loads modules."""

    def __init__(self) -> None:
        self.lock, self.users, self.before, self.raised = RLock(), 0, 0, 0

    def __enter__(self) -> None:
        with self.lock:
            if not self.users:
                self.before = sys.getrecursionlimit()
                self.raised = self.before + ROOM
                sys.setrecursionlimit(self.raised)
            self.users += 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.users -= 1
            if not self.users and sys.getrecursionlimit() == self.raised:
                sys.setrecursionlimit(self.before)


class Signals:
    """The main thread's handlers, kept back.  Masks of signals would not do: a thread of another
    library (NumPy has some) would take the signal, and Python call the handler in this one.
    """

    def __init__(self) -> None:
        self.handlers: dict[int, Any] = {}
        self.waiting: list[int] = []

    def enter(self) -> bool:
        """They wait from here on, until the caller leaves; False where they wait already, and in
        other threads, where no handler ever runs and none can be set.
        """
        if self.handlers:
            return False
        found = {number: raw_signal.getsignal(number) for number in raw_signal.valid_signals()}
        handlers = {number: handler for number, handler in found.items() if callable(handler)}
        is_main = False
        try:
            for number, handler in handlers.items():
                raw_signal.signal(number, handler)  # in another thread the first one is an error
                is_main = True
                self.handlers[number] = handler
                raw_signal.signal(number, self._note)
        except BaseException as error:
            if isinstance(error, ValueError) and not is_main:
                return False
            self.leave()  # a handler ran before its turn to wait came
            raise
        return True

    def _note(self, number: int, _: Any) -> None:
        self.waiting.append(number)

    def leave(self) -> None:
        """As before; the first handler that runs may raise, and all are back even so."""
        try:
            while self.handlers:
                number = next(iter(self.handlers))
                raw_signal.signal(number, self.handlers[number])
                del self.handlers[number]
            while self.waiting:
                raw_signal.raise_signal(self.waiting.pop(0))
        finally:
            if self.handlers or self.waiting:
                self.leave()


_room, _signals = _Room(), Signals()


@contextmanager
def undisturbed() -> Iterator[None]:
    """Signals wait meanwhile, and the stack has room.  At the end handlers run, which may raise."""
    holds = _signals.enter()
    try:
        with _room:
            yield
    finally:
        if holds:
            _signals.leave()


def load(name: str) -> Any:
    """The module; where it is new, it and all it needs are there as a whole."""
    with undisturbed():
        return import_module(name)


class Later:
    """Stands for a module until somebody looks at one of its names."""

    __slots__ = ("_module", "_namespace")

    def __init__(self, module: str, namespace: dict[str, Any]) -> None:
        self._module, self._namespace = module, namespace

    def __getattr__(self, name: str) -> Any:
        module = load(self._module)
        bound = self._module.rpartition(".")[2]
        if self._namespace.get(bound) is self:
            self._namespace[bound] = module
        return getattr(module, name)

    def __repr__(self) -> str:
        return f"<module {self._module!r}, not loaded yet>"


def later(module: str) -> Any:
    """What stands for a module in the calling module, under the last part of its name."""
    return Later(module, sys._getframe(1).f_globals)
