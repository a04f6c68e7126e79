"""Runs a Python program as `python` would: as `__main__`, with its arguments, exit code and
traceback.

A program is a file (or a folder with `__main__.py`), a module (`-m name`), or the text on standard
input (`-`).
"""

from __future__ import annotations

import builtins
import gc
import importlib.util
import os
import sys
import time
from collections.abc import Callable
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any, Literal, NamedTuple

from fusewright.cli import border
from fusewright.cli.libraries import LIBRARIES
from fusewright.cli.redirect import RedirectingLoader, redirect, user_code

Kind = Literal["file", "module", "stdin"]
_THIS_FOLDER = os.path.dirname(os.path.realpath(__file__))
_PARSING = os.path.join(os.path.dirname(_THIS_FOLDER), "base", "source.py")
INTERRUPTED = 130
"""What a shell reports for a program that Ctrl-C ended (128 + SIGINT)."""


class ProgramNotFound(Exception):
    """There is nothing to run under that name."""


class Program(NamedTuple):
    """What to run and its arguments (without the program's own name)."""

    kind: Kind
    name: str
    arguments: tuple[str, ...] = ()

    def command(self) -> list[str]:
        """The words that name it on a command line."""
        head = ["-m", self.name] if self.kind == "module" else [self.name]
        return [*head, *self.arguments]


def program_of_file(name: str, arguments: tuple[str, ...]) -> Program:
    """A file or folder; refused where it does not exist."""
    if not os.path.exists(name):
        raise ProgramNotFound(f"there is no file {name}")
    return Program("file", name, arguments)


class Outcome(NamedTuple):
    """How it ended; `seconds` is its own time, which `began` then (`time.perf_counter`), `error`
    what it raised, `namespace` its global names.
    """

    code: int
    seconds: float
    error: BaseException | None
    namespace: dict[str, Any]
    began: float = 0.0


class _Loaded(NamedTuple):
    """A program ready to start: its code, its `__main__` globals, and what `sys` must say."""

    code: CodeType
    argv0: str
    path0: str
    globals: dict[str, Any]


class Settings(NamedTuple):
    """How to run it: with the drop-in or with plain NumPy, and what to do with its names when it
    has ended.
    """

    plain: bool = False
    library: str = "numpy"
    finish: Callable[[dict[str, Any]], None] | None = None


def execute(program: Program, settings: Settings) -> Outcome:
    """Run it in this process, which it may change as any program may (`sys.argv`, `sys.path`,
    `__main__`).

    `settings.finish` is called with the program's names when it ended well, inside the measured
    time: it asks for the values that nobody has asked for yet.
    """
    if not settings.plain:
        # For good: the program's threads and exit functions run on after its last line.
        redirect(folders_of(program), settings.library)
    try:
        loaded = _LOADERS[program.kind](program, settings.plain)
    except (SyntaxError, ImportError) as error:
        return Outcome(_report(error), 0.0, error, {})
    _import_arrays(loaded.code, settings)
    return _run(program, loaded, settings)


def folders_of(program: Program) -> list[str]:
    """Where the user's modules lie."""
    if program.kind == "module":
        return [os.getcwd(), *_package_folders(program.name)]
    if program.kind == "stdin":
        return [os.getcwd()]
    return [program.name if os.path.isdir(program.name) else os.path.dirname(program.name) or "."]


def _import_arrays(code: CodeType, settings: Settings) -> None:
    """Load the array library before the clock starts, on both sides of a comparison; a program
    that is not timed loads what it imports, no more.
    """
    timed = settings.finish is not None
    imported = "numpy" if settings.plain else "fusewright.numpy"
    if timed or imported in code.co_names:
        importlib.import_module(imported)
    if timed and not settings.plain:
        importlib.import_module("fusewright.driver")


def _hand_over() -> None:
    """From here on the process is the program's.  What has been loaded for it lives as long as it
    does: no collection looks at that again, the last one (10 ms of 20 at exit) neither.  What the
    program makes, its main module too, comes later and is collected as ever.
    """
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def _run(program: Program, loaded: _Loaded, settings: Settings) -> Outcome:
    _hand_over()
    main = ModuleType("__main__")
    names: dict[str, Any] = {"__builtins__": builtins}
    if sys.version_info < (3, 14):
        names["__annotations__"] = {}
    main.__dict__.update(names, **loaded.globals)
    sys.modules["__main__"] = main
    sys.argv[:] = [loaded.argv0, *program.arguments]
    sys.path[:0] = [loaded.path0]
    error: BaseException | None = None
    start = time.perf_counter()
    try:
        _until_exit(loaded.code, main.__dict__)
        if settings.finish is not None:
            settings.finish(main.__dict__)
    except BaseException as raised:  # noqa: BLE001  (the program's, reported as Python reports it)
        error = raised
    seconds = time.perf_counter() - start
    return Outcome(_report(error, settings.plain), seconds, error, main.__dict__, start)


