"""What the guide says of caches, containers, CI, processes, Ctrl-C and plots, tried."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.runtime import profile

PROGRAM = """
import numpy as np, fusewright as fw, fusewright.numpy as fnp
from fusewright.runtime import profile
x = fw.asarray(np.linspace(0.0, 1.0, 50_000))
with profile.listen() as heard, fw.options(interpret=False, background=False):
    total = float((fnp.sqrt(x) * x + 2.0).sum())
print(heard.kernels[0].origin, f"{total:.6f}")
"""


def run(folder: Path, program: str, **settings: str) -> subprocess.CompletedProcess[str]:
    kept = {name: s for name, s in os.environ.items() if not name.startswith("FUSEWRIGHT_")}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=folder, env=kept | settings, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip


def origin(folder: Path, **settings: str) -> str:
    return run(folder, PROGRAM, FUSEWRIGHT_CACHE_DIR=str(folder / "cache"), **settings).stdout


def contents(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_machines_of_different_kinds_share_a_folder(tmp_path: Path) -> None:
    first = origin(tmp_path, FUSEWRIGHT_FEATURES="avx2")
    assert first.startswith("compiled")
    narrow = contents(tmp_path / "cache").keys()
    again = origin(tmp_path, FUSEWRIGHT_FEATURES="avx2")
    assert again == first.replace("compiled", "disk")
    if "avx2" not in fw.info()["vectors"]:
        assert origin(tmp_path) == first
        assert narrow < contents(tmp_path / "cache").keys()


def test_a_warm_cache_in_an_image_is_read_and_not_written(tmp_path: Path) -> None:
    origin(tmp_path)
    before = contents(tmp_path / "cache")
    for path in (tmp_path / "cache").rglob("*"):
        path.chmod(0o500 if path.is_dir() else 0o400)
    (tmp_path / "cache").chmod(0o500)
    assert origin(tmp_path).startswith("disk")
    assert contents(tmp_path / "cache") == before


def test_the_folder_may_be_deleted_at_any_time(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    program = PROGRAM + f"import shutil; shutil.rmtree({str(cache)!r})\n"
    program += """
with fw.options(interpret=False, background=False):
    print(float((fnp.sqrt(x) - fnp.cos(x)).max()) > 0)
"""
    done = run(tmp_path, program, FUSEWRIGHT_CACHE_DIR=str(cache))
    assert done.stdout.splitlines()[1] == "True" and not done.stderr
    assert contents(cache)


def test_a_relative_folder_stays_where_the_drop_in_was_imported(tmp_path: Path) -> None:
    """A test that changes the current folder (as many do) scatters no caches."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    program = f"import os, fusewright.numpy; os.chdir({str(elsewhere)!r})\n{PROGRAM}"
    run(tmp_path, program, FUSEWRIGHT_CACHE_DIR=".fusewright-cache")
    assert not list(elsewhere.iterdir())
    assert contents(tmp_path / ".fusewright-cache")


WORKER = """
import multiprocessing
import numpy as np

def library():
    return np.__name__

if __name__ == "__main__":
    context = multiprocessing.get_context({method!r})
    with context.Pool(1) as pool:
        print(np.__name__, pool.apply(library))
"""


@pytest.mark.parametrize(("method", "name"), [("fork", "fusewright.numpy"), ("spawn", "numpy")])
def test_processes_that_begin_anew_have_numpy(tmp_path: Path, method: str, name: str) -> None:
    (tmp_path / "p.py").write_text(WORKER.format(method=method))
    done = subprocess.run(
        [sys.executable, "-m", "fusewright", "run", "p.py"],
        cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert done.stdout.split() == ["fusewright.numpy", name]


def test_a_worker_that_imports_the_drop_in_has_it(tmp_path: Path) -> None:
    text = WORKER.format(method="spawn").replace(
        "import numpy as np", "import fusewright.numpy as np"
    )
    (tmp_path / "p.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "p.py"], cwd=tmp_path, capture_output=True, text=True, check=True,
        timeout=120,
    )  # fmt: skip
    assert done.stdout.split() == ["fusewright.numpy"] * 2


LONG = """
import fusewright.numpy as np
x = np.zeros(2_000_000)
print("begins", flush=True)
try:
    while True:
        x += 1.0
        float(x[7])
except KeyboardInterrupt:
    print(float(x.min()) == float(x.max()), float(x[0]) > 0)
"""


def test_ctrl_c_is_seen_between_kernels(tmp_path: Path) -> None:
    """Soon, and no statement is half done."""
    with subprocess.Popen(
        [sys.executable, "-c", LONG], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as child:
        try:
            assert child.stdout is not None and child.stdout.readline() == "begins\n"
            time.sleep(1.0)
            child.send_signal(signal.SIGINT)
            assert child.communicate(timeout=60)[0].split() == ["True", "True"]
        finally:
            child.kill()


def test_a_value_that_is_held_is_computed_once_for_three_plots() -> None:
    with fw.options(target="cpu", interpret=False, background=False), profile.listen() as heard:
        x = fw.asarray(np.linspace(0.0, 1.0, 100_000))
        y = fnp.sqrt(x * x + 1.0)
        drawn = [np.asarray(y) for _ in range(3)]
    assert len(heard.kernels) == 1
    assert all(np.array_equal(each, drawn[0]) for each in drawn)
