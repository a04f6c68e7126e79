"""A function under `fw.jit`: which recording fits a call, and what happens without one."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Iterator
from operator import is_
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

import numpy as np

from fusewright import driver
from fusewright._core import native
from fusewright.base import bounded
from fusewright.base.errors import StrictError
from fusewright.base.options import current
from fusewright.frontends.arrays import sharing, trace, views
from fusewright.frontends.arrays.core import READ_ONLY, Handle, handles_in, wrap_array
from fusewright.frontends.arrays.creation import asarray
from fusewright.ir.dtypes import from_numpy
from fusewright.ir.graph import LEAF, Memory, Node, contiguous_strides, leaf
from fusewright.replay import recording as rec
from fusewright.replay import replays
from fusewright.replay.captured import Captured, Unfit, captured_by
from fusewright.replay.parameter import Parameter, Watch
from fusewright.replay.recording import Placeholders, Recording, Results
from fusewright.replay.structure import (
    Leaves,
    Spec,
    describe,
    leaves_of,
    replaced,
    result_tree,
)

MOST_RECORDINGS = 64
"""Recordings kept of one function; the oldest goes when there are more."""
MOST_QUICK = 4
"""Recordings that the native core tries before the arguments are looked at here."""
MOST_VARIANTS = 8
"""Recordings for one structure of arguments, which differ in used-up floats and captured values."""


P = ParamSpec("P")
R = TypeVar("R")


class _Replayer:
    """A callable that `_general_form` answers; the native one tries `_replays` first."""

    _replays: tuple[Any, ...] = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._general_form(*args, **kwargs)  # type: ignore[attr-defined]


if TYPE_CHECKING:  # what it has is written here: other names are mistakes
    _Base = object
else:
    _Base = _Replayer if native is None else native.Replayer


class Jitted(_Base, Generic[P, R]):
    """A function that is recorded once for each structure of its arguments and replayed from then
    on.
    """

    __wrapped_by_jit__ = True
    _replays: tuple[Any, ...]

    if TYPE_CHECKING:  # the core answers
        __name__: str

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

    def __init__(self, function: Callable[P, R]) -> None:
        functools.update_wrapper(self, function)
        self.__wrapped__ = function
        self._recordings: dict[Any, list[Recording]] = {}
        self._plain: dict[Any, str] = {}
        self._general_form = self._call

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> str:
        return self.__wrapped__.__qualname__  # by name and as itself, as functions are

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        if rec.is_recording():
            return self.__wrapped__(*args, **kwargs)
        return self.call_recorded(args, kwargs)

    def call_recorded(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Replay, or record."""
        leaves = Leaves()
        try:
            key = describe(args, leaves)
            if kwargs:
                key = (key, describe(tuple(kwargs.items()), leaves))
            roots, values, signature = _roots(leaves)
        except Unfit as reason:
            return self._run_plain("its arguments", str(reason), args, kwargs)
        key = (key, *signature)
        options = current()
        floats = leaves.floats
        for recording in self._recordings.get(key, ()):
            if recording.fits(floats, options):
                with trace.lock:
                    return recording.replay(driver.replay, leaves.arrays, roots, values, floats)
        if key in self._plain:
            return self._run_plain(key, self._plain[key], args, kwargs)
        if not rec.turn.acquire(blocking=False):  # another thread is recording
            return self._run(args, kwargs)
        try:
            return self._record(key, leaves, roots, args, kwargs)
        finally:
            rec.turn.release()

    # -- recording ------------------------------------------------------------------------------

    def _record(self, key: Any, leaves: Leaves, roots: list[Handle], args: Any, kwargs: Any) -> Any:
        try:
            captured = captured_by(self.__wrapped__)
            trace.evaluate(*(handle._node for handle in captured.arrays))
            captured.fix()
        except Unfit as reason:
            return self._run_plain(key, str(reason), args, kwargs)
        watch, before = Watch(), set(trace.pending)
        given = _given(args, kwargs, leaves, roots, watch)
        with Placeholders(roots) as stand_ins:
            result = self.__wrapped__(*given[0], **dict(given[1]))
        for handle in leaves.arrays:
            _forget(handle)
        try:
            if stand_ins.read:
                raise Unfit(stand_ins.read)
            _check_containers(key, leaves, args, kwargs)
            recording = _recorded(captured, watch, leaves, roots, stand_ins, result)
            _evaluate_results(result, roots)
            _check_escapes(before)
        except Unfit as reason:
            self._note_plain(key, str(reason))
        else:
            self._keep(key, recording)
        return _without_parameters(result)

    def _keep(self, key: Any, recording: Recording) -> None:
        variants = self._recordings.get(key, [])
        bounded.keep(self._recordings, key, variants, MOST_RECORDINGS)
        variants[MOST_VARIANTS - 1 :] = []
        variants.insert(0, recording)
        quick = replays.quick(recording, key)
        if quick is not None:
            self._replays = (quick, *self._replays[: MOST_QUICK - 1])

    # -- what cannot be replayed ----------------------------------------------------------------

    def _note_plain(self, key: Any, why: str) -> None:
        if len(self._plain) >= MOST_RECORDINGS:
            self._plain.clear()
        self._plain[key] = why
        if current().strict:
            raise StrictError(
                f"fw.jit cannot replay {self.__wrapped__.__qualname__}",
                why=f"{why}, and strict=True forbids to run it anew each time in silence",
                help="pass what it reads as arguments, or leave fw.jit off",
            )

    def _run_plain(self, key: Any, why: str, args: Any, kwargs: Any) -> Any:
        self._note_plain(key, why)
        return self._run(args, kwargs)

    def _run(self, args: Any, kwargs: Any) -> Any:
        """Its Python code, whose arrays are ours at any size."""
        args, named = _converted((args, tuple(kwargs.items())))
        if native is None:
            return self.__wrapped__(*args, **dict(named))
        return native.as_recorded(self.__wrapped__, tuple(args), dict(named))

    def notes(self) -> Iterator[str]:
        """What `fw.explain` says about the function."""
        name = self.__wrapped__.__qualname__
        count = sum(map(len, self._recordings.values()))
        if count:
            plural = "s" if count > 1 else ""
            yield f"fw.jit: {name} has {count} recording{plural}: a call that fits runs no Python"
        for why in dict.fromkeys(self._plain.values()):
            yield f"fw.jit: {name} is run anew each time: {why}"


