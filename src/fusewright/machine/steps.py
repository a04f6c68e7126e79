"""From which size on classes of integrals have loops, as measured on each kind of machine."""

from collections.abc import Mapping

STEPS: Mapping[str, Mapping[int, tuple[float, float]]] = {
    "AVX-512": {
        4: (1.06, 0.99), 5: (0.90, 1.02), 6: (0.93, 1.00), 7: (0.88, 1.00), 8: (0.90, 1.00),
    },
    "AVX2": {
        4: (1.02, 1.01), 5: (0.96, 0.98), 6: (0.88, 0.99), 7: (0.80, 1.06), 8: (0.92, 0.99),
    },
}  # fmt: skip
"""Time of a class with one step for each side, in a loop, in that with one list for both sides: by
kind of machine and total angular momentum, with one and with three primitives a shell, geometric
means (`benchmarks/recurrences/tiers.py`).
"""


def stepped_from(steps: Mapping[str, Mapping[int, tuple[float, float]]] = STEPS) -> int:
    """The total angular momentum from which on classes have steps: on no kind of machine that is
    slower from there on.  It is the same on all, since both ways round differently.
    """
    totals = sorted({total for each in steps.values() for total in each})
    first = totals[-1] + 1
    for total in reversed(totals):
        if any(each[total][0] * each[total][1] > 1.0 for each in steps.values() if total in each):
            break
        first = total
    return first
