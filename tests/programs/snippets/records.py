"""records"""

import numpy as np

R = []
dt = np.dtype([("x", "f8"), ("n", "i4"), ("s", "U5")])
r = np.zeros(3, dt)
r["x"] = [1, 2, 3]
r["s"] = "ab"
r[1] = (9.0, 8, "zz")
print(r, r["x"].mean(), r.dtype.names, r[0]["x"])
r["x"] += 1
print(r["x"])
rec = r.view(np.recarray)
print(rec.n, rec.x.sum())
print(np.sort(r, order="x")[::-1]["s"])
print(np.rec.array([(1, 2.0), (3, 4.0)], dtype=[("a", int), ("b", float)]).b, r[["x", "n"]])
R += [r["x"], r["n"] > 3]
