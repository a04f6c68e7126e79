"""One kernel for each of the known traps of fusing loops that the table of pairs cannot show
(numbers 89 to 104), each two loops or more.
"""

from __future__ import annotations

import math

import numpy as np

import fusewright as fw


@fw.kernel
def contraction(a, b, c):
    for i in range(a.shape[0]):
        b[i] = a[i] * a[i]
    for i in range(a.shape[0]):
        c[i] = b[i] + c[i]


@fw.kernel
def narrow_between(a, b, c):
    for i in range(a.shape[0]):
        b[i] = a[i] * 3.7
    for i in range(a.shape[0]):
        c[i] = b[i] * 2.0 + a[i]


@fw.kernel
def order_of_sums(a, b):
    s = 0.0
    for i in range(a.shape[0]):
        b[i] = a[i] * 1.5
    for i in range(a.shape[0]):
        s += b[i]
    return s


@fw.kernel
def extremes(a, b, c):
    for i in range(a.shape[0]):
        b[i] = max(a[i], 0.0)
    for i in range(a.shape[0]):
        c[i] = min(b[i], -0.0) + np.minimum(a[i], c[i])


@fw.kernel
def returning(a, b):
    for i in range(a.shape[0]):
        b[i] = a[i] + 1
    for i in range(a.shape[0]):
        if b[i] > 4:
            return i
        b[i] = -1
    return -1


@fw.kernel
def scalar_between(a, b):
    for i in range(a.shape[0]):
        a[i] += 1
    s = a[5]
    for i in range(a.shape[0]):
        a[i] = b[i] + s
    return s


@fw.kernel
def twice_the_same(state, a, b):
    for i in range(1, a.shape[0]):
        state.x[i] = b[i]
    for i in range(1, a.shape[0]):
        b[i] = a[i - 1]


@fw.kernel
def reversed_view(a, r):
    for i in range(a.shape[0]):
        a[i] = i
    for i in range(a.shape[0]):
        r[i] += 10 * a[i]


@fw.kernel
def rebound(a, b, c):
    for i in range(a.shape[0]):
        a[i] = b[i] * 2
    a = c
    for i in range(a.shape[0]):
        a[i] = b[i] + a[i]


@fw.kernel
def with_effects(a, b):
    for i in range(3):
        a[i] += 1
        print("first", i, a[i])
    for i in range(3):
        b[i] = a[i]
        print("second", i, b[i])


@fw.kernel
def variable_after(a, b, n):
    i = 0
    for i in range(n):
        a[i] = i
    for j in range(n):
        b[j] = a[j] + i
    return i


@fw.kernel
def bound_redefined(a, b, n):
    for i in range(n):
        a[i] = 1
    for i in range(n):
        n = 3
        b[i] = a[i] + n
    return n


@fw.kernel
def undefined_later(a, b, k):
    for i in range(a.shape[0]):
        a[i] = i - 4
    for i in range(a.shape[0]):
        b[i] = np.left_shift(a[i], k) + np.floor_divide(b[i], a[i])


@fw.kernel
def large_ranges(a, n):
    """More than 2**31 pairs, left after a few."""
    count = 0
    for i, j in fw.ndrange(n, n):
        count += i + j
        if i * n + j > 40:
            break
    for i in range(a.shape[0]):
        a[i] = count
    return count


@fw.kernel
def other_type(a, b):
    for i in range(a.shape[0]):
        a[i] = 1.5 * i
    for i in range(a.shape[0]):
        b[i] += 1


def chain(length: int) -> str:
    """The source of a kernel of many loops."""
    lines = ["import fusewright as fw", "", "", "@fw.kernel", "def kernel(a, b):"]
    for k in range(length):
        source, target = ("a", "b") if k % 2 else ("b", "a")
        lines += [
            "    for i in range(1, a.shape[0]):",
            f"        {target}[i] = {source}[i] * 0.5 + {math.sqrt(k + 1)!r}",
        ]
    return "\n".join(lines) + "\n"


@fw.kernel
def returning_in_order(a, b):
    """Both loops run in order anyway, so nothing but the return keeps them apart."""
    for i in range(1, a.shape[0]):
        a[i] += a[i - 1]
    for i in range(1, a.shape[0]):
        b[i] += b[i - 1]
        if b[i] > 9:
            return i
    for i in range(1, a.shape[0]):
        a[i] = a[i - 1] + b[i]
    return -1


@fw.kernel
def leaving_two_loops(m, a):
    """The second inner loop ends the outer one; the first has always run to its end."""
    n = 0
    for i in range(m.shape[0]):
        for j in range(1, m.shape[1]):
            m[i, j] += m[i, j - 1]
        for j in range(1, m.shape[1]):
            a[j] += m[i, j] + a[j - 1]
            if a[j] > 60:
                return n
        n += 1
    return n


@fw.kernel
def bound_used_inside(a, t, x):
    """The body's only use of a variable is the expression that is the loop's own bound, too."""
    n = int(t[0])
    for i in range(n):
        a[i] = x
        for j in range(1, n):
            a[i] += j


@fw.kernel
def bound_stored(a, t, x):
    n = t[0]
    for i in range(n):
        a[i] = n


@fw.kernel
def outer_index_as_bound(m, a):
    for i in range(m.shape[0]):
        s = 0.0
        for k in range(m.shape[0]):
            s += m[i, k]
        a[i] = s
        for j in range(i, m.shape[1]):
            m[i, j] = s
            for k in range(i, j):
                m[i, j] += k


@fw.kernel
def one_iteration_acts(a, b):
    """Nothing carries over in a loop of one iteration, and yet it prints, checks and leaves."""
    for i in range(1, 2):
        a[i] = 3
        for j in range(i, a.shape[0]):
            print(j, b[j])
    for i in range(2, 3):
        a[i] = i
        for j in range(a.shape[0]):
            b[j] = j
        if b[0] == 0:
            return 1
    return 0
