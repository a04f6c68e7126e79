"""Array statements inside kernels that are refused."""

import numpy as np

import fusewright as fw

A, B, M = np.arange(4.0), np.ones(4), np.ones((4, 4))
K, Z = np.arange(4), np.ones(4) * 1j


@fw.kernel
def both_ways(a):
    a[1:-1] = a[2:] + a[:-2]  # <


@fw.kernel
def unknown_way(a, k):
    a[k:] = a[:-k]  # <


@fw.kernel
def one_row_for_all(m):
    m[:, :] = m[0] * 2  # <


@fw.kernel
def own_transpose(m):
    m[:, :] = m.T  # <


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
def written_since(a, b):
    k = int(a[0])
    r = a[k:] * 2  # <
    a[0] = 1
    b[k:] = r


@fw.kernel
def written_in_the_loop(a, b):
    r = a[: int(b[0])] * 2  # <
    for i in range(len(r)):
        b[i] = r[i]
        a[i] = 0


@fw.kernel
def chosen_by_a_branch(a, b):
    if a[0] > 0:
        r = a * 2
    else:
        r = a * 3  # <
    b[:] = r


def fills(b):
    b[0] = 5.0
    return 1.0


@fw.kernel
def beside_a_call(a, b):
    a[:] = b * 2 + fills(b)  # <


@fw.kernel
def result(a):
    return a[int(a[0]) :] * 2


@fw.kernel
def matrix_product(a, m):
    a[:] = m @ a  # <


@fw.kernel
def float_dot(a, b):
    a[0] = a @ b  # <


@fw.kernel
def matrix_sum(m):
    m[0, 0] = m.sum()  # <


@fw.kernel
def along_an_axis(a, m):
    a[:] = np.sum(m, axis=0)  # <


@fw.kernel
def integer_mean(k, a):
    a[0] = k.mean()  # <


@fw.kernel
def into_a_computed_array(a, b):
    c = a[int(a[0]) :] + b[int(a[0]) :]
    c[0] = 1  # <


@fw.kernel
def chosen_by_a_condition(a, b):
    c = a if a[0] > 0 else b  # <
    c[0] = 1


@fw.kernel
def returned(a, b):
    a[0] = 1
    return a[int(a[0]) :] + b[int(a[0]) :]  # <


@fw.kernel
def total_of_rows(m, a):
    t = m[0] * 2
    for i in range(len(m)):
        t = t[1:] + m[i, 1:]  # <
    a[:] = t


@fw.kernel
def made_like(a):
    a[:] = np.zeros(int(a[1]))  # <


@fw.kernel
def sum_of_complex(z, a):
    a[0] = abs(z.sum())  # <


@fw.kernel
def masked(a):
    a[a > 0] = 0  # <


@fw.kernel
def table(a, k):
    a[k] = a * 2  # <


@fw.kernel
def truth_of_an_array(a):
    if a > 0:  # <
        a[0] = 1


@fw.kernel
def into_ints(k, b):
    k += b  # <


@fw.kernel
def own_elements_by_a_table(a, k):
    a[:] = a[k]  # <


@fw.kernel
def into_a_transpose(m):
    m.T[0] = 1.0  # <


@fw.kernel
def list_into_an_array(a):
    a[:] = [1.0, 2.0, 3.0]  # <


CASES = {
    "both ways": (both_ways, (A,), "`a` is read at other elements than are written"),
    "unknown way": (unknown_way, (A, 1), "no order of a loop does the same"),
    "one row for all": (one_row_for_all, (M,), "`m` is read at other elements"),
    "own transpose": (own_transpose, (M,), "`m` is read at other elements"),
    "one array twice": (one_array_twice, (A, A), "`a` is written where `b` is read"),
    "other length": (other_length, (A, np.ones(3)), "arrays of 4 and 3 elements do not fit"),
    "stretched unseen": (stretched_unseen, (A, np.ones(1)), "one element by its form"),
    "other literal length": (other_literal_length, (A,), "do not fit together"),
    "other rank": (other_rank, (A, M), "where an array of rank 1 is written"),
    "too few names": (too_few_names, (M,), "2 names for 4 items"),
    "written since": (written_since, (A, B), "is written before this use"),
    "written in the loop": (written_in_the_loop, (A, B), "is written before this use"),
    "chosen by a branch": (chosen_by_a_branch, (A, B), "on one path"),
    "beside a call": (beside_a_call, (A, B), "beside a call that writes to arrays"),
    "computed result": (result, (A,), "a kernel cannot return a computed array"),
    "matrix product": (matrix_product, (A, M), "@ of arrays"),
    "float dot": (float_dot, (A, B), "@ of arrays"),
    "matrix sum": (matrix_sum, (M,), "np.sum of an array of float64, rank 2"),
    "along an axis": (along_an_axis, (A, M), "np.sum with more than the array"),
    "integer mean": (integer_mean, (K, A), "np.mean of int64"),
    "into a computed array": (into_a_computed_array, (A, B), "it has no memory"),
    "chosen by a condition": (
        chosen_by_a_condition,
        (A, B),
        "choose elements: np.where(a[0] > 0, a, b)",
    ),
    "returned": (returned, (A, B), "write into an array that is an argument"),
    "total of rows": (total_of_rows, (M, A), "t[:] = ... on both paths"),
    "made like": (made_like, (A,), "the most it can be"),
    "sum of complex": (sum_of_complex, (Z, A), "NumPy's order of adding for real numbers"),
    "masked": (masked, (A,), "np.where(condition, x, a)"),
    "table": (table, (A, K), "loop over it"),
    "truth of an array": (truth_of_an_array, (A,), "an array is no number"),
    "into ints": (into_ints, (K, B), "into elements of int64"),
    "own elements by a table": (own_elements_by_a_table, (A, K), "read at other elements"),
    "into a transpose": (into_a_transpose, (M,), "an assignment to a part of a computed array"),
    "list into an array": (list_into_an_array, (A,), "arrays of 4 and 3 elements"),
}
