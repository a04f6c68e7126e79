"""Every setting of Fusewright in one place: its default, its variable, and what it may be.

The environment sets defaults only; `with options(threads=1): ...` sets a value for a block of code
(and for the tasks started inside it: the setting is a context variable), `set_defaults(...)` for
the process.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import _GeneratorContextManager, contextmanager, suppress
from contextvars import ContextVar
from typing import Any, Literal, NamedTuple, TypedDict, Unpack

from fusewright._core import native
from fusewright.base import errors
from fusewright.base.errors import FusewrightError, FusewrightWarning, OptionError, VariableError
from fusewright.base.source import warn

TARGETS = ("cpu", "reference")
FEATURES = ("auto", "avx2", "avx512", "amx")
FUSE_LEVELS = ("disjoint", "same", "dims", "shift", "overlap")
ALL = "all"
"""The `strict` that refuses library steps, too."""
DIAGNOSTICS, SHELLS = ("off", "text", "json"), ("g", "h")
MAX_THREADS, MAX_SMALL = 256, 1 << 20
_SUFFIXES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_TRUTH = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}


class Options(NamedTuple):
    """One consistent set of settings; `TABLE` says what each means."""

    fuse: bool = True
    threads: int | None = None
    strict: bool | str = False
    target: str = "cpu"
    features: str = "auto"
    reassociate: bool = False
    contract: bool = False
    spans: bool = False
    debug: bool = False
    check: bool = False
    fuse_level: str = "overlap"
    graph: bool = False
    diagnostics: str = "off"
    verify: bool = False
    measure: bool = True
    background: bool = True
    interpret: bool = True
    small: int = 512
    shells: str = "g"
    memory_limit: int | None = None
    cache_dir: str | None = None


class Settings(TypedDict, total=False):
    """The same settings as keywords: what type checkers know of `options(...)`."""

    fuse: bool
    threads: int | None
    strict: bool | Literal["all"]
    target: str
    features: Literal["auto", "avx2", "avx512", "amx"]
    reassociate: bool
    contract: bool
    spans: bool
    debug: bool
    check: bool
    fuse_level: Literal["disjoint", "same", "dims", "shift", "overlap"]
    graph: bool
    diagnostics: Literal["off", "text", "json"]
    verify: bool
    measure: bool
    background: bool
    interpret: bool
    small: int
    shells: Literal["g", "h"]
    memory_limit: int | None
    cache_dir: str | os.PathLike[str] | None


def _boolean(text: str) -> bool:
    return _TRUTH[text.strip().lower()]


def _is_boolean(value: Any) -> bool:
    return isinstance(value, bool)


def _strictness(text: str) -> bool | str:
    return ALL if text.strip().lower() == ALL else _boolean(text)


def _integer(text: str) -> int | None:
    return int(text) if text.strip() else None


def _size(text: str) -> int | None:
    """Bytes: `1500000`, `512M`, `2G`, `2 GiB`."""
    text = text.strip().lower().removesuffix("b").removesuffix("i")
    if not text:
        return None
    suffix = text[-1] if text[-1].isalpha() else ""
    return int(float(text.removesuffix(suffix)) * _SUFFIXES[suffix])


def _folder(name: str) -> str:
    """A folder named from the current one, which the program may leave later on."""
    with suppress(OSError):  # the current folder is gone
        return name if name.startswith("~") else os.path.abspath(name)
    return name


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


class Row(NamedTuple):
    """One setting: how the variable's text is read, which values are right, and how to say so."""

    name: str
    parse: Callable[[str], Any]
    valid: Callable[[Any], bool]
    allowed: str
    meaning: str

    @property
    def variable(self) -> str:
        return f"{PREFIX}{self.name.upper()}"


def _flag(name: str, meaning: str) -> Row:
    return Row(name, _boolean, _is_boolean, "True or False (1 or 0 in the environment)", meaning)


def _is_target(value: Any) -> bool:  # one of ours, or of another package
    if value in TARGETS:
        return True
    from importlib.metadata import entry_points  # few programs have other targets

    return isinstance(value, str) and value in entry_points(group="fusewright.targets").names


def _choice(name: str, choices: tuple[str, ...], meaning: str) -> Row:
    return Row(name, str.strip, choices.__contains__, " or ".join(map(repr, choices)), meaning)


