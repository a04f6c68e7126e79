"""pickle copy"""

import numpy as np

R = []
import pickle, copy

a = np.arange(6).reshape(2, 3) * 1.5
b = pickle.loads(pickle.dumps(a))
print(b, b.dtype)
c = copy.deepcopy(a)
c[0] = 0
print(a, c)
d = copy.copy(a)
d += 1
print(a)
e = copy.deepcopy({"k": a, "v": [a, a]})
print(e["v"][0] is e["v"][1])
e["k"][0, 0] = 99
print(e["v"][0][0, 0], a[0, 0])
print(
    pickle.loads(pickle.dumps(a[0, 1])),
    pickle.loads(pickle.dumps(np.sin)).__name__,
    pickle.loads(pickle.dumps(np.where)) is np.where,
)
