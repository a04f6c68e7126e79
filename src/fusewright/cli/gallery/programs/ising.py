"""The Ising model just below its critical temperature, by turns on a chequerboard."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 512
rng = np.random.default_rng(6)
spins = np.where(rng.random((n, n)) < 0.5, -1.0, 1.0)
row, column = np.mgrid[0:n, 0:n]
black = (row + column) % 2 == 0
for _ in range(60):
    for colour in (black, ~black):
        around = np.roll(spins, 1, 0) + np.roll(spins, -1, 0)
        around = around + np.roll(spins, 1, 1) + np.roll(spins, -1, 1)
        chance = np.exp(-2.0 * spins * around / 2.2)
        flips = colour & (rng.random((n, n)) < chance)
        spins = np.where(flips, -spins, spins)
image = spins[:192, :192]
__results__ = ["image"]
