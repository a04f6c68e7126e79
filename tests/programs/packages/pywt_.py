"""PyWavelets: transforms there and back."""

import numpy as np
import pywt

x = np.sin(np.arange(1024.0) / 9)
low, high = pywt.dwt(x, "db4")
print(
    low.sum().round(8),
    (high**2).sum().round(10),
    np.abs(pywt.idwt(low, high, "db4") - x).max() < 1e-10,
)
levels = pywt.wavedec(x, "haar", level=3)
levels[1:] = [pywt.threshold(part, 0.1) for part in levels[1:]]
print(
    pywt.waverec(levels, "haar").sum().round(8),
    pywt.cwt(x, np.arange(1, 9), "mexh")[0].shape,
    pywt.dwt2(x.reshape(32, 32), "haar")[0].sum().round(8),
)
