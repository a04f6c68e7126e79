"""strings objects dates"""

import numpy as np

R = []
s = np.array(["apple", "Banana", "c"])
print(
    np.char.upper(s),
    np.strings.str_len(s),
    s == "c",
    s[s > "b"],
    np.char.add(s, "!"),
    s.astype("S6"),
    np.sort(s),
    len(s),
    np.unique(["b", "a", "b"], return_counts=True),
)
o = np.array([1, "a", None], dtype=object)
print(o, o[0] + 1, o == None)
o2 = np.array([[1, 2], [3]], dtype=object)
print(o2, o2.shape)
d = np.arange("2020-01", "2020-05", dtype="datetime64[M]")
print(
    d,
    d[1] - d[0],
    d + np.timedelta64(1, "M"),
    np.diff(d),
    d.astype("datetime64[D]")[0],
    np.busday_count("2020-01-01", "2020-02-01"),
    np.isnat(np.array(["NaT"], "M8[s]")),
)
from fractions import Fraction as F

f = np.array([F(1, 2), F(1, 3)])
print(f.sum(), f * 2, np.dot(f, f))
