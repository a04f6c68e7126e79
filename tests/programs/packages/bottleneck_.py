"""Bottleneck: C functions that want NumPy's arrays."""

import bottleneck as bn
import numpy as np

a = np.sin(np.arange(900.0)).reshape(30, 30)
a[3, 4] = np.nan
print(
    np.round(bn.nansum(a), 8),
    bn.move_mean(a, 3, axis=1).shape,
    bn.nanmedian(a, axis=0).sum().round(8),
    bn.rankdata(a[0]).sum(),
)
bn.replace(a, np.nan, 0.0)
print(np.isnan(a).sum(), a.sum().round(8))
