"""Softmax and layer norm over the rows of float32 matrices: reductions with what comes before and
after, in one kernel.  And over the columns, where each reduction is a pass of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import peers
from numpy.typing import NDArray
from pairwise import Contestant, bandwidths, compete
from report import Report, Section, start

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.runtime import profile

SHAPES = ((4096, 4096), (65536, 128))
COLUMNS = ((8192, 8192), (1024, 65536), (1000, 1000))
EPSILON = np.float32(1e-5)


def softmax(np: Any, x: Any) -> Any:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def layer_norm(np: Any, x: Any) -> Any:
    mean = x.mean(axis=1, keepdims=True)
    return (x - mean) / np.sqrt(x.var(axis=1, keepdims=True) + EPSILON)


def torch_softmax(torch: Any, x: Any, out: Any) -> Any:
    return out.copy_(torch.softmax(x, dim=1))


def torch_layer_norm(torch: Any, x: Any, out: Any) -> Any:
    normed = torch.nn.functional.layer_norm(x, (x.shape[1],), eps=float(EPSILON))
    return out.copy_(normed)


def jax_softmax(jax: Any, x: Any) -> Any:
    return jax.nn.softmax(x, axis=1)


def jax_layer_norm(jax: Any, x: Any) -> Any:
    return layer_norm(jax.numpy, x)


def numba_softmax(numba: Any) -> Callable[[Any, Any], Any]:
    @numba.njit(parallel=True)
    def loop(x: Any, out: Any) -> Any:
        for i in numba.prange(x.shape[0]):
            top = x[i].max()
            total = np.float32(0)
            for j in range(x.shape[1]):
                out[i, j] = np.exp(x[i, j] - top)
                total += out[i, j]
            for j in range(x.shape[1]):
                out[i, j] /= total
        return out

    return loop  # type: ignore[no-any-return]


def numba_layer_norm(numba: Any) -> Callable[[Any, Any], Any]:
    @numba.njit(parallel=True)
    def loop(x: Any, out: Any) -> Any:
        n = np.float32(x.shape[1])
        for i in numba.prange(x.shape[0]):
            mean = np.float32(0)
            for j in range(x.shape[1]):
                mean += x[i, j]
            mean /= n
            variance = np.float32(0)
            for j in range(x.shape[1]):
                variance += (x[i, j] - mean) ** 2
            scale = np.float32(1) / np.sqrt(variance / n + EPSILON)
            for j in range(x.shape[1]):
                out[i, j] = (x[i, j] - mean) * scale
        return out

    return loop  # type: ignore[no-any-return]


def numexpr_softmax(library: Any, x: NDArray[Any], out: NDArray[Any]) -> Callable[[], Any]:
    """numexpr has reductions only as the last step: three evaluations."""

    def run() -> Any:
        top = library.evaluate("max(x, axis=1)", {"x": x}).reshape(-1, 1)
        library.evaluate("exp(x - top)", {"x": x, "top": top}, out=out)
        total = library.evaluate("sum(e, axis=1)", {"e": out}).reshape(-1, 1)
        return library.evaluate("e / total", {"e": out, "total": total}, out=out)

    return run


def numexpr_layer_norm(library: Any, x: NDArray[Any], out: NDArray[Any]) -> Callable[[], Any]:
    count = np.float32(x.shape[1])
    names = {"x": x, "count": count, "eps": EPSILON}

    def run() -> Any:
        mean = (library.evaluate("sum(x, axis=1)", names) / count).reshape(-1, 1)
        squares = library.evaluate("sum((x - mean)**2, axis=1)", {**names, "mean": mean})
        scale = (1 / np.sqrt(squares / count + EPSILON)).reshape(-1, 1)
        return library.evaluate(
            "(x - mean) * scale", {"x": x, "mean": mean, "scale": scale}, out=out
        )

    return run


PROGRAMS: dict[str, tuple[Callable[..., Any], ...]] = {
    "softmax": (softmax, torch_softmax, jax_softmax, numba_softmax, numexpr_softmax),
    "layer norm": (
        layer_norm, torch_layer_norm, jax_layer_norm, numba_layer_norm, numexpr_layer_norm,
    ),
}  # fmt: skip


def contestants(name: str, x: NDArray[Any]) -> tuple[Contestant, list[Contestant]]:
    plain, torch_form, jax_form, numba_form, numexpr_form = PROGRAMS[name]
    out = peers.aligned(x.size, "float32").reshape(x.shape)
    ours = fw.asarray(x)
    jax, torch = peers.jax(), peers.torch()
    loop = numba_form(peers.numba())
    others = [
        Contestant("NumPy", lambda: plain(np, x)),
        Contestant("numexpr, out", numexpr_form(peers.numexpr(), x, out)),
        Contestant("Numba, prange loop, out", lambda: loop(x, out)),
        Contestant("JAX jit", peers.jitted(lambda v: jax_form(jax, v), x)),
        Contestant(
            "torch.compile, out",
            peers.torch_compiled(lambda v, o: torch_form(torch, v, o), x, out),
        ),
        Contestant("torch eager", torch_eager(name, torch.from_numpy(x))),
    ]
    return Contestant("Fusewright", lambda: fw.evaluate(plain(fnp, ours))), others


def torch_eager(name: str, x: Any) -> Callable[[], Any]:
    """The library's hand-written kernel."""
    torch = peers.torch()
    if name == "softmax":
        return lambda: torch.softmax(x, dim=1)
    return lambda: torch.nn.functional.layer_norm(x, (x.shape[1],), eps=float(EPSILON))


