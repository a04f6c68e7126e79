"""Compile whatever is computed, unless a test says otherwise: most work of tests is so small that
it would be interpreted.  What users have is tested by the evaluator `interpreted` and by programs
run as they run them.
"""

from collections.abc import Iterator

import pytest
from tests import evaluators

from fusewright.base.options import set_defaults


@pytest.fixture(autouse=True)
def _compiling() -> Iterator[None]:
    set_defaults(interpret=evaluators.current == "interpreted")
    yield


set_defaults(interpret=False)
