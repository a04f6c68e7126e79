"""Measured figures: kept for machines of a kind, read back, and only believed where they can be."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import fusewright as fw
from fusewright.base.options import calibration
from fusewright.cli import calibrate, info
from fusewright.cli.main import main
from fusewright.machine import detect, stored
from fusewright.machine.record import DEFAULT, Machine


def test_what_is_kept_is_found_again(tmp_path: Path) -> None:
    with fw.options(cache_dir=str(tmp_path / "cache")):
        assert "measured" not in stored.found()[1].values()
        name = stored.keep({"fork": 2345.5, "exp": 3.25})
        found, origins = stored.found()
        assert name == calibration()
    assert Path(name).parent == tmp_path / "cache"
    assert (found.fork, found.exp) == (2345.5, 3.25)
    assert found.divide == DEFAULT.divide
    measured = dict.fromkeys(("fork", "exp"), "measured")
    assert origins == dict.fromkeys(detect.caches(), "detected") | measured


@pytest.mark.parametrize(
    "text",
    [
        "fork", "fork many", "fork -5", "fork 0", "fork nan", "fork inf", "fork 1e30",
        "second 7", "past 7", "nothing 3", "fork 1 2", "\x00\xff",
    ],
)  # fmt: skip
def test_what_no_machine_can_have_is_not_believed(tmp_path: Path, text: str) -> None:
    (tmp_path / "m.txt").write_bytes(f"{text}\nexp 3.0\n".encode("latin-1"))
    found = stored.read(str(tmp_path / "m.txt"))
    assert found in ({"exp": 3.0}, {})
    assert found or not text.isascii()


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert (
        stored.read(str(tmp_path / "gone")) == stored.read("") == stored.read(str(tmp_path)) == {}
    )


def test_an_error_is_no_lasting_fact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be detected once is found by the next process: nothing was written down."""
    with fw.options(cache_dir=str(tmp_path)):
        with monkeypatch.context() as once:
            once.setattr(detect, "caches", dict)
            assert stored.found() == (DEFAULT, {})
        assert set(stored.found()[1]) == set(detect.caches())
    assert list(tmp_path.iterdir()) == []


def test_calibrating(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FUSEWRIGHT_CACHE_DIR", str(tmp_path))
    for name, few in (("SHORT", 1e-5), ("ROUNDS", 1), ("FORKS", 3), ("FROM_MEMORY", 1)):
        monkeypatch.setattr(calibrate, name, few)
    with fw.options(cache_dir=str(tmp_path)):
        assert main(["bench", "--calibrate"]) == 0
        origins = stored.found()[1]
        printed = capsys.readouterr().out
        assert main(["info"]) == 0
    measured = {name for name, word in origins.items() if word == "measured"}
    assert len(measured) >= 8 and measured <= set(stored.MEASURED)
    assert "kept in" in printed
    rows = re.findall(r"^machine: (.*?)  .*\((\w+)\)$", capsys.readouterr().out, re.MULTILINE)
    assert dict(rows) == {
        info.WORDS[name]: origins.get(name, "default") for name in Machine._fields
    }
