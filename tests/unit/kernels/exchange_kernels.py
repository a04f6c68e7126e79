"""Loops whose arrays change names, results that differ in kind, arrays changed in place; what each
means CPython says.
"""

from __future__ import annotations

import numpy as np


def smoothed(a, b, n):
    for _ in range(n):
        for i in range(1, a.shape[0] - 1):
            b[i] = 0.25 * a[i - 1] + 0.5 * a[i] + 0.25 * a[i + 1]
        a, b = b, a
    return a


def by_a_third_name(a, b, n):
    for t in range(n):
        for i in range(1, a.shape[0] - 1):
            b[i] = a[i - 1] + a[i + 1] + t
        kept = a
        a = b
        b = kept
    for i in range(a.shape[0]):
        a[i] *= 2


def round_of_three(a, b, c, n):
    for t in range(2, n, 3):
        for i in range(a.shape[0]):
            c[i] = 2 * a[i] - b[i] + t
        b, a, c = a, c, b
    return a, b


def until_it_settles(a, b, tolerance):
    error, k = tolerance + 1.0, 0
    while error > tolerance:
        error = 0.0
        for i in range(1, a.shape[0] - 1):
            b[i] = 0.5 * (a[i - 1] + a[i + 1])
            error += abs(b[i] - a[i])
        a, b = b, a
        k += 1
        if k > 7:
            break
    return a, k


def left_early(n):
    u, v = np.zeros(8), np.ones(8)
    u[0] = 1
    for t in range(n):
        for i in range(1, 7):
            v[i] = u[i - 1] + u[i + 1]
        u, v = v, u
        if u[3] + t > 20:
            break
    else:
        u[0] = 99
    return u


def twice(a, b, n):
    for _ in range(n):
        b[:] = a + 1
        a, b = b, a
    for _ in range(n + 1):
        b[:] = a * 2
        a, b = b, a
    return a


def returned_inside(a, b, n):
    for t in range(n, 0, -1):
        b[:] = a * 2 + t
        if b[0] > 1e3:
            return b
        a, b = b, a
    return a, b


def exchanged_first(a, b, n):
    for t in range(n):
        a, b = b, a
        for i in range(a.shape[0]):
            b[i] = a[i] + t
    a[0] = -1


EXCHANGES = {
    smoothed: (2, range(6)),
    by_a_third_name: (2, range(6)),
    round_of_three: (3, range(14)),
    until_it_settles: (2, (5.0, 0.1, 0.01, 100.0)),
    left_early: (0, range(8)),
    twice: (2, range(5)),
    returned_inside: (2, (0, 1, 2, 3, 4, 20)),
    exchanged_first: (2, range(5)),
}
"""How many arrays each takes, and the numbers to try."""


def three_types(x, a):
    if x > 2:
        return np.float32(a[0])
    if x > 1:
        return np.float64(7)
    return 0


def bare(x, a):
    if x > 0:
        return None
    return a[0]


def at_the_end(x, a):  # noqa: RET503
    if x > 0:
        return a[1] * 2


def none_or_array(x, a):
    if x > 0:
        return None
    return a * 2


def one_of_two(x, a, b):
    if x > 0:
        return a
    return b


def tuples_and_numbers(x, a, b):
    if x > 0:
        return a, 1
    if x < 0:
        return b, 2.5
    return -1


def first_above(x, a):
    for i in range(a.shape[0]):
        if a[i] > x:
            return i
    return None


def no_result(x, a):
    if x > 0:
        return
    a[0] = x


RESULTS = (
    three_types, bare, at_the_end, none_or_array, one_of_two, tuples_and_numbers, first_above,
    no_result,
)  # fmt: skip


def tripled(values):
    values *= 3


def itself(values):
    return values


def other_name(a, out):
    y = a * 2
    z = y
    y += 1
    out[:] = z


def part_of_it(a, out):
    y = a * 2
    v = y[1:]
    y += 1
    out[1:] = v


def by_a_function(a, out):
    y = a * 2
    tripled(y)
    out[:] = y


def given_back(a, out):
    y = a * 2
    z = itself(y)
    y += 1
    out[:] = z


def in_a_tuple(a, out):
    y = a * 2
    pair = (y, 1.0)
    y += 1
    out[:] = pair[0]


def in_a_loop(a, out):
    y = a * 2
    for k in range(3):
        y += k
    out[:] = y


def of_its_type(a, out):
    y = a * 2
    y += out
    out[:] = y * (1.0 / 3)


IN_PLACE = (
    other_name, part_of_it, by_a_function, given_back, in_a_tuple, in_a_loop, of_its_type,
)  # fmt: skip


def steps(a):
    n, m = 2, len(a)
    return np.arange(m), np.arange(n, m), np.arange(m, n, -2), np.arange(n, m, 3)


def differences(a):
    return np.diff(a), np.cumsum(a)


def places(a):
    return np.flatnonzero(a > 0), np.nonzero(a > 0)[0], np.where(a > 0)[0]


def masked(a):
    chosen = a[a > 0]
    return chosen, len(chosen), chosen.sum()


def different(a):
    found = np.unique(np.round(a))
    total = 0.0
    for x in found:
        total += x
    return found, len(found), total > 0


def middle(a):
    return np.median(a)


def joined(a):
    return np.concatenate((a, a[1:], np.arange(3)))


def middle_of_some(a):
    return np.sort(a[a > -1]), np.median(a[a > -1])


LIBRARY = (steps, differences, places, masked, different, middle, joined, middle_of_some)
