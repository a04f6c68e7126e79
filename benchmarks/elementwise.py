"""E = sqrt(a*a + b*b) * exp(-c) + where(d > 0, a, b): ten operators on four inputs, with and
without a sum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import peers
from numpy.typing import NDArray
from pairwise import Contestant, bandwidths, compete, race
from report import Report, Section, milliseconds, start

import fusewright as fw
import fusewright.numpy as fnp

NUMEXPR = "sqrt(a*a + b*b) * exp(-c) + where(d > 0, a, b)"
SUMMED = f"sum({NUMEXPR})"
Arrays = list[NDArray[Any]]


def expression(np: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    return np.sqrt(a * a + b * b) * np.exp(-c) + np.where(d > 0, a, b)


def summed(np: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    return expression(np, a, b, c, d).sum()


def numexpr_peer(inputs: Arrays, out: NDArray[Any], total: bool) -> Contestant:
    library = peers.numexpr()
    names = dict(zip("abcd", inputs, strict=True))
    if total:
        return Contestant("numexpr", lambda: library.evaluate(SUMMED, names))
    return Contestant("numexpr", lambda: library.evaluate(NUMEXPR, names, out=out))


def numba_peers(inputs: Arrays, out: NDArray[Any], total: bool) -> list[Contestant]:
    numba = peers.numba()

    @numba.njit(parallel=True)
    def array_form(a: Any, b: Any, c: Any, d: Any) -> Any:
        return np.sqrt(a * a + b * b) * np.exp(-c) + np.where(d > 0, a, b)

    @numba.njit(parallel=True)
    def array_sum(a: Any, b: Any, c: Any, d: Any) -> Any:
        return (np.sqrt(a * a + b * b) * np.exp(-c) + np.where(d > 0, a, b)).sum()

    @numba.njit(parallel=True)
    def loop(a: Any, b: Any, c: Any, d: Any, out: Any) -> Any:
        for i in numba.prange(a.size):
            chosen = a[i] if d[i] > 0 else b[i]
            out[i] = np.sqrt(a[i] * a[i] + b[i] * b[i]) * np.exp(-c[i]) + chosen
        return out

    @numba.njit(parallel=True)
    def loop_sum(a: Any, b: Any, c: Any, d: Any) -> Any:
        total = a.dtype.type(0)
        for i in numba.prange(a.size):
            chosen = a[i] if d[i] > 0 else b[i]
            total += np.sqrt(a[i] * a[i] + b[i] * b[i]) * np.exp(-c[i]) + chosen
        return total

    if total:
        return [
            Contestant("Numba, array expression", lambda: array_sum(*inputs)),
            Contestant("Numba, prange loop", lambda: loop_sum(*inputs)),
        ]
    return [
        Contestant("Numba, array expression", lambda: array_form(*inputs)),
        Contestant("Numba, prange loop, out", lambda: loop(*inputs, out)),
    ]


def torch_peer(inputs: Arrays, out: NDArray[Any], total: bool) -> Contestant:
    torch = peers.torch()

    def into(a: Any, b: Any, c: Any, d: Any, out: Any) -> Any:
        return out.copy_(expression(torch, a, b, c, d))

    if total:
        run = peers.torch_compiled(lambda *values: summed(torch, *values), *inputs)
        return Contestant("torch.compile", run)
    return Contestant("torch.compile, out", peers.torch_compiled(into, *inputs, out))


def contestants(inputs: Arrays, total: bool) -> tuple[Contestant, list[Contestant]]:
    """Ours and every peer."""
    function: Callable[..., Any] = summed if total else expression
    out = peers.aligned(inputs[0].size, inputs[0].dtype.name)
    arrays = [fw.asarray(values) for values in inputs]
    jnp = peers.jax().numpy
    others = [
        Contestant("NumPy", lambda: function(np, *inputs)),
        numexpr_peer(inputs, out, total),
        *numba_peers(inputs, out, total),
        Contestant("JAX jit", peers.jitted(lambda *v: function(jnp, *v), *inputs)),
        torch_peer(inputs, out, total),
    ]
    return Contestant("Fusewright", lambda: fw.evaluate(function(fnp, *arrays))), others


def tolerance(dtype: str, total: bool) -> dict[str, float]:
    """NumPy's float32 exp is good to 2.4 ulp; peers that sum float32 in long runs lose digits."""
    if total:
        return {"rtol": 1e-2 if dtype == "float32" else 1e-9, "atol": 0.0}
    return {"rtol": 3e-6, "atol": 1e-4} if dtype == "float32" else {"rtol": 1e-14, "atol": 1e-12}


def measure(report: Report, section: Section, dtype: str, count: int, total: bool) -> None:
    inputs = [peers.normal((count,), dtype, seed) for seed in range(4)]
    peers.freeze(*inputs)
    ours, others = contestants(inputs, total)
    seconds = 0.4 if report.quick else 3.0
    pairs, notes = compete(ours, others, seconds, **tolerance(dtype, total))
    what = f"{'sum(E)' if total else 'E'} {dtype} {count:.0e}".replace("e+0", "e")
    report.notes += [f"{what}: {note}" for note in notes]
    section.add_pairs(what, pairs)
    numpy, *rest = pairs
    least = 12 if total else 10
    report.claim(f"{what}: NumPy", f"≥ {least}×", f"{numpy.ratio:.1f}×", numpy.ratio >= least)
    best = min(rest, key=lambda pair: pair.ratio)
    report.claim(f"{what}: every peer", "> 1×", f"{best.ratio:.2f}× {best.peer}", best.ratio > 1)
    if count >= 10**8 and not total:
        moved = 5 * count * np.dtype(dtype).itemsize
        reached, copy = bandwidths(ours, moved, peers.THREADS, seconds)
        judge_bandwidth(report, what, reached, copy)
        read = race(ours, reading(inputs), seconds).theirs.median
        limit = moved / read
        report.notes.append(
            f"{what}: only reading the four inputs (their sum) takes {milliseconds(read)} ms, so "
            f"that no kernel can reach more than {limit / copy:.0%} of the copy's bandwidth here; "
            f"ours reaches {reached / limit:.0%} of that."
        )


def reading(inputs: Arrays) -> Contestant:
    """What moves the inputs and nothing else."""
    a, b, c, d = (fw.asarray(values) for values in inputs)
    return Contestant("reading", lambda: fw.evaluate((a + b + c + d).sum()))


def judge_bandwidth(report: Report, what: str, reached: float, copy: float) -> None:
    report.claim(
        f"{what}: share of copy bandwidth", "≥ 85 %",
        f"{reached / copy:.0%} ({reached / 1e9:.1f} of {copy / 1e9:.1f} GB/s)",
        reached >= 0.85 * copy,
    )  # fmt: skip


def main() -> int:
    report = start("elementwise", __doc__ or "")
    section = report.pairs_section()
    for count in (10**6, 10**8):
        for dtype in ("float64", "float32"):
            for total in (False, True):
                measure(report, section, dtype, count, total)
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
