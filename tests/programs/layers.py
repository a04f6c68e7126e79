"""matmul, softmax, layer norm, backward pass, float32, out= and updates in place."""

import numpy as np

__results__ = ["losses", "weights", "probabilities", "normal"]
rng = np.random.default_rng(31)
x = rng.standard_normal((64, 12)).astype(np.float32)
target = rng.integers(0, 4, 64)
weights = rng.standard_normal((12, 4)).astype(np.float32) * np.float32(0.1)
losses = []
for _ in range(30):
    logits = x @ weights
    logits -= logits.max(axis=1, keepdims=True)
    np.exp(logits, out=logits)
    probabilities = logits / logits.sum(axis=1, keepdims=True)
    losses.append(float(-np.log(probabilities[np.arange(64), target]).mean()))
    error = probabilities.copy()
    error[np.arange(64), target] -= 1
    weights -= np.float32(0.5 / 64) * (x.T @ error)
losses = np.array(losses, dtype=np.float32)
normal = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + np.float32(1e-5))
assert probabilities.dtype == np.float32
print(f"{losses[0]:.4f} {losses[-1]:.4f}")
