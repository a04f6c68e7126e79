"""broadcasting errors"""

import numpy as np

R = []
for f in (
    lambda: np.ones(3) + np.ones(4),
    lambda: np.ones((2, 3)) @ np.ones((2, 3)),
    lambda: np.concatenate([np.ones((2, 2)), np.ones((3, 3))]),
    lambda: np.ones(3).reshape(2, 2),
    lambda: np.stack([np.ones(2), np.ones(3)]),
    lambda: np.ones((2, 2))[5],
    lambda: np.ones(3)[0, 0],
    lambda: np.ones(3).sum(axis=2),
    lambda: np.zeros(3, dtype="nope"),
    lambda: np.arange(3)[1.5],
    lambda: np.linalg.inv(np.zeros((2, 2))),
    lambda: bool(np.ones(2)),
    lambda: int(np.ones(2)),
    lambda: np.ones(3)["a"],
    lambda: np.ones(3) << 1,
    lambda: ~np.ones(2),
    lambda: np.array([1, 2]) | 1.5,
    lambda: np.ones(2).nope,
    lambda: np.nope,
    lambda: len(np.array(3)),
    lambda: iter(np.array(3)),
    lambda: hash(np.ones(2)),
    lambda: np.split(np.ones(5), 2),
    lambda: np.swapaxes(np.ones(2), 0, 1),
    lambda: np.squeeze(np.ones((2, 1)), 0),
    lambda: np.broadcast_to(np.ones(3), (2, 2)),
    lambda: np.ones(3).astype("i4", casting="safe"),
    lambda: np.random.default_rng(0).choice(5, 10, replace=False),
    lambda: np.array([]).max(),
    lambda: np.argmax([]),
    lambda: 1 / 0,
    lambda: np.einsum("ij,jk", np.ones((2, 3)), np.ones((4, 5))),
    lambda: np.interp([1], [1, 2], [1]),
    lambda: np.arange(0, 10, 0),
    lambda: np.linspace(0, 1, -1),
    lambda: np.eye(-1),
    lambda: np.ones(-1),
    lambda: np.ones(3).item(),
    lambda: np.unravel_index(10, (2, 2)),
    lambda: np.take([1, 2], 5),
    lambda: np.searchsorted(np.ones((2, 2)), 1),
    lambda: np.cross([1, 2, 3, 4], [1, 2, 3, 4]),
    lambda: np.setdiff1d(),
    lambda: np.add(1),
    lambda: np.add(1, 2, 3, 4),
    lambda: np.clip([1, 2]),
    lambda: np.datetime64("x"),
    lambda: np.float64("x"),
):
    try:
        f()
        print("no error")
    except Exception as e:
        print(
            [
                c.__name__
                for c in (
                    IndexError,
                    KeyError,
                    TypeError,
                    ValueError,
                    AttributeError,
                    ZeroDivisionError,
                    np.linalg.LinAlgError,
                )
                if isinstance(e, c)
            ]
        )
