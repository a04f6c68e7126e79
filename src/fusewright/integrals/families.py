"""Electron-repulsion integrals as families of recurrence relations.

Shells a, b, c, d with exponents of the same names at centres A, B, C, D; p = a + b, q = c + d,
P = (aA + bB)/p, Q = (cC + dD)/q, rho = pq/(p + q), W = (pP + qQ)/(p + q).  A value's index has the
Cartesian exponents of its functions.

* `V[a, c, m]`, [a0|c0]^(m): the vertical relation of Obara and Saika (J. Chem. Phys. 84, 3963
  (1986)) lowers a or c in any direction.  The leaves `F0`, `F1`, ... are [00|00]^(m).
* `E[a, c, m]`: `V` summed over the primitives.
* `K[a, c, d]`, (a0|cd), and `B[a, b, c, d]`, (ab|cd): the horizontal relation of Head-Gordon and
  Pople (J. Chem. Phys. 89, 5777 (1988)) moves an exponent from b to a, from d to c.
* `KD`, `KC`, `BB`, `BA` are solid harmonics on d, c, b, a, one after the other, the ket's before
  the bra's horizontal relation (stepwise); `LD`, `LC`, `LB`, `LA` all after it (late).  `T` is the
  integral: which of both, is the planner's choice.

| scalars | |
|---|---|
| `PAx`, `WPx`, `QCx`, `WQx` (and y, z) | P-A, W-P, Q-C, W-Q of a pair of primitives |
| `h2p`, `h2q`, `h2pq` | 1/(2p), 1/(2q), 1/(2(p + q)) |
| `r2p`, `r2q` | -rho/(2 p^2), -rho/(2 q^2) |
| `ABx`, `CDx` (and y, z) | A-B, C-D of shells |

Where d is an s function of exponent 0 at C, Q-C and C-D are 0 (`three_centre`): the terms vanish
when the graph is made, and so do those of A (`two_centre`).
"""

from __future__ import annotations

from typing import Any

from fusewright.base.values import dataclass
from fusewright.frontends.recurrences.families import Accumulate, AnyFamily, Family, LinearMap
from fusewright.integrals.harmonics import Exponents, cartesian, spherical

S: Exponents = (0, 0, 0)
AXES = "xyz"
PRIMITIVE = (
    *(f"{name}{axis}" for name in ("PA", "WP", "QC", "WQ") for axis in AXES),
    "h2p", "h2q", "h2pq", "r2p", "r2q",
)  # fmt: skip
"""Scalars of a pair of pairs of primitives."""
SHELL = tuple(f"{name}{axis}" for name in ("AB", "CD") for axis in AXES)
"""Scalars of a pair of pairs of shells."""
SCALARS = (*PRIMITIVE, *SHELL)
THREE_CENTRE = dict.fromkeys((f"{name}{axis}" for name in ("QC", "CD") for axis in AXES), 0.0)
"""The scalars that are 0 where d has exponent 0 and stands at C."""
TWO_CENTRE = {**THREE_CENTRE, **dict.fromkeys((f"{n}{a}" for n in ("PA", "AB") for a in AXES), 0.0)}
"""Those that are 0 where b is such a function at A, too."""

_Terms = list[tuple[Any, Any, Any]]


def _moved(exponents: Exponents, axis: int, by: int) -> Exponents:
    x, y, z = exponents
    return (x + by, y, z) if axis == 0 else (x, y + by, z) if axis == 1 else (x, y, z + by)


def _vertical(a: Exponents, c: Exponents, m: int) -> list[_Terms]:
    """All directions of c, then those of a.

    [a + 1|c]^(m) = (P-A)[a|c]^(m) + (W-P)[a|c]^(m+1) + n_a/(2p) ([a - 1|c]^(m)
    - (rho/p)[a - 1|c]^(m+1)) + n_c/(2(p + q)) [a|c - 1]^(m+1)
    """
    found = [_on_ket(a, c, m, axis) for axis in range(3) if c[axis]]
    return [*found, *(_on_bra(a, c, m, axis) for axis in range(3) if a[axis])]


def _on_bra(a: Exponents, c: Exponents, m: int, axis: int) -> _Terms:
    low, x = _moved(a, axis, -1), AXES[axis]
    terms: _Terms = [(f"PA{x}", "V", (low, c, m)), (f"WP{x}", "V", (low, c, m + 1))]
    if n := low[axis]:
        lower = _moved(low, axis, -1)
        terms += [((n, "h2p"), "V", (lower, c, m)), ((n, "r2p"), "V", (lower, c, m + 1))]
    if n := c[axis]:
        terms.append(((n, "h2pq"), "V", (low, _moved(c, axis, -1), m + 1)))
    return terms


def _on_ket(a: Exponents, c: Exponents, m: int, axis: int) -> _Terms:
    low, x = _moved(c, axis, -1), AXES[axis]
    terms: _Terms = [(f"QC{x}", "V", (a, low, m)), (f"WQ{x}", "V", (a, low, m + 1))]
    if n := low[axis]:
        lower = _moved(low, axis, -1)
        terms += [((n, "h2q"), "V", (a, lower, m)), ((n, "r2q"), "V", (a, lower, m + 1))]
    if n := a[axis]:
        terms.append(((n, "h2pq"), "V", (_moved(a, axis, -1), low, m + 1)))
    return terms


