"""A photograph is blurred, sharpened with a mask, and toned."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
y, x = np.mgrid[0:n, 0:n].astype(np.float32) / np.float32(n)
photo = 0.5 + 0.25 * np.sin(40 * x * y) + 0.25 * np.cos(25 * (x - y))


def blurred(a):
    """Binomial weights over 5 rows, then over 5 columns."""
    rows = (a[:-4] + a[4:] + 4 * (a[1:-3] + a[3:-1]) + 6 * a[2:-2]) / 16
    across = rows[:, :-4] + rows[:, 4:] + 4 * (rows[:, 1:-3] + rows[:, 3:-1])
    return (across + 6 * rows[:, 2:-2]) / 16


soft = blurred(photo)
detail = photo[2:-2, 2:-2] - soft
sharp = photo[2:-2, 2:-2] + 12 * detail * (1 + photo[2:-2, 2:-2])
toned = np.clip(sharp, 0, 1)
image = toned * toned * (3 - 2 * toned)
__results__ = ["image"]
