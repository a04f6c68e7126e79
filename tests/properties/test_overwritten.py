"""Short random programs of arrays and their views that write in place while older values are still
pending: everything asked for afterwards, in any order, together or one by one, is NumPy's.
"""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.evaluators import installed

import fusewright as fw
import fusewright.numpy as fnp

SETTINGS: tuple[dict[str, Any], ...] = (
    {"interpret": True, "small": 512},
    {"interpret": False},
    {"interpret": True, "fuse": False, "small": 0},
)
SIZES = (600, 2000, 40_000)
CUTS = ("...", "1:", "::2", ":-1", "::-1")


def program(chance: random.Random) -> tuple[list[str], list[str]]:
    """Statements on `a` and `b`, and the names to ask for."""
    lines, names = [], ["a", "b"]
    for number in range(chance.randint(3, 9)):
        x, y, cut = chance.choice(names), chance.choice("ab"), chance.choice(CUTS)
        new = f"v{number}"
        kind, line = chance.choice((
            ("new", f"{new} = {x}[{cut}]"),
            ("new", f"{new} = {x} {chance.choice(('- 2', '* 3', '+ 0.5'))}"),
            ("new", f"{new} = np.maximum({x}, {x}) - {y}[:len({x})]"),
            ("old", f"{x} {chance.choice(('+=', '*='))} {chance.choice(('2', '0.5', x))}"),
            ("old", f"{x}[{chance.choice(('0', '3:9', *CUTS))}] = {chance.choice(('5', '7.5'))}"),
            ("old", f"{x}[{cut}] = {y}[:len({x})][{cut}] * 2"),
            ("old", f"{x}[1:] = {x}[:-1]"),
            ("old", f"{x}[{x} > 3] = 1.5"),
            ("old", f"float({x}[{chance.choice((0, 3, -1))}])"),
        ))  # fmt: skip
        lines.append(line)
        names += [new] * (kind == "new")
    chance.shuffle(names)
    return lines, names


def told(module: Any, size: int, lines: list[str], names: list[str], together: bool) -> list[Any]:
    """What the names are in the end."""
    values = np.arange(size)
    scope = {"np": module, "a": module.array(values * 7 % 11 - 3.0)}
    scope["b"] = module.array(values * 5 % 13 - 4.0)
    exec("\n".join(lines), scope)
    if together and module is fnp:
        fw.evaluate(*(scope[name] for name in names if isinstance(scope[name], fnp.ndarray)))
    return [np.array(scope[name]) for name in names]


@pytest.fixture(autouse=True, scope="module")
def evaluator() -> Iterator[None]:
    """What users have."""
    with installed("interpreted"):
        yield


FOUND = (
    ("c = a - 2; w = a[1:]; w[::2] = 7.5", "c w"),
    ("w = a[...]; a *= 2; c = a - 2; w[::2] = 5", "a c"),
    ("w = a[...]; w[:-1] = a[:-1] * 2; c = np.maximum(b, b) - a; w[::2] = 5", "a c"),
    ("w = a[:-1]; w[w > 3] = 1.5; c = w - 2; w *= 2", "a c"),
    ("c = a - 2; a[0] = 7.5; w = c[::-1]", "a w"),
    ("c = np.maximum(b, b) - a; b[3:9] = a[3:9] * 2; d = np.maximum(c, c) - b", "d c"),
)
"""Programs that have been wrong, and what was asked for."""


@pytest.mark.parametrize(("text", "names"), FOUND)
@pytest.mark.parametrize("settings", SETTINGS)
def test_programs_that_were_wrong(text: str, names: str, settings: dict[str, Any]) -> None:
    for size in SIZES:
        for together in (False, True):
            case = (size, text.split("; "), names.split(), together)
            expected = told(np, *case)
            for _ in range(2):  # the second time there is code
                with fw.options(**settings):
                    found = told(fnp, *case)
                for name, got, want in zip(names.split(), found, expected, strict=True):
                    np.testing.assert_array_equal(got, want, err_msg=f"{name} at {size}")


@pytest.mark.parametrize("seed", range(8))
def test_random_programs(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(250):
        lines, names = program(chance)
        case = (chance.choice(SIZES), lines, names, chance.random() < 0.3)
        try:
            with np.errstate(all="ignore"):
                expected = told(np, *case)
        except ValueError:  # shapes that do not fit
            continue
        for settings in (SETTINGS[0], SETTINGS[2]):
            with fw.options(**settings), np.errstate(all="ignore"):
                found = told(fnp, *case)
            for name, got, want in zip(names, found, expected, strict=True):
                np.testing.assert_array_equal(got, want, err_msg=f"{name} of {lines} {settings}")
