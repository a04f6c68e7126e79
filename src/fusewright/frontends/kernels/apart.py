"""What paths leave different is kept apart: what follows is written out for each of them.

    if c: a = a[::-1]            if c: a = a[::-1]; rest
    rest               becomes   else: rest

    for k in s:                  if there is an iteration:
        a = a * 2      becomes       the first one; for k in (those that remain): a = a * 2; rest
    rest                         else: rest

(tail duplication, and loop peeling: after the first iteration `a` stands for an array of the
kernel's own; `peeling.py` writes it).  That is the same program.  It is done where a name would
have two types or stand for two arrays, which is found out while translating; that then starts
again, and knows the place.
"""

from __future__ import annotations

import ast
from typing import Any

from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.retyping import Restart

MOST = 8
"""Places kept apart in one kernel; each writes out what follows it once more."""
_KEY = "apart"


def place_of(t: Translation, node: ast.AST) -> tuple[Any, ...]:
    """A join, as it is found again when the kernel is translated anew."""
    return (*t.frame.instance, t.span(node))


def is_apart(t: Translation, node: ast.AST) -> bool:
    """Whether the paths that meet after this branch, loop or choice are kept apart."""
    return (_KEY, place_of(t, node)) in t.guesses


def is_any(t: Translation) -> bool:
    """Whether any paths are kept apart."""
    return _count(t) > 0


def _count(t: Translation) -> int:
    return sum(1 for key in t.guesses if isinstance(key, tuple) and key[0] == _KEY)


def keep(t: Translation) -> None:
    """Start again, with the paths apart that met where the translation was refused; returns where
    they are.
    """
    key = (_KEY, t.paths.meeting)
    if t.paths.meeting is not None and key not in t.guesses and _count(t) < MOST:
        t.guesses[key] = True
        raise Restart
