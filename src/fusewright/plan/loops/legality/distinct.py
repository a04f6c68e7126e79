"""The accesses of a loop that have to be told apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial

from fusewright.analysis.unit import Access
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import load

MOST_ACCESSES = 128
"""Accesses of one array in a loop that are told apart: each is compared with each."""


def distinct(accesses: Sequence[Access], unknown: int) -> tuple[Access, ...]:
    """Accesses that mean the same only once; where one array has too many left, they happen under
    any condition, and then at any place (a `load` of the number `unknown`).
    """
    for alike in (_alike, _in_any_case, partial(_anywhere, unknown)):
        many = Counter(access.root for access in accesses)
        if alike is not _alike and max(many.values(), default=0) <= MOST_ACCESSES:
            break
        found: dict[Hashable, Access] = {}
        for access in accesses:
            if alike is _alike or many[access.root] > MOST_ACCESSES:
                access = alike(access)
            found.setdefault(replace(access, order=0, statement=0, span=None), access)
        accesses = tuple(found.values())
    return tuple(accesses)


def _alike(access: Access) -> Access:
    return access


def _in_any_case(access: Access) -> Access:
    return replace(access, guards=(), value=None)


def _anywhere(unknown: int, access: Access) -> Access:
    places = tuple(load(unknown, (), INT64) for _ in access.indices)
    return replace(_in_any_case(access), indices=places, inner=())