if native is not None:
    native.call_directly(Jitted)


def _roots(leaves: Leaves) -> tuple[list[Handle], list[Node], list[Any]]:
    """The handles that own the arguments' values (NumPy arrays under handles of ours), the values
    they have now (another thread may write at any time), and their structure.
    """
    roots: list[Handle] = []
    signature: list[Any] = []
    for handle in leaves.arrays:
        links = []
        while handle._base is not None:
            links.append((handle._link, handle._flags))
            handle = handle._base
        number = 0
        while number < len(roots) and roots[number] is not handle:
            number += 1
        if number == len(roots):
            roots.append(handle)
        signature.append((number, tuple(links)) if links else number)
    values = [root._node for root in roots]
    if any(node.kind != LEAF for node in values):
        trace.evaluate(*values)
    for root, node in zip(roots, values, strict=True):
        memory, _, strides = node.value
        if memory.external:
            raise Unfit("it takes an array whose memory is shared with NumPy")
        signature += (node.dtype, node.shape, strides, root._flags, type(root))
    for array in leaves.buffers:
        roots.append(_borrowed(array))
        values.append(roots[-1]._node)
        signature += (array.dtype, array.shape)
    return roots, values, signature


def _borrowed(array: Any) -> Handle:
    """A read-only handle on a NumPy array's memory, for the time of a call."""
    row = from_numpy(array.dtype) if array.dtype.isnative and array.flags.c_contiguous else None
    if row is None:
        return wrap_array(sharing.copied(array, "C"))
    flat = array.reshape(-1).view(np.uint8)
    address = array.__array_interface__["data"][0]
    memory = Memory(address, array.nbytes, flat, False, False)
    handle = wrap_array(
        leaf(memory, row, array.shape, 0, contiguous_strides(array.shape, row.itemsize))
    )
    handle._flags = READ_ONLY
    return handle


def _given(args: Any, kwargs: Any, leaves: Leaves, roots: list[Handle], watch: Watch) -> Any:
    """The arguments as the function is recorded with."""
    borrowed = roots[len(roots) - len(leaves.buffers) :]
    for handle in borrowed:
        # the first call may keep what it is given: it works on a copy
        handle._node = sharing.copied(sharing.window(handle._node))
    floats = (
        Parameter(value, _picking(number), frozenset((number,)), watch)
        for number, value in enumerate(leaves.floats)
    )
    return replaced((args, tuple(kwargs.items())), lambda _: next(floats), _next(borrowed))


