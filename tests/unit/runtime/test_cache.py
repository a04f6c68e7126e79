"""The disk cache: right or absent, never dangerous, never fatal."""

import errno
import os
import resource
import subprocess
import sys
import textwrap
import time
import warnings

import pytest

from fusewright.base.errors import CacheWarning
from fusewright.base.options import cache_folder, options
from fusewright.runtime import cache

KEY = "ab12" * 16
OTHER = "cd34" * 16


@pytest.fixture
def folder(tmp_path):
    with options(cache_dir=tmp_path / "cache"):
        yield tmp_path / "cache"
    cache.unusable_folders.clear()


def entry(folder):
    (path,) = folder.glob("*.fwc")
    return path


def test_put_then_get(folder):
    assert cache.get(KEY) is None
    cache.put(KEY, b"code" * 1000)
    assert cache.get(KEY) == b"code" * 1000
    assert cache.get(OTHER) is None
    cache.put(KEY, b"")
    assert cache.get(KEY) == b""


def test_nobody_else_can_read_or_write_it(folder):
    cache.put(KEY, b"code")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert entry(folder).stat().st_mode & 0o777 == 0o600
    assert [path.suffix for path in folder.iterdir()] == [".fwc"]


def test_keys_are_not_paths(folder):
    with pytest.raises(ValueError, match="hexadecimal"):
        cache.get("../../etc/passwd")


@pytest.mark.parametrize("damage", ["cut", "empty", "flip", "longer", "renamed"])
def test_damaged_entries_are_ignored_and_rebuilt(folder, damage):
    cache.put(KEY, b"code" * 100)
    path = entry(folder)
    data = path.read_bytes()
    if damage == "renamed":
        path.rename(path.with_name(OTHER + ".fwc"))
        assert cache.get(OTHER) is None
    else:
        flipped = data[:50] + bytes([data[50] ^ 1]) + data[51:]
        wrong = {"cut": data[:-5], "empty": b"", "flip": flipped, "longer": data + b"x"}
        path.write_bytes(wrong[damage])
        assert cache.get(KEY) is None
    cache.put(KEY, b"again")
    assert cache.get(KEY) == b"again"


