"""Recognising images."""

import base64
import numbers
import operator
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._drawing import draw
from ._estimator import Estimator, lock_of, numbers_of, whole
from ._progress import teller


class Matched(NamedTuple):
    """The piece of a training image that a piece of an image was matched with.

    >>> import numpy as np
    >>> from tessera import CkmClassifier
    >>> poppy, cornflower = (np.full((64, 64, 3), colour, dtype=np.uint8) for colour in ([200, 30, 30], [40, 60, 200]))
    >>> flowers = CkmClassifier("colour", judge=False).fit([poppy, cornflower], ["poppy", "cornflower"])
    >>> matched = flowers.explain(poppy)[0].pieces[0].matched
    >>> matched.id, matched.name
    (0, '#0')
    """

    id: int
    """The number of the training image."""
    name: str
    """Its path as it was given, or ``#`` and its number."""
    position: tuple[float, float]
    """Where the piece is, in its own pixels: from the left, from the top."""


class Piece(NamedTuple):
    """A piece of an image and what it adds to a score.

    >>> import numpy as np
    >>> from tessera import CkmClassifier
    >>> poppy, cornflower = (np.full((64, 64, 3), colour, dtype=np.uint8) for colour in ([200, 30, 30], [40, 60, 200]))
    >>> flowers = CkmClassifier("colour", judge=False).fit([poppy, cornflower], ["poppy", "cornflower"])
    >>> piece = flowers.explain(poppy)[0].pieces[0]
    >>> piece.kind, piece.value > 0
    ('colour', True)
    """

    kind: str
    """What is compared: ``orb``, ``hog``, ``colour``, ``network``, or the name of a kind of your own."""
    position: tuple[float, float]
    """Where it is, in the image's own pixels: from the left, from the top."""
    matched: Matched | None
    """What it was matched with."""
    value: float
    """What it adds to the score."""


class Explanation(NamedTuple):
    """Why a class got its score: the pieces, the term and the whole sum to it.

    >>> import numpy as np
    >>> from tessera import CkmClassifier
    >>> poppy, cornflower = (np.full((64, 64, 3), colour, dtype=np.uint8) for colour in ([200, 30, 30], [40, 60, 200]))
    >>> flowers = CkmClassifier("colour", judge=False).fit([poppy, cornflower], ["poppy", "cornflower"])
    >>> best, second = flowers.explain(poppy)
    >>> print(best.label, best.score > second.score)
    poppy True
    """

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


class OwnKind(NamedTuple):
    """A kind of elements of your own, with its leaf kernel: how alike two elements are and how near to each other.

    Examples
    --------
    >>> from tessera import CkmClassifier, OwnElements, OwnKind
    >>> kind = OwnKind("stain", dimension=2, rho=0.5)
    >>> places = [[10, 12], [80, 31]]
    >>> oak, elm = (OwnElements((100, 100), [(places, values)]) for values in ([[0.9, 0.1]] * 2, [[0.2, 0.7]] * 2))
    >>> trees = CkmClassifier(kind, judge=False).fit([oak, elm], ["oak", "elm"])
    >>> print(*trees.predict([OwnElements((100, 100), [(places, [[0.8, 0.2]] * 2)])]))
    oak
    """

    name: str
    """1 to 32 lowercase letters, digits, ``-`` and ``_``."""
    dimension: int = 0
    """Values of a vector, compared by Euclidean distance; 0 for binary descriptors of up to 256 bits, by Hamming's."""
    low: float = 0.0
    """The least value of vectors; what is below counts as this."""
    high: float = 1.0
    """The largest."""
    rho: float = 110.0
    """The distance of features from which on two elements are not alike at all."""
    cost: float = 0.3
    """What lying far apart costs."""
    reach: float = 40.0
    """The distance, where ``side`` is the longer side, from which on all of that is to be paid."""
    pair_bonus: float = 0.1
    """What neighbours that come from one training image earn."""
    weight: float = 1.0
    """How much the kind counts."""


