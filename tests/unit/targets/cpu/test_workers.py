"""The process that compiles: it is nobody's child, ends when the program does or has no work, and
the program can do without.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fusewright.base.errors import InternalError
from fusewright.targets.cpu import compiler, llvm, workers
from fusewright.targets.cpu.compiler import compile_ir
from fusewright.targets.cpu.features import BASELINE


def text(number: int, length: int = 1) -> str:
    """A function that no other test has compiled."""
    body = "\n".join(f"  %v{n} = fadd double %v{n - 1}, {float(n)}" for n in range(1, length + 1))
    return f"define double @f{number}(double %v0) {{\n{body}\n  ret double %v{length}\n}}"


@pytest.fixture(autouse=True)
def nothing_compiled() -> Iterator[None]:
    compiler.close_workers()
    compiler.forget()
    yield
    compiler.close_workers()
    compiler.forget()


def idle() -> workers.WorkerProcess:
    (worker,) = compiler.idle_workers
    assert isinstance(worker, workers.WorkerProcess)
    return worker


def is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def ends(pid: int, seconds: float = 5.0) -> bool:
    late = time.monotonic() + seconds
    while is_alive(pid) and time.monotonic() < late:
        time.sleep(0.01)
    return not is_alive(pid)


def names(image: object) -> list[str]:
    return [name for name, _ in image.symbols]  # type: ignore[attr-defined]


def test_one_process_serves_one_thread_after_another() -> None:
    compile_ir(text(1), BASELINE, 0)
    first = idle().pid
    compile_ir(text(2), BASELINE, 2)
    assert idle().pid == first != os.getpid()


def test_it_compiles_what_this_process_would() -> None:
    job = compiler.job(text(3, 40), BASELINE, 2)
    theirs = workers.WorkerProcess()
    assert theirs.promise(job)() == workers.WorkerHere().promise(job)()
    theirs.close()


def test_a_batch_is_answered_in_order_and_a_text_compiled_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    real = compiler.job
    monkeypatch.setattr(compiler, "job", lambda t, *r, **n: (asked.append(t), real(t, *r, **n))[1])
    with compiler.batch(BASELINE) as submit:
        promises = [submit(text(n % 3), 0) for n in range(6)]
        assert [names(promise()) for promise in promises] == [[f"f{n % 3}"] for n in range(6)]
    assert len(asked) == 3


@pytest.mark.parametrize("count", [3, 40])
def test_what_was_compiled_may_be_forgotten_meanwhile(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """Of more texts than are kept, and by another thread."""
    monkeypatch.setattr(compiler, "MOST_IMAGES", 2)
    compile_ir(text(0), BASELINE, 0)
    with compiler.batch(BASELINE) as submit:
        promises = [submit(text(n), 0) for n in range(count)]
        compiler.forget()
        for _ in range(2):
            assert [names(promise()) for promise in promises] == [[f"f{n}"] for n in range(count)]


def test_long_texts_do_not_wait_for_each_other() -> None:
    """More than the socket holds, in both directions."""
    with compiler.batch(BASELINE) as submit:
        promises = [submit(text(n, 9000), 0) for n in range(6)]
        assert [names(promise()) for promise in promises] == [[f"f{n}"] for n in range(6)]


def test_an_error_in_a_batch_is_that_modules() -> None:
    with compiler.batch(BASELINE) as submit:
        good, bad = submit(text(1), 0), submit("nonsense", 0)
        assert names(good()) == ["f1"]
        with pytest.raises(InternalError, match=r"LLVM refuses .*expected top-level"):
            bad()
    assert names(compile_ir(text(2), BASELINE, 0)) == ["f2"]


def test_it_is_started_again_when_it_has_ended() -> None:
    compile_ir(text(1), BASELINE, 0)
    first = idle().pid
    os.kill(first, signal.SIGKILL)
    assert ends(first)
    assert names(compile_ir(text(2), BASELINE, 0)) == ["f2"]
    assert idle().pid != first


def test_what_kills_it_twice_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = workers.WorkerProcess()
    real = worker.received

    def killed() -> object:
        if worker.pid:
            os.kill(worker.pid, signal.SIGKILL)
        return real()

    monkeypatch.setattr(worker, "received", killed)
    job = compiler.job(text(1, 20_000), BASELINE, 2)
    with pytest.raises(InternalError, match="LLVM ended"):
        worker.promise(job)()
    worker.close()


@pytest.mark.parametrize("length", [1, 20_000])
def test_one_that_is_stopped_is_left(monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    """While it has nothing to do; a long text fills the socket."""
    monkeypatch.setattr(workers, "LOOK", 0.2)
    compile_ir(text(1), BASELINE, 0)
    first = idle().pid
    os.kill(first, signal.SIGSTOP)
    assert names(compile_ir(text(2, length), BASELINE, 0)) == ["f2"]
    assert idle().pid != first and ends(first)


def test_one_that_is_stopped_in_the_midst_of_its_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "LOOK", 0.2)
    compile_ir(text(1), BASELINE, 0)
    first = idle().pid
    threading.Timer(0.3, os.kill, (first, signal.SIGSTOP)).start()
    assert names(compile_ir(text(2, 9_000), BASELINE, 2)) == ["f2"]
    assert ends(first)


def test_one_that_is_stopped_before_it_greets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each that is started: then this process compiles, and leaves no child."""
    monkeypatch.setattr(workers.WorkerProcess, "is_possible", True)
    monkeypatch.setattr(workers, "START", 0.3)
    real = workers.WorkerProcess.start

    def start(worker: workers.WorkerProcess) -> None:
        real(worker)
        os.kill(worker.child, signal.SIGSTOP)

    monkeypatch.setattr(workers.WorkerProcess, "start", start)
    assert names(compile_ir(text(2), BASELINE, 0)) == ["f2"]
    assert not workers.WorkerProcess.is_possible
    with pytest.raises(ChildProcessError):
        os.waitpid(idle().child, 0)


