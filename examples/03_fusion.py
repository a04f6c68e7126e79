"""The same bits, fused or not.

Fusion changes which loops run, never a result: not with several threads, not with wider vectors.
"""

import fusewright as fw
import fusewright.numpy as np


def wave(t: fw.Array) -> fw.Array:
    return np.sin(t) * np.exp(-t / 3) + np.where(t > 5, t * t, 1 / (t + 1))


t = fw.evaluate(np.linspace(0.0, 10.0, 100_000))

with fw.options(fuse=True):
    together = wave(t)
    print("fused:")
    print(fw.show(together))
    fused_bytes = fw.explain(together).bytes_moved
    fused = together.tolist()

with fw.options(fuse=False, threads=1):
    apart = wave(t).tolist()

with fw.options(threads=2):
    threaded = wave(t).tolist()

assert fused == apart == threaded
print("every bit is the same;", fused_bytes, "bytes moved")

# The plain loops, for comparison: eight of them, each with an array of its own to write.
#
#     for i in range(n): t1[i] = sin(t[i])
#     for i in range(n): t2[i] = -t[i]
#     ...
print("one operation at a time:", fw.explain(wave(t)).bytes_unfused, "bytes")
