"""Small work: programs of 1, 3, 10 and 30 operators on 1 to 1e6 elements, and an ODE loop on 16.

Recorded: our operators run anew in every call and the result is asked for.  Replayed: the same
under `fw.jit`.  NumPy, JAX eager and torch eager run operator by operator; the other peers call
what they compiled before.  Two threads for everybody who uses any.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import peers
from chart import log_log
from elementwise import expression
from pairwise import Contestant, agreeing
from report import Report, start

import fusewright as fw
import fusewright.numpy as fnp

SIZES = tuple(10**k for k in range(7))
STEPS = 20_000
TURNS = 12
WARM = 0.05
"""Seconds."""
BATCH = 0.0015
"""Seconds of calls between two looks at the clock."""
SLOWER = 1.1


def one(np: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    return a + b


def three(np: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    return (a + b) * c - d


def thirty(np: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    x = a
    for k in range(10):
        x = x * b + c
        x = x - d if k % 2 else x + d
    return x


PROGRAMS: dict[str, Callable[..., Any]] = {
    "1 operator": one, "3 operators": three, "10 operators": expression, "30 operators": thirty,
}  # fmt: skip
TEXTS = {
    "1 operator": "a + b", "3 operators": "(a + b) * c - d",
    "10 operators": "sqrt(a*a + b*b) * exp(-c) + where(d > 0, a, b)",
}  # fmt: skip


def contestants(name: str, n: int) -> tuple[list[Contestant], list[Contestant]]:
    """NumPy and ours (recorded, replayed), and the peers."""
    program = PROGRAMS[name]
    inputs = [peers.normal((n,), "float64", seed) * 0.5 for seed in range(4)]
    mine = [fw.asarray(values) for values in inputs]
    replayed = fw.jit(lambda *values: program(fnp, *values))
    ours = [
        Contestant("NumPy", lambda: program(np, *inputs)),
        Contestant("recorded", lambda: fw.evaluate(program(fnp, *mine))),
        Contestant("fw.jit", lambda: replayed(*mine)),
    ]
    return ours, [*_compiled(name, program, inputs), *_eager(program, inputs)]


def _compiled(name: str, program: Any, inputs: list[Any]) -> list[Contestant]:
    numba, torch = peers.numba(), peers.torch()
    torch._dynamo.reset()  # it compiles at most eight shapes of one function
    jitted = numba.njit(_loop(name))
    found = [
        Contestant("Numba", lambda: jitted(*inputs)),
        Contestant("JAX jit", peers.jitted(lambda *v: program(peers.jax().numpy, *v), *inputs)),
        Contestant(
            "torch.compile", peers.torch_compiled(lambda *v: program(torch, *v), *inputs)
        ),
    ]  # fmt: skip
    if name in TEXTS:
        library, names = peers.numexpr(), dict(zip("abcd", inputs, strict=True))
        library.evaluate(TEXTS[name], names)
        # what re_evaluate runs again is the last one: set up again by the call that warms up
        found.append(Contestant("numexpr", lambda: library.evaluate(TEXTS[name], names)))
    return found


def _eager(program: Any, inputs: list[Any]) -> list[Contestant]:
    jax, torch = peers.jax(), peers.torch()
    arrays = [jax.numpy.asarray(values) for values in inputs]
    tensors = [torch.from_numpy(values) for values in inputs]
    return [
        Contestant("JAX eager", lambda: program(jax.numpy, *arrays).block_until_ready()),
        Contestant("torch eager", lambda: program(torch, *tensors)),
    ]


def _loop(name: str) -> Callable[..., Any]:
    """The loop a Numba user writes."""
    bodies = {
        "1 operator": "a[i] + b[i]", "3 operators": "(a[i] + b[i]) * c[i] - d[i]",
        "10 operators": "np.sqrt(a[i]*a[i] + b[i]*b[i]) * np.exp(-c[i])"
        " + (a[i] if d[i] > 0 else b[i])",
        "30 operators": "step(a[i], b[i], c[i], d[i])",
    }  # fmt: skip
    scope: dict[str, Any] = {"np": np, "step": peers.numba().njit(_thirty_scalar)}
    lines = (
        "def loop(a, b, c, d):", " out = np.empty_like(a)", " for i in range(a.size):",
        f"  out[i] = {bodies[name]}", " return out",
    )  # fmt: skip
    exec("\n".join(lines), scope)
    made: Callable[..., Any] = scope["loop"]
    return made


def _thirty_scalar(x: float, b: float, c: float, d: float) -> float:
    for k in range(10):
        x = x * b + c
        x = x - d if k % 2 else x + d
    return x


def per_call(run: Callable[[], Any], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        run()
    return (time.perf_counter() - start) / count


def warm_up(run: Callable[[], Any]) -> None:
    """Until whoever compiles on the way has compiled: ours interpret small work for 10 ms first."""
    end = time.perf_counter() + WARM
    while time.perf_counter() < end:
        run()


def medians(runs: Sequence[Contestant], turns: int) -> dict[str, float]:
    """Seconds of a call: medians of turns taken in alternation."""
    counts = []
    for each in runs:
        warm_up(each.run)
        counts.append(max(1, min(2000, int(BATCH / max(per_call(each.run, 3), 1e-7)))))
    taken: dict[str, list[float]] = {each.name: [] for each in runs}
    for _ in range(turns):
        for each, count in zip(runs, counts, strict=True):
            per_call(each.run, max(count // 8, 1))
            taken[each.name].append(per_call(each.run, count))
    return {name: statistics.median(times) for name, times in taken.items()}


def ode(np: Any, x: Any, v: Any, steps: int) -> Any:
    for _ in range(steps):
        a = -np.sin(x) - 0.1 * v
        v = v + 0.01 * a
        x = x + 0.01 * v
    return x


def own(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same with code of its own, as in a program that uses one library: the interpreter adapts
    code to the types it meets.
    """
    return FunctionType(function.__code__.replace(), function.__globals__)


def microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:.3g}" if seconds < 1e-3 else f"{seconds * 1e6:.0f}"


def sweep(report: Report, sizes: Sequence[int], turns: int) -> dict[str, dict[int, Any]]:
    """Every program, every size, everybody."""
    found: dict[str, dict[int, Any]] = {}
    for name in PROGRAMS:
        rows = found[name] = {}
        for n in sizes:
            ours, others = contestants(name, n)
            right, notes = agreeing([*ours, *others], rtol=1e-10, atol=1e-12)
            report.notes += notes
            close = medians(ours, 2 * turns)  # the claims' three, close together
            rows[n] = close | medians([each for each in right if each not in ours], turns)
        names = list(dict.fromkeys(key for row in rows.values() for key in row))
        section = report.section(f"{name} (µs a call)", "n", *names)
        for n, row in rows.items():
            section.add(f"{n:,}", *(microseconds(row[k]) if k in row else "" for k in names))
        curves = {
            key: {n: row[key] * 1e6 for n, row in rows.items() if key in row} for key in names
        }
        if not report.quick:
            target = Path(__file__).parent / "results" / f"small-{name.split()[0]}.svg"
            target.write_text(log_log(f"{name}: µs a call by elements", curves))
    return found


def loops(steps: int, turns: int) -> dict[str, list[float]]:
    """Seconds of the ODE loop for each library in turn."""
    jax, torch = peers.jax(), peers.torch()
    x, v = np.linspace(0.0, 1.0, 16), np.zeros(16)
    plain, ours, theirs, tensors = (own(ode) for _ in range(4))
    makers: dict[str, Callable[[], Any]] = {
        "NumPy": lambda: plain(np, x, v, steps),
        "recorded": lambda: fw.evaluate(ours(fnp, fw.asarray(x), fw.asarray(v), steps)),
        "JAX eager": lambda: theirs(
            jax.numpy, jax.numpy.asarray(x), jax.numpy.asarray(v), steps // 20
        ),
        "torch eager": lambda: tensors(torch, torch.from_numpy(x), torch.from_numpy(v), steps),
    }
    np.testing.assert_allclose(np.asarray(makers["recorded"]()), makers["NumPy"](), rtol=1e-9)
    taken: dict[str, list[float]] = {name: [] for name in makers}
    for _ in range(turns):
        for name, run in makers.items():
            taken[name].append(per_call(run, 1) * (20 if name == "JAX eager" else 1))
    return taken


