"""Classes learned online."""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _native
from ._classes import KnownClasses
from ._pickling import PickledNative
from ._progress import teller


class OnlineClassifier(KnownClasses, ClassifierMixin, PickledNative):
    """Learns classes one row after another, new ones at any time, by contextual search: a total
    loss that depends neither on margins nor on the number of rows; or by classical rules.

    Each row is first guessed and then learned; ``n_mistakes_`` counts wrong guesses. Rows are
    divided by ``scale``, and what is still longer than 1 is shortened to that.

    Parameters
    ----------
    learner : ``"ellipsoid"``, contextual search, which trusts that every label is that of the
        nearest of some centres; ``"polytope"``, the same with fewer mistakes in a few dimensions, up
        to 32; ``"served"``, for labels that may contradict each other: contextual search or the
        averaged Perceptron, whichever erred less so far; ``"perceptron"``, ``"averaged"``,
        ``"crammer-singer"``, ``"passive-aggressive"`` or ``"second-order"``.
    metric : how a row is near to a centre: ``"l2"``, ``"inner"``, or ``"lp:P"`` with P even, 2 to 16.
    loss_power : a mistake costs how much nearer the right centre is, to this power.
    margin : how much nearer the right centre always is, where that is known; with ``"inner"`` alone.
    update : which pairs of classes a label teaches: ``"all"`` that have it, or that of the ``"guess"``.
    guard : the scale, 0 to 60, from which on a mistake is taken for a contradiction; ``None``: none,
        for ``"served"`` 4.
    aggressiveness : the longest step of ``"passive-aggressive"``.
    ridge : what ``"second-order"`` starts its correlations with.
    scale : what rows are divided by; ``None``: the greatest length of the first rows learned.
    max_iter : how often ``fit`` goes through all rows.
    shuffle : whether ``fit`` goes through them in random order.
    random_state : the seed.
    progress : a callable of stage, steps done and steps in all, or a bar of tqdm.

    Examples
    --------
    >>> from tessera import OnlineClassifier
    >>> learner = OnlineClassifier(random_state=0)
    >>> rows, fruit = [[0.0, 1.0], [1.0, 0.0]] * 20, ["lime", "plum"] * 20
    >>> learner = learner.partial_fit(rows, fruit)
    >>> learner = learner.partial_fit([*rows[:2], [-1.0, -1.0]] * 20, ["lime", "plum", "fig"] * 20)
    >>> print(*learner.predict([[0.1, 0.9], [0.9, 0.1], [-0.9, -0.9]]))
    lime plum fig
    """

    _native_kind = _native.Online

    def __init__(
        self,
        learner: str = "served",
        *,
        metric: str = "l2",
        loss_power: float = 1.0,
        margin: float | None = None,
        update: str = "all",
        guard: int | None = None,
        aggressiveness: float = 1.0,
        ridge: float = 1.0,
        scale: float | None = None,
        max_iter: int = 1,
        shuffle: bool = True,
        random_state: Any = None,
        progress: Any = None,
    ):
        self.learner = learner
        self.metric = metric
        self.loss_power = loss_power
        self.margin = margin
        self.update = update
        self.guard = guard
        self.aggressiveness = aggressiveness
        self.ridge = ridge
        self.scale = scale
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.progress = progress

    def fit(self, X, y):
        """Learns the rows of ``X`` from nothing."""
        if self.max_iter < 1:
            raise ValueError(f"max_iter: expected 1 or more, found {self.max_iter}")
        rows, y = validate_data(self, X, y, dtype=np.float64, order="C")
        check_classification_targets(y)
        self._forget_classes()
        rng = self._begin(rows)
        numbers = self._number(y)
        for _ in range(self.max_iter):
            order = rng.permutation(len(rows)) if self.shuffle else slice(None)
            self._learn(rows[order], numbers[order])
        self.n_iter_ = self.max_iter
        return self

    def partial_fit(self, X, y, classes=None):
        """Goes on with the rows of ``X``, in their order. ``classes`` that are told at any time are
        known from then on; others become known by their first row. Cancelled, it keeps what was
        learned until then."""
        is_first = not hasattr(self, "_native")
        rows, y = validate_data(self, X, y, dtype=np.float64, order="C", reset=is_first)
        check_classification_targets(y)
        if is_first:
            self._begin(rows)
        if classes is not None:
            self._number(np.asarray(classes))
        self._learn(rows, self._number(y))
        return self

    def _begin(self, rows):
        rng = check_random_state(self.random_state)
        scale = self.scale
        if scale is None:
            greatest = np.abs(rows).max()
            scale = greatest * np.sqrt(((rows / greatest) ** 2).sum(axis=1).max()) if greatest > 0 else 1.0
        self._native = _native.Online(
            rows.shape[1],
            self.learner,
            self.metric,
            float(self.loss_power),
            self.margin,
            self.update,
            self.guard,
            float(self.aggressiveness),
            float(self.ridge),
            float(scale),
            int(rng.randint(2**31 - 1)),
        )
        self.scale_ = float(scale)
        self.n_mistakes_ = 0
        return rng

    def _learn(self, rows, numbers):
        told = teller(self.progress)
        numbers = np.ascontiguousarray(numbers, dtype=np.int64)
        self.n_mistakes_ += self._native.learn(np.ascontiguousarray(rows), numbers, len(self.classes_), told)

    def _scores(self, X):
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        scores = self._native.scores(rows, teller(self.progress)).reshape(len(rows), len(self.classes_))
        return scores[:, self._numbers]

    def decision_function(self, X):
        """The score of each class for each row; with two classes how much larger that of the second is.
        Of contextual search twice the chance with which it guesses the class, and as a share of 1 how
        far pairs of classes favour it; scores of other learners have other units."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X):
        """The class of the largest score for each row."""
        best = self._scores(X).argmax(axis=1)
        return self.classes_[best]
