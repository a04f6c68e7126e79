"""Astropy: units, tables, files, models."""

import io

import numpy as np
from astropy import units as u
from astropy.convolution import Gaussian1DKernel, convolve
from astropy.io import fits
from astropy.modeling import fitting, models
from astropy.stats import sigma_clipped_stats
from astropy.table import Table

x = np.linspace(-5, 5, 700)
y = 3 * np.exp(-(x**2) / 2) + 0.01 * np.sin(50 * x)
length = x * u.m
print(
    (length**2).sum().round(6), length.to(u.km).value.sum().round(6), u.Quantity(x, u.s).mean().unit
)
table = Table({"x": x, "y": y})
print(len(table[x > 3]), np.mean(table["y"]).round(8))
fit = fitting.LevMarLSQFitter()(models.Gaussian1D(2.0, 0.1, 1.1), x, y)
print(
    np.round(fit.parameters, 4),
    convolve(y, Gaussian1DKernel(3)).sum().round(6),
    np.round(sigma_clipped_stats(y), 6),
)
file = io.BytesIO()
fits.PrimaryHDU(y.reshape(70, 10)).writeto(file)
file.seek(0)
print(fits.getdata(file).sum().round(8))
