"""Compiled code on disk: read by the next process, never trusted from anybody else, never the
reason for a failure.

A cache that cannot be used costs one warning and a compilation.  What it returns gets executed, so
a folder or file that another user owns, or that others may write, is refused.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
import time
from contextlib import suppress
from typing import NamedTuple

try:
    # Not `hashlib`, which loads OpenSSL: 3 ms of a process's start.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

from fusewright.base.errors import CacheNotCleared, CacheWarning
from fusewright.base.options import cache_folder
from fusewright.base.source import warn

MAX_BYTES = 256 << 20
"""The folder's bound; the least recently used files go first, down to three quarters of it."""
KEEP = MAX_BYTES * 3 // 4
_SUFFIX = ".fwc"
_TEMPORARY = ".tmp"
_MAGIC = b"FWCACHE1"
_DIGEST = 16
_TOUCH_SECONDS = 3600
"""A file's time of use is as exact as this: a read need not write every time."""
_ABANDONED_SECONDS = 3600
"""A temporary file of this age belongs to a process that died."""


_PASSING = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EINTR, errno.EAGAIN))


class Info(NamedTuple):
    """Where the cache is and what it holds; `unusable` says why it is not used, or nothing."""

    folder: str
    entries: int
    nbytes: int
    limit: int
    unusable: str


class _Refused(Exception):
    """The folder must not be used; the text says why."""


unusable_folders: dict[str, str] = {}
"""The folders given up in this process, and why."""
_foreign: set[str] = set()
"""The folders with an entry that is not used."""
written_bytes: dict[str, int] = {}
"""Bytes put into each folder by this process since its bound was last enforced."""


def digest(data: bytes) -> str:
    """The key of what these bytes describe."""
    return blake2b(data, digest_size=32).hexdigest()


def get(key: str) -> bytes | None:
    """What was stored under the key, whole and ours; None otherwise."""
    here = cache_folder()
    path = _path(here, key)
    if here in unusable_folders:
        return None
    try:
        _check_folder(here)
    except FileNotFoundError:
        return None
    except (OSError, _Refused) as error:
        _warn(here, error)
        return None
    try:
        data = _read(path)
    except FileNotFoundError:
        return None
    except (OSError, _Refused) as error:
        _warn_of_entry(here, error)
        return None
    body = data[len(_MAGIC) + _DIGEST :]
    return body if data == _sealed(key, body) else None


def is_there(key: str) -> bool:
    """Whether something is stored under the key, which nobody has looked at."""
    here = cache_folder()
    return here not in unusable_folders and os.path.exists(_path(here, key))


def put(key: str, data: bytes) -> None:
    """Store for later processes; where that is impossible, warn once."""
    here = cache_folder()
    path = _path(here, key)
    if here in unusable_folders:
        return
    try:
        _make_folder(here)
        _check_folder(here)
        _write(path, _sealed(key, data))
        written = written_bytes.get(here, MAX_BYTES) + len(data)
        if written > MAX_BYTES - KEEP:
            _evict(here)
            written = 0
        written_bytes[here] = written
    except IsADirectoryError as error:
        _warn_of_entry(here, error)
    except (OSError, _Refused) as error:
        _warn(here, error)


def remove(key: str) -> None:
    """Forget what is stored under the key, if anything is."""
    here = cache_folder()
    if here not in unusable_folders:
        with suppress(OSError):  # It is evicted later.
            _remove(_path(here, key))


def clear() -> int:
    """Remove every entry and return how many there were; raises `CacheNotCleared` where that is
    not allowed.
    """
    here = cache_folder()
    try:
        entries = _entries(here) if os.path.isdir(here) else []
        for path, _ in entries:
            _remove(path)
    except OSError as error:
        raise CacheNotCleared(
            f"cannot empty {here}",
            why=error.strerror or str(error),
            help="FUSEWRIGHT_CACHE_DIR names another folder",
        ) from error
    return len(entries)


def info() -> Info:
    """For people: nothing is created or changed."""
    here = cache_folder()
    try:
        _check_folder(here)
        entries = _entries(here)
    except FileNotFoundError:
        if not _can_be_made(here):
            return Info(here, 0, 0, MAX_BYTES, "it cannot be made")
        entries = []
    except (OSError, _Refused) as error:
        return Info(here, 0, 0, MAX_BYTES, _said(error))
    nbytes = sum(status.st_size for _, status in entries)
    return Info(here, len(entries), nbytes, MAX_BYTES, unusable_folders.get(here, ""))


