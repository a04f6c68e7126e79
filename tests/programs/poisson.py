"""A Poisson equation three ways: Jacobi sweeps, FFT, and a dense solve."""

import numpy as np
import numpy.fft as fft
from numpy.linalg import norm, solve

__results__ = ["sweep", "spectral", "dense", "differences"]
n = 24
grid = np.arange(n) / n
source = np.sin(2 * np.pi * grid)[:, None] * np.cos(4 * np.pi * grid)[None, :]
waves = 2 * np.pi * fft.fftfreq(n, 1 / n)
square = waves[:, None] ** 2 + waves[None, :] ** 2
square[0, 0] = 1.0
spectral = fft.ifft2(-fft.fft2(source) / square).real

padded = np.zeros((n + 2, n + 2))
for _ in range(80):
    inner = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    padded[1:-1, 1:-1] = 0.25 * (inner - source / n**2)
sweep = padded[1:-1, 1:-1].copy()

matrix = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
dense = solve(matrix, source)
differences = np.array([norm(sweep), norm(spectral), norm(dense)])
print(np.round(differences, 6))
