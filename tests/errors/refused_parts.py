"""Array statements inside kernels that are refused."""

import numpy as np

import fusewright as fw

A, B, M = np.arange(4.0), np.ones(4), np.ones((4, 4))
K, Z = np.arange(4), np.ones(4) * 1j


@fw.kernel
def one_array_twice(a, b):
    a[1:] = b[:-1]  # <


@fw.kernel
def other_length(a, b):
    a[:] = b  # <


@fw.kernel
def stretched_unseen(a, b):
    a[:] = a + b  # <


@fw.kernel
def other_literal_length(a):
    v = fw.local(3)
    v[:] = np.zeros(4)[1:] * a[:2]  # <


@fw.kernel
def other_rank(a, m):
    a[:] = m  # <


@fw.kernel
def too_few_names(m):
    x, y = m[0]  # <
    m[0, 0] = x + y


@fw.kernel
def chosen_by_a_branch(a, b):
    r = a
    for i in range(len(a)):
        if a[i] > 0:
            r = b  # <
    b[:] = r * 2


@fw.kernel
def chosen_by_a_condition(a, b):
    b[0] = np.sum(a if a[0] > 0 else b)  # <


@fw.kernel
def total_of_rows(m, a):
    t = m[0] * 2
    for i in range(len(m)):
        t = t[1:] + m[i, 1:]  # <
    a[:] = t


@fw.kernel
def sum_of_complex(z, a):
    a[0] = abs(z.sum())  # <


@fw.kernel
def truth_of_an_array(a):
    if a > 0:  # <
        a[0] = 1


@fw.kernel
def into_ints(k, b):
    k += b  # <


@fw.kernel
def list_into_an_array(a):
    a[:] = [1.0, 2.0, 3.0]  # <


CASES = {
    "one array twice": (one_array_twice, (A, A), "`a` is written where `b` is read"),
    "other length": (other_length, (A, np.ones(3)), "arrays of 4 and 3 elements do not fit"),
    "stretched unseen": (stretched_unseen, (A, np.ones(1)), "one element by its form"),
    "other literal length": (other_literal_length, (A,), "do not fit together"),
    "other rank": (other_rank, (A, M), "where an array of rank 1 is written"),
    "too few names": (too_few_names, (M,), "2 names for 4 items"),
    "chosen by a branch": (chosen_by_a_branch, (A, B), "on one path"),
    "chosen by a condition": (
        chosen_by_a_condition,
        (A, B),
        "choose elements: np.where(a[0] > 0, a, b)",
    ),
    "total of rows": (total_of_rows, (M, A), "and on another path of 3"),
    "sum of complex": (sum_of_complex, (Z, A), "NumPy's order of adding for real numbers"),
    "truth of an array": (truth_of_an_array, (A,), "an array is no number"),
    "into ints": (into_ints, (K, B), "into elements of int64"),
    "list into an array": (list_into_an_array, (A,), "arrays of 4 and 3 elements"),
}
