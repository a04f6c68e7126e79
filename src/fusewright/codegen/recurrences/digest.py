"""From integrals to Coulomb and exchange matrices, as LLVM text: one vector of quartets of shells.

    void digest(frame, values, dkl, jkl, dij, jij)

`values` are the integrals (ij|kl) of one bra (i j) with a vector of kets (k l), in the order
[contractions of bra, contractions of ket, a, b, c, d]; `dkl`, `jkl` (vectors) and `dij` (doubles),
`jij` (vectors) have the elements of D and J for pairs in the order [contractions, c, d].

    J_ij += D_kl v    J_kl += D_ij v
    K_ik += D_jl v    K_jk += D_il v    K_il += D_jk v    K_jl += D_ik v

What D and K have for a function of k (or l) and all those x of i and j stands in blocks
[functions of k][x], vectors of the kets: the frame has where.  Factors for equal shells are within
the integrals.  The components c and d are unrolled, everything else is a loop.
"""

from __future__ import annotations

from fusewright.base.values import dataclass
from fusewright.codegen.recurrences.records import FRAME
from fusewright.codegen.recurrences.vectors import ATTRIBUTES, Vectors

PARAMETERS = (
    "ptr noalias %frame, ptr noalias %values, ptr noalias %dkl, ptr noalias %jkl, "
    "ptr noalias %dij, ptr noalias %jij"
)


@dataclass(frozen=True, slots=True)
class DigestShape:
    """Components of k and l, and which matrices are made."""

    c: int
    d: int
    coulomb: bool
    exchange: bool


def digest(shape: DigestShape, lanes: int) -> str:
    """The module."""
    return _Digest(shape, lanes).text() + ATTRIBUTES


class _Digest(Vectors):
    def __init__(self, shape: DigestShape, lanes: int) -> None:
        super().__init__(lanes)
        self.shape = shape

    def text(self) -> str:
        for place, (name, kind) in enumerate(FRAME.kinds.items()):
            self.do(f"%{name} = load {kind}, ptr {self.at('%frame', place, 8)}, align 8")
        size = self.shape.c * self.shape.d
        square = self.line("mul i64 %a, %b")
        with self.loop("0", "%bra_first") as i, self.loop("0", "%bra_second") as j:
            bra = self.times_plus(i, "%bra_second", j)
            with self.loop("0", "%ket_first") as k, self.loop("0", "%ket_second") as m:
                ket = self.times_plus(k, "%ket_second", m)
                kets = self.line("mul i64 %ket_first, %ket_second")
                block = self.line(f"mul i64 {self.times_plus(bra, kets, ket)}, {square}")
                first, second = self.line(f"mul i64 {i}, %a"), self.times_plus(j, "%b", "%split")
                rows = self.line(f"mul i64 {k}, {self.shape.c}")
                columns = self.line(f"mul i64 {m}, {self.shape.d}")
                pair = self.line(f"mul i64 {bra}, {square}")
                self.pairs(block, pair, f"{self.line(f'mul i64 {ket}, {size}')}",
                           (first, second), (rows, columns))  # fmt: skip
        return self.function("digest", PARAMETERS, private=False)

    def times_plus(self, a: str, b: str, c: str) -> str:
        return self.line(f"add i64 {self.line(f'mul i64 {a}, {b}')}, {c}")

    def pairs(
        self, block: str, pair: str, ket: str, x: tuple[str, str], at: tuple[str, str]
    ) -> None:
        """All a and b of one block of contractions."""
        size = self.shape.c * self.shape.d
        dkl, jkl = (self.at(base, ket, self.bytes) for base in ("%dkl", "%jkl"))
        with self.loop("0", "%a") as a, self.loop("0", "%b") as b:
            number = self.times_plus(a, "%b", b)
            place = self.line(f"add i64 {block}, {number}")
            values = self.at("%values", place, size * self.bytes)
            own = self.line(f"add i64 {pair}, {number}")
            dij, jij = self.at("%dij", own, 8), self.at("%jij", own, self.bytes)
            i, j = self.line(f"add i64 {x[0]}, {a}"), self.line(f"add i64 {x[1]}, {b}")
            self.unrolled(values, (dkl, jkl), (dij, jij), (i, j), at)

    def unrolled(
        self,
        values: str,
        ket: tuple[str, str],
        bra: tuple[str, str],
        x: tuple[str, str],
        at: tuple[str, str],
    ) -> None:
        """All c and d of one a and b."""
        shape = self.shape
        rows = _Rows(self, x, at) if shape.exchange else None
        total, density = "", self.broadcast(bra[0], 0) if shape.coulomb else ""
        for c in range(shape.c):
            if rows is not None:
                rows.enter(c)
            for d in range(shape.d):
                value = self.load(values, c * shape.d + d)
                if shape.coulomb:
                    number = c * shape.d + d
                    other = self.load(ket[0], number)
                    total = self.fma(value, other, total) if total else self.mul(value, other)
                    sums = self.load(ket[1], number)
                    self.store(self.fma(value, density, sums), ket[1], number)
                if rows is not None:
                    rows.add(value, d)
            if rows is not None:
                rows.leave()
        if rows is not None:
            rows.end()
        if shape.coulomb:
            self.store(self.add(self.load(bra[1]), total), bra[1])


class _Rows:
    """The elements of D and K for one function x of i and one of j."""

    def __init__(self, text: Vectors, x: tuple[str, str], at: tuple[str, str]) -> None:
        self.text, self.x = text, x
        assert isinstance(text, _Digest)
        self.first = [self.places("%d_k", at[0], each) for each in x]
        self.sums = [self.places("%k_k", at[0], each) for each in x]
        second = [self.places("%d_l", at[1], each) for each in x]
        self.ends = [self.places("%k_l", at[1], each) for each in x]
        self.step = text.line(f"mul i64 %across, {text.bytes}")
        columns = range(text.shape.d)
        self.columns = [[text.load(self.row(base, d)) for d in columns] for base in second]
        self.totals = [[text.load(self.row(base, d)) for d in columns] for base in self.ends]

    def places(self, base: str, row: str, x: str) -> str:
        text = self.text
        first = text.line(f"mul i64 {row}, %across")
        return text.at(base, text.line(f"add i64 {first}, {x}"), text.bytes)

    def row(self, base: str, number: int) -> str:
        if not number:
            return base
        offset = self.text.line(f"mul i64 {self.step}, {number}")
        return self.text.at(base, offset, 1)

    def enter(self, c: int) -> None:
        """The elements for a function of k."""
        self.places_now = [self.row(base, c) for base in self.sums]
        self.now = [self.text.load(self.row(base, c)) for base in self.first]
        self.found = [self.text.load(place) for place in self.places_now]

    def add(self, value: str, d: int) -> None:
        """K_ik, K_jk of the row; K_il, K_jl of column d."""
        fma = self.text.fma
        self.found = [fma(value, self.columns[1 - n][d], self.found[n]) for n in (0, 1)]
        for n in (0, 1):
            self.totals[n][d] = fma(value, self.now[1 - n], self.totals[n][d])

    def leave(self) -> None:
        for value, place in zip(self.found, self.places_now, strict=True):
            self.text.store(value, place)

    def end(self) -> None:
        for base, totals in zip(self.ends, self.totals, strict=True):
            for d, value in enumerate(totals):
                self.text.store(value, self.row(base, d))
