"""Products of bfloat16 under `torch.compile`: in the stated order, rounded once for each operation,
and ours where that is faster.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fusewright as fw
from fusewright.ir import bfloat16
from fusewright.ir.dtypes import FLOAT32
from fusewright.targets.reference import products as meaning

torch = pytest.importorskip("torch")
if True:  # torch is there
    from fusewright.bridges.torch import matrices

Array = np.ndarray[Any, Any]


def numbers(*shape: int) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(len(shape))).bfloat16()


def stored(x: Any) -> Array:
    return x.contiguous().view(torch.uint16).numpy().view(bfloat16.STORED).reshape(x.shape)


def bits(x: Any) -> Array:
    return np.asarray(x).view(np.uint16)


@pytest.fixture(autouse=True)
def _ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the processor."""
    monkeypatch.setattr("fusewright.bridges.torch.prices.is_half_quick_in_torch", lambda: False)


def compiled(function: Any) -> Any:
    torch._dynamo.reset()
    return torch.compile(function, backend="fusewright")


def test_order() -> None:
    x, w = numbers(4096, 70), numbers(70, 48)
    with torch.no_grad():
        found = compiled(lambda x, w: torch.relu(x @ w))(x, w)
        eager = torch.relu(x @ w)
    wanted = meaning.product(stored(x), stored(w))
    positive = bfloat16.widened(wanted) > 0
    assert positive.any()
    assert np.array_equal(bits(stored(found))[positive], bits(wanted)[positive])
    torch.testing.assert_close(found, eager, rtol=1.6e-2, atol=1e-5)


def test_a_sum_is_added_before_rounding() -> None:
    """`addmm` rounds once, as eager's does."""
    x, w, b = numbers(4096, 70), numbers(70, 48), numbers(48)
    with torch.no_grad():
        found = compiled(lambda x, w, b: torch.addmm(b, x, w).abs())(x, w, b)
    wide = meaning.product(stored(x), stored(w), FLOAT32) + bfloat16.widened(stored(b))
    assert np.array_equal(bits(stored(found)), bits(bfloat16.narrowed(np.abs(wide))))


def test_a_chain_has_the_bits_of_its_products() -> None:
    x, w, v = numbers(4096, 64), numbers(64, 96) / 8, numbers(96, 40) / 8

    def chain(x: torch.Tensor, w: torch.Tensor, v: torch.Tensor) -> Any:
        return torch.relu(x @ w) @ v

    with torch.no_grad():
        found = compiled(chain)(x, w, v)
    hidden = bfloat16.widened(meaning.product(stored(x), stored(w)))
    hidden = bfloat16.narrowed(np.maximum(hidden, np.float32(0)))
    assert np.array_equal(bits(stored(found)), bits(meaning.product(hidden, stored(v))))


@pytest.mark.parametrize(
    ("capabilities", "features", "is_quick"),
    [
        ({"cpu_name": "Intel Xeon", "avx512_bf16": True}, "auto", False),
        ({"cpu_name": "Intel Xeon", "avx512_bf16": True, "amx_bf16": True}, "auto", True),
        ({"cpu_name": "AMD EPYC", "avx512_bf16": True}, "auto", True),
        ({"cpu_name": "AMD EPYC"}, "auto", False),
    ],
)
def test_whose(
    capabilities: dict[str, Any], features: Any, is_quick: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities)
    with fw.options(features=features):
        assert matrices.is_half_quick_in_torch() == is_quick


def test_tiles_that_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"cpu_name": "Intel Xeon", "avx512_bf16": True, "amx_bf16": True}
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: found)
    with fw.options(features="amx"):
        assert not matrices.is_half_quick_in_torch()
