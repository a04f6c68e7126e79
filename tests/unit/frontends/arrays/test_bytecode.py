"""The loops of code objects, against what `dis` says of the standard library's."""

import dis
import os
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

from fusewright.frontends.arrays.bytecode import loops_of


def said_by_dis(code: CodeType) -> tuple[tuple[int, int], ...]:
    ends: dict[int, int] = {}
    for step in dis.get_instructions(code):
        if "JUMP_BACKWARD" in step.opname and "INTERRUPT" not in step.opname:
            ends[step.argval] = max(step.offset, ends.get(step.argval, 0))
    return tuple(sorted(ends.items(), key=lambda loop: (loop[0], -loop[1])))


def codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def test_the_loops_are_those_that_dis_finds() -> None:
    found = 0
    for path in sorted(Path(os.__file__).parent.glob("*.py"))[::4]:
        for code in codes(compile(path.read_bytes(), path.name, "exec")):
            assert loops_of(code) == said_by_dis(code), code
            found += bool(loops_of(code))
    assert found > 300


def test_a_jump_over_many_instructions() -> None:
    body = "".join(f"    x{number} = x{number} + 1\n" for number in range(200))
    code = compile(f"for i in y:\n{body}", "long", "exec")
    ((start, end),) = loops_of(code)
    assert end - start > 512, "its argument has more than a byte"
    assert loops_of(code) == said_by_dis(code)
