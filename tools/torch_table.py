"""The table of torch's operations in `docs/reference/torch.md`, from the rows themselves.

`python -m tools.torch_table --write` rewrites it; without it, what is out of date is an error.
Torch is not needed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from fusewright.bridges.torch.rows import ALONE, COMPUTED, PRODUCTS, VIEWS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "torch.md"
BEGIN, END = "<!-- rows of operations -->", "<!-- end of the rows -->"
MEANINGS = {
    "bits": "eager's bits",
    "units": "a few units in the last place: both sides approximate a function",
    "order": "sums in another order",
}


def lines() -> Iterator[str]:
    """The table."""
    yield "| result | operations |"
    yield "|---|---|"
    for accuracy, meaning in MEANINGS.items():
        names = [row.name for row in COMPUTED.values() if row.accuracy == accuracy]
        yield f"| {meaning} | {_list(names)} |"
    yield f"| the same elements | {_list(list(VIEWS))} |"
    yield ""
    alone = [name for name in ALONE if name not in PRODUCTS]
    yield f"Ours even where nothing stands beside them: {_list(alone)}, and products."


def _list(names: list[str]) -> str:
    return "`" + " ".join(_short(name) for name in names) + "`"


def _short(name: str) -> str:
    return name.removeprefix("aten.").removesuffix(".default")


def page(text: str) -> str:
    """The page with the table as it should be."""
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    table = "\n".join(lines())
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def main() -> int:
    """Write, or compare."""
    text = PAGE.read_text(encoding="utf-8")
    right = page(text)
    if "--write" in sys.argv[1:]:
        PAGE.write_text(right, encoding="utf-8")
    elif text != right:
        print(f"{PAGE.name} is out of date: python -m tools.torch_table --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
