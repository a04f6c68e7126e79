"""The memory that J and K take is bounded."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.integrals.test_fock import basis, densities

from fusewright.integrals import bins
from fusewright.integrals.bins import BIN_BYTES, LEAST_BINS, MOST_BINS, bins_of
from fusewright.integrals.fock import Fock

MATRICES = 12
"""As large as one of the results: bounds, halves, sums and results themselves, at once."""


@given(st.integers(1, BIN_BYTES // LEAST_BINS))
def test_bins_fit(size: int) -> None:
    assert LEAST_BINS <= bins_of(size) <= MOST_BINS
    assert bins_of(size) * size <= BIN_BYTES


def test_bins_of_2000_functions() -> None:
    square, pairs = 2000**2, 2000 * 2001 // 2
    size = 8 * (square + pairs)
    assert bins_of(size) >= 20
    assert bins_of(size) * size + MATRICES * 8 * square < 1.5 * (1 << 30)


@pytest.mark.parametrize("many", [1, 3, 20])
def test_peak(monkeypatch: Any, many: int) -> None:
    monkeypatch.setattr(bins, "BIN_BYTES", 1 << 20)
    fock = Fock(basis(), tolerance=1e-14)
    assert fock.code is not None
    dms = densities(fock.functions, many, 1)
    fock.matrices(dms)  # its counts are kept
    tracemalloc.start()
    try:
        fock.matrices(dms)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    one = 8 * (fock.functions**2 + fock.code.block_doubles)
    assert bins.most_matrices(fock.code) < 20
    assert peak < (1 << 20) + MATRICES * many * one + (1 << 17)


def test_passes_agree(monkeypatch: Any) -> None:
    fock = Fock(basis(), tolerance=1e-14)
    dms = densities(fock.functions, 20, 0)
    expected = fock.matrices(dms, 0)
    monkeypatch.setattr(bins, "BIN_BYTES", 1 << 20)
    for one, two in zip(expected, fock.matrices(dms, 0), strict=True):
        assert one is not None and two is not None
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-11)