def loop_times(report: Report, steps: int) -> tuple[float, float]:
    """How many times as fast as NumPy the ODE loop is, and seconds of an operator in a loop.

    Each in a process of its own, as a program is: after the compiling peers of the sweep, objects
    lie far apart in this one, and a loop over many small ones takes up to twice as long; and no
    thread of a peer may still be at work where no peer is asked.
    """
    with get_context("spawn").Pool(1) as process:
        taken = process.apply(loops, (steps, 3 if report.quick else 11))
    with get_context("spawn").Pool(1) as process:
        steady = process.apply(steady_cost)
    section = report.section(f"ODE loop, 16 elements, {steps:,} steps (ms)", "", "least", "median")
    for name, times in taken.items():
        section.add(name, f"{min(times) * 1e3:.0f}", f"{statistics.median(times) * 1e3:.0f}")
    ratio = statistics.median(taken["NumPy"]) / statistics.median(taken["recorded"])
    return ratio, steady


def steady_cost() -> float:
    """Seconds for an operator in a loop of array statements on one element, kernels included."""
    x, count = fw.asarray(np.ones(1)), 20_000
    times = []
    for _ in range(20):
        y = x
        start = time.perf_counter()
        for _ in range(count):
            y = y * 0.5 + x
        times.append((time.perf_counter() - start) / (2 * count))
    return statistics.median(times[5:])  # the first find the loop and compile it


def crossovers(found: dict[str, dict[int, Any]]) -> list[str]:
    """From which n on each of ours is at least as fast as NumPy."""
    lines = []
    for name, rows in found.items():
        for ours in ("recorded", "fw.jit"):
            slower = [n for n, row in rows.items() if row[ours] > row["NumPy"]]
            text = (
                f"slower at n = {', '.join(f'{n:,}' for n in slower)}" if slower else "everywhere"
            )
            lines.append(f"{name}, {ours}: at least as fast as NumPy {text}.".replace(
                "at least as fast as NumPy slower", "slower than NumPy"))  # fmt: skip
    return lines


def main() -> int:
    report = start("small", __doc__ or "")
    sizes = (1, 100, 10_000) if report.quick else SIZES
    found = sweep(report, sizes, 4 if report.quick else TURNS)
    ratio, steady = loop_times(report, STEPS // 10 if report.quick else STEPS)
    least = found["10 operators"][1]
    for name, ours, limit in (("recorded afresh", "recorded", 2e-6), ("fw.jit", "fw.jit", 1e-6)):
        value = least[ours]
        report.claim(f"E at n = 1, {name}", f"≤ {limit * 1e6:.0f} µs", f"{value * 1e6:.2f} µs",
                     value <= limit)  # fmt: skip
    report.claim(
        "an operator in a steady loop", "≤ 0.3 µs", f"{steady * 1e6:.2f} µs", steady <= 3e-7
    )
    report.claim("ODE loop, against NumPy", "≥ 2×", f"{ratio:.2f}×", ratio >= 2)
    worst = max(
        ((row[ours] / row["NumPy"], name, n, ours) for name, rows in found.items()
         for n, row in rows.items() for ours in ("recorded", "fw.jit")),
    )  # fmt: skip
    report.claim("any program, any n, against NumPy's time", f"≤ {SLOWER}×",
                 f"{worst[0]:.2f}× ({worst[1]}, n = {worst[2]:,}, {worst[3]})",
                 worst[0] <= SLOWER)  # fmt: skip
    report.notes += crossovers(found)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
