"""Execution policies: which indices a kernel runs over."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from enum import Enum
from typing import Any

from fusewright.base.errors import ArgumentError
from fusewright.bridges.pykokkos.spaces import (
    ExecutionSpace,
    ExecutionSpaceInstance,
    on_cpu,
)


class Iterate(Enum):
    """In which order tiles and what is in them are walked; the CPU walks the last dim fastest."""

    Left = "Left"
    Right = "Right"
    Default = "Default"


class Rank:
    """The number of dims of an `MDRangePolicy`, and the order of its tiles."""

    def __init__(
        self,
        n: int,
        iter_outer: Iterate = Iterate.Default,
        iter_inner: Iterate = Iterate.Default,
    ) -> None:
        self.n, self.iter_outer, self.iter_inner = n, iter_outer, iter_inner


class AUTO:
    """A team size that is the implementation's choice: one member on the CPU."""


class ExecutionPolicy:
    """What every policy is."""

    __slots__ = ("space",)
    space: ExecutionSpace


def _split(args: tuple[Any, ...]) -> tuple[ExecutionSpace, tuple[Any, ...]]:
    """The space, if the first argument is one, and the rest."""
    if args and isinstance(args[0], ExecutionSpace | ExecutionSpaceInstance):
        return on_cpu(args[0]), args[1:]
    return on_cpu(ExecutionSpace.Default), args


class RangePolicy(ExecutionPolicy):
    """`RangePolicy([space,] begin, end)`, `begin` included."""

    __slots__ = ("begin", "end")

    def __init__(self, *args: Any) -> None:
        self.space, bounds = _split(args)
        if len(bounds) != 2:
            raise ArgumentError(f"RangePolicy takes begin and end, not {len(bounds)} numbers")
        self.begin, self.end = (operator.index(bound) for bound in bounds)


class MDRangePolicy(ExecutionPolicy):
    """`MDRangePolicy(begins, ends[, tiling])`: several dims at once."""

    __slots__ = ("begin", "end", "iter_inner", "iter_outer", "rank", "tiling")

    def __init__(
        self,
        begin: Sequence[int],
        end: Sequence[int],
        tiling: Sequence[int] | None = None,
        *,
        space: ExecutionSpace = ExecutionSpace.Default,
        iter_outer: Iterate = Iterate.Default,
        iter_inner: Iterate = Iterate.Default,
        rank: Rank | None = None,
    ) -> None:
        self.space = on_cpu(space)
        self.begin = [operator.index(bound) for bound in begin]
        self.end = [operator.index(bound) for bound in end]
        if len(self.begin) != len(self.end) or not self.begin:
            raise ArgumentError(f"begins {begin} and ends {end} must be equally many")
        if rank is not None and rank.n != len(self.begin):
            raise ArgumentError(f"rank {rank.n} of {len(self.begin)} ranges")
        self.tiling, self.rank = tiling, rank
        self.iter_outer, self.iter_inner = iter_outer, iter_inner


class TeamPolicy(ExecutionPolicy):
    """`TeamPolicy([space,] league_size, team_size[, vector_length])`."""

    __slots__ = ("league_size", "scratch", "team_size", "vector_length")

    def __init__(self, *args: Any) -> None:
        self.space, numbers = _split(args)
        if not 2 <= len(numbers) <= 3:
            raise ArgumentError("TeamPolicy takes a league size, a team size, a vector length")
        self.league_size = operator.index(numbers[0])
        automatic = numbers[1] is AUTO or str(numbers[1]).lower() in ("auto", "-1")
        self.team_size = 1 if automatic else operator.index(numbers[1])
        self.vector_length = numbers[2] if len(numbers) > 2 else 1
        self.scratch: dict[int, Any] = {}
        if self.team_size < 1:
            raise ArgumentError(f"a team of {self.team_size} members")

    def set_scratch_size(self, level: int, *sizes: Any) -> TeamPolicy:
        """Bytes of scratch memory; views in it take what they need anyway."""
        self.scratch[level] = sizes
        return self


class _Nested:
    """A range inside a team; in compiled code its name says what it is."""

    def __init__(self, team: Any, *bounds: Any) -> None:
        numbers = [operator.index(bound) for bound in bounds]
        self.team = team
        self.begin, self.end = (0, numbers[0]) if len(numbers) == 1 else (numbers[0], numbers[1])


class TeamThreadRange(_Nested):
    """Divided among the members of a team."""


class ThreadVectorRange(_Nested):
    """Divided among the vector lanes of a member."""


class TeamVectorRange(_Nested):
    """Divided among members and lanes."""


class TeamThreadMDRange:
    """Several dims, divided among the members of a team."""

    def __init__(self, team: Any, *extents: Any) -> None:
        self.team = team
        self.extents = tuple(operator.index(extent) for extent in extents)


class PerTeam:
    """Once for each team: `single(PerTeam(team), closure)`; or a size for each team."""

    def __init__(self, what: Any) -> None:
        self.what = what


class PerThread(PerTeam):
    """Once for each member."""
