"""Kernels of loops on the CPU: compiled, kept on disk, called."""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Sequence
from dataclasses import field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from fusewright.base import progress
from fusewright.base.options import Options
from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.codegen.module import Module, Word
from fusewright.ir.dtypes import DType
from fusewright.ir.loops.interpret import Failed, shown
from fusewright.ir.loops.statements import Kernel, Print, Shown, walk, with_spans
from fusewright.ir.loops.text import kernel_text
from fusewright.plan.loops.plan import LoopPlan, Settings
from fusewright.runtime.arguments import ADDRESS, CONSTANT, NUMBER, VALUE, WordSource, filled
from fusewright.runtime.image import Executable, Image
from fusewright.runtime.kept import Kept, Origin
from fusewright.runtime.limits import thread_count
from fusewright.runtime.listening import CompiledTexts, compilations
from fusewright.runtime.once import elapsed
from fusewright.targets import executable
from fusewright.targets.cpu import compiler
from fusewright.targets.cpu.disk_keys import disk_key
from fusewright.targets.cpu.features import FeatureSet, select
from fusewright.targets.cpu.threads import call, give_team, launch, take_team

if TYPE_CHECKING:  # a process that finds its code on disk makes no tree
    from fusewright.ir.tree.nodes import Tree

LEVEL = 2
REPORT_WORDS = 64
"""A failed check reports its number, its values, and the indices of the loops around it."""
_SHOW = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)


@dataclass(slots=True)
class CompiledLoops(Executable[Module]):
    """A kernel's code, ready to be called; `origin` and `seconds` say where it came from, `counts`
    how often each of two forms has run.
    """

    kernel: Kernel
    plan: LoopPlan
    features: FeatureSet
    origin: Origin
    seconds: float
    settings: Settings
    name: str = ""
    spans: tuple[Span, ...] = ()
    words: tuple[WordSource, ...] = ()
    counts: Any = None
    made: float = field(default_factory=perf_counter)

    def __post_init__(self) -> None:
        self.counts = (ctypes.c_int64 * 2)()
        self.words = tuple(map(self._source, self.signature.words))

    @property
    def is_threaded(self) -> bool:
        """Whether it has loops that threads may share."""
        return any(form.threads for form in self.plan.forms)

    def needs(self, buffer: int) -> bool:
        """Whether a buffer must have memory; a dead one may have become registers."""
        return any(buffer not in form.gone for form in self.plan.forms)

    def run(self, arrays: Sequence[Any], params: Sequence[Any], failed: Failed) -> None:
        """Run it on the arrays it is given, with a value for each parameter."""
        report = (ctypes.c_int64 * REPORT_WORDS)() if self.signature.checks else None
        printer = _Printer(self.signature.prints) if self.signature.prints else None
        team = take_team(thread_count()) if self.is_threaded else 0
        try:
            pairs = zip(self.kernel.given, arrays, strict=True)
            addresses = {number: each.__array_interface__["data"][0] for number, each in pairs}
            own = (team, _address_of(report), 0 if printer is None else printer.address)
            words = filled(self.words, addresses, own, params)
            where = words.buffer_info()[0]
            if team:  # it gives the GIL away, and work to the threads itself
                launch(self.address, where, 1, 1, 0, 1)
            else:
                call(self.address, where, 1, 0)
        finally:
            if team:
                give_team()
        if printer is not None and printer.error is not None:
            raise printer.error
        if report is not None and report[0]:
            raise self.failure(list(report), failed)

    @property
    def team(self) -> int:
        """The place of the threads among its words; -1 where it runs on one."""
        several = self.is_threaded and thread_count() > 1
        whats = [word.what for word in self.signature.words]
        return whats.index("team") if several and "team" in whats else -1

    def failure(self, report: Sequence[int], failed: Failed) -> Exception:
        """The error of the check that a report names."""
        check = self.signature.checks[report[0] - 1]
        values = tuple(
            np.frombuffer(struct.pack("<q", word), value.dtype.numpy)[0]
            for word, value in zip(report[1:], check.values, strict=False)
        )
        first = 1 + len(values)
        check = replace(check, span=self.spans[check.span[1]])
        return failed(check, values, tuple(report[first : first + len(check.loops)]))

    def _source(self, word: Word) -> WordSource:
        """The values of a call are its threads, its report, and what prints."""
        if word.what == "param":
            return WordSource(NUMBER, word.number, self.kernel.dtypes[word.number])
        if word.what == "pointer":
            return WordSource(ADDRESS, word.number)
        if word.what == "counts":
            return WordSource(CONSTANT, ctypes.addressof(self.counts))
        return WordSource(VALUE, ("team", "report", "print").index(word.what))


