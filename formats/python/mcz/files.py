# SPDX-License-Identifier: Apache-2.0
"""Files that appear whole or not at all, by the rules of mc's programs
(formats/stream/output.h)."""

import errno
import fcntl
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, Union

from .errors import need

Path = Union[str, "os.PathLike[str]"]

FOREIGN = ".pt", ".pth", ".ckpt", ".pkl", ".safetensors", ".npz"  # names of other formats
MAX_LINKS = 40  # Linux's limit
MAX_STEM = 200  # bytes of a file's name in the name of its temporary file


def expect_stream_name(path: Any) -> None:
    """Raises Error if a path for a stream has the name of another format, as mc's programs do."""
    need(
        not isinstance(path, (str, os.PathLike)) or not os.fsdecode(path).endswith(FOREIGN),
        f"{path}: the output is an mcz stream (name it .mcz)",
    )


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """Names `path` in an OSError, not a temporary file."""
    try:
        yield
    except OSError as e:
        raise OSError(e.errno, e.strerror, path) from None


def _resolve(path: str) -> str | int:
    """Follows symbolic links in the last component of `path`. Returns a path, or the number of a
    descriptor."""
    for _ in range(MAX_LINKS):
        folder, name = os.path.split(path)
        if (
            name.isascii()
            and name.isdecimal()
            and os.path.realpath(folder) == os.path.realpath("/proc/self/fd")
        ):
            return int(name)
        try:
            path = os.path.join(folder, os.readlink(path))
        except OSError:
            return path
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _is_dead(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (OSError, OverflowError) as e:
        return isinstance(e, ProcessLookupError)
    return False


def _remove_unlocked(path: str, dead: bool) -> bool:
    """Removes a temporary file unless its writer holds a lock on it. Returns False if it has a
    writer. dead: True if its process does not run, which counts only on file systems without
    locks."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return True
    with open(fd, "rb") as f:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            if not dead:
                raise
        with suppress(FileNotFoundError):  # another program may have replaced it before the lock
            if os.path.samestat(os.fstat(fd), os.lstat(path)):
                os.unlink(path)
    return True


def _remove_stale(folder: str, stem: str) -> None:
    """Removes the temporary files of dead runs."""
    with suppress(OSError):
        for name in os.listdir(folder):
            match = re.fullmatch(re.escape(stem) + r"([0-9]+)\.mcz-tmp", name)
            if match:
                with suppress(OSError):
                    _remove_unlocked(os.path.join(folder, name), _is_dead(int(match[1])))


def _create(path: str) -> int:
    """The descriptor of a new, locked file at a temporary path."""
    while True:  # again if another program's _remove_unlocked() came before the lock
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_EX)
        if os.fstat(fd).st_nlink:
            return fd
        os.close(fd)


def _sync(folder: str) -> None:
    """Makes a rename durable. Some file systems cannot report this."""
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return  # writable but not readable
    try:
        os.fsync(fd)
    except OSError as e:
        if e.errno in (errno.EIO, errno.ENOSPC, errno.EDQUOT):
            raise
    finally:
        os.close(fd)


def _open(path: str) -> tuple[int, str | None, str | None]:
    """(descriptor, temporary path, final path) of a file to write. Without the paths, it is written
    directly."""
    target, old = _resolve(path), None
    if isinstance(target, int):
        return os.dup(target), None, None
    with suppress(FileNotFoundError):
        old = os.stat(target)
    if old and not stat.S_ISREG(old.st_mode):
        return os.open(target, os.O_WRONLY | os.O_NOCTTY), None, None
    folder, name = os.path.split(target)
    if not name or (old and not os.access(target, os.W_OK)):
        code = errno.EACCES if name else errno.ENOENT
        raise OSError(code, os.strerror(code))
    stem = f".{os.fsdecode(os.fsencode(name)[:MAX_STEM])}."
    _remove_stale(folder or ".", stem)
    temporary = os.path.join(folder, f"{stem}{os.getpid()}.mcz-tmp")
    # an earlier process of this number is gone: its file can be removed
    need(_remove_unlocked(temporary, True), f"'{path}' is already being written")
    fd = _create(temporary)
    if old:
        with suppress(OSError):
            os.fchmod(fd, old.st_mode & 0o777)
    return fd, temporary, target


@contextmanager
def replacing(path: Path, mode: str = "b") -> Iterator[IO[Any]]:
    """A file open for writing ("b" or "t") that replaces path on success. After an exception path
    is unchanged. Follows symbolic links, and keeps an existing file's permissions. Pipes, devices
    and descriptors are written directly. Removes temporary files of dead runs for the same path;
    those of running programs stay."""
    path = os.fsdecode(path)
    with _naming(path):
        fd, temporary, target = _open(path)
    try:
        with open(fd, "w" + mode, encoding=None if mode == "b" else "utf-8") as f:
            yield f
            if temporary:
                f.flush()
                os.fsync(fd)
        if temporary and target:
            with _naming(path):
                os.replace(temporary, target)
    except BaseException:
        if temporary:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
        raise
    if target:
        _sync(os.path.dirname(target) or ".")
