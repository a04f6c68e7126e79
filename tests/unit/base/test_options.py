"""Options: the table, the environment, and values that cannot be."""

import sys
import threading
from pathlib import Path

import pytest

from fusewright.base import options as module
from fusewright.base.errors import FusewrightError, OptionError
from fusewright.base.options import Options, current, from_environment, options


def test_every_field_has_a_row():
    assert set(module.TABLE) == set(Options._fields)


def test_defaults_are_valid():
    for name, row in module.TABLE.items():
        assert row.valid(getattr(Options(), name)), name


@pytest.mark.parametrize(
    ("variable", "text", "name", "value"),
    [
        ("FUSEWRIGHT_FUSE", "off", "fuse", False),
        ("FUSEWRIGHT_STRICT", "1", "strict", True),
        ("FUSEWRIGHT_STRICT", "All", "strict", "all"),
        ("FUSEWRIGHT_THREADS", "3", "threads", 3),
        ("FUSEWRIGHT_THREADS", "", "threads", None),
        ("FUSEWRIGHT_FEATURES", "avx2", "features", "avx2"),
        ("FUSEWRIGHT_MEMORY_LIMIT", "2G", "memory_limit", 2 << 30),
        ("FUSEWRIGHT_MEMORY_LIMIT", "1.5 MiB", "memory_limit", 3 << 19),
        ("FUSEWRIGHT_MEMORY_LIMIT", "4096", "memory_limit", 4096),
        ("FUSEWRIGHT_CACHE_DIR", "/tmp/x", "cache_dir", "/tmp/x"),
    ],
)
def test_environment(variable, text, name, value):
    assert getattr(from_environment({variable: text}), name) == value


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("FUSEWRIGHT_FUSE", "perhaps"),
        ("FUSEWRIGHT_THREADS", "many"),
        ("FUSEWRIGHT_THREADS", "0"),
        ("FUSEWRIGHT_THREADS", "100000"),
        ("FUSEWRIGHT_TARGET", "gpu"),
        ("FUSEWRIGHT_MEMORY_LIMIT", "2 parsecs"),
        ("FUSEWRIGHT_MEMORY_LIMIT", "-1"),
    ],
)
def test_environment_refused_by_name(variable, text):
    with pytest.raises(OptionError, match=variable) as caught:
        from_environment({variable: text})
    assert text in str(caught.value)
    assert "use " in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [{"threads": 0}, {"threads": True}, {"threads": 1.5}, {"fuse": 1}, {"target": []},
     {"memory_limit": -1}, {"shells": "i"}, {"cache_dir": 7}, {"treads": 2}],
)  # fmt: skip
def test_wrong_option_changes_nothing(changes):
    before = current()
    with pytest.raises(OptionError) as caught, options(**changes):
        pass
    assert isinstance(caught.value, FusewrightError)
    assert next(iter(changes)) in str(caught.value)
    assert caught.value.where is not None and caught.value.where[0] == __file__
    assert current() is before


def test_a_wrong_option_is_refused_without_a_block():
    with pytest.raises(OptionError, match="did you mean"):
        options(thread=1)


def test_it_is_a_decorator():
    @options(threads=1)
    def inside():
        return current().threads

    assert (inside(), inside(), current().threads) == (1, 1, Options().threads)


def test_nesting_and_restoring_after_an_error():
    outside = current()
    with options(threads=1):
        with pytest.raises(ZeroDivisionError), options(fuse=False) as inner:
            assert (inner.threads, inner.fuse) == (1, False)
            raise ZeroDivisionError
        assert (current().threads, current().fuse) == (1, outside.fuse)
    assert current() is outside


def test_path_objects_are_taken():
    with options(cache_dir=Path("/tmp/y")):
        assert current().cache_dir == "/tmp/y"


def test_a_block_does_not_reach_other_threads_but_defaults_do(monkeypatch):
    monkeypatch.setattr(module, "process_options", module.defaults())
    seen = []
    module.set_defaults(threads=5)
    with options(threads=2):
        thread = threading.Thread(target=lambda: seen.append(current().threads))
        thread.start()
        thread.join()
        seen.append(current().threads)
    # Free-threaded CPython lets threads inherit the context of their maker.
    inherited = getattr(sys.flags, "thread_inherit_context", False)
    assert seen == [2 if inherited else 5, 2]


def test_equal_settings_are_one_object():
    with options(threads=1) as first, options(fuse=False) as inner:
        assert first is not inner
    with options(threads=1) as second, options(fuse=False) as again:
        assert (second, again) == (first, inner)
        assert second is first
        assert again is inner
