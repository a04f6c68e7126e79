"""A planned kernel as loops a person can read, with the user's operations as they were before
decomposition.

    for i in parallel(n):
        row t[j] for j in range(m):  t[j] = exp(x[i, j] - s[i])
        ...
 What is printed is the plan: the order of loops, what is kept in a row buffer, what is added up in
blocks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import count

from fusewright.base.values import dataclass
from fusewright.ir import linear, ops
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, index, postorder
from fusewright.ir.graph import Node
from fusewright.ir.nest import Nest, Program, grouped
from fusewright.plan.plan import TILE, Kernel, Member, is_sink

INDICES = "ijklpqrs"
EXTENTS = "nmkhwd"
INFIX = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//",
    "remainder": "%", "power": "**", "equal": "==", "not_equal": "!=", "less": "<",
    "less_equal": "<=", "greater": ">", "greater_equal": ">=", "bitwise_and": "&",
    "bitwise_or": "|", "bitwise_xor": "^", "left_shift": "<<", "right_shift": ">>",
}  # fmt: skip
_SIGNS = {"add": "+", "multiply": "*", "logical_or": "|", "logical_and": "&"}
LOOSE = {"+": 1, "-": 1, "*": 2, "/": 2, "//": 2, "%": 2, "**": 3}
"""How tightly an operator binds; what is not here takes parentheses on both sides."""
_ROW = index(0)
LONGEST = 72
"""Characters of an expression on one line; longer ones are named piece by piece."""


def listing(order: Sequence[Node], program: Program, kernel: Kernel) -> str:
    """The kernel's loops as text."""
    return "\n".join(_Listing(order, program, kernel).lines())


@dataclass(slots=True)
class _Names:
    """Names for what a kernel reads, computes and is given at run time."""

    extents: dict[Expr, str] = field(default_factory=dict)
    scalars: dict[Expr, str] = field(default_factory=dict)
    values: dict[int, str] = field(default_factory=dict)


