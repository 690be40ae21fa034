"""What workers do. They get and give text and bytes, and read shards themselves."""

import hashlib
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

from .. import _native
from .._native import Error
from ._errors import VersionsDifferError
from ._storage import Storage

VERSION = version("tessera")
"""Of this package; that of all workers must be the same."""

Entry = tuple[str, str, int, int]
"""The name of a shard's file, its hash, its images and bytes."""

File = tuple[str, str | None, str | None, list[str]]
"""The place of an image, its class, its object and its captions."""

_Row = tuple[str, bytes | str, str | None, str | None, list[str]]

STATES = "states"
"""The folder within a collection where states are kept."""

BELOW = "/./"
"""What parts a place into the folder that was looked through and the rest, as rsync has it."""

TOGETHER = 256 << 20
"""Bytes of encoded files that are in memory at once, where they are not files of this machine; one file may have more."""

ANSWERS = "import os; to = os.fdopen(os.dup(1), 'wb'); os.dup2(2, 1)"
"""Keeps the output of a process for its answers: what imports print goes to where it complains."""

TRIAL = [sys.executable, "-c", f"{ANSWERS}; from tessera.distributed._workers import tried; tried(to=to)"]
"""The process that decodes pictures which may bring it down."""

LONGEST_START = 60.0
"""Seconds that it may take to begin: on a busy machine the imports alone may take ten."""

LONGEST = 60.0
"""Seconds that it may take over one picture."""


def call(wanted: str, function: str, arguments: tuple[Any, ...]) -> Any:
    """Calls one of the functions here, for a process of the same version.

    What workers are sent is this alone, so that one of another version says so, whatever else has changed.
    """
    if wanted != VERSION:
        raise VersionsDifferError(f"expected version {wanted} of tessera on all workers, found {VERSION}: install one version everywhere")
    return globals()[function](*arguments)


def call_on_dask(topic: str, key: str, *given: Any) -> Any:
    """As :func:`call`; the scheduler is told that it begins."""
    from distributed import get_worker

    worker = get_worker()
    worker.log_event(topic, {"key": key, "worker": worker.address})
    return call(*given)


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


def state_name(job: bytes, entries: list[Entry]) -> str:
    """The file in a collection where the state of a job of some shards is kept."""
    # Another version may have another state for the same job.
    of = hashlib.sha256(VERSION.encode() + b"\0" + job).hexdigest()[:32]
    return f"{STATES}/{of}/{'-'.join(entry[1] for entry in entries)}.state"


def kept(storage: Storage, name: str) -> bytes | None:
    """A state that was kept, if it is whole."""
    try:
        data = storage.read(name)
    except OSError:
        return None
    return data[32:] if hashlib.sha256(data[32:]).digest() == data[:32] else None


def keep(storage: Storage, name: str, state: bytes) -> None:
    """Keeps a state, sealed."""
    storage.write(name, hashlib.sha256(state).digest() + state)


def make_state(url: str, options: dict[str, Any], job: bytes, groups: list[list[Entry]], keeps: bool = False) -> bytes:
    """The joined state that a job makes of groups of one shard, or of two, of which one group at a time is in memory.

    With ``keeps`` the index of a shard that the state is made by is taken from the collection, or made and put there.
    """
    storage = Storage(url, options)
    indexing = _native.shards_of(job)[1] if keeps else None
    joined: bytes | None = None
    for entries in groups:
        shards = [read_shard(storage, entry) for entry in entries]
        index: bytes | None = None
        if indexing is not None:
            name = state_name(indexing, entries)
            index = kept(storage, name)
            if index is None:
                index = _native.state_of(indexing, shards)
                keep(storage, name, index)
        state: bytes = _native.state_of(job, shards, index)
        joined = state if joined is None else _native.joined(job, [joined, state])
    if joined is None:
        raise ValueError("groups: expected one or more, found none")
    return joined


def make_assigned(url: str, options: dict[str, Any], job: bytes, entry: Entry) -> list[tuple[str, int]]:
    """The most probable cluster of each image of a shard."""
    return _native.mixture_assigned(job, read_shard(Storage(url, options), entry))


def hashes_of(url: str, options: dict[str, Any], entry: Entry) -> list[str]:
    """The hashes of a shard's images."""
    return _native.hashes_of(read_shard(Storage(url, options), entry))


def make_without(url: str, options: dict[str, Any], entry: Entry, gone: list[str]) -> tuple[int, Entry | None]:
    """How many of some images a shard has. If any, it is written without them; its entry, ``None`` where nothing is left."""
    storage = Storage(url, options)
    n, left = _native.shard_without(read_shard(storage, entry), gone)
    if n == 0 or left is None:
        return n, None
    data, made = left
    storage.write(made[0], data)
    return n, made


def plain(place: str) -> str:
    """A place without what parts it."""
    return place.replace(BELOW, "/", 1)


def _held(place: str, options: dict[str, Any]) -> bytes | str:
    """The bytes of a file, or its path where it is one of this machine: that is read when its turn comes."""
    import fsspec
    from fsspec.implementations.local import LocalFileSystem

    at = plain(place)
    system, path = fsspec.core.url_to_fs(at, **options)
    if isinstance(system, LocalFileSystem):
        os.stat(path)
        return str(path)
    with fsspec.open(at, "rb", **options) as file:
        return file.read()


