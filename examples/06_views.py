"""Views share memory, as in NumPy: also lazy ones, also overlapping ones."""

import numpy

import fusewright as fw
import fusewright.numpy as np

a = np.arange(8.0)
evens = a[::2]
evens += 10  # writes into `a`
print(a)
assert a.tolist() == [10, 1, 12, 3, 14, 5, 16, 7]

# NumPy's answer where source and target overlap: as if the right-hand side were copied first.
b, theirs = np.arange(8.0), numpy.arange(8.0)
b[1:] += b[:-1]
theirs[1:] += theirs[:-1]
assert b.tolist() == theirs.tolist()

# Rearranging costs nothing: it becomes the index of the loop that reads it.
image = fw.evaluate(np.arange(1200.0).reshape(30, 40))
print(fw.show(np.flip(image.T, axis=0) * 2 + 1))
