"""One ordered list of statements as a function over vectors, in exactly its order.

    void name(scalars, leaves, out)

`scalars` and `leaves` are blocks of vectors, one for each name of the list; `out` has one vector
for each result, which is stored there or added to.  `leaf_places` says where leaves stand if not
one after the other; results stand `step` vectors apart.

LLVM's machine scheduler would undo the order: it sees a block of a thousand independent chains and
hoists (measured: four times the spills, twice the time).  Two things keep it, at no instruction:

* an *anchor*: an empty `asm sideeffect` through which a statement's value passes.  Side effects
  keep their order, and what a value is made of must come before it.
* a *cut*: a block that ends with a branch that is never taken.  They halve the compile
  time of long lists; short ones have nothing to gain.

A list of many thousand statements is several functions, called one after the other, since LLVM's
time is not linear in the length of a function.  Values that cross stand in slots of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusewright.base.figures import LINE
from fusewright.codegen.recurrences.vectors import Vectors
from fusewright.ir.recurrences.straight import Statement, Straight, Summand
from fusewright.plan.recurrences.cut import CUT_FROM, PIECE, crossing, parts

ANCHORED = 4
"""Every so many statements one is an anchor; 2 to 16 are equally good (measured)."""
ARGUMENTS = "ptr %scalars, ptr %leaves, ptr %out"
SIGNATURE = "ptr noalias %scalars, ptr noalias %leaves, ptr noalias %out"


def body(
    straight: Straight, name: str, lanes: int, adds: bool = False,
    leaf_places: Sequence[int] | None = None, step: int = 1,
) -> str:  # fmt: skip
    """The function's text; `adds` has results added to what is in `out`."""
    places = range(len(straight.leaves)) if leaf_places is None else leaf_places
    return _Body(straight, lanes, adds, places, step).text(name)


class _Body(Vectors):
    def __init__(
        self, straight: Straight, lanes: int, adds: bool, leaf_places: Sequence[int], step: int
    ) -> None:
        super().__init__(lanes)
        self.straight = straight
        self.adds = adds
        self.leaf_places, self.step = leaf_places, step
        self.names: dict[int, str] = {}
        self.products: dict[tuple[float, int], str] = {}
        self.parts = parts(len(straight.statements))
        self.slots, self.many = crossing(straight, self.parts)
        self.places: dict[int, list[int]] = {}
        for place, number in enumerate(straight.results):
            self.places.setdefault(number, []).append(place)

    def text(self, name: str) -> str:
        """The function; of a list of several parts those that it calls before it."""
        if len(self.parts) == 1:
            self.part(self.parts[0])
            return self.function(name, SIGNATURE)
        texts = []
        calls = [f"%slots = alloca [{self.many} x {self.kind}], align {LINE}"]
        for number, part in enumerate(self.parts):
            self.part(part)
            texts.append(self.function(f"{name}.{number}", f"{SIGNATURE}, ptr noalias %slots"))
            self.lines, self.names = [], {}
            calls.append(f"call void @{name}.{number}({ARGUMENTS}, ptr %slots)")
        self.lines = calls
        return "".join([*texts, self.function(name, SIGNATURE)])

    def part(self, places: range) -> None:
        """The statements at these places; results that are scalars or leaves with the last ones."""
        straight = self.straight
        is_cut = len(places) >= CUT_FROM
        if is_cut:
            self.do("%never = icmp eq ptr %out, null")
        for count, place in enumerate(places):
            if is_cut and count and count % PIECE == 0:
                self.cut(place)
            value = self.sum(straight.statements[place])
            if not is_cut and count % ANCHORED == ANCHORED - 1:
                value = self.anchor(value)
            number = straight.first + place
            self.names[number] = value
            self.leave(number)
            if number in self.slots:
                self.store(value, "%slots", self.slots[number])
        for number in self.places:
            if number < straight.first and places.stop == len(straight.statements):
                self.leave(number)
        self.products.clear()
        if is_cut:
            self.label("quit")

    def sum(self, statement: Statement) -> str:
        """A statement's value, with the roundings of `ir.recurrences.straight`."""
        total = self.first_term(statement[0])
        for term in statement[1:]:
            total = self.next_term(term, total)
        return total

    def first_term(self, term: Summand) -> str:
        if term.value is None:
            return self.number(term.factor)
        value = self.value(term.value)
        if term.coefficient is None and abs(term.factor) == 1.0:
            return value if term.factor > 0 else self.neg(value)
        return self.mul(self.multiplier(term), value)

    def next_term(self, term: Summand, total: str) -> str:
        if term.value is None:
            return self.add(total, self.number(term.factor))
        value = self.value(term.value)
        if term.coefficient is None and abs(term.factor) == 1.0:
            return self.add(total, value) if term.factor > 0 else self.sub(total, value)
        return self.fma(self.multiplier(term), value, total)

    def multiplier(self, term: Summand) -> str:
        if term.coefficient is None:
            return self.number(term.factor)
        value = self.value(term.coefficient)
        if term.factor == 1.0:
            return value
        key = (term.factor, term.coefficient)
        if key not in self.products:
            self.products[key] = self.mul(self.number(term.factor), value)
        return self.products[key]

    def value(self, number: int) -> str:
        """The register of a value; a scalar, a leaf, or the value of a part before this one, is
        loaded where it is first used.
        """
        if number not in self.names and number in self.slots:
            self.names[number] = self.load("%slots", self.slots[number])
        if number not in self.names:
            scalars = len(self.straight.scalars)
            is_scalar = number < scalars
            base = "%scalars" if is_scalar else "%leaves"
            place = number if is_scalar else self.leaf_places[number - scalars]
            self.names[number] = self.load(base, place)
        return self.names[number]

    def leave(self, number: int) -> None:
        """Store a value that is a result."""
        for result in self.places.get(number, ()):
            place, value = result * self.step, self.value(number)
            if self.adds:
                value = self.add(self.load("%out", place), value)
            self.store(value, "%out", place)

    def anchor(self, value: str) -> str:
        register = "v" if self.lanes == 8 else "x"
        return self.line(
            f'call {self.kind} asm sideeffect "", "={register},0"({self.kind} {value})'
        )

    def cut(self, place: int) -> None:
        self.do(f"br i1 %never, label %quit, label %b{place}")
        self.do(f"b{place}:")
        self.products.clear()
