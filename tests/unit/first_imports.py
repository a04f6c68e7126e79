"""A program's first use of the package, disturbed: `python first_imports.py KIND POINTS`.

Each of so many children, all without a module of ours, is disturbed at another one of the calls
that importing and the first values make, then does the same again.  Prints what went wrong.

* "interruption": Ctrl-C.
* "handler": a signal's handler computes with arrays, once the drop-in is there.
* "no memory": what is called raises `MemoryError`; calls of ours only, since Python's own import
  system leaves an empty module behind.
* "stack": the program begins so many frames before the end of its stack.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import traceback
from types import FrameType
from typing import Any

import numpy as np

LONGEST = 60
"""Seconds of one child."""
OURS = f"{os.sep}fusewright{os.sep}"


def program() -> float:
    """Loads the drop-in, the pool, what runs operation by operation, the driver, the compiler."""
    import fusewright as fw
    import fusewright.numpy as fnp

    x = fnp.arange(5000.0)
    total = float(fnp.sqrt(x * 2.0 + 1.0).sum())
    z = fw.asarray(np.ones(1000))
    z[3:700] += z[4:701] * 2
    total += float(z.sum()) + float((fnp.maximum(x, 3.0)[5:] - 1)[0])
    with fw.options(interpret=False):
        return total + float((x * 1.5 - z[0])[7])


def handler(*_: Any) -> None:
    drop_in = sys.modules.get("fusewright.numpy")
    if drop_in is None or drop_in.__spec__._initializing:  # type: ignore[union-attr]
        return  # as with NumPy itself: what the program has not imported it cannot use
    values = drop_in.arange(3000.0)
    assert float((values * 2 + 1).sum()) == 9000000.0, "the handler's value"


class Disturbed:
    """Calls are counted; at one of them something happens."""

    def __init__(self, kind: str, at: int) -> None:
        self.kind, self.at, self.calls = kind, at, 0

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        path = frame.f_code.co_filename
        ours = OURS in path and not path.endswith("loading.py")  # which puts things back
        if event != "call" or (self.kind == "no memory" and not ours):
            return
        self.calls += 1
        if self.calls == self.at:
            sys.setprofile(None)
            self.disturb()

    def disturb(self) -> None:
        if self.kind == "no memory":
            raise MemoryError
        os.kill(os.getpid(), signal.SIGINT if self.kind == "interruption" else signal.SIGUSR1)


def once(disturbed: Disturbed) -> BaseException | float:
    """The program, disturbed, and what became of it."""
    sys.setprofile(disturbed)
    try:
        return program()
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is looked at
        return error
    finally:
        sys.setprofile(None)


def deep(frames: int) -> BaseException | float:
    """The program, so many frames before the end of the stack."""

    def deeper(left: int) -> float:
        return deeper(left - 1) if left else program()

    try:
        return deeper(sys.getrecursionlimit() - frames)
    except RecursionError as error:
        return error


EXPECTED = {
    "interruption": (KeyboardInterrupt, float), "handler": (float,),
    "no memory": (MemoryError, float), "stack": (RecursionError, float), "": (float,),
}  # fmt: skip


def child(kind: str, at: int) -> int:
    """0 where the program was what it should be, disturbed and afterwards."""
    faulthandler.dump_traceback_later(LONGEST, exit=True)
    signal.signal(signal.SIGUSR1, handler)
    before = signal.getsignal(signal.SIGINT), sys.getrecursionlimit()
    first = deep(at) if kind == "stack" else once(Disturbed(kind, at))
    values = {program() for _ in range(3)}
    after = signal.getsignal(signal.SIGINT), sys.getrecursionlimit()
    assert before == after, (before, after)
    if isinstance(first, float):
        values.add(first)
    if not isinstance(first, EXPECTED[kind]):
        assert isinstance(first, BaseException)
        raise first
    return len(values) != 1


def forked(kind: str, at: int) -> int:
    pid = os.fork()
    if pid == 0:
        status = 2
        try:
            status = child(kind, at)
        except BaseException:  # noqa: BLE001 - as above
            traceback.print_exc()
        sys.stderr.flush()
        os._exit(status)
    return os.waitpid(pid, 0)[1]


def calls(kind: str) -> int:
    """How many calls an undisturbed program makes, in a child."""
    ours, theirs = os.pipe()
    if os.fork() == 0:
        counted = Disturbed(kind, -1)
        once(counted)
        os.write(theirs, str(counted.calls).encode())
        os._exit(0)
    os.close(theirs)
    os.wait()
    return int(os.read(ours, 20))


def main() -> int:
    kind, points = sys.argv[1], int(sys.argv[2])
    forked("", 0)  # what is kept on disk is there for all
    most = 600 if kind == "stack" else calls(kind)
    failed = [
        at for n in range(points) if forked(kind, at := 5 + most * (2 * n + 1) // (2 * points))
    ]
    print(f"{kind}: {failed} of {most} calls" if failed else "fine")
    return bool(failed)


if __name__ == "__main__":
    raise SystemExit(main())
