"""The other commands on this machine, and what they say when something is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fusewright.base import options
from fusewright.cli import bench, checks, doctor
from fusewright.cli.main import main
from fusewright.cli.parsing import COMMANDS
from fusewright.runtime import cache
from fusewright.runtime.profile import listen


def _call(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(list(words))
    captured = capsys.readouterr()
    return code, captured.out + captured.err


def test_info(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = _call(capsys, "info")
    assert code == 0
    for words in ("numpy  ", "llvmlite  ", "vectors  ", "threads  ", str(folder / "cache")):
        assert words in text
    for name in options.TABLE:
        assert f"option {name}" in text


def test_cache(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _call(capsys, "cache", "path") == (0, f"{folder / 'cache'}\n")
    cache.put("abc", b"code")
    code, text = _call(capsys, "cache")
    assert code == 0
    assert re.search(r"files +1\n", text)
    assert _call(capsys, "cache", "clear")[1].startswith("removed 1 file ")
    assert re.search(r"files +0\n", _call(capsys, "cache", "info")[1])


def test_a_cache_that_cannot_be_used(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "cache").mkdir()
    (folder / "cache").chmod(0o777)
    code, text = _call(capsys, "cache")
    assert code == 1
    assert "other users may write it" in text


def test_a_healthy_machine(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = _call(capsys, "doctor")
    assert code == 0, text
    assert text.count("OK ") == len(checks.CHECKS)
    assert not list((folder / "cache").glob(f"{checks.PROBE}*")), "the probe is removed"


def test_an_ill_cache_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "cache").write_text("a file, not a folder")
    code, text = _call(capsys, "doctor")
    assert code == 1
    assert re.search(r"FAIL cache .*it is not a folder", text)
    assert "FUSEWRIGHT_CACHE_DIR" in text


def test_an_ill_setting(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FUSEWRIGHT_FEATURES", "avx9000")
    code, text = _call(capsys, "doctor")
    assert code == 1
    assert re.search(r"FAIL settings .*avx9000", text)
    assert "OK   python" in text


def test_a_check_that_breaks_is_a_finding() -> None:
    def broken() -> str:
        raise ZeroDivisionError("x")

    finding = doctor.examine("it", broken)
    assert not finding.ok
    assert "ZeroDivisionError: x" in finding.detail
    assert "report" in finding.help


def test_a_wrong_kernel_is_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks.np, "array_equal", lambda a, b: False)
    assert "wrong values" in doctor.examine("kernel", checks.CHECKS["kernel"]).detail


def test_bench(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "SECONDS", 0.01)
    code, text = _call(capsys, "bench", "--size", "5000")
    assert code == 0, text
    assert len(re.findall(r"/s +right", text)) == 4
    assert text.count("5,000") == 4


def test_bench_measures_kernels_of_ours(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that is timed of E is one fused kernel, compiled at once: nothing of it is NumPy's."""
    monkeypatch.setattr(bench, "SECONDS", 0.001)
    with options.options(interpret=True, small=512), listen() as profile:  # what users have
        bench.measure("E", bench.expression, 5000, "float64")
    assert len(profile.kernels) == len(profile.flushes) > bench.LEAST_RUNS
    for step in profile.kernels:
        assert [o.name for o in step.operations if o.place != "input"][-1] == "add"
        assert len(step.operations) > 10 and step.bytes_read == 4 * 8 * 5000


def test_bench_finds_a_wrong_result(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "SECONDS", 0.001)

    def different(np: object, *inputs: object) -> object:
        return bench.expression(np, *inputs) + (np.__name__ != "numpy")  # type: ignore[arg-type, attr-defined]

    assert bench.measure("E", different, 100, "float64").problem != ""
    assert bench.measure("E", bench.expression, 100, "float64").problem == ""


def test_demo(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code = main(["demo", "--steps", "50"])
    text, err = capfd.readouterr()
    assert code == 0, text + err
    assert "All results agree." in text
    assert re.search(r"NumPy [\d.]+ m?s, Fusewright [\d.]+ m?s: [\d.]+x", text)
    assert "array operations ran as" in text
    page = (folder / "fusewright-demo.html").read_text(encoding="utf-8")
    assert "tsunami.py" in page and "Speed-up over NumPy" in page
    assert "data:image/png;base64,iVBORw0KGgo" in page
    assert re.search(r"the next run, its code on disk: [\d.]+ m?s: [\d.]+x", text)
    assert "a run of its own, in which each step was noted" in text
    assert "where the time went" in text
    commands = re.findall(r"^  fusewright (\w+)", text, re.MULTILINE)
    assert len(commands) == 3 and set(commands) <= set(COMMANDS)
