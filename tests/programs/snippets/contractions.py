"""einsum"""

import numpy as np

R = []
a = np.arange(6.0).reshape(2, 3)
b = np.arange(12.0).reshape(3, 4)
R += [
    np.einsum("ij,jk->ik", a, b),
    np.einsum("ij->j", a),
    np.einsum("ii", np.eye(3)),
    np.einsum("ij,ij->", a, a),
    np.einsum("i,j->ij", a[0], a[1]),
    np.einsum("...ij->...ji", a),
    np.einsum(a, [0, 1], b, [1, 2], [0, 2]),
    np.einsum("ij,jk,kl->il", a, b, b.T, optimize=True),
]
x = np.eye(3)
d = np.einsum("ii->i", x)
d[:] = 5
print(x)
