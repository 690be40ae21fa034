"""What workers do. They get and give text and bytes, and read shards themselves."""

import os
from importlib.metadata import version
from typing import Any

from .. import _native
from .._native import Error
from ._errors import VersionsDifferError
from ._storage import Storage

VERSION = version("tessera")
"""Of this package; that of all workers must be the same."""

Entry = tuple[str, str, int, int]
"""The name of a shard's file, its hash, its images and bytes."""


def _check(wanted: str) -> None:
    if wanted != VERSION:
        raise VersionsDifferError(f"expected version {wanted} of tessera on all workers, found {VERSION}: install one version everywhere")


def read_shard(storage: Storage, entry: Entry) -> tuple[str, bytes | str, str]:
    """A shard as the native part takes it, which reads the files of this machine itself."""
    name, hashed, *_ = entry
    try:
        path = storage.path(name)
        if path is None:
            return name, storage.read(name), hashed
        os.stat(path)
        return name, path, hashed
    except OSError as error:
        raise Error(f"{name}: cannot be read: {error}; see that the folder is there and the collection was not changed meanwhile") from None


def make_state(wanted: str, url: str, options: dict[str, Any], job: bytes, groups: list[list[Entry]]) -> bytes:
    """The joined state that a job makes of groups of one shard, or of two, of which one group at a time is in memory."""
    _check(wanted)
    storage = Storage(url, options)
    joined: bytes | None = None
    for entries in groups:
        state: bytes = _native.state_of(job, [read_shard(storage, entry) for entry in entries])
        joined = state if joined is None else _native.joined(job, [joined, state])
    if joined is None:
        raise ValueError("groups: expected one or more, found none")
    return joined


def make_shard(
    wanted: str,
    url: str,
    options: dict[str, Any],
    manifest: str,
    files: list[tuple[str, str | None, str | None, list[str]]],
    files_options: dict[str, Any],
) -> tuple[Entry | None, list[tuple[str, str]]]:
    """Writes a shard of the files at these places; its entry, and the files that could not be used."""
    _check(wanted)
    import fsspec

    failed, rows = [], []
    for place, label, group, captions in files:
        try:
            with fsspec.open(place, "rb", **files_options) as file:
                rows.append((place, file.read(), label, group, captions))
        except (OSError, ValueError) as error:
            failed.append((place, str(error)))
    made, unfit = _native.shard_of(_native.Manifest.from_json(manifest), rows)
    if made is None:
        return None, failed + unfit
    data, entry = made
    try:
        Storage(url, options).write(entry[0], data)
    except OSError as error:
        raise Error(f"{entry[0]}: cannot be written: {error}; free some room where the collection lies") from None
    return entry, failed + unfit
