"""Compile whatever is computed, unless a test says otherwise: most work of tests is so small that
it would be interpreted.  What users have is tested by the evaluator `interpreted` and by programs
run as they run them.

Arrays are ours at any size (`small=0`) for the same reason; `FUSEWRIGHT_TEST_SMALL=512` runs the
tests with small arrays that are NumPy's own, as users have them.
"""

import os
import signal
from collections.abc import Iterator

import pytest
from tests import evaluators

from fusewright.base.options import set_defaults


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write tests/golden/texts anew")


@pytest.fixture(autouse=True)
def _compiling() -> Iterator[None]:
    set_defaults(interpret=evaluators.current == "interpreted")
    yield


set_defaults(interpret=False, small=int(os.environ.get("FUSEWRIGHT_TEST_SMALL", "0")))

# A shell starts what runs in the background with interruptions ignored, and so would every
# program that a test starts; tests that interrupt programs need them delivered.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
