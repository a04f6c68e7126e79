"""Classes are compiled beside the program, while PySCF evaluates them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pyscf import lib

from fusewright.base import words
from fusewright.base.options import current
from fusewright.bridges.pyscf.record import PassedOn
from fusewright.integrals.basis import Basis
from fusewright.integrals.classes import QuartetClass, code_of
from fusewright.integrals.needed import compiling_seconds, kinds_of, missing_of, most_seconds
from fusewright.integrals.operators import Operator
from fusewright.machine.integrals import LOADING, MARGIN
from fusewright.runtime import background

BUILDS = 10
"""Fock matrices that a calculation is expected to need."""
asked: set[QuartetClass] = set()
spent: dict[frozenset[QuartetClass], float] = {}
"""Seconds that PySCF was predicted to take in this process, for lack of these classes."""
savings: list[float] = []
"""Seconds that small molecules could have saved at most, before anybody asked what is compiled."""


def is_worth_asking(saving: float) -> bool:
    """Whether what this process could have saved, this among it, is more than what it takes to see
    which classes are compiled.
    """
    if sum(savings) <= LOADING:
        savings.append(saving)
    return sum(savings) > LOADING


def require(basis: Basis, operators: Sequence[Operator], whole: bool) -> None:
    """Returns where all classes of a basis are compiled or are to be compiled at once.

    That is where PySCF would evaluate all integrals (`whole`, none is screened), which takes longer
    than compiling.  Otherwise raises `PassedOn`, and has them compiled in the background once what
    PySCF needs for `BUILDS` Fock matrices is more than what compiling takes.
    """
    missing = missing_of(basis, *operators)
    if not missing:
        return
    cost, each = compiling_seconds(missing), most_seconds(kinds_of(basis))
    if whole and each / lib.num_threads() > MARGIN * cost:
        return
    if is_due(missing, cost, each, (BUILDS - 1) * each):
        submit(missing)
        raise PassedOn(being_compiled(missing))
    raise PassedOn(not_compiled(missing, cost))


def being_compiled(missing: Sequence[QuartetClass]) -> str:
    """Why PySCF goes on."""
    return f"{len(missing)} classes are being compiled"


def not_compiled(missing: Sequence[QuartetClass], cost: float) -> str:
    """Why PySCF does it."""
    return (
        f"{len(missing)} classes are not compiled, predicted {words.seconds(cost)}; "
        "fp.warm(mol) compiles them"
    )


def submit(kinds: Sequence[QuartetClass]) -> None:
    """Have them compiled, each once."""
    for kind in kinds:
        if kind not in asked:
            asked.add(kind)
            background.submit(partial(code_of, kind))


def is_due(missing: Sequence[QuartetClass], cost: float, now: float, later: float = 0.0) -> bool:
    """Whether the seconds that these classes would have saved in this process, `now` among them,
    and `later` are more than compiling costs.
    """
    if not current().background:
        return False
    key = frozenset(missing)
    spent[key] = spent.get(key, 0.0) + now
    return not key.isdisjoint(asked) or spent[key] + later > cost