class OwnElements(NamedTuple):
    """An image as elements of your own.

    >>> import numpy as np
    >>> from tessera import CkmClassifier, OwnElements, OwnKind
    >>> places = [[start, 0] for start in range(0, 60, 10)]
    >>> notes = [OwnElements((60, 1), [(places, np.full((6, 1), bits, dtype=np.uint8))]) for bits in [0b1010, 0b0101]]
    >>> tunes = CkmClassifier(OwnKind("note", rho=4), judge=False)
    >>> print(*tunes.fit(notes, ["up", "down"]).predict(notes))
    up down
    """

    size: tuple[int, int]
    """Width and height, in the unit of the positions."""
    parts: Sequence[tuple[Any, Any]]
    """For each kind the positions, rows of x and y, and the features, a row each: numbers, or bytes of a binary kind."""


class Picture:
    """A picture of why a class won, which notebooks show.

    The best training images for it are framed in a colour each, and lines of that colour join the pieces that decide
    with those of the image.

    >>> import numpy as np
    >>> from tessera import CkmClassifier
    >>> poppy, cornflower = (np.full((64, 64, 3), colour, dtype=np.uint8) for colour in ([200, 30, 30], [40, 60, 200]))
    >>> flowers = CkmClassifier("colour", judge=False).fit([poppy, cornflower], ["poppy", "cornflower"])
    >>> picture = flowers.picture(poppy, images={0: poppy})
    >>> picture.png[:4], picture.missing
    (b'\\x89PNG', 0)
    """

    def __init__(self, png: bytes, missing: int):
        self.png = png
        """The file's bytes."""
        self.missing = missing
        """Training images whose pictures were not there; their frames are empty."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a PNG file."""
        Path(path).write_bytes(self.png)

    def _repr_png_(self) -> str:
        return base64.b64encode(self.png).decode("ascii")


class _Model(NamedTuple):
    """What was learned, put in the place of what was before in one step."""

    native: Any
    labels: Mapping[str, Any]
    """The label of each class by its text; texts that are not there are the labels."""

    def sorted(self, names: Sequence[str]) -> tuple[Any, Any]:
        """The labels of classes, sorted, and the place among the names of each."""
        labels = np.array([self.labels.get(name, name) for name in names])
        order = np.argsort(labels, kind="stable")
        return labels[order], order

    def label(self, name: str) -> Any:
        return self.labels.get(name, name)


