"""A compiled kernel's text, and its signature: what a caller hands over.

Apart from the writing of it: code found on disk needs no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from fusewright.ir.expr import Expr

if TYPE_CHECKING:  # programs without loops need none of these
    from fusewright.ir.loops.statements import Check, Print

What = Literal["pointer", "param", "partial", "block", "tile", "report", "print", "counts", "team"]


class Word(NamedTuple):
    """An argument word of a kernel, 64 bits; what its `number` counts depends on what it is.

    | what    | the word                                                         | number         |
    |---------|------------------------------------------------------------------|----------------|
    | pointer | where a value or a buffer begins                                 | slot or buffer |
    | param   | a run-time parameter; with `part` 0 or 1, a part of a complex one | parameter     |
    | partial | where the partial results of a reduction begin                   | slot           |
    | block   | the units in a block of reductions                               |                |
    | tile    | the elements in a stretch of dim 1                               |                |
    | report  | where a failed check is reported                                 |                |
    | print   | the function that prints                                         |                |
    | counts  | where calls of each form are counted                             |                |
    | team    | the threads there are (none: 0)                                  |                |
    """

    what: What
    number: int = 0
    part: int = -1

    @staticmethod
    def param(attr: Any) -> Word:
        """That of a `param` expression: a number, or a number and a part."""
        return Word("param", *attr) if isinstance(attr, tuple) else Word("param", attr)


class Words:
    """The argument words of a kernel being written, each once; those of a table follow one another,
    whether they are words of their own, too, or not.
    """

    def __init__(self) -> None:
        self.every: list[Word] = []
        self._places: dict[Word, int] = {}

    def place(self, word: Word) -> int:
        """Where a word stands."""
        place = self._places.get(word)
        if place is None:
            place = self._places[word] = len(self.every)
            self.every.append(word)
        return place

    def row(self, words: Sequence[Word]) -> int:
        """Where the first of words in a row stands."""
        first = len(self.every)
        for place, word in enumerate(words, first):
            self._places.setdefault(word, place)
        self.every += words
        return first


class Scratch(NamedTuple):
    """A row or tile buffer in scratch: `rows` times the product of `extents`, in elements of
    `itemsize` bytes; with a `halo` (not negative), times a stretch of dim 1 and the halo.
    """

    slot: int
    rows: int
    extents: tuple[Expr, ...]
    itemsize: int
    halo: int = -1


class Module(NamedTuple):
    """The text and what a caller must hand over.

    `finish` says whether `finish` must run after all units; `partials` are the sinks' slots with
    the elements of one block and the bytes of one element.  `checks` and `prints` are what numbers
    in reports and prints mean; `functions` are those that kernels of loops define.
    """

    text: str
    words: tuple[Word, ...]
    scratch: tuple[Scratch, ...] = ()
    finish: bool = False
    partials: tuple[tuple[int, Expr, int], ...] = ()
    checks: tuple[Check, ...] = ()
    prints: tuple[Print, ...] = ()
    functions: tuple[str, ...] = ()