def _leaf(a: Exponents, c: Exponents, m: int) -> str | None:
    return f"F{m}" if a == c == S else None


def _horizontal_ket(end: str) -> Family:
    """(a0|c,d + 1) = (a0|c + 1,d) + (C-D)(a0|cd)."""

    def alternatives(a: Exponents, c: Exponents, d: Exponents) -> list[_Terms]:
        if d == S:
            return [[(1, end, (a, c, 0))]]
        found = []
        for axis in (axis for axis in range(3) if d[axis]):
            low = _moved(d, axis, -1)
            found.append([
                (1, "K", (a, _moved(c, axis, 1), low)), (f"CD{AXES[axis]}", "K", (a, c, low)),
            ])  # fmt: skip
        return found

    return Family("K", ("a", "c", "d"), alternatives)


def _horizontal_bra(name: str, end: str) -> Family:
    """(a,b + 1|cd) = (a + 1,b|cd) + (A-B)(ab|cd), whatever c and d are."""

    def alternatives(a: Exponents, b: Exponents, c: Any, d: Any) -> list[_Terms]:
        if b == S:
            return [[(1, end, (a, c, d))]]
        found = []
        for axis in (axis for axis in range(3) if b[axis]):
            low = _moved(b, axis, -1)
            found.append([
                (1, name, (_moved(a, axis, 1), low, c, d)),
                (f"AB{AXES[axis]}", name, (a, low, c, d)),
            ])  # fmt: skip
        return found

    return Family(name, ("a", "b", "c", "d"), alternatives)


def _harmonics(name: str, of: str, l: int, axis: int) -> LinearMap:  # noqa: E741
    return LinearMap(name, of, spherical(l), axis, cartesian(l))


@dataclass(frozen=True, slots=True)
class Integrals:
    """One class of integrals: what `fusewright.recurrence` takes."""

    targets: list[tuple[str, tuple[Any, ...]]]
    families: list[AnyFamily]


def repulsion(
    la: int, lb: int, lc: int, ld: int, harmonics: bool = False, contracted: bool = True
) -> Integrals:
    """(ab|cd) of shells with these angular momenta, Cartesian or of solid harmonics.

    The targets are in C order of (a, b, c, d).  `contracted`: summed over primitives.
    """
    end = "E" if contracted else "V"
    families: list[AnyFamily] = [
        Family("V", ("a", "c", "m"), _vertical, _leaf), _horizontal_ket(end),
        _horizontal_bra("B", "K"),
    ]  # fmt: skip
    if contracted:
        families.append(Accumulate("E", "V", "primitives"))
    shells = (la, lb, lc, ld)
    if not harmonics:
        return Integrals([("B", index) for index in _indices(map(cartesian, shells))], families)
    families += [
        _harmonics("KD", "K", ld, 2), _harmonics("KC", "KD", lc, 1),
        _horizontal_bra("BK", "KC"), _harmonics("BB", "BK", lb, 1), _harmonics("BA", "BB", la, 0),
        _harmonics("LD", "B", ld, 3), _harmonics("LC", "LD", lc, 2),
        _harmonics("LB", "LC", lb, 1), _harmonics("LA", "LB", la, 0),
        Family("T", ("a", "b", "c", "d"), lambda *at: [[(1, "BA", at)], [(1, "LA", at)]]),
    ]  # fmt: skip
    rows = (range(2 * each + 1) for each in shells)
    return Integrals([("T", index) for index in _indices(rows)], families)


def one_side(
    la: int, lb: int, raised: list[Exponents], harmonics: bool, distance: str
) -> Integrals:
    """The functions of shells a and b from those about A with these exponents, which are leaves in
    this order: the same horizontal relation and solid harmonics for everything on the other side.

    `distance` is `AB` or `CD`: how the scalars are named.
    """
    numbers = {exponents: f"e{number}" for number, exponents in enumerate(raised)}

    def alternatives(a: Exponents, b: Exponents) -> list[_Terms]:
        found = []
        for axis in (axis for axis in range(3) if b[axis]):
            low = _moved(b, axis, -1)
            found.append([
                (1, "H", (_moved(a, axis, 1), low)), (f"{distance}{AXES[axis]}", "H", (a, low)),
            ])  # fmt: skip
        return found

    families: list[AnyFamily] = [
        Family("H", ("a", "b"), alternatives, lambda a, b: numbers[a] if b == S else None)
    ]
    if not harmonics:
        return Integrals([("H", index) for index in _indices(map(cartesian, (la, lb)))], families)
    families += [_harmonics("HB", "H", lb, 1), _harmonics("HA", "HB", la, 0)]
    rows = (range(2 * each + 1) for each in (la, lb))
    return Integrals([("HA", index) for index in _indices(rows)], families)


def _indices(components: Any) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = [()]
    for each in components:
        found = [(*index, component) for index in found for component in each]
    return found
