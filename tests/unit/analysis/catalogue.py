"""The catalogue of loop pairs: both loops as accesses, and whether fusing them is right.

`par`: every interleaving that only keeps A(i) before B(i) is right; `seq`: A(i), B(i) in order is;
`shift`: the smallest s >= 1 for which A(i), B(i-s) in order is right with four iterations; `racy`:
the loops that depend on their own order.  The numbers are those of the project's facts page.
"""

from dataclasses import dataclass, field

from tests.unit.analysis.nests import (
    choose,
    dim,
    flag,
    i,
    j,
    least,
    loop,
    most,
    read,
    table,
    update,
    write,
)

from fusewright.analysis.alias import View, in_root, signature
from fusewright.analysis.unit import NOTHING, Carried, Effect, Facts, Unit
from fusewright.ir.dtypes import INT64, UINT8
from fusewright.ir.expr import const

N = 4
OUT = write("o", i)


@dataclass(frozen=True)
class Pair:
    """One line of the catalogue; `tables` are integer arrays the indices load from."""

    number: str
    a: Unit
    b: Unit
    par: bool
    seq: bool
    shift: int
    racy: str = ""
    facts: Facts = NOTHING
    tables: dict = field(default_factory=dict)
    imprecise: str = ""


def same(number, index, par, seq, shift, racy=""):
    """`a[f(i)] = ...` and then `o[i] = a[f(i)]`."""
    return moved(number, index, index, par, seq, shift, racy)


def moved(number, left, right, par, seq, shift, racy=""):
    """`a[left] = ...` and then `o[i] = a[right]`."""
    a, b = loop(N, write("a", left)), loop(N, read("a", right), OUT)
    return Pair(number, a, b, par, seq, shift, racy)


def viewed(number, first, second, par, seq, shift, racy="", right=i):
    """The same through two views of one buffer, as T0 sees them."""
    roots = signature([first, second])
    ends = [const(N, INT64)]
    left = in_root(roots[0], [i.expr], ends)
    back = in_root(roots[1], [right.expr], ends)
    widths = [
        view.itemsize if place.kind == "bytes" else 1
        for view, place in zip((first, second), roots, strict=True)
    ]
    a = loop(N, write(("root", roots[0].root), *left, width=widths[0]))
    b = loop(N, read(("root", roots[1].root), *back, width=widths[1]), OUT)
    return Pair(number, a, b, par, seq, shift, racy)


A, B, AB = "A", "B", "AB"
T, F = True, False
WHOLE = View(800, (8,), (N,), 8)
FLIPPED = N - 1 - i
CLAMPED = most(i - 1, 0)

