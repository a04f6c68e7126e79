"""Where straight-line code is cut into pieces.

LLVM's machine scheduler sees one basic block at a time and takes the order apart in it; a block of
some thousand statements also costs it more than linear time.  Measured on an AVX-512 machine, on
quartets of electron-repulsion integrals: pieces of 100 statements halve the compile time from about
3000 statements on.  Below that they only cost values that no longer fold into memory operands, and
so do pieces of 8 to 32 at any size.
"""

from __future__ import annotations

CUT_FROM = 3000
"""Statements from which on a list is cut."""
PIECE = 100
"""Statements in a piece."""


def pieces(statements: int) -> tuple[range, ...]:
    """The places of the statements in each piece: one piece where a list is not cut."""
    size = PIECE if statements >= CUT_FROM else max(statements, 1)
    return tuple(
        range(start, min(start + size, statements)) for start in range(0, statements, size)
    )
