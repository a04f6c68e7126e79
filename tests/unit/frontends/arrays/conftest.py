"""Values are computed by each evaluator in turn."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.evaluators import EVALUATORS, installed


@pytest.fixture(autouse=True, scope="module", params=EVALUATORS)
def evaluator(request: pytest.FixtureRequest) -> Iterator[None]:
    with installed(request.param):
        yield
