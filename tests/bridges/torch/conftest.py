"""Attention is ours in these tests, on processors too where torch's is faster, and so is whatever
has a row, however little there is to save.
"""

from __future__ import annotations

import pytest

from fusewright.bridges.torch import attention


@pytest.fixture(autouse=True)
def _everything_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "is_quick_in_torch", lambda: False)
    pytest.importorskip("torch")
    from fusewright.bridges.torch import backend

    monkeypatch.setitem(backend.OPTIONS, "always", True)
