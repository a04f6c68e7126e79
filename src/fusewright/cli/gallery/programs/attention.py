"""Attention: scores of all pairs of words, a mask, and a softmax over each row."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 2048
rng = np.random.default_rng(4)
place = np.arange(n, dtype=np.float32)[:, None]
rate = np.float32(0.6) ** np.arange(32, dtype=np.float32)
queries = np.concatenate([np.sin(place * rate), np.cos(place * rate)], axis=1)
keys = queries + rng.normal(size=queries.shape).astype(np.float32) * np.float32(0.2)
for _ in range(4):
    scores = queries @ keys.T * np.float32(0.35)
    masked = np.where(place < place.T, np.float32(-1e9), scores)
    weights = np.exp(masked - masked.max(axis=1, keepdims=True))
    weights = weights / weights.sum(axis=1, keepdims=True)
    queries = weights @ queries
image = weights[:192, :192] ** np.float32(0.4)
__results__ = ["image"]
