"""Whatever the core is given, it raises or works: it never ends the process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fusewright._core import native

SCRIPT = Path(__file__).with_name("wrong_arguments.py")
pytestmark = pytest.mark.skipif(native is None, reason="the native core is not in use")


@pytest.mark.parametrize("form", ["ready", "bare"])
def test_wrong_arguments_raise(form: str) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), form], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert int(done.stdout.split()[0]) > 150
