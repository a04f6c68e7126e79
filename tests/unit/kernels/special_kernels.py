"""Kernels that call functions of `fusewright.numpy.special`."""

from __future__ import annotations

from typing import Any

import fusewright as fw
from fusewright.numpy import special


@fw.kernel
def error(x: Any, out: Any) -> None:
    for i in range(x.shape[0]):
        out[i] = special.erf(x[i])


@fw.kernel
def complement(x: Any, out: Any) -> None:
    for i in range(x.shape[0]):
        out[i] = special.erfc(x[i])


@fw.kernel
def gamma(x: Any, out: Any) -> None:
    for i in range(x.shape[0]):
        out[i] = special.gamma(x[i])


@fw.kernel
def logarithm(x: Any, out: Any) -> None:
    for i in range(x.shape[0]):
        out[i] = special.gammaln(x[i])


@fw.kernel
def bessel(x: Any, out: Any) -> None:
    for i in range(x.shape[0]):
        out[i] = special.j0(x[i])


@fw.kernel
def bessel_of_order_1(x: Any, out: Any) -> None:
    for i in range(x.shape[0]):
        out[i] = special.j1(x[i])