def test_long_work_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "LOOK", 0.05)
    compile_ir(text(1), BASELINE, 0)
    first = idle().pid
    assert names(compile_ir(text(2, 9_000), BASELINE, 2)) == ["f2"]
    assert idle().pid == first


def test_where_no_process_starts_this_one_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers.WorkerProcess, "is_possible", True)
    monkeypatch.setattr(workers, "worker_command", lambda: ["/there/is/no/such/program.py"])
    assert names(compile_ir(text(1), BASELINE, 0)) == ["f1"]
    assert not workers.WorkerProcess.is_possible and workers.is_here()
    monkeypatch.setattr(workers.WorkerProcess, "is_possible", True)
    monkeypatch.setattr(sys, "executable", "/there/is/no/python")
    compiler.close_workers()
    assert names(compile_ir(text(2), BASELINE, 0)) == ["f2"]
    with pytest.raises(InternalError, match="LLVM refuses"):
        compile_ir("nonsense", BASELINE, 0)


def test_another_version_is_asked_what_it_declares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "is_unchecked", lambda: True)
    assert names(compile_ir(text(1), BASELINE, 0)) == ["f1"]
    monkeypatch.setattr(llvm, "differing", lambda: ["ContextCreate"])
    with pytest.raises(llvm.Refused, match="ContextCreate"):
        llvm.Compiler(workers.library(), True)


def test_a_batch_that_is_left_leaves_nothing() -> None:
    with pytest.raises(ZeroDivisionError), compiler.batch(BASELINE) as submit:
        submit(text(1), 0)
        raise ZeroDivisionError
    assert not compiler.idle_workers
    assert names(compile_ir(text(2), BASELINE, 0)) == ["f2"]


def test_closed_files_are_not_mistaken_for_others(tmp_path: Path) -> None:
    """A program that closes all files may open its own at the same numbers."""
    compile_ir(text(1), BASELINE, 0)
    numbers = [file.number for file in idle().files]
    path = tmp_path / "data"
    path.write_bytes(b"mine")
    mine = os.open(path, os.O_RDWR)
    for number in numbers:
        os.dup2(mine, number)
    assert names(compile_ir(text(2), BASELINE, 0)) == ["f2"]
    assert path.read_bytes() == b"mine"
    for number in numbers:
        os.lseek(number, 0, os.SEEK_SET)
        assert os.read(number, 4) == b"mine"
        os.close(number)
    os.close(mine)


