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
from fusewright._core import native

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
if {waits!r} and "fusewright.runtime.background" in sys.modules:
    sys.modules["fusewright.runtime.background"].wait()
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


ALL_COMPILED = {
    "FUSEWRIGHT_INTERPRET": "0", "FUSEWRIGHT_SMALL": "0", "FUSEWRIGHT_BACKGROUND": "0"
}  # fmt: skip
"""What is left to NumPy, or runs operation by operation first, is not of interest; nor is better
code, which is made after so many seconds of running: on a slow machine by any process.
"""


def process(
    folder: Path, *words: str, variables: dict[str, str] = ALL_COMPILED, waits: bool = False
) -> tuple[str, dict[str, object]]:
    """What a program prints, and which of our tools its process needed; a process that waits ends
    when everything that it has begun to compile is there.
    """
    environment = {
        **os.environ, **variables, "FUSEWRIGHT_CACHE_DIR": str(folder / "cache"),
        "OPENBLAS_NUM_THREADS": "1",
    }  # fmt: skip
    watched = WATCHED.replace("{words!r}", repr(list(words))).replace("{waits!r}", repr(waits))
    command = [sys.executable, "-c", watched]
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


SMALL = {
    "loop": """
v = np.array([1.0, 2.0, 3.0]); s = np.zeros(3)
for i in range(3000): s += v * 0.5; v[1] = s[0] * 1e-3
""",
    "laplace": """
u = np.zeros((500, 500)); u[0] = 1.0
for step in range(60):
    new = u.copy()
    new[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    s = np.max(np.abs(new - u)); u = new
""",
    "wave": """
a = np.zeros(200000); a[90000:110000] = 1.0; b = a.copy()
for step in range(80):
    c = np.zeros(200000); c[1:-1] = 2 * b[1:-1] - a[1:-1] + 0.25 * (b[2:] - 2 * b[1:-1] + b[:-2])
    a, b = b, c
s = b.sum()
""",
    "monte carlo": """
z = np.random.default_rng(1).standard_normal(1000000)
s = np.maximum(100 * np.exp(0.03 + 0.2 * z) - 100, 0).mean()
""",
    "walk": """
moves = np.random.default_rng(1).integers(1, 5, (60, 20000)); x = np.zeros(20000)
for step in range(60):
    x += np.where(moves[step] == 1, 1, 0); x -= np.where(moves[step] == 2, 1, 0); s = np.std(x)
""",
    "filter": """
p = np.pad(np.random.default_rng(1).random((512, 512)), 2); s = np.zeros((512, 512))
for turn in range(4):
    for i in range(5):
        for j in range(5): s += 0.04 * p[i:i + 512, j:j + 512]
s = np.sqrt(s * s + 1).mean()
""",
    "life": """
w = np.random.default_rng(1).integers(0, 2, (256, 256))
for step in range(60):
    n = sum(np.roll(w, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - w
    w = ((n == 3) | ((w == 1) & (n == 2))).astype(int)
s = w.sum()
""",
    "clusters": """
X = np.random.default_rng(1).standard_normal((10000, 2)); C = X[:5]
for turn in range(20):
    label = np.sqrt(((X[:, None, :] - C[None, :, :]) ** 2).sum(axis=2)).argmin(axis=1)
    C = np.array([X[label == k].mean(axis=0) for k in range(5)])
s = C.sum()
""",
    "regression": """
X = np.random.default_rng(1).standard_normal((20000, 10)); y = (X[:, 0] > 0).astype(float)
w = np.zeros(10)
for epoch in range(100):
    p = 1 / (1 + np.exp(-(X @ w))); w = w - 0.1 * (X.T @ (p - y)) / 20000
s = w.sum()
""",
    "mandelbrot": """
c = np.linspace(-2, 1, 400)[None, :] + 1j * np.linspace(-1, 1, 300)[:, None]; z = np.zeros_like(c)
m = np.ones(c.shape, bool)
for turn in range(40): z[m] = z[m] * z[m] + c[m]; m[np.abs(z) > 2] = False
s = m.sum()
""",
}
"""Programs of some tenths of a second, as people write them."""


@pytest.mark.skipif(native is None, reason="without the core everything is interpreted in Python")
@pytest.mark.parametrize("name", SMALL)
def test_a_small_program_plans_and_compiles_nothing_again(name: str, tmp_path: Path) -> None:
    """As it runs for everybody.  What has taken a third of the time that its compilation takes is
    compiled by the second process, or by the third where it has taken as long only there: the
    fourth has nothing left to do.  (On a fast machine some do not take as long, and none compiles
    anything.)
    """
    text = f"import numpy as np\n{SMALL[name]}\nprint(round(float(np.sum(s)), 6))"
    (tmp_path / "p.py").write_text(text)
    found = [
        process(tmp_path, "p.py", variables={}, waits=waits) for waits in (True, True, True, False)
    ]
    outs, made = zip(*found, strict=True)
    assert len({*outs}) == 1
    assert made[3]["driver"] == (name != "loop"), made  # which has no large array
    assert made[3] == {**made[3], "planner": [], "llvm": False, "code": 0}
