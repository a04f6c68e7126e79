"""What a process does once, while somebody listens: it loads modules of ours, translates kernels,
and finds which requests it computes in parts.  A longer run takes no more of it, so it is told
apart from recording, planning and compiling.
"""

from __future__ import annotations

import sys
from _thread import _local, get_ident
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from time import perf_counter
from types import ModuleType
from typing import Any, Literal, NamedTuple

from fusewright._core import native

LOADED = frozenset({"fusewright", "llvmlite", "islpy"})
"""Packages whose modules are loaded for a program of arrays in the midst of it."""


What = Literal["loading", "translating", "planning", "telling"]


class Once(NamedTuple):
    """When it began and `ended` (`time.perf_counter`), and the seconds it took, without such work
    inside it.
    `planning` led to no code: a request that is too much at once is computed in parts.  `telling`
    is what only those who listen need.
    """

    start: float
    seconds: float
    what: What
    ended: float


class _Thread(_local):
    """The work that this thread has done, and for what is being done now the seconds inside it."""

    def __init__(self) -> None:
        self.done: list[Once] = []
        self.inside: list[float] = []
        self.is_telling = False


_thread = _Thread()
_heard: list[tuple[int, list[Once]]] = []


@contextmanager
def noted(what: What) -> Iterator[None]:
    """What happens in the `with` block happens once; what is loaded for telling is part of that."""
    if not _heard:
        yield
        return
    start, outer = perf_counter(), _thread.is_telling
    _thread.is_telling = outer or what == "telling"
    _thread.inside.append(0.0)
    try:
        yield
    finally:
        ended = perf_counter()
        whole = ended - start
        kind: What = "telling" if _thread.is_telling else what
        own = Once(start, whole - _thread.inside.pop(), kind, ended)
        _thread.is_telling = outer
        if _thread.inside:
            _thread.inside[-1] += whole
        _thread.done.append(own)
        _tell(own)


def _tell(own: Once) -> None:
    """It is no recording, and whoever listens to this thread hears of it."""
    if native is not None:
        native.not_recording(own.seconds)
    for thread, found in _heard:
        if thread == get_ident():
            found.append(own)


def note(what: What, start: float) -> None:
    """What has happened since then, and ended here, happened once."""
    if not _heard:
        return
    own = Once(start, elapsed(start), what, perf_counter())
    _thread.done.append(own)
    _tell(own)


def elapsed(start: float) -> float:
    """The seconds since then, without what this thread did once meanwhile."""
    taken = perf_counter() - start
    for each in reversed(_thread.done):  # in the order in which they ended
        if each.ended < start:
            break
        if each.start >= start:
            taken -= each.seconds
    return taken


def hear(found: list[Once]) -> None:
    """From here on what this thread does once is added to a list."""
    if not _heard:
        sys.meta_path.insert(0, _finder)
    _heard.append((get_ident(), found))


def forget(found: list[Once]) -> None:
    """No longer."""
    _heard[:] = [each for each in _heard if each[1] is not found]
    if not _heard:
        sys.meta_path[:] = [each for each in sys.meta_path if each is not _finder]


class _Finder:
    """Finds modules as Python does, and notes how long those of `LOADED` take."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name.partition(".")[0] not in LOADED:
            return None
        spec = PathFinder.find_spec(name, path, target)
        loader: Any = None if spec is None else spec.loader
        if not hasattr(loader, "exec_module"):
            return None
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            del loader.exec_module
            with noted("loading"):
                execute(module)

        loader.exec_module = exec_module
        return spec


_finder: Any = _Finder()
