"""Prices of calls and puts by the formula of Black and Scholes, over price and time."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
spot, years = np.meshgrid(np.linspace(40.0, 160.0, n), np.linspace(2.0, 0.02, n))
strike, rate, volatility = 100.0, 0.02, 0.3


def normal(z):
    """The normal distribution, by Abramowitz and Stegun's formula 26.2.17."""
    t = 1.0 / (1.0 + 0.2316419 * np.abs(z))
    tail = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978))))
    tail = tail + t**5 * 1.330274429
    tail = tail * np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)
    return np.where(z > 0, 1.0 - tail, tail)


spread = volatility * np.sqrt(years)
d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / spread
discounted = strike * np.exp(-rate * years)
call = spot * normal(d1) - discounted * normal(d1 - spread)
put = call - spot + discounted
image = call + put
__results__ = ["image"]
