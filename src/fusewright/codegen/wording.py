"""Expressions as a person writes them: sums of positions in order, parentheses only where they are
needed, shared or long parts under names of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import count

from fusewright.ir import linear
from fusewright.ir.dtypes import BOOL, INT64
from fusewright.ir.expr import Expr

INFIX = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//",
    "tdiv": "//", "remainder": "%", "trem": "%", "power": "**", "equal": "==", "not_equal": "!=",
    "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "bitwise_and": "&",
    "bitwise_or": "|", "bitwise_xor": "^", "left_shift": "<<", "right_shift": ">>",
}  # fmt: skip
"""Operators; quotients and remainders of positions, which are not negative, are Python's."""
WORDS = {"bitwise_and": "and", "bitwise_or": "or"}
"""Of two conditions."""
TIGHTNESS = {
    "or": 1, "and": 2, "==": 3, "!=": 3, "<": 3, "<=": 3, ">": 3, ">=": 3, "+": 5, "-": 5,
    "*": 6, "/": 6, "//": 6, "%": 6, "**": 8,
}  # fmt: skip
"""How tightly an operator binds; what is not here takes parentheses on both sides, and around."""
SUM, TERM, SIGN, ATOM = 5, 6, 7, 9
"""How tightly sums, products, what has a sign, and names and calls bind."""
LONGEST = 72
"""Characters of an expression on one line; longer ones are named piece by piece."""
_PYTHON = {"minimum": "min", "maximum": "max", "imin": "min", "imax": "max", "absolute": "abs"}
_POSITIONS = frozenset({"floor_divide", "remainder", "tdiv", "trem"})
_COMPARED = frozenset({"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"})
_UNNAMED = frozenset({"const", "param", "index", "load", "local"})
Spelled = tuple[str, int]
"""A text, and how tightly it binds."""


class Names:
    """What the user calls a kernel's arrays, by number, and its parameters."""

    def __init__(self, buffers: Mapping[int, str], numbers: Mapping[int, str]) -> None:
        self.buffers = dict(buffers)
        self.numbers = numbers
        self.indices: dict[int, str] = {}
        self.locals: list[str] = []

    def buffer(self, number: int) -> str:
        """The name of an array."""
        return self.buffers.get(number, f"b{number}")

    def number(self, node: Expr) -> str:
        """The name of a parameter."""
        number = node.attr[0] if isinstance(node.attr, tuple) else node.attr
        return self.numbers.get(number, f"p{number}")

    def named(self, node: Expr) -> str | None:
        """The name that stands for an expression without operands."""
        match node.name:
            case "index":
                number: int = node.attr
                return self.indices.get(number, f"i{number}")
            case "param":
                return self.number(node)
            case "local":
                return self.locals[int(node.attr)]
        return None

    def element(self, number: int, indices: Sequence[Expr]) -> str:
        """An element of an array."""
        places = ", ".join(map(self.position, indices))
        return f"{self.buffer(number)}[{places}]" if places else self.buffer(number)

    def text(self, root: Expr) -> str:
        """An expression on one line."""
        return Wording(self, ()).text(root)

    # -- positions ------------------------------------------------------------------------------

    def position(self, expr: Expr) -> str:
        """An integer that says where: a sum of multiples."""
        return self.sum(expr)[0]

    def sum(self, expr: Expr) -> Spelled:
        """The same, and how tightly it binds."""
        parts = sorted(linear.terms(_unwrapped(expr)).items(), key=_is_negative)
        text, tightness = "", ATOM
        for term, factor in parts:
            spelled, binds = self._term(term, factor)
            if not text:
                text, tightness = spelled, binds
            else:
                sign = "-" if spelled.startswith("-") else "+"
                text, tightness = f"{text} {sign} {spelled.removeprefix('-')}", SUM
        return text or "0", tightness

    def _term(self, term: Expr, factor: int) -> Spelled:
        if term.name == "const":
            return number_text(factor * term.attr)
        text, tightness = self._atom(term)
        if factor == 1:
            return text, tightness
        if factor == -1:
            return f"-{held((text, tightness), TERM)}", SIGN
        return f"{factor} * {held((text, tightness), SIGN)}", TERM

    def _atom(self, term: Expr) -> Spelled:
        inner = [self.sum(arg) for arg in term.args]
        if term.name in ("imin", "imax"):
            return f"{_PYTHON[term.name]}({', '.join(text for text, _ in inner)})", ATOM
        if term.name == "multiply" or term.name in _POSITIONS:
            return infix(INFIX[term.name], inner[0], inner[1])
        known = self.named(term)
        return (known, ATOM) if known is not None else Wording(self, ()).spelled(term)


