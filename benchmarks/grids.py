"""The time-stepped stencils of `stencils.py`, 2-D heat and Gray-Scott, for us and for each peer.

One NumPy text serves NumPy and us; peers get their best form: two buffers swapped, or a loop inside
the compiled program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import peers
from numpy.typing import NDArray
from pairwise import Contestant

import fusewright as fw

STEPS = 100
FEW = 5
"""Steps timed of the peers that run each operator on its own."""
HEAT = 0.2
DU, DV, FEED, KILL = 0.16, 0.08, 0.035, 0.065


def heat(u: Any, steps: int) -> Any:
    for _ in range(steps):
        u[1:-1, 1:-1] += HEAT * (
            u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
        )
    return u


def gray_scott(u: Any, v: Any, steps: int) -> Any:
    inner = (slice(1, -1), slice(1, -1))
    for _ in range(steps):
        p, q = u[inner], v[inner]
        lu = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * p
        lv = v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] - 4 * q
        reaction = p * q * q
        p += DU * lu - reaction + FEED * (1 - p)
        q += DV * lv + reaction - (FEED + KILL) * q
    return u, v


def heat_contestants(n: int) -> tuple[Contestant, list[Contestant]]:
    """All of them, on one start."""
    first = peers.normal((n, n), "float64", 5)
    peers.freeze(first)
    held = fw.asarray(first)
    others = [
        Contestant("NumPy", lambda: heat(first.copy(), FEW), share=FEW / STEPS),
        Contestant("numexpr, out", _numexpr_heat(first), share=FEW / STEPS),
        Contestant("Numba, array expression", _numba_array_heat(first)),
        Contestant("Numba, prange loop", _numba_heat(first), by_hand=True),
        Contestant("JAX jit", _jax_heat(first)),
        Contestant("torch.compile", _torch_heat(first)),
    ]
    return Contestant("Fusewright", lambda: fw.evaluate(heat(held.copy(), STEPS))), others


def _numexpr_heat(first: NDArray[Any]) -> Callable[[], Any]:
    library = peers.numexpr()
    text = "c + h * (n + s + w + e - 4 * c)"
    u, v = first.copy(), first.copy()

    def run() -> Any:
        nonlocal u, v
        for _ in range(FEW):
            names = _neighbours(u) | {"h": HEAT}
            library.evaluate(text, names, out=v[1:-1, 1:-1])
            u, v = v, u
        return u

    return run


def _neighbours(u: Any) -> dict[str, Any]:
    return {
        "c": u[1:-1, 1:-1], "n": u[:-2, 1:-1], "s": u[2:, 1:-1],
        "w": u[1:-1, :-2], "e": u[1:-1, 2:],
    }  # fmt: skip


def _numba_array_heat(first: NDArray[Any]) -> Callable[[], Any]:
    """Two buffers: Numba runs the in-place form in parallel and gets it wrong."""

    @peers.numba().njit(parallel=True)
    def steps(u: Any, v: Any) -> Any:
        for _ in range(STEPS):
            c = u[1:-1, 1:-1]
            v[1:-1, 1:-1] = c + HEAT * (
                u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * c
            )
            u, v = v, u
        return u

    u, v = first.copy(), first.copy()

    def run() -> Any:
        u[...] = first
        return steps(u, v)

    return run


def _numba_heat(first: NDArray[Any]) -> Callable[[], Any]:
    numba = peers.numba()

    @numba.njit(parallel=True)
    def steps(u: Any, v: Any) -> Any:
        for _ in range(STEPS):
            for i in numba.prange(1, u.shape[0] - 1):
                for j in range(1, u.shape[1] - 1):
                    v[i, j] = u[i, j] + HEAT * (
                        u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u[i, j]
                    )
            u, v = v, u
        return u

    u, v = first.copy(), first.copy()

    def run() -> Any:
        u[...] = first
        return steps(u, v)

    return run


def _jax_heat(first: NDArray[Any]) -> Callable[[], Any]:
    jax = peers.jax()

    def body(_: Any, u: Any) -> Any:
        change = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
        return u.at[1:-1, 1:-1].add(HEAT * change)

    return peers.jitted(lambda u: jax.lax.fori_loop(0, STEPS, body, u), first)


def _torch_heat(first: NDArray[Any]) -> Callable[[], Any]:
    torch = peers.torch()

    def step(u: Any, v: Any) -> None:
        c = u[1:-1, 1:-1]
        change = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * c
        v[1:-1, 1:-1] = c + HEAT * change

    compiled = torch.compile(step, dynamic=False)
    start = torch.from_numpy(first)
    u, v = start.clone(), start.clone()

    def run() -> Any:
        u.copy_(start)
        with torch.no_grad():
            for _ in range(STEPS // 2):
                compiled(u, v)
                compiled(v, u)
        return u

    return run


def gray_scott_contestants(n: int) -> tuple[Contestant, list[Contestant]]:
    """All of them, on one start."""
    generator = np.random.default_rng(3)
    first = (1 - 0.02 * generator.random((n, n)), 0.02 * generator.random((n, n)))
    for values, middle in zip(first, (0.5, 0.25), strict=True):
        values[n // 2 - 20 : n // 2 + 20, n // 2 - 20 : n // 2 + 20] = middle
        peers.freeze(values)
    held = [fw.asarray(values) for values in first]

    def ours() -> Any:
        return fw.evaluate(*gray_scott(held[0].copy(), held[1].copy(), STEPS))

    def numpy() -> Any:
        return gray_scott(first[0].copy(), first[1].copy(), FEW)

    others = [
        Contestant("NumPy", numpy, share=FEW / STEPS),
        Contestant("numexpr, out", _numexpr_gray_scott(first), share=FEW / STEPS),
        Contestant("Numba, array expression", _numba_arrays(first), _stacked),
        Contestant("Numba, prange loop", _numba_gray_scott(first), _stacked, by_hand=True),
        Contestant("JAX jit", _jax_gray_scott(first), _stacked),
        Contestant("torch.compile", _torch_gray_scott(first), _stacked),
    ]
    return Contestant("Fusewright", ours, _stacked), others


def _stacked(pair: Any) -> NDArray[Any]:
    return np.stack([np.asarray(values) for values in pair])


def _numexpr_gray_scott(first: tuple[NDArray[Any], ...]) -> Callable[[], Any]:
    library = peers.numexpr()
    texts = (
        "c + DU * (n + s + w + e - 4 * c) - c * q * q + FEED * (1 - c)",
        "c + DV * (n + s + w + e - 4 * c) + p * c * c - (FEED + KILL) * c",
    )
    constants = {"DU": DU, "DV": DV, "FEED": FEED, "KILL": KILL}
    u, v = first[0].copy(), first[1].copy()
    next_u, next_v = first[0].copy(), first[1].copy()
    inner = (slice(1, -1), slice(1, -1))

    def run() -> Any:
        nonlocal u, v, next_u, next_v
        for _ in range(FEW):
            names = constants | {"p": u[inner], "q": v[inner]}
            library.evaluate(texts[0], names | _neighbours(u), out=next_u[inner])
            library.evaluate(texts[1], names | _neighbours(v), out=next_v[inner])
            u, v, next_u, next_v = next_u, next_v, u, v
        return u, v

    return run


def _numba_arrays(first: tuple[NDArray[Any], ...]) -> Callable[[], Any]:
    @peers.numba().njit(parallel=True)
    def steps(u: Any, v: Any, a: Any, b: Any) -> Any:
        for _ in range(STEPS):
            p, q = u[1:-1, 1:-1], v[1:-1, 1:-1]
            lu = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * p
            lv = v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] - 4 * q
            reaction = p * q * q
            a[1:-1, 1:-1] = p + (DU * lu - reaction + FEED * (1 - p))
            b[1:-1, 1:-1] = q + (DV * lv + reaction - (FEED + KILL) * q)
            u, v, a, b = a, b, u, v
        return u, v

    return _two_buffers(steps, first)


def _two_buffers(steps: Callable[..., Any], first: tuple[NDArray[Any], ...]) -> Callable[[], Any]:
    u, v = first[0].copy(), first[1].copy()
    a, b = first[0].copy(), first[1].copy()

    def run() -> Any:
        u[...], v[...] = first
        return steps(u, v, a, b)

    return run


def _numba_gray_scott(first: tuple[NDArray[Any], ...]) -> Callable[[], Any]:
    numba = peers.numba()

    @numba.njit(parallel=True)
    def steps(u: Any, v: Any, a: Any, b: Any) -> Any:
        for _ in range(STEPS):
            for i in numba.prange(1, u.shape[0] - 1):
                for j in range(1, u.shape[1] - 1):
                    p, q = u[i, j], v[i, j]
                    lu = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * p
                    lv = v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1] - 4 * q
                    reaction = p * q * q
                    a[i, j] = p + (DU * lu - reaction + FEED * (1 - p))
                    b[i, j] = q + (DV * lv + reaction - (FEED + KILL) * q)
            u, v, a, b = a, b, u, v
        return u, v

    return _two_buffers(steps, first)


def _jax_gray_scott(first: tuple[NDArray[Any], ...]) -> Callable[[], Any]:
    jax = peers.jax()

    def body(_: Any, state: Any) -> Any:
        return _step(*state)

    def _step(u: Any, v: Any) -> Any:
        p, q, lu, lv = _terms(u, v)
        reaction = p * q * q
        u = u.at[1:-1, 1:-1].add(DU * lu - reaction + FEED * (1 - p))
        v = v.at[1:-1, 1:-1].add(DV * lv + reaction - (FEED + KILL) * q)
        return u, v

    compiled = jax.jit(lambda u, v: jax.lax.fori_loop(0, STEPS, body, (u, v)))
    arrays = [jax.numpy.asarray(values) for values in first]
    return lambda: jax.block_until_ready(compiled(*arrays))


def _terms(u: Any, v: Any) -> tuple[Any, Any, Any, Any]:
    p, q = u[1:-1, 1:-1], v[1:-1, 1:-1]
    lu = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * p
    lv = v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] - 4 * q
    return p, q, lu, lv


def _torch_gray_scott(first: tuple[NDArray[Any], ...]) -> Callable[[], Any]:
    torch = peers.torch()

    def step(u: Any, v: Any, a: Any, b: Any) -> None:
        p, q, lu, lv = _terms(u, v)
        reaction = p * q * q
        a[1:-1, 1:-1] = p + (DU * lu - reaction + FEED * (1 - p))
        b[1:-1, 1:-1] = q + (DV * lv + reaction - (FEED + KILL) * q)

    compiled = torch.compile(step, dynamic=False)
    start = [torch.from_numpy(values) for values in first]
    u, v, a, b = (values.clone() for values in (*start, *start))

    def run() -> Any:
        u.copy_(start[0])
        v.copy_(start[1])
        with torch.no_grad():
            for _ in range(STEPS // 2):
                compiled(u, v, a, b)
                compiled(a, b, u, v)
        return u, v

    return run
