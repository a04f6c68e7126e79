"""Cleaning and summarising measurements: NaN, where, percentiles, sorting, text output."""

import numpy as np

__results__ = ["scores", "kept", "edges", "order", "correlation", "groups", "medians"]
rng = np.random.default_rng(11)
data = rng.normal(10.0, 3.0, (500, 6))
data[rng.random(data.shape) < 0.05] = np.nan
means = np.nanmean(data, axis=0)
filled = np.where(np.isnan(data), means, data)
scores = ((filled - filled.mean(axis=0)) / filled.std(axis=0, ddof=1)).astype(np.float32)
kept = scores[(np.abs(scores) < 2.5).all(axis=1)]
edges = np.percentile(filled, [5, 25, 50, 75, 95], axis=0)
order = np.argsort(filled[:, 0], kind="stable")
correlation = np.corrcoef(filled, rowvar=False)
groups, counts = np.unique(np.floor(filled[:, 1]).astype(np.int32), return_counts=True)
medians = np.array([np.median(filled[filled[:, 1] // 1 == g, 0]) for g in groups])
for name, row in zip("abcdef", edges.T, strict=True):
    print(name, " ".join(f"{value:7.3f}" for value in row))
print(len(kept), counts.max(), scores.shape, scores.dtype)
