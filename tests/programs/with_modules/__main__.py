"""A program of several modules: each imports NumPy in its own way."""

import pickle

import filters
import numpy as np
from signal_tools import spectrum

__results__ = ["noisy", "smooth", "power", "again"]
t = np.linspace(0, 1, 2048, endpoint=False)
noisy = np.sin(2 * np.pi * 40 * t) + 0.3 * np.sin(2 * np.pi * 333 * t)
smooth = filters.moving_average(noisy, 15)
power = spectrum(smooth)
again = pickle.loads(pickle.dumps(smooth[::3]))
print(int(power.argmax()))
