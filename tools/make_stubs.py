"""Write the stubs of `fusewright.numpy`: `python tools/make_stubs.py`; with `--check` only compare.

A name of the drop-in means what it means in NumPy, and where a program has an array it may be
NumPy's own or ours (decision 0016).  So type checkers are given NumPy's own annotations, name by
name: what the drop-in lacks is an unknown attribute, and an array is a `numpy.ndarray` to them.
Names that NumPy lacks are in `ADDED`.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy

from fusewright.ir import ops
from fusewright.numpy import dispatch

FOLDER = Path(__file__).parents[1] / "src" / "fusewright" / "numpy"
HEAD = '"""Types of `{module}`, from those of NumPy {version}: see tools/make_stubs.py."""\n'
VERSION = ".".join(numpy.__version__.split(".")[:2])
ELEMENT_WISE = """\
def {name}(
    x: ArrayLike,
    /,
    out: NDArray[Any] | tuple[NDArray[Any]] | None = ...,
    *,
    where: ArrayLike = ...,
    casting: str = ...,
    order: str = ...,
    dtype: DTypeLike = ...,
    subok: bool = ...,
    signature: Any = ...,
) -> NDArray[Any]:
    \"\"\"{meaning} of each element.\"\"\"
"""
ADDED = {ops.PUBLIC.get(name, name): words for name, words in dispatch.MEANINGS.items()}
OWN_MODULES = ("fft", "linalg", "random", "special")
"""Submodules with a stub of their own; the others are NumPy's to a type checker."""


def stub_of(name: str) -> str:
    """The text of one module's stub; `name` is empty for the package itself."""
    module = importlib.import_module(f"fusewright.numpy{'.' if name else ''}{name}")
    original = numpy if not name else getattr(numpy, name, None)
    public = sorted(set(module.__all__))
    theirs = [each for each in public if original is not None and each in original.__all__]
    source = f"numpy.{name}".removesuffix(".")
    ours = [each for each in public if each not in theirs]
    from_numpy = [each for each in theirs if name or each not in OWN_MODULES]
    blocks = [HEAD.format(module=module.__name__, version=VERSION)]
    blocks += ["from typing import Any\n"] if ours else []
    imports = [f"from {source} import {each} as {each}\n" for each in from_numpy]
    imports += ["from numpy.typing import ArrayLike, DTypeLike, NDArray\n"] if ours else []
    blocks += ["".join(imports)] if imports else []
    if not name:
        blocks.append("".join(f"from fusewright.numpy import {m} as {m}\n" for m in OWN_MODULES))
    blocks += [ELEMENT_WISE.format(name=each, meaning=ADDED[each]) for each in ours]
    names = "".join(f'    "{each}",\n' for each in public)
    blocks.append(f"__all__ = [\n{names}]\n")
    return "\n".join(blocks)


def stubs() -> dict[Path, str]:
    """Every stub by its path."""
    texts = {FOLDER / f"{name}.pyi": stub_of(name) for name in OWN_MODULES}
    return {FOLDER / "__init__.pyi": stub_of(""), **texts}


def version_written() -> str:
    """The NumPy whose names the committed stubs have."""
    head = (FOLDER / "__init__.pyi").read_text(encoding="utf-8").partition(":")[0]
    return head.rpartition(" ")[2]


def main(arguments: list[str]) -> int:
    """Write the stubs, or say which differ."""
    if "--check" in arguments and version_written() != VERSION:
        print(f"not compared: the stubs are of NumPy {version_written()}, this is {VERSION}")
        return 0
    different = [
        path
        for path, text in stubs().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    if "--check" in arguments:
        for path in different:
            print(f"{path.name} is not what tools/make_stubs.py writes", file=sys.stderr)
        return 1 if different else 0
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")
    print(f"{len(different)} of {len(stubs())} stubs changed")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
