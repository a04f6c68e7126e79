"""Array statements that need memory of their own: what is read is written, sizes are found on the
way, elements are chosen by masks and tables.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import fusewright as fw


def fills(b: Any) -> Any:
    b[0] = 5.0
    return 1.0


@fw.kernel
def both_ways(a: Any) -> Any:
    a[1:-1] = a[2:] + a[:-2]


@fw.kernel
def unknown_way(a: Any, k: Any) -> Any:
    a[k:] = a[:-k]


@fw.kernel
def one_row_for_all(m: Any) -> Any:
    m[:, :] = m[0] * 2


@fw.kernel
def own_transpose(m: Any) -> Any:
    m[:, :] = m.T


@fw.kernel
def written_since(a: Any, b: Any) -> Any:
    k = int(a[0])
    r = a[k:] * 2
    a[0] = 1
    b[k:] = r


@fw.kernel
def written_in_the_loop(a: Any, b: Any) -> Any:
    r = a[: int(b[0])] * 2
    for i in range(len(r)):
        b[i] = r[i]
        a[i] = 0


@fw.kernel
def beside_a_call(a: Any, b: Any) -> Any:
    a[:] = b * 2 + fills(b)


@fw.kernel
def result(a: Any) -> Any:
    return a[int(a[0]) :] * 2


@fw.kernel
def matrix_product(a: Any, m: Any) -> Any:
    a[:] = m @ a


@fw.kernel
def float_dot(a: Any, b: Any) -> Any:
    a[0] = a @ b


@fw.kernel
def matrix_sum(m: Any) -> Any:
    m[0, 0] = m.sum()


@fw.kernel
def along_an_axis(a: Any, m: Any) -> Any:
    a[:] = np.sum(m, axis=0)


@fw.kernel
def integer_mean(k: Any, a: Any) -> Any:
    a[0] = k.mean()


@fw.kernel
def into_a_computed_array(a: Any, b: Any) -> Any:
    c = a[int(a[0]) :] + b[int(a[0]) :]
    c[0] = 1


@fw.kernel
def returned(a: Any, b: Any) -> Any:
    a[0] = 1
    return a[int(a[0]) :] + b[int(a[0]) :]


@fw.kernel
def masked(a: Any) -> Any:
    a[a > 0] = 0


@fw.kernel
def table(a: Any, k: Any) -> Any:
    a[k] = a * 2


@fw.kernel
def own_elements_by_a_table(a: Any, k: Any) -> Any:
    a[:] = a[k]


@fw.kernel
def into_a_transpose(m: Any) -> Any:
    m.T[0] = 1.0


@fw.kernel
def made_like(a: Any) -> Any:
    a[:] = np.zeros(int(a[-1]) + 1)
