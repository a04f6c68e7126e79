"""In which order statements are computed: depth first by Sethi and Ullman's labels, searched over
the order of the targets; and, for small graphs, the best order there is.

The label of a value is how many places its tree needs: with the operands' labels l1 >= l2 >= ...,
the largest of l1, l2 + 1, l3 + 2, ... (Sethi and Ullman, J. ACM 17, 715 (1970)).  Computing the
operands by falling label is optimal for trees; for graphs it is a heuristic, and the minimal peak
is NP-complete.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence

from fusewright.plan.recurrences.live import Operands, lower_bound, pressure

Order = tuple[int, ...]


def labels(operands: Operands) -> dict[int, int]:
    """Sethi and Ullman's label of each statement; leaves have the label 1.

    `operands` is in topological order.
    """
    found: dict[int, int] = {}
    for statement, reads in operands.items():
        needs = sorted((found.get(value, 1) for value in reads), reverse=True)
        found[statement] = max((need + n for n, need in enumerate(needs)), default=1)
    return found


def ranked(operands: Operands, need: Mapping[int, int]) -> dict[int, list[int]]:
    """The operands of each statement that are statements, last those to compute first: those with
    the largest labels, of equal ones the first.
    """
    return {
        statement: sorted((v for v in reversed(reads) if v in operands), key=need.__getitem__)
        for statement, reads in operands.items()
    }


def depth_first(ranking: dict[int, list[int]], targets: Sequence[int]) -> Order:
    """Each target in turn, with all that is not yet computed of what it needs."""
    done: dict[int, None] = {}
    for target in targets:
        stack = [target] if target in ranking and target not in done else []
        while stack:
            statement = stack[-1]
            if statement in done:
                stack.pop()
                continue
            missing = [value for value in ranking[statement] if value not in done]
            if missing:
                stack.extend(missing)
            else:
                done[statement] = None
                stack.pop()
    return tuple(done)


def starts(operands: Operands, sequences: Mapping[str, Sequence[int]]) -> dict[str, Order]:
    """Depth-first orders, operands by label: each sequence of targets, forwards and backwards."""
    ranking = ranked(operands, labels(operands))
    found = {}
    for name, sequence in sequences.items():
        found[f"depth first, {name}"] = depth_first(ranking, sequence)
        found[f"depth first, {name}, backwards"] = depth_first(ranking, sequence[::-1])
    return found


def by_level(operands: Operands) -> Order:
    """The textbook's order: all values of one distance from the leaves before those of the next."""
    level: dict[int, int] = {}
    for statement, reads in operands.items():
        level[statement] = 1 + max((level.get(value, 0) for value in reads), default=0)
    return tuple(sorted(operands, key=lambda statement: (level[statement], statement)))


def search(
    start: Order, operands: Operands, targets: Sequence[int], steps: int, seed: int
) -> tuple[str, Order]:
    """An order of lower peak, or of the same and a lower mean, and `searched`; or the start and "".

    Targets are moved, and operands change places; `steps` statements are looked at in all.
    """
    name, best, cost = "", start, _cost(start, operands)
    chance = random.Random(seed)
    wanted = set(targets)
    sequence = [target for target in best if target in wanted]
    ranking = ranked(operands, labels(operands))
    least = lower_bound(operands)
    while (steps := steps - len(operands) - 1) > 0 and cost[0] > least:
        moved, changed = _neighbour(sequence, ranking, chance)
        order = depth_first(changed, moved)
        new = _cost(order, operands)
        if new <= cost:
            if new < cost:
                name = "searched"
            best, cost, sequence, ranking = order, new, moved, changed
    return name, best


def _cost(order: Order, operands: Operands) -> tuple[int, float]:
    found = pressure(order, operands)
    return found.peak, found.mean


def _neighbour(
    sequence: list[int], ranking: dict[int, list[int]], chance: random.Random
) -> tuple[list[int], dict[int, list[int]]]:
    """A target somewhere else, or a few statements with operands in another order."""
    if len(sequence) > 1 and chance.random() < 0.5:
        sequence = list(sequence)
        target = sequence.pop(chance.randrange(len(sequence)))
        sequence.insert(chance.randrange(len(sequence) + 1), target)
        return sequence, ranking
    ranking = dict(ranking)
    wide = [statement for statement, reads in ranking.items() if len(reads) > 1]
    for statement in chance.sample(wide, min(len(wide), chance.choice((1, 1, 2, 4)))):
        ranking[statement] = chance.sample(ranking[statement], len(ranking[statement]))
    return sequence, ranking


def least_peak(operands: Operands, most_states: int = 200_000) -> Order | None:
    """An order of the least peak that any order has; None after this many states.

    Branch and bound, for graphs of up to about 60 statements: for each bound from the lower one
    up, a depth-first search over sets of computed statements, none visited twice.  A statement
    that leaves no more values live than before, and stays within the bound, is computed at once.
    Moved to the front of any order within the bound, it adds its result and the leaves that it is
    the first to read to what is live at the statements that it passes, and takes away the operands
    that it is the last to read, which are live there until it runs: no more in all.
    """
    return _BranchAndBound(operands, most_states).run()


class _BranchAndBound:
    def __init__(self, operands: Operands, most_states: int) -> None:
        self.operands, self.left = operands, most_states
        self.readers: dict[int, list[int]] = {}
        for statement, reads in operands.items():
            for value in reads:
                self.readers.setdefault(value, []).append(statement)
        self.bit = {statement: 1 << n for n, statement in enumerate(operands)}
        self.all = (1 << len(operands)) - 1
        self.needs = {s: self.mask(v for v in r if v in self.bit) for s, r in operands.items()}
        self.read_by = {value: self.mask(readers) for value, readers in self.readers.items()}

    def mask(self, statements: Iterable[int]) -> int:
        found = 0
        for statement in statements:
            found |= self.bit[statement]
        return found

    def run(self) -> Order | None:
        bound = lower_bound(self.operands)
        while self.left > 0:
            order = self.within(bound)
            if order is not None:
                return order
            bound += 1
        return None

    def within(self, bound: int) -> Order | None:
        """An order whose peak is at most this, by an explicit stack of (done, live, order)."""
        seen: set[int] = set()
        stack: list[tuple[int, int, Order]] = [(0, 0, ())]
        while stack and self.left > 0:
            done, live, order = stack.pop()
            if done == self.all:
                return order
            if done in seen:
                continue
            seen.add(done)
            self.left -= 1
            stack.extend(self.following(done, live, order, bound))
        return None

    def following(
        self, done: int, live: int, order: Order, bound: int
    ) -> list[tuple[int, int, Order]]:
        found = []
        for statement, bit in self.bit.items():
            if done & bit or self.needs[statement] & ~done:
                continue
            after = done | bit
            reads = self.operands[statement]
            begun = live + sum(v not in self.bit and not self.read_by[v] & done for v in reads)
            ended = begun - sum(not self.read_by[v] & ~after for v in reads)
            if max(begun, ended + 1) > bound:
                continue
            state = (after, ended + (statement in self.readers), (*order, statement))
            if state[1] <= live:
                return [state]
            found.append(state)
        return found