class _Listing:
    def __init__(self, order: Sequence[Node], program: Program, kernel: Kernel) -> None:
        self.order = order
        self.program = program
        self.kernel = kernel
        self.names = _Names()
        self.inside = {member.stage.slot: member for member in kernel.members}
        self._name_everything()

    # -- names ----------------------------------------------------------------------------------

    def _name_everything(self) -> None:
        bodies = [n.body for m in self.kernel.members for n in m.stage.nests]
        loads = {e.attr for e in postorder(bodies) if e.name == "load"} - set(self.inside)
        letters = (c for c in "abcdefgxyzuvw")
        for slot in sorted(loads):
            self.names.values[slot] = next(letters, f"a{slot}")
        outs, temporaries = count(1), count(1)
        many = sum(slot in self.program.outputs for slot in self.inside) > 1
        for slot in self.inside:
            if slot in self.program.outputs:
                self.names.values[slot] = f"out{next(outs)}" if many else "out"
            else:
                self.names.values[slot] = f"t{next(temporaries)}"
        for root in self._positions():
            for node in postorder([root]):
                if node.name == "param" and node.dtype is INT64:
                    self._parameter(node)
        for node in postorder(bodies):
            if node.name == "param":
                self._parameter(node)

    def _positions(self) -> Iterator[Expr]:
        for member in self.kernel.members:
            yield from member.stage.extents
            for nest in member.stage.nests:
                yield from (*nest.box.low, *nest.box.high)

    def _parameter(self, node: Expr) -> str:
        """The name of a run-time number."""
        number = node.attr[0] if isinstance(node.attr, tuple) else node.attr
        source = self.program.arguments[number]
        if source.what == "scalar":
            known = len(self.names.scalars)
            return self.names.scalars.setdefault(node, f"s{known + 1}")
        known = len(self.names.extents)
        name = EXTENTS[known] if known < len(EXTENTS) else f"n{known}"
        return self.names.extents.setdefault(node, name)

    # -- the kernel -----------------------------------------------------------------------------

    def lines(self) -> Iterator[str]:
        yield from self._header()
        if self.kernel.shared == 0:
            for phase in self.kernel.phases:
                yield from self._phase(phase, 0, "")
            return
        shared = self.kernel.shared
        extents = [self.position(e) for e in self.kernel.extents[0]]
        variables = ", ".join(INDICES[:shared])
        kind = "range" if self.kernel.ordered else "parallel"
        tiled = self.kernel.form == "tiles" and not self._is_plain()
        if tiled:
            yield f"for tile in {kind}({extents[0]}, step={TILE}):"
        else:
            note = (
                "  # rows in order, neighbours' halo computed twice" if self.kernel.streams else ""
            )
            yield f"for {variables} in {kind}({', '.join(extents)}):{note}"
        for phase in self.kernel.phases:
            yield from self._phase(phase, shared, "    ", tiled)

    def _is_plain(self) -> bool:
        """One loop over elements: nothing has to be kept from tile to tile."""
        first = self.kernel.phases[0][0]
        return len(self.kernel.phases) == 1 and first.stage.form == "map"

    def _header(self) -> Iterator[str]:
        for slot, name in self.names.values.items():
            node = self.order[slot]
            if slot in self.inside:
                continue
            yield f"# {name}: {node.dtype}{list(node.shape)}"
        known = []
        for param, name in self.names.extents.items():
            source = self.program.arguments[param.attr]
            if source.what == "extent":
                known.append(f"{name} = {self.order[source.slot].shape[source.dim]}")
        if known:
            yield f"# {', '.join(known)}"
        if self.names.scalars:
            given = (f"{name}: {node.dtype}" for node, name in self.names.scalars.items())
            yield f"# {', '.join(given)} (given at run time)"

    def _phase(
        self, phase: Sequence[Member], shared: int, indent: str, tiled: bool = False
    ) -> Iterator[str]:
        groups = [(m, grouped(m.stage)) for m in phase]
        for number in range(max(len(boxes) for _, boxes in groups)):
            pairs = [
                (member, nest)
                for member, boxes in groups
                if number < len(boxes)
                for nest in boxes[number][1]
            ]
            yield from self._nest(pairs, shared, indent, tiled)

    def _nest(
        self, pairs: Sequence[tuple[Member, Nest]], shared: int, indent: str, tiled: bool
    ) -> Iterator[str]:
        first, nest = pairs[0]
        stage = first.stage
        rank = len(stage.extents)
        condition = self._condition(first, nest, shared, tiled)
        if condition:
            yield f"{indent}if {condition}:"
            indent += "    "
        loops = range(shared, rank)
        if tiled:
            yield f"{indent}for i in tile:{_behind(first)}"
            indent, loops = indent + "    ", range(rank, rank)
        for dim in loops:
            low, high = self.position(nest.box.low[dim]), self.position(nest.box.high[dim])
            bounds = high if low == "0" else f"{low}, {high}"
            yield f"{indent}for {INDICES[dim]} in range({bounds}):"
            indent += "    "
        yield from self._statements(pairs, indent)

    def _condition(self, member: Member, nest: Nest, shared: int, tiled: bool) -> str:
        """Where a box covers only a part of the shared dims."""
        parts = []
        for dim in range(min(shared, len(nest.box.low))):
            low, high = nest.box.low[dim], nest.box.high[dim]
            name = self.position(index(dim), member.lag) if not tiled else "tile"
            if linear.constant(low) != 0:
                parts.append(f"{name} >= {self.position(low)}")
            if linear.distance(high, self.kernel.extents[0][dim]) != 0:
                parts.append(f"{name} < {self.position(high)}")
        return " and ".join(parts)

    def _statements(self, pairs: Sequence[tuple[Member, Nest]], indent: str) -> Iterator[str]:
        writer = _Writer(self, [nest.body for _, nest in pairs], pairs[0][0].lag)
        for member, nest in pairs:
            text = writer.text(nest.body)
            yield from (f"{indent}{line}" for line in writer.taken())
            yield f"{indent}{self._assignment(member, nest, text)}"

    def _assignment(self, member: Member, nest: Nest, text: str) -> str:
        stage = member.stage
        name = self.names.values[stage.slot]
        where = self.element(name, nest.store, member.lag)
        place = "row " if member.place == "row" else ""
        if stage.form == "map":
            return f"{place}{where} = {text}"
        row = ops.REDUCE.get(stage.fold) or ops.SCAN[stage.fold]
        note = "  # in blocks of a fixed size" if is_sink(stage) else ""
        if stage.form == "scan":
            before = {stage.axes[0]: f"{INDICES[stage.axes[0]]} - 1"}
            last = self.element(name, nest.store, member.lag, before)
            sign = _SIGNS.get(row.combine)
            value = f"{last} {sign} ({text})" if sign else f"{row.combine}({last}, {text})"
            return f"{place}{where} = {value}"
        sign = _SIGNS.get(row.combine)
        if sign is not None:
            return f"{place}{where} {sign}= {text}{note}"
        return f"{place}{where} = {row.combine}({where}, {text}){note}"

    # -- expressions ----------------------------------------------------------------------------

    def element(
        self,
        name: str,
        indices: Sequence[Expr],
        lag: int = 0,
        renamed: dict[int, str] | None = None,
    ) -> str:
        if not indices:
            return name
        return f"{name}[{', '.join(self.position(i, lag, renamed) for i in indices)}]"

    def position(self, expr: Expr, lag: int = 0, renamed: dict[int, str] | None = None) -> str:
        """An integer expression: a sum of multiples."""
        if expr.name in ("imin", "imax"):
            inner = ", ".join(self.position(arg, lag, renamed) for arg in expr.args)
            return f"{expr.name[1:]}({inner})"
        total = linear.terms(expr)
        ahead = lag * sum(factor for term, factor in total.items() if term is _ROW)
        text = ""
        terms = linear.terms(linear.plus(expr, ahead)).items()
        for term, factor in sorted(terms, key=_is_negative):
            spelled = self._term(term, factor, lag, renamed)
            minus = spelled.startswith("-")
            if text:
                text += f" - {spelled[1:]}" if minus else f" + {spelled}"
            else:
                text = spelled
        return text or "0"

    def _term(self, term: Expr, factor: int, lag: int, renamed: dict[int, str] | None) -> str:
        if term.name == "const":
            return str(factor * term.attr)
        if term.name == "index":
            name = (renamed or {}).get(term.attr, INDICES[term.attr])
        elif term.name == "param":
            name = self._parameter(term)
        elif term.name in ("imin", "imax"):
            name = self.position(term, lag, renamed)
        elif term.name == "multiply":
            name = "*".join(self._term(arg, 1, lag, renamed) for arg in term.args)
        else:
            name = _Writer(self, [term], lag).text(term)
        signs = {1: "", -1: "-"}
        return f"{signs[factor]}{name}" if factor in signs else f"{factor}*{name}"


