"""No two modules of the package import each other, directly or through others: a reader can begin
at the bottom.  Imports for type checkers and those inside functions count, too.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
Graph = Mapping[str, frozenset[str]]


def imports(source: Path) -> dict[str, frozenset[str]]:
    """What each module of the package imports of it."""
    paths = {_name(path.relative_to(source)): path for path in source.rglob("*.py")}
    return {name: frozenset(_imported(path, paths)) - {name} for name, path in paths.items()}


def _name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(path: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in modules else node.module for name in names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def circles(graph: Graph) -> list[frozenset[str]]:
    """The sets of modules that reach each other (strongly connected components), by Kosaraju."""
    order: list[str] = []
    met: set[str] = set()
    for name in graph:
        order += _reached(graph, name, met)
    backwards: dict[str, set[str]] = {name: set() for name in graph}
    for name, others in graph.items():
        for other in others & graph.keys():
            backwards[other].add(name)
    met.clear()
    found = (frozenset(_reached(backwards, name, met)) for name in reversed(order))
    return [circle for circle in found if len(circle) > 1]


def _reached(graph: Mapping[str, frozenset[str] | set[str]], name: str, met: set[str]) -> list[str]:
    """What is reached from a module and not met yet, in the order in which it is left."""
    if name in met:
        return []
    met.add(name)
    left, path = [], [(name, iter(sorted(graph[name])))]
    while path:
        here, others = path[-1]
        following = next((n for n in others if n in graph and n not in met), None)
        if following is None:
            left.append(here)
            path.pop()
        else:
            met.add(following)
            path.append((following, iter(sorted(graph[following]))))
    return left


def complaints(root: Path) -> list[str]:
    """The circles, in words."""
    found = circles(imports(root / "src"))
    return [f"in a circle: {', '.join(sorted(circle))}" for circle in found]


if __name__ == "__main__":
    sys.exit("\n".join(complaints(ROOT)) or 0)
