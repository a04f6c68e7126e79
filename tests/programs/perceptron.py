"""A network of two layers: inference, and steps of training written out by hand."""

import numpy as np

__results__ = ["scores", "losses", "w1", "w2"]
rng = np.random.default_rng(3)
rows, inputs, hidden, classes = 12_000, 32, 96, 32
x = rng.standard_normal((rows, inputs))
labels = rng.integers(0, classes, rows)
wanted = np.zeros((rows, classes))
wanted[np.arange(rows), labels] = 1.0
w1 = rng.standard_normal((inputs, hidden)) / np.sqrt(inputs)
w2 = rng.standard_normal((hidden, classes)) / np.sqrt(hidden)
b1, b2 = np.zeros(hidden), np.zeros(classes)


def forward(x):
    first = np.maximum(x @ w1 + b1, 0)
    return first, first @ w2 + b2


losses = []
for _ in range(2):
    first, scores = forward(x)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances = powers / powers.sum(axis=1, keepdims=True)
    losses.append(float(-np.log((chances * wanted).sum(axis=1)).mean()))
    error = (chances - wanted) / rows
    back = (error @ w2.T) * (first > 0)
    w2 = w2 - 0.5 * (first.T @ error)
    w1 = w1 - 0.5 * (x.T @ back)
    b2 = b2 - 0.5 * error.sum(axis=0)
    b1 = b1 - 0.5 * back.sum(axis=0)
scores = forward(x)[1]
assert losses[-1] < losses[0]
print([f"{loss:.5f}" for loss in losses], f"{scores.std():.4f}")
