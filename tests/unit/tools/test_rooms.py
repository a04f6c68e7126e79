"""The architecture page names every room of the package, in the order that imports have."""

from __future__ import annotations

import re

from tools import rooms

PAGE = (rooms.ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
APART = {"operations", "__main__"}
"""Programs beside the package: nothing imports them."""


def test_the_layers_hold_every_room() -> None:
    found = {path.parent.name for path in rooms.PACKAGE.glob("*/__init__.py")}
    found |= {path.stem for path in rooms.PACKAGE.glob("*.py")} - {"__init__"} - APART
    assert {room for layer in rooms.layers() for room in layer} == found
    assert found <= set(rooms.ROOMS)


def test_the_text_has_the_layers_in_order() -> None:
    (block,) = [b for b in re.findall(r"```\n(.*?)```", PAGE, re.DOTALL) if "bridges" in b]
    told = [room for line in block.splitlines() for room in re.findall(r"\w+", line[:28])]
    existing = [room for layer in rooms.layers() for room in layer]
    assert [room for room in told if rooms.exists(room)] == existing
    assert set(told) <= set(rooms.ROOMS)  # the others are foreseen


def test_the_picture_is_current() -> None:
    assert rooms.PICTURE.read_text(encoding="utf-8") == rooms.picture()
    assert "(architecture.svg)" in PAGE


def test_every_room_has_a_colour() -> None:
    coloured = [room for _, _, members in rooms.BANDS for room in members]
    assert sorted(coloured) == sorted(rooms.ROOMS)
