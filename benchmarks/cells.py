"""Two grid programs of `stencils.py`, horizontal diffusion and the masked Mandelbrot set, for us
and each peer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import peers
from numpy.typing import NDArray
from pairwise import Contestant

import fusewright as fw
import fusewright.numpy as fnp

ITERATIONS = 100
HORIZON = 2.0


def diffusion(np: Any, field: Any, coefficient: Any) -> Any:
    """Limited fourth-order diffusion on every level, as weather models do it.

    The field has two halo cells a side.
    """
    i, j = coefficient.shape[0], coefficient.shape[1]
    laplace = 4.0 * field[1 : i + 3, 1 : j + 3] - (
        field[2 : i + 4, 1 : j + 3] + field[0 : i + 2, 1 : j + 3]
        + field[1 : i + 3, 2 : j + 4] + field[1 : i + 3, 0 : j + 2]
    )  # fmt: skip
    flux = laplace[1:, 1 : j + 1] - laplace[:-1, 1 : j + 1]
    slope = field[2 : i + 3, 2 : j + 2] - field[1 : i + 2, 2 : j + 2]
    x_flux = np.where(flux * slope > 0, 0, flux)
    flux = laplace[1 : i + 1, 1:] - laplace[1 : i + 1, :-1]
    slope = field[2 : i + 2, 2 : j + 3] - field[2 : i + 2, 1 : j + 2]
    y_flux = np.where(flux * slope > 0, 0, flux)
    change = x_flux[1:] - x_flux[:-1] + y_flux[:, 1:] - y_flux[:, :-1]
    return field[2 : i + 2, 2 : j + 2] - coefficient * change


def diffusion_contestants(shape: tuple[int, int, int]) -> tuple[Contestant, list[Contestant]]:
    """All of them, on one field."""
    i, j, k = shape
    field = peers.normal((i + 4, j + 4, k), "float64", 7)
    coefficient = peers.normal(shape, "float64", 8)
    peers.freeze(field, coefficient)
    arrays = [fw.asarray(field), fw.asarray(coefficient)]
    out = peers.aligned(coefficient.size, "float64").reshape(shape)
    jnp, torch = peers.jax().numpy, peers.torch()
    zero = torch.zeros((), dtype=torch.float64)

    def into(field: Any, coefficient: Any, out: Any) -> Any:
        chosen = _Where(lambda test, yes, no: torch.where(test, zero if yes == 0 else yes, no))
        return out.copy_(diffusion(chosen, field, coefficient))

    others = [
        Contestant("NumPy", lambda: diffusion(np, field, coefficient)),
        Contestant(
            "Numba, prange loop, out", _numba_diffusion(field, coefficient, out), by_hand=True
        ),
        Contestant("JAX jit", peers.jitted(lambda f, c: diffusion(jnp, f, c), field, coefficient)),
        Contestant("torch.compile, out", peers.torch_compiled(into, field, coefficient, out)),
    ]
    return Contestant("Fusewright", lambda: fw.evaluate(diffusion(fnp, *arrays))), others


class _Where:
    """Just the `where` a text asks its module for."""

    def __init__(self, where: Callable[..., Any]) -> None:
        self.where = where


def _numba_diffusion(field: NDArray[Any], coefficient: NDArray[Any], out: NDArray[Any]) -> Any:
    numba = peers.numba()

    @numba.njit(inline="always")
    def laplace(f: Any, i: int, j: int, k: int) -> Any:
        return 4.0 * f[i, j, k] - (
            f[i + 1, j, k] + f[i - 1, j, k] + f[i, j + 1, k] + f[i, j - 1, k]
        )

    @numba.njit(inline="always")
    def limited(flux: Any, slope: Any) -> Any:
        return 0.0 if flux * slope > 0 else flux

    @numba.njit(parallel=True)
    def loop(f: Any, c: Any, out: Any) -> Any:
        for a in numba.prange(c.shape[0]):
            for b in range(c.shape[1]):
                i, j = a + 2, b + 2
                for k in range(c.shape[2]):
                    here = laplace(f, i, j, k)
                    down = limited(laplace(f, i + 1, j, k) - here, f[i + 1, j, k] - f[i, j, k])
                    up = limited(here - laplace(f, i - 1, j, k), f[i, j, k] - f[i - 1, j, k])
                    right = limited(laplace(f, i, j + 1, k) - here, f[i, j + 1, k] - f[i, j, k])
                    left = limited(here - laplace(f, i, j - 1, k), f[i, j, k] - f[i, j - 1, k])
                    out[a, b, k] = f[i, j, k] - c[a, b, k] * (down - up + right - left)
        return out

    return lambda: loop(field, coefficient, out)


def mandelbrot(np: Any, c: Any) -> Any:
    """Escape times: a mask says which points still move."""
    z = np.zeros(c.shape, dtype=c.dtype)
    counts = np.zeros(c.shape, dtype="int64")
    for n in range(ITERATIONS):
        inside = abs(z) < HORIZON
        counts[inside] = n
        z[inside] = z[inside] ** 2 + c[inside]
    counts[counts == ITERATIONS - 1] = 0
    return counts


def mandelbrot_contestants(n: int) -> tuple[Contestant, list[Contestant]]:
    """All of them, on one window."""
    c = np.linspace(-1.75, 0.25, n) + 1j * np.linspace(-1.0, 1.0, n)[:, None]
    peers.freeze(c)
    ours = fw.asarray(c)
    others = [
        Contestant("NumPy", lambda: mandelbrot(np, c)),
        Contestant("Numba, prange loop, early exit", _numba_mandelbrot(c), by_hand=True),
        Contestant("JAX jit", _jax_mandelbrot(c)),
        Contestant("torch.compile", _torch_mandelbrot(c)),
    ]
    return Contestant("Fusewright", lambda: fw.evaluate(mandelbrot(fnp, ours))), others


def _numba_mandelbrot(c: NDArray[Any]) -> Any:
    numba = peers.numba()

    @numba.njit(parallel=True)
    def loop(c: Any, counts: Any) -> Any:
        for i in numba.prange(c.shape[0]):
            for j in range(c.shape[1]):
                re, im, here = 0.0, 0.0, 0
                a, b = c[i, j].real, c[i, j].imag
                for n in range(ITERATIONS):
                    if re * re + im * im >= HORIZON * HORIZON:
                        break
                    here = n
                    re, im = re * re - im * im + a, 2 * re * im + b
                counts[i, j] = 0 if here == ITERATIONS - 1 else here
        return counts

    counts = np.zeros(c.shape, np.int64)
    return lambda: loop(c, counts)


def _jax_mandelbrot(c: NDArray[Any]) -> Callable[[], Any]:
    jax = peers.jax()
    jnp = jax.numpy

    def body(n: Any, state: Any) -> Any:
        re, im, counts, a, b = state
        inside = re * re + im * im < HORIZON * HORIZON
        counts = jnp.where(inside, n, counts)
        next_re = jnp.where(inside, re * re - im * im + a, re)
        return next_re, jnp.where(inside, 2 * re * im + b, im), counts, a, b

    def whole(c: Any) -> Any:
        zero = jnp.zeros(c.shape)
        state = (zero, zero, jnp.zeros(c.shape, "int64"), c.real, c.imag)
        counts = jax.lax.fori_loop(0, ITERATIONS, body, state)[2]
        return jnp.where(counts == ITERATIONS - 1, 0, counts)

    return peers.jitted(whole, c)


def _torch_mandelbrot(c: NDArray[Any]) -> Callable[[], Any]:
    """Ten iterations a compiled call: all hundred in one take inductor minutes to compile."""
    torch = peers.torch()
    a, b = (torch.from_numpy(np.ascontiguousarray(part)) for part in (c.real, c.imag))

    def ten(re: Any, im: Any, counts: Any, a: Any, b: Any, first: Any) -> Any:
        for n in range(10):
            inside = re * re + im * im < HORIZON * HORIZON
            counts = torch.where(inside, first + n, counts)
            re, im = (
                torch.where(inside, re * re - im * im + a, re),
                torch.where(inside, 2 * re * im + b, im),
            )
        return re, im, counts

    compiled = torch.compile(ten, dynamic=False)
    firsts = [torch.tensor(n) for n in range(0, ITERATIONS, 10)]

    def run() -> Any:
        re, im = torch.zeros_like(a), torch.zeros_like(a)
        counts = torch.zeros(a.shape, dtype=torch.int64)
        with torch.no_grad():
            for first in firsts:
                re, im, counts = compiled(re, im, counts, a, b, first)
            return torch.where(counts == ITERATIONS - 1, 0, counts)

    return run