def warned(action):
    """Run twice; the text of the one warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert action() is None
        assert action() is None
    (warning,) = caught
    assert warning.category is CacheWarning
    return str(warning.message)


@pytest.mark.parametrize("what", ["folder", "file"])
@pytest.mark.parametrize("mode", [0o020, 0o002])
def test_what_others_may_write_is_refused(folder, what, mode):
    cache.put(KEY, b"code")
    path = folder if what == "folder" else entry(folder)
    path.chmod(path.stat().st_mode | mode)
    text = warned(lambda: cache.get(KEY))
    assert "other users may write" in text
    assert str(folder) in text
    if what == "folder":
        assert "memory only" in text
        assert "other users may write" in cache.info().unusable


def test_a_folder_of_another_user_is_refused(folder, monkeypatch):
    cache.put(KEY, b"code")
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert "another user" in warned(lambda: cache.get(KEY))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_refused(folder):
    cache.put(KEY, b"code")
    os.chown(entry(folder), 12345, -1)
    assert "another user" in warned(lambda: cache.get(KEY))


def test_links_are_not_followed(folder, tmp_path):
    cache.put(KEY, b"code")
    entry(folder).rename(tmp_path / "elsewhere")
    (folder / (KEY + ".fwc")).symlink_to(tmp_path / "elsewhere")
    assert warned(lambda: cache.get(KEY))


@pytest.mark.parametrize("kind", ["pipe", "folder", "link", "others may write"])
def test_an_entry_that_is_not_ours_leaves_the_others_usable(folder, kind):
    cache.put(OTHER, b"code")
    path = folder / (KEY + ".fwc")
    make = {
        "pipe": lambda: os.mkfifo(path),
        "folder": path.mkdir,
        "link": lambda: path.symlink_to(entry(folder)),
        "others may write": lambda: (path.write_bytes(b"x"), path.chmod(0o666)),
    }
    make[kind]()
    assert warned(lambda: cache.get(KEY))
    assert cache.get(OTHER) == b"code"
    cache.put(KEY, b"mine")
    assert cache.get(KEY) == (None if kind == "folder" else b"mine")
    assert cache.get(OTHER) == b"code"
    assert not cache.info().unusable


def test_no_file_descriptor_is_no_lasting_reason(folder, monkeypatch):
    cache.put(KEY, b"code")

    def none_left(*_, **__):
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("error")
        patch.setattr(os, "open", none_left)
        assert cache.get(KEY) is None
        cache.put(OTHER, b"code")
    assert cache.get(KEY) == b"code"


def test_a_folder_that_cannot_be_named(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    with options(cache_dir=None):
        assert cache_folder() == ""
        assert "no HOME" in warned(lambda: cache.put(KEY, b"code"))
        assert cache.get(KEY) is None
    cache.unusable_folders.clear()
    assert not list(tmp_path.iterdir())


def test_a_current_folder_that_is_gone(monkeypatch, tmp_path):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with options(cache_dir="here"):
        assert warned(lambda: cache.get(KEY))
    cache.unusable_folders.clear()


def test_a_file_in_the_folders_place(folder):
    folder.write_text("not a folder")
    assert warned(lambda: cache.put(KEY, b"code"))
    assert cache.get(KEY) is None


def test_read_only_folder_still_reads(folder, monkeypatch):
    cache.put(KEY, b"code")
    real = os.open

    def read_only(path, flags, *rest, **more):
        if flags & os.O_CREAT:
            raise OSError(errno.EROFS, "Read-only file system")
        return real(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", read_only)
    assert cache.get(KEY) == b"code"
    assert "Read-only" in warned(lambda: cache.put(OTHER, b"code"))


def test_folder_that_cannot_be_made():
    with options(cache_dir="/proc/fusewright"):
        assert warned(lambda: cache.put(KEY, b"code"))
        assert cache.get(KEY) is None
    cache.unusable_folders.clear()


def test_full_disk_leaves_nothing_half_written(folder):
    cache.put(KEY, b"code")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        text = warned(lambda: cache.put(OTHER, b"x" * 5000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "too large" in text
    assert [path.name for path in folder.iterdir()] == [KEY + ".fwc"]


def test_bounded_by_use_not_by_age(folder, monkeypatch):
    monkeypatch.setattr(cache, "MAX_BYTES", 10_000)
    monkeypatch.setattr(cache, "KEEP", 7_500)
    keys = [f"{i:064x}" for i in range(12)]
    now = time.time()
    for i, key in enumerate(keys):
        cache.put(key, bytes(1000))
        os.utime(folder / (key + ".fwc"), (now - 90_000 + i, now - 90_000 + i))
        cache.get(keys[0])  # Used all the time: read, so its time is renewed.
    left = {path.stem for path in folder.glob("*.fwc")}
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 10_000
    assert keys[0] in left
    assert keys[1] not in left
    assert keys[-1] in left


def test_abandoned_temporary_files_go(folder):
    cache.put(KEY, b"code")
    for name, age in (("old.tmp", 90_000), ("new.tmp", 0)):
        (folder / name).write_bytes(b"half")
        os.utime(folder / name, (time.time() - age,) * 2)
    cache.written_bytes.clear()
    cache.put(OTHER, b"code")
    assert {path.name for path in folder.glob("*.tmp")} == {"new.tmp"}


def test_info_and_clear(folder):
    assert cache.info().entries == 0
    assert not folder.exists()
    cache.put(KEY, bytes(100))
    cache.put(OTHER, bytes(100))
    info = cache.info()
    assert (info.folder, info.entries, info.unusable) == (str(folder), 2, "")
    assert 200 < info.nbytes < 400
    assert cache.clear() == 2
    assert cache.get(KEY) is None
    assert cache.clear() == 0


def test_default_folder_is_the_platforms(monkeypatch):
    import platformdirs

    with options(cache_dir=None):
        for base in (None, "/tmp/elsewhere", " "):
            if base is None:
                monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
            else:
                monkeypatch.setenv("XDG_CACHE_HOME", base)
            assert cache_folder() == platformdirs.user_cache_dir("fusewright")


def test_many_processes_at_once(folder):
    script = textwrap.dedent("""
        import random, sys
        from fusewright.runtime import cache
        cache.MAX_BYTES, cache.KEEP = 60_000, 40_000
        chance = random.Random(int(sys.argv[1]))
        for _ in range(250):
            n = chance.randrange(40)
            expected = n.to_bytes(2, "big") * 2000
            found = cache.get(f"{n:064x}")
            assert found is None or found == expected
            cache.put(f"{n:064x}", expected)
    """)
    environment = {**os.environ, "FUSEWRIGHT_CACHE_DIR": str(folder)}
    crowd = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", script, str(seed)],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        for seed in range(3)
    ]
    errors = [one.communicate(timeout=60)[1] for one in crowd]
    assert errors == ["", "", ""]
    assert all(path.suffix == ".fwc" for path in folder.iterdir())
