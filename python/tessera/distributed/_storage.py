"""Files of collections: local ones, or any that fsspec knows."""

import os
import uuid
from typing import Any

OBJECT_STORES = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "adl", "az", "oci", "oss", "hf", "memory"}
"""Protocols of systems that show a file once all of it was sent, and have no folders."""


class Storage:
    """A folder, by path or by URL."""

    def __init__(self, url: str | os.PathLike[str], options: dict[str, Any] | None = None) -> None:
        self.url = os.fspath(url)
        self.options = options or {}
        if "://" in self.url or self.options:
            import fsspec

            self._system, self._path = fsspec.core.url_to_fs(self.url, **self.options)
        else:
            # Workers have folders of their own.
            self._system, self._path = None, os.path.abspath(self.url)
            self.url = self._path

    def _at(self, name: str) -> str:
        return f"{self._path.rstrip('/')}/{name}"

    def path(self, name: str) -> str | None:
        """Where a file is on this machine; ``None`` where others hold it."""
        return self._at(name) if self._system is None else None

    def exists(self, name: str) -> bool:
        at = self._at(name)
        return os.path.exists(at) if self._system is None else self._system.exists(at)

    def read(self, name: str) -> bytes:
        if self._system is None:
            with open(self._at(name), "rb") as file:
                return file.read()
        return self._system.cat_file(self._at(name))

    def write(self, name: str, data: bytes) -> None:
        """Writes a file, which is there whole or not at all."""
        at = self._at(name)
        if self._system is None:
            os.makedirs(os.path.dirname(at), exist_ok=True)
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
            return
        protocols = self._system.protocol if isinstance(self._system.protocol, tuple) else (self._system.protocol,)
        if not OBJECT_STORES.intersection(protocols):
            beside = f"{at}.{uuid.uuid4().hex}.new"
            self._system.makedirs(os.path.dirname(at), exist_ok=True)
            self._system.pipe_file(beside, data)
            self._system.mv(beside, at)
            return
        # Object stores show an object once all of it was sent.
        self._system.pipe_file(at, data)

    def names(self) -> list[str]:
        """The names of all files in the folder itself."""
        if self._system is None:
            return [entry.name for entry in os.scandir(self._path) if entry.is_file()]
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
        if not self._system.exists(at):
            return 0
        n = len(self._system.find(at))
        self._system.rm(at, recursive=True)
        return n
