"""Choosing vector features from the flags a machine reports."""

import pytest

from fusewright.base.errors import FusewrightError
from fusewright.targets.cpu import features
from fusewright.targets.cpu.features import UnsupportedCPU, machine_flags_of, select

ROCKETLAKE_VM = (
    "fpu", "tsc", "cx8", "cmov", "mmx", "fxsr", "sse", "sse2", "ht", "syscall", "nx", "lm", "pni",
    "pclmulqdq", "ssse3", "fma", "cx16", "sse4_1", "sse4_2", "movbe", "popcnt", "aes", "xsave",
    "avx", "f16c", "rdrand", "lahf_lm", "abm", "bmi1", "avx2", "bmi2", "avx512f", "avx512dq",
    "avx512cd", "avx512bw", "avx512vl", "avx512_vnni",
)  # fmt: skip


def test_best_level_first():
    assert select("auto", ROCKETLAKE_VM).name == "avx512"
    assert select("auto", machine_flags_of("avx2")).name == "avx2"
    half = [flag for flag in ROCKETLAKE_VM if flag != "avx512bw"]
    assert select("auto", half).name == "avx2"


def test_a_level_can_be_forced():
    chosen = select("avx2", ROCKETLAKE_VM)
    assert (chosen.vector_bytes, "avx512" in chosen.llvm_features) == (32, False)
    assert select("avx512", ROCKETLAKE_VM).vector_bytes == 64


def test_llvm_spelling():
    words = select("avx512", ROCKETLAKE_VM).llvm_features.split(",")
    assert {"+sse4.2", "+bmi", "+lzcnt", "+fma", "+avx512vl"} <= set(words)
    assert not {"+sse4_2", "+bmi1", "+abm"} & set(words)


@pytest.mark.parametrize("lacking", ["avx2", "fma", "bmi2"])
def test_old_processor_is_refused_with_a_way_out(lacking):
    flags = [f for f in machine_flags_of("avx2") if f != lacking]
    with pytest.raises(UnsupportedCPU) as caught:
        select("auto", flags)
    text = str(caught.value)
    assert isinstance(caught.value, FusewrightError)
    assert f"lacks {lacking}" in text
    assert 'target="reference"' in text


def test_forcing_what_is_missing():
    with pytest.raises(UnsupportedCPU, match="avx512") as caught:
        select("avx512", machine_flags_of("avx2"))
    assert 'features="auto"' in str(caught.value)


def test_other_machines_are_refused(monkeypatch):
    features.select_here.cache_clear()
    monkeypatch.setattr(features.platform, "machine", lambda: "aarch64")
    with pytest.raises(UnsupportedCPU, match="aarch64"):
        select("auto")
    features.select_here.cache_clear()


def test_llvm_knows_every_feature(capfd):
    from fusewright.targets.cpu.compiler import compile_ir

    for level in features.LEVELS:
        text = "define void @f() {\n ret void\n}"
        compile_ir(text, select(level.name, machine_flags_of(level.name)), 0)
    assert capfd.readouterr().err == ""  # LLVM warns there of a feature it does not know.
