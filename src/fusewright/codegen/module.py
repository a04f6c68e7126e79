"""The text of a compiled kernel and what its caller hands over."""

from __future__ import annotations

from typing import Literal, NamedTuple

from fusewright.ir.expr import Expr


class Word(NamedTuple):
    """A kernel argument: the pointer of a stored value, the pointer of a sink's partial results,
    the number of a run-time parameter (`Program.arguments`; with 0 or 1 behind it, a part of a
    complex one), the units in a block of reductions, or the elements in a stretch of dim 1.
    """

    what: Literal["pointer", "partial", "param", "block", "tile"]
    number: int | tuple[int, int] = 0


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
    the elements of one block and the bytes of one element.
    """

    text: str
    words: tuple[Word, ...]
    scratch: tuple[Scratch, ...]
    finish: bool
    partials: tuple[tuple[int, Expr, int], ...]
