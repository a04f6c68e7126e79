"""A kernel for each piece of the language."""

from __future__ import annotations

import fusewright as fw

SCALE = 2.5
COUNT = 3
OFFSETS = (1, -2, 4)


# -- loops ----------------------------------------------------------------------------------------


@fw.kernel
def axpy(a, x, y):
    for i in range(len(x)):
        y[i] = a * x[i] + y[i]


@fw.kernel
def ranges(a, n):
    for i in range(2, n):
        a[0] += i
    for i in range(n, 0, -2):
        a[1] += i * i
    for i in range(-3, n, 2):
        a[2] = a[2] * 3 + i
    for i in range(n, -1, -1):
        a[3] = a[3] * 3 + i


@fw.kernel
def dynamic_step(a, low, high, step):
    k = 0
    for i in range(low, high, step):
        a[k] = i
        k += 1
    return k


@fw.kernel
def nest(a):
    for i, j in fw.ndrange(a.shape[0], (1, a.shape[1])):
        a[i, j] = 10 * i + j + a[i, j - 1]


@fw.kernel
def nest_by_axes(a, order):
    k = 0
    for i, j, m in fw.ndrange(2, 3, (1, 3), axes=(2, 0, 1)):
        a[i, j, m] = k
        k += 1  # noqa: SIM113
    for at in fw.grouped(fw.ndrange(*order)) if False else fw.grouped(fw.ndrange(2, 2, 2)):
        a[at] += 100


@fw.kernel
def grouped(a, b):
    for at in fw.grouped(fw.ndrange(a.shape[0], a.shape[1])):
        b[at] = 2.0 * a[at] + at[0] - at[1]


@fw.kernel
def loop_variable_after(a, n):
    i = -1
    for i in range(n):
        a[i] = i
    return i


@fw.kernel
def loop_variable_changed(a, n):
    for i in range(n):
        a[i] = i
        i = i * 2
        a[0] += i


@fw.kernel
def whiles(a, n):
    k = n
    steps = 0
    while k != 1 and steps < 200:
        if k % 2 == 0:
            k = k // 2
        else:
            k = 3 * k + 1
        steps += 1
    a[0] = steps
    return steps, k


@fw.kernel
def leaving(a, b, limit):
    for i in range(a.shape[0]):
        if a[i] < 0:
            continue
        total = 0.0
        for j in range(b.shape[0]):
            if j == 2:
                k = b[j]
                if k > 0.5:
                    continue
            if total > limit:
                break
            total += b[j] * a[i]
        if total > 1e3:
            return
        a[i] = total


@fw.kernel
def endless(a):
    n = 0
    while True:
        n += 1
        if a[0] + n > 10:
            break
        a[1] += n
    return n


@fw.kernel
def triangle(a):
    for i in range(a.shape[0]):
        for j in range(i):
            for k in range(j, i):
                a[i, j] += i - j * k


@fw.kernel
def static_loops(a, n, flag):
    for j in fw.static(range(3)):
        a[j] += j * n
    for offset in fw.static(OFFSETS):
        a[0] += offset
    for i, j in fw.static(fw.ndrange(2, 2)):
        a[i + j] *= 2
    if fw.static(flag):
        a[3] = -1
    total = 0
    for k in fw.static(range(fw.static(n))):
        if a[k] > 5:
            continue
        if k == 3:
            break
        total += a[k]
    return total


@fw.kernel
def bound_read_once(a):
    for i in range(a[0]):
        a[0] = 1
        a[i + 1] = i


@fw.kernel
def swap(a, n):
    x, y = 0, 1
    for i in range(n):
        a[i] = x
        x, y = y, x + y
    return x


@fw.kernel
def unrolled_exits(a, n):
    for i in range(a.shape[0]):
        x = 0
        for k in fw.static(range(3)):
            if i > k:
                if a[i] > 0:
                    continue
                x += 1
            x += k * n
            if x > 4:
                break
        a[i] = x


@fw.kernel
def inner(a, i, k):
    for j in range(k):
        a[i] += j
    return a[i]


@fw.kernel
def calls_a_kernel(a):
    for i in range(a.shape[0]):
        a[i] = inner(a, i, i % 3) * 2
