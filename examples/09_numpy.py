"""Together with NumPy: copies, sharing, and leaving for another library."""

import numpy

import fusewright as fw
import fusewright.numpy as np

source = numpy.arange(5.0)

# asarray copies: later writes to the NumPy array do not change what was recorded.
a = fw.asarray(source)
doubled = a * 2
source[0] = 100
assert doubled.tolist() == [0, 2, 4, 6, 8]

# copy=False shares: every statement is complete when it returns, as in NumPy.
shared = fw.asarray(source, copy=False)
shared += 1
assert source.tolist() == [101, 2, 3, 4, 5]

# In a lazy block statements on shared memory may wait; all has happened at its end.
with fw.lazy():
    shared *= 2
    shared -= 1
assert source.tolist() == [201, 3, 5, 7, 9]

# Another library takes an array as it takes NumPy's.
print(numpy.asarray(doubled), numpy.interp(2.5, numpy.arange(5), doubled))
print(np.hypot(doubled, source))
