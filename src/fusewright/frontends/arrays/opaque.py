"""Steps that NumPy runs: recorded like the others where the result's shape is known, else run at
once.

Nothing falls back in silence: listeners hear of every step that ran here, and `strict=True`
refuses all but those of the table in `ir.library_steps`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fusewright._core import native
from fusewright.base import source
from fusewright.base.later import later
from fusewright.base.options import current
from fusewright.base.source import Span
from fusewright.frontends.arrays import core, exports, immediate, inplace, record, sharing, trace
from fusewright.frontends.arrays.core import Handle, wrap
from fusewright.frontends.arrays.dtypes import as_dtype
from fusewright.ir.dtypes import BY_NAME, DType, from_numpy
from fusewright.ir.graph import OPAQUE, PART, SCALAR, Node

if TYPE_CHECKING:
    from fusewright.base import signatures
    from fusewright.frontends.arrays import strictness
else:
    signatures = later("fusewright.base.signatures")
    strictness = later("fusewright.frontends.arrays.strictness")


class Note(NamedTuple):
    """A step NumPy ran at once; `start` and `seconds` are on the `time.perf_counter()` clock."""

    name: str
    why: str
    line: Span | None
    start: float
    seconds: float


listeners: list[Callable[[Note], None]] = immediate.listeners
"""Called with a note of every delegated call."""

as_user: Callable[..., Any] = (
    (lambda function, given, named: function(*given, **named)) if native is None else native.as_user
)
"""Call a function that may be the program's own: what it makes is as in its other code."""
DELEGATED = "Fusewright has no recorded form of it"
STRANGER = "the other operand's class decides what an operator means"
FOREIGN = "an operand is not a numeric array"
ANOTHERS = frozenset((STRANGER, FOREIGN))
"""Why a method of another class runs: it gets NumPy's arrays on our memory, which it may keep or
write into.
"""


def opaque(
    name: str,
    function: Callable[..., Any],
    operands: Sequence[Any],
    dtype: Any,
    shape: tuple[int, ...],
) -> Any:
    """A library step whose result type and shape are known; `function` takes and returns NumPy
    arrays.

    It runs now, as in NumPy: nothing fuses with it, and what is computed is computed once.  While
    a function is recorded for replay, and in `lazy()` blocks, it is recorded.
    """
    row = as_dtype(dtype)
    if not runs_now():
        return wrap(opaque_node(name, function, operands, row, shape))
    return _as_declared(_run(name, function, operands), row, shape)


def opaque_node(
    name: str,
    function: Callable[..., Any],
    operands: Sequence[Any],
    dtype: DType,
    shape: tuple[int, ...],
) -> Node:
    """Record a library step with one result."""
    nodes = tuple(record.node_of(operand) for operand in operands)
    return trace.record(Node(OPAQUE, name, nodes, dtype, shape, (), function))


def opaque_parts(
    name: str,
    function: Callable[..., Sequence[Any]],
    operands: Sequence[Any],
    results: Sequence[tuple[Any, tuple[int, ...]]],
) -> tuple[Any, ...]:
    """A library step with several results, given as (dtype, shape); `function` returns a tuple."""
    if runs_now():
        found = _run(name, function, operands)
        return tuple(
            _as_declared(each, as_dtype(dtype), shape)
            for each, (dtype, shape) in zip(found, results, strict=True)
        )
    nodes = tuple(record.node_of(operand) for operand in operands)
    first_dtype, first_shape = results[0]
    whole = Node(OPAQUE, name, nodes, as_dtype(first_dtype), first_shape, (len(results),), function)
    trace.record(whole)
    return tuple(
        wrap(trace.record(Node(PART, "", (whole,), as_dtype(dtype), shape, number)))
        for number, (dtype, shape) in enumerate(results)
    )


def runs_now() -> bool:
    """Whether library steps run when they are called."""
    options = current()
    plain = options.interpret and not options.spans and options.target != "reference"
    return plain and not trace.is_held() and not trace.is_lazy()


def _run(name: str, function: Callable[..., Any], operands: Sequence[Any]) -> Any:
    nodes = [record.node_of(operand) for operand in operands]
    given = [
        node.dtype.numpy.type(node.value) if node.kind == SCALAR else core.wrap_array(node)
        for node in nodes
    ]
    with np.errstate(all="ignore"):
        return delegate(name, function, given, why=LIBRARY, written=None)


def _as_declared(value: Any, dtype: DType, shape: tuple[int, ...]) -> Any:
    """The result as recording it would have given it: of this type, a number without dims lazy."""
    node = record.node_of(value)
    return wrap(node if node.dtype is dtype else core.cast(node, dtype))


