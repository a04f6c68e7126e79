"""One call of a kernel: find the code for its arguments, run it, hand back what it returns."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from fusewright._core import native
from fusewright.base.errors import (
    AssertedError,
    BoundsError,
    DivisionError,
    FusewrightError,
    ShapeError,
    UnassignedError,
    ValueRangeError,
)
from fusewright.base.options import Options, current
from fusewright.frontends.arrays import core
from fusewright.frontends.kernels.context import Settings
from fusewright.frontends.kernels.inputs import ROOM
from fusewright.frontends.kernels.values import Path, StaticKind
from fusewright.ir.loops import raised
from fusewright.ir.loops.statements import Check
from fusewright.ir.nest import Source
from fusewright.kernels import bound, drawing, growing, lazy, requirements, results, specialise
from fusewright.kernels.arguments import kind_of, plain_number
from fusewright.kernels.full import Full
from fusewright.kernels.guards import Unfit
from fusewright.kernels.specialise import Specialised, code_key, memories, with_facts
from fusewright.runtime.listening import listeners
from fusewright.runtime.once import noted
from fusewright.targets.target import target

if TYPE_CHECKING:
    from fusewright.kernels.kernel_data import KernelData
    from fusewright.kernels.units import Unit
    from fusewright.targets.executable import LoopExecutable

NDArray = np.ndarray[Any, Any]
_ERRORS: dict[str, type[FusewrightError]] = {
    "bounds": BoundsError,
    "division": DivisionError,
    "power": ValueRangeError,
    "assertion": AssertedError,
    "shape": ShapeError,
    "unassigned": UnassignedError,
}


def run(kernel: KernelData, arguments: Mapping[str, Any]) -> Any:
    """Run a kernel on its arguments, to the end."""
    options = current()
    found = specialised(kernel, arguments, options)
    if found.translated.draws:
        return drawing.run(arguments, lambda given: _with_room(kernel, found, given, options))
    return _with_room(kernel, found, arguments, options)


def _with_room(
    kernel: KernelData, found: Specialised, arguments: Mapping[str, Any], options: Options
) -> Any:
    if found.translated.grows:
        return growing.run(found, arguments, lambda given: _once(kernel, found, given, options))
    return _once(kernel, found, arguments, options)


def _once(
    kernel: KernelData, found: Specialised, arguments: Mapping[str, Any], options: Options
) -> Any:
    done, result = lazy.record(kernel, found, arguments, options, execute)
    if done:
        return result
    arrays = memories(found, arguments)
    began = perf_counter() if listeners else 0.0
    params = parameters(found, arrays, arguments)
    specialise.make(found, arrays, params)
    requirements.meet(found, arrays, params)
    if options.target != "cpu":
        target(options.target).compile(found.kernel, options).run(arrays, params, failed)
    else:
        compiled = _compiled(kernel, found, arrays, params, options, began)
        if (
            compiled is not None
            and not options.verify
            and not (found.translated.grows and not growing.is_unwritten(found))
            and not found.translated.draws
            and requirements.is_settled(found, compiled.kernel.disjoint)
        ):
            _remember(kernel, found, compiled, arguments, options)
    found.calls += 1
    return _result(found, arrays, arguments)


def _remember(
    kernel: KernelData,
    found: Specialised,
    compiled: LoopExecutable,
    arguments: Mapping[str, Any],
    options: Options,
) -> None:
    if native is not None:
        with suppress(Unfit):
            given = {name: value for name, value in arguments.items() if name != ROOM}
            bound.learn(kernel, found, compiled, given, options, failed)


def specialised(kernel: KernelData, arguments: Mapping[str, Any], options: Options) -> Specialised:
    """The translation for these arguments: known, or new."""
    kinds = {
        name: static_kind(kernel, name, value) or kind_of(value, name)
        for name, value in arguments.items()
    }
    key = (tuple(kinds.values()), options.check)
    candidates: list[Specialised] = kernel.specialisations.setdefault(key, [])
    for found in candidates:
        if found.holds(arguments):
            return found
    settings = Settings(options.check, kernel.c_integers, kernel.dialect)
    with noted("translating"):
        fresh = specialise.specialise(
            kernel.function, kernel.source, kinds, arguments, settings, options
        )
    candidates.append(fresh)
    return fresh


def static_kind(kernel: KernelData, name: str, value: Any) -> StaticKind | None:
    """The kind of an argument that is part of the key because of `fw.static`."""
    if name in kernel.static and isinstance(value, bool | int | float | str | None | tuple):
        return StaticKind(value, repr(value))
    return None


def parameters(
    found: Specialised, arrays: list[NDArray], arguments: Mapping[str, Any]
) -> list[Any]:
    """The value of each of the kernel's parameters."""
    translated = found.translated
    numbers = dict(zip(translated.kernel.given, arrays, strict=True))
    outer = translated.captured_objects

    def value(source: Source) -> Any:
        if source.what == "extent":
            return numbers[source.slot].shape[source.dim]
        if source.what == "stride":
            return numbers[source.slot].strides[source.dim]
        path = translated.scalars[source.slot]
        return plain_number(specialise.reach(path, arguments, outer), str(path[-1]))

    return [value(source) for source in translated.kernel.arguments]


