"""Libraries of images."""

import operator
import os
import re
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from . import _native
from ._estimator import whole
from ._progress import teller


class LibraryImage(NamedTuple):
    """An image of a library.

    >>> import tempfile
    >>> from PIL import Image
    >>> from tessera import Library
    >>> folder = tempfile.mkdtemp()
    >>> Image.new("RGB", (64, 64), "red").save(f"{folder}/poppy.png")
    >>> Image.new("RGB", (64, 64), "blue").save(f"{folder}/sea.png")
    >>> with Library(f"{folder}/new.tessera", create=True) as library:
    ...     _ = library.import_folder(folder)
    ...     print([(image.path.name, image.label, image.captions) for image in library.images])
    [('poppy.png', None, []), ('sea.png', None, [])]
    """

    id: int
    """Its number, for ever."""
    path: Path | None
    """Its file."""
    label: str | None
    """Its class."""
    captions: list[str]
    """What it shows."""


class Hit(NamedTuple):
    """An image that was found.

    >>> import tempfile
    >>> from PIL import Image
    >>> from tessera import Library
    >>> folder = tempfile.mkdtemp()
    >>> Image.new("RGB", (64, 64), "red").save(f"{folder}/poppy.png")
    >>> Image.new("RGB", (64, 64), "blue").save(f"{folder}/sea.png")
    >>> with Library(f"{folder}/new.tessera", create=True) as library:
    ...     _ = library.import_folder(folder)
    ...     _ = library.caption(f"{folder}/sea.png", ["a calm sea"])
    ...     hit = library.search("calm")[0]
    ...     print(hit.path.name, hit.caption, hit.words, hit.score > 0)
    sea.png a calm sea ['calm'] True
    """

    id: int
    """Its number."""
    path: Path | None
    """Its file."""
    score: float
    """How well it answers, as the program tells it."""
    caption: str | None
    """The caption that fits best, or else the first."""
    words: list[str]
    """The words that its texts have of those asked for."""


class Alike(NamedTuple):
    """An image that looks like another.

    >>> import tempfile
    >>> from PIL import Image
    >>> from tessera import Library
    >>> folder = tempfile.mkdtemp()
    >>> Image.new("RGB", (64, 64), "red").save(f"{folder}/poppy.png")
    >>> Image.new("RGB", (64, 64), "blue").save(f"{folder}/sea.png")
    >>> with Library(f"{folder}/new.tessera", create=True) as library:
    ...     _ = library.import_folder(folder)
    ...     alike = library.similar(f"{folder}/sea.png")[0]
    ...     print(alike.path.name, alike.likeness < 1, alike.probability)
    poppy.png True 1.0
    """

    id: int
    """Its number."""
    path: Path | None
    """Its file."""
    likeness: float
    """How alike it is: at most 1, which is the same."""
    probability: float
    """The probability that it is one of the most alike of all; 1 where all were compared."""


class Imported(NamedTuple):
    """What an import did.

    >>> import tempfile
    >>> from PIL import Image
    >>> from tessera import Library
    >>> folder = tempfile.mkdtemp()
    >>> Image.new("RGB", (64, 64), "red").save(f"{folder}/poppy.png")
    >>> Image.new("RGB", (64, 64), "blue").save(f"{folder}/sea.png")
    >>> with Library(f"{folder}/new.tessera", create=True) as library:
    ...     first, second = library.import_folder(folder), library.import_folder(folder)
    ...     print(first.imported, second.imported, second.unchanged, second.failed)
    2 0 2 {}
    """

    found: int
    """Image files."""
    imported: int
    """New images, and known files with other bytes than before."""
    unchanged: int
    """Files that are known."""
    duplicate: int
    """Files whose bytes are there under another name; with ``moved``, whose other file is gone."""
    unsupported: int
    """Pictures of a format that cannot be read."""
    failed: dict[Path, str]
    """Files that could not be taken in, with the reason."""
    missing: int
    """Files that are not there any more; their images stay."""
    layout: str
    """How the folder was understood."""
    moved: int = 0
    """Of ``duplicate``: files that only lie elsewhere than before."""


Named = int | str | os.PathLike[str] | LibraryImage | Hit | Alike
"""An image: its number in the library, its path, or what the library said of it."""

_OPEN: "weakref.WeakValueDictionary[str, Library]" = weakref.WeakValueDictionary()
"""The libraries that this process has open to write to them, by their folders."""


