"""Comparing with NumPy: to the bit, or within so many units in the last place."""

from __future__ import annotations

from typing import Any

import numpy as np


def assert_close(got: Any, want: Any, ulps: int = 0, what: str = "") -> None:
    """Equal dtype and shape; equal bits, or floats at most `ulps` apart.  NaN equals NaN."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype, what
    assert got.shape == want.shape, what
    if got.dtype.kind == "c":
        part = f"f{got.dtype.itemsize // 2}"
        got, want = (np.ascontiguousarray(a).reshape(-1).view(part) for a in (got, want))
    if got.dtype.kind != "f":
        np.testing.assert_array_equal(got, want, what)
        return
    nan = np.isnan(want)
    np.testing.assert_array_equal(np.isnan(got), nan, what)
    distance = np.where(nan, 0, abs(_position(got) - _position(want)))
    if ulps == 0:  # a zero's sign counts
        distance = distance + ((np.signbit(got) != np.signbit(want)) & ~nan)
    worst = float(distance.max()) if distance.size else 0.0
    if worst > ulps:
        where = np.unravel_index(int(distance.argmax()), distance.shape)
        raise AssertionError(
            f"{what}: {got[where]!r} for {want[where]!r}, {worst:.0f} ulp, {where}"
        )


def _position(values: Any) -> Any:
    """The number of a float in the order of floats, as a float (exact where two are close)."""
    bits = np.ascontiguousarray(values).view(f"i{values.dtype.itemsize}").reshape(values.shape)
    least = np.iinfo(bits.dtype).min
    ordered = np.where(bits < 0, least - bits, bits)
    return ordered.astype(np.longdouble)
