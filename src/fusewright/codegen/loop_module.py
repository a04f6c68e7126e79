"""A compiled kernel of loops: its text, and what a caller must hand over.

Apart from the writing of it: code found on disk needs no more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fusewright.ir.loops.statements import Check, Print


@dataclass(frozen=True, slots=True)
class LoopWord:
    """An argument: a buffer's pointer, a parameter, the report of a failed check, the function that
    prints, where calls of each form are counted, or the threads there are (none: 0).
    """

    what: Literal["pointer", "param", "report", "print", "counts", "team"]
    number: int = 0


@dataclass(frozen=True, slots=True)
class LoopModule:
    """The text, what a caller must hand over, and what numbers in reports and prints mean.

    `functions` are those defined.
    """

    text: str
    words: tuple[LoopWord, ...]
    checks: tuple[Check, ...]
    prints: tuple[Print, ...]
    functions: tuple[str, ...]