def _until_exit(code: CodeType, namespace: dict[str, Any]) -> None:
    """Run it; `sys.exit()` that reports success is an ordinary end."""
    try:
        exec(code, namespace)
    except SystemExit as end:
        if end.code not in (None, 0):
            raise


def _report(error: BaseException | None, plain: bool = False) -> int:
    """Say what Python would say about how a program ended, and return the exit code it would;
    `plain` runs have no drop-in for what is missing.
    """
    if error is None:
        return 0
    if isinstance(error, SystemExit):
        return _exit_code(error.code)
    sys.stdout.flush()
    # Imported here: most programs end without an error.
    from fusewright.base.traces import without

    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    if missing in LIBRARIES and not plain:
        error.add_note(f"help: `fusewright run --as {missing} ...` runs the program without it")
    error = error.with_traceback(without(error.__traceback__, _runs_programs))
    sys.excepthook(type(error), error, error.__traceback__)
    return INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1


def _exit_code(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    sys.stdout.flush()
    print(code, file=sys.stderr)
    return 1


def _runs_programs(code: CodeType) -> bool:
    """Whether a frame stands between Python and the user's program."""
    return code.co_filename.startswith((_THIS_FOLDER, _PARSING))


def _load_file(program: Program, plain: bool) -> _Loaded:
    folder = os.path.isdir(program.name)
    source = os.path.join(program.name, "__main__.py") if folder else program.name
    try:
        with open(source, "rb") as file:
            text = file.read()
    except OSError as error:
        raise ProgramNotFound(f"cannot read {source}: {error.strerror}") from error
    filename = os.path.abspath(source)
    loader = (SourceFileLoader if plain else RedirectingLoader)("__main__", filename)
    names: dict[str, Any] = {"__file__": filename, "__loader__": loader, "__spec__": None}
    if folder:
        names |= {"__package__": ""}
        return _Loaded(_compile(text, filename, plain), program.name, program.name, names)
    names |= {"__package__": None, "__cached__": None}
    # Python puts the folder itself there, links resolved.
    path0 = os.path.dirname(os.path.realpath(program.name))
    return _Loaded(_compile(text, filename, plain), program.name, path0, names)


def _load_stdin(program: Program, plain: bool) -> _Loaded:
    text = sys.stdin.buffer.read()
    loader = (SourceFileLoader if plain else RedirectingLoader)("__main__", "<stdin>")
    names = {"__loader__": loader, "__spec__": None, "__package__": None}
    return _Loaded(_compile(text, "<stdin>", plain), "-", "", names)


def _load_module(program: Program, plain: bool) -> _Loaded:
    sys.path.insert(0, os.getcwd())
    try:
        spec = _find_main(program.name)
    finally:
        sys.path.pop(0)
    code = spec.loader.get_code(spec.name)  # type: ignore[union-attr]
    if code is None:
        raise ProgramNotFound(f"module {program.name} has no Python code to run")
    names = {
        "__file__": spec.origin,
        "__loader__": spec.loader,
        "__spec__": spec,
        "__package__": spec.parent,
        "__cached__": spec.cached,
    }
    return _Loaded(code, spec.origin or program.name, os.getcwd(), names)


def _find_main(name: str) -> ModuleSpec:
    """The module `python -m name` runs: a package's `__main__`."""
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            name += ".__main__"
            spec = importlib.util.find_spec(name)
    except (ModuleNotFoundError, ValueError) as error:
        raise ProgramNotFound(f"no module named {name}: {error}") from error
    if spec is None or not hasattr(spec.loader, "get_code"):
        raise ProgramNotFound(f"no module named {name}")
    return spec


def _package_folders(name: str) -> list[str]:
    """Where the package of a program run with `-m` lies: its modules are the user's too."""
    sys.path.insert(0, os.getcwd())
    try:
        spec = importlib.util.find_spec(name.partition(".")[0])
    except ValueError:
        spec = None
    finally:
        sys.path.pop(0)
    return list(spec.submodule_search_locations or ()) if spec else []


def _compile(text: bytes, filename: str, plain: bool) -> CodeType:
    if plain:
        return compile(text, filename, "exec", dont_inherit=True)
    code = user_code(text, filename)
    border.read(code)
    return code


_LOADERS: dict[Kind, Callable[[Program, bool], _Loaded]] = {
    "file": _load_file,
    "module": _load_module,
    "stdin": _load_stdin,
}
