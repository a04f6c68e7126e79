"""lists to arrays"""

import numpy as np

R = []
R += [
    np.array([[1, 2], [3, 4.5]]),
    np.array([1, True]),
    np.array([1, 2**40]),
    np.array([2**63]),
    np.array((1, 2)),
    np.array([(1, 2), (3, 4)]),
    np.array([[]]),
    np.array([]),
    np.array(5),
    np.array("abc"),
    np.array([b"a"]),
    np.array([1 + 2j]),
    np.array([np.arange(2), np.arange(2)]),
    np.array([np.float32(1), np.float32(2)]),
    np.array([[np.zeros(2), np.ones(2)]]),
    np.array(range(3)),
    np.array(list("abc")),
    np.array([1, 2], dtype=float),
    np.array([1.7], dtype=int),
    np.array([[1, 2], [3, 4]], order="F"),
    np.array([1, 2], ndmin=3),
    np.asarray([1, 2], "f4"),
    np.array(np.matrix([[1, 2]])),
    np.zeros((2,), dtype=[("a", "i4")]),
    np.zeros(3, "S2"),
    np.empty((0,)),
    np.full((2, 2), np.nan),
    np.full(3, "x"),
    np.ones_like([1, 2], dtype=float),
    np.zeros_like(np.ones((2, 2), "f4")),
    np.full_like([1, 2], 7.9),
    np.eye(2, 3, 1),
    np.arange(5)[::2],
    np.arange(1, 2, 0.25),
    np.arange(3, dtype="f4"),
    np.arange(5, 0, -2),
    np.linspace(0, 1, 5, endpoint=False),
    np.linspace(0, 10, 3, dtype=int),
    np.linspace([0, 1], [1, 2], 3),
    np.logspace(0, 2, 3),
    np.geomspace(1, 8, 4),
    np.linspace(0, 1, 3, retstep=True),
    np.identity(2),
    np.fromstring("1 2", sep=" "),
    np.frombuffer(b"\1\2", "u1"),
    np.array(memoryview(bytearray(b"ab"))),
]
try:
    np.array([[1, 2], [3]])
except ValueError:
    print("VE")
