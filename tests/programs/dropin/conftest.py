"""Values are computed by the evaluator the environment names."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.evaluators import installed


@pytest.fixture(autouse=True, scope="session")
def evaluator() -> Iterator[None]:
    with installed():
        yield
