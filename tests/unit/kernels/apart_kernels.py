"""Names that stand for other arrays, types or functions on other paths."""

from __future__ import annotations

from typing import Any

import numpy as np

import fusewright as fw


@fw.kernel
def doubled(a: Any, n: Any) -> Any:
    for _ in range(n):
        a = a * 2
    return a


@fw.kernel
def written_before(a: Any, n: Any) -> Any:
    for i in range(n):
        a[0] = i + 7
        a = a + 1
    a[-1] = 5
    return a


@fw.kernel
def until(a: Any, n: Any) -> Any:
    k = 0
    while k < n:
        a = a[1:] * 0.5 + a[:-1] if False else a * 0.5
        k += 1
    return a, k


@fw.kernel
def steps(a: Any, n: Any) -> Any:
    total = 0.0
    for i in range(n, 0, -2):
        a = a + i
        total += a[0] * i
    return a, total, i if n > 0 else -1


@fw.kernel
def turned(a: Any, c: Any) -> Any:
    if c > 0:
        a = a[::-1]
    s = 0.0
    for i in range(len(a)):
        s += a[i] * i
        a[i] = s
    return s


@fw.kernel
def either(a: Any, b: Any, c: Any) -> Any:
    x = a if c > 0 else b
    for i in range(len(x)):
        x[i] += 1
    return x.sum()


@fw.kernel
def neither(a: Any, b: Any, c: Any) -> Any:
    if c > 1:
        x, y = a, b
    elif c > 0:
        x, y = b, a
    else:
        x = y = a.copy()
    x[0] = 3
    y[1] = x[0] + y[0]
    return x, y


@fw.kernel
def halved(n: Any) -> Any:
    x = n
    for _ in range(n):
        x = x / 2
    return x


@fw.kernel
def of_types(a: Any, c: Any) -> Any:
    x = c
    if a[0] > 0.5:
        x = a[1]
    y = c if c > 2 else 0.5 * c
    return x * 2, y


@fw.kernel
def in_a_loop(a: Any, n: Any) -> Any:
    s = 0.0
    for i in range(n):
        if i % 3 == 0:
            w = i
        elif i % 3 == 1:
            w = float(a[0])
        else:
            w = i * 0.5
        s += w * 2
    return s


def square(x: Any) -> Any:
    return x * x


def cube(x: Any) -> Any:
    return x * x * x


@fw.kernel
def functions(a: Any, c: Any) -> Any:
    f = square
    if c > 2:
        f = cube
    b = np.empty_like(a)
    for i in range(len(a)):
        b[i] = f(a[i])
    return b


@fw.kernel
def of_functions(a: Any, c: Any) -> Any:
    f = square if c > 2 else cube
    return f(a) + f(c)


@fw.kernel
def computed_then_exchanged(m: Any, n: Any) -> Any:
    t = m.copy()
    s = np.zeros_like(m)
    for _ in range(n):
        for i in range(1, m.shape[0] - 1):
            for j in range(1, m.shape[1] - 1):
                s[i, j] = 0.25 * (t[i - 1, j] + t[i + 1, j] + t[i, j - 1] + t[i, j + 1])
        t, s = s, t
    return t


@fw.kernel
def rows_exchanged(m: Any) -> Any:
    before = m[0].copy()
    now = np.zeros(m.shape[1])
    for i in range(1, m.shape[0]):
        now[0] = i
        for j in range(1, m.shape[1]):
            now[j] = min(before[j], now[j - 1]) + m[i, j]
        before, now = now, before
    return before[-1]


@fw.kernel
def exchanged_inside(m: Any, n: Any) -> Any:
    a, b = m * 1.0, m * 0.5
    for i in range(1, n + 1, 2):
        c, d = m + 1, m - 1
        for j in range(n, 0, -1):
            c[0] = d[1] * 0.5 + j
            c, d = d, c
        a[1] = b[0] + c[0] + i
        a, b = b, a
    return a, b


@fw.kernel
def made_in_each_step(a: Any, n: Any) -> Any:
    for _ in range(n):
        new = np.zeros_like(a)
        for i in range(1, len(a) - 1):
            new[i] = (a[i - 1] + a[i + 1]) / 2
        a = new
    return a


@fw.kernel
def noted(a: Any, n: Any) -> Any:
    seen = np.zeros((n + 1, len(a)))
    seen[0] = a
    ends = np.zeros(n)
    for i in range(n):
        a = a * 0.5 + seen[0]
        seen[i + 1] = a
        ends[i] = a[-1]
    if n > 0:
        a[0] = 99
    return seen, ends


def slopes(state: Any, scale: Any = 1.0) -> Any:
    return np.array([state[1], -state[0] * scale, state[2]])


@fw.kernel
def runge_kutta(y: Any, n: Any, h: Any) -> Any:
    path = np.zeros((n, 3))
    for i in range(n):
        k1 = slopes(y)
        k2 = slopes(y + h / 2 * k1, scale=2.0)
        k3 = slopes(y + h / 2 * k2, 0.5)
        k4 = slopes(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path[i] = y
    return path


@fw.kernel
def falling(s: Any) -> Any:
    return np.array([s[2], s[0], -s[1]])


@fw.kernel
def euler(y: Any, n: Any) -> Any:
    def turned(s: Any) -> Any:
        return np.array([s[1], -s[0], s[2]])

    for _ in range(n):
        y = y + 0.125 * turned(y)
    for _ in range(n):
        y = y + 0.125 * falling(y)
    return y


def same(x: Any) -> Any:
    return x


@fw.kernel
def returned_by_a_function(a: Any, n: Any) -> Any:
    kept = a * 1.0
    for i in range(n):
        kept = same(a)
        a = a + 1.0
        a[0] = i
    return kept, a


@fw.kernel
def handed_over_on_one_path(a: Any, c: Any) -> Any:
    own = np.zeros_like(a) + 3
    if c > 0:
        a = own
    else:
        a = np.ones_like(a)
        a[0] += own.sum()
    return a
