"""Stencils and time steps: views are indices, updates happen in place.

Slices cost no pass over memory: `u[2:, 1:-1]` is an index, not a copy.  Writing into a region is
writing into a region.
"""

import numpy

import fusewright as fw
import fusewright.numpy as np


def step(u: fw.Array) -> fw.Array:
    new = u.copy()
    new[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
    return new


u = np.zeros((100, 120))
u[40:60, 50:70] = 100.0

print("one step:")
print(fw.show(step(fw.evaluate(u))))

theirs = numpy.zeros((100, 120))
theirs[40:60, 50:70] = 100.0
for _ in range(50):
    u = step(u)
    theirs = step(theirs)

print("the heat in the middle:", u[50, 60])
assert numpy.array_equal(u, theirs)
