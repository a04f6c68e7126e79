"""Attention is ours in these tests, on processors too where torch's is faster."""

from __future__ import annotations

import pytest

from fusewright.bridges.torch import attention


@pytest.fixture(autouse=True)
def _attention_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "is_quick_in_torch", lambda: False)
