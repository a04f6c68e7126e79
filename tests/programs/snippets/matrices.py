"""linalg"""

import numpy as np

R = []
A = np.array([[4.0, 1, 2], [1, 3, 0], [2, 0, 5]])
b = np.array([1.0, 2, 3])
w, v = np.linalg.eigh(A)
r = np.linalg.eigh(A)
R += [
    np.linalg.solve(A, b),
    np.linalg.inv(A) @ A,
    np.linalg.det(A),
    w,
    r.eigenvalues,
    np.abs(v),
    np.linalg.norm(A),
    np.linalg.norm(A, axis=0),
    np.linalg.norm(b, 1),
    np.linalg.cholesky(A),
    np.linalg.qr(A).R.shape,
    np.linalg.svd(A, compute_uv=False),
    np.linalg.lstsq(A, b, rcond=None)[0],
    np.linalg.matrix_rank(A),
    np.linalg.slogdet(A),
    np.linalg.pinv(A),
    np.linalg.matrix_power(A, 3),
    np.linalg.cond(A),
    np.trace(A),
    np.kron(A, b),
    np.outer(b, b),
    np.inner(b, b),
    np.vdot(b, b),
    np.dot(A, b),
    A @ A,
    A.dot(b),
    np.tensordot(A, A, 1),
    np.linalg.multi_dot([A, A, b]),
    np.linalg.eigvals(A).sum(),
    np.linalg.norm(A, "fro"),
    np.linalg.norm(A, 2),
    np.linalg.norm(b, np.inf),
]
A2 = np.stack([A, A * 2])
R += [
    np.linalg.inv(A2),
    np.linalg.det(A2),
    A2 @ b,
    np.matmul(A2, A2),
    np.linalg.solve(A2, b[:, None]),
]
try:
    np.linalg.cholesky(-A)
except np.linalg.LinAlgError as e:
    print(e)
