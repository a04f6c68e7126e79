"""The check that modules do not import each other: what it finds, and what it lets pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools import circles


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A package of four modules: a and b import each other through c, d imports a."""
    package = tmp_path / "src" / "fusewright"
    package.mkdir(parents=True)
    texts = {
        "__init__": "",
        "a": "from fusewright import b",
        "b": "if TYPE_CHECKING:\n    from fusewright.c import C",
        "c": "def f():\n    import fusewright.a\n    from numpy import d",
        "d": "from fusewright.a import x",
    }
    for name, text in texts.items():
        (package / f"{name}.py").write_text(text)
    return tmp_path


def test_finds_a_circle_through_types_and_functions(tree: Path) -> None:
    (found,) = circles.circles(circles.imports(tree / "src"))
    assert found == {"fusewright.a", "fusewright.b", "fusewright.c"}
    assert circles.complaints(tree) == ["in a circle: fusewright.a, fusewright.b, fusewright.c"]


def test_a_long_chain_is_no_circle_and_no_recursion() -> None:
    chain = {str(n): frozenset({str(n + 1)}) for n in range(5000)} | {"5000": frozenset[str]()}
    assert circles.circles(chain) == []
    assert len(circles.circles({**chain, "5000": frozenset({"0"})})) == 1


def test_the_package_has_none() -> None:
    assert circles.complaints(circles.ROOT) == []
