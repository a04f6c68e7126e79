"""The records that the code of `fock` reads: words of 8 bytes with names."""

from __future__ import annotations

import struct

from fusewright.base.values import dataclass

POINTER, INTEGER, REAL = "ptr", "i64", "double"


@dataclass(frozen=True, slots=True)
class WordRecord:
    """Names and kinds of consecutive words."""

    kinds: dict[str, str]

    @property
    def size(self) -> int:
        """Bytes."""
        return 8 * len(self.kinds)

    def place(self, name: str) -> int:
        """Number of the word."""
        return list(self.kinds).index(name)

    def packed(self, **values: int | float) -> list[int]:
        """The words of one record; all names are given."""
        return [_word(values[name], kind) for name, kind in self.kinds.items()]


def _word(value: int | float, kind: str) -> int:
    if kind != REAL:
        return int(value)
    (word,) = struct.unpack("<q", struct.pack("<d", value))
    return int(word)


def _record(pointers: str, integers: str = "", reals: str = "") -> WordRecord:
    parts = ((pointers, POINTER), (integers, INTEGER), (reals, REAL))
    return WordRecord({name: kind for names, kind in parts for name in names.split()})


SCRATCH = (
    "class_scratch", "units", "results", "words", "d_rows", "k_rows", "l_rows", "d_k", "d_l",
    "k_k", "k_l", "dij", "jij", "largest", "frame", "most", "many",
)  # fmt: skip
"""Parts of a thread's scratch, whose offsets are words of a call: what a class's code needs, its
units, results and words; rows of D; rows of K from k and from l; blocks of a vector of kets;
elements of D and sums of J of the bra; the largest |D| of the bra's shells with each shell; words
of `digest`; the largest |D| of all; how many units there are.
"""
CALL = WordRecord({
    **_record(
        "tasks bins groups classes matrices densities k j counts",
        "group_count class_count matrix_count operator_count functions shells k_stride j_stride "
        "rows_stride dij_stride jij_stride block_doubles", "tolerance",
    ).kinds,
    **dict.fromkeys(SCRATCH, INTEGER),
})  # fmt: skip
"""`tasks` (group, pair) of all bins, which `bins` delimits; `densities` (shells, shells), the
largest |D| that K reads; K, J and counts of units of each bin; strides in bytes: from bin to bin,
and from matrix to matrix in scratch; doubles of the blocks `k_k` and `k_l`.
"""
GROUP = _record(
    "bounds falling first second first_at second_at largest",
    "pairs eights block block_functions first_functions second_functions own_class", "most",
)  # fmt: skip
"""Pairs of shells of one pattern.  For each pair, with zeros up to a whole eight: bounds q, shells
(i32), their first functions, `largest` (4 |D_kl|; `most` is the largest of them).  `falling` is the
largest bound of each eight and all later ones; `block` is where D and J of its pairs begin.
"""
CLASS = _record(
    "code words both coulomb exchange",
    "unit_bytes batch a b bra_first bra_second ket_first ket_second",
)  # fmt: skip
"""Code and its words; `digest` for J and K, for J, for K; bytes of a unit's integrals with one
operator, units at a time; components of i and j; contractions of all four.  In the
order of pairs of groups.
"""
MATRIX = _record("density pairs", "kind operator k_at j_at")
"""D, D of pairs; what is made of it: J and K, J or K, with which operator, where in a bin."""
BOTH, COULOMB, EXCHANGE = range(3)
EIGHT = 8
"""Kets that are screened together, whatever a vector's width is: the result must not depend on it.
"""
FRAME = _record(
    "d_k d_l k_k k_l", "bra_first bra_second ket_first ket_second a b across split"
)  # fmt: skip
"""What `digest` reads: blocks of D and of K; contractions of i, j, k, l; components of i and j;
functions x of i and j together, and those of i.
"""
