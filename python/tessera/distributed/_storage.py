"""Files of collections: local ones, or any that fsspec knows."""

import errno
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .._native import Error

LOCK = "manifest.lock"
"""The file that whoever changes a collection on a local disk holds locked meanwhile, as `tessera shard` does, too."""

NO_LOCKS = {errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK}
"""What a system that knows no locks says; the last where the folder is mounted from another without a service for them."""

OBJECT_STORES = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "adl", "az", "oci", "oss", "hf", "memory"}
"""Protocols of systems that show a file once all of it was sent, and have no folders."""


class Storage:
    """A folder, by path or by URL."""

    def __init__(self, url: str | os.PathLike[str], options: dict[str, Any] | None = None) -> None:
        self.url = os.fspath(url)
        self.options = options or {}
        self._system: Any = None
        self._path = self.url
        if "://" in self.url or self.options:
            import fsspec
            from fsspec.implementations.local import LocalFileSystem

            self._system, self._path = fsspec.core.url_to_fs(self.url, **self.options)
            if isinstance(self._system, LocalFileSystem):
                self._system, self.options = None, {}
        if self._system is None:
            # Workers have folders of their own.
            self._path = os.path.abspath(self._path)
            self.url = self._path

    def _at(self, name: str) -> str:
        return f"{self._path.rstrip('/')}/{name}"

    def path(self, name: str) -> str | None:
        """Where a file is on this machine; ``None`` where others hold it."""
        return self._at(name) if self._system is None else None

    def _look_anew(self) -> None:
        """Has fsspec forget the listings of folders that it keeps, which tell nothing of what others wrote or deleted."""
        forget = getattr(self._system, "invalidate_cache", None)
        if forget is not None:
            forget()

    def exists(self, name: str) -> bool:
        self._look_anew()
        at = self._at(name)
        return os.path.exists(at) if self._system is None else self._system.exists(at)

    def read(self, name: str) -> bytes:
        if self._system is None:
            with open(self._at(name), "rb") as file:
                return file.read()
        return self._system.cat_file(self._at(name))

    def write(self, name: str, data: bytes) -> None:
        """Writes a file, which is there whole or not at all; on a local disk it is there after a loss of power, too."""
        at = self._at(name)
        try:
            self._write(at, data)
        except OSError as error:
            raise Error(f"{at}: cannot be written: {error}; free some room where the collection lies, or see that it may be written there") from None

    def _write(self, at: str, data: bytes) -> None:
        folder = os.path.dirname(at)
        if self._system is None:
            os.makedirs(folder, exist_ok=True)
            beside = f"{at}.{uuid.uuid4().hex}.new"
            try:
                with open(beside, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(beside, at)
            except BaseException:
                if os.path.exists(beside):
                    os.remove(beside)
                raise
            _sync_folder(folder)
            return
        protocols = self._system.protocol if isinstance(self._system.protocol, tuple) else (self._system.protocol,)
        if not OBJECT_STORES.intersection(protocols):
            beside = f"{at}.{uuid.uuid4().hex}.new"
            self._system.makedirs(folder, exist_ok=True)
            self._system.pipe_file(beside, data)
            self._system.mv(beside, at)
            return
        # Object stores show an object once all of it was sent.
        self._system.pipe_file(at, data)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps others on this machine from changing the collection meanwhile; elsewhere nothing does."""
        if self._system is not None:
            yield
            return
        os.makedirs(self._path, exist_ok=True)
        file = os.open(self._at(LOCK), os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(file)
            yield
        finally:
            # Which frees the lock.
            os.close(file)

    def names(self) -> list[str]:
        """The names of all files in the folder itself."""
        if self._system is None:
            return [entry.name for entry in os.scandir(self._path) if entry.is_file()]
        self._look_anew()
        return [path.rsplit("/", 1)[-1] for path in self._system.ls(self._path, detail=False)]

    def delete(self, name: str) -> None:
        at = self._at(name)
        if self._system is None:
            os.remove(at)
        else:
            self._system.rm_file(at)

    def delete_folder(self, name: str) -> int:
        """Deletes a folder; how many files it had."""
        at = self._at(name)
        if self._system is None:
            import shutil

            n = sum(len(files) for _, _, files in os.walk(at))
            shutil.rmtree(at, ignore_errors=False) if os.path.isdir(at) else None
            return n
        self._look_anew()
        if not self._system.exists(at):
            return 0
        n = len(self._system.find(at))
        self._system.rm(at, recursive=True)
        return n


def _lock(file: int) -> None:
    """Locks an open file as the Rust part does; waits for it. Where the system knows no locks it is not locked."""
    try:
        if os.name == "nt":
            _lock_on_windows(file)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise


def _lock_on_windows(file: int) -> None:
    import importlib
    import time

    msvcrt: Any = importlib.import_module("msvcrt")
    while True:
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
            return
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EDEADLK):
                raise
            time.sleep(0.05)


def _sync_folder(folder: str) -> None:
    """Has the system keep the names of a folder's files on the disk, where it can be asked for that."""
    if os.name == "nt":
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    except OSError as error:
        # Some file systems cannot, and lose nothing by it.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(opened)
