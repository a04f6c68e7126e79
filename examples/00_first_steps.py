"""First steps: write NumPy, get one kernel.

`fusewright.numpy` has NumPy's names.  An operation is recorded, not run; the first time somebody
wants a value, everything it needs runs as few kernels as possible.
"""

import numpy

import fusewright as fw
import fusewright.numpy as np

x = np.linspace(0.0, 1.0, 1_000_001)
y = np.sqrt(x * x + 1.0) - np.exp(-x)  # recorded: four temporaries that never exist

print("the mean is", y.mean())  # somebody wants a value: now it runs

# The answer is NumPy's.
plain = numpy.linspace(0.0, 1.0, 1_000_001)
expected = (numpy.sqrt(plain * plain + 1.0) - numpy.exp(-plain)).mean()
assert abs(float(y.mean()) - expected) < 1e-12

# What NumPy runs is one loop for each operation, each over all of memory:
#
#     for i in range(n): t1[i] = x[i] * x[i]
#     for i in range(n): t2[i] = t1[i] + 1.0
#     for i in range(n): t3[i] = sqrt(t2[i])
#     ...
#
# What runs here:
print(fw.show((np.sqrt(x * x + 1.0) - np.exp(-x)).sum()))
