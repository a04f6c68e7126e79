"""Made-up profiles for the tests of what prints them."""

from __future__ import annotations

from fusewright.runtime.profile import (
    Decision,
    Flush,
    KernelRecord,
    Line,
    OpaqueRecord,
    Operation,
    Profile,
)

LOOPS = "for i in range(n0):  # parallel\n    t1 = a[i] * a[i]\n    out[i] = sqrt(t1) <= 1.0\n"
LLVM = "define void @kernel(ptr %args, i64 %lo, i64 %hi, ptr %scratch) {\n  ret void\n}\n"


def line(file: str, number: int) -> Line:
    return (file, number, 4, 20)


def kernel(
    start: float, file: str, numbers: tuple[int, ...], name: str = "k_3fa2", llvm: str = LLVM
) -> KernelRecord:
    places = ["input", *["register"] * max(len(numbers) - 2, 0), "memory"]
    operations = tuple(
        Operation(f"op{place}", "float64", (766, 766), place, line(file, number))
        for place, number in zip(places, numbers, strict=False)
    )
    decisions = (
        Decision(True, "multiply into add", "saves 9.4 MB: the product is never stored"),
        Decision(False, "sum after <add>", "a reduction over both dims", line(file, numbers[-1])),
    )
    return KernelRecord(
        name, start, 0.002, 2, 9_000_000, 4_500_000, 54_000_000, operations, decisions,
        "compiled" if start < 0.05 else "memory", 0.02 if start < 0.05 else 0.0, llvm,
        listing=lambda: LOOPS,
    )  # fmt: skip


def opaque(start: float, file: str, number: int, name: str = "linalg.solve") -> OpaqueRecord:
    why = "LAPACK has it; it is not compiled"
    return OpaqueRecord(name, "numpy", start, 0.001, why, line(file, number))


def small(file: str) -> Profile:
    """One flush: two kernels and a library step."""
    flush = Flush("float()", line(file, 3), 0.0, 0.03)
    flush.steps += [
        kernel(0.001, file, (1, 2, 3)),
        opaque(0.004, file, 2),
        kernel(0.006, file, (2, 3), "k_77aa", LLVM + "; second"),
    ]
    return Profile([flush])


def large(file: str, flushes: int = 500) -> Profile:
    """Many flushes of the same three steps, and at the end one of another kind."""
    profile = Profile()
    for number in range(flushes):
        start = 0.01 * number
        flush = Flush("iteration", line(file, 2), start, 0.008)
        flush.steps += [
            kernel(start + 0.001, file, (1, 2, 3)),
            kernel(start + 0.004, file, (2, 3), "k_77aa", LLVM + "; second"),
            opaque(start + 0.007, file, 2),
        ]
        profile.flushes.append(flush)
    last = Flush("print", line(file, 3), 0.01 * flushes, 0.01)
    last.steps.append(opaque(0.01 * flushes, file, 3, "percentile"))
    profile.flushes.append(last)
    return profile
