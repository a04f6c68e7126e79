"""Pi by random points, option prices by random walks and by Black and Scholes' formula."""

from math import sqrt

import numpy as np

__results__ = ["pi", "call", "put", "walked", "running"]

rng = np.random.default_rng(2024)
points = rng.random((2, 20000))
hits = (points**2).sum(axis=0) <= 1.0
pi = 4 * hits.mean()
running = 4 * np.cumsum(hits) / np.arange(1, hits.size + 1)

spot = np.linspace(80, 120, 41)
strike, rate, sigma, years = 100.0, 0.05, 0.2, 1.0


def normal_cdf(x):
    """Abramowitz and Stegun 26.2.17."""
    k = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    poly = k * (
        0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))
    )
    upper = np.exp(-x * x / 2) / np.sqrt(2 * np.pi) * poly
    return np.where(x >= 0, 1 - upper, upper)


d1 = (np.log(spot / strike) + (rate + sigma**2 / 2) * years) / (sigma * sqrt(years))
d2 = d1 - sigma * sqrt(years)
discount = np.exp(-rate * years)
call = spot * normal_cdf(d1) - strike * discount * normal_cdf(d2)
put = call - spot + strike * discount

steps = rng.normal((rate - sigma**2 / 2) / 50, sigma / sqrt(50), size=(400, 50))
paths = 100.0 * np.exp(np.cumsum(steps, axis=1))
walked = discount * np.maximum(paths[:, -1] - strike, 0).mean()