@contextmanager
def fetched(images: list[Any], options: dict[str, Any]) -> Iterator[list[Any]]:
    """Images, of which those with a URL are files of this machine meanwhile."""
    with tempfile.TemporaryDirectory() as folder:

        def here(i: int, image: Any) -> Any:
            if not isinstance(image, str) or "://" not in image:
                return image
            try:
                held = _held(image, {} if image.startswith("file://") else options)
            except OSError as error:
                raise Error(f"{image}: cannot be read: {error}; check the name, and that its place can be reached") from None
            if isinstance(held, str):
                return Path(held)
            # What is said of it has its name.
            file = Path(folder) / str(i) / os.path.basename(image)
            file.parent.mkdir()
            file.write_bytes(held)
            return file

        yield [here(i, image) for i, image in enumerate(images)]


def _batches(files: Iterable[File], options: dict[str, Any], failed: list[tuple[str, str]]) -> Iterator[list[_Row]]:
    """Files with what they hold, as many at once as are allowed in memory."""
    rows: list[_Row] = []
    size = 0
    for place, label, group, captions in files:
        try:
            held = _held(place, options)
        except (OSError, ValueError) as error:
            failed.append((plain(place), str(error)))
            continue
        rows.append((place, held, label, group, captions))
        size += len(held) if isinstance(held, bytes) else 0
        if size >= TOGETHER:
            yield rows
            rows, size = [], 0
    yield rows


def make_shard(
    url: str, options: dict[str, Any], manifest: str, files: list[File], files_options: dict[str, Any], careful: bool = False
) -> tuple[Entry | None, list[tuple[str, str]]]:
    """Writes a shard of the files at these places; its entry, and the files that could not be used.

    A ``careful`` call first decodes each file in a process of its own: the files that bring that down could not be used.
    """
    begun, failed = _native.Manifest.from_json(manifest), list[tuple[str, str]]()
    if careful:
        files = list(_sound(manifest, files, files_options, failed))
    parts: list[bytes] = []
    for rows in _batches(files, files_options, failed):
        made, unfit = _native.shard_of(begun, rows)
        failed += [(plain(place), why) for place, why in unfit]
        if made is not None:
            parts.append(made[0])
            entry = made[1]
    if not parts:
        return None, failed
    data = parts[0]
    if len(parts) > 1:
        made, _ = _native.shard_of(begun, [], parts)
        if made is None:
            raise Error("shard: expected the images of its parts, found none")
        data, entry = made
    Storage(url, options).write(entry[0], data)
    return entry, failed


class _Trial:
    """A process that decodes pictures one after the other."""

    def __init__(self, manifest: str) -> None:
        self.hung = False
        """Whether it was ended as it took too long."""
        self._process = subprocess.Popen(TRIAL, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if not self._answers(manifest.encode(), b"r", LONGEST_START):
            code = self.end()
            found = f"found one that said nothing for {LONGEST_START:g} seconds" if self.hung else f"found one that ended (exit code {code})"
            raise Error(f"{TRIAL[0]}: expected a process that decodes pictures, {found}; see that this interpreter has the package")

    def _said(self) -> bytes:
        return b"" if self._process.stdout is None else self._process.stdout.read(1)

    def _send(self, data: bytes) -> None:
        to = self._process.stdin
        if to is not None:
            to.write(len(data).to_bytes(8, "little") + data)
            to.flush()

    def _answers(self, data: bytes, expected: bytes, longest: float) -> bool:
        """Whether it says this of what it is given. One that takes longer than these seconds is ended."""
        timer = threading.Timer(longest, self._give_up)
        timer.start()
        try:
            self._send(data)
            said = self._said()
        except OSError:
            said = b""
        finally:
            timer.cancel()
            # Then it is known whether it was given up.
            timer.join()
        return said == expected and not self.hung

    def _give_up(self) -> None:
        self.hung = True
        self._process.kill()

    def survives(self, data: bytes) -> bool:
        """Whether it is still there after a picture, and took no longer than it may."""
        return self._answers(data, b"1", LONGEST)

    def end(self) -> int:
        """Ends it; its exit code."""
        for pipe in (self._process.stdin, self._process.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except OSError:
                pass
        try:
            return self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


def _sound(manifest: str, files: list[File], options: dict[str, Any], failed: list[tuple[str, str]]) -> Iterator[File]:
    """The files that do not bring down a process which decodes them; the others are failures, by name."""
    trial = _Trial(manifest)
    try:
        for file in files:
            try:
                held = _held(file[0], options)
                if isinstance(held, str):
                    with open(held, "rb") as opened:
                        held = opened.read()
            except (OSError, ValueError) as error:
                failed.append((plain(file[0]), str(error)))
                continue
            if not held or trial.survives(held):
                yield file
                continue
            code = trial.end()
            found = f"found a file that ended the process which decoded it (exit code {code})"
            if trial.hung:
                found = f"found a file that hung: it was not decoded within {LONGEST:g} seconds"
            failed.append((plain(file[0]), f"expected a picture, {found}; leave it out, or write it anew with another program"))
            trial = _Trial(manifest)
    finally:
        trial.end()


def tried(source: IO[bytes] | None = None, to: IO[bytes] | None = None) -> None:
    """Decodes the pictures that come, and says so after each: what :class:`_Trial` runs."""
    source, to = source or sys.stdin.buffer, to or sys.stdout.buffer

    def read() -> bytes:
        return source.read(int.from_bytes(source.read(8), "little"))

    def say(what: bytes) -> None:
        to.write(what)
        to.flush()

    manifest = _native.Manifest.from_json(read().decode())
    say(b"r")
    while data := read():
        _native.shard_of(manifest, [("a picture", data, None, None, [])])
        say(b"1")
