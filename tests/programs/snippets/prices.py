"""finance"""

import numpy as np

R = []
rng = np.random.default_rng(3)
S = 100 * np.exp(
    np.cumsum((0.05 - 0.02) / 252 + 0.2 / np.sqrt(252) * rng.standard_normal((200, 252)), axis=1)
)
pay = np.maximum(S.mean(1) - 100, 0)
price = np.exp(-0.05) * pay.mean()
dd = (S / np.maximum.accumulate(S, axis=1) - 1).min(1)
ret = np.diff(np.log(S), axis=1)
vol = ret.std(1, ddof=1) * np.sqrt(252)
q = np.percentile(S[:, -1], [5, 50, 95])
cov = np.cov(ret[:5])
corr = np.corrcoef(ret[:5])
R += [
    price,
    dd,
    vol,
    q,
    cov,
    corr,
    np.quantile(ret, 0.01),
    pay[pay > 0].size,
    np.searchsorted(np.sort(S[:, -1]), 100),
    np.histogram(S[:, -1], bins=10)[0],
    np.average(S[:, -1], weights=np.arange(200)),
    np.polyfit(np.arange(252), S[0], 2),
    np.convolve(S[0], np.ones(5) / 5, "valid"),
    np.interp([1.5, 2.5], np.arange(252), S[0]),
]
print("%.6f %s" % (price, np.round(q, 3)))