def _address_of(report: Any) -> int:
    return 0 if report is None else ctypes.addressof(report)


class _Printer:
    """What compiled code calls to print a line; an error is kept until the kernel has ended."""

    def __init__(self, prints: Sequence[Print]) -> None:
        self.prints = prints
        self.error: BaseException | None = None
        self.callback = _SHOW(self._show)
        self.address: int = ctypes.cast(self.callback, ctypes.c_void_p).value or 0

    def _show(self, site: int, address: int) -> None:
        if self.error is not None:
            return
        try:
            place = address
            parts: list[str] = []
            for piece in self.prints[site].pieces:
                if isinstance(piece, Shown):
                    numbers = [
                        _number(place + 8 * word, value.dtype)
                        for word, value in enumerate(piece.values)
                    ]
                    parts.append(shown(piece, numbers))
                    place += 8 * len(numbers)
                else:
                    parts.append(piece)
            sys.stdout.write("".join(parts))
        except BaseException as error:  # noqa: BLE001 - raised when the kernel has ended
            self.error = error


def _number(address: int, dtype: DType) -> Any:
    data = ctypes.string_at(address, dtype.itemsize)
    return np.frombuffer(data, dtype.numpy)[0]


def obtain(kernel: Kernel, options: Options) -> CompiledLoops:
    """The code of a kernel: from memory, from the disk, or made now."""
    start = perf_counter()
    features = select(options.features)
    settings = replace(executable.settings_of(options), registers=features.vector_registers)
    # Code is found by the statements alone; their spans stay outside, as numbers.
    spans = tuple(statement.span for statement in walk(kernel.body))
    numbered = with_spans(kernel, [("", number, 0, 0) for number in range(len(spans))])
    text = kernel_text(kernel)
    key = (text, features, settings)

    def make() -> Made:
        with progress.show("compiling", 1) as done:
            made = made_now(text, numbered, features, settings, options.debug)
            done()
        return made

    found = kept_codes.obtain(key, lambda: disk_key("loops", key), make)
    plan, module, image = found.value
    seconds = elapsed(start)
    made_ready = CompiledLoops(
        module, kernel, plan, features, found.origin, seconds, settings, found.name, spans
    )
    made_ready.use(image)
    return made_ready


Made = tuple[LoopPlan, Module, Image]
MOST = 256
"""Kernels kept in memory beside those in use; all are forgotten when there are more."""
kept_codes: Kept[Made] = Kept(MOST)


def made_now(
    text: str, kernel: Kernel, features: FeatureSet, settings: Settings, debug: bool
) -> Made:
    """Planned and compiled."""
    compiler.start()
    # Imported here: a process that finds its code on disk neither plans nor compiles.
    from fusewright.codegen.statements import lower
    from fusewright.codegen.trees.build import tree_of
    from fusewright.ir.tree.verify import check_tree
    from fusewright.plan.loops.decide import decide

    plan = decide(kernel, settings)
    tree = tree_of(plan, features.vector_bytes)
    if debug:
        check_tree(tree)
    module = lower(tree, features.vector_bytes == 64)
    image = compiler.compile_ir(module.text, features, LEVEL, scalars=True)
    if compilations:
        _tell(text, plan, tree, module.text)
    return plan, module, image


def _tell(text: str, plan: LoopPlan, tree: Tree, llvm: str) -> None:
    # Imported here: only a recorder of compilations asks for texts.
    from fusewright.ir.tree.text import tree_text
    from fusewright.plan.loops.text import plan_text

    texts = CompiledTexts("loops", text, plan_text(plan), (llvm,), tree_text(tree))
    for tell in compilations:
        tell(texts)
