"""nditer"""

import numpy as np

R = []
a = np.arange(6).reshape(2, 3)
for x in np.nditer(a):
    print(x, end=" ")
with np.nditer(a, op_flags=["readwrite"]) as it:
    for x in it:
        x[...] = 2 * x
print(a)
it = np.nditer(a, flags=["multi_index"])
for x in it:
    print(it.multi_index, int(x))
for i, v in np.ndenumerate(a):
    print(i, v)
for i in np.ndindex(2, 2):
    print(i)
b = np.broadcast(a, [1, 2, 3])
print(b.shape)
