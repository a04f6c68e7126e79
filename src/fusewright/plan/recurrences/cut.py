"""Where straight-line code is cut: into pieces of a function, and a long list into functions.

LLVM's machine scheduler sees one basic block at a time and takes the order apart in it; a block of
some hundred statements also costs it more than linear time.  Measured on an AVX-512 machine, on
quartets of electron-repulsion integrals: pieces of 50 statements take two thirds of the compile
time of one block at 300 statements and half at 1200, and the code is as fast (0.75 to 1.03 of the
time).  Values do not fold into memory operands across pieces: shorter ones are no better.

LLVM's time is not linear in the length of a function either: 0.46 ms a statement for 63000 in one
of pieces, 0.13 in functions of 1000.  But a value that crosses functions is stored and loaded by
all of them: the 7366 statements of (dd|dd) take 1.24 times gcc's time in eight functions and 0.99
in one, which LLVM compiles as fast.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusewright.ir.recurrences.straight import Straight

CUT_FROM = 200
"""Statements from which on a list is cut."""
PIECE = 50
"""Statements in a piece."""
PART = 8192
"""Statements in a function, at most."""


def pieces(statements: int) -> tuple[range, ...]:
    """The places of the statements in each piece: one piece where a list is not cut."""
    size = PIECE if statements >= CUT_FROM else max(statements, 1)
    return tuple(
        range(start, min(start + size, statements)) for start in range(0, statements, size)
    )


def parts(statements: int) -> tuple[range, ...]:
    """The places of the statements in each function: at least one, of equal lengths."""
    count = max(-(-statements // PART), 1)
    bounds = [statements * number // count for number in range(count + 1)]
    return tuple(map(range, bounds, bounds[1:]))


def crossing(straight: Straight, parts: Sequence[range]) -> tuple[dict[int, int], int]:
    """The slot of each value that a later part reads, and how many slots there are; a slot is free
    again in the part after the last one that reads it.
    """
    last: dict[int, int] = {}
    for number, part in enumerate(parts):
        for place in part:
            for term in straight.statements[place]:
                last.update(dict.fromkeys(term.operands, number))
    slots: dict[int, int] = {}
    ending: list[list[int]] = [[] for _ in parts]
    free: list[int] = []
    many = 0
    for number, part in enumerate(parts):
        free += ending[number - 1] if number else []
        for value in range(straight.first + part.start, straight.first + part.stop):
            if last.get(value, number) > number:
                slot = free.pop() if free else many
                many = max(many, slot + 1)
                slots[value] = slot
                ending[last[value]].append(slot)
    return slots, many
