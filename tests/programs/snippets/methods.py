"""methods"""

import numpy as np

R = []
x = np.array([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]])
R += [
    x.sum(0),
    x.mean(),
    x.std(1),
    x.var(),
    x.min(1),
    x.max(),
    x.argmin(1),
    x.argmax(),
    x.argsort(1),
    x.cumsum(),
    x.cumprod(1),
    x.round(1),
    x.clip(2, 5),
    x.T.copy(),
    x.flatten(),
    x.ravel().copy(),
    x.reshape(3, 2).copy(),
    x.squeeze().copy(),
    x.transpose().copy(),
    x.swapaxes(0, 1).copy(),
    x.repeat(2, axis=0),
    x.take([0, 1], axis=1),
    x.diagonal().copy(),
    x.trace(),
    x.nonzero(),
    x.prod(),
    x.any(),
    x.all(),
    x.astype(int),
    x.tolist(),
    x.copy(),
    x.conj().copy(),
    x.real.copy(),
    x.imag,
    x.dot(x.T),
    x.compress([True, False], 0),
    x.item(2),
    x.item(1, 2),
    x.byteswap().byteswap(),
    x.view("i8").dtype.name,
    x.tobytes(),
    x.size,
    x.flat[3],
    list(x.flat)[:2],
    x.data.nbytes,
    x.ctypes.data != 0,
    x.base is None,
    1,
    x.argpartition(1).shape,
    x.dumps()[:2],
    0,
]
x.sort()
print(x)
x.sort(axis=0)
print(x)
x.fill(7)
print(x)
x.resize((3, 3), refcheck=False)
print(x)
x.flat[4] = 1
x.flat = [1, 2, 3]
print(x)
x.put([0, 1], [9, 9])
print(x)
x.partition(1)
y = x.view()
y[0] = 0
print(x)
x.shape = (9,)
print(x)
x.real[:] = 5
print(x)