def execute(
    kernel: KernelData | None,
    found: Specialised | Unit,
    arrays: list[NDArray],
    params: list[Any],
) -> LoopExecutable | None:
    """Run a kernel (None: one joined from several) on arrays of the kinds it was translated for;
    the code that ran.
    """
    options = current()
    if options.target != "cpu":
        target(options.target).compile(found.kernel, options).run(arrays, params, failed)
        return None
    return _compiled(kernel, found, arrays, params, options)


def _compiled(
    kernel: KernelData | None,
    found: Specialised | Unit,
    arrays: list[NDArray],
    params: list[Any],
    options: Options,
    began: float = 0.0,
) -> LoopExecutable | None:
    """Run it; the code for calls like this one, None while that is being measured.  `began` is
    when planning did, for those who listen to a call by itself.
    """
    wanted = of_kernel(kernel, options) if kernel is not None else options
    code = _code(kernel, found, arrays, wanted)
    if options.check and isinstance(found, Specialised):
        # Imported here: few programs ask.
        from fusewright.kernels import diagnostics

        diagnostics.check_tables(found, arrays)
    if not listeners:
        return _launched(kernel, found, code, arrays, params, wanted)
    with noted("telling"):
        # Imported here: only who listens needs it.
        from fusewright.kernels import telling

    return telling.told(
        lambda: _launched(kernel, found, code, arrays, params, wanted), found, code, arrays, began
    )


def _launched(
    kernel: KernelData | None,
    found: Specialised | Unit,
    code: LoopExecutable,
    arrays: list[NDArray],
    params: list[Any],
    wanted: Options,
) -> LoopExecutable | None:
    """Run code, measured where that decides whether to fuse; the code for calls like this one."""
    if wanted.verify:
        # Imported here: as below.
        from fusewright.kernels import diagnostics

        diagnostics.verified(code, arrays, params, wanted, failed)
        return code
    if code.plan.is_close and kernel is not None and isinstance(found, Specialised):
        # Imported here: few kernels need it.
        from fusewright.kernels import measuring

        trial = measuring.trial_of(kernel, found, code, arrays, wanted)
        if trial is not None:
            return trial.run(arrays, params, failed)
    code.run(arrays, params, failed)
    return code


def _code(
    kernel: KernelData | None,
    found: Specialised | Unit,
    arrays: list[NDArray],
    options: Options,
) -> LoopExecutable:
    """The code for calls with these arrays: known, or new."""
    key = code_key(found.kernel, arrays, options)
    code: LoopExecutable | None = found.compiled.get(key)
    if code is None:
        wanted = with_facts(found.kernel, *key[:2])
        code = found.compiled[key] = target(options.target).compile(wanted, options)
        if kernel is not None and options.diagnostics != "off" and isinstance(found, Specialised):
            # Imported here: few programs ask.
            from fusewright.kernels import diagnostics

            diagnostics.report(kernel, found, code, options.diagnostics)
    return code


def of_kernel(kernel: KernelData, options: Options) -> Options:
    """The options with what the decorator says."""
    if kernel.fuse is None:
        return options
    if isinstance(kernel.fuse, str):
        return options._replace(fuse=True, fuse_level=kernel.fuse)
    return options._replace(fuse=kernel.fuse)


def failed(check: Check, values: tuple[Any, ...], loops: tuple[Any, ...]) -> Exception:
    """The error of a check that does not hold."""
    if check.reason == "raised":
        return raised.error(check.message, values)
    if check.reason == "room":
        return Full(int(values[0]))
    names = ", ".join(f"{n} = {v}" for (n, _), v in zip(check.loops, loops, strict=True))
    return _ERRORS[check.reason](
        check.message.format(*(value.item() for value in values)),
        check.span,
        why=f"in the iteration {names}" if names else "",
        help="the statements before it have run; what they wrote is in the arrays",
    )


def _result(found: Specialised, arrays: list[NDArray], arguments: Mapping[str, Any]) -> Any:
    translated = found.translated
    if translated.result is None:
        return None
    numbers = dict(zip(found.kernel.given, arrays, strict=True))
    lazy_ones = any(type(value) in core.handle_classes for value in arguments.values())

    def argument(path: Path) -> Any:
        return specialise.reach(path, arguments, translated.captured_objects)

    return results.returned(translated.result, numbers, argument, lazy_ones)
