"""Neighbouring loops of a kernel run as one where that provably changes nothing, and the report
says why where it does not.
"""

import numpy as np

import fusewright as fw


@fw.kernel
def smooth_twice(a: fw.Array, b: fw.Array, c: fw.Array) -> None:
    n = a.shape[0]
    for i in range(1, n - 1):
        b[i] = 0.25 * a[i - 1] + 0.5 * a[i] + 0.25 * a[i + 1]
    for i in range(2, n - 2):
        c[i] = 0.25 * b[i - 1] + 0.5 * b[i] + 0.25 * b[i + 1]


@fw.kernel
def forces(force: fw.Array, jac: fw.Array, total: fw.Array) -> None:
    for c, b in fw.ndrange(force.shape[0], force.shape[1]):
        force[c, b] = force[c, b] * 0.5
    for b in range(force.shape[1]):
        s = 0.0
        for c in range(force.shape[0]):
            s += jac[c, b] * force[c, b]
        total[b] = s


@fw.kernel
def mirrored(a: fw.Array, o: fw.Array) -> None:
    for i in range(a.shape[0]):
        a[i] = a[i] * 2
    for i in range(a.shape[0]):
        o[i] = a[a.shape[0] - 1 - i]


rng = np.random.default_rng(0)
a = rng.normal(size=10_000)

# Strips of 2048 iterations, in which the first loop computes a margin of one at either end: what it
# writes is still in the cache when the second loop reads it.
b, c = np.zeros_like(a), np.zeros_like(a)
smooth_twice(a, b, c)
print(smooth_twice.explain())
assert smooth_twice.stats.fused == 1

# The same bits as CPython.
wanted_b, wanted_c = np.zeros_like(a), np.zeros_like(a)
smooth_twice.__wrapped__(a, wanted_b, wanted_c)
assert np.array_equal(c, wanted_c)

# Two loops of different depth share the loop over b; sums keep their order.
force, jac, total = rng.normal(size=(6, 500)), rng.normal(size=(6, 500)), np.zeros(500)
forces(force, jac, total)
assert forces.stats.fused == 1

# Not these: iteration 0 of the second loop reads what the last one of the first writes.
mirrored(a, b)
assert mirrored.stats.fused == 0
(pair,) = mirrored.explain().codes[0].pairs
print(pair.why)
assert "read after write of `a`" in pair.why


# One loop where `behind` allows it, looked at in each call.
@fw.kernel
def delayed(a: fw.Array, o: fw.Array, behind: int) -> None:
    for i in range(100, a.shape[0]):
        a[i] = a[i] * 2
    for i in range(100, a.shape[0]):
        o[i] = a[i - behind] + 1


delayed(a, b, 0)
delayed(a, b, 3)
print(delayed.explain())
assert "\n  fused: " in str(delayed.explain())