def _next(values: Iterable[Any]) -> Callable[[Any], Any]:
    left = iter(values)
    return lambda _: next(left)


def _converted(args: Any) -> Any:
    """The arguments of a call that is not recorded: NumPy arrays become ours, as copies."""
    return replaced(args, lambda value: value, asarray)


def _picking(number: int) -> Callable[[Any], Any]:
    return lambda values: values[number]


def _forget(handle: Handle) -> None:
    """Let a view look up its value again."""
    if handle._base is not None:
        handle._version = handle._cached = None  # type: ignore[attr-defined]


def _check_containers(key: Any, leaves: Leaves, args: Any, kwargs: Any) -> None:
    """Refuse to replay what puts other things into a list, dict or object it is given."""
    after = Leaves()
    tree = describe(args, after)
    if kwargs:
        tree = (tree, describe(tuple(kwargs.items()), after))
    same = len(after.arrays) == len(leaves.arrays) and all(map(is_, after.arrays, leaves.arrays))
    if not same or tree != key[0]:
        raise Unfit("it changes a list, dict or object it is given")


def _recorded(
    captured: Captured,
    watch: Watch,
    leaves: Leaves,
    roots: list[Handle],
    stand_ins: Placeholders,
    result: Any,
) -> Recording:
    results = Results(leaves.arrays, roots)
    spec = result_tree(result, results.leaf)
    rec.check_results(results.handles, stand_ins.nodes, captured)
    pairs = zip(roots, stand_ins.originals, strict=True)
    changed = [number for number, (root, node) in enumerate(pairs) if root._node is not node]
    wanted = [roots[n]._node for n in changed] + [handle._node for handle in results.handles]
    copies = rec.copy_slice(wanted)
    rec.check_leaves(copies, stand_ins.nodes, captured)
    inputs = [(n, copies[node]) for n, node in enumerate(stand_ins.nodes) if node in copies]
    outputs = list(dict.fromkeys(copies[n] for n in wanted if n.kind != LEAF))
    numbers = {id(node): number for number, node in enumerate(outputs)}
    numbers |= {id(node): ~number for number, node in inputs}
    bound = {id(node): compute for node, compute in watch.bound}
    options = current()
    order, runner = driver.prepare(outputs, options) if outputs else ([], None)
    return Recording(
        order=order,
        runner=runner,
        options=options,
        captured=captured,
        used=[(number, leaves.floats[number]) for number in sorted(watch.used)],
        inputs=inputs,
        scalars=[(copy, bound[id(node)]) for node, copy in copies.items() if id(node) in bound],
        outputs=outputs,
        changed=changed,
        places=[numbers[id(copies[node])] for node in wanted],
        kinds=[(type(handle), handle._flags) for handle in results.handles],
        spec=spec,
        lent=_lent(results, wanted, stand_ins, len(roots) - len(leaves.buffers)),
        form=_form(result, results.handles),
    )


def _form(result: Any, handles: list[Handle]) -> str:
    if len(handles) == 1 and result is handles[0]:
        return "one"
    is_tuple = type(result) is tuple and len(result) == len(handles) > 0
    return "tuple" if is_tuple and all(map(is_, result, handles)) else ""


def _lent(results: Results, wanted: list[Node], stand_ins: Placeholders, first: int) -> set[int]:
    """The roots on NumPy's memory (they stand from `first` on) whose values the results are, or
    look into.
    """
    direct = {n for n, node in enumerate(stand_ins.nodes) if any(node is w for w in wanted)}
    return {number for number in results.used_roots | direct if number >= first}


def _evaluate_results(result: Any, roots: list[Handle]) -> None:
    handles = handles_in(result)
    trace.evaluate(*(views.root_of(handle)._node for handle in (*handles, *roots)))
    for handle in handles:
        _forget(handle)


def _check_escapes(before: set[Node]) -> None:
    """Refuse to replay what leaves values anywhere but in its results."""
    if any(node not in before and node.kind != LEAF for node in trace.live()):
        raise Unfit("it keeps an array outside of its results")


def _without_parameters(result: Any) -> Any:
    """The results of the call that was recorded: float arguments in it are floats again."""
    if not any(type(value) is Parameter for value in leaves_of(result)):
        return result

    def plain(value: Any) -> Spec:
        number = value._value if type(value) is Parameter else value
        return lambda made: number

    return result_tree(result, plain)(())
