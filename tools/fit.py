"""The polynomials of `rules.decompose`, derived: minimax fits by Remez's exchange in 60-digit
arithmetic.

`python tools/fit.py` prints every table of the module `coefficients`, `python tools/fit.py special`
those of `special_coefficients`; `python tools/fit.py exp sin` prints those.  A fit approximates a
function `f` on an interval by a polynomial of a given degree so that the greatest
`|weight * (polynomial - f)|` is least; `log2` of that error is printed beside the table.
Coefficients stand lowest power first.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mpmath import mp, mpf

mp.dps = 60
Function = Callable[[Any], Any]
_FLOOR = mpf(10) ** -9  # a weight of 0 would make the system singular


@dataclass(frozen=True, slots=True)
class Fit:
    """`f` on `[low, high]`, once for float64 (`degrees[0]`) and once for float32 (`degrees[1]`); 0
    is none.
    """

    name: str
    f: Function
    low: Any
    high: Any
    degrees: tuple[int, int]
    weight: Function = lambda _: mpf(1)


def _solve(fit: Fit, points: list[Any], degree: int) -> list[Any]:
    """The coefficients, then the levelled error, that alternates over `degree + 2` points."""
    rows = [
        [x**power for power in range(degree + 1)] + [(-1) ** number / max(fit.weight(x), _FLOOR)]
        for number, x in enumerate(points)
    ]
    return list(mp.lu_solve(mp.matrix(rows), mp.matrix([fit.f(x) for x in points])))


def evaluate(coefficients: list[Any], x: Any) -> Any:
    """Horner's rule."""
    total = mpf(0)
    for coefficient in reversed(coefficients):
        total = total * x + coefficient
    return total


def _extrema(errors: dict[Any, Any]) -> list[Any]:
    """The greatest error between each two sign changes."""
    best: list[tuple[Any, Any]] = []
    for x, value in errors.items():
        if best and (value > 0) == (best[-1][1] > 0):
            if abs(value) > abs(best[-1][1]):
                best[-1] = (x, value)
        else:
            best.append((x, value))
    return best


def remez(fit: Fit, degree: int) -> tuple[list[Any], Any]:
    """The minimax coefficients and their greatest weighted error."""
    low, high = mpf(fit.low), mpf(fit.high)
    count = degree + 2

    def chebyshev(number: int, of: int) -> Any:
        return (low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * number / (of - 1))

    points = [chebyshev(number, count) for number in range(count)]
    samples = [chebyshev(number, 24 * count) for number in range(24 * count)]
    exact = {x: (fit.f(x), fit.weight(x)) for x in samples}
    coefficients: list[Any] = []
    worst = mpf(0)
    for _ in range(12):
        coefficients = _solve(fit, points, degree)[:-1]
        errors = {x: w * (evaluate(coefficients, x) - f) for x, (f, w) in exact.items()}
        found = _extrema(errors)
        worst = max(abs(value) for _, value in found)
        while len(found) > count:
            del found[0 if abs(found[0][1]) < abs(found[-1][1]) else -1]
        if len(found) < count or worst < min(abs(value) for _, value in found) * mpf("1.02"):
            break
        points = [x for x, _ in found]
    return coefficients, worst


def _series(f: Function, order: int) -> Function:
    """`f` near 0 by its Taylor series, where the closed form cancels."""
    terms = mp.taylor(f, 0, order)
    return lambda z: evaluate(terms, z)


def _odd_tail(f: Function) -> Function:
    """P of `f(x) = x + x * z * P(z)`, z = x * x."""

    def tail(z: Any) -> Any:
        x = mp.sqrt(z)
        return (f(x) - x) / (x * z)

    return tail


_TINY = mpf(10) ** -12
_QUARTER = (mp.pi / 4 * mpf("1.01")) ** 2
_HALF_LN2 = mp.log(2) / 2 * mpf("1.0005")
_LOG_S = mpf("0.2001") ** 2  # f = 1/2


def _log_tail(z: Any) -> Any:
    """R / z of `log(1 + f) = 2 s + s R`, s = f / (2 + f), z = s * s."""
    s = mp.sqrt(z)
    return (mp.log((1 + s) / (1 - s)) / s - 2) / z


def _log_direct_tail(f: Any) -> Any:
    """Q of `log(1 + f) = f - f**2 / 2 + f**3 Q(f)`."""
    if abs(f) < mpf(10) ** -10:
        return mpf(1) / 3 - f / 4
    return (mp.log(1 + f) - f + f * f / 2) / f**3


