"""Where straight-line code is cut into pieces.

LLVM's machine scheduler sees one basic block at a time and takes the order apart in it; a block of
some hundred statements also costs it more than linear time.  Measured on an AVX-512 machine, on
quartets of electron-repulsion integrals: pieces of 50 statements take two thirds of the compile
time of one block at 300 statements and half at 1200, and the code is as fast (0.75 to 1.03 of the
time).  Values do not fold into memory operands across pieces: shorter ones are no better.
"""

CUT_FROM = 200
"""Statements from which on a list is cut."""
PIECE = 50
"""Statements in a piece."""


def pieces(statements: int) -> tuple[range, ...]:
    """The places of the statements in each piece: one piece where a list is not cut."""
    size = PIECE if statements >= CUT_FROM else max(statements, 1)
    return tuple(
        range(start, min(start + size, statements)) for start in range(0, statements, size)
    )
