"""What changed between two recordings, part by part.

A text is equal, or equal after renaming: the values, labels and numbers of buffers have other
names, and nothing else differs.  Where texts differ, the bits of results, the kernels and their
bytes say whether programs still do the same.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

TEXTS = ("ir", "plan", "llvm", "tree")
"""In the order of `CompiledTexts`; recordings of older commits have no trees."""
COUNTS = ("kernels", "bytes", "allocations", "compilations")
PARTS = (*TEXTS, "bits", *COUNTS)
EQUAL, RENAMED, DIFFERS = "equal", "renamed", "differs"
VERDICTS = ("text equal", "equal after renaming", "bits equal", "differs")
"""From the smallest change to the largest; `bits equal`: kernels, bytes and counts are, too."""

_TOKEN = re.compile(r"[%@!$#]?[A-Za-z_.][\w.$-]*|[%@!#]\d+|\d+(?:\.\d+)?|\s+|.")
_NAME = {
    "ir": re.compile(r"[a-zL]\d+"),
    "plan": re.compile(r"[a-zL]\d+"),
    "llvm": re.compile(r"[%@!#][\w.$-]+"),
    "tree": re.compile(r"[a-zL]\d+"),
}
"""What a name is: `v3`, `b0`, `i1`, `L2`; `%x`, `@f`, `!4`, `#0`, a label where a line begins."""
_LABEL = re.compile(r"^( *)([\w.$-]+):", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Change:
    """How one program's recordings differ: a word for each part (`PARTS`), and for counts both."""

    program: str
    parts: Mapping[str, str]
    details: Mapping[str, str]

    @property
    def verdict(self) -> str:
        """One of `VERDICTS`."""
        rest = [part for part in PARTS if part not in TEXTS]
        if any(self.parts[part] == DIFFERS for part in rest):
            return VERDICTS[3]
        texts = {self.parts[part] for part in TEXTS}
        if DIFFERS in texts:
            return VERDICTS[2]
        return VERDICTS[1] if RENAMED in texts else VERDICTS[0]


def compared(program: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Change:
    """Compare two recordings of a program."""
    parts: dict[str, str] = {}
    details: dict[str, str] = {}
    for part in TEXTS:
        before, after = texts(old, part), texts(new, part)
        known = part != "tree" or (before and after)
        pairs = zip_longest(before, after) if known else ()
        words = [EQUAL if a == b else same_but_names(a or "", b or "", part) for a, b in pairs]
        parts[part] = worst(words)
        changed = [word for word in words if word != EQUAL]
        if changed:
            details[part] = f"{len(changed)} of {len(words)} {parts[part]}"
    for part in COUNTS:
        parts[part] = EQUAL if old[part] == new[part] else DIFFERS
        if parts[part] == DIFFERS:
            details[part] = f"{_total(old[part])} -> {_total(new[part])}"
    wrong = list(_other_bits(old, new))
    parts["bits"] = DIFFERS if wrong else EQUAL
    if wrong:
        details["bits"] = ", ".join(wrong)
    return Change(program, parts, details)


def worst(words: Sequence[str]) -> str:
    """The largest of several changes."""
    return max(words, key=(EQUAL, RENAMED, DIFFERS).index, default=EQUAL)


def texts(recording: Mapping[str, Any], part: str) -> list[str]:
    """One part of every structure, in the order of compiling; LLVM text module by module."""
    found = recording["structures"]
    if part == "llvm":
        return [module for structure in found for module in structure[3]]
    place = 1 + TEXTS.index(part)
    return [
        structure[place] for structure in found if structure[place : place + 1] not in ([], [""])
    ]


def same_but_names(old: str, new: str, part: str) -> str:
    """Whether a one-to-one renaming makes the texts equal."""
    forth: dict[str, str] = {}
    back: dict[str, str] = {}
    pattern = _NAME[part]
    for a, b in zip_longest(_tokens(old, part), _tokens(new, part), fillvalue=""):
        if pattern.fullmatch(a) and pattern.fullmatch(b) and a[0] == b[0]:
            if forth.setdefault(a, b) != b or back.setdefault(b, a) != a:
                return DIFFERS
        elif a != b:
            return DIFFERS
    return RENAMED


def _tokens(text: str, part: str) -> Iterator[str]:
    if part == "llvm":
        text = _LABEL.sub(r"\1%\2:", text)  # a label is the name that branches call `%label`
    return (match[0] for match in _TOKEN.finditer(text))


def _total(value: Any) -> str:
    """A count, or how many of what was counted."""
    if isinstance(value, list) and value and isinstance(value[0], list):
        if len(value[0]) == 4:  # bytes read, written, unfused; how often
            read, written, unfused = (sum(row[i] * row[3] for row in value) for i in range(3))
            return f"{read} read {written} written {unfused} unfused"
        return str(sum(row[-1] for row in value))
    return str(value)


def _other_bits(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Names of results with other bits, or that only one of the recordings has."""
    before, after = old["results"], new["results"]
    yield from (name for name in before | after if before.get(name) != after.get(name))
    if old["printed"] and new["printed"] and old["printed"] != new["printed"]:
        yield "standard output"


def difference(old: Mapping[str, Any], new: Mapping[str, Any], part: str) -> Iterator[str]:
    """The lines of a part that changed, as `diff -u` shows them."""
    pairs = zip_longest(texts(old, part), texts(new, part), fillvalue="")
    for number, (a, b) in enumerate(pairs):
        if a != b:
            names = (f"old {part} {number}", f"new {part} {number}")
            yield from difflib.unified_diff(a.splitlines(), b.splitlines(), *names, lineterm="")


def table(changes: Sequence[Change]) -> Iterator[str]:
    """What changed: a line for each program that did, then the counts of all parts."""
    for change in changes:
        if change.verdict != VERDICTS[0]:
            said = "; ".join(f"{part}: {text}" for part, text in change.details.items())
            yield f"{change.program}: {change.verdict}   {said}"
    for part in PARTS:
        words = [change.parts[part] for change in changes]
        counted = ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
        yield f"{part:>12}: {counted}"
    verdicts = [change.verdict for change in changes]
    yield ", ".join(f"{verdicts.count(v)} programs {v}" for v in VERDICTS if v in verdicts)