LIBRARY = "a library step"  # ir.library_steps.ON_PURPOSE, without loading it


def foreign(*operands: Any) -> str:
    """Why NumPy computes what has a type that is none of ours: of arrays, numbers, or anything.

    >>> foreign(np.ones(3), np.longdouble(2)), foreign(np.ones(3), "text", None)
    ("arrays of float128 are NumPy's own", "arrays of str and NoneType are NumPy's own")
    """
    others = [each for each in operands if not isinstance(each, bool | int | float | complex)]
    types = [str(getattr(each, "dtype", type(each).__name__)) for each in others]
    found = [name for name in dict.fromkeys(types) if name not in BY_NAME]
    return f"arrays of {' and '.join(found or types)} are NumPy's own"


def refuse_if_strict(name: str, why: str = DELEGATED) -> None:
    """Under `strict=True`, an error at the user's line unless the step is in the table of library
    steps; under `strict="all"` in any case.
    """
    if current().strict:
        strictness.refuse(name, strictness.reason(name, why, LIBRARY))


def delegate(
    name: str,
    function: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: dict[str, Any] | None = None,
    why: str = DELEGATED,
    written: tuple[int, ...] | None = (),
) -> Any:
    """Call NumPy now, on computed arguments, and wrap what it returns.

    NumPy gets every argument: what it writes into (`out=`, and the arguments at the places
    `written`) are copies, which become the content of our arrays afterwards; None: surely nothing.
    """
    refuse_if_strict(name, why)
    arguments, keywords = list(args), dict(kwargs or {})
    trace.evaluate(*_pending_in((arguments, keywords)))
    loans = Loans()
    if written is not None:
        for place in {*written, *_places_of_out(function, len(arguments))}:
            arguments[place] = loans.lend(arguments[place])
    if keywords.get("out") is not None:
        keywords["out"] = loans.lend(keywords["out"])
    if keywords.get("overwrite_input") and _pending_in(arguments):  # a window is not NumPy's own
        keywords["overwrite_input"] = False
    start = time.perf_counter()
    reads = function in READERS
    if why in ANOTHERS:
        given = tuple(map(lent, arguments))
        named = {key: lent(value) for key, value in keywords.items()}
    else:
        given = tuple(to_numpy(arg, reads) for arg in arguments)
        named = {key: to_numpy(value, reads) for key, value in keywords.items()}
    results = [as_user(function, given, named)]
    del given, named
    _tell(name, why, start)
    return from_numpy_result(results.pop()) if loans.none else loans.taken_back(results.pop())


def _tell(name: str, why: str, start: float) -> None:
    """Listeners hear of a step that has just ended."""
    seconds = time.perf_counter() - start
    if listeners:
        why = strictness.reason(name, why, LIBRARY)
        note = Note(name, why, source.user_span(), start, seconds)
        for listener in listeners:
            listener(note)


def in_numpy(name: str, function: Callable[..., Any], *args: Any) -> Any:
    """A step on NumPy's own values inside an operation of ours, refused and told of like others."""
    refuse_if_strict(name, LIBRARY)
    start = time.perf_counter()
    result = function(*args)
    _tell(name, LIBRARY, start)
    return result


class Loans:
    """What NumPy writes into: copies of arrays of ours, NumPy's arrays as they are."""

    __slots__ = ("_lent",)

    def __init__(self) -> None:
        self._lent: list[tuple[Any, sharing.NDArray]] = []

    @property
    def none(self) -> bool:
        """Whether nothing is written into."""
        return not self._lent

    def lend(self, value: Any) -> Any:
        """What stands for an array of ours, or for those in a tuple; one copy for each array."""
        if type(value) is tuple:
            return tuple(map(self.lend, value))
        for owner, known in self._lent:
            if owner is value:
                return known
        if isinstance(value, np.ndarray):
            self._lent.append((value, value))
        elif isinstance(value, Handle) and type(value) is not core.scalar_class:
            copy = np.array(sharing.content(value), order="C")
            copy.flags.writeable = not value._flags & core.READ_ONLY
            self._lent.append((value, copy))
            return copy
        return value

    def taken_back(self, result: Any) -> Any:
        """Let the copies be their arrays' content; NumPy's answer, in which the arrays stand where
        NumPy returned what it was lent.
        """
        for owner, copy in self._lent:
            if owner is not copy:
                inplace.store(owner, sharing.adopted(copy))
        return self._owned(result)

    def _owned(self, value: Any) -> Any:
        if type(value) is tuple:
            return tuple(map(self._owned, value))
        for owner, copy in self._lent:
            if copy is value:
                return owner
        return from_numpy_result(value)


