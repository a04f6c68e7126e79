"""`pk.BinSort`: elements ordered by the bin their key falls into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fusewright.bridges.pykokkos.views import View, ViewType, wrapped


class BinOp:
    """Which bin a key falls into: equal intervals from `min_value` to `max_value`."""

    def __init__(self, keys: Any, max_bins: Any, min_value: Any, max_value: Any) -> None:
        self.keys, self.max_bins = keys, max_bins
        self.min_value, self.max_value = min_value, max_value

    def bins(self) -> np.ndarray[Any, Any]:
        """The bin of each key."""
        raise NotImplementedError

    def count(self) -> int:
        """The number of bins."""
        raise NotImplementedError


class BinOp1D(BinOp):
    """Keys that are numbers."""

    def bins(self) -> np.ndarray[Any, Any]:
        keys = np.asarray(self.keys, np.float64)
        # Kokkos divides by a little less than the number of bins, so that the greatest key fits.
        width = (float(self.max_value) - float(self.min_value)) / int(self.max_bins)
        found = ((keys - float(self.min_value)) / width).astype(np.int64)
        return np.clip(found, 0, self.count() - 1)

    def count(self) -> int:
        return int(self.max_bins) + 1


class BinOp3D(BinOp):
    """Keys that are rows of three numbers."""

    def __init__(
        self,
        keys: Any,
        max_bins: Sequence[int],
        min_value: Sequence[float],
        max_value: Sequence[float],
    ) -> None:
        super().__init__(keys, max_bins, min_value, max_value)

    def bins(self) -> np.ndarray[Any, Any]:
        keys = np.asarray(self.keys, np.float64)
        total = np.zeros(keys.shape[0], np.int64)
        for dim in range(3):
            low, high = float(self.min_value[dim]), float(self.max_value[dim])
            count = int(self.max_bins[dim])
            place = ((keys[:, dim] - low) / ((high - low) / count)).astype(np.int64)
            total = total * count + np.clip(place, 0, count - 1)
        return total

    def count(self) -> int:
        return int(np.prod([int(count) for count in self.max_bins]))


class BinSort:
    """Sorts views by the bins of the keys; within a bin the order stays, unless asked for."""

    def __init__(self, keys: Any, *rest: Any) -> None:
        self.keys = keys
        self.bin_op: BinOp = next(each for each in rest if isinstance(each, BinOp))
        self.sort_within_bins = any(each is True for each in rest)
        self._order: np.ndarray[Any, Any] = np.arange(0)
        self._counts: np.ndarray[Any, Any] = np.arange(0)

    def create_permute_vector(self) -> None:
        """Find the order."""
        bins = self.bin_op.bins()
        self._counts = np.bincount(bins, minlength=self.bin_op.count())
        keys = np.asarray(self.keys)
        if self.sort_within_bins and keys.ndim == 1:
            self._order = np.lexsort((keys, bins))
        else:
            self._order = np.argsort(bins, kind="stable")

    def sort(self, values: ViewType) -> None:
        """Order a view's rows, as many as there are keys; those behind them stay."""
        rows = values.data[: len(self._order)]
        rows[...] = rows[self._order]

    def get_permute_vector(self) -> View:
        """For each place, which element comes there."""
        return wrapped(self._order.astype(np.int32))

    def get_bin_offsets(self) -> View:
        """Where each bin begins."""
        starts = np.concatenate(([0], np.cumsum(self._counts)[:-1]))
        return wrapped(starts.astype(np.int32))

    def get_bin_count(self) -> View:
        """How many elements each bin has."""
        return wrapped(self._counts.astype(np.int32))
