"""statsmodels: regression, time series, smoothing."""

import warnings

import numpy as np
import statsmodels.api as sm
from statsmodels.nonparametric.smoothers_lowess import lowess
from statsmodels.tsa.stattools import acf

warnings.simplefilter("ignore")
x = np.linspace(0, 5, 700)
y = 2 * x + 1 + np.sin(30 * x)
model = sm.OLS(y, sm.add_constant(x)).fit()
print(
    model.params.round(6),
    model.predict(sm.add_constant(x + 1)).sum().round(4),
    round(model.rsquared, 8),
)
print(
    lowess(y, x, frac=0.2).shape, np.round(acf(y, nlags=3), 6), sm.GLM(y, x).fit().params.round(6)
)
print(np.round(sm.tsa.AutoReg(y, 2).fit().params, 4))
