"""Random arrays follow from the test alone, whichever tests have run before it in its process."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.unit.kernels import data

_STATES: dict[int, Any] = {id(data.shared.rng): data.shared.rng.bit_generator.state}


@pytest.fixture(autouse=True)
def _same_numbers(request: pytest.FixtureRequest) -> Iterator[None]:
    for generator in [*vars(request.module).values(), data.shared.rng]:
        if isinstance(generator, np.random.Generator):
            state = _STATES.setdefault(id(generator), generator.bit_generator.state)
            generator.bit_generator.state = state
    yield
