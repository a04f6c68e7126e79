"""A Julia set, point by point: each stops when its own path has left.

A loop over elements.  `plain` runs the same function in Python.
"""

import sys

import numpy as np

import fusewright as fw


@fw.kernel
def julia(steps, cx, cy):
    n = steps.shape[0]
    for i in range(n):
        for j in range(n):
            x, y = 3.2 * j / n - 1.6, 3.2 * i / n - 1.6
            k = 0
            while k < 120 and x * x + y * y < 4.0:
                x, y = x * x - y * y + cx, 2.0 * x * y + cy
                k += 1
            steps[i, j] = k


n = int(sys.argv[1]) if len(sys.argv) > 1 else 384
steps = np.zeros((n, n))
(julia.__wrapped__ if "plain" in sys.argv else julia)(steps, -0.7269, 0.1889)
image = np.log(steps + 1.0)
__results__ = ["steps"]
