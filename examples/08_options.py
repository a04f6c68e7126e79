"""Options: for a block of code, for the process, or from the environment.

`fw.options(...)` holds inside its block; `FUSEWRIGHT_THREADS=1` and the like set defaults.
"""

import fusewright as fw
import fusewright.numpy as np

x = np.arange(100_000.0)

with fw.options(threads=1, features="avx2"):  # one thread, 256-bit vectors
    narrow = float(np.sin(x).sum())
assert narrow == float(np.sin(x).sum())  # the same bits as with all threads and all features

# strict=True: what would run as an uncompiled step in NumPy is an error at your line.
with fw.options(strict=True):
    try:
        np.apply_along_axis(sum, 0, x)
    except fw.FusewrightError as error:
        print(error)
    else:
        raise AssertionError("apply_along_axis calls any Python function")

# The reference target computes every operation on its own, with NumPy: the oracle.
with fw.options(target="reference"):
    assert abs(float(np.sin(x).sum()) - narrow) < 1e-9

try:
    with fw.options(thread=1):  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
        pass
except fw.FusewrightError as error:
    print(error.what, "-", error.help)