class Wording:
    """Expressions of one statement, or of several that are computed together: what they share, and
    what is long, gets a line of its own where there are `roots`.
    """

    def __init__(self, names: Names, roots: Sequence[Expr]) -> None:
        self.names = names
        self.names_parts = bool(roots)
        self.known: dict[Expr, Spelled] = {}
        self.parts = count(1)
        self.pending: list[str] = []
        nodes = _evaluated(roots)
        self.uses = Counter(arg for node in nodes if node.name != "load" for arg in node.args)
        self.uses.update(roots)

    def taken(self) -> list[str]:
        """The lines that must stand before the expression just written."""
        lines, self.pending = self.pending, []
        return lines

    def text(self, root: Expr) -> str:
        """The expression."""
        return self.spelled(root)[0]

    def spelled(self, root: Expr) -> Spelled:
        """The expression, and how tightly it binds."""
        for node in _evaluated([root]):
            if node not in self.known:
                found = self._one(node)
                if self._has_name(node, node is root, found[0]):
                    name = self._free()
                    self.pending.append(f"{name} = {found[0]}")
                    found = name, ATOM
                self.known[node] = found
        return self.known[root]

    def _has_name(self, node: Expr, is_root: bool, text: str) -> bool:
        if not self.names_parts or node.name in _UNNAMED:
            return False
        return self.uses[node] > 1 or (not is_root and len(text) > LONGEST)

    def _free(self) -> str:
        taken = {*self.names.locals, *self.names.buffers.values(), *self.names.indices.values()}
        return next(name for number in self.parts if (name := f"v{number}") not in taken)

    def _one(self, node: Expr) -> Spelled:
        known = self.names.named(node)
        if known is not None:
            return known, ATOM
        if node.name == "const":
            return number_text(node.attr)
        if node.name == "load":
            return self.names.element(node.attr, node.args), ATOM
        inner = [self.known[arg] for arg in node.args]
        if node.name in _COMPARED and node.args[0].dtype is INT64:
            inner = [self.names.sum(arg) for arg in node.args]
        if node.name == "negative":
            return f"-{held(inner[0], SIGN)}", SIGN
        sign = WORDS.get(node.name) if node.dtype is BOOL else None
        sign = sign or INFIX.get(node.name)
        if sign is not None and len(inner) == 2:
            if sign == "+" and inner[1][0].startswith("-") and node.args[1].name == "const":
                sign, inner[1] = "-", (inner[1][0][1:], ATOM)
            return infix(sign, *inner)
        name = node.dtype.name if node.name == "cast" else called(node.name)
        return f"{name}({', '.join(text for text, _ in inner)})", ATOM


def infix(sign: str, left: Spelled, right: Spelled) -> Spelled:
    """Two operands and their operator."""
    tightness = TIGHTNESS.get(sign, 0)
    need = tightness or ATOM
    compares = need == TIGHTNESS["<"]
    return f"{held(left, need + compares)} {sign} {held(right, need + 1)}", tightness


def held(operand: Spelled, need: int) -> str:
    """An operand in parentheses, where it binds less tightly than needed."""
    text, tightness = operand
    return text if tightness >= min(need, ATOM) else f"({text})"


def called(name: str) -> str:
    """The name of a function of two numbers in Python, where it has one."""
    return _PYTHON.get(name, name)


def number_text(value: object) -> Spelled:
    """A literal."""
    text = repr(value)
    return text, SIGN if text.startswith("-") else ATOM


def free_name(name: str, taken: set[str]) -> str:
    """The name, or with a number where it is taken; from then on it is."""
    found, number = name, 2
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    taken.add(found)
    return found


def _is_negative(term: tuple[Expr, int]) -> bool:
    """What is subtracted is written last."""
    expr, factor = term
    return factor * (expr.attr if expr.name == "const" else 1) < 0


def _unwrapped(place: Expr) -> Expr:
    """What the user wrote as an index: `where(i < 0, i + n, i)` is Python's `i`."""
    if place.name != "where" or place.args[0].name != "less":
        return place
    test, below, written = place.args
    wraps = below.name == "add" and written in below.args and test.args[0] is written
    return written if wraps and (test.args[1].name, test.args[1].attr) == ("const", 0) else place


def _evaluated(roots: Iterable[Expr]) -> list[Expr]:
    """The expressions of bodies, operands first, without what only says where to load."""
    found: dict[Expr, None] = {}
    stack: list[tuple[Expr, bool]] = [(root, False) for root in reversed([*roots])]
    while stack:
        node, ready = stack.pop()
        if ready:
            found[node] = None
        elif node not in found:
            stack.append((node, True))
            inner = () if node.name == "load" else node.args
            stack.extend((arg, False) for arg in reversed(inner))
    return list(found)
