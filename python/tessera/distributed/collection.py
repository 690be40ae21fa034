"""Collections: images as shards in a folder or an object store, and what is asked of them."""

import itertools
import json
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import _native
from .._progress import teller
from ..library import texts_of
from ..recognition import _image, several
from ._errors import LeftOutWarning, ShardError
from ._run import Part, executor, run, together
from ._storage import Storage
from ._workers import (
    BELOW,
    STATES,
    Entry,
    File,
    fetched,
    hashes_of,
    keep,
    kept,
    make_assigned,
    make_shard,
    make_state,
    make_without,
    plain,
    state_name,
)

MANIFEST = "manifest.json"
JOIN = 8
"""States that are joined at a time."""

T = TypeVar("T")


class Answers(list[T]):
    """What was found, with the recall: the share of the exact answer that it is likely to be.

    Where all images were compared it is 1; else it was measured on a sample of each shard, and each shard counts by its images.

    >>> from tessera.distributed import Answers
    >>> Answers(["a", "b"], recall=0.97).recall
    0.97
    """

    recall: float

    def __init__(self, found: Iterable[T] = (), recall: float = 1.0) -> None:
        super().__init__(found)
        self.recall = recall


class Recognised(NamedTuple):
    """What an image was recognised as.

    >>> from tessera.distributed import Recognised
    >>> Recognised("sea", 0.9, {"sea": 1.5, "poppy": 0.5}).label
    'sea'
    """

    label: str | None
    """The class of highest score; ``None`` where no image of the collection has a class."""
    confidence: float | None
    """How often an answer with such a lead was right in the report; ``None`` without a report."""
    scores: dict[str, float]
    """The score of each class, the best first."""


class Near(NamedTuple):
    """An image that looks like another.

    >>> from tessera.distributed import Near
    >>> Near("0f" * 16, 1.0).likeness
    1.0
    """

    image: str
    """The hash of the image."""
    likeness: float
    """How alike it is: 1 for the same picture."""


class CollectionImage(NamedTuple):
    """An image of a collection.

    >>> from tessera.distributed import CollectionImage
    >>> CollectionImage("0f" * 16, "photos/sea/1.png", "sea", None).label
    'sea'
    """

    image: str
    """Its hash."""
    place: str
    """Where it was found: a path or a URL."""
    label: str | None
    """Its class."""
    group: str | None
    """The object that it shows."""


class Worded(NamedTuple):
    """An image whose texts have words that were looked for.

    >>> from tessera.distributed import Worded
    >>> Worded("0f" * 16, 0.5, "sea/1.png", None, {"sea": 0.5}).terms
    {'sea': 0.5}
    """

    image: str
    """The hash of the image."""
    score: float
    """How well its texts fit."""
    place: str
    """Where it was found."""
    caption: str | None
    """The caption that fits best."""
    terms: dict[str, float]
    """What each word adds to the score."""


class Clustered(NamedTuple):
    """Clusters of images that look alike.

    >>> import numpy as np
    >>> from tessera.distributed import Clustered
    >>> sum(Clustered(np.zeros((2, 372)), [0.25, 0.75], [1, 3], [], [], b"").sizes)
    4
    """

    means: NDArray[np.float64]
    """Their means, a row each: values of appearances."""
    shares: list[float]
    """The share of each in all images."""
    sizes: list[int]
    """How many images each drew in the last iteration."""
    examples: list[list[str]]
    """Of each the images that fit best, by hash."""
    likelihoods: list[float]
    """The mean logarithm of density before each iteration."""
    job: bytes
    """The mixture, for :meth:`Collection.clusters_of`."""


class Copy(NamedTuple):
    """An image of a group of near copies.

    >>> from tessera.distributed import Copy
    >>> Copy("0f" * 16, "sea/1.png", 0.3).distance
    0.3
    """

    image: str
    """Its hash."""
    place: str
    """Where it was found."""
    distance: float
    """How far it is from the first of its group, in percent of structure."""


