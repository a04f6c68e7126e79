"""dtype things"""

import numpy as np

R = []
for k in "?bBhHiIlLqQfdFD":
    a = np.arange(5).astype(k)
    R += [
        a + a,
        a * 2,
        a / 2 if k not in "?" else 0,
        a.sum(),
        a.mean(),
        a.prod(),
        a.max(),
        np.sqrt(a),
        a == 1,
        a.astype(str).tolist()[:2] if k not in "FD" else 0,
        a.cumsum(),
        a.std(),
        a**2 if k != "?" else 0,
        (a + np.float32(1)),
        a + 1,
        a + 1.5,
        a + 1j,
        np.where(a > 2, a, 0) if k not in "FD" else 0,
        a.view("u1").size,
        np.zeros_like(a),
        np.full(2, 1, a.dtype),
        -a if k != "?" else 0,
    ]
R += [
    np.float16([1, 2]) * np.float32(3),
    np.array([1, 2], "f2").sum(),
    np.array([1.5, 2.5], ">f4") + 1,
    np.array([1, 2], ">i2").astype("<i4"),
    np.array([300]).astype("u1"),
    np.array([-1.5, 1e10]).astype("i4")[0],
    np.array([1.9, -1.9]).astype(int),
    np.array([np.nan]).astype(bool),
    np.array(["1", "2"]).astype(int),
    np.array([1, 2]).astype("U"),
    np.bool_(True) + np.bool_(True),
    np.array([True, False]) + np.array([True, True]),
    np.array([True]) * 3,
    np.int64(5) // np.int64(2),
    np.array([2**62]) * 4,
    np.array([-7]) // 2,
    np.array([-7]) % 3,
    np.array([7], "u4") - np.array([8], "u4"),
    np.array([1, 2, 3], dtype=np.int8) * 100,
    np.array([-128], "i1") // -1,
    abs(np.array([-128], "i1")),
    np.array([1]) / np.array([3], "f4"),
    np.array([3], "u8") + np.array([1], "i8"),
    np.array([1.0]) // 0.3,
    np.array([-1.0]) % 0.3,
]
