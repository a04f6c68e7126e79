"""A noisy signal filtered in the frequency domain, its peaks and its power."""

import numpy as np

__results__ = ["clean", "peaks", "power", "image"]

rate = 500.0
t = np.arange(0, 2, 1 / rate)
signal = np.sin(2 * np.pi * 50 * t) + 0.5 * np.cos(2 * np.pi * 120 * t)
noisy = signal + 0.8 * np.random.RandomState(7).normal(size=t.shape)

spectrum = np.fft.rfft(noisy)
frequencies = np.fft.rfftfreq(len(t), 1 / rate)
power = np.abs(spectrum) ** 2 / len(t)
spectrum[power < 0.2 * power.max()] = 0
clean = np.fft.irfft(spectrum, n=len(t))
peaks = frequencies[np.argsort(power)[-2:]]

grid = np.hypot(*np.meshgrid(np.linspace(-1, 1, 32), np.linspace(-1, 1, 32)))
image = np.where(grid < 0.5, 1.0, 0.0)
low = np.fft.fftshift(np.fft.fft2(image))
low[grid > 0.7] = 0
image = np.real(np.fft.ifft2(np.fft.ifftshift(low)))
