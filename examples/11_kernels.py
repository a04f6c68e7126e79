"""`@fw.kernel`: loops in plain Python, compiled.

A kernel means what CPython makes of the undecorated function: the loops run in the order written.
What is proved independent runs in vectors, the rest in order, with the same bits.
"""

import math

import numpy

import fusewright as fw


@fw.kernel
def smooth(a: fw.Array, b: fw.Array) -> None:
    for i in range(1, a.shape[0] - 1):
        b[i] = 0.25 * a[i - 1] + 0.5 * a[i] + 0.25 * a[i + 1]


a = numpy.linspace(0, 1, 1000) ** 2
b = numpy.zeros(1000)
smooth(a, b)

# The function itself is the definition.
expected = numpy.zeros(1000)
smooth.__wrapped__(a, expected)
assert (b == expected).all()


# Branches, while, functions of your own, tuples, small local arrays: as in Python.
@fw.func
def step(x: float, y: float, cx: float, cy: float) -> tuple[float, float]:
    return x * x - y * y + cx, 2 * x * y + cy


@fw.kernel
def mandelbrot(counts: fw.Array, limit: int) -> None:
    rows, columns = counts.shape
    for i, j in fw.ndrange(rows, columns):
        cx, cy = -2 + 3 * j / columns, -1.5 + 3 * i / rows
        x = y = 0.0
        n = 0
        while x * x + y * y < 4 and n < limit:
            x, y = step(x, y, cx, cy)
            n += 1
        counts[i, j] = n


counts = numpy.zeros((12, 40), int)
mandelbrot(counts, 50)
for row in counts:
    print("".join(" .:-=+*#%@"[min(n, 49) // 5] for n in row.tolist()))


# Results come back as Python's or NumPy's numbers.
@fw.kernel
def largest(x: fw.Array) -> tuple[float, int]:
    best, place = x[0], 0
    for i in range(1, len(x)):
        if x[i] > best:
            best, place = x[i], i
    return best, place


print("largest", largest(counts.reshape(-1)))


# Loops walk arrays and their rows; one number fills a part.
@fw.kernel
def weighted(rows: fw.Array, weights: fw.Array, totals: fw.Array) -> None:
    totals[:] = 0
    for i, row in enumerate(rows):
        for x, w in zip(row, weights, strict=True):
            totals[i] += x * w


totals = numpy.ones(12)
weighted(counts, numpy.linspace(0, 1, 40), totals)
print("weighted", totals[:3].tolist())


# Statements on rows and whole arrays are loops over their elements, as NumPy means them.
@fw.kernel
def standardised(rows: fw.Array, result: fw.Array) -> None:
    for i in range(rows.shape[0]):
        centred = rows[i] - rows[i].mean()
        result[i, :] = centred / math.sqrt((centred * centred).mean() + 1e-9)
    result[1:] += 0.1 * result[:-1]


result = numpy.zeros((12, 40))
standardised(counts * 1.0, result)
expected = numpy.zeros((12, 40))
standardised.__wrapped__(counts * 1.0, expected)
assert (result == expected).all()
print("standardised", result[5].round(2)[18:22].tolist())


# A counter that numbers places: blocks on threads, once the first place of each is known.
@fw.kernel
def positive(x: fw.Array, kept: fw.Array) -> int:
    k = 0
    for i in range(x.shape[0]):
        if x[i] > 0.2:
            kept[k] = x[i]
            k += 1
    return k


kept = numpy.zeros(1000)
print("positive", positive(b, kept), "of", len(b))
print(positive.explain())


# Complex numbers, with the bits of CPython.
@fw.kernel
def julia(points: fw.Array, c: complex, steps: int) -> None:
    for i in range(points.shape[0]):
        z = points[i]
        for _ in range(steps):
            if abs(z) <= 2.0:
                z = z * z + c
        points[i] = z


z = numpy.linspace(-1, 1, 7) * (1 + 0.5j)
julia(z, -0.4 + 0.6j, 20)
print("julia", abs(z).round(3).tolist())

# Which loops run in vectors, and which line keeps one in order.
print(smooth.explain())
print(largest.explain())

# An index outside an array is an error at its line, where checks are on.
try:
    with fw.options(check=True):
        smooth(a, b[:5])
except IndexError as error:
    print(error)
