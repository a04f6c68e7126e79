"""Caches are found where they can be, and what cannot be found stays unknown."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fusewright.machine import detect

USUAL = {
    "index0": ("1", "Data", "48K"), "index1": ("1", "Instruction", "32K"),
    "index2": ("2", "Unified", "1024K"), "index3": ("3", "Unified", "32M"),
}  # fmt: skip


def _kernel(folder: Path, levels: dict[str, tuple[str, str, str]]) -> str:
    for name, words in levels.items():
        (folder / name).mkdir()
        for file, word in zip(("level", "type", "size"), words, strict=True):
            (folder / name / file).write_text(f"{word}\n")
    return str(folder)


def test_of_the_kernel(tmp_path: Path) -> None:
    folder = _kernel(tmp_path, USUAL)
    every = {"first": 48 << 10, "second": 1 << 20, "third": 32 << 20}
    assert detect.of_kernel(folder) == every
    assert detect.of_kernel(folder, ["third"]) == {"third": 32 << 20}


@pytest.mark.parametrize("word", ["", "K", "many", "-1K\n3"])
def test_what_cannot_be_read_is_left_out(tmp_path: Path, word: str) -> None:
    folder = _kernel(tmp_path, USUAL | {"index2": ("2", "Unified", word)})
    assert detect.of_kernel(folder) == {"first": 48 << 10, "third": 32 << 20}
    assert detect.of_kernel(str(tmp_path / "gone")) == {}


def test_an_answer_that_no_cache_can_have_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detect, "of_library", lambda: {"first": 16, "second": 1 << 50})
    monkeypatch.setattr(detect, "of_kernel", lambda *_: {"third": 8 << 20})
    assert detect.caches() == {"third": 8 << 20}


def test_a_library_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: object) -> int:
        raise OSError("not now")

    monkeypatch.setattr(os, "sysconf", refuse)
    assert detect.of_library() == {}
    monkeypatch.setattr(os, "confstr", refuse)
    assert detect.of_library() == {}
    monkeypatch.setattr(detect, "FOLDER", "/nowhere")
    assert detect.caches() == {}
