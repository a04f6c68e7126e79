"""Functions as people write them for Numba: new arrays, returned ones, an error that is raised.

Write `@fw.kernel` where `@njit` stands.  The meaning is the Python function's own; what may run on
threads and in vectors is found out, so there is no `prange`.
"""

import time

import numpy as np

import fusewright as fw


@fw.kernel
def peaks(signal: fw.Array, width: int, least: float) -> tuple[fw.Array, fw.Array]:
    """The places that rise above all others within `width`, and a smoothed signal."""
    if width < 1:
        raise ValueError("width must be positive")
    n = len(signal)
    smooth = np.empty(n)  # of a size that follows from the arguments
    for i in range(n):
        total = 0.0
        for k in range(max(0, i - width), min(n, i + width + 1)):
            total += signal[k]
        smooth[i] = total / (2 * width + 1)
    places = np.empty(n, dtype=np.int64)
    count = 0
    for i in range(width, n - width):
        if smooth[i] > least and smooth[i] == smooth[i - width : i + width + 1].max():
            places[count] = i
            count += 1
    return places[:count], smooth  # as many as there are


signal = np.sin(np.arange(20_000) * 0.01) ** 3 + np.cos(np.arange(20_000) * 0.07) * 0.1
start = time.perf_counter()
places, smooth = peaks.__wrapped__(signal, 4, 0.5)
python = time.perf_counter() - start
peaks(signal, 4, 0.5)  # compiles
start = time.perf_counter()
found, same = peaks(signal, 4, 0.5)
compiled = time.perf_counter() - start
assert np.array_equal(found, places)
assert np.array_equal(same, smooth)
print(f"{len(places)} peaks; the same bits as Python")
try:
    peaks(signal, 0, 0.5)
except ValueError as error:
    print("raised:", error)
print(f"Python {1e3 * python:.0f} ms, kernel {1e3 * compiled:.2f} ms")