TABLE: dict[str, Row] = {
    row.name: row
    for row in (
        _flag("fuse", "run several steps as one kernel where that is proved and pays"),
        Row(
            "threads",
            _integer,
            lambda value: value is None or (_is_int(value) and 1 <= value <= MAX_THREADS),
            f"None or 1 to {MAX_THREADS}",
            "threads of a kernel; None: OMP_NUM_THREADS, else the CPUs this process may use",
        ),
        Row(
            "strict",
            _strictness,
            lambda value: _is_boolean(value) or value == ALL,
            f"True, False or {ALL!r} (1, 0 or {ALL} in the environment)",
            "a step that is not compiled is an error; True leaves the documented library steps to "
            f"NumPy, {ALL!r} refuses those too",
        ),
        Row("target", str.strip, _is_target, " or ".join(map(repr, TARGETS)), "where kernels run"),
        _choice("features", FEATURES, "the vector instructions of the cpu target"),
        _flag("reassociate", "floating-point sums and products may be reordered"),
        _flag("contract", "a * b + c may be rounded once; no code makes use of it yet"),
        _flag("spans", "remember the column of each operation, not only its line"),
        _flag("debug", "verify every stage"),
        _flag("check", "kernels of loops check indices and divisors"),
        _choice("fuse_level", FUSE_LEVELS, "how far apart fused loops may meet, at most"),
        _flag("graph", "each top-level loop of a kernel stays a task of its own"),
        _choice("diagnostics", DIAGNOSTICS, "report on standard error which loops were fused"),
        _flag("verify", "run kernels and array statements fused and unfused, and compare the bits"),
        _flag("measure", "time kernels fused and unfused where both are predicted to be close"),
        _flag("background", "improve quickly compiled kernels in a background thread"),
        _flag("interpret", "small work runs operation by operation until compiling it has paid"),
        Row(
            "small",
            int,
            lambda value: _is_int(value) and 0 <= value <= MAX_SMALL,
            f"0 to {MAX_SMALL}",
            "elements up to which arrays made without one of ours are NumPy's own; 0: all are ours",
        ),
        _choice("shells", SHELLS, "the highest shells of Gaussian functions with our integrals"),
        Row(
            "memory_limit",
            _size,
            lambda value: value is None or (_is_int(value) and value >= 0),
            "None or a number of bytes (in the environment also 512M, 2G)",
            "bytes of freed memory kept for reuse; None: what the last second needed twice",
        ),
        Row(
            "cache_dir",
            lambda text: _folder(text) if text else None,
            lambda value: value is None or isinstance(value, str),
            "None or the path of a folder",
            "where compiled code is kept; None: the platform's cache folder",
        ),
    )
}


PREFIX = "FUSEWRIGHT_"
_NATIVE = f"{PREFIX}NATIVE"  # no setting: the core reads it before there are any
_OTHERS = (f"{PREFIX}TEST_", "_PYTHON")
"""How variables of our tests begin, and those of our benchmarks end."""


def from_environment(environment: Mapping[str, str]) -> Options:
    """The defaults with the environment's changes; a wrong value raises, a wrong name warns."""
    for problem in problems(environment):
        if problem.is_name:
            warn(str(problem), FusewrightWarning)
        else:
            raise problem
    rows = (row for row in TABLE.values() if row.variable in environment)
    return Options(**{row.name: row.parse(environment[row.variable]) for row in rows})


def problems(environment: Mapping[str, str]) -> list[VariableError]:
    """What is wrong with our variables in the environment, a line for each."""
    found = [_problem(n, environment[n]) for n in sorted(environment) if n.startswith(PREFIX)]
    return [problem for problem in found if problem is not None]


def _problem(name: str, text: str) -> VariableError | None:
    row = TABLE.get(name.removeprefix(PREFIX).lower())
    if row is None or row.variable != name:
        if name == _NATIVE or name.startswith(_OTHERS[0]) or name.endswith(_OTHERS[1]):
            return None
        meant = _meant(name.removeprefix(PREFIX).lower(), lambda known: TABLE[known].variable)
        return VariableError(name, f"there is no variable {name}: {meant}", True)
    try:
        if row.valid(row.parse(text)):
            return None
    except (KeyError, ValueError):
        pass
    what = f"{name} cannot be {text!r}: use {row.allowed} ({row.meaning})"
    return VariableError(name, what, False)


def _meant(word: str, spelled: Callable[[str], str] = str) -> str:
    # Imported here: only a mistake needs it.
    from fusewright.base.meant import did_you_mean

    return did_you_mean(word, TABLE, spelled) or f"there are {', '.join(map(spelled, TABLE))}"


def _refused(row: Row, value: Any, name: str) -> OptionError:
    return OptionError(
        f"{name} cannot be {value!r}", why=f"{row.name}: {row.meaning}", help=f"use {row.allowed}"
    )


