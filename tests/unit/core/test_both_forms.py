"""Native or not, the core means the same: bit for bit, word for word."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fusewright._core import native

SCRIPT = Path(__file__).with_name("forms.py")
pytestmark = pytest.mark.skipif(native is None, reason="the native core is not in use")


def outcomes(form: str) -> list[str]:
    settings = os.environ | {
        "FUSEWRIGHT_NATIVE": form, "FUSEWRIGHT_SMALL": "0", "PYTHONHASHSEED": "0",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(SCRIPT)],
        env=settings, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    last = lines[-1] if lines else "nothing"
    assert done.returncode == 0, f"ends with {done.returncode} after {last}\n{done.stderr}"
    return lines


def test_both_forms_mean_the_same() -> None:
    ours, plain = outcomes("1"), outcomes("0")
    assert len(ours) == len(plain) > 10_000
    # CPython 3.13 writes the modules of types into messages of its own.
    module = "fusewright.frontends.arrays.handle."
    ours, plain = ([line.replace(module, "") for line in form] for form in (ours, plain))
    differ = [f"{a}\n{b}" for a, b in zip(ours, plain, strict=True) if a != b]
    assert not differ, "\n".join(differ[:20])
    internal = [line for line in ours if "InternalError" in line]
    assert not internal, internal[:5]
