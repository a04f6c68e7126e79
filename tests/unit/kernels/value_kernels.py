"""A kernel for each piece of the language."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import fusewright as fw

SCALE = 2.5
COUNT = 3
OFFSETS = (1, -2, 4)


# -- values ---------------------------------------------------------------------------------------


@fw.kernel
def branches(a, b):
    for i in range(a.shape[0]):
        if a[i] > 1:
            b[i] = 1
        elif a[i] > 0 or i == 2:
            b[i] = 2
        elif not a[i] < -1:
            b[i] = 3
        else:
            b[i] = 4


@fw.kernel
def chained(a, b):
    for i in range(a.shape[0]):
        b[i] = 0 <= a[i] < 1 < i + 1 <= 4


@fw.kernel
def conditional(a, b):
    n = a.shape[0]
    for i in range(n):
        left = a[i - 1] if i > 0 else 0.0
        right = a[i + 1] if i < n - 1 else 0.0
        b[i] = (left + right) * (1.0 if i % 2 else 0.5)


@fw.kernel
def short_circuit(a, b, n):
    for i in range(n):
        if i < a.shape[0] and a[i] > 0:
            b[i] = 1
        if i >= a.shape[0] or a[i] < 0:
            b[i] += 2


@fw.kernel
def reductions(a):
    total, least, greatest = 0, math.inf, -math.inf
    for i in range(a.shape[0]):
        total += a[i]
        least = min(least, a[i])
        greatest = max(greatest, a[i])
    return total, least, greatest


@fw.kernel
def into_zero_dim(a, s):
    for i in range(a.shape[0]):
        s[()] += a[i]


@fw.kernel
def scan(a):
    for i in range(1, a.shape[0]):
        a[i] += a[i - 1]


@fw.kernel
def negative(a):
    a[-1] = a[-2] + 1
    for i in range(3):
        a[i - 2] += i
    k = -3
    a[k] = 7


@fw.kernel
def gather(a, index, b):
    for i in range(index.shape[0]):
        b[i] = a[index[i]]
        b[index[i]] -= 1


@fw.kernel
def rows(a, b):
    for i in range(a.shape[0]):
        row = a[i]
        for j in range(len(row)):
            b[i][j] = row[j] * 2
            row[j] = -1


@fw.kernel
def python_division(a, b, q, r):
    for i in range(a.shape[0]):
        q[i] = a[i] // b[i]
        r[i] = a[i] % b[i]


@fw.kernel
def python_numbers(q, n, m):
    k = 0
    for i in range(-n, n):
        for j in range(1, m):
            q[k] = i // j * 100 + i % j + i // -j * 7 + i % -j + (i << 2) + (i >> 1) + (i & j)
            q[k] += (i | j) ^ j
            q[k] += i**2 + j**3 + (-i) ** 0 + abs(i) + ~i
            k += 1


@fw.kernel
def float_operators(a, b, c):
    for i in range(a.shape[0]):
        x, y = float(a[i]), float(b[i])
        c[i, 0] = x // y
        c[i, 1] = x % y
        c[i, 2] = a[i] // b[i]
        c[i, 3] = a[i] % b[i]
        c[i, 4] = x / y - x * y + (-x)
        c[i, 5] = round(x) + math.floor(y) + math.ceil(x) + int(y) + math.trunc(x)
        c[i, 6] = bool(x) + (x > y) + True


@fw.kernel
def functions(a, b):
    for i in range(a.shape[0]):
        x = a[i]
        b[i, 0] = math.sqrt(abs(x))
        b[i, 1] = np.sqrt(np.abs(x))
        b[i, 2] = np.maximum(x, 0) + np.minimum(x, 1.0)
        b[i, 3] = np.floor(x) + np.rint(x) + np.sign(x)
        b[i, 4] = math.copysign(3.0, x) + math.fabs(x)
        b[i, 5] = np.where(x > 0, x, -x * 2)
        b[i, 6] = math.degrees(x) + math.radians(x)
        b[i, 7] = np.isnan(x) + np.isfinite(x) + math.isinf(x)


@fw.kernel
def gammas(a, b):
    for i in range(a.shape[0]):
        b[i, 0] = math.gamma(a[i])
        b[i, 1] = math.lgamma(a[i])


@fw.kernel
def numpy_types(a, b):
    for i in range(a.shape[0]):
        b[i] = np.float32(a[i]) * 3 + np.int64(a[i] * 10) + np.uint8(i)


@fw.kernel
def captured(a):
    for i in range(COUNT):
        a[i] = a[i] * SCALE + OFFSETS[1] + math.pi + np.float32(0.1)


@fw.func
def clamp(value, low=0.0, high=1.0):
    if value < low:
        return low
    if value > high:
        return high
    return value


def polar(x, y):
    r = math.sqrt(x * x + y * y)
    return r, x / (r + 1)


def first_negative(a, start):
    for i in range(start, a.shape[0]):
        if a[i] < 0:
            return i
    return -1


def bump(a, i):
    a[i] += 1
    return a[i]


@fw.kernel
def inlined(a, b):
    for i in range(a.shape[0]):
        a[i] = clamp(float(a[i]), high=0.75) + clamp(float(b[i]))
        r, c = polar(a[i], b[i])
        b[i] = r - c
    k = first_negative(b, 1)
    b[0] = a[0] + bump(a, 0) * a[0]
    return k


@fw.kernel
def atomics(counts, keys, out):
    for i in range(keys.shape[0]):
        k = keys[i]
        out[i] = fw.atomic_add(counts, k, 1)
        fw.atomic_max(counts, (0,), i)
        fw.atomic_sub(counts, 1, 2)
        fw.atomic_min(counts, 2, -i)
        fw.atomic_or(counts, 3, i)
        fw.atomic_xor(counts, 4, k)
        fw.atomic_and(counts, 3, 6)


@fw.kernel
def printing(a, n):
    print("start", n, end=";\n")
    for i in range(a.shape[0]):
        print(i, a[i], i / 2, a[i] > 0, sep=", ")
        print(f"a[{i}] = {a[i]:.3f} {n!r:>5}")
    print()


@fw.kernel
def randoms(a, seed):
    for i, j in fw.ndrange(a.shape[0], a.shape[1]):
        a[i, j] = fw.random(seed, 3, i, j)
    return fw.random(1)


@fw.kernel
def locals_(a, b):
    for i in range(a.shape[0]):
        window = fw.local(3)
        count = fw.local((2, 2), np.int32)
        for k in range(3):
            window[k] = a[(i + k) % a.shape[0]]
            count[k % 2, k // 2] += k
        for k in range(1, 3):
            j = k
            while j > 0 and window[j - 1] > window[j]:
                window[j - 1], window[j] = window[j], window[j - 1]
                j -= 1
        b[i] = window[1] + count[0, 1]


@fw.kernel
def vectors(p, v, dt):
    for i in range(p.shape[0]):
        x = fw.vector(p[i, 0], p[i, 1], p[i, 2])
        d = fw.vector(v[i, 0], v[i, 1], v[i, 2])
        for _ in range(3):
            x = x + d * dt
            d = -d / 2 + x
            d[0] += 1
        x += d
        m = fw.vector((1.0, 2.0, 3.0), (0.0, 1.0, 0.5))
        y = m * x
        p[i, 0], p[i, 1], p[i, 2] = x[0], y[0, 1] + y[1, 2], abs(d)[2]


@dataclass
class State:
    x: Any
    v: Any
    scale: float


@dataclass
class World:
    state: State
    steps: int


@fw.kernel
def structs(world):
    s = world.state
    for _ in range(world.steps):
        for i in range(s.x.shape[0]):
            s.x[i] += s.v[i] * s.scale


class Solver:
    factor = 3

    def __init__(self) -> None:
        self.u = np.arange(5.0)
        self.dt = 0.5

    def rate(self, i):
        return self.u[i] * self.factor

    @fw.kernel
    def step(self, n):
        for i in range(n):
            self.u[i] += self.dt * self.rate(i)


@fw.kernel
def tuples(arrays, pair):
    a, b = arrays
    low, high = pair
    for i in range(low, high):
        a[i] += b[i] * len(pair)
    for x in (1, 2.5):
        a[0] += x


@fw.kernel
def none_default(a, b=None, k=2):
    for i in range(a.shape[0]):
        if b is not None:
            a[i] += b[i]
        else:
            a[i] *= k


@fw.kernel
def promotions(f4, i4, u1, f8, out):
    for i in range(f4.shape[0]):
        out[i, 0] = f4[i] * 0.1 + 1
        out[i, 1] = i4[i] * 2.5 + u1[i]
        out[i, 2] = i4[i] * 100000 * 100000
        out[i, 3] = u1[i] * 3 + i4[i] // 2
        out[i, 4] = f4[i] * f8[i] + i
        out[i, 5] = u1[i] < 300
        f4[i] += f8[i]
        i4[i] += 2.75
        u1[i] = u1[i] // 3 - i4[i] * 0


@fw.kernel
def literals_adapt(a, b):
    s = 0
    t = 1.0
    flag = False
    for i in range(a.shape[0]):
        s += a[i]
        t = t * b[i]
        flag = a[i] > 0
    return s, t, flag


@fw.kernel
def logical(a, b):
    for i in range(a.shape[0]):
        x = a[i] and b[i]
        y = a[i] or b[i]
        a[i] = x + 2 * y
        b[i] = not a[i]


@fw.kernel
def attributes(a, b):
    b[0] = a.size + a.ndim + a.shape[1] + len(a)
    b[1] = divmod(7, 2)[1] + divmod(b[0], 5)[0] + pow(3, 2) + min(4, 2, 3) + max(b[0], 1.0)


def pair_after(pair, a):
    a[0] = 50.0
    return pair[0] + pair[1]


@fw.kernel
def tuples_keep_their_values(a, n):
    s = 1
    for i in range(n):
        p = (a[0], s)
        s = s + 1
        a[0] += 1
        a[1] += p[0] * p[1]
        space = range(s)
        s += 1
        for _ in space:
            a[2] += 1
        for x in (a[0], s):
            a[0] = 9.0
            a[3] += x
        a[4] += pair_after((a[0], i), a)
    return s


@fw.kernel
def vectors_in_branches(a, b):
    v = fw.vector(1.0, 2.0)
    for i in range(a.shape[0]):
        if a[i] > 0:
            v = fw.vector(a[i], b[i])
        elif i % 2:
            v = v + 1
        b[i] = v[i % 2] + v[0]
