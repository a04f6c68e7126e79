"""The machine code of a list against `gcc -O2 -march=native` of the same list: run, compile time.

    python benchmarks/recurrences/gcc.py [class ...]

Whole classes without contraction, Cartesian and spherical, as one list, 8 lanes.  Nanoseconds of a
vector, CPU time, the best of turns that alternate; CPU seconds of gcc and of LLVM (text to object),
the best of up to 7 turns, fewer where they take long.
"""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np

from fusewright.codegen.recurrences.body import body
from fusewright.codegen.recurrences.vectors import ATTRIBUTES, Vectors
from fusewright.frontends.recurrences.demand import demanded
from fusewright.integrals.families import SCALARS, repulsion
from fusewright.integrals.narrow import narrowed
from fusewright.ir.recurrences.straight import Straight, Summand
from fusewright.plan.recurrences.plan import plan
from fusewright.runtime.image import load
from fusewright.targets.cpu import compiler
from fusewright.targets.cpu.features import select
from fusewright.targets.cpu.recurrences import LEVEL

CLASSES = ("pppp", "dpdp", "dddd")
LANES, TURNS = 8, 15
MOST_TURNS, ENOUGH_SECONDS = 7, 1.0
"""Of compiling."""
MOST_RUN, MOST_COMPILE = 1.05, 0.2


def listed(letters: str, harmonics: bool) -> Straight:
    """The list of a class."""
    wanted = repulsion(*("spdf".index(letter) for letter in letters), harmonics, False)
    wanted = narrowed(wanted) if letters != "pppp" else wanted
    return plan(demanded(wanted.targets, wanted.families, SCALARS), 0).outer.straight


def c_text(straight: Straight) -> str:
    """The list in C."""
    scalars = len(straight.scalars)

    def value(number: int) -> str:
        if number < scalars:
            return f"s[{number}]"
        return f"x[{number - scalars}]" if number < straight.first else f"t{number}"

    def term(each: Summand) -> str:
        operands = [value(number) for number in each.operands]
        return "*".join(
            ([repr(each.factor)] if each.factor != 1.0 or not operands else []) + operands
        )

    lines = ["typedef double v __attribute__((vector_size(64)));",
             "__attribute__((noinline)) void f("
             "const v *restrict s, const v *restrict x, v *restrict out) {"]  # fmt: skip
    for place, statement in enumerate(straight.statements):
        total = term(statement[0])
        for each in statement[1:]:
            total = f"{term(each)} + ({total})"
        lines.append(f"v t{straight.first + place} = {total};")
    lines += [f"out[{n}] = {value(number)};" for n, number in enumerate(straight.results)]
    lines.append(
        "}\nvoid run(long n, v *s, v *x, v *o) { for (long i = 0; i < n; i++) f(s, x, o); }"
    )
    return "\n".join(lines)


def quickest(compiling: Callable[[], float]) -> float:
    """The least seconds of a few turns."""
    taken = [compiling()]
    while len(taken) < MOST_TURNS and sum(taken) < ENOUGH_SECONDS:
        taken.append(compiling())
    return min(taken)


def by_gcc(straight: Straight, folder: str) -> tuple[int, float]:
    """Where `run` is, and what compiling took."""
    path = Path(folder) / "list.c"
    path.write_text(c_text(straight))
    library = str(path.with_suffix(f".{time.time_ns()}.so"))
    command = ["gcc", "-O2", "-march=native", "-ffp-contract=fast", "-shared", "-fPIC", str(path)]

    def compiling() -> float:
        before = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])  # user's and system's
        subprocess.run([*command, "-o", library], check=True)
        return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - before

    took = quickest(compiling)
    return ctypes.cast(ctypes.CDLL(library).run, ctypes.c_void_p).value or 0, took


def by_llvm(straight: Straight) -> tuple[int, float]:
    """The same by ours."""
    loop = Vectors(LANES)
    with loop.loop("0", "%n"):
        loop.do("call void @f(ptr %s, ptr %x, ptr %o)")
    run = loop.function("run", "i64 %n, ptr %s, ptr %x, ptr %o", private=False)
    text = body(straight, "f", LANES).replace("define private", "define") + run + ATTRIBUTES
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()

    def compiling() -> float:
        machine = llvm.Target.from_default_triple().create_target_machine(
            features=llvm.get_host_cpu_features().flatten(), opt=LEVEL
        )
        start = time.process_time()
        machine.emit_object(llvm.parse_assembly(text))
        return time.process_time() - start

    took = quickest(compiling)
    image = load(compiler.compile_ir(text, select("auto"), LEVEL))
    KEPT.append(image)
    return image.address("run"), took


KEPT: list[object] = []


def best(addresses: tuple[int, int], straight: Straight) -> list[float]:
    """Nanoseconds of a vector."""
    rng = np.random.default_rng(0)
    sizes = (len(straight.scalars), len(straight.leaves), len(straight.results))
    memory = [np.empty(LANES * size + 8) for size in sizes]
    starts = [-each.ctypes.data // 8 % 8 for each in memory]
    blocks = [
        each[at : at + LANES * size] for each, at, size in zip(memory, starts, sizes, strict=True)
    ]
    for block in blocks[:2]:
        block[:] = rng.standard_normal(len(block))
    kind = ctypes.CFUNCTYPE(None, ctypes.c_long, *[ctypes.c_void_p] * 3)
    pointers = [block.ctypes.data for block in blocks]
    calls = [partial(_run, kind(address), pointers) for address in addresses]
    results = []
    for call in calls:
        call(1)
        results.append(blocks[2].copy())
    np.testing.assert_allclose(*results, rtol=1e-9, atol=1e-9 * np.abs(results[0]).max())
    many = max(1, 3_000_000 // len(straight.statements))
    found = [float("inf")] * 2
    for _ in range(TURNS):
        for k, call in enumerate(calls):
            start = time.process_time()
            call(many)
            found[k] = min(found[k], (time.process_time() - start) / many * 1e9)
    return found


def _run(function: Callable[..., None], pointers: list[int], many: int) -> None:
    function(many, *pointers)


def main() -> None:
    """Print a row for each class."""
    print("| class | statements | gcc ns | ours ns | ratio | gcc s | ours s | ratio |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for letters in sys.argv[1:] or CLASSES:
            for harmonics in (False, True):
                straight = listed(letters, harmonics)
                (theirs, slow), (mine, quick) = by_gcc(straight, folder), by_llvm(straight)
                one, two = best((theirs, mine), straight)
                limits = ((two / one, MOST_RUN), (quick / slow, MOST_COMPILE))
                verdicts = ["PASS" if ratio <= most else "MISS" for ratio, most in limits]
                name = f"{letters}{' spherical' if harmonics else ''}"
                print(
                    f"| {name} | {len(straight.statements)} | {one:.0f} | {two:.0f} "
                    f"| {two / one:.2f} {verdicts[0]} | {slow:.3f} | {quick:.3f} "
                    f"| {quick / slow:.2f} {verdicts[1]} |", flush=True,
                )  # fmt: skip


if __name__ == "__main__":
    assert os.uname().machine == "x86_64"
    main()
