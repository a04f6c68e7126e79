"""masked arrays"""

import numpy as np

R = []
m = np.ma.array([1.0, 2.0, 3.0, 4.0], mask=[0, 1, 0, 0])
print(
    m.mean(),
    m + 1,
    m.filled(-1),
    np.ma.masked_where(np.arange(4) > 2, np.arange(4)),
    np.ma.masked_invalid([1, np.nan]).sum(),
    np.ma.average(m),
    m.compressed(),
    np.sqrt(m),
)
x = np.ma.masked_greater(np.arange(5.0) * 2, 5)
x[0] = np.ma.masked
print(x, x.count())