class CkmClassifier(ClassifierMixin, Estimator):
    """Recognises images from few examples, by compositional kernel machines over pieces of images.

    Images are paths, arrays of 8 bits, ``(height, width, 3)`` or ``(height, width)`` in grey, or
    pictures of PIL, or `OwnElements`. Training stores pieces: images are learned and forgotten one at a time, and the
    machine is then equal to one trained without them. Classes are texts or numbers, and are kept by their text.

    Parameters
    ----------
    elements : which pieces are compared: corners ``"orb"``, gradients ``"hog"``, ``"colour"``, all three
        ``"mixed"``, cells of a convolutional ``"network"``, or ``"all"``; or an `OwnKind`, or several, and images are
        then `OwnElements`. On photographs ``"network"`` and ``"all"`` are mostly far ahead; the network comes with the package.
    subject : what is in the images: single ``"object"``s, ``"scene"``s or ``"texture"``s.
    side : the longer side of an image as it is compared, 16 to 1024.
    decompositions : ways to compose an image of pieces that are tried, 1 to 1024.
    neighbours : neighbours that a piece may form a pair with, 0 to 64.
    search : what an image is compared with: ``"exact"`` all, ``"shortlist"`` the training images most
        like it, ``"index"`` pieces that an index finds, or by their number, ``"auto"``.
    weights : how much each piece of a training image counts: the same, ``"uniform"``, or as ``fit`` and ``calibrate``
        learn, ``"learned"``.
    judge : whether ``fit`` calibrates: it fits how much kinds of pieces count, terms of classes and the confidence, on
        training images that are left out with their objects, as the program does.
    random_state : the seed; a number gives the very model that the program trains with it.
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
        elements: Any = "mixed",
        *,
        subject: str = "object",
        side: int = 128,
        decompositions: int = 8,
        neighbours: int = 4,
        search: str = "auto",
        weights: str = "uniform",
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
        self.weights = weights
        self.judge = judge
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: Any, *, groups: Any = None, ids: Iterable[int] | None = None) -> "CkmClassifier":
        """Learns images from nothing. ``groups`` tells the object that each image shows, ``None`` or NaN where that
        is not known: images of one object do not judge each other. ``ids`` are their numbers, by
        default 0, 1 and so on. Refused or cancelled, it leaves all as it was."""
        with self._learning():
            seed = self._seed()
            model = self._learn(_Model(self._begin(seed), {}), X, y, groups, ids)
            if self.judge:
                self._calibrate(model.native, seed)
            self._model = model
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, *, groups: Any = None, ids: Iterable[int] | None = None
    ) -> "CkmClassifier":
        """Learns more images; an image with the number of an earlier one replaces it. Classes may be new;
        ``classes`` is not needed. Terms, kinds, weights and confidence stay as they are until ``calibrate``; images
        that are new have no learned weights. Refused or cancelled, it leaves all as it was."""
        with self._learning():
            model = self._model if hasattr(self, "_model") else _Model(self._begin(self._seed()), {})
            self._model = self._learn(model, X, y, groups, ids)
        return self

    def calibrate(self) -> "CkmClassifier":
        """Fits how much kinds of pieces count, the weights of pieces where they are ``"learned"``, terms of classes and
        the confidence, to the training images as they are now, each left out with its object. Cancelled, it leaves
        all as it was."""
        check_is_fitted(self)
        with self._learning():
            self._calibrate(self._model.native, self._seed())
        return self

    def _seed(self) -> int:
        rng = check_random_state(self.random_state)
        return operator.index(self.random_state) if isinstance(self.random_state, numbers.Integral) else int(rng.randint(2**31 - 1))

    def _begin(self, seed: int) -> Any:
        if self.weights not in ("uniform", "learned"):
            raise ValueError(f"weights: expected uniform or learned, found {self.weights}")
        kinds = [] if isinstance(self.elements, str) else [self.elements] if isinstance(self.elements, OwnKind) else list(self.elements)
        if not isinstance(self.elements, str) and not (kinds and all(isinstance(kind, OwnKind) for kind in kinds)):
            raise ValueError(f"elements: expected a name, an OwnKind or several, found {self.elements!r}")
        own = [
            (kind.name, (int(kind.dimension), kind.low, kind.high), [kind.rho, kind.cost, kind.reach, kind.pair_bonus, kind.weight])
            for kind in kinds
        ]
        side, decompositions = whole("side", self.side), whole("decompositions", self.decompositions)
        options = (side, decompositions, whole("neighbours", self.neighbours), self.search, seed)
        return _native.Recogniser("mixed" if own else self.elements, own, self.subject, *options)

    def _calibrate(self, native: Any, seed: int) -> None:
        native.judge(True, self.weights == "learned", seed, teller(self.progress))

    def _learn(self, model: _Model, X: Any, y: Any, groups: Any, ids: Iterable[int] | None) -> _Model:
        images = [_image(image) for image in several(X, "X")]
        y = column_or_1d(np.asarray(y))
        if len(y):
            check_classification_targets(y)
        objects = [None] * len(images) if groups is None else [_group(group) for group in groups]
        own = None if ids is None else numbers_of("ids", ids)
        for name, found in [("y", y), ("groups", objects), ("ids", own)]:
            if found is not None and len(found) != len(images):
                raise ValueError(f"{name}: expected {len(images)}, one for each image, found {len(found)}")
        if own is not None and len(set(own)) != len(own):
            raise ValueError("ids: expected a number for each image, found one twice")
        names = model.native.classes()
        labels = {name: model.labels[name] for name in names if name in model.labels}
        known = {model.label(name) for name in names}
        texts = {label: text for text, label in labels.items()}
        are_texts = {isinstance(label, str) for label in known}
        for label in y:
            if are_texts and isinstance(label, str) not in are_texts:
                expected, other = ("texts", "numbers") if True in are_texts else ("numbers", "texts")
                raise ValueError(f"y: expected {expected} as classes, as before, found {other} such as {label!r}")
            are_texts.add(isinstance(label, str))
            text = texts.setdefault(label, str(label))
            labels.setdefault(text, label)
        learned = _Model(model.native, labels)
        if hasattr(self, "_model") and self._model.native is model.native:
            # Whoever asks meanwhile may be answered by the machine that knows them.
            self._model = learned
        model.native.learn(images, own, [texts[label] for label in y], objects, teller(self.progress))
        return learned

    @property
    def classes_(self) -> Any:
        """The classes, sorted."""
        check_is_fitted(self)
        model = self._model
        return model.sorted(model.native.classes())[0]

    @property
    def images_(self) -> list[tuple[int, str, Any]]:
        """The number, the name and the class of each training image. The name is its path as it was given, or ``#``
        and its number."""
        check_is_fitted(self)
        model = self._model
        return [(number, name, model.label(text)) for number, name, text in model.native.images()]

    @property
    def kind_weights_(self) -> dict[str, float]:
        """How much each kind of pieces counts."""
        check_is_fitted(self)
        return dict(self._model.native.weights())

    @property
    def search_(self) -> str:
        """What an image is compared with now: ``exact``, ``shortlist`` or ``index``."""
        check_is_fitted(self)
        return self._model.native.search()[1]

    @property
    def held_out_accuracy_(self) -> float | None:
        """The accuracy on training images left out with their objects; ``None`` where none was measured."""
        check_is_fitted(self)
        return self._model.native.accuracy()

    def decision_function(self, X: Any) -> Any:
        """The score of each class for each image; with two classes how much larger that of the second is."""
        check_is_fitted(self)
        model = self._model
        names, scores = model.native.scores([_image(image) for image in several(X, "X")], teller(self.progress))
        scores = scores.reshape(-1, len(names))[:, model.sorted(names)[1]] if names else scores.reshape(-1, 0)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def _predict(self, X: Any) -> tuple[Any, Any, int]:
        check_is_fitted(self)
        model = self._model
        names, found, judged = model.native.predict([_image(image) for image in several(X, "X")], teller(self.progress))
        if any(best < 0 for best, _ in found):
            raise ValueError("There are no classes: nothing was learned, or all was forgotten. Learn some images first.")
        labels = np.array([model.label(name) for name in names])
        return labels[np.array([best for best, _ in found], dtype=int)], np.array([sure for _, sure in found]), judged

    def predict(self, X: Any) -> Any:
        """The best class of each image; of equal ones that with more training images."""
        return self._predict(X)[0]

    def confidence(self, X: Any) -> Any:
        """How likely the class predicted for each image is to be right, by images that were left out; ``ValueError``
        where none were."""
        _, sure, judged = self._predict(X)
        if not judged:
            raise ValueError(
                "There is no confidence: no image was left out and judged. Call `calibrate`, or `fit` with `judge=True`, "
                "with two objects of a class or more."
            )
        return sure

    def explain(self, image: Any, classes: Any = None) -> list[Explanation]:
        """Why classes got their scores for an image, the best first: all, or those that are told."""
        check_is_fitted(self)
        model = self._model
        explained = model.native.explain(_image(image), self._texts(model, classes), teller(self.progress))

        def piece(kind: str, position: Any, matched: Any, value: float) -> Piece:
            return Piece(kind, position, None if matched is None else Matched(*matched), value)

        made = [
            Explanation(model.label(name), score, term, whole, [piece(*own) for own in pieces])
            for name, score, term, whole, pieces in explained
        ]
        return sorted(made, key=lambda explanation: -explanation.score)

    def picture(self, image: Any, classes: Any = None, *, images: Mapping[int, Any] | None = None) -> Picture:
        """Why the best class won over the second, as a picture that notebooks show; or the better of two classes that
        are told, or one of them alone. Training images are read from their files; ``images`` has those of others, by
        their numbers, for pixels are not kept. Needs Pillow."""
        explained, known = self.explain(image, classes), dict(images or {})

        def find(matched: Matched) -> Any:
            try:
                return _opened(known[matched.id] if matched.id in known else matched.name)
            except OSError:
                return None

        return Picture(*draw(_opened(image), explained, find))

    @staticmethod
    def _texts(model: _Model, classes: Any) -> list[str] | None:
        texts = {label: text for text, label in model.labels.items()}
        return None if classes is None else [texts.get(label, str(label)) for label in classes]

    def forget(self, ids: Iterable[int]) -> int:
        """Forgets training images of these numbers; how many of them there were. Nothing of them is left in
        scores, but terms, kinds, weights and confidence that were fitted with them stay until ``calibrate``."""
        check_is_fitted(self)
        with lock_of(self):
            return self._model.native.forget(numbers_of("ids", ids))

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes a model that the program can open too."""
        check_is_fitted(self)
        self._model.native.save(Path(folder))

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> "CkmClassifier":
        """Opens a model that the program or ``save`` wrote. Its classes are texts, and so are those that it learns from
        then on. Parameters of the estimator but ``search`` are the usual ones, and count when ``fit`` begins anew. What
        an image is compared with follows the number of images where the model did as ``"auto"`` would."""
        native = _native.Recogniser.load(Path(folder), None)
        made = cls(search=native.search()[0])
        made._model = _Model(native, {})
        return made

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __getstate__(self) -> dict[str, Any]:
        with lock_of(self):
            state = super().__getstate__()
            if "_model" in state:
                native, labels = state["_model"]
                with tempfile.TemporaryDirectory() as folder:
                    model = Path(folder) / "model"
                    native.save(model)
                    files = {str(file.relative_to(model)): file.read_bytes() for file in model.rglob("*") if file.is_file()}
                state["_model"] = (files, native.search()[0], labels)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_model" in state:
            files, search, labels = state["_model"]
            with tempfile.TemporaryDirectory() as folder:
                for name, data in files.items():
                    file = Path(folder) / Path(name).name
                    file.write_bytes(data)
                self._model = _Model(_native.Recogniser.load(Path(folder), search), labels)