def _scaled_erfc(t: Any) -> Any:
    """exp(x**2) erfc(x) (1 + 2 x), t = (x - 4) / (x + 4)."""
    x = 4 * (1 + t) / (1 - t)
    return mp.exp(x * x) * mp.erfc(x) * (1 + 2 * x)


def _scaled_erfc_tail(t: Any) -> Any:
    """P of `_scaled_erfc(t) = c + t P(t)`."""
    if abs(t) < mpf(10) ** -15:
        return mp.diff(_scaled_erfc, 0)
    return (_scaled_erfc(t) - _scaled_erfc(mpf(0))) / t


def _near(f: Function, at_zero: Any) -> Function:
    """`f`, and its limit at 0."""
    return lambda x: mpf(at_zero) if abs(x) < mpf(10) ** -15 else f(x)


def _stirling(w: Any) -> Any:
    """Q of `log(gamma(z)) = (z - 1/2) log z - z + log(2 pi) / 2 + Q(w) / z`, w = 1 / z**2."""
    if w < mpf(10) ** -16:
        return mpf(1) / 12 - w / 360
    z = 1 / mp.sqrt(w)
    return z * (mp.loggamma(z) - (z - mpf("0.5")) * mp.log(z) + z - mp.log(2 * mp.pi) / 2)


def _lgamma_near(t: Any) -> Any:
    """P of `log(gamma(x)) = (x - 1) (x - 2) P(t)`, t = (x - 5/4) / (x + 5/4)."""
    x = mpf("1.25") * (1 + t) / (1 - t)
    for zero, slope in ((1, mp.euler), (2, 1 - mp.euler)):
        if abs(x - zero) < mpf(10) ** -20:
            return slope
    return mp.loggamma(x) / ((x - 1) * (x - 2))


def _bessel_near(n: int, centre: int, scale: int) -> Function:
    """P of `J_n(x) = x**n P(t)`, t = (x**2 - centre) / scale."""

    def near(t: Any) -> Any:
        x = mp.sqrt(centre + scale * t)
        return mp.besselj(n, x) / x**n if x > mpf(10) ** -12 else mpf(1) / (1 + n)

    return near


def _bessel_far(n: int, turned: bool) -> Function:
    """P and Q of `J_n(x) = sqrt(2 / (pi x)) (P(u) cos y - Q(u) / x sin y)`, u = (8 / x)**2, y = x -
    (2 n + 1) pi / 4.
    """

    def far(u: Any) -> Any:
        with mp.workdps(90):
            x = 8 / mp.sqrt(max(u, mpf(10) ** -24))
            j, y = (f(n, x) * mp.sqrt(mp.pi * x / 2) for f in (mp.besselj, mp.bessely))
            cos, sin = (f(x - (2 * n + 1) * mp.pi / 4) for f in (mp.cos, mp.sin))
            return x * (y * cos - j * sin) if turned else j * cos + y * sin

    return far


HEADER = '''"""The polynomials of the decompositions, lowest power first: printed by tools/fit.py.

What each approximates, and on which interval, is said there; the comment is its greatest weighted
error.
"""

from fusewright.ir.dtypes import FLOAT32, FLOAT64
'''

