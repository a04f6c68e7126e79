"""The loops around the lists of one class of electron-repulsion integrals, as LLVM text.

A unit is one pair of shells (the bra) against one vector of pairs (the ket): the loops over the
bra's and the ket's pairs of primitives make the leaves and run the vertical list, which adds to the
block of [e0|f0]; the horizontal list, or one step for each side (`sides`), makes the integrals of
that block, once.

    words: units (bra, ket vector); bra starts, primitives, A-B; ket starts, primitives, C-D;
           results; w^2, weight of each part, of each operator; contractions of bra and ket;
           matrices of bras and kets

A bra's pair of primitives is `FIELDS` doubles and its weights, a ket's the same in vectors:

    p, P-A (3), P (3), 1/p, weights

The leaf is [00|00]^(m) = weight * weight' / sqrt(p + q) * sum over parts of g G_m, where G_m is
F_m(T), or s^(m+1/2) F_m(sT) with s = w^2/(w^2 + rho) for the part erf(w r)/r of the operator.  Of
two operators the leaves are made one after the other, from the same scalars; each has a block and
results of its own, those of the second behind those of the first, unit by unit.  The
weights have 2 pi^(5/2) exp(-ab/p |A-B|^2) / p and the contraction coefficients.

Generally contracted shells evaluate their primitives once: the vertical list writes, its results
are added up for each contraction of the ket, and after the ket's loop for each one of the bra.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fusewright.base.values import dataclass
from fusewright.codegen.recurrences.body import body
from fusewright.codegen.recurrences.boys import boys
from fusewright.codegen.recurrences.columns import KERNEL
from fusewright.codegen.recurrences.sides import SideStep, bra_text, ket_text
from fusewright.codegen.recurrences.vectors import ATTRIBUTES, Vectors
from fusewright.ir.recurrences.phases import SUM, Phases
from fusewright.ir.recurrences.straight import Straight

FIELDS = 8
"""Doubles before the weights of a pair of primitives."""
WORDS = (
    "units", "bra_starts", "bra", "ab", "ket_starts", "ket", "cd", "results",
    "w2", "weight0", "weight1", "second_w2", "second_weight0", "second_weight1",
    "bra_contractions", "ket_contractions", "bra_matrix", "ket_matrix",
)  # fmt: skip
_AXES = "xyz"
Parts = tuple[tuple[bool, ...], ...]
"""Of each operator, and of each of its parts, whether it is attenuated."""


@dataclass(frozen=True, slots=True)
class QuartetCode:
    """What a class's code is made from.

    `horizontal` is one list for both sides, or the steps of the bra and of the ket.  `highest` is
    the total angular momentum; `parts` says of each part of each operator whether it is attenuated;
    `general` whether shells have several contractions.
    """

    vertical: Straight
    horizontal: Straight | tuple[SideStep, SideStep]
    highest: int
    parts: Parts = ((False,),)
    general: bool = False

    @property
    def steps(self) -> tuple[SideStep, SideStep] | None:
        """Those of the bra and of the ket."""
        return None if isinstance(self.horizontal, Straight) else self.horizontal

    @property
    def distances(self) -> tuple[str, ...]:
        """Components of A-B and C-D, in the order of being read."""
        if isinstance(self.horizontal, Straight):
            return self.horizontal.scalars
        bra, ket = self.horizontal
        return bra.scalars + ket.scalars

    @property
    def copies(self) -> bool:
        """Whether the results are the sums as they are."""
        if not isinstance(self.horizontal, Straight):
            return all(step.copies for step in self.horizontal)
        first = len(self.horizontal.scalars)
        count = range(first, first + len(self.vertical.results))
        return not self.horizontal.statements and self.horizontal.results == tuple(count)

    @property
    def middle(self) -> int:
        """Values between the steps of both sides: (e0|cd)."""
        if self.steps is None or any(step.copies for step in self.steps):
            return 0
        return self.steps[0].raised * self.steps[1].functions

    @property
    def results(self) -> int:
        """Integrals."""
        if isinstance(self.horizontal, Straight):
            return len(self.horizontal.results)
        return self.horizontal[0].functions * self.horizontal[1].functions

    @property
    def sizes(self) -> QuartetSizes:
        """What a caller must know."""
        scalars = len(self.vertical.scalars) + len(self.distances)
        inputs = scalars + self.highest + 1 + self.middle
        sums = len(self.vertical.results)
        return QuartetSizes(inputs, sums, self.results, len(self.parts), self.general)


@dataclass(frozen=True, slots=True)
class QuartetSizes:
    """Of a class's code: vectors of input to its lists, and between the steps of both sides; sums;
    integrals; operators; whether shells may have several contractions.
    """

    inputs: int
    sums: int
    results: int
    operators: int
    general: bool

    def scratch(self, lanes: int, bra: int, ket: int) -> int:
        """Bytes for shells of so many contractions."""
        blocks = 1 + (ket + bra * ket if self.general else 0)
        return 8 * lanes * (self.sums * blocks * self.operators + self.inputs)


def quartet_code(phases: Phases, highest: int, parts: Parts, general: bool) -> QuartetCode:
    """The lists of a plan; the sums come in the order in which the second list reads them."""
    inner, outer = phases.inner, phases.outer
    assert inner is not None
    results = tuple(inner.results[int(name.removeprefix(SUM))] for name in outer.leaves)
    return QuartetCode(replace(inner, results=results), outer, highest, parts, general)


def stepped(
    phases: Phases, steps: tuple[SideStep, SideStep], highest: int, parts: Parts, general: bool
) -> QuartetCode:  # fmt: skip
    """The code of a plan whose targets are [e0|f0], e before f, and the steps of both sides."""
    inner, outer = phases.inner, phases.outer
    assert inner is not None and not outer.statements
    sums = (outer.leaves[number - len(outer.scalars)] for number in outer.results)
    results = tuple(inner.results[int(name.removeprefix(SUM))] for name in sums)
    return QuartetCode(replace(inner, results=results), steps, highest, parts, general)


def quartets(code: QuartetCode, lanes: int) -> str:
    """The module: `kernel` over units [lo, hi)."""
    parts = [body(code.vertical, "vertical", lanes, adds=not code.general)]
    if isinstance(code.horizontal, Straight):
        if not code.copies:
            parts.append(body(code.horizontal, "horizontal", lanes))
    else:
        bra, ket = code.horizontal
        if not ket.copies:
            parts.append(ket_text(ket, bra.raised, lanes))
        if not bra.copies:
            parts.append(bra_text(bra, ket.functions, lanes))
    return "".join((*parts, _Quartets(code, lanes).text(), ATTRIBUTES))


class _Quartets(Vectors):
    def __init__(self, code: QuartetCode, lanes: int) -> None:
        super().__init__(lanes)
        self.code = code
        self.sums, self.operators = len(code.vertical.results), len(code.parts)

    def text(self) -> str:
        self.words()
        self.blocks()
        with self.loop("%lo", "%hi") as unit:
            pair = self.at("%units", unit, 16)
            bra, ket = self.word(pair, 0, "i64"), self.word(pair, 1, "i64")
            if self.code.general:
                self.clear(self.wide[0], self.line(f"mul i64 {self.many}, {self.operators}"))
            else:
                self.clear(self.block[0], str(self.operators))
            self.primitives(bra, ket)
            self.shells(bra, ket)
            self.leave(unit, bra, ket)
        return self.function("kernel", KERNEL, private=False)

    def words(self) -> None:
        for place, name in enumerate(WORDS):
            kind = "ptr"
            if name.removeprefix("second_") in ("w2", "weight0", "weight1"):
                kind = "double"
            elif name.endswith("contractions"):
                kind = "i64"
            at = self.at("%args", place, 8)
            self.do(f"%{name} = load {kind}, ptr {at}, align 8")
        self.many = self.line("mul i64 %bra_contractions, %ket_contractions")
        for side in ("bra", "ket"):
            each = self.line(f"add i64 %{side}_contractions, {FIELDS}")
            unit = self.bytes if side == "ket" else 8
            self.do(f"%{side}_stride = mul i64 {each}, {unit}")

    def blocks(self) -> None:
        """Where scratch has what."""
        self.scalars = "%scratch"
        self.leaves = self.at("%scratch", len(self.code.vertical.scalars), self.bytes)
        self.distances = self.at(self.leaves, self.code.highest + 1, self.bytes)
        self.between = self.at(self.distances, len(self.code.distances), self.bytes)
        block = self.at(self.between, self.code.middle, self.bytes)
        self.block, end = self.for_each_operator(block, str(self.sums))
        if self.code.general:
            self.middle, end = self.for_each_operator(
                end, self.line(f"mul i64 %ket_contractions, {self.sums}")
            )
            self.wide, _ = self.for_each_operator(
                end, self.line(f"mul i64 {self.many}, {self.sums}")
            )

    def for_each_operator(self, first: str, size: str) -> tuple[list[str], str]:
        """Where blocks of so many vectors begin that stand one behind the other, and the end."""
        places = [first]
        for _ in self.code.parts:
            places.append(self.at(places[-1], size, self.bytes))
        return places[:-1], places[-1]

    def clear(self, block: str, many: str) -> None:
        end = self.line(f"mul i64 {many}, {self.sums}")
        with self.loop("0", end) as place:
            self.store("zeroinitializer", self.at(block, place, self.bytes))

    # ---- pairs of primitives

    def primitives(self, bra: str, ket: str) -> None:
        first, last = self.range("%bra_starts", bra)
        ket_first, ket_last = self.range("%ket_starts", ket)
        with self.loop(first, last) as u:
            data = self.at("%bra", self.line(f"mul i64 {u}, %bra_stride"), 1)
            fields = [self.broadcast(data, place) for place in range(FIELDS)]
            weights = self.at(data, FIELDS, 8)
            if self.code.general:
                many = self.line(f"mul i64 %ket_contractions, {self.operators}")
                self.clear(self.middle[0], many)
            with self.loop(ket_first, ket_last) as w:
                other = self.at("%ket", self.line(f"mul i64 {w}, %ket_stride"), 1)
                self.quartet(fields, weights, other)
            if self.code.general:
                for middle, wide in zip(self.middle, self.wide, strict=True):
                    self.contract_bra(weights, middle, wide)

    def range(self, starts: str, number: str) -> tuple[str, str]:
        at = self.at(starts, number, 8)
        return self.word(at, 0, "i64"), self.word(at, 1, "i64")

    def quartet(self, bra: Sequence[str], weights: str, data: str) -> None:
        """One pair of primitives of the bra against a vector of those of the ket."""
        p, *pa = bra[:4]
        q, *qc = [self.load(data, place) for place in range(4)]
        centre = [self.load(data, place) for place in range(4, 7)]
        total = self.add(p, q)
        inverse = self.div(self.number(1.0), total)
        over_p, over_q = self.mul(q, inverse), self.mul(p, inverse)  # rho/p and rho/q
        apart = [self.sub(a, b) for a, b in zip(bra[4:7], centre, strict=True)]
        square = self.mul(apart[0], apart[0])
        for each in apart[1:]:
            square = self.fma(each, each, square)
        rho = self.mul(p, over_p)
        known = {f"PA{axis}": pa[k] for k, axis in enumerate(_AXES)}
        known |= {f"QC{axis}": qc[k] for k, axis in enumerate(_AXES)}
        minus = self.neg(over_p)
        known |= {f"WP{axis}": self.mul(minus, apart[k]) for k, axis in enumerate(_AXES)}
        known |= {f"WQ{axis}": self.mul(over_q, apart[k]) for k, axis in enumerate(_AXES)}
        known["h2p"] = self.mul(bra[7], self.number(0.5))
        known["h2q"] = self.mul(self.load(data, 7), self.number(0.5))
        known["h2pq"] = self.mul(inverse, self.number(0.5))
        known["r2p"] = self.neg(self.mul(known["h2p"], over_p))
        known["r2q"] = self.neg(self.mul(known["h2q"], over_q))
        for place, name in enumerate(self.code.vertical.scalars):
            if name in known:
                self.store(known[name], self.scalars, place)
        scale = self.sqrt(inverse)
        if not self.code.general:
            scale = self.mul(scale, self.broadcast(weights, 0))
            scale = self.mul(scale, self.load(data, FIELDS))
        square = self.mul(rho, square)
        for operator, block in enumerate(self.block):
            self.make_leaves(operator, square, rho, scale)
            self.do(f"call void @vertical(ptr {self.scalars}, ptr {self.leaves}, ptr {block})")
            if self.code.general:
                weight = self.at(data, FIELDS, self.bytes)
                self.contract_ket(weight, block, self.middle[operator])

    def make_leaves(self, operator: int, t: str, rho: str, scale: str) -> None:
        highest, name = self.code.highest, "second_" if operator else ""
        totals: list[str] = []
        for number, attenuated in enumerate(self.code.parts[operator]):
            factor = self.mul(scale, self.splat(f"%{name}weight{number}"))
            argument, ratio = t, ""
            if attenuated:
                w2 = self.splat(f"%{name}w2")
                ratio = self.div(w2, self.add(w2, rho))
                argument, factor = self.mul(t, ratio), self.mul(factor, self.sqrt(ratio))
            for m, value in enumerate(boys(self, argument, highest)):
                if m and attenuated:
                    factor = self.mul(factor, ratio)
                if number:
                    totals[m] = self.fma(factor, value, totals[m])
                else:
                    totals.append(self.mul(factor, value))
        for place, name in enumerate(self.code.vertical.leaves):
            self.store(totals[int(name.removeprefix("F"))], self.leaves, place)

    # ---- contractions

    def contract_ket(self, weights: str, block: str, middle: str) -> None:
        with self.loop("0", "%ket_contractions") as k:
            weight = self.load(self.at(weights, k, self.bytes))
            target = self.at(middle, k, self.sums * self.bytes)
            self.accumulate(block, weight, target, str(self.sums))

    def contract_bra(self, weights: str, middle: str, wide: str) -> None:
        size = self.line(f"mul i64 %ket_contractions, {self.sums}")
        with self.loop("0", "%bra_contractions") as b:
            weight = self.broadcast(self.at(weights, b, 8), 0)
            number = self.line(f"mul i64 {b}, {size}")
            self.accumulate(middle, weight, self.at(wide, number, self.bytes), size)

    def accumulate(self, source: str, weight: str, target: str, size: str) -> None:
        """target += weight * source, vector by vector."""
        with self.loop("0", size) as place:
            into = self.at(target, place, self.bytes)
            value = self.load(self.at(source, place, self.bytes))
            self.store(self.fma(weight, value, self.load(into)), into)

    # ---- shells

    def shells(self, bra: str, ket: str) -> None:
        """A-B and C-D, in the order of the horizontal list, or of the lists of both sides."""
        ab, cd = self.at("%ab", bra, 24), self.at("%cd", ket, 3 * self.bytes)
        known = {f"AB{axis}": (ab, k) for k, axis in enumerate(_AXES)}
        known |= {f"CD{axis}": (cd, k) for k, axis in enumerate(_AXES)}
        for place, name in enumerate(self.code.distances):
            if name in known:
                base, k = known[name]
                value = self.broadcast(base, k) if name.startswith("AB") else self.load(base, k)
                self.store(value, self.distances, place)

    def leave(self, unit: str, bra: str, ket: str) -> None:
        """The horizontal steps, for each pair of contractions."""
        size = self.code.results * self.bytes
        first = self.line(f"mul i64 {unit}, {self.operators}")
        if not self.code.general:
            for operator, block in enumerate(self.block):
                place = self.line(f"add i64 {first}, {operator}")
                self.horizontal(block, self.at("%results", place, size), bra, ket)
            return
        first = self.line(f"mul i64 {first}, {self.many}")
        many = self.line(f"mul i64 {self.many}, {self.operators}")
        with self.loop("0", many) as number:
            place = self.line(f"add i64 {first}, {number}")
            sums = self.at(self.wide[0], number, self.sums * self.bytes)
            self.horizontal(sums, self.at("%results", place, size), bra, ket)

    def horizontal(self, sums: str, out: str, bra: str, ket: str) -> None:
        if self.code.copies:
            with self.loop("0", str(self.sums)) as place:
                value = self.load(self.at(sums, place, self.bytes))
                self.store(value, self.at(out, place, self.bytes))
        elif self.code.steps is None:
            self.do(f"call void @horizontal(ptr {self.distances}, ptr {sums}, ptr {out})")
        else:
            self.both_sides(self.code.steps, sums, out, bra, ket)

    def both_sides(
        self, steps: tuple[SideStep, SideStep], sums: str, out: str, bra: str, ket: str
    ) -> None:
        """The ket's step and then the bra's, those that do anything."""
        first, second = steps
        if not second.copies:
            known = self.at(self.distances, len(first.scalars), self.bytes)
            if second.straight is None:
                known = self.at("%ket_matrix", ket, second.raised * second.functions * self.bytes)
            into = out if first.copies else self.between
            self.do(f"call void @ket(ptr {known}, ptr {sums}, ptr {into})")
            sums = into
        if not first.copies:
            known = self.distances
            if first.straight is None:
                known = self.at("%bra_matrix", bra, first.raised * first.functions * 8)
            self.do(f"call void @bra(ptr {known}, ptr {sums}, ptr {out})")
