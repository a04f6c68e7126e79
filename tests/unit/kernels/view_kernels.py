"""Kernels with arrays in other forms: reshaped, flat, transposed, with dims of one element."""

from __future__ import annotations

from typing import Any

import numpy as np

import fusewright as fw


@fw.kernel
def live(a: Any) -> Any:
    """A view shows what is written later."""
    turned, tall, long = a.T, a[:, :, None], a.reshape(-1)
    a[0, 1] = 50
    long[2] += 7
    return turned[1, 0], tall[0, 1, 0], long[1], a


@fw.kernel
def forms(a: Any, n: Any) -> Any:
    b = a.reshape(n, -1)
    b[0, 1] = 9
    c = np.ravel(b)
    c[2] += 4
    d = a.flatten()
    a[0, 0] = 100
    for i in range(a.size):
        a.flat[i] += i
    e = np.expand_dims(c, 1) * np.atleast_2d(a)[0]
    return b, c, d, e, b[1:].T, np.swapaxes(a, 0, 1)[1:, 0], np.moveaxis(a, 0, -1) + 1


@fw.kernel
def in_place(a: Any, b: Any) -> Any:
    a.T[1:] *= 2
    a.reshape(-1)[1::2] = b.ravel()[: a.size // 2]
    b.flat = 3
    b[1:].T.fill(4.0)
    for place in np.ndindex(a.shape):
        a[place] += place[0] - place[1]
    return np.flip(a), np.flipud(a), np.fliplr(a)[0], np.squeeze(a[:1], 0), np.squeeze(a[:, :1], 1)


@fw.kernel
def rounds(a: Any) -> Any:
    """There and back."""
    return np.array([1, 2, 3, 4, 5, 6]).reshape(2, 3), a.reshape((-1, 2)).T.flatten(), a.T.T


@fw.kernel
def sum_of_flat(a: Any) -> Any:
    total = 0.0
    for x in a.flat:
        total += x
    for row in a.T:
        total = total * 2 + row[0]
    return total, a.ravel()[::-1]


@fw.kernel
def pairs(x: Any) -> Any:
    apart = x.reshape(x.shape[0], 1, x.shape[1]) - x.reshape(1, x.shape[0], x.shape[1])
    out = np.empty(apart.shape[:2], apart.dtype)
    for place in np.ndindex(out.shape):
        out[place] = (apart[place] * apart[place]).max()
    return out


@fw.kernel
def of_numbers(x: Any) -> Any:
    return np.atleast_1d(x), np.atleast_2d(x)[0, 0], np.ravel(x)


@fw.kernel
def returned_views(a: Any) -> Any:
    return a.T, a.reshape(-1), a[:, None], a[1:].T[:, 0]


@fw.kernel
def misfit(a: Any, n: Any) -> Any:
    return a.reshape(n, -1)[0, 0]


@fw.kernel
def unsure(a: Any) -> Any:
    b = a.reshape(-1)
    b[0] = 1
    return a


@fw.kernel
def unsure_later(a: Any) -> Any:
    b = a.reshape(-1)
    a[0, 0] = 1
    return b[0]


@fw.kernel
def unknown_axis(a: Any, k: Any) -> Any:
    return np.expand_dims(a, k)


@fw.kernel
def squeezed(a: Any) -> Any:
    return np.squeeze(a)


@fw.kernel
def two_open(a: Any) -> Any:
    return a.reshape(-1, -1)


@fw.kernel
def of_computed(a: Any) -> Any:
    """Forms of a computed array share its memory."""
    c = a * 2
    d = c.T
    d[0] = 5
    e = c[1:]
    e += 1
    f = c.reshape(-1)[::2]
    f[1] = -3
    g = (a + 1)[1:]
    g[0, 0] = 100
    return c, d, e, f, g, a


@fw.kernel
def parts_of_complex(z: Any) -> Any:
    """They show what is written later."""
    x, y = z.real, np.imag(z)[1:]
    z[0] = 5 + 2j
    z[1:] *= 2
    return x, y, x.T + 1


@fw.kernel
def into_a_part(z: Any) -> None:
    z.real[0] = 1


@fw.kernel
def into_a_named_part(z: Any) -> None:
    x = z.imag
    x += 1