class _Writer:
    """Bodies as text: what is used twice, or is long, gets a line of its own."""

    def __init__(self, listing: _Listing, bodies: Sequence[Expr], lag: int) -> None:
        self.listing = listing
        self.lag = lag
        self.known: dict[Expr, tuple[str, int]] = {}
        self.numbers = count(1)
        self.pending: list[str] = []
        nodes = _evaluated(bodies)
        self.uses = Counter(arg for node in nodes if node.name != "load" for arg in node.args)
        self.uses.update(bodies)

    def taken(self) -> list[str]:
        """The lines that must stand before the expression just written."""
        lines, self.pending = self.pending, []
        return lines

    def text(self, root: Expr) -> str:
        for node in _evaluated([root]):
            if node not in self.known:
                text, tightness = self._one(node)
                shared = self.uses[node] > 1 and node.name not in (
                    "const",
                    "param",
                    "index",
                    "load",
                )
                if shared or (node is not root and len(text) > LONGEST):
                    name = f"v{next(self.numbers)}"
                    self.pending.append(f"{name} = {text}")
                    text, tightness = name, 9
                self.known[node] = (text, tightness)
        return self.known[root][0]

    def _one(self, node: Expr) -> tuple[str, int]:
        """The text of one operation and how tightly it binds."""
        if node.name == "const":
            return repr(node.attr), 9 if not repr(node.attr).startswith("-") else 0
        if node.name == "index":
            return self.listing.position(node, self.lag), 1 if self.lag else 9
        if node.name == "param":
            return self.listing._parameter(node), 9
        if node.name == "load":
            name = self.listing.names.values[node.attr]
            return self.listing.element(name, node.args, self.lag), 9
        operands = [self.known[arg] for arg in node.args]
        sign = INFIX.get(node.name)
        if sign is not None and len(operands) == 2:
            return infix(sign, *operands)
        if node.name == "negative":
            return f"-{held(operands[0], 3)}", 2
        inner = ", ".join(text for text, _ in operands)
        name = node.dtype.name if node.name == "cast" else node.name
        return f"{name}({inner})", 9


def _is_negative(term: tuple[Expr, int]) -> bool:
    """What is subtracted is written last."""
    expr, factor = term
    return factor * (expr.attr if expr.name == "const" else 1) < 0


def infix(sign: str, left: tuple[str, int], right: tuple[str, int]) -> tuple[str, int]:
    """Two operands, each with how tightly it binds, and their operator."""
    tightness = LOOSE.get(sign, 0)
    need = tightness or 9
    return f"{held(left, need)} {sign} {held(right, need + 1)}", tightness


def held(operand: tuple[str, int], need: int) -> str:
    """An operand in parentheses, where it binds less tightly than needed."""
    text, tightness = operand
    return text if tightness >= min(need, 9) else f"({text})"


def _evaluated(roots: Sequence[Expr]) -> list[Expr]:
    """The expressions of bodies, operands first, without what only says where to load."""
    found: dict[Expr, None] = {}
    stack: list[tuple[Expr, bool]] = [(root, False) for root in reversed(roots)]
    while stack:
        node, ready = stack.pop()
        if ready:
            found[node] = None
        elif node not in found:
            stack.append((node, True))
            inner = () if node.name == "load" else node.args
            stack.extend((arg, False) for arg in reversed(inner))
    return list(found)


def _behind(member: Member) -> str:
    if member.low or member.high:
        return f"  # and {-member.low} before, {member.high} after the tile"
    return ""