def _can_be_made(here: str) -> bool:
    """Whether the folder that is there, nearest above it, can be written."""
    above = os.path.dirname(here)
    while above != "/" and not os.path.exists(above):
        above = os.path.dirname(above)
    return os.access(above, os.W_OK | os.X_OK)


def _said(error: Exception) -> str:
    """What is wrong, without the name of the folder, which is said already."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


def _path(here: str, key: str) -> str:
    if not key.isalnum():
        raise ValueError(f"a cache key is hexadecimal, not {key!r}")
    return os.path.join(here, key + _SUFFIX)


def _make_folder(here: str) -> None:
    """Readable by the user alone; the folders above it as the system makes them."""
    if not here:
        return
    if not os.path.isdir(here):
        os.makedirs(os.path.dirname(here), exist_ok=True)
        with suppress(FileExistsError):  # Another process was quicker, or it is no folder.
            os.mkdir(here, mode=0o700)


def _remove(path: str) -> None:
    with suppress(FileNotFoundError, IsADirectoryError):  # Another process cleans up as well.
        os.unlink(path)


def _sealed(key: str, body: bytes) -> bytes:
    """The file's bytes: magic, digest of key and body, body.  A file under another's name does not
    match.
    """
    digest = blake2b(body, digest_size=_DIGEST, key=key.encode()[:64]).digest()
    return _MAGIC + digest + body


def _check_folder(here: str) -> None:
    """Raise where the folder is missing, or where others could write what we would execute."""
    if not here:
        raise _Refused("it has no name: there is no HOME, and the user is unknown")
    status = os.stat(here)
    if not stat.S_ISDIR(status.st_mode):
        raise _Refused("it is not a folder")
    _check_owner(status)


def _check_owner(status: os.stat_result) -> None:
    if status.st_uid != os.geteuid():
        raise _Refused(f"it belongs to another user (uid {status.st_uid})")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise _Refused(f"other users may write it (mode {stat.S_IMODE(status.st_mode):o})")


def _read(path: str) -> bytes:
    """The file, checked after it was opened: what is checked is what is read."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _Refused(f"{os.path.basename(path)} is not a regular file")
        _check_owner(status)
        data = file.read()
    if time.time() - status.st_mtime > _TOUCH_SECONDS:
        with suppress(OSError):  # A read-only folder: the file only looks older than it is.
            os.utime(path)
    return data


def _write(path: str, data: bytes) -> None:
    """All or nothing, whoever else writes the same key."""
    unique = f"{os.getpid()}-{threading.get_native_id()}-{time.time_ns()}{_TEMPORARY}"
    name = os.path.join(os.path.dirname(path), unique)
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):  # It may be the folder that went.
            os.unlink(name)
        raise


def _entries(here: str) -> list[tuple[str, os.stat_result]]:
    found = []
    for entry in os.scandir(here):
        if entry.name.endswith(_SUFFIX):
            with suppress(FileNotFoundError):  # Another process cleans up as well.
                found.append((entry.path, entry.stat(follow_symlinks=False)))
    return found


def _evict(here: str) -> None:
    """Within the bound again: the least recently used files go, and what dead processes left."""
    entries = _entries(here)
    excess = sum(status.st_size for _, status in entries) - MAX_BYTES
    if excess > 0:
        excess += MAX_BYTES - KEEP
        for path, status in sorted(entries, key=lambda entry: entry[1].st_mtime):
            if excess <= 0:
                break
            _remove(path)
            excess -= status.st_size
    for left in os.scandir(here):
        if left.name.endswith(_TEMPORARY):
            with suppress(FileNotFoundError):
                if time.time() - left.stat().st_mtime > _ABANDONED_SECONDS:
                    os.unlink(left)


def _warn_of_entry(here: str, error: Exception) -> None:
    """Once for each folder: what is no entry of ours says nothing about the others."""
    if here in _foreign or _will_pass(error):
        return
    _foreign.add(here)
    warn(
        f"an entry of the cache folder {here} is not used: {_said(error)}; its code is compiled "
        "again",
        CacheWarning,
    )


def _will_pass(error: Exception) -> bool:
    """Whether it says nothing about the folder: no file descriptor is left, for example."""
    return isinstance(error, OSError) and error.errno in _PASSING


def _warn(here: str, error: Exception) -> None:
    """Once for each folder: the program runs on, compiling what it needs."""
    if here in unusable_folders or _will_pass(error):
        return
    unusable_folders[here] = why = _said(error)
    warn(
        f"the cache folder {here} is not used: {why}; compiled code is kept in memory only "
        "(FUSEWRIGHT_CACHE_DIR names another folder)",
        CacheWarning,
    )
