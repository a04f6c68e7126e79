"""interop"""

import numpy as np

R = []
import math, statistics, json, collections, itertools, functools, operator, decimal, datetime, random, bisect, heapq

x = np.arange(5.0)
print(
    math.fsum(x),
    statistics.mean(x.tolist()),
    json.dumps(x.tolist()),
    collections.Counter(np.array([1, 1, 2]).tolist()),
    list(itertools.accumulate(x.tolist())),
    functools.reduce(operator.add, x),
    math.sqrt(x[4]),
    math.floor(x[2]),
    int(x[3]),
    bisect.bisect(x, 2.5),
    max(x, key=lambda v: -v),
    sorted(x, reverse=True)[:2],
    "{:.2f}".format(x[1]),
    f"{x[1]:5.1f}|{int(x[2]):03d}",
    str(x[1]),
    bytes(np.arange(3, dtype="u1")),
    np.array(memoryview(b"abc")),
    np.asarray([x, x]).shape,
    np.array(range(3)),
    np.array([x[0], x[1]]),
    np.array({1, 2}).dtype,
    list(x[1:3]),
    dict(zip("ab", x)),
    [i for i in x if i > 2],
    np.array([[1, 2], [3, 4]]).tolist(),
    operator.index(np.arange(3)[2]),
    hash(x[1]) == hash(1.0),
    slice(np.arange(3)[1], None),
    "abcdef"[np.arange(3)[1] :],
    random.Random(0).choice(x.tolist()),
    decimal.Decimal(float(x[1])),
)
d = {}
d[x[1]] = 1
print(
    d[1.0],
    x[1] == 1,
    x[1] != 1,
    x[1] is None,
    x is not None,
    bool(x[1]),
    not x[0],
    x[1] and 5,
    x[0] or 7,
    1 if x[1] > 0 else 2,
    -(x[1] ** 2),
    x[1:2] == [1],
    (x == x).all() and True,
)
while x.sum() > 1:
    x = x / 2
print(x.sum() <= 1)
assert x.shape == (5,) and (x >= 0).all(), "no"
a, *b, c = x
print(len(b))
print(np.dot(x, x) == x @ x, sum(i * i for i in x) - x @ x < 1e-12)