def race(
    report: Report,
    section: Section,
    what: str,
    ours: Contestant,
    others: list[Contestant],
    seconds: float,
    rtol: float,
) -> None:
    """Against every peer, with the claim to be faster than the best."""
    pairs, notes = compete(ours, others, seconds, rtol=rtol, atol=1e-5)
    report.notes += [f"{what}: {note}" for note in notes]
    section.add_pairs(what, pairs)
    best = min(pairs, key=lambda pair: pair.ratio)
    report.claim(f"{what}: every peer", "> 1×", f"{best.ratio:.2f}× {best.peer}", best.ratio > 1)


def measure(report: Report, section: Section, name: str, shape: tuple[int, int]) -> None:
    x = peers.normal(shape, "float32", 3)
    peers.freeze(x)
    ours, others = contestants(name, x)
    seconds = 0.4 if report.quick else 3.0
    what = f"{name} {shape}"
    race(report, section, what, ours, others, seconds, 1e-4)
    reached, copy = bandwidths(ours, 2 * x.nbytes, peers.THREADS, seconds)
    report.notes.append(
        f"{what}: {reached / 1e9:.1f} GB/s, {reached / copy:.0%} of a copy's {copy / 1e9:.1f}."
    )
    passes(report, what, name, x)


def column_softmax(np: Any, x: Any) -> Any:
    e = np.exp(x - x.max(0))
    return e / e.sum(0)


def column_norm(np: Any, x: Any) -> Any:
    return (x - x.mean(0)) / x.std(0)


def torch_column_norm(torch: Any, x: Any) -> Any:
    return (x - x.mean(0)) / x.std(0, correction=0)


def torch_column_softmax(torch: Any, x: Any) -> Any:
    return torch.softmax(x, dim=0)


DOWN: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "column softmax": (column_softmax, torch_column_softmax),
    "column norm": (column_norm, torch_column_norm),
}


def measure_columns(report: Report, section: Section, name: str, shape: tuple[int, int]) -> None:
    x = peers.normal(shape, "float32", 3)
    peers.freeze(x)
    ours = fw.asarray(x)
    jax, torch = peers.jax(), peers.torch()
    plain, torch_form = DOWN[name]
    torch_x = torch.from_numpy(x)
    compiled = torch.compile(lambda v: torch_form(torch, v))
    others = [
        Contestant("NumPy", lambda: plain(np, x)),
        Contestant("JAX jit", peers.jitted(lambda v: plain(jax.numpy, v), x)),
        Contestant("torch.compile", lambda: compiled(torch_x)),
    ]
    contestant = Contestant("Fusewright", lambda: fw.evaluate(plain(fnp, ours)))
    seconds = 0.4 if report.quick else 3.0
    race(report, section, f"{name} {shape}", contestant, others, seconds, 1e-3)


def passes(report: Report, what: str, name: str, x: NDArray[Any]) -> None:
    """Kernels and bytes from the profile of one call."""
    ours = fw.asarray(x)
    with profile.listen() as record:
        fw.evaluate(PROGRAMS[name][0](fnp, ours))
    read = sum(kernel.bytes_read for kernel in record.kernels)
    written = sum(kernel.bytes_written for kernel in record.kernels)
    report.claim(
        f"{what}: passes over memory", "1 kernel, 1.00 in, 1.00 out",
        f"{len(record.kernels)} kernels, {read / x.nbytes:.2f} in, {written / x.nbytes:.2f} out",
        len(record.kernels) == 1 and read == written == x.nbytes,
    )  # fmt: skip


def main() -> int:
    report = start("rows", __doc__ or "")
    section = report.pairs_section()
    for name in PROGRAMS:
        for shape in SHAPES:
            measure(report, section, name, shape)
    for name in DOWN:
        for shape in COLUMNS:
            measure_columns(report, section, name, shape)
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
