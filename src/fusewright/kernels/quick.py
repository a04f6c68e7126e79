"""A call like an earlier one, in a microsecond: NumPy arrays of the same shapes, Python numbers.

What an earlier call found out (the code, which words are constants, which arrays must not overlap)
is kept under the arguments' types, shapes and strides; machine code reads the arrays' addresses and
looks whether they overlap.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from fusewright.base.options import Options
from fusewright.frontends.kernels.values import Path
from fusewright.ir.nest import Source
from fusewright.kernels.specialise import Specialised, reach_of, span_of
from fusewright.targets.cpu.threads import code, give_team, take_team, thread_count

if TYPE_CHECKING:
    from fusewright.targets.cpu.loops import CompiledLoops

NDArray = np.ndarray[Any, Any]
MOST = 256
"""Shapes remembered for a kernel; all are forgotten when there are more."""
LONG = 1 << 18
"""Bytes of arguments above which other threads may run meanwhile."""
_NUMBERS = (int, float)
_DATA = 16
"""Bytes from the start of an array object to its data pointer (and of a float to its value)."""


@dataclass(frozen=True, slots=True)
class Quick:
    """One kind of call.

    `words` are the argument words, with the arguments `moving` (place, number of the argument) to
    be filled in; `results` are the places of the numbers it returns, with their dtypes; `team` is
    the place of the threads (0: it runs on one).
    """

    found: Specialised
    options: Options
    loops: Callable[..., int]
    spec: Any
    words: list[Any]
    moving: tuple[tuple[int, int], ...]
    results: tuple[tuple[int, np.dtype[Any]], ...]
    finish: Callable[[Sequence[NDArray]], Any] | None
    team: int
    threads: int

    def holds(self, options: Options) -> bool:
        """Whether settings and captured values are those it was made for."""
        return options is self.options and all(
            capture.holds() for capture in self.found.translated.captures
        )

    def run(self, args: Sequence[Any]) -> tuple[bool, Any]:
        """Whether it ran (it does not where arrays overlap), and what it returns."""
        words = self.words.copy()
        for place, number in self.moving:
            words[place] = args[number]
        fresh = []
        for place, dtype in self.results:
            words[place] = result = np.empty((), dtype)
            fresh.append(result)
        taken = 0
        if self.team:
            taken = words[self.team] = take_team(self.threads)
        try:
            overlapped = self.loops(*words)
        except OverflowError:
            return False, None
        finally:
            if taken:
                give_team()
        if overlapped:
            return False, None
        self.found.calls += 1
        return True, None if self.finish is None else self.finish(fresh)


def key_of(args: Sequence[Any], options: Options) -> Any:
    """What a quick call is found by; None for arguments that take the long way.

    Settings count by identity: `Quick` keeps its own, so that no others can have that number.
    """
    key: list[Any] = [id(options)]
    for value in args:
        kind = type(value)
        if kind is np.ndarray:
            key.append((value.dtype, value.shape, value.strides, value.flags.writeable))
        elif kind in _NUMBERS:
            key.append(kind)
        else:
            return None
    return tuple(key)


def learn(
    found: Specialised,
    compiled: CompiledLoops,
    names: Sequence[str],
    arguments: Mapping[str, Any],
    options: Options,
    finish: Callable[[Sequence[NDArray]], Any] | None,
) -> Quick | None:
    """Remember a call that has just been made; None where such calls take the long way."""
    module, translated = compiled.module, found.translated
    if found.attributes or module.checks or module.prints or not _reads_arrays():
        return None
    places = {(name,): number for number, name in enumerate(names)}
    paths = dict(zip(translated.kernel.given, translated.paths, strict=True))
    words: list[Any] = [0]
    moving, results, pointers = [], [], {}
    for word in module.words:
        path: Path | None = None
        if word.what == "pointer":
            path = paths[word.number]
            pointers[word.number] = len(words) - 1
            if path is None:
                dtype = translated.kernel.buffers[word.number].dtype.numpy
                results.append((len(words), dtype))
        elif word.what == "param":
            source = translated.kernel.arguments[word.number]
            path = reach_of(source, translated, paths)
            if source.what != "scalar":
                words.append(_fixed(source, path, arguments))
                continue
        if path is not None:
            if path not in places:
                return None
            moving.append((len(words), places[path]))
        words.append(0)
    spec = _spec(compiled, pointers, paths, arguments)
    words[0] = ctypes.addressof(spec)
    threads = thread_count() if compiled.is_threaded else 1
    team = len(module.words) if threads > 1 else 0  # the last word
    known = (spec, words, tuple(moving), tuple(results), finish, team, threads)
    return Quick(found, options, code().loops, *known)


def _fixed(source: Source, path: Path | None, arguments: Mapping[str, Any]) -> int:
    """An extent or stride of an argument."""
    assert path is not None
    array = arguments[str(path[0])]
    number: int = (array.shape if source.what == "extent" else array.strides)[source.dim]
    return number


def _spec(
    compiled: CompiledLoops,
    pointers: Mapping[int, int],
    paths: Mapping[int, Path | None],
    arguments: Mapping[str, Any],
) -> Any:
    """What the machine code's door reads (see `py_loops`)."""
    arrays = {number: arguments[str(path[0])] for number, path in paths.items() if path is not None}
    pairs: list[int] = []
    for a, b in sorted(compiled.kernel.disjoint):
        if a in arrays and b in arrays and a in pointers and b in pointers:
            pairs += [pointers[a], *span_of(arrays[a]), pointers[b], *span_of(arrays[b])]
    large = sum(array.nbytes for array in arrays.values()) > LONG or compiled.is_threaded
    head = [compiled.address, id(np.ndarray), id(float), int(large), len(pairs) // 6]
    return (ctypes.c_int64 * (len(head) + len(pairs)))(*head, *pairs)


@cache
def _reads_arrays() -> bool:
    """Whether this interpreter's arrays and floats are laid out as the door expects."""
    array, number = np.zeros(1), 1.5
    address = array.__array_interface__["data"][0]
    try:
        data = ctypes.c_void_p.from_address(id(array) + _DATA).value
        value = ctypes.c_double.from_address(id(number) + _DATA).value
        kind = ctypes.c_void_p.from_address(id(array) + 8).value
    except ValueError:
        return False
    return data == address and value == number and kind == id(np.ndarray)
