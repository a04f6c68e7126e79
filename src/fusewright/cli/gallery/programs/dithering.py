"""Floyd-Steinberg dithering: each pixel hands its rounding error on, so the order counts.

A loop over elements.  `plain` runs the same function in Python.
"""

import sys

import numpy as np

import fusewright as fw


@fw.kernel
def dither(a):
    rows, columns = a.shape
    for i in range(rows - 1):
        for j in range(1, columns - 1):
            old = a[i, j]
            a[i, j] = 1.0 if old > 0.5 else 0.0
            error = old - a[i, j]
            a[i, j + 1] += error * 7 / 16
            a[i + 1, j - 1] += error * 3 / 16
            a[i + 1, j] += error * 5 / 16
            a[i + 1, j + 1] += error / 16


n = int(sys.argv[1]) if len(sys.argv) > 1 else 800
y, x = np.mgrid[0:n, 0:n] / n
picture = np.array(0.5 + 0.3 * np.sin(9 * x) * np.cos(7 * y) + 0.2 * np.sin(14 * (x - y)))
(dither.__wrapped__ if "plain" in sys.argv else dither)(picture)
image = picture[:192, :192]
__results__ = ["picture"]
