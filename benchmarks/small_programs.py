"""Textbook programs that work on single elements and short slices of small arrays, where there is
little to fuse: against NumPy, what a whole program pays for being recorded.  The first call in a
process with an empty cache of compiled code, and later ones.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from pairwise import Contestant, compete
from report import milliseconds, start

import fusewright as fw
import fusewright.numpy as fnp

SLOWER = 1.1


def factors(np: Any, a: Any) -> Any:
    """LU factors in place, by rows (Doolittle)."""
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] = (a[i, j] - a[i, :j] @ a[:j, j]) / a[j, j]
        for j in range(i, a.shape[0]):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return a


def orthogonal(np: Any, a: Any) -> Any:
    """Modified Gram-Schmidt: columns made orthogonal one after another."""
    q = np.zeros_like(a)
    for k in range(a.shape[1]):
        q[:, k] = a[:, k] / np.sqrt(np.dot(a[:, k], a[:, k]))
        for j in range(k + 1, a.shape[1]):
            a[:, j] -= q[:, k] * np.dot(q[:, k], a[:, j])
    return q


def predictor(np: Any, a: Any) -> Any:
    """Levinson's recursion for a Toeplitz system."""
    r = a[0] * 0.01
    y = np.zeros_like(r)
    y[0] = error = -r[0]
    rest = 1.0
    for k in range(1, r.shape[0]):
        rest *= 1.0 - error * error
        error = -(r[k] + np.dot(r[:k][::-1], y[:k])) / rest
        y[:k] += error * y[:k][::-1]
        y[k] = error
    return y


def directions(np: Any, a: Any) -> Any:
    """Alternating directions: tridiagonal sweeps along rows, then along columns."""
    n = a.shape[0]
    p, q, v = np.zeros_like(a), np.zeros_like(a), np.zeros_like(a)
    for _ in range(2):
        for j in range(1, n - 1):
            p[1:-1, j] = 0.25 / (1.5 - 0.25 * p[1:-1, j - 1])
            q[1:-1, j] = (a[1:-1, j] + 0.25 * q[1:-1, j - 1]) / (1.5 - 0.25 * p[1:-1, j - 1])
        for j in range(n - 2, 0, -1):
            v[1:-1, j] = p[1:-1, j] * v[1:-1, j + 1] + q[1:-1, j]
        a = v.T.copy()
    return a


def distance(np: Any, a: Any) -> Any:
    """Edit distance of two sequences by dynamic programming, element by element."""
    first, second = (a[0] * 4).astype(np.int64), (a[1] * 4).astype(np.int64)
    table = np.zeros((len(first) + 1, len(second) + 1), np.int64)
    table[0, :], table[:, 0] = np.arange(len(second) + 1), np.arange(len(first) + 1)
    for i in range(1, len(first) + 1):
        for j in range(1, len(second) + 1):
            change = table[i - 1, j - 1] + (first[i - 1] != second[j - 1])
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, change)
    return table


def sparse(np: Any, a: Any) -> Any:
    """A sparse matrix (rows of varying lengths) times a vector, row by row."""
    n = a.shape[0]
    counts = 1 + (a[:, 0] % 1.0 * 20).astype(np.int64)
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    columns = (a.ravel()[: int(ends[-1])] % 1.0 * n).astype(np.int64)
    y, x = np.zeros(n), a[:, 1]
    for i in range(n):
        at = columns[ends[i] : ends[i + 1]]
        y[i] = a.ravel()[ends[i] : ends[i + 1]] @ x[at]
    return y


def sweeps(np: Any, a: Any) -> Any:
    """Gauss-Seidel: each element from its neighbours, old and new."""
    for _ in range(2):
        for i in range(1, a.shape[0] - 1):
            a[i, 1:-1] += a[i - 1, 1:-1] + a[i + 1, 1:-1] + a[i, 2:]
            for j in range(1, a.shape[1] - 1):
                a[i, j] = (a[i, j] + a[i, j - 1]) / 5.0
    return a


def cavity(np: Any, a: Any) -> Any:
    """Pressure and velocity in a cavity, with eight boundary updates in each step."""
    u, p = a * 0.1, a * 1.0
    for _ in range(50):
        p[1:-1, 1:-1] = 0.25 * (p[1:-1, 2:] + p[1:-1, :-2] + p[2:, 1:-1] + p[:-2, 1:-1])
        p[:, -1], p[0, :], p[:, 0], p[-1, :] = p[:, -2], p[1, :], p[:, 1], 0.0
        u[1:-1, 1:-1] -= 0.01 * (p[1:-1, 2:] - p[1:-1, :-2])
        u[0, :], u[:, 0], u[:, -1], u[-1, :] = 0.0, 0.0, 0.0, 1.0
    return u


def bodies(np: Any, a: Any) -> Any:
    """Gravitation of a few bodies, leapfrog."""
    place, speed = a[:, :3] * 1.0, a[:, 3:6] * 0.1
    for _ in range(20):
        d = place[None, :, :] - place[:, None, :]
        inverse = ((d**2).sum(-1) + 0.01) ** -1.5
        speed += 0.01 * (d * inverse[:, :, None]).sum(1)
        place += 0.01 * speed
    return place