def _checked(changes: Mapping[str, Any]) -> dict[str, Any]:
    """The changes, once every name and value is known to be right."""
    values = dict(changes)
    for name, value in values.items():
        row = TABLE.get(name)
        if row is None:
            raise OptionError(f"there is no option {name!r}", help=_meant(name))
        if name == "cache_dir" and isinstance(value, str | os.PathLike):
            value = values[name] = _folder(os.fspath(value))
        if not row.valid(value):
            raise _refused(row, value, f"option {name!r}")
    return values


watchers: list[Callable[[Options, Options], None]] = []
"""Called with the old and the new settings at every change (`with options`, `set_defaults`)."""


def _changed(old: Options, new: Options) -> None:
    for watcher in watchers:
        watcher(old, new)


process_options: Options | None = None
context: ContextVar[Options | None] = ContextVar("fusewright_options", default=None)
_get = context.get
if native is not None:
    native.set_options(context)


def defaults() -> Options:
    """What holds outside every `with options(...)`; the environment is read at first use."""
    if process_options is None:
        set_process_options(chosen := _same(from_environment(os.environ)))
        _changed(Options(), chosen)
    assert process_options is not None
    return process_options


def set_process_options(chosen: Options) -> Options:
    """The options of the whole process, in the core, too; themselves."""
    global process_options
    process_options = chosen
    if native is not None:
        native.set_process_options(chosen)
    return chosen


def current() -> Options:
    """What holds here and now."""
    return _get() or process_options or defaults()


def _is_debugging() -> bool:
    with suppress(FusewrightError):  # else the settings are what is wrong
        return current().debug
    return False


errors.is_debugging = _is_debugging
MOST_KEPT = 64
_kept: dict[Options, Options] = {}


def _same(chosen: Options) -> Options:
    """The one object for these settings: what is remembered for settings is found by identity."""
    if len(_kept) >= MOST_KEPT and chosen not in _kept:
        _kept.clear()
    return _kept.setdefault(chosen, chosen)


def set_defaults(**changes: Any) -> None:
    """Change settings for the whole process (the command line does this)."""
    old = defaults()
    _changed(old, set_process_options(_same(old._replace(**_checked(changes)))))


def options(**changes: "Unpack[Settings]") -> "_GeneratorContextManager[Options]":
    """Change settings inside a `with` block, for this thread and the tasks started in it.

    `fusewright help options` lists them with their meaning; `with options(...) as chosen` gives all
    that hold inside.  Settings that are not named keep what holds outside; at the end of the block
    everything is as it was, also after an error.  Without `with`, nothing changes.

    Raises:
        FusewrightError: for an unknown setting or a value it cannot have (FW113).

    Examples:
        >>> import fusewright as fw
        >>> with fw.options(threads=1, fuse=False) as chosen:
        ...     print(chosen.threads, chosen.fuse, chosen.strict)
        1 False False
        >>> fw.options(threads=0)
        Traceback (most recent call last):
        fusewright.base.errors.OptionError: option 'threads' cannot be 0 [FW113]
    """
    return _inside(_checked(changes))


options.__doc__ = f"{options.__doc__}\n    All, with their defaults:\n\n" + "\n".join(
    f"    {name} = {Options._field_defaults[name]!r} ({row.allowed.partition(' (')[0]}):\n"
    f"        {row.meaning}"
    for name, row in TABLE.items()
)


@contextmanager
def _inside(changes: Mapping[str, Any]) -> Iterator[Options]:
    old = current()
    new = _same(old._replace(**changes))
    token = context.set(new)
    _changed(old, new)
    try:
        yield new
    finally:
        context.reset(token)
        _changed(new, old)


def cache_folder() -> str:
    """Where compiled code is kept; empty where the folder cannot be named."""
    named = _folder(os.path.expanduser(current().cache_dir or _platform_folder()))
    return named if os.path.isabs(named) else ""


def _platform_folder() -> str:
    if sys.platform == "linux":  # what platformdirs computes, without its import
        base = os.environ.get("XDG_CACHE_HOME", "").strip() or os.path.expanduser("~/.cache")
        return os.path.join(base, "fusewright")
    import platformdirs as rules  # only other systems need them

    return rules.user_cache_dir("fusewright")


def calibration() -> str:
    """The file of figures measured on machines like this one; empty where it cannot be named."""
    here = cache_folder()
    return here and os.path.join(here, f"machine-{os.uname().machine}-{os.cpu_count()}.txt")
