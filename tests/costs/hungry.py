"""Programs that need memory, each as a function of the module that stands for NumPy.

As a script it runs one of them and prints the most bytes that were resident above the start:
python hungry.py NAME numpy|fusewright
"""

from __future__ import annotations

import importlib
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

MILLION = 1_000_000
PROGRAMS: dict[str, Callable[[Any], Any]] = {}


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """One that is measured."""
    PROGRAMS[function.__name__] = function
    return function


@program
def time_loop(np: Any) -> Any:
    """Large temporaries, one state."""
    u = np.linspace(0.0, 1.0, 2 * MILLION)
    for _ in range(20):
        du = np.zeros_like(u)
        du[1:-1] = u[2:] - 2 * u[1:-1] + u[:-2]
        u = u + 0.1 * du
    return float(u.sum())


@program
def time_loop_unasked(np: Any) -> Any:
    """No value is asked for until the end."""
    u = np.ones((1000, 1000))
    v = np.zeros((1000, 1000))
    for _ in range(60):
        lap = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u
        v = v + 0.1 * lap
        u = u + 0.1 * v
    return float(u.sum())


@program
def growing_list(np: Any) -> Any:
    """Every step is kept."""
    u = np.ones(MILLION)
    history = []
    for step in range(20):
        u = u * 0.99 + step
        history.append(u)
    return sum(float(h[0]) for h in history)


@program
def growing_list_stacked(np: Any) -> Any:
    u = np.ones(MILLION)
    history = []
    for step in range(20):
        u = np.sin(u) + step
        history.append(u.copy())
    return float(np.array(history).mean())


@program
def generated_and_summed(np: Any) -> Any:
    """Reductions over big expressions, new inputs each time."""
    total = 0.0
    for step in range(20):
        x = np.arange(2 * MILLION, dtype=np.float64) + step
        total += float(np.sqrt(x * x + 1).sum())
        total += float(((x - x.mean()) ** 2).mean())
    return total


@program
def random_draws(np: Any) -> Any:
    """Monte Carlo with an estimate for each batch."""
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(10):
        x, y = rng.random(2 * MILLION), rng.random(2 * MILLION)
        inside += int(np.count_nonzero(x * x + y * y < 1.0))
    return inside


@program
def random_paths(np: Any) -> Any:
    """Paths of a random walk; all of them at once."""
    np.random.seed(1)
    noise = np.random.normal(size=(5000, 1000)) * 0.01
    paths = np.exp(np.cumsum(noise, axis=1))
    payoff = np.maximum(paths[:, -1] - 1.0, 0.0)
    return float(payoff.mean()) + float(paths.max())


