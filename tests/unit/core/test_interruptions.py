"""Ctrl-C while kernels run: each one is seen, and no statement is half done."""

import random
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fusewright._core import native

PROGRAM = """
import signal, sys
import fusewright.numpy as np

class Stop(Exception):
    pass

def stop(number, frame):
    raise Stop("by a signal", number)

signal.signal(signal.SIGUSR1, stop)
x = np.zeros(1_000_000)
while True:
    try:
        print("begins", flush=True)
        while True:
            STATEMENTS
    except KeyboardInterrupt:
        said = "interrupted"
    except Stop as error:
        said = error.args[0]
    print(said, float(x.min()) == float(x.max()), flush=True)
"""
STATEMENTS = {
    "in place": "x += 1.0; float(x[7])",
    "new": "y = x * 2.0 + x; float(y[7])",
    "lent": "y = x[5:] + x[:-5]; memoryview(y); float(y.sum())",
}


@pytest.mark.skipif(native is None, reason="a finaliser in Python may be interrupted as it begins")
@pytest.mark.parametrize("statements", STATEMENTS.values(), ids=STATEMENTS)
def test_each_one_is_seen(statements: str, tmp_path: Path) -> None:
    """One in a hundred came when memory went back to the pool, where nobody hears of errors."""
    program = PROGRAM.replace("STATEMENTS", statements)
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as child:
        try:
            assert child.stdout is not None
            for number in [signal.SIGINT, signal.SIGUSR1] * 150:
                assert child.stdout.readline() == "begins\n"  # it is where it is caught
                time.sleep(random.uniform(0.0, 0.01))
                child.send_signal(number)
                assert select.select([child.stdout], [], [], 30)[0], "the interruption was lost"
                said = "interrupted" if number == signal.SIGINT else "by a signal"
                assert child.stdout.readline() == f"{said} True\n"
        finally:
            child.kill()
