"""A second process of a program plans nothing and compiles nothing: what the first one has made is
read from the disk.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import fusewright

PROGRAMS = Path(__file__).parents[1] / "programs"
DEMO = Path(fusewright.__file__).parent / "cli" / "demo" / "tsunami.py"

NETWORK = """
import numpy as np
rng = np.random.default_rng(0)
X = rng.standard_normal((600, 784)); Y = np.eye(10)[rng.integers(0, 10, 600)]
sizes = [784, 64, 10]
W = [rng.standard_normal((a, b)) / np.sqrt(a) for a, b in zip(sizes, sizes[1:])]
B = [np.zeros(b) for b in sizes[1:]]
V = [np.zeros_like(w) for w in W]
for epoch in range(2):
    order = rng.permutation(len(X))
    for start in range(0, len(X), 200):
        x, y = X[order[start:start + 200]], Y[order[start:start + 200]]
        hidden = np.tanh(x @ W[0] + B[0])
        e = np.exp(hidden @ W[1] + B[1])
        p = e / e.sum(axis=1, keepdims=True)
        loss = -np.sum(y * np.log(p + 1e-12)) / len(x)
        delta = (p - y) / len(x)
        back = (delta @ W[1].T) * (1 - hidden * hidden)
        for layer, (a, d) in enumerate(((x, back), (hidden, delta))):
            V[layer] = 0.9 * V[layer] - 0.1 * (a.T @ d)
            W[layer] += V[layer]
            B[layer] -= 0.1 * d.sum(axis=0)
    print(epoch, round(float(loss), 9))
"""
KERNEL = """
import numpy as np
import fusewright as fw
@fw.kernel
def smooth(x, y):
    for i in range(1, x.shape[0] - 1):
        y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3
x = np.sin(np.arange(5000.0)); y = np.zeros(5000)
for _ in range(5): smooth(x, y); smooth(y, x)
print(round(float(np.asarray(x).sum()), 9))
"""
WATCHED = """
import atexit, importlib, json, runpy, sys
from fusewright.cli.main import main
code = main(["run", *{words!r}])
made = dict(
    planner=[name for name in sys.modules if name in (
        "fusewright.targets.cpu.build", "fusewright.plan.fuse",
        "fusewright.codegen.lower", "fusewright.plan.loops.decide", "fusewright.codegen.statements",
        "islpy", "llvmlite.binding")],
    llvm="fusewright.targets.cpu.workers" in sys.modules,
    driver="fusewright.driver" in sys.modules or "fusewright.targets.cpu.loops" in sys.modules,
    code=code,
)
print("made", json.dumps(made))
"""


def process(folder: Path, *words: str) -> tuple[str, dict[str, object]]:
    """What a program prints, and which of our tools its process needed."""
    # Everything is compiled: what is left to NumPy or tried first (by its time) is not of interest.
    environment = {
        **os.environ, "FUSEWRIGHT_CACHE_DIR": str(folder / "cache"), "FUSEWRIGHT_INTERPRET": "0",
        "FUSEWRIGHT_SMALL": "0",
        "OPENBLAS_NUM_THREADS": "1",
    }  # fmt: skip
    command = [sys.executable, "-c", WATCHED.replace("{words!r}", repr(list(words)))]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    out, _, made = done.stdout.rpartition("made ")
    assert made, done.stderr
    return out, json.loads(made)


CASES = {
    "network": NETWORK,
    "kernel": KERNEL,
    "demo": [str(DEMO), "40"],
    **{path.stem: [str(path)] for path in sorted(PROGRAMS.glob("[!t]*.py"))},
}


@pytest.mark.parametrize("name", CASES)
def test_the_second_process_neither_plans_nor_compiles(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    if isinstance(case, str):
        (tmp_path / "p.py").write_text(case)
        case = ["p.py"]
    first, cold = process(tmp_path, *case)
    second, warm = process(tmp_path, *case)
    assert cold["code"] == 0 and cold["llvm"] and cold["planner"], "the test sees nothing"
    assert second == first
    assert warm == {"planner": [], "llvm": False, "driver": True, "code": 0}