FITS = (
    # exp(r) = 1 + r + r**2 P(r)
    Fit("exp", _near(lambda r: (mp.exp(r) - 1 - r) / r**2, 0.5), -_HALF_LN2, _HALF_LN2, (9, 4),
        lambda r: abs(r)),
    # 2**r = 1 + r P(r)
    Fit("exp2", _near(lambda r: (mpf(2) ** r - 1) / r, mp.log(2)), mpf(-0.501), mpf(0.501), (10, 5),
        lambda r: abs(r)),
    # sinh(r) = r + r z P(z);  cosh(r) = 1 + z P(z)
    Fit("sinh", _odd_tail(mp.sinh), _TINY, _HALF_LN2**2, (4, 2), lambda z: z),
    Fit("cosh", lambda z: (mp.cosh(mp.sqrt(z)) - 1) / z, _TINY, _HALF_LN2**2, (4, 2), lambda z: z),
    Fit("tanh", _odd_tail(mp.tanh), _TINY, mpf("0.5626") ** 2, (10, 4), lambda z: z),
    Fit("log", _log_tail, _TINY, _LOG_S, (7, 0), lambda z: z),
    Fit("log_direct", _log_direct_tail, mpf("-0.25"), mpf("0.5"), (0, 8),
        lambda f: abs(f**3 / mp.log(1 + f)) if f else mpf(0) + mpf(10) ** -30),
    # log2(1 + f) = f P(f): for power of float32, in float64
    Fit(
        "log2_direct",
        _near(lambda f: mp.log(1 + f, 2) / f, 1 / mp.log(2)),
        mpf(-0.25),
        mpf(0.5),
        (14, 0),
    ),
    # sin(r) = r + r z P(z);  cos(r) = 1 - z / 2 + z**2 P(z)
    Fit("sin", _odd_tail(mp.sin), _TINY, _QUARTER, (5, 2), lambda z: z),
    Fit("cos", lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2, _TINY, _QUARTER, (5, 2),
        lambda z: z * z),
    # arctan(t) = t + t z P(z), t up to 1/2
    Fit("arctan", _odd_tail(mp.atan), _TINY, mpf("0.2501"), (12, 5),
        lambda z: z),
    Fit("arcsin", _odd_tail(mp.asin), _TINY, mpf("0.2501"), (12, 5), lambda z: z),
    Fit("arcsinh", _odd_tail(mp.asinh), _TINY, mpf("0.2501"), (11, 5), lambda z: z),
    Fit("arctanh", _odd_tail(mp.atanh), _TINY, mpf("0.2501"), (13, 5), lambda z: z),
    # m**(-1/3), a first guess
    Fit("inverse_cube_root", lambda m: m ** (mpf(-1) / 3), mpf("0.374"), mpf("3.001"), (5, 0),
        lambda m: m ** (mpf(1) / 3)),
    # erf(x) = 2 / sqrt(pi) x + x z P(z), |x| <= 1
    Fit("erf", lambda z: (mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 2 / mp.sqrt(mp.pi)) / z, _TINY,
        mpf("1.001"), (10, 5), lambda z: z),
    # erf(1 + t) = 1 - exp(-P(t))
    Fit("erf_tail", lambda t: -mp.log(mp.erfc(1 + t)), mpf(0), mpf(5), (18, 5),
        lambda t: mp.erfc(1 + t)),
    # erfc(x) = exp(-x**2) (c + t P(t)) / (1 + 2 x), t = (x - 4) / (x + 4), x from 0.74 to 28
    Fit("erfc", _scaled_erfc_tail, mpf("-3.26") / mpf("4.74"), mpf("0.751"), (19, 9), abs),
    # log(1 + f) = 2 s + s**3 (2/3 + z P(z)): for power, where 2/3 is added in two words
    Fit("power_log", lambda z: (_log_tail(z) - mpf(2) / 3) / z, _TINY, _LOG_S, (7, 0),
        lambda z: z * z * mp.sqrt(z)),
)  # fmt: skip

SPECIAL_FITS = (
    Fit("stirling", _stirling, mpf(0), mpf("0.2501"), (16, 0)),
    Fit("lgamma_near", _lgamma_near, mpf("-0.65") / mpf("1.85"), mpf("1.25") / mpf("3.75"),
        (20, 0)),
    Fit("j0_near", _bessel_near(0, 8, 8), mpf(-1), mpf(1), (12, 0)),
    Fit("j1_near", _bessel_near(1, 8, 8), mpf(-1), mpf(1), (12, 0)),
    Fit("j0_middle", _bessel_near(0, 40, 24), mpf(-1), mpf(1), (15, 0)),
    Fit("j1_middle", _bessel_near(1, 40, 24), mpf(-1), mpf(1), (15, 0)),
    Fit("j0_far", _bessel_far(0, False), mpf(0), mpf(1), (12, 0)),
    Fit("j0_far_turned", _bessel_far(0, True), mpf(0), mpf(1), (11, 0)),
    Fit("j1_far", _bessel_far(1, False), mpf(0), mpf(1), (12, 0)),
    Fit("j1_far_turned", _bessel_far(1, True), mpf(0), mpf(1), (11, 0)),
)  # fmt: skip


def show(fit: Fit) -> None:
    """The table of one fit, as `rules/decompose/coefficients.py` holds it."""
    print(f"{fit.name.upper()} = {{")
    for degree, bits in zip(fit.degrees, (64, 32), strict=True):
        if degree:
            coefficients, worst = remez(fit, degree)
            print(f"    FLOAT{bits}: (  # 2**{float(mp.log(worst, 2)):.1f}")
            for c in coefficients:
                print(f"        {float(c)!r},")
            print("    ),")
    print("}")


def main(names: list[str]) -> None:
    """Print a module, or the named tables."""
    special = names == ["special"]
    print(HEADER.replace("FLOAT32, ", "") if special else HEADER)
    for fit in (*FITS, *SPECIAL_FITS):
        if fit.name in names or fit in (SPECIAL_FITS if special else () if names else FITS):
            show(fit)


if __name__ == "__main__":
    main(sys.argv[1:])