def triangle(np: Any, a: Any) -> Any:
    """The lower triangle of a symmetric product, one dot product for each element."""
    c = np.zeros_like(a)
    for i in range(a.shape[0]):
        for j in range(i + 1):
            c[i, j] += np.dot(a[i, j:], a[j, j:])
    return c


def substitution(np: Any, a: Any) -> Any:
    """Forward and backward substitution with the triangles of a matrix."""
    n = a.shape[0]
    x, y = np.zeros(n), np.zeros(n)
    for i in range(n):
        y[i] = (1.0 - a[i, :i] @ y[:i]) / a[i, i]
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x


def correlations(np: Any, a: Any) -> Any:
    """Every column with those after it: a matrix filled by rows and columns."""
    a = (a - a.mean(axis=0)) / a.std(axis=0)
    n = a.shape[1]
    c = np.zeros((n, n))
    for i in range(n):
        c[i, i:] = c[i:, i] = a[:, i] @ a[:, i:] / a.shape[0]
    return c


def shortest(np: Any, a: Any) -> Any:
    """Shortest ways through a graph: the edges of one node after another relaxed."""
    n = a.shape[0]
    to = (a[:, :8] * 1e6).astype(np.int64) % n
    length, away = a[:, 8:16] % 1.0 + 0.1, np.full(n, 1e9)
    away[0] = 0.0
    for _ in range(2):
        for node in range(n):
            ends = to[node]
            away[ends] = np.minimum(away[ends], away[node] + length[node])
    return away


def bins(np: Any, a: Any) -> Any:
    """Sums, means and largest deviations of groups of rows."""
    groups = [np.arange(i, a.shape[0], 9) for i in range(9)]
    found = np.zeros((9, a.shape[1]))
    for g, rows in enumerate(groups):
        for j in range(a.shape[1]):
            part = a[rows, j]
            found[g, j] = part.sum() / len(rows) - part.mean() * 0.5
    return found


def powers(np: Any, a: Any) -> Any:
    """The largest eigenvalue of many small matrices by iteration."""
    found = np.zeros(a.shape[0] - 8)
    for i in range(a.shape[0] - 8):
        m, v = a[i : i + 8, :8], a[i, :8] * 1.0
        for _ in range(10):
            v = m @ v
            v = v / np.sqrt(np.dot(v, v))
        found[i] = np.dot(v, m @ v)
    return found


PROGRAMS: dict[str, tuple[Callable[[Any, Any], Any], tuple[int, int]]] = {
    "LU factors": (factors, (60, 60)),
    "Gram-Schmidt": (orthogonal, (70, 60)),
    "Levinson": (predictor, (2, 400)),
    "alternating directions": (directions, (100, 100)),
    "edit distance": (distance, (2, 100)),
    "sparse rows": (sparse, (500, 40)),
    "Gauss-Seidel": (sweeps, (60, 60)),
    "cavity": (cavity, (41, 41)),
    "bodies": (bodies, (60, 6)),
    "triangle of products": (triangle, (70, 70)),
    "substitution": (substitution, (300, 300)),
    "correlations": (correlations, (200, 150)),
    "shortest ways": (shortest, (400, 16)),
    "groups of rows": (bins, (400, 40)),
    "small eigenvalues": (powers, (60, 10)),
}


def given(name: str) -> Any:
    """A program's input."""
    shape = PROGRAMS[name][1]
    return np.random.default_rng(5).random(shape) + 4 * np.eye(*shape)


def first_call(name: str) -> float:
    """Seconds of the first call in a process, with no compiled code on disk."""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.run(
            [sys.executable, __file__, "--first", name],
            env={**os.environ, "FUSEWRIGHT_CACHE_DIR": folder},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    return float(json.loads(process.stdout))


def _first(name: str) -> None:
    a = fw.asarray(given(name))
    began = time.perf_counter()
    fw.evaluate(PROGRAMS[name][0](fnp, a))
    print(json.dumps(time.perf_counter() - began))


def main() -> int:
    report = start("small_programs", __doc__ or "")
    races = report.pairs_section()
    firsts = report.section("First calls", "program", "ours (ms)", "NumPy, any call (ms)")
    for name, (program, _) in PROGRAMS.items():
        plain = given(name)
        held = fw.asarray(plain)
        pairs, notes = compete(
            Contestant("Fusewright", lambda p=program, a=held: fw.evaluate(p(fnp, a.copy()))),
            [Contestant("NumPy", lambda p=program, a=plain: p(np, a.copy()))],
            0.5 if report.quick else 3.0, rtol=1e-9, atol=1e-12,
        )  # fmt: skip
        report.notes += [f"{name}: {note}" for note in notes]
        races.add_pairs(name, pairs)
        numpy = pairs[0].theirs.median
        firsts.add(name, milliseconds(first_call(name)), milliseconds(numpy))
        slower = pairs[0].ours.median / numpy
        report.claim(name, f"≤ {SLOWER}× NumPy", f"{slower:.2f}×", slower <= SLOWER)
    return report.finish()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--first"]:
        _first(sys.argv[2])
        raise SystemExit(0)
    raise SystemExit(main())
