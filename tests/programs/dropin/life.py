"""The game of life with roll, and with slices of a padded board."""

import numpy as np

__results__ = ["board", "alive", "bordered"]

rng = np.random.default_rng(0)
board = (rng.random((40, 50)) < 0.3).astype(np.uint8)
bordered = np.pad(board, 1)
alive = []


def neighbours(b):
    return sum(
        np.roll(np.roll(b, dy, 0), dx, 1)
        for dy in (-1, 0, 1)
        for dx in (-1, 0, 1)
        if (dy, dx) != (0, 0)
    )


for _ in range(15):
    count = neighbours(board)
    board = ((count == 3) | ((board == 1) & (count == 2))).astype(np.uint8)
    inner = bordered[1:-1, 1:-1]
    around = (
        bordered[:-2, :-2]
        + bordered[:-2, 1:-1]
        + bordered[:-2, 2:]
        + bordered[1:-1, :-2]
        + bordered[1:-1, 2:]
        + bordered[2:, :-2]
        + bordered[2:, 1:-1]
        + bordered[2:, 2:]
    )
    birth = (around == 3) & (inner == 0)
    survive = ((around == 2) | (around == 3)) & (inner == 1)
    bordered[...] = 0
    bordered[1:-1, 1:-1][birth | survive] = 1
    alive.append(int(board.sum()))