def _places_of_out(function: Any, count: int) -> range:
    """Where `out` stands among so many positional arguments."""
    if isinstance(function, np.ufunc):
        return range(function.nin, count)
    if count < 2:
        return range(0)
    known, _ = signatures.place_of(function, "out")
    return range(known, known + 1) if 0 <= known < count else range(0)


def gives_out(function: Any, count: int) -> bool:
    """Whether so many positional arguments reach NumPy's `out`."""
    return len(_places_of_out(function, count)) > 0


def place_of_out(function: Any, args: Any, kwargs: dict[str, Any]) -> int | bool:
    """Where `out` stands in a call that gives what the same call without it would, put there: among
    the positional arguments, then the others; False for any other call.

    Under `where` an output keeps elements, halves are added up in their own type into halves, and
    `dtype` beside it is refused by some functions.
    """
    places, is_named = len(_places_of_out(function, len(args))), "out" in kwargs
    place = len(args) + list(kwargs).index("out") if is_named else len(args) - 1
    out: Any = (*args, *kwargs.values())[place]
    is_array = isinstance(out, core.Handle | np.ndarray)
    if not is_array or out.dtype == np.float16 or not kwargs.keys().isdisjoint(("where", "dtype")):
        return False
    if not is_named or isinstance(function, np.ufunc):
        return place if places == (not is_named) else False
    _, has_out = signatures.place_of(function, "out")
    return place if has_out and places == 0 else False


def _pending_in(value: Any) -> list[Node]:
    """The recorded values inside nested arguments."""
    return [sharing.stored_node(handle) for handle in core.handles_in(value)]


READERS = frozenset((
    np.argmax, np.argmin, np.bincount, np.choose, np.convolve, np.correlate, np.repeat, np.take,
    np.ndarray.argmax, np.ndarray.argmin, np.ndarray.choose, np.ndarray.repeat, np.ndarray.take,
))  # fmt: skip
"""Functions of NumPy's that copy operands which they may not write, though they write nothing and
give new arrays: `bincount` of 100 000 read-only integers takes 570 us, of others 180.
"""


def to_numpy(value: Any, writable: bool = False) -> Any:
    """Arguments as NumPy takes them: read-only windows on our arrays, NumPy scalars for our
    scalars.  `writable` windows are for `READERS`.
    """
    if isinstance(value, Handle):
        array = sharing.content(value)
        if isinstance(value, core.scalar_class):
            return array[()]
        array.flags.writeable = writable or (array.flags.writeable and not array.size)
        return array
    return mapped(lambda item: to_numpy(item, writable), value)


def lent(value: Any) -> Any:
    """Arguments as another class takes them: NumPy's arrays on our memory, and NumPy's numbers."""
    if isinstance(value, Handle):
        scalar = isinstance(value, core.scalar_class)
        return sharing.content(value)[()] if scalar else exports.writable(value)
    return mapped(lent, value)


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """A list, tuple, named tuple or dict with a function of its items; where none changes, and
    anything else, as it is.
    """
    if type(value) is dict:
        items = {key: function(item) for key, item in value.items()}
        return items if any(items[key] is not item for key, item in value.items()) else value
    is_named = isinstance(value, tuple) and hasattr(value, "_make")
    if type(value) not in (list, tuple) and not is_named:
        return value
    found = [function(item) for item in value]
    if all(a is b for a, b in zip(found, value, strict=False)):
        return value
    make: Any = type(value)
    return make._make(found) if is_named else make(found)


def from_numpy_result(value: Any) -> Any:
    """NumPy's answer with its arrays turned into ours; types without a row, and other byte orders
    than the machine's, stay NumPy's.

    An array that no variable holds, only the call, is adopted.
    """
    if isinstance(value, Handle):
        return value
    if isinstance(value, np.ndarray):
        if type(value) is not np.ndarray or from_numpy_or_none(value.dtype) is None:
            return value
        cell = [value]
        del value
        return core.wrap_array(sharing.received(cell))
    if isinstance(value, np.generic):
        return value
    if type(value) is list:
        return [from_numpy_result(item) for item in value]
    if isinstance(value, tuple):
        items = [from_numpy_result(item) for item in value]
        return value._make(items) if hasattr(value, "_make") else tuple(items)
    return value


def from_numpy_or_none(dtype: Any) -> DType | None:
    """The row of a NumPy dtype; none for another byte order than the machine's."""
    return from_numpy(dtype) if dtype.kind in "biufc" and dtype.isnative else None
