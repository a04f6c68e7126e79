"""SciPy: linear algebra, sparse matrices and their solvers, signals, images, integration, statistics."""

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy import fft, integrate, interpolate, ndimage, optimize, signal, spatial, special, stats
from scipy.linalg import lapack
from scipy.sparse.linalg import cg, factorized, spsolve, splu

n = 900
x = np.linspace(0.0, 3.0, n)
y = np.sin(x) + 0.1 * np.cos(7 * x)
matrix = np.eye(40) * 4 + np.outer(np.arange(40.0), np.ones(40)) * 0.01
right = np.ones(40)
print(scipy.linalg.solve(matrix, right).sum().round(10))
print(scipy.linalg.lu(matrix)[2].shape, scipy.linalg.det(matrix) > 0)
off, main, b = np.ones(n - 1), np.full(n, 4.0), np.arange(1.0 * n)
print(lapack.dgtsv(off, main, off, b)[3].sum().round(8), b.sum(), main.sum())
tri = sp.diags([off, main, off], [-1, 0, 1], format="csc")
lu = splu(tri)
print(lu.solve(b).sum().round(8), spsolve(tri, b).sum().round(8), (tri @ b).sum())
print(factorized(tri)(b * 2).sum().round(8))
print(sp.csr_matrix(matrix).nnz, sp.csr_matrix((main, (np.arange(n), np.arange(n)))).sum())
print(np.round(cg(tri, b)[0].sum(), 4))
rows = sp.csr_matrix(np.arange(n).reshape(30, 30) % 3)
print(
    rows[np.arange(30) % 2 == 0].shape,
    rows.toarray().sum(),
    rows.multiply(matrix[:30, :30]).sum().round(8),
)
print(interpolate.interp1d(x, y)(x[:-1] + 0.001).sum().round(8))
print(interpolate.CubicSpline(x, y)(x * 0.5).sum().round(8))
print(signal.lfilter(*signal.butter(3, 0.1), y).sum().round(8), signal.find_peaks(y)[0].shape)
print(signal.fftconvolve(y, y, mode="same").sum().round(6), fft.rfft(y).shape)
print(ndimage.gaussian_filter(y.reshape(30, 30), 1.5).sum().round(8), ndimage.label(y > 0)[1])
out = np.zeros((30, 30))
ndimage.uniform_filter(y.reshape(30, 30), 3, output=out)
print(out.sum().round(8))
print(optimize.minimize(lambda p: np.sum((p - x) ** 2), np.zeros(n), method="L-BFGS-B").fun < 1e-6)
print(np.round(optimize.curve_fit(lambda t, a, c: a * np.sin(t) + c, x, y)[0], 6))
print(
    np.round(optimize.nnls(np.abs(matrix), right)[1], 8),
    optimize.linear_sum_assignment(matrix)[0].sum(),
)
print(integrate.simpson(y, x=x).round(10), integrate.cumulative_trapezoid(y, x).shape)
solution = integrate.solve_ivp(lambda t, u: -u, (0, 1), np.ones(n), rtol=1e-6)
print(np.round(solution.y[:, -1].mean(), 5))
print(np.round(integrate.odeint(lambda u, t: -u, np.ones(600), np.linspace(0, 1, 5))[-1].mean(), 5))
print(special.erf(x).sum().round(8), special.logsumexp(y).round(8))
print(
    stats.norm.cdf(x).sum().round(8),
    stats.ttest_ind(x, y).pvalue < 0.5,
    stats.zscore(y).std().round(8),
)
tree = spatial.cKDTree(np.stack([x, y], 1))
print(
    tree.query(np.stack([y, x], 1))[1].sum(),
    spatial.distance.cdist(np.stack([x, y], 1), np.stack([y, x], 1)).sum().round(6),
)
