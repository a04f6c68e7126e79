"""Principal components by the covariance matrix and by the singular values, which must agree."""

import numpy as np

__results__ = ["variance", "scores", "agree", "whitened", "rebuilt"]

rng = np.random.default_rng(3)
mixing = rng.normal(size=(5, 5))
data = rng.normal(size=(200, 5)) @ mixing + rng.normal(size=5)

centred = data - data.mean(axis=0)
covariance = np.cov(centred, rowvar=False)
variance, vectors = np.linalg.eigh(covariance)
order = np.argsort(variance)[::-1]
variance, vectors = variance[order], vectors[:, order]
vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), range(5)])
scores = centred @ vectors

u, s, vt = np.linalg.svd(centred, full_matrices=False)
agree = np.allclose(s**2 / (len(data) - 1), variance)
whitened = np.round(np.corrcoef((scores / np.sqrt(variance)).T), 8) + 0.0
rebuilt = scores[:, :2] @ vectors[:, :2].T + data.mean(axis=0)
try:
    np.linalg.cholesky(-covariance)
except np.linalg.LinAlgError:
    variance = variance * 1.0
else:
    raise AssertionError("a negative matrix has no root")