INDICES = (
    same("01", i, T, T, 1),
    same("02", i + 1, T, T, 1),
    same("03", 2 * i + 3, T, T, 1),
    same("04", i ^ 1, T, T, 1),
    same("05", i << 1, T, T, 1),
    same("06", i // 2, F, F, 1, A),
    same("07", i % 2, F, F, 2, A),
    same("08", i & 1, F, F, 2, A),
    same("09", least(i, 2), F, F, 1, A),
    moved("10", i * 0, i * 0, F, F, 3, A),
    moved("11", i, CLAMPED, F, T, 1),
    Pair("11b", loop(N, write("a", i)), loop(N, read("a", i - 1, when=i > 0), OUT), F, T, 1),
    moved("12", i, i + 1, F, F, 1),
    moved("13", i, FLIPPED, F, F, 3),
    moved("14", FLIPPED, FLIPPED, T, T, 1),
    Pair("15", loop(N, write("a", i)), loop(N, read("a", CLAMPED), read("a", i + 1), OUT), F, F, 1),
    Pair("16", loop(N, read("a", i + 1), OUT), loop(N, write("a", i)), F, T, 1),
    Pair("17", loop(N, read("a", CLAMPED), OUT), loop(N, write("a", i)), F, F, 1),
    Pair("18", loop(N, write("a", i)), loop(N, write("a", i + 1)), F, F, 1),
    moved("19", 2 * i, 2 * i + 1, T, T, 1),
    moved("20", i, i + N, T, T, 1),
    moved("21", i, 2 * i, F, F, 1),
    moved("69", i + 2, i, F, T, 1),
    same("70", most(i, 1), F, F, 1, A),
    same("71", abs(i - 2), F, F, 2, A),
    same("72", i * i, T, T, 1),
    same("73", (i + 1) // 2, F, F, 1, A),
    same("74", i // 2 * 2 + i % 2, T, T, 1),
    same("75", i >> 1, F, F, 1, A),
    same("76", i | 1, F, F, 1, A),
    same("77", i % 8, T, T, 1),
    same("78", 3 * i % 4, T, T, 1),
    moved("79", i ^ 1, i, F, F, 1),
)

TABLES = (
    Pair("22", loop(N, read(9, i), write("a", table(9, i))),
         loop(N, read(9, i), read("a", table(9, i)), OUT), T, T, 1,
         facts=Facts(unique=frozenset({9})), tables={9: (2, 0, 3, 1)}),
    Pair("23", loop(N, read(9, i), write("a", table(9, i))),
         loop(N, read(9, i), read("a", table(9, i)), OUT), F, F, 1, A,
         tables={9: (0, 0, 1, 2)}, imprecise="shift"),
    Pair("24", loop(N, write(9, i, value=FLIPPED)),
         loop(N, read(9, i), read("x", table(9, i)), OUT), T, T, 1, tables={9: (0,) * N}),
    Pair("25", loop(N, write("x", i)), loop(N, read(9, i), read("x", table(9, i)), OUT), F, F, 3,
         tables={9: (3, 2, 1, 0)}),
    Pair("41", loop(N, read(9, i), update("h", table(9, i))),
         loop(N, read(9, i), read("h", table(9, i)), OUT), F, F, 2,
         tables={9: (0, 1, 0, 1)}, imprecise="shift"),
    Pair("42", loop(N, write("list", table(8, 0)), update(8, 0 * i, observed=True, value=1)),
         loop(N, read("list", i), OUT), F, T, 1, A, tables={8: (0,)}, imprecise="seq shift"),
    Pair("43", loop(N, write("list", table(8, 0)), update(8, 0 * i, observed=True, value=1)),
         loop(N, write(8, 0 * i, value=0)), F, F, 3, A, tables={8: (0,)}),
    Pair("84", loop(N, write("x", i)), loop(N, read(9, i), read("x", table(9, i)), write("y", i)),
         F, T, 1, tables={9: (0, 0, 1, 1)}, imprecise="seq shift"),
    Pair("85", loop(N, write("f", i)),
         loop(N, read(9, i), read("f", i), update("f", table(9, i))), F, T, 1, B,
         tables={9: (0, 0, 1, 1)}, imprecise="seq shift"),
)  # fmt: skip

SHAPES = (
    Pair("26", loop(N, write("a", i // 2, i % 2)), loop(N, read("a", i // 2, i % 2), OUT), T, T, 1),
    Pair("27", loop(N, write("a", i // 2, i % 2)), loop(N, read("a", i % 2, i // 2), OUT), F, F, 1),
    Pair("28", loop(N, write("a", i // 2, i % 2)),
         loop(2, read("a", i, j, inner=(dim(1, 2),)), OUT), F, F, 2),
    Pair("29", loop(N, write("a", j, when=i.eq(N - 1), inner=(dim(1, 8),))),
         loop(N, read("a", j, inner=(dim(1, 8),)), OUT), F, F, 3),
    Pair("30", loop(N, write("a", choose(j.eq(0), i, 0), inner=(dim(1, 2),))),
         loop(N, read("a", i), OUT), F, F, 3, A),
    viewed("31", WHOLE, WHOLE, F, F, 3, right=FLIPPED),
    viewed("32", WHOLE, View(808, (8,), (N,), 8), F, F, 1),
    viewed("33", View(800, (16,), (N,), 8), View(808, (16,), (N,), 8), T, T, 1),
    viewed("34", View(800, (0,), (N,), 8), View(800, (0,), (N,), 8), F, F, 3, A),
    Pair("35", loop(N, write("a", i)), loop(N, read("a", CLAMPED), write("a", i)), F, T, 1, B),
    viewed("64", View(800, (4,), (N,), 4), View(801, (4,), (N,), 1), T, T, 1),
    viewed("65", View(800, (4,), (N,), 4), View(800, (1,), (N,), 1), F, T, 1),
    Pair("66", loop(N, write("v", 3 * i, width=3)), loop(N, read("v", 3 * i, width=3), OUT),
         T, T, 1),
    Pair("67", loop(N, read("a", i), write("a", i + 4), write("a", i)),
         loop(N, read("a", i), write("a", i + 4)), T, T, 1),
    Pair("68", loop(N, read("a", i), write("a", i + 2), write("a", i)),
         loop(N, read("a", i), write("a", i + 2)), F, F, 2, AB),
    Pair("86", loop(N, write("x", i // 2, i % 2)),
         loop(2, read("x", j, i, inner=(dim(1, 2),)), OUT), F, F, 2),
    Pair("87", loop(2, write("f", i, value=0)),
         loop(2, write("f", i, value=1, inner=(dim(1, 2),), when=flag("x", j, i))), T, T, 1),
)  # fmt: skip

SUMS = (
    Pair("36", loop(N, update("s")), loop(N, read("s"), OUT), F, F, 3),
    Pair("37", loop(N, update("s")), loop(N, update("t")), T, T, 1),
    Pair("38", loop(N, update("s")), loop(N, update("s")), T, T, 1),
    Pair("39", loop(N, update("s", op="max")), loop(N, update("s")), F, F, 1, imprecise="shift"),
    Pair("40", loop(N, write("s", when=i.eq(0))), loop(N, update("s")), F, T, 1),
    Pair("44", loop(N, read("a", CLAMPED), write("a", i)), loop(N, read("a", i), OUT), T, T, 1, A),
    Pair("45", loop(N, read("a", CLAMPED), write("a", i)), loop(N, read("a", N - 1), OUT),
         F, F, 3, A),
    Pair("80", loop(N, write("a", 0, value=7)), loop(N, read("a", 0), OUT), T, T, 1),
    Pair("81", loop(N, write("a", i)), loop(N, write("a", i)), T, T, 1),
    Pair("82", loop(N, update("a", i)), loop(N, update("a", i, op="multiply")), T, T, 1),
    Pair("83", loop(N, read("a", i), write("t", i)), loop(N, read("t", i), write("a", (i + 2) % 4)),
         F, F, 2),
    Pair("63", loop(N, update("w", i, op="low bits", exact=False)),
         loop(N, update("w", i, op="high bits", exact=False)), T, T, 1),
)  # fmt: skip

CONTROL = (
    Pair("46", loop(N, write("a", i, when=flag(9, i))), loop(N, write("b", i)), T, T, 1,
         tables={9: (0, 1, 0, 1)}),
    Pair("47", loop(N, write("o", i), Carried("stopped", 0)),
         loop(N, read("o", i), write("p", i)), T, T, 1, A),
    Pair("48", loop(N, read(9, i), write("a", i, when=flag(9, i))),
         loop(N, read(9, i), read("a", i, when=flag(9, i)), OUT), T, T, 1,
         tables={9: (0, 1, 1, 0)}),
    Pair("49", loop(N, write(9, i, value=i % 2)),
         loop(N, read(9, FLIPPED), write("o", i, when=flag(9, FLIPPED))), F, F, 3,
         tables={9: (1, 0, 1, 0)}),
    Pair("50", loop(N, write("a", i, when=(i % 2).eq(0))),
         loop(N, read("a", i - 1, when=(i % 2).eq(1)), OUT), F, T, 1),
    Pair("51", loop(N, write("a", (i << 31) & 0xFFFFFFFF, when=(i % 2).eq(0))),
         loop(N, read("a", (i << 31) & 0xFFFFFFFF, when=(i % 2).eq(0)), OUT), F, F, 2, A),
    same("52", (64 * i).to(UINT8), T, T, 1),
    same("53", (128 * i).to(UINT8), F, F, 2, A),
    Pair("54", loop(N, write("a", i)), loop(2, read("a", i), OUT), T, T, 1),
    Pair("55", loop(2, write("a", i)), loop(N, read("a", i), OUT), T, T, 1),
    Pair("56", loop(0, write("a", i)), loop(N, read("a", i), OUT), T, T, 1),
    Pair("57", loop(N, write(7, 0 * i, value=2, when=i.eq(0))),
         loop(table(7, 0), read(7, 0, depth=0), OUT), F, F, 1, tables={7: (4,)},
         imprecise="shift"),
    Pair("58", loop(N, write(7, i, value=2)),
         loop(N, read(7, i), update("o", i, inner=(dim(1, table(7, i)),))), T, T, 1,
         tables={7: (1, 1, 1, 1)}),
    Pair("59", loop(N, Effect("print"), write("a", i)), loop(N, Effect("print"), write("b", i)),
         F, F, 3, AB),
    Pair("60", loop(N, Effect("rng"), write("a", i)), loop(N, Effect("rng"), write("b", i)),
         F, F, 3, AB),
    Pair("61", loop(N, write("a", i)), loop(N, write("b", i)), T, T, 1),
    Pair("62", loop(N, write("a", i)), loop(N, Effect("trap", guards=(i.eq(2),)), OUT), F, F, 1, B),
)  # fmt: skip

PAIRS = tuple(sorted(INDICES + TABLES + SHAPES + SUMS + CONTROL, key=lambda pair: pair.number))
