"""Attention written out: heads, a causal mask, a residual, a gated network behind it."""

import numpy as np

__results__ = ["out", "largest"]
rng = np.random.default_rng(6)
heads, length, width = 4, 320, 64
x = rng.standard_normal((length, heads * width)).astype(np.float32)
wq, wk, wv, wo, up, gate, down = (
    (rng.standard_normal((heads * width, heads * width)) / 16).astype(np.float32) for _ in range(7)
)


def split(a):
    return a.reshape(length, heads, width).transpose(1, 0, 2)


q, k, v = split(x @ wq), split(x @ wk), split(x @ wv)
mask = np.where(np.tri(length, dtype=bool), np.float32(0), np.float32(-1e30))
scores = q @ k.transpose(0, 2, 1) * np.float32(width**-0.5) + mask
powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
chances = powers / powers.sum(axis=-1, keepdims=True)
mixed = (chances @ v).transpose(1, 0, 2).reshape(length, heads * width)
h = x + mixed @ wo
g = h @ gate
out = h + (g / (1 + np.exp(-g)) * (h @ up)) @ down
largest = chances.max(axis=-1)
print(f"{np.abs(out).mean():.3f} {largest.mean():.3f}")
