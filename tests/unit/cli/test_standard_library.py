"""The standard library's functions that look into numbers take ours as they take NumPy's."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]

SETUP = """
    import numpy as np
    x = np.arange(10_000) / 8
    top, mean, low = x.max(), x.mean(), x.min()
    deep = [{"a": [[[[mean]]]]}, *range(100), top]
    narrow, whole = x.astype(np.float32).sum(), x.astype(int).sum()
"""
PROGRAMS = {
    "json.dumps": "import json; print(json.dumps({'top': top, 'all': [mean, (low, 1)]}))",
    "deep": "from json import dumps; print(dumps(deep))",
    "json.dump": "import json, sys; json.dump([top, x[:3].tolist()], sys.stdout, indent=1)",
    "default": "import json; print(json.dumps([top], default=str))",
    "encoder": """
        import json
        class Encoder(json.JSONEncoder):
            def default(self, o):
                if isinstance(o, np.ndarray):
                    return o.tolist()
                return int(o) if isinstance(o, np.integer) else super().default(o)
        print(json.dumps({"x": x[:5], "n": [whole, top]}, cls=Encoder))
    """,
    "refused": """
        import json
        for each in (narrow, whole, x):
            try:
                print(json.dumps([each]))
            except TypeError as e:
                print(e)
    """,
    "time.sleep": "import time; time.sleep(low); print('slept')",
    "statistics": """
        import statistics as st
        print(float(st.mean([top, low, mean])), st.fmean([top, 2.0]), float(st.stdev([top, low])))
        print(float(st.median([top, low, mean])), float(st.pstdev([mean, top], mean)))
    """,
    "sqlite3": """
        import sqlite3
        base = sqlite3.connect(":memory:")
        base.execute("create table t (a, b)")
        base.execute("insert into t values (?, ?)", (top, 2))
        base.cursor().executemany("insert into t values (?, ?)", [(low, mean), (whole, None)])
        print(base.execute("select * from t").fetchall())
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers_are_as_numpys(run: Run, folder: Path, name: str) -> None:
    text = textwrap.dedent(SETUP) + textwrap.dedent(PROGRAMS[name])
    (folder / "p.py").write_text(text)
    plain = subprocess.run(
        [sys.executable, "p.py"], cwd=folder, capture_output=True, text=True, check=True
    )
    assert run("p.py") == (0, plain.stdout, "")


def test_helpers_that_do_not_know_numpy(run: Run, folder: Path) -> None:
    (folder / "saving.py").write_text("import json\ndef save(o):\n    return json.dumps(o)\n")
    (folder / "p.py").write_text(
        "import numpy as np\nimport saving\nprint(saving.save({'a': np.arange(5000.0).max()}))\n"
    )
    assert run("p.py") == (0, '{"a": 4999.0}\n', "")


def test_programs_without_numpy_load_nothing(folder: Path) -> None:
    (folder / "p.py").write_text(
        "import json, sys, time\ntime.sleep(0.0)\n"
        "print(json.dumps([1]), 'fusewright.numpy.border' in sys.modules)\n"
    )
    command = [sys.executable, "-m", "fusewright", "run", "p.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert done.stdout == "[1] False\n"
