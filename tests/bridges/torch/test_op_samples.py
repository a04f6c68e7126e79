"""Torch's own samples: what eager calls for them, by our rows; and gradients by differences."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
pytest.importorskip("expecttest")  # torch's own samples need it
if True:  # both are there
    from tests.bridges.torch import op_samples

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # torch's own
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


@pytest.mark.parametrize("dtype", op_samples.DTYPES)
def test_calls_of_torchs_samples(dtype: str) -> None:
    """One sample of each operation here; all of them by the command in `op_samples`."""
    most = 3 if dtype == "float32" else 1
    found = list(op_samples.checked(op_samples.NAMES, [op_samples.DTYPES[dtype]], most))
    assert not [told for _, _, told in found if told]
    ours = sum(whose for _, whose, _ in found)
    assert ours > 0.6 * len(found) and ours > 40


@pytest.mark.parametrize("name", op_samples.DIFFERENTIABLE)
def test_gradients_by_differences(name: str) -> None:
    told, compared = op_samples.gradients(name, 2)
    assert not told and compared