class Report(NamedTuple):
    """How well a collection's images are recognised by its other images.

    >>> import numpy as np
    >>> from tessera.distributed import Report
    >>> Report({"sea": 4}, 4, (0.75, 0.2), {}, np.zeros((1, 1)), "").accuracy
    (0.75, 0.2)
    """

    images: dict[str, int]
    """How many images each class has."""
    judged: int
    """How many images were judged."""
    accuracy: tuple[float, float] | None
    """The share of right answers, where each class counts by its images, and its standard error."""
    recalls: dict[str, tuple[float, float]]
    """The share of right answers of each class that was judged, and its standard error."""
    confusion: NDArray[np.int64]
    """Images of the class of a row that were taken for the class of a column."""
    learned: str
    """Terms of classes and the curve of confidence, for :meth:`Collection.recognise`."""


class Added(NamedTuple):
    """What an import did.

    >>> from tessera.distributed import Added
    >>> Added(2, 0, {"broken.png": "no picture"}).failed
    {'broken.png': 'no picture'}
    """

    images: int
    """Images that were added."""
    duplicate: int
    """Images that were there already, or given twice."""
    failed: dict[str, str]
    """Files that could not be used, with the reason."""


KNOWN = {"place", "label", "group", "captions"}
"""What may be said of an image that is added."""


def _file(image: dict[str, Any] | str | os.PathLike[str]) -> File:
    """What workers are told of an image that is to be added."""
    if isinstance(image, (str, os.PathLike)):
        image = {"place": image}
    if not isinstance(image, Mapping) or "place" not in image:
        raise ValueError(f"images: expected places, or dictionaries with a place, found {image!r}")
    if not KNOWN.issuperset(image):
        raise ValueError(f"images: expected place, label, group and captions, found {', '.join(sorted(map(str, set(image) - KNOWN)))}")
    return _absolute(image["place"]), image.get("label"), image.get("group"), texts_of(image.get("captions") or [])


def _absolute(place: str | os.PathLike[str]) -> str:
    """A place that workers find, too."""
    text = os.fspath(place)
    if "://" in text:
        return text
    folder, mark, below = text.partition(BELOW)
    # Before the mark there is nothing where the folder is the root.
    full = os.path.abspath(folder or "/")
    return full.rstrip("/") + mark + os.path.normpath(below) if mark else full


