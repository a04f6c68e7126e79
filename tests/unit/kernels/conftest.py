"""Random arrays follow from the test alone, whichever tests have run before it in its process."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.unit.kernels.data import Numbers

_AT_IMPORT: dict[int, Any] = {}


@pytest.fixture(autouse=True)
def _same_numbers(request: pytest.FixtureRequest) -> Iterator[None]:
    for value in vars(request.module).values():
        generator = value.rng if isinstance(value, Numbers) else value
        if isinstance(generator, np.random.Generator):
            bits = generator.bit_generator
            bits.state = _AT_IMPORT.setdefault(id(bits), bits.state)
    yield
