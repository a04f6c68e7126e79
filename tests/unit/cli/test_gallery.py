"""The gallery: every program runs, agrees with NumPy, and leaves a picture."""

from __future__ import annotations

import runpy
import shutil
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

from fusewright.base import source
from fusewright.cli import compare, gallery
from fusewright.cli.gallery.catalogue import ENTRIES
from fusewright.cli.main import main
from fusewright.cli.picture import levels, palette, png, save_png

SMALL = 96
"""The size of each program here: large enough for arrays of ours."""


def test_every_file_has_a_row_and_every_row_a_file() -> None:
    assert {path.name for path in gallery.FOLDER.glob("*.py")} == {
        entry.file for entry in ENTRIES.values()
    }
    assert len(ENTRIES) >= 12


def test_programs_are_short() -> None:
    lengths = [len(gallery.source(entry).splitlines()) for entry in ENTRIES.values()]
    assert all(15 <= length <= 60 for length in lengths), lengths


@pytest.mark.parametrize("name", ENTRIES)
def test_program(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = ENTRIES[name]
    program = shutil.copy(gallery.FOLDER / entry.file, tmp_path)
    ours, _ = gallery.run(entry, tmp_path, "ours", SMALL)
    # NumPy's side runs here: a process more for each program would double the time.
    monkeypatch.setattr("sys.argv", [program, str(SMALL), "plain"])
    theirs = compare.collect(runpy.run_path(program, run_name="__main__"), list(ours))
    assert set(ours) == {*entry.results, "image"}
    rows = compare.compare_all(ours, theirs, None)
    assert not [row for row in rows if row.problem]
    image = ours["image"]
    assert image.ndim == 2 and np.unique(levels(image)).size > 1


def test_the_command_lists_shows_and_runs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["gallery"]) == 0
    listed = capsys.readouterr().out
    assert all(entry.title in listed for entry in ENTRIES.values())
    assert main(["gallery", "julia", "--source"]) == 0
    assert capsys.readouterr().out == gallery.source(ENTRIES["julia"])
    picture = tmp_path / "heat.png"
    assert main(["gallery", "heat", "--size", "64", "--picture", str(picture)]) == 0
    printed = capsys.readouterr().out
    assert "all results agree" in printed and ENTRIES["heat"].moral in printed
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_name_that_does_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gallery", "haet"]) == 2
    assert "did you mean heat? `fusewright gallery` lists them" in capsys.readouterr().err
    assert main(["gallery", "xx"]) == 2
    (line,) = capsys.readouterr().err.splitlines()  # nothing is near: all of them
    assert f"there are {', '.join(ENTRIES)}. `fusewright gallery` lists them" in line


def test_a_program_that_fails_says_what_it_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "heat.py").write_text("raise ValueError('no fuel')\n", encoding="utf-8")
    monkeypatch.setattr(gallery, "FOLDER", tmp_path)
    assert main(["gallery", "heat"]) == 1
    assert "no fuel" in capsys.readouterr().err


def test_a_picture_holds_its_pixels(tmp_path: Path) -> None:
    image = np.array([[0.0, 1.0, np.nan], [np.inf, 0.5, -1.0]])
    pixels = levels(image)
    assert pixels.tolist()[0][2] == pixels.tolist()[1][2] == 0  # NaN is dark, and so is the least
    assert pixels[1, 0] == pixels[0, 1] == pixels.max() == len(palette()) - 1
    data = png(pixels, palette())
    chunks = list(_chunks(data))
    assert [kind for kind, _ in chunks] == [b"IHDR", b"PLTE", b"IDAT", b"IEND"]
    assert struct.unpack(">II", chunks[0][1][:8]) == (3, 2)
    rows = np.frombuffer(zlib.decompress(chunks[2][1]), np.uint8).reshape(2, 4)
    assert (rows[:, 0] == 0).all() and (rows[:, 1:] == pixels).all()
    save_png(tmp_path / "flat.png", np.zeros((2, 2)))
    assert (tmp_path / "flat.png").stat().st_size > 0


def _chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    found, at = [], 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        (check,) = struct.unpack(">I", data[at + 8 + length : at + 12 + length])
        assert check == zlib.crc32(kind + body)
        found.append((kind, body))
        at += 12 + length
    return found


def test_large_pictures_are_reduced() -> None:
    assert gallery.reduced(np.zeros((1000, 500))).shape == (167, 84)
    assert gallery.reduced(np.zeros((100, 192))).shape == (100, 192)


def test_lines_and_loops_of_shipped_programs_are_a_users(tmp_path: Path) -> None:
    """They lie in the package's folder: their loops were not looked for, and every kernel stood at
    a line of `runpy`.
    """
    for entry in ENTRIES.values():
        assert not source.is_inside(compile("0", str(gallery.FOLDER / entry.file), "exec"))
    assert source.is_inside(gallery.measure.__code__)
    report = tmp_path / "report.html"
    program = str(gallery.FOLDER / "heat.py")
    words = [sys.executable, "-m", "fusewright", "explain", "--report", str(report), program, "64"]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    assert "heat.py:" in done.stderr + report.read_text()
    assert "runpy" not in report.read_text()