@program
def fft_filter(np: Any) -> Any:
    signal = np.sin(np.arange(2 * MILLION) * 0.01)
    for _ in range(5):
        spectrum = np.fft.rfft(signal)
        spectrum[len(spectrum) // 2 :] = 0
        signal = np.fft.irfft(spectrum, len(signal))
    return float(abs(signal).max())


@program
def split_step(np: Any) -> Any:
    n = 1024
    x = np.linspace(-5, 5, n)
    psi = np.exp(-(x[:, None] ** 2 + x[None, :] ** 2)).astype(complex)
    k = np.fft.fftfreq(n)
    kinetic = np.exp(-0.01j * (k[:, None] ** 2 + k[None, :] ** 2))
    potential = np.exp(-0.01j * (x[:, None] ** 2 + x[None, :] ** 2))
    for _ in range(10):
        psi = potential * psi
        psi = np.fft.ifft2(kinetic * np.fft.fft2(psi))
    return float((abs(psi) ** 2).sum())


@program
def masked(np: Any) -> Any:
    x = np.sin(np.arange(4 * MILLION) * 0.1)
    for _ in range(10):
        x[x < 0] = 0.0
        x[x > 0.5] *= 0.9
        x -= 0.01
    kept = x[x > 0.1]
    return float(kept.sum())


@program
def gathers(np: Any) -> Any:
    index = (np.arange(4 * MILLION) * 7919) % (4 * MILLION)
    x = np.linspace(0, 1, 4 * MILLION)
    for _ in range(5):
        x = x[index] + 1.0
    return float(x.sum())


@program
def sorting(np: Any) -> Any:
    x = np.sin(np.arange(3 * MILLION) * 1.7)
    order = np.argsort(x)
    y = np.sort(x)
    z = np.unique(np.round(x, 3))
    return float(x[order][0]) + float(y[-1]) + len(z)


@program
def stacking(np: Any) -> Any:
    parts = [np.full(MILLION, float(k)) for k in range(10)]
    table = np.stack(parts, axis=1)
    joined = np.concatenate(parts)
    return float(table.mean()) + float(joined.mean())


@program
def appending(np: Any) -> Any:
    """An array that grows by joining."""
    table = np.zeros((0, 10000))
    for step in range(100):
        table = np.vstack((table, np.full((1, 10000), float(step))))
    return float(table.sum())


@program
def in_place(np: Any) -> Any:
    x = np.zeros(10 * MILLION)
    for step in range(10):
        x += step
        x *= 0.5
        x[::2] -= 1
    return float(x.sum())


@program
def written_rows(np: Any) -> Any:
    table = np.zeros((2000, 5000))
    for row in range(2000):
        table[row] = np.arange(5000) * 0.1 + row
    return float(table.mean())


@program
def written_columns(np: Any) -> Any:
    table = np.zeros((20000, 400))
    for column in range(1, 400):
        table[:, column] = table[:, column - 1] * 0.5 + column
    return float(table.mean())


@program
def distances(np: Any) -> Any:
    """Pairs of points by broadcasting."""
    points = np.sin(np.arange(3000 * 3)).reshape(3000, 3)
    difference = points[:, None, :] - points[None, :, :]
    distance = np.sqrt((difference**2).sum(axis=-1))
    return float(distance.max())


@program
def products(np: Any) -> Any:
    a = np.sin(np.arange(MILLION)).reshape(1000, 1000)
    for _ in range(10):
        a = a @ a.T
        a = a / abs(a).max()
    return float(a.sum())


@program
def training(np: Any) -> Any:
    """A dense layer by gradient descent."""
    x = np.sin(np.arange(20000 * 200)).reshape(20000, 200)
    y = (x[:, :10].sum(axis=1) > 0).astype(float)[:, None]
    w = np.zeros((200, 100)) + 0.01
    v = np.zeros((100, 1)) + 0.01
    for _ in range(20):
        h = np.tanh(x @ w)
        p = 1 / (1 + np.exp(-(h @ v)))
        d = (p - y) / len(x)
        dv = h.T @ d
        dw = x.T @ ((d @ v.T) * (1 - h * h))
        v = v - 0.1 * dv
        w = w - 0.1 * dw
    return float(w.sum())


@program
def image(np: Any) -> Any:
    """Windows of an image, added up."""
    picture = np.sin(np.arange(2000 * 2000)).reshape(2000, 2000)
    for _ in range(5):
        padded = np.pad(picture, 1, mode="edge")
        total = np.zeros_like(picture)
        for i in range(3):
            for j in range(3):
                total += padded[i : i + 2000, j : j + 2000]
        picture = total / 9
    return float(picture.std())


@program
def grids(np: Any) -> Any:
    x, y = np.meshgrid(np.linspace(-2, 1, 1500), np.linspace(-1, 1, 1500))
    c = x + 1j * y
    z = np.zeros_like(c)
    count = np.zeros(c.shape, dtype=int)
    for _ in range(15):
        alive = abs(z) < 2
        z = np.where(alive, z * z + c, z)
        count += alive
    return int(count.sum())


@program
def statistics(np: Any) -> Any:
    data = np.sin(np.arange(5 * MILLION)).reshape(-1, 5)
    centred = (data - data.mean(axis=0)) / data.std(axis=0)
    covariance = centred.T @ centred / len(data)
    values, _ = np.linalg.eigh(covariance)
    histogram, _ = np.histogram(centred[:, 0], bins=50)
    return float(values.sum()) + int(histogram.sum()) + float(np.median(data[:, 1]))


@program
def parts_dropped(np: Any) -> Any:
    """A row is kept of each large array."""
    rows = []
    for step in range(20):
        table = np.sin(np.arange(MILLION) + step).reshape(1000, 1000)
        rows.append(table[0].copy())
    return float(np.array(rows).sum())


@program
def sums_kept(np: Any) -> Any:
    """Sums that nobody asks for keep what they were made from."""
    sums = []
    for step in range(30):
        table = np.sin(np.arange(MILLION) * 0.1 + step)
        sums.append(table.sum())
    return float(sum(sums))


@program
def inputs_replaced(np: Any) -> Any:
    """Each result is smaller than what it was made from."""
    results = []
    rng = np.random.default_rng(1)
    for _ in range(20):
        x = rng.random((1000, 2000))
        results.append(x[:, ::50] * 2 + 1)
    return float(sum(r.sum() for r in results))


@program
def sequence_of_sizes(np: Any) -> Any:
    """Each array is a little larger than the last."""
    total = 0.0
    for n in range(MILLION, 5 * MILLION, 300_000):
        x = np.arange(n) * 0.5
        total += float((x + 1).sum())
        y = x * x
        total += float(y[-1])
    return total


@program
def phases(np: Any) -> Any:
    """Large work of one size, then of another."""
    total = 0.0
    for size in (8 * MILLION, 6 * MILLION, 9 * MILLION, 5 * MILLION):
        x = np.linspace(0, 1, size)
        y = np.exp(x) + x
        total += float((y * y).sum())
        del x, y
    return total


@program
def converted(np: Any) -> Any:
    bytes_ = (np.arange(20 * MILLION) % 256).astype(np.uint8)
    scaled = bytes_.astype(np.float32) / 255
    return float(scaled.mean())


@program
def tiled(np: Any) -> Any:
    x = np.arange(MILLION, dtype=float)
    table = np.tile(x, (10, 1))
    repeated = np.repeat(x, 5)
    return float(table.sum()) + float(repeated.sum())


@program
def integrals(np: Any) -> Any:
    x = np.linspace(0, 10, 5 * MILLION)
    y = np.sin(x) * np.exp(-x)
    running = np.cumsum(y) * (x[1] - x[0])
    slope = np.gradient(y, x)
    return float(np.trapezoid(y, x)) + float(running[-1]) + float(slope.max())


@program
def through_lists(np: Any) -> Any:
    values = [k * 0.5 for k in range(MILLION)]
    x = np.array(values)
    return float(sum((x * 2).tolist()[:10]))


@program
def views_written(np: Any) -> Any:
    state = np.zeros((4, 2000, 1000))
    for step in range(10):
        for k in range(4):
            plane = state[k]
            plane += step
            plane[1:, :] -= plane[:-1, :] * 0.5
    return float(state.sum())


def peak() -> int:
    """The most bytes ever resident."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def resident() -> int:
    """Bytes resident now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def main() -> None:
    name, module = sys.argv[1:]
    np = importlib.import_module({"fusewright": "fusewright.numpy"}.get(module, module))
    start = peak()
    PROGRAMS[name](np)
    print(start, peak(), resident())


if __name__ == "__main__":
    main()