class Library:
    """A library of images: the same files, locks and answers as the program's.

    One process has a library at a time, so close it, or use it in a ``with`` statement; several threads of that
    process may use it, one after another. Images are told by their number (``12`` or ``"#12"``), their path, or as the
    library gave them; one that is told twice counts once. Every change is an act that ``undo`` takes back, but
    ``forget``.

    Parameters
    ----------
    folder : the folder of the library.
    create : whether a library is made where there is none.
    read_only : whether it is only read, as it is now; others may then use it too, and what they change is seen when it
        is opened again.
    progress : a callable of stage, steps done and steps in all, or a bar of tqdm.

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image
    >>> from tessera import Library
    >>> folder = tempfile.mkdtemp()
    >>> Image.new("RGB", (64, 64), "red").save(f"{folder}/poppy.png")
    >>> Image.new("RGB", (64, 64), "blue").save(f"{folder}/sea.png")
    >>> with Library(f"{folder}/flowers.tessera", create=True) as library:
    ...     _ = library.import_folder(folder)
    ...     _ = library.label([f"{folder}/poppy.png"], "flower")
    ...     print(library.search("flower")[0].path.name, library.undo() is not None, library.search("flower"))
    poppy.png True []
    """

    def __init__(self, folder: str | os.PathLike[str], *, create: bool = False, read_only: bool = False, progress: Any = None):
        self.progress = progress
        self._real = os.path.realpath(folder)
        if not read_only and self._real in _OPEN:
            # To the lock it would be another program.
            found = "found it open in this very process; go on with that, or call its close() first"
            raise _native.Error(f"{os.fspath(folder)}: expected a library that is not open, {found}")
        self._native = _native.Library(Path(folder), create, read_only, teller(progress))
        if not self.read_only:
            _OPEN[self._real] = self

    def import_folder(
        self, folder: str | os.PathLike[str], *, labels: str | None = None, one_class: str | None = None, exclude: Iterable[str] = ()
    ) -> Imported:
        """Takes in the images below a folder; they stay where they are. ``exclude`` are patterns of files
        and folders to leave out. ``labels`` tells what is read as their class: ``"class-folders"``, the
        folder they lie in; ``"folder-paths"``, the path of their folders, as ``birds/wren``;
        ``"norb-names"``, the name of the file; ``"whole-folder"``, the name of the folder itself, for
        all images, or ``one_class`` in its place; ``"auto"``, names of folders or of files, whichever
        fits; ``"none"``, nothing.
        Without ``labels`` a folder that was imported before is read as then, with the same patterns
        unless others are given, another one as by ``"auto"``."""
        numbers, failed, layout = self._native.import_folder(Path(folder), labels, one_class, list(exclude), teller(self.progress))
        found, imported, unchanged, duplicate, unsupported, _, missing, moved = numbers
        return Imported(found, imported, unchanged, duplicate, unsupported, dict(failed), missing, layout, moved)

    @property
    def images(self) -> list[LibraryImage]:
        """All images that are there."""
        return [LibraryImage(*row) for row in self._native.images()]

    @property
    def classes(self) -> list[str]:
        """The names of the classes."""
        return self._native.classes()

    @property
    def history(self) -> list[str]:
        """The acts that ``undo`` takes back, in words, the last one last."""
        return self._native.history()

    @property
    def read_only(self) -> bool:
        """Whether it is only read, because that was asked for or its folder cannot be written to."""
        return self._native.is_read_only()

    def search(
        self,
        words: str = "",
        k: int = 20,
        *,
        like: Named | None = None,
        look: str | None = None,
        label: str | None = None,
        engine: str = "memory",
        leaves: int = 64,
    ) -> list[Hit]:
        """The ``k`` images that answer best, as the program's ``search``: by words of captions, classes and
        names, by their likeness to an image, or by both; only those of a class, if it is told. The
        ``engine`` for words is the caption ``"memory"``, which learns, of which so many ``leaves`` are
        searched, or the exact ``"index"``."""
        if engine not in ("memory", "index"):
            raise ValueError(f"engine: expected memory or index, found {engine}")
        other = None if like is None else _named(like)
        exact, k = engine == "index", _count("k", k)
        return [Hit(*row) for row in self._native.search(words, other, look, label, k, exact, leaves, teller(self.progress))]

    def similar(self, image: Named, k: int = 20, *, look: str | None = None, recall: float | None = None) -> list[Alike]:
        """The ``k`` images that look most like one, of the library or any file. ``look`` is what is compared:
        ``"appearance"``, ``"edges"``, ``"colours"``, ``"network"``, ``"words"``, ``"elements"``, a set of vectors that was brought, or
        the usual. ``recall`` is the share of them that an index is to find; 1 compares all. A library of many images
        makes or renews an index after the answer, where one is due."""
        found = self._native.similar(_named(image), _count("k", k), look, recall, teller(self.progress))
        return [Alike(*row) for row in found]

    def label(self, images: Named | Iterable[Named], label: str | None) -> bool:
        """Says which class images are of; ``None``: of none. Whether that changes anything."""
        return self._native.label(_all_named(images), label)

    def caption(self, image: Named, captions: str | Iterable[str]) -> bool:
        """Says what an image shows, in place of the captions it has: one text or several. Whether that changes anything."""
        return self._native.caption(_named(image), texts_of(captions))

    def remove(self, images: Named | Iterable[Named]) -> bool:
        """Hides images and their influence. Whether that changes anything."""
        return self._native.set_removed(_all_named(images), True)

    def restore(self, images: Named | Iterable[Named]) -> bool:
        """Brings removed images back. Whether that changes anything."""
        return self._native.set_removed(_all_named(images), False)

    def forget(self, images: Named | Iterable[Named]) -> int:
        """Purges images from the library for good; their files stay. How many."""
        return self._native.forget(_all_named(images), teller(self.progress))

    def undo(self) -> str | None:
        """Takes the last act back. Its words; ``None`` where there is none."""
        return self._native.undo()

    def redo(self) -> str | None:
        """Does again what was last taken back. Its words; ``None`` where there is none."""
        return self._native.redo()

    def to_pandas(self) -> Any:
        """The images as a data frame of pandas by their numbers: path, label and captions.

        >>> import tempfile
        >>> from tessera import Library
        >>> with Library(f"{tempfile.mkdtemp()}/new.tessera", create=True) as library:
        ...     print(list(library.to_pandas().columns))
        ['path', 'label', 'captions']
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError("`to_pandas` needs pandas, which is not installed: pip install pandas") from error
        rows = self.images
        table = pandas.DataFrame(
            {
                "path": [None if row.path is None else str(row.path) for row in rows],
                "label": [row.label for row in rows],
                "captions": [row.captions for row in rows],
            },
            index=pandas.Index([row.id for row in rows], name="id", dtype="int64"),
        )
        return table.astype({"path": "object", "label": "object"}).where(lambda frame: frame.notna(), None)

    def to_arrow(self) -> Any:
        """The images as a table of Arrow: id (32 bits), path, label and captions (a list of texts).

        >>> import tempfile
        >>> from tessera import Library
        >>> with Library(f"{tempfile.mkdtemp()}/new.tessera", create=True) as library:
        ...     print(library.to_arrow().schema.names)
        ['id', 'path', 'label', 'captions']
        """
        try:
            import pyarrow
        except ImportError as error:
            raise ImportError("`to_arrow` needs pyarrow, which is not installed: pip install pyarrow") from error
        rows = self.images
        # Names of files need not be text.
        text = lambda path: None if path is None else os.fsencode(path).decode("utf-8", "replace")
        return pyarrow.table(
            {
                "id": pyarrow.array([row.id for row in rows], pyarrow.uint32()),
                "path": pyarrow.array([text(row.path) for row in rows], pyarrow.string()),
                "label": pyarrow.array([row.label for row in rows], pyarrow.string()),
                "captions": pyarrow.array([row.captions for row in rows], pyarrow.list_(pyarrow.string())),
            }
        )

    def close(self) -> None:
        """Closes the library once other threads are done with it, so that others can open it."""
        self._native.close()
        if _OPEN.get(self._real) is self:
            _OPEN.pop(self._real, None)

    def __enter__(self) -> "Library":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._native.images())

    def __repr__(self) -> str:
        return f"Library({str(self._native.folder())!r})"


def texts_of(captions: str | Iterable[str]) -> list[str]:
    """Captions; a text alone is one, not one for each of its letters."""
    return [captions] if isinstance(captions, str) else list(captions)


def _count(name: str, value: Any) -> int:
    number = whole(name, value)
    if number < 0:
        raise ValueError(f"{name}: expected 0 or more, found {number}")
    return number


def _all_named(images: Named | Iterable[Named]) -> list[int | Path]:
    if isinstance(images, (int, np.integer, str, os.PathLike, LibraryImage, Hit, Alike)):
        return [_named(images)]
    return [_named(image) for image in images]


def _named(image: Any) -> int | Path:
    if isinstance(image, (LibraryImage, Hit, Alike)):
        return image.id
    if isinstance(image, str) and re.fullmatch(r"#\d{1,10}", image):
        image = int(image[1:])
    if isinstance(image, (str, os.PathLike)):
        return Path(image)
    try:
        number = operator.index(image)
    except TypeError:
        raise TypeError(f"image: expected its number or its path, found {image!r}") from None
    if not 0 <= number < 2**32:
        raise ValueError(f"image: expected a number of this library, found {number}")
    return number