def _group(group: Any) -> str | None:
    """The object of an image, where it is known."""
    # Nothing equals NaN, and `pandas.NA` has no answer.
    is_unknown = group is None or type(group).__name__ in ("NAType", "NaTType") or group != group
    return None if is_unknown else str(group)


def _opened(image: Any) -> Any:
    """A picture of PIL."""
    from PIL import Image, ImageOps

    if isinstance(image, (str, os.PathLike)):
        with Image.open(image) as opened:
            return ImageOps.exif_transpose(opened).convert("RGB")
    if isinstance(image, OwnElements):
        raise ValueError("image: expected a path, pixels or a picture, for that is drawn, found elements of your own")
    return Image.fromarray(_image(image))


def several(X: Any, name: str) -> list[Any]:
    """Each of several images. One alone is refused: taken apart it would be others."""
    is_path = isinstance(X, (str, os.PathLike, OwnElements)) or (hasattr(X, "convert") and hasattr(X, "mode"))
    is_picture = isinstance(X, np.ndarray) and (X.ndim == 2 or (X.ndim == 3 and X.shape[-1] == 3)) and X.dtype == np.uint8
    if is_path or is_picture:
        raise ValueError(f"{name}: expected several images, such as a list of them, found one; put it in a list")
    return list(X)


def _image(image: Any) -> Any:
    """A path, an array of 8 bits with three colours, or elements with their size."""
    if isinstance(image, OwnElements):
        width, height = image.size
        return (int(width), int(height)), [_part(*part) for part in image.parts]
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


def _part(positions: Any, values: Any) -> tuple[Any, Any]:
    places, found = np.ascontiguousarray(positions, dtype=np.float32).reshape(-1, 2), np.asarray(values)
    if found.ndim != 2 or len(found) != len(places):
        raise ValueError(f"parts: expected {len(places)} rows of features, one for each position, found an array of {found.shape}")
    return places, np.ascontiguousarray(found, dtype=np.uint8 if found.dtype == np.uint8 else np.float32)