class Collection:
    """Images as Parquet shards in a folder or an object store, asked on this machine or on many.

    The answers have the same bytes whatever the number of shards and workers, the order in which these
    answer, and how often they fail; where a recall below 1 is asked for they depend on how images are dealt to shards.

    Parameters
    ----------
    url : path or str
        The folder, or what fsspec takes, such as ``s3://bucket/images``.
    client : None, str, distributed.Client or the module ray
        Where work is done: in this process, on the workers of a Dask scheduler by its address or a client of it,
        or on Ray.
    storage_options : dict, optional
        For fsspec.
    timeout : float, optional
        Seconds after which a shard that no answer came of is asked of another worker. ``None``, the default: a worker that
        hangs without an end is waited for without an end, as nobody else can tell how long a shard may take.
    patience : float
        Seconds to wait for a scheduler or for workers that are gone.
    leave_out : bool
        Whether shards that fail three times are left out of answers, with a warning; otherwise they are errors.
        ``left_out`` has those of the last call, with the reasons.
    keep_states : bool
        Whether the state of each shard is kept in the collection, so that asking again continues what was asked; and the
        index or the memory tree of each shard, which later questions with a recall below 1 then need not make.
    progress : callable or tqdm bar, optional
        Told the stage, the shards done and the shards in all.

    Examples
    --------
    Here the work is done in this process, and the collection is in memory.

    >>> import os, tempfile
    >>> import numpy as np
    >>> from PIL import Image
    >>> from tessera.distributed import Collection
    >>> photos = tempfile.mkdtemp()
    >>> for i, colour in enumerate(["red", "blue"] * 3):
    ...     os.makedirs(f"{photos}/{colour}", exist_ok=True)
    ...     pixels = np.zeros((40, 48, 3), dtype=np.uint8)
    ...     pixels[..., 0 if colour == "red" else 2] = np.random.default_rng(i).integers(100, 256, (40, 48))
    ...     Image.fromarray(pixels).save(f"{photos}/{colour}/{i}.png")
    >>> collection = Collection("memory://example", create=True, elements="colour")
    >>> collection.add(collection.listed(photos)).images
    6
    >>> collection.recognise([f"{photos}/red/0.png"])[0].label
    'red'
    >>> [hit.place[-10:] for hit in collection.search("blue 3")][:1]
    ['blue/3.png']
    >>> len(collection.similar([f"{photos}/red/0.png"], k=2)[0])
    2
    >>> [image.label for image in collection.images(hit.image for hit in collection.similar([f"{photos}/blue/1.png"], k=2)[0])]
    ['blue', 'blue']
    >>> collection.forget(collection.hashes())
    6

    On a cluster, by the address of its scheduler:

    >>> Collection("s3://bucket/images", client="tcp://scheduler:8786")  # doctest: +SKIP
    """

    def __init__(
        self,
        url: str | os.PathLike[str],
        *,
        client: Any = None,
        create: bool = False,
        elements: str = "mixed",
        subject: str = "object",
        side: int = 128,
        decompositions: int = 8,
        neighbours: int = 4,
        random_state: int = 0,
        storage_options: dict[str, Any] | None = None,
        timeout: float | None = None,
        patience: float = 60.0,
        leave_out: bool = False,
        keep_states: bool = False,
        progress: Any = None,
    ) -> None:
        self._storage = Storage(url, storage_options)
        self.client, self.timeout, self.patience = client, timeout, patience
        self.leave_out, self.keep_states, self.progress = leave_out, keep_states, progress
        self.left_out: dict[str, str] = {}
        self._where: Any = None
        if create and not self._storage.exists(MANIFEST):
            begun = _native.Manifest(elements, subject, side, decompositions, neighbours, random_state)
            with self._storage.locked():
                if not self._storage.exists(MANIFEST):
                    self._storage.write(MANIFEST, begun.to_json().encode())
        self._read()

    def __enter__(self) -> "Collection":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leaves the cluster, where its address was given."""
        if hasattr(self._where, "close"):
            self._where.close()
        self._where = None

    def __len__(self) -> int:
        return self._manifest.images()

    @property
    def version(self) -> int:
        """Grows by one with each change."""
        return self._manifest.version()

    @property
    def shards(self) -> list[Entry]:
        """The name, hash, images and bytes of each shard."""
        return self._manifest.shards()

    def _read(self) -> None:
        try:
            text = self._storage.read(MANIFEST).decode()
        except FileNotFoundError:
            raise _native.Error(f"{self._storage.url}: expected a collection, found no {MANIFEST}; make one with create=True or `tessera shard`") from None
        self._manifest = _native.Manifest.from_json(text)

    def _check_version(self) -> None:
        now = _native.Manifest.from_json(self._storage.read(MANIFEST).decode()).version()
        if now != self.version:
            raise _native.Error(f"{self._storage.url}: expected version {self.version}, found {now}; one process at a time changes a collection: open it anew")

    def _commit(self, manifest: Any) -> None:
        with self._storage.locked():
            self._put(manifest)

    def _put(self, manifest: Any) -> None:
        """Puts the next version in its place. The lock is held."""
        self._check_version()
        # Who forgets images deletes what no manifest names, and that may be these, not named yet.
        named = set(self.shards)
        for entry in manifest.shards():
            if entry not in named and not self._storage.exists(entry[0]):
                found = "found nothing: another process has deleted it"
                advice = "try again: one process at a time changes a collection"
                raise _native.Error(f"{entry[0]}: expected a shard that was just written, {found}; {advice}")
        self._storage.write(MANIFEST, manifest.to_json().encode())
        self._manifest = manifest

    # Running jobs

    def _executor(self) -> Any:
        if self._where is None:
            self._where = executor(self.client, self.patience)
        return self._where

    def _run(self, parts: list[Part], stage: str, leave_out: bool | None = None) -> Iterator[tuple[Part, Any]]:
        told, leave_out = teller(self.progress), self.leave_out if leave_out is None else leave_out
        given: dict[str, Any] = {"timeout": self.timeout, "patience": self.patience, "leave_out": leave_out, "told": told, "stage": stage}
        try:
            yield from run(self._executor(), parts, **given)
        except ShardError:
            # Shards that another process has replaced are not there any more: then that is the reason.
            try:
                self._check_version()
            except OSError:
                pass
            raise

    def _each(self, function: Callable[..., T], stage: str, *given: Any) -> list[tuple[Entry, T]]:
        """What a function of workers says of each shard, none of which may be left out."""
        of = {Part(entry[0], function, (self._storage.url, self._storage.options, entry, *given)): entry for entry in self.shards}
        found = {of[part]: result for part, result in self._run(list(of), stage, leave_out=False)}
        return [(entry, found[entry]) for entry in of.values()]

    def _joined(self, job: bytes, stage: str) -> bytes | None:
        """The joined state of all shards; ``None`` without any."""
        entries = self.shards
        groups: list[list[Entry]] = [[entry] for entry in entries]
        if _native.shards_of(job)[0] == 2:
            groups += [list(pair) for pair in itertools.combinations(entries, 2)]
        states: list[bytes] = []

        def take(state: bytes) -> None:
            states.append(state)
            if len(states) == JOIN:
                states[:] = [_native.joined(job, states)]

        def part(name: str, groups: list[list[Entry]], pieces: list[Part]) -> Part:
            given = (self._storage.url, self._storage.options, job, groups, self.keep_states)
            return Part(name, make_state, given, pieces)

        names: dict[Part, str] = {}
        single: list[Part] = []
        for group in groups:
            name = state_name(job, group)
            before = kept(self._storage, name) if self.keep_states else None
            if before is not None:
                take(before)
                continue
            single.append(part(" and ".join(entry[0] for entry in group), [group], []))
            names[single[-1]] = name
        size = 1 if self.keep_states else together(self._executor(), len(single), self.patience)
        parts = single
        if size > 1:
            batches = [single[at : at + size] for at in range(0, len(single), size)]
            parts = [part(f"{of[0].name} to {of[-1].name}", [piece.arguments[3][0] for piece in of], of) for of in batches]
        for made, state in self._run(parts, stage):
            if isinstance(state, ShardError):
                self.left_out[made.name] = str(state)
                warnings.warn(f"left out of the answer: {state}", LeftOutWarning, stacklevel=3)
                continue
            if self.keep_states:
                keep(self._storage, names[made], state)
            take(state)
        return _native.joined(job, states) if states else None

    def _features(self, images: Iterable[Any]) -> list[tuple[bytes, bytes]]:
        with fetched(several(images, "images"), self._storage.options) as given:
            return _native.features_of(self._manifest, [_image(image) for image in given])

    # Changing it

    def listed(self, url: str | os.PathLike[str], *, classes: bool = True, storage_options: dict[str, Any] | None = None) -> list[dict[str, Any]]:
        """The pictures below a folder, as :meth:`add` takes them; their classes are the names of their folders.

        In each place ``/./`` parts this folder from the rest, so that words of folders above do not count in searches. Below
        a root, such as ``/`` or ``memory://``, nothing is parted, and the names of the files alone count.
        """
        import fsspec

        system, path = fsspec.core.url_to_fs(os.fspath(url), **(storage_options or {}))
        endings = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".pgm", ".ppm")
        found = sorted(at for at in system.find(path) if at.lower().endswith(endings))
        if not found and not system.exists(path):
            raise _native.Error(f"{os.fspath(url)}: expected a folder of images, found nothing; check the name")
        label = (lambda at: os.path.basename(os.path.dirname(at))) if classes else (lambda at: None)
        folder = system.unstrip_protocol(path).rstrip("/")

        has_path = bool(folder.partition("://")[2])

        def place(at: str) -> str:
            full = system.unstrip_protocol(at)
            return f"{folder}{BELOW}{full[len(folder) + 1 :]}" if has_path and full.startswith(f"{folder}/") else full

        return [{"place": place(at), "label": label(at)} for at in found]

    def add(self, images: Iterable[dict[str, Any] | str | os.PathLike[str]], *, per_shard: int = 1000, storage_options: dict[str, Any] | None = None) -> Added:
        """Adds images: workers read and decode them, and write a shard each of so many.

        An image is ``{"place": path or URL, "label": class, "group": object, "captions": [text]}``, of which only the
        place must be there, or the place alone. The collection has them once all are there. ``storage_options`` are fsspec's, for the places.
        The words of a place count in searches: those below ``/./`` in it, as :meth:`listed` writes it, else of a full path
        those of the file's name. Each thread of a worker has at most 256 MB of files in memory, or one file; where pictures
        bring workers down they are decoded in processes of their own, and those that did, or took longer than a minute, are in
        ``failed``. No file is deleted here: what was written and is not needed, :meth:`forget` deletes.
        """
        if isinstance(images, (str, os.PathLike, Mapping)):
            raise ValueError("images: expected several, such as a list or what `listed` gives of a folder, found one; put it in a list")
        rows = [_file(image) for image in images]
        rows.sort(key=lambda row: row[0])
        manifest = self._manifest.to_json()
        parts: list[Part] = []
        begins: dict[Part, int] = {}
        for at in range(0, len(rows), per_shard):
            some = rows[at : at + per_shard]
            given = (self._storage.url, self._storage.options, manifest, some, storage_options or {})
            name = f"images {at + 1} to {at + len(some)}"
            # A picture that brings this process down has done so before anything is tried again.
            careful = [] if self.client is None else [Part(name, make_shard, (*given, True))]
            parts.append(Part(name, make_shard, given, careful))
            begins |= {part: at for part in (parts[-1], *careful)}
        entries: dict[int, Entry] = {}
        failed: dict[str, str] = {}
        missing = unfit = 0
        self.left_out = {}
        for part, result in self._run(parts, "Making shards"):
            if isinstance(result, ShardError):
                self.left_out[part.name] = str(result)
                missing += min(per_shard, len(rows) - begins[part])
                warnings.warn(f"left out: {result}", LeftOutWarning, stacklevel=2)
                continue
            entry, why = result
            failed.update(why)
            unfit += len(why)
            if entry is not None:
                entries[begins[part]] = entry
        # An image stays where it is first, whatever the order in which workers answered.
        named = set(self.shards)
        known = set(self._hashes())
        there = len(known)
        # In the order of the images, each once: equal images make one file.
        kept: dict[Entry, None] = {}
        for _, entry in sorted(entries.items()):
            if entry in kept:
                continue
            hashes = hashes_of(self._storage.url, self._storage.options, entry)
            twice = [image for image in hashes if image in known]
            known.update(hashes)
            left: Entry | None = entry
            if twice and entry not in named:
                # The file stays: another process may have named it in a manifest meanwhile.
                _, left = make_without(self._storage.url, self._storage.options, entry, twice)
            if left is not None:
                kept[left] = None
        added = len(known) - there
        if added:
            self._commit(self._manifest.changed([], list(kept)))
        return Added(added, len(rows) - added - unfit - missing, failed)

    def forget(self, images: Iterable[str]) -> int:
        """Takes images out for good, by their hashes: writes their shards anew and deletes every state. How many there were."""
        if isinstance(images, str):
            raise ValueError("images: expected hashes, such as a list of them, found one; put it in a list")
        gone, n, old, new = list(images), 0, list[str](), list[Entry]()
        # It refuses what is no hash.
        _native.taking(gone)
        for entry, (found, left) in self._each(make_without, "Forgetting", gone):
            if found > 0:
                n += found
                old.append(entry[0])
                new += [] if left is None else [left]
        with self._storage.locked():
            if n:
                self._put(self._manifest.changed(old, new))
            else:
                self._check_version()
            # They may be left of a call that was ended here.
            self._storage.delete_folder(STATES)
            # The shards before, and what was begun and never ended.
            named = {entry[0] for entry in self.shards}
            for name in self._storage.names():
                if name.startswith("shard-") and name not in named:
                    self._storage.delete(name)
        return n

    def hashes(self) -> list[str]:
        """The hashes of all images, sorted."""
        return sorted(self._hashes())

    def images(self, hashes: Iterable[str]) -> list[CollectionImage]:
        """The images of these hashes, in that order: where they are and what they show. Those that are not here are left
        out. A pass over all shards."""
        wanted, self.left_out = list(hashes), {}
        job = _native.taking(wanted)
        state = self._joined(job, "Looking for images")
        known = {} if state is None else {row[0]: CollectionImage(row[0], plain(row[1]), *row[2:4]) for row in _native.taken(job, state)}
        return [known[image] for image in wanted if image in known]

    def __repr__(self) -> str:
        return f"Collection({self._storage.url!r}: {len(self)} images, version {self.version})"

    def _hashes(self) -> Iterator[str]:
        for _, images in self._each(hashes_of, "Reading hashes"):
            yield from images

    # Asking it

    def recognise(self, images: Iterable[Any], *, report: Report | None = None, at_once: int = 32) -> list[Recognised]:
        """What images show, by all labelled images of the collection.

        Scores are those of pieces alone, each image compared with all. With a ``report`` of :meth:`evaluate` they have the
        terms of classes and a confidence. ``at_once`` images are asked together: a state takes some tens of kilobytes for
        each image, class and kind of elements.
        """
        images, answers, self.left_out = several(images, "images"), [], {}
        for at in range(0, len(images), at_once):
            job = _native.recognition(self._manifest, [elements for elements, _ in self._features(images[at : at + at_once])])
            state = self._joined(job, "Recognising")
            if state is None:
                answers += [Recognised(None, None, {}) for _ in images[at : at + at_once]]
                continue
            for ranking, confidence in _native.recognised(job, state, report.learned if report else None):
                answers.append(Recognised(ranking[0][0] if ranking else None, confidence if report else None, dict(ranking)))
        return answers

    def similar(self, images: Iterable[Any], k: int = 10, *, look: str = "appearance", recall: float = 1.0) -> Answers[list[Near]]:
        """The images that look most like each: by ``appearance``, ``edges`` or ``colours``.

        All are compared; with a ``recall`` below 1 those that an index of each shard names, of which about such a share of
        the exact answer is found. What was measured on a sample of each shard's own images is ``recall`` of the answer; the
        images found then depend on how images are dealt to shards. A shard of fewer than 512 images, and one whose index does
        not reach the recall (0.99 is the most that one promises), is compared whole.
        """
        self.left_out = {}
        asked = [appearance for _, appearance in self._features(images)]
        job = _native.nearest(k, look, asked, None if recall == 1 else recall)
        state = self._joined(job, "Looking for similar images")
        if state is None:
            return Answers([] for _ in asked)
        found, share = _native.nearest_found(job, state)
        return Answers(([Near(*one) for one in hits] for hits in found), share)

    def search(self, words: str, k: int = 10, *, engine: str = "index", recall: float = 0.9) -> Answers[Worded]:
        """The images whose classes, names and captions fit words best, with the scores of the exact index of all texts.

        ``red truck -boat "left side"``: words that count, one that may not be there, words in a row.

        With ``engine="memory"`` a memory tree of each shard names the images, of which about a share of ``recall`` of the exact
        answer is found; their scores are the same. What was measured on a sample of each shard's own texts is ``recall`` of
        the answer. It counts the words of fewer texts, and passes the shards twice instead of three times. Trees are tried with
        words alone: with words in a row or unwanted words, and where a tree does not reach the recall (1 - 2/150 is the most
        that one promises), the index of the shard names the images.
        """
        if engine not in ("index", "memory"):
            raise ValueError(f"engine: expected index or memory, found {engine}")
        self.left_out = {}
        remembers = engine == "memory"
        first = _native.words(words, k, None, recall) if remembers else _native.word_counts(words)
        state = self._joined(first, "Asking memory trees" if remembers else "Looking for texts")
        counting = None if state is None else _native.word_counts(words, (first, state))
        counted = None if counting is None else self._joined(counting, "Counting words")
        if state is None or counting is None or counted is None:
            return Answers()
        if remembers:
            found, share = _native.words_found(first, state, (counting, counted))
        else:
            job = _native.words(words, k, (counting, counted))
            state = self._joined(job, "Looking for words")
            found, share = ([], 1.0) if state is None else _native.words_found(job, state)
        return Answers((Worded(image, score, place, caption, dict(terms)) for image, score, place, caption, terms in found), share)

    def cluster(
        self, n_clusters: int = 10, *, max_iter: int = 20, covariance: str = "diagonal", sample: int = 2000, random_state: int = 0
    ) -> Clustered:
        """Fits a mixture of Gaussians to appearances; an iteration passes all shards once."""
        self.left_out = {}
        begin = _native.mixture_begin(max(sample, n_clusters), random_state)
        state = self._joined(begin, "Choosing where clusters begin")
        if state is None:
            raise ValueError("images: expected one or more in the collection, found none")
        job = _native.mixture_first(begin, state, n_clusters, covariance)
        likelihoods: list[float] = []
        sizes: list[int] = []
        examples: list[list[str]] = []
        for _ in range(max_iter):
            state = self._joined(job, "Fitting a mixture")
            if state is None:
                break
            job, (_, likelihood, sizes, examples) = _native.mixture_next(job, state)
            likelihoods.append(likelihood)
        means, shares = _native.mixture_clusters(job)
        return Clustered(means, shares, sizes, examples, likelihoods, job)

    def clusters_of(self, clustered: Clustered) -> Iterator[tuple[str, int]]:
        """The hash of each image and its most probable cluster, shard by shard in the order of ``shards``.

        What is known of shards that come later is held until it is their turn.
        """
        self.left_out = {}
        given = (self._storage.url, self._storage.options, clustered.job)
        parts = [Part(entry[0], make_assigned, (*given, entry)) for entry in self.shards]
        order = {part: i for i, part in enumerate(parts)}
        held: dict[int, list[tuple[str, int]]] = {}
        turn = 0
        for part, found in self._run(parts, "Looking for clusters"):
            if isinstance(found, ShardError):
                self.left_out[part.name] = str(found)
                warnings.warn(f"left out of the answer: {found}", LeftOutWarning, stacklevel=2)
                found = []
            held[order[part]] = found
            while turn in held:
                yield from held.pop(turn)
                turn += 1

    def duplicates(self, distance: float = 2.0) -> list[list[Copy]]:
        """Groups of near copies, by thumbnails. Each two shards are compared, so work grows with the square of their number."""
        self.left_out = {}
        job = _native.copies(distance)
        state = self._joined(job, "Looking for near copies")
        return [] if state is None else [[Copy(*one) for one in group] for group in _native.copies_found(job, state)[1]]

    def evaluate(self, *, limit: int = 400, random_state: int = 0, at_once: int = 32) -> Report:
        """Recognises at most so many images, as many of each class as it has, each without its object.

        An image whose object is not known is left out itself. Others' classes lose nothing meanwhile, so a class of few
        images is at a small disadvantage.
        """
        self.left_out = {}
        choice = _native.choice(limit, random_state)
        chosen = self._joined(choice, "Choosing images")
        if chosen is None:
            raise ValueError("images: expected one or more in the collection, found none")
        taking = _native.taking(_native.chosen(choice, chosen))
        taken = self._joined(taking, "Reading images")
        if taken is None:
            raise ShardError("no shard could be read")
        asked = []
        for job in _native.judging(self._manifest, taking, taken, at_once):
            state = self._joined(job, "Judging")
            if state is None:
                raise ShardError("no shard could be read")
            asked.append((job, state))
        classes, judged, accuracy, recalls, confusion, learned = _native.judged((choice, chosen), (taking, taken), asked)
        known = {name: recall for (name, _), recall in zip(classes, recalls) if recall is not None}
        table = np.array(confusion, dtype=np.int64).reshape(len(classes), len(classes))
        return Report(dict(classes), judged, accuracy, known, table, learned)


__all__ = ["Added", "Answers", "Clustered", "Collection", "CollectionImage", "Copy", "Near", "Recognised", "Report", "Worded"]