def test_a_child_has_its_own() -> None:
    compile_ir(text(1), BASELINE, 0)
    worker = idle().pid
    child = os.fork()
    if child == 0:
        ok = not compiler.idle_workers and names(compile_ir(text(2), BASELINE, 0)) == ["f2"]
        os._exit(7 if ok and idle().pid != worker else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert names(compile_ir(text(3), BASELINE, 0)) == ["f3"]
    assert idle().pid == worker


PROGRAM = """
import os, signal, sys, threading, time
from fusewright.targets.cpu import compiler
from fusewright.targets.cpu.features import BASELINE
def text(n, length):
    body = "\\n".join(f"  %v{k} = fadd double %v{k-1}, {float(k)}" for k in range(1, length + 1))
    return f"define double @f{n}(double %v0) {{\\n{body}\\n  ret double %v{length}\\n}}"
"""


def run(program: str, **changed: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM + program],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **changed},
    )


WAYS_TO_END = ("sys.exit(0)", "os._exit(0)", "os.kill(os.getpid(), signal.SIGKILL)", "os.abort()")


@pytest.mark.parametrize("works", [False, True])
@pytest.mark.parametrize("way", WAYS_TO_END)
def test_it_ends_with_the_program(way: str, works: bool) -> None:
    more = """
long = lambda: compiler.compile_ir(text(1, 30000), BASELINE, 2)
threading.Thread(target=long, daemon=True).start()
time.sleep(0.3)
"""
    done = run(
        "compiler.compile_ir(text(0, 1), BASELINE, 0)\n"
        "print(compiler.idle_workers[0].pid, flush=True)\n" + (more if works else "") + way
    )
    assert done.stdout, done.stderr
    assert ends(int(done.stdout), 1.0)


def test_no_wait_meets_it() -> None:
    done = run("""
compiler.compile_ir(text(0, 1), BASELINE, 0)
try:
    print(os.wait())
except ChildProcessError:
    print("no child")
""")
    assert done.stdout == "no child\n", done.stderr


def test_an_interruption_is_the_programs_alone() -> None:
    """Ctrl-C while it waits for the compiler: the program goes on, and can compile."""
    done = run("""
compiler.compile_ir(text(0, 1), BASELINE, 0)
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    compiler.compile_ir(text(1, 40000), BASELINE, 2)
except KeyboardInterrupt:
    print("interrupted")
print([name for name, _ in compiler.compile_ir(text(2, 1), BASELINE, 0).symbols])
""")
    assert done.stdout == "interrupted\n['f2']\n", done.stderr


def test_signals_that_the_program_ignores_or_takes_are_its_own() -> None:
    done = run("""
for number in (signal.SIGPIPE, signal.SIGCHLD):
    signal.signal(number, signal.SIG_DFL)
signal.signal(signal.SIGIO, signal.SIG_IGN)
compiler.compile_ir(text(0, 1), BASELINE, 0)
pid = compiler.idle_workers[0].pid
os.kill(pid, signal.SIGKILL)
time.sleep(0.2)
print([name for name, _ in compiler.compile_ir(text(2, 1), BASELINE, 0).symbols])
print(compiler.idle_workers[0].pid, flush=True)
""")
    said, pid = done.stdout.splitlines()
    assert said == "['f2']", done.stderr
    assert ends(int(pid), 1.0)


def test_without_standard_files_and_environment(tmp_path: Path) -> None:
    said = tmp_path / "said"
    run(f"""
for number in (0, 1, 2): os.close(number)
os.environ.clear()
image = compiler.compile_ir(text(2, 1), BASELINE, 0)
lowest = min(file.number for file in compiler.idle_workers[0].files)
open({str(said)!r}, "w").write(f"{{image.symbols[0][0]}} {{lowest > 2}}")
""")
    assert said.read_text() == "f2 True"


def test_threads_compile_at_once() -> None:
    found: list[list[str]] = []

    def work(number: int) -> None:
        found.append(names(compile_ir(text(number, 50), BASELINE, 2)))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [[f"f{number}"] for number in range(8)]
    assert 1 <= len(compiler.idle_workers) <= compiler.MOST_IDLE


def test_it_ends_when_it_has_no_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert llvm.IDLE <= 10
    program = Path(llvm.__file__).read_text().replace("IDLE = 10.0", "IDLE = 0.2")
    path = tmp_path / "llvm.py"
    path.write_text(program)
    monkeypatch.setattr(workers, "worker_command", lambda: [str(path), workers.library(), "0"])
    compile_ir(text(1), BASELINE, 0)
    assert ends(idle().pid)
    assert names(compile_ir(text(2), BASELINE, 0)) == ["f2"]
