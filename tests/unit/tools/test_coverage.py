"""The page on coverage says what happens: each of its calls is run again."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tools import coverage, coverage_page
from tools.coverage import COMPILED, FALLBACK, LIBRARY, MIXED
from tools.coverage_page import PAGE, TITLES, Line, lines_of, measured

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.runtime import profile
from fusewright.targets.cpu import ahead

TEXT = PAGE.read_text(encoding="utf-8")
LINES = lines_of(TEXT)
(VERSION,) = re.findall(r"with NumPy (\d+\.\d+)", TEXT)
is_pages_numpy = np.__version__.startswith(f"{VERSION}.")
N = 200_000


@pytest.mark.parametrize("group", TITLES)
def test_every_row_is_what_a_profile_says(group: str) -> None:
    lines = [line for line in LINES if line.row.group == group and _exists(line)]
    assert lines
    found = measured(line.row for line in lines)
    if not is_pages_numpy:  # other versions may refuse other types
        found = [
            each._replace(exceptions=line.exceptions)
            for each, line in zip(found, lines, strict=True)
        ]
    if ahead.is_stale() or not ahead.count():  # made when the package is installed
        found = [each._replace(tier=line.tier) for each, line in zip(found, lines, strict=True)]
    assert [each.text() for each in found] == [line.text() for line in lines]


def _exists(line: Line) -> bool:
    try:
        eval(re.split(r"[(\[]", line.row.call)[0], {**coverage.names_of(line.row)})
    except AttributeError:
        return line.kind == coverage.ABSENT
    return True


@pytest.mark.parametrize("group", TITLES)
def test_strict_agrees_with_every_row(group: str) -> None:
    wanted = {FALLBACK: (FALLBACK, FALLBACK), LIBRARY: ("", LIBRARY), MIXED: ("", LIBRARY)}
    for line in LINES:
        if line.row.group == group and line.kind != coverage.ABSENT and _exists(line):
            seen = tuple(coverage.under_strict(line.row, strict) for strict in (True, "all"))
            assert seen == wanted.get(line.kind, ("", "")), line.row.call


@pytest.mark.skipif(not is_pages_numpy, reason="other names")
def test_every_public_name_is_there() -> None:
    rows = {line.row.name for line in LINES}
    others = {name for names in coverage_page.others().values() for name in names}
    for module in coverage.MODULES:
        for name in coverage.public(module):
            path = f"{module}.{name}" if module else name
            assert path in rows or path in others, path
    methods = {line.row.name for line in LINES if line.row.group == "ndarray"}
    public = {name for name in dir(np.ndarray) if not name.startswith("_")}
    assert public - methods <= {name.partition(".")[2] for name in others}


def test_the_rest_of_the_page_is_the_tables() -> None:
    assert coverage_page.page(LINES) == re.sub(
        r"(with NumPy )[\d.]+\.(?= )", rf"\g<1>{np.__version__}.", TEXT
    )


def test_a_wrong_row_is_seen() -> None:
    (line,) = (line for line in LINES if line.row.name == "median")
    (found,) = measured([line.row])
    assert found == line
    assert found._replace(kind=COMPILED).text() not in TEXT


# ---------------------------------------------------------------------------------------- strict


def _operands() -> dict[str, Any]:
    a = np.random.default_rng(3).random(N)
    made = {
        "a": a, "t": np.sort(a[:1000]), "i": np.arange(N), "z": a + 1j,
        "h": a.astype(np.float16), "s": a[:160_000].reshape(400, 400),
    }  # fmt: skip
    ours: dict[str, Any] = {name: fw.asarray(value) for name, value in made.items()}
    fw.evaluate(*ours.values())
    return ours


REFUSED: dict[str, Callable[..., Any]] = {
    "histogram": lambda np, a, **_: np.histogram(a, 5),
    "median": lambda np, a, **_: np.median(a),
    "percentile": lambda np, a, **_: np.percentile(a, 3),
    "convolve": lambda np, a, t, **_: np.convolve(a, t),
    "interp": lambda np, a, t, **_: np.interp(a, t, t),
    "corrcoef": lambda np, a, **_: np.corrcoef(a, a),
    "polyfit": lambda np, a, **_: np.polyfit(a, a, 1),
    "bincount": lambda np, i, **_: np.bincount(i),
    "digitize": lambda np, a, t, **_: np.digitize(a, t),
    "sin": lambda np, z, **_: np.sin(z),
    "power": lambda np, z, **_: z**2.5,
    "cumsum": lambda np, h, **_: np.cumsum(h),
}
LEFT: dict[str, Callable[..., Any]] = {
    "matmul": lambda np, s, **_: s[:, :100] @ s[:100],
    "linalg.solve": lambda np, s, **_: np.linalg.solve(s, s[0]),
    "fft.rfft": lambda np, a, **_: np.fft.rfft(a),
    "sort": lambda np, a, **_: np.sort(a),
    "nonzero": lambda np, a, **_: np.nonzero(a > 0.5),
    "a[mask]": lambda np, a, **_: float(a[a > 0.5][3]),
    "random.beta": lambda np, a, **_: np.random.beta(a + 1.0, 2.0),
}


@pytest.mark.parametrize("strict", [True, "all"])
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_compiled_is_refused(name: str, strict: bool | str) -> None:
    with (
        fw.options(strict=strict),
        pytest.raises(fw.FusewrightError, match=f"^{name} would run") as caught,
    ):
        REFUSED[name](fnp, **_operands())
    assert caught.value.code == "FW111"
    assert caught.value.where is not None and caught.value.where[0] == __file__
    assert f"strict={strict!r}" in str(caught.value)


@pytest.mark.parametrize("name", LEFT)
def test_library_steps_are_refused_by_all_alone(name: str) -> None:
    operands = _operands()
    with fw.options(strict=True):
        LEFT[name](fnp, **operands)
    with (
        fw.options(strict="all"),
        pytest.raises(fw.FusewrightError, match=f"^{re.escape(name)} would run") as caught,
    ):
        LEFT[name](fnp, **operands)
    assert caught.value.where is not None and caught.value.where[0] == __file__


def test_sums_of_float16_are_compiled() -> None:
    h = _operands()["h"]
    with fw.options(strict="all"), profile.listen() as heard:
        total = float(h.sum())
    assert heard.kernels and not heard.opaque
    assert total == np.inf  # 100 000 is no float16


def test_a_refused_statement_leaves_nothing_behind() -> None:
    z = _operands()["z"]
    with fw.options(strict=True):
        doubled = z * 2.0
        with pytest.raises(fw.FusewrightError):
            np.sin(doubled)
        assert np.asarray(doubled)[3] == np.asarray(z)[3] * 2.0
    assert np.asarray(np.sin(doubled)).shape == (N,)


def test_strict_reaches_lazy_blocks_and_recorded_functions() -> None:
    a = _operands()["a"]
    with fw.options(strict="all"):
        with fw.lazy(), pytest.raises(fw.FusewrightError, match="sort would run"):
            fnp.sort(a)
        assert float(fw.jit(lambda x: x * 2.0)(a)[5]) == 2.0 * float(a[5])
        with pytest.raises(fw.FusewrightError, match="sort would run"):
            fw.jit(lambda x: fnp.sort(x) + 1.0)(a)


@pytest.mark.parametrize("value", ["some", 1, None, "True"])
def test_other_values_are_refused(value: Any) -> None:
    with pytest.raises(fw.FusewrightError, match="FW113"), fw.options(strict=value):
        pass


def test_names_of_special_functions_are_shown_the_way() -> None:
    for name in ("gamma", "gammaln", "lgamma", "j0", "j1"):
        with pytest.raises(AttributeError, match=r"np\.special\.(gamma|j)"):
            getattr(fnp, name)
        assert not hasattr(fnp, name)
    a = fw.asarray(np.linspace(0.5, 3.0, 1000))
    assert float(fnp.special.gamma(a)[0]) == pytest.approx(np.sqrt(np.pi))
