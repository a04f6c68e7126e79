"""Numbers that the core and Python both have, `as in` a module in the C sources, are alike; the
sources are all built and shipped.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

CORE = Path(__file__).parents[3] / "src/fusewright/_core"
DEFINED = re.compile(r"#define (\w+) +(.+?) */\* .*?as in ([\w.]+)(?:: ([A-Z_]{2,})\b)?")
COUNTED = re.compile(r"^enum \{ (.*) \}; /\* as in ([\w.]+)", re.MULTILINE)
ENDS = {"WORDS"}
"""Names that only say how many there are."""


def _pairs() -> Iterator[tuple[str, str, int]]:
    """Module, name in it, and the number in C."""
    for path in sorted((*CORE.glob("*.c"), *CORE.glob("*.h"))):
        text = path.read_text()
        for name, number, module, other in DEFINED.findall(text):
            yield module.rstrip("."), other or name, eval(number)
        for names, module in COUNTED.findall(text):
            number = -1
            for each in names.split(", "):
                name, _, given = each.partition(" = ")
                number = int(given) if given else number + 1
                if name not in ENDS:
                    yield module.rstrip("."), name.removesuffix("_WORD"), number


PAIRS = list(_pairs())


@pytest.mark.parametrize(("module", "name", "number"), PAIRS)
def test_python_has_the_same(module: str, name: str, number: int) -> None:
    assert getattr(import_module(f"fusewright.{module}"), name) == number


def test_every_one_is_read() -> None:
    said = sum(
        len(re.findall(r"/\* .*as in (?:ir|runtime|frontends|targets|kernels)\.", line))
        for path in (*CORE.glob("*.c"), *CORE.glob("*.h"))
        for line in path.read_text().splitlines()
        if line.startswith(("#define", "enum"))
    )
    found = len({(module, name) for module, name, _ in PAIRS})
    assert said >= 20 and found > 50


def test_every_source_is_built_and_shipped() -> None:
    """A header that is not named is in no source distribution, which then cannot be built."""
    extension = tomllib.loads((CORE.parents[2] / "pyproject.toml").read_text())
    (module,) = extension["tool"]["setuptools"]["ext-modules"]
    for key, pattern in (("sources", "*.c"), ("depends", "*.h")):
        assert sorted(Path(name).name for name in module[key]) == sorted(
            path.name for path in CORE.glob(pattern)
        )
