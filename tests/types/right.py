"""Programs that a type checker must take as they are, strictly; `tests/unit/test_types.py` asks."""

import numpy

import fusewright as fw
import fusewright.numpy as np
from fusewright.numpy import fft, linalg, random, special


@fw.jit
def distance(a: fw.Array, b: fw.Array) -> fw.Array:
    """An array of arrays."""
    result: fw.Array = np.sqrt(((a - b) ** 2).sum(axis=1))
    return result


@fw.kernel(fuse=True)
def running(x: fw.Array, out: fw.Array) -> None:
    """A loop."""
    total = 0.0
    for i in range(len(x)):
        total += x[i]
        out[i] = total


x = np.zeros((100, 100), dtype=np.float32)
x[1:-1, 1:-1] += 0.25 * x[2:, 1:-1]
rows: fw.Array = distance(x, np.ones_like(x))
low, high = fw.evaluate(rows.min(), rows.max())
plain: numpy.typing.NDArray[numpy.float64] = numpy.asarray(rows, dtype=numpy.float64)
running(rows, plain)
spectrum = fft.fft(rows)
solved = linalg.solve(numpy.eye(3), numpy.ones(3))
drawn = random.default_rng(1).normal(size=1000)
error = special.erf(drawn)
both = np.fft.ifft(spectrum) + np.random.default_rng(2).random() + np.erf(0.5)
with fw.options(threads=1, fuse_level="shift", memory_limit=None) as chosen:
    print(chosen.threads, float(x.sum()), x.T.shape, both.ndim, solved[0], error[0], low, high)
print(fw.explain(distance, x, x), fw.show(np.exp(x), "llvm"), fw.cache_info().folder)
state = fw.evaluate({"x": x, "rows": rows})
pair: tuple[fw.Array, int] = fw.evaluate((x, 3))
print(state["rows"].shape, pair[0].dtype, pair[1] + 1, distance.__name__, running.explain())


@fw.kernel(integers="c", fuse="same")
def counted(keys: fw.Array, counts: fw.Array) -> None:
    """A histogram."""
    for i, j in fw.ndrange(keys.shape[0], (1, keys.shape[1])):
        fw.atomic_add(counts, keys[i, j], 1)


counted(np.zeros((10, 10), dtype=np.int64), np.zeros(3, dtype=np.int64))
