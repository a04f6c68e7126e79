"""Compiled loops with everything but addresses and numbers filled in: a call in a microsecond.

Machine code takes arrays and numbers as they are, reads the addresses and looks whether arrays
overlap that must not.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from fusewright.codegen.module import Word
from fusewright.runtime.arguments import span_of
from fusewright.runtime.limits import thread_count
from fusewright.targets.cpu.threads import code, give_team, take_team
from fusewright.targets.executable import Given, LoopExecutable

NDArray = np.ndarray[Any, Any]
LONG = 1 << 18
"""Bytes of arguments above which other threads may run meanwhile."""
_DATA = 16
"""Bytes from the start of an array object to its data pointer (and of a float to its value)."""


@dataclass(frozen=True, slots=True)
class DirectCall:
    """`words` are the argument words, with the values `moving` (place, number of the value) to be
    filled in; `team` is the place of the threads (0: it runs on one).
    """

    executable: LoopExecutable
    loops: Callable[..., int]
    spec: Any
    words: list[Any]
    moving: tuple[tuple[int, int], ...]
    team: int
    threads: int

    @property
    def releases(self) -> bool:
        """Whether other threads may run meanwhile."""
        return bool(self.spec[3])

    def run(self, values: Sequence[Any]) -> bool:
        """Whether it ran: it does not where arrays overlap, or a number is too large."""
        words = self.words.copy()
        for place, number in self.moving:
            words[place] = values[number]
        return self.launched(words)

    def launched(self, words: list[Any]) -> bool:
        """Whether it ran on these words, the threads' filled in."""
        taken = 0
        if self.team:
            taken = words[self.team] = take_team(self.threads)
        try:
            return not self.loops(*words)
        except OverflowError:
            return False
        finally:
            if taken:
                give_team()


def bind(
    executable: LoopExecutable,
    arrays: Mapping[int, NDArray],
    word_of: Callable[[Word], Given | int | None],
) -> DirectCall | None:
    """The form of calls with arrays laid out as these (by the buffers' numbers); `word_of` says
    what a word is, None where such calls take the long way.
    """
    module = executable.module
    if module.checks or module.prints or not _reads_arrays():
        return None
    words: list[Any] = [0]
    moving, pointers = [], {}
    for word in module.words:
        if word.what == "counts":
            words.append(ctypes.addressof(executable.counts))
            continue
        found = 0 if word.what == "team" else word_of(word)
        if found is None:
            return None
        if word.what == "pointer":
            pointers[word.number] = len(words) - 1
        if isinstance(found, Given):
            moving.append((len(words), found.number))
            found = 0
        words.append(found)
    spec = _spec(executable, pointers, arrays)
    words[0] = ctypes.addressof(spec)
    threads = thread_count() if executable.is_threaded else 1
    team = len(module.words) if threads > 1 else 0  # the last word
    return DirectCall(executable, code().loops, spec, words, tuple(moving), team, threads)


def _spec(
    executable: LoopExecutable, pointers: Mapping[int, int], arrays: Mapping[int, NDArray]
) -> Any:
    """What the machine code reads first (see `py_loops`)."""
    pairs: list[int] = []
    for a, b in sorted(executable.kernel.disjoint):
        if a in arrays and b in arrays and a in pointers and b in pointers:
            pairs += [pointers[a], *span_of(arrays[a]), pointers[b], *span_of(arrays[b])]
    large = sum(array.nbytes for array in arrays.values()) > LONG or executable.is_threaded
    head = [executable.address, id(np.ndarray), id(float), int(large), len(pairs) // 6]
    return (ctypes.c_int64 * (len(head) + len(pairs)))(*head, *pairs)


@cache
def _reads_arrays() -> bool:
    """Whether this interpreter's arrays and floats are laid out as that code expects."""
    array, number = np.zeros(1), 1.5
    address = array.__array_interface__["data"][0]
    try:
        data = ctypes.c_void_p.from_address(id(array) + _DATA).value
        value = ctypes.c_double.from_address(id(number) + _DATA).value
        kind = ctypes.c_void_p.from_address(id(array) + 8).value
    except ValueError:
        return False
    return data == address and value == number and kind == id(np.ndarray)
