"""Pairs of shells: what integrals need of two shells, once for each geometry.

A group has the pairs of one pattern: angular momenta la >= lb and numbers of contractions.  Pairs
of primitives that cannot be seen are left out; the data are flat arrays over the others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from math import pi, sqrt

import numpy as np

from fusewright.base.values import dataclass
from fusewright.integrals.basis import Basis
from fusewright.integrals.classes import ABSENT, is_centred
from fusewright.ir.fused import Array

NONE = ABSENT
"""Instead of a shell's number, too."""
UNSEEN = 1e-16
"""Pairs of primitives that are less than this part of the pair's largest are left out."""
MOST_LOSS = 30.0
"""A horizontal relation may lose as much; 30 roundings of 1e-16 are a third of what is allowed."""
SCALE = sqrt(2 * pi**2.5)
"""The leaf's 2 pi^(5/2), half of it for each side."""
ANGULAR = {0: sqrt(1 / (4 * pi)), 1: sqrt(3 / (4 * pi))}
"""The factor of s and p functions in libcint; that of higher ones is in the solid harmonics."""

Pattern = tuple[int, int, int, int]
"""la, lb and the contractions of both; lb is `NONE` where there is no second shell."""


@dataclass(frozen=True, slots=True, eq=False)
class PairGroup:
    """Pairs of one pattern.

    `first` and `second` (pairs,) are shell numbers, l of the first is not the smaller one; `apart`
    (pairs, 3) is A-B.  `starts` (pairs + 1,) delimits the pairs of primitives, whose rows `data`
    (primitives, 8 + contractions) are p, P-A, P, 1/p and the weights; `exponents` (primitives, 2)
    are a and b.  In a `lossy` group the horizontal relation would cost digits, `grouped` says when.
    """

    pattern: Pattern
    first: Array
    second: Array
    apart: Array
    starts: Array
    data: Array
    exponents: Array
    lossy: bool = False

    @property
    def is_centred(self) -> bool:
        """Whether its functions are raised about a point between both shells."""
        return is_centred(*self.pattern[:2], self.lossy)

    def __len__(self) -> int:
        return len(self.first)

    @property
    def contractions(self) -> int:
        """Products of a contraction of each shell."""
        return self.pattern[2] * self.pattern[3]

    def taken(self, order: Array) -> PairGroup:
        """These pairs, in this order."""
        counts = np.diff(self.starts)[order]
        starts = np.concatenate([[0], np.cumsum(counts)])
        rows = np.repeat(self.starts[:-1][order] - starts[:-1], counts) + np.arange(starts[-1])
        return PairGroup(
            self.pattern, self.first[order], self.second[order], self.apart[order], starts,
            self.data[rows], self.exponents[rows], self.lossy,
        )  # fmt: skip

    def centres(self) -> Array:
        """(pairs, 3), relative to A: the mean of the P of each pair, by weight; 0 for la alone."""
        if self.pattern[1] <= 0:
            return np.zeros((len(self), 3))
        weight = np.abs(self.data[:, 8:]).max(axis=1, keepdims=True) + 1e-300
        sums = np.add.reduceat(np.hstack([weight * self.data[:, 1:4], weight]), self.starts[:-1])
        return np.asarray(sums[:, :3] / sums[:, 3:])

    def centred(self) -> PairGroup:
        """The group with P - M instead of P - A, for functions about M = A + `centres()`."""
        data = self.data.copy()
        data[:, 1:4] -= np.repeat(self.centres(), np.diff(self.starts), axis=0)
        return replace(self, data=data)

    def vectors(self, lanes: int, multiple: int = 1) -> tuple[Array, Array, Array]:
        """As kets: `starts` (vectors + 1,) of blocks of primitives, their data (blocks, fields,
        lanes) and A-B (vectors, 3, lanes).  Lanes without a pair, or without a further pair of
        primitives, have the weight 0.  The number of vectors is a `multiple`.
        """
        many = -(-len(self) // (lanes * multiple)) * multiple
        counts = np.zeros(many * lanes, np.int64)
        counts[: len(self)] = np.diff(self.starts)
        starts = np.concatenate([[0], np.cumsum(counts.reshape(many, lanes).max(axis=1))])
        data = np.zeros((starts[-1], self.data.shape[1], lanes))
        data[:, (0, 7), :] = 1.0
        pair = np.repeat(np.arange(len(self)), np.diff(self.starts))
        within = np.arange(len(pair)) - self.starts[:-1][pair]
        data[starts[pair // lanes] + within, :, pair % lanes] = self.data
        apart = np.zeros((many * lanes, 3))
        apart[: len(self)] = self.apart
        return starts, data, np.ascontiguousarray(apart.reshape(many, lanes, 3).swapaxes(1, 2))


def point_charges(charges: Array, places: Array) -> PairGroup:
    """Charges as one pair of functions: very tight ones, whose integrals with others are those of
    points since p + q = q in double precision for p up to 10^14.
    """
    q = 2.0**100
    data = np.zeros((len(charges), 9))
    data[:, 0], data[:, 4:7], data[:, 7] = q, places, 1 / q
    data[:, 8] = charges * (2 * pi * sqrt(q) / SCALE)
    none, starts = np.array([NONE]), np.array([0, len(charges)])
    exponents = np.stack([data[:, 0], np.zeros(len(charges))], axis=1)
    return PairGroup((0, NONE, 1, 1), none, none, np.zeros((1, 3)), starts, data, exponents)


def grouped(
    basis: Basis, pairs: Sequence[tuple[int, int]] | Array, careful: bool = False
) -> list[PairGroup]:
    """The groups of these pairs of shells, (n, 2); the second may be `NONE`.

    `careful`: pairs for which the horizontal relation loses two digits (a diffuse shell, and a
    tight one far from it) are groups of their own, which take another way.
    """
    shells = _Shells(basis)
    i, j = np.array(pairs, np.int64).reshape(-1, 2).T
    i, j = np.where(shells.momenta[j] > shells.momenta[i], (j, i), (i, j))
    patterns: dict[Pattern, list[Array]] = defaultdict(list)
    for same in _classed(shells.kinds[i] * len(shells.kinds) + shells.kinds[j]):
        part = np.stack([i[same], j[same]], axis=1)
        patterns[shells.pattern(*part[0])].append(part)
    order = sorted(patterns, reverse=True)
    found = [_group(shells, pattern, patterns[pattern]) for pattern in order]
    return [part for group in found for part in _split(group)] if careful else found


class _Shells:
    """Shells by number as arrays: of which kind (l, contractions, primitives) each is, and where
    among those of its kind.  The last one is `NONE`.
    """

    def __init__(self, basis: Basis) -> None:
        rows = [(s.l, s.contractions, len(s.exponents)) for s in basis.shells]
        rows.append((NONE, 1, 1))
        members: dict[tuple[int, int, int], list[int]] = defaultdict(list)
        for number, row in enumerate(rows):
            members[row].append(number)
        self.rows, self.momenta = rows, np.array([row[0] for row in rows])
        self.kinds, self.places = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
        self.tables: list[tuple[Array, Array, Array]] = []
        for kind, numbers in enumerate(members.values()):
            self.kinds[numbers], self.places[numbers] = kind, np.arange(len(numbers))
            same = [basis.shells[number] for number in numbers if number < len(basis.shells)]
            self.tables.append((
                np.array([shell.exponents for shell in same]),
                np.array([shell.coefficients for shell in same]),
                np.array([shell.centre for shell in same]),
            ))  # fmt: skip

    def pattern(self, i: int, j: int) -> Pattern:
        """That of a pair."""
        (la, ca, _), (lb, cb, _) = self.rows[i], self.rows[j]
        return la, lb, ca, cb

    def stacked(self, numbers: Array) -> tuple[Array, Array, Array]:
        """Of shells of one kind: exponents (shells, primitives), coefficients (..., contractions),
        places (shells, 3).
        """
        exponents, coefficients, places = self.tables[self.kinds[numbers[0]]]
        at = self.places[numbers]
        return exponents[at], coefficients[at], places[at]


def _classed(keys: Array) -> list[Array]:
    """Where equal keys are; those that come first before others."""
    order = np.argsort(keys, kind="stable")
    borders = np.flatnonzero(np.diff(keys[order])) + 1
    return sorted(np.split(order, borders), key=lambda same: int(same[0])) if len(keys) else []


def _split(group: PairGroup) -> list[PairGroup]:
    """Pairs that are not lossy, and those that are, where there are any."""
    if group.pattern[1] <= 0 or group.is_centred:
        return [group]
    is_lossy = losses(group) > MOST_LOSS
    parts = ((group, ~is_lossy), (replace(group, lossy=True), is_lossy))
    return [each.taken(np.flatnonzero(which)) for each, which in parts if which.any()]


def _distances(data: Array, apart: Array) -> tuple[Array, Array, Array]:
    """|P-A| + s and |P-B| + s, where s is the width of the product of two primitives; |A-B|."""
    width = np.sqrt(0.5 / data[..., 0])
    a, b = (np.linalg.norm(data[..., 1:4] + shift, axis=-1) + width for shift in (0.0, apart))
    return a, b, np.linalg.norm(apart, axis=-1)


def _extents(pattern: Pattern, data: Array, apart: Array) -> Array:
    """How large products of primitives are, up to a factor: the square root of their own repulsion,
    weight |P-A|^la |P-B|^lb p^(-1/4), with widths.
    """
    a, b, _ = _distances(data, apart)
    size = np.abs(data[..., 8:]).max(axis=-1) * data[..., 0] ** -0.25
    return np.asarray(size * a ** pattern[0] * b ** max(pattern[1], 0))


def losses(group: PairGroup) -> Array:
    """(pairs,): by how much the terms of the horizontal relation exceed their sum.

    (x-A)^(la+lb) and powers of A-B are as large as (|P-A| + s)^(la+lb), the functions wanted
    (|P-A| + s)^la (|P-B| + s)^lb, where s is the width of the product of two primitives.
    """
    apart = np.repeat(group.apart, np.diff(group.starts), axis=0)
    a, b, whole = _distances(group.data, apart)
    ratio = np.maximum(a, whole) / b
    size = _extents(group.pattern, group.data, apart)
    largest = np.maximum.reduceat(size, group.starts[:-1])
    share = size / np.repeat(np.maximum(largest, 1e-300), np.diff(group.starts))
    return np.asarray(np.maximum.reduceat(share * ratio ** group.pattern[1], group.starts[:-1]))


def _group(shells: _Shells, pattern: Pattern, parts: Sequence[Array]) -> PairGroup:
    """Pairs of one pattern; those of a part, of equally many primitives, are made together."""
    made = [_made(shells, pattern, part) for part in parts]
    first = np.concatenate([group.first for group in made])
    counts = np.concatenate([np.diff(group.starts) for group in made])
    whole = PairGroup(
        pattern,
        first,
        np.concatenate([group.second for group in made]),
        np.concatenate([group.apart for group in made]),
        np.concatenate([[0], np.cumsum(counts)]),
        np.concatenate([group.data for group in made]),
        np.concatenate([group.exponents for group in made]),
    )
    return whole.taken(np.argsort(-counts, kind="stable"))


def _made(shells: _Shells, pattern: Pattern, pairs: Array) -> PairGroup:
    la, lb = pattern[:2]
    first, second = np.ascontiguousarray(pairs.T)
    many = len(pairs)
    a, ca, at = shells.stacked(first)
    if lb == NONE:
        b, cb, other = np.zeros((many, 1)), np.ones((many, 1, 1)), at
    else:
        b, cb, other = shells.stacked(second)
    apart = at - other
    p = a[:, :, None] + b[:, None, :]
    share = b[:, None, :] / p  # P - A = -b/p (A - B)
    decay = np.exp(-a[:, :, None] * share * np.sum(apart**2, axis=1)[:, None, None])
    from_a = -share[..., None] * apart[:, None, None, :]
    weights = np.einsum("nia,njb->nijab", ca, cb).reshape(*p.shape, -1)
    weights *= (SCALE * ANGULAR.get(la, 1.0) * ANGULAR.get(lb, 1.0) * decay / p)[..., None]
    fields = [
        p[..., None], from_a, from_a + at[:, None, None, :], 1 / p[..., None], weights,
    ]  # fmt: skip
    data = np.concatenate(fields, axis=-1).reshape(many, -1, 8 + weights.shape[-1])
    size = _extents(pattern, data, apart[:, None, :])
    seen = size >= UNSEEN * size.max(axis=1, keepdims=True)
    starts = np.concatenate([[0], np.cumsum(seen.sum(axis=1))])
    exponents = np.stack(np.broadcast_arrays(a[:, :, None], b[:, None, :]), axis=-1)
    exponents = exponents.reshape(*seen.shape, 2)[seen]
    return PairGroup(pattern, first, second, apart, starts, data[seen], exponents)
