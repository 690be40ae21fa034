"""Recognising images."""

import os
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._progress import teller


class Matched(NamedTuple):
    """The piece of a training image that a piece of an image was matched with."""

    id: int
    """The number of the training image."""
    name: str
    """Its path as it was given, or ``#`` and its number."""
    position: tuple[float, float]
    """Where the piece is, in its own pixels: from the left, from the top."""


class Piece(NamedTuple):
    """A piece of an image and what it adds to a score."""

    kind: str
    """What is compared: ``orb``, ``hog``, ``colour`` or ``network``."""
    position: tuple[float, float]
    """Where it is, in the image's own pixels: from the left, from the top."""
    matched: Matched | None
    """What it was matched with."""
    value: float
    """What it adds to the score."""


class Explanation(NamedTuple):
    """Why a class got its score: the pieces, the term and the whole sum to it."""

    label: Any
    """The class."""
    score: float
    """Its score."""
    term: float
    """What is added to all scores of the class."""
    whole: float
    """What the likeness of whole images adds."""
    pieces: list[Piece]
    """One for each element of the image, the one that adds most first."""


class CkmClassifier(ClassifierMixin, BaseEstimator):
    """Recognises images from few examples, by compositional kernel machines over pieces of images.

    Images are paths, arrays of 8 bits, ``(height, width, 3)`` or ``(height, width)`` in grey, or
    pictures of PIL. Training stores pieces: images are learned and forgotten one at a time, and the
    machine is then equal to one trained without them. Classes are kept by their text.

    Parameters
    ----------
    elements : which pieces are compared: corners ``"orb"``, gradients ``"hog"``, ``"colour"``, all three
        ``"mixed"``, cells of a convolutional ``"network"``, or ``"all"``.
    subject : what is in the images: single ``"object"``s, ``"scene"``s or ``"texture"``s.
    side : the longer side of an image as it is compared, 16 to 1024.
    decompositions : ways to compose an image of pieces that are tried, 1 to 1024.
    neighbours : neighbours that a piece may form a pair with, 0 to 64.
    search : what an image is compared with: ``"exact"`` all, ``"shortlist"`` the training images most
        like it, ``"index"`` pieces that an index finds, or by their number, ``"auto"``.
    judge : whether ``fit`` fits how much kinds of pieces count, terms of classes and the confidence, on
        training images that are left out with their objects, as the program does.
    random_state : the seed.
    progress : a callable of stage, steps done and steps in all, or a bar of tqdm.

    Examples
    --------
    >>> import numpy as np
    >>> from tessera import CkmClassifier
    >>> poppy, cornflower = (np.full((64, 64, 3), colour, dtype=np.uint8) for colour in ([200, 30, 30], [40, 60, 200]))
    >>> flowers = CkmClassifier("colour", judge=False).fit([poppy, cornflower], ["poppy", "cornflower"])
    >>> query = np.full((60, 80, 3), [180, 50, 40], dtype=np.uint8)
    >>> print(*flowers.predict([query]))
    poppy
    >>> why = flowers.explain(query)[0]
    >>> print(why.label, abs(sum(piece.value for piece in why.pieces) + why.term + why.whole - why.score) < 1e-6)
    poppy True
    """

    def __init__(
        self,
        elements: str = "mixed",
        *,
        subject: str = "object",
        side: int = 128,
        decompositions: int = 8,
        neighbours: int = 4,
        search: str = "auto",
        judge: bool = True,
        random_state: Any = 0,
        progress: Any = None,
    ):
        self.elements = elements
        self.subject = subject
        self.side = side
        self.decompositions = decompositions
        self.neighbours = neighbours
        self.search = search
        self.judge = judge
        self.random_state = random_state
        self.progress = progress

    def fit(self, X, y, *, groups=None, ids=None):
        """Learns images from nothing. ``groups`` tells the object that each image shows, ``None`` where that
        is not known: images of one object do not judge each other. ``ids`` are their numbers, by
        default 0, 1 and so on."""
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        options = (int(self.side), int(self.decompositions), int(self.neighbours), self.search, seed)
        self._native = _native.Recogniser(self.elements, self.subject, *options)
        self._labels: dict[str, Any] = {}
        self._learn(X, y, groups, ids)
        if self.judge:
            self._native.judge(True, seed, teller(self.progress))
        return self

    def partial_fit(self, X, y, classes=None, *, groups=None, ids=None):
        """Learns more images; an image with the number of an earlier one replaces it. Classes may be new;
        ``classes`` is not needed. Terms and confidence stay as they are."""
        if not hasattr(self, "_native"):
            self.fit([], [])
        self._learn(X, y, groups, ids)
        return self

    def _learn(self, X, y, groups, ids):
        images = [_image(image) for image in X]
        labels = list(y)
        groups = [None] * len(images) if groups is None else [None if group is None else str(group) for group in groups]
        if ids is None:
            first = max((number for number, _, _ in self._native.images()), default=-1) + 1
            ids = range(first, first + len(images))
        ids = [int(number) for number in ids]
        for name, found in [("y", labels), ("groups", groups), ("ids", ids)]:
            if len(found) != len(images):
                raise ValueError(f"{name}: expected {len(images)}, one for each image, found {len(found)}")
        if len(set(ids)) != len(ids):
            raise ValueError("ids: expected a number for each image, found one twice")
        names = [str(image) if isinstance(image, Path) else f"#{number}" for image, number in zip(images, ids)]
        texts = [str(label) for label in labels]
        self._native.learn(images, ids, names, texts, groups, teller(self.progress))
        for text, label in zip(texts, labels):
            self._labels.setdefault(text, label)

    @property
    def classes_(self):
        """The classes, in the order of their texts."""
        check_is_fitted(self, "_native")
        return np.array([self._labels.get(name, name) for name in self._native.classes()])

    @property
    def images_(self):
        """The number, the name and the class of each training image."""
        check_is_fitted(self, "_native")
        return [(number, name, self._labels.get(text, text)) for number, name, text in self._native.images()]

    @property
    def held_out_accuracy_(self):
        """The accuracy on training images left out with their objects; ``None`` where none was measured."""
        check_is_fitted(self, "_native")
        return self._native.accuracy()

    def decision_function(self, X):
        """The score of each class for each image; with two classes how much larger that of the second is."""
        check_is_fitted(self, "_native")
        images = [_image(image) for image in X]
        scores = self._native.scores(images, teller(self.progress)).reshape(len(images), -1)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def _predict(self, X):
        check_is_fitted(self, "_native")
        found = self._native.predict([_image(image) for image in X], teller(self.progress))
        if any(best < 0 for best, _ in found):
            raise ValueError("There are no classes: nothing was learned, or all was forgotten. Learn some images first.")
        return found

    def predict(self, X):
        """The best class of each image; of equal ones that with more training images."""
        return self.classes_[np.array([best for best, _ in self._predict(X)], dtype=int)]

    def confidence(self, X):
        """How likely the class predicted for each image is to be right, by images that were left out."""
        return np.array([sure for _, sure in self._predict(X)])

    def explain(self, image, classes=None):
        """Why classes got their scores for an image, the best first: all, or those that are told."""
        check_is_fitted(self, "_native")
        names = self._native.classes()
        wanted = names if classes is None else [str(label) for label in classes]
        unknown = [name for name in wanted if name not in names]
        if unknown:
            raise ValueError(f"classes: expected some of {', '.join(names)}, found {', '.join(unknown)}")
        explained = self._native.explain(_image(image), [names.index(name) for name in wanted])

        def piece(kind, position, matched, value):
            return Piece(kind, position, None if matched is None else Matched(*matched), value)

        made = [
            Explanation(self._labels.get(name, name), score, term, whole, [piece(*own) for own in pieces])
            for name, score, term, whole, pieces in explained
        ]
        return sorted(made, key=lambda explanation: -explanation.score)

    def forget(self, ids):
        """Forgets training images of these numbers; how many of them there were. Nothing of them is left in
        scores, but terms and confidence that were fitted with them stay."""
        check_is_fitted(self, "_native")
        return self._native.forget([int(number) for number in ids])

    def save(self, folder):
        """Writes a model that the program can open too."""
        check_is_fitted(self, "_native")
        self._native.save(Path(folder))

    @classmethod
    def load(cls, folder):
        """Opens a model that the program or ``save`` wrote. Its classes are texts; parameters of the
        estimator are the usual ones, and count when ``fit`` begins anew."""
        made = cls()
        made._native, made._labels = _native.Recogniser.load(Path(folder)), {}
        return made

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_native")

    def __getstate__(self):
        state = dict(super().__getstate__())
        if "_native" in state:
            with tempfile.TemporaryDirectory() as folder:
                model = Path(folder) / "model"
                self._native.save(model)
                state["_native"] = {str(file.relative_to(model)): file.read_bytes() for file in model.rglob("*") if file.is_file()}
        return state

    def __setstate__(self, state):
        super().__setstate__(state)
        if "_native" in state:
            with tempfile.TemporaryDirectory() as folder:
                for name, data in state["_native"].items():
                    file = Path(folder) / Path(name).name
                    file.write_bytes(data)
                self._native = _native.Recogniser.load(Path(folder))


def _image(image: Any) -> Any:
    """A path, or an array of 8 bits with three colours."""
    if isinstance(image, (str, os.PathLike)):
        return Path(image)
    if hasattr(image, "convert") and hasattr(image, "mode"):
        from PIL import Image, ImageOps

        image = ImageOps.exif_transpose(image)
        if "A" in image.getbands() or "transparency" in image.info:
            white = Image.new("RGBA", image.size, "white")
            image = Image.alpha_composite(white, image.convert("RGBA"))
        return np.ascontiguousarray(image.convert("RGB"))
    array = np.asarray(image)
    if array.dtype != np.uint8 or array.ndim not in (2, 3):
        expected = "a path, a picture of PIL or an array of uint8, (height, width, 3) or (height, width)"
        raise ValueError(f"image: expected {expected}, found one of {array.ndim} dimensions of {array.dtype}")
    if array.ndim == 2:
        array = np.repeat(array[:, :, None], 3, axis=2)
    return np.ascontiguousarray(array)
