"""Lists of statements as text, which parses back to an equal list.

    scalars PA WP
    leaves F0 F1
    t0 = s0*x0 + s1*x1
    t1 = 2.0*s0*t0 + -0.5*x0 + 3.0
    results t1 x0

`s`, `x` and `t` number scalars, leaves and statements; a term is factor*coefficient*value, and
a factor of 1 is left out.
"""

from __future__ import annotations

import re

from fusewright.base.errors import InternalError
from fusewright.ir.recurrences.straight import Statement, Straight, Summand


def straight_text(straight: Straight) -> str:
    """The whole list."""
    names = _names(straight)
    lines = [" ".join(("scalars", *straight.scalars)), " ".join(("leaves", *straight.leaves))]
    lines += [
        f"{names[straight.first + place]} = {' + '.join(_term(t, names) for t in statement)}"
        for place, statement in enumerate(straight.statements)
    ]
    lines.append(" ".join(("results", *(names[number] for number in straight.results))))
    return "\n".join(lines) + "\n"


def _names(straight: Straight) -> list[str]:
    sizes = (("s", straight.scalars), ("x", straight.leaves), ("t", straight.statements))
    return [f"{letter}{place}" for letter, each in sizes for place in range(len(each))]


def _term(term: Summand, names: list[str]) -> str:
    operands = [names[number] for number in term.operands]
    if term.factor != 1.0 or not operands:
        operands.insert(0, repr(term.factor))
    return "*".join(operands)


_REFERENCE = re.compile(r"([sxt])(\d+)")


def parse_straight(text: str) -> Straight:
    """The list that a text stands for."""
    lines = [line.split() for line in text.splitlines() if line.strip()]
    heads = [line[0] for line in (*lines[:2], *lines[-1:])]
    if heads != ["scalars", "leaves", "results"]:
        raise InternalError("a list begins with `scalars` and `leaves` and ends with `results`")
    scalars, leaves = tuple(lines[0][1:]), tuple(lines[1][1:])
    start = {"s": 0, "x": len(scalars), "t": len(scalars) + len(leaves)}
    statements = []
    for place, (name, equals, *words) in enumerate(lines[2:-1]):
        if name != f"t{place}" or equals != "=" or set(words[1::2]) - {"+"}:
            raise InternalError(f"`{name} {equals} ...` is no statement number {place}")
        statements.append(_parse_statement(words[::2], start))
    results = tuple(_reference(word, start) for word in lines[-1][1:])
    return Straight(scalars, leaves, tuple(statements), results)


def _parse_statement(words: list[str], start: dict[str, int]) -> Statement:
    return tuple(_parse_term(word.split("*"), start) for word in words)


def _parse_term(parts: list[str], start: dict[str, int]) -> Summand:
    factor = 1.0 if _REFERENCE.fullmatch(parts[0]) else float(parts.pop(0))
    numbers = [_reference(part, start) for part in parts]
    if len(numbers) > 2:
        raise InternalError(f"a term has a factor and two operands: {'*'.join(parts)}")
    value = numbers.pop() if numbers else None
    return Summand(factor, numbers.pop() if numbers else None, value)


def _reference(word: str, start: dict[str, int]) -> int:
    found = _REFERENCE.fullmatch(word)
    if found is None:
        raise InternalError(f"`{word}` names no value")
    return start[found[1]] + int(found[2])
