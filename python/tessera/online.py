"""Classes learned online."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._estimator import Classes, Fitted, NativeEstimator, checked_examples, checked_rows, whole
from ._progress import teller

Learner = TypeVar("Learner", bound="_RowByRow")


class _RowByRow(ClassifierMixin, NativeEstimator):
    """Learns classes one row after another; subclasses make what learns."""

    scale: Any
    max_iter: int
    shuffle: bool
    random_state: Any

    def _native_of(self, columns: int, scale: float, seed: int) -> Any:
        raise NotImplementedError

    def fit(self: Learner, X: Any, y: Any) -> Learner:
        """Learns the rows of ``X`` from nothing. Refused or cancelled, it leaves all as it was."""
        if whole("max_iter", self.max_iter) < 1:
            raise ValueError(f"max_iter: expected 1 or more, found {self.max_iter}")
        with self._learning():
            rows, y, max_norm = checked_examples(self, X, y, reset=True)
            native, rng = self._begin(rows, max_norm)
            classes = Classes().joined(y)
            numbers = classes.of(y)
            for _ in range(self.max_iter):
                order = rng.permutation(len(rows)) if self.shuffle else slice(None)
                native.learn(*_parts(rows[order], numbers[order]), len(classes), teller(self.progress))
            self._fitted = Fitted(native, classes)
            self.n_iter_ = self.max_iter
        return self

    def partial_fit(self: Learner, X: Any, y: Any, classes: Any = None) -> Learner:
        """Goes on with the rows of ``X``, in their order. ``classes`` that are told at any time are
        known from then on; others become known by their first row. Cancelled, it keeps what was
        learned until then, and the classes of all rows; refused, it leaves all as it was."""
        with self._learning() as keep:
            is_first = not hasattr(self, "_fitted")
            rows, y, max_norm = checked_examples(self, X, y, reset=is_first)
            native, known, _ = Fitted(self._begin(rows, max_norm)[0], Classes()) if is_first else self._fitted
            if classes is not None:
                known = known.joined(np.asarray(classes))
            known = known.joined(y)
            try:
                native.learn(*_parts(rows, known.of(y)), len(known), teller(self.progress))
            finally:
                if native.known():
                    self._fitted = Fitted(native, known.first(native.known()))
                    keep()
        return self

    def _begin(self, rows: Any, max_norm: float | None) -> tuple[Any, Any]:
        rng = check_random_state(self.random_state)
        scale = self.scale
        if scale is None:
            scale = _native.max_norm(rows) if max_norm is None else max_norm
        native = self._native_of(rows.shape[1], float(scale), int(rng.randint(2**31 - 1)))
        self.scale_ = float(scale)
        return native, rng

    def _asked(self, X: Any) -> tuple[Fitted, Any]:
        """What is asked, as it is now, and the rows."""
        check_is_fitted(self)
        fitted = self._fitted
        return fitted, checked_rows(self, X)

    @property
    def n_mistakes_(self) -> int:
        """How many rows were guessed wrongly before they were learned."""
        if not hasattr(self, "_fitted"):
            raise AttributeError("n_mistakes_: there are none before something is learned")
        return self._fitted.native.mistakes()


def _parts(rows: Any, numbers: Any) -> tuple[Any, Any]:
    return np.ascontiguousarray(rows), np.ascontiguousarray(numbers, dtype=np.int64)


class OnlineClassifier(_RowByRow):
    """Learns classes one row after another, new ones at any time, by contextual search: a total
    loss that depends neither on margins nor on the number of rows; or by classical rules.

    Each row is first guessed and then learned; ``n_mistakes_`` counts wrong guesses. Rows are
    divided by ``scale``, and what is still longer than 1 is shortened to that.

    Contextual search, which ``"served"`` runs too, keeps a region for each two classes: it is for some dozens of classes and
    columns. 500 rows of 64 columns and 400 classes took 17 s, ``"averaged"`` 0.01 s. No learner takes more than 1,024 classes.

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

    def _native_of(self, columns: int, scale: float, seed: int) -> Any:
        return _native.Online(
            columns,
            self.learner,
            self.metric,
            float(self.loss_power),
            self.margin,
            self.update,
            self.guard,
            float(self.aggressiveness),
            float(self.ridge),
            scale,
            seed,
        )

    def decision_function(self, X: Any) -> Any:
        """The score of each class for each row; with two classes how much larger that of the second is.
        Of contextual search twice the chance with which it guesses the class, and as a share of 1 how
        far pairs of classes favour it; scores of other learners have other units."""
        fitted, rows = self._asked(X)
        scores, count = fitted.native.scores(rows, teller(self.progress))
        scores = scores.reshape(len(rows), count)[:, fitted.classes.numbers]
        return scores[:, 1] - scores[:, 0] if len(fitted.classes) == 2 else scores

    def predict(self, X: Any) -> Any:
        """The class of the largest score for each row."""
        fitted, rows = self._asked(X)
        best = fitted.native.best(rows, fitted.classes.numbers.tolist(), teller(self.progress))
        return fitted.classes.names[best]


class AdviserMixtureClassifier(_RowByRow):
    """Learns classes one row after another, new ones at any time, by several advisers and a mixture of what they
    say (expert advice): never much worse than the best of them, whichever that is.

    Each row is first guessed and then learned; ``n_mistakes_`` counts wrong guesses. Rows are divided by ``scale``,
    and what is still longer than 1 is shortened to that. Advisers by neighbours keep all rows, and an answer takes
    a time that grows with them: this is for some thousands of rows, as labels come in by hand.

    Parameters
    ----------
    advisers : some of ``"nearest"``, the nearest row of each class, ``"contextual"``, contextual search or the averaged
        Perceptron over a projection, ``"neighbours"``, a vote of the five nearest rows, ``"local-means"``, the mean of
        the three nearest rows of each class, ``"pa"``, passive-aggressive, ``"perceptron"`` and ``"second-order"``.
        Contextual search learns the first 64 classes.
    scale : what rows are divided by; ``None``: the greatest length of the first rows learned.
    max_iter : how often ``fit`` goes through all rows.
    shuffle : whether ``fit`` goes through them in random order.
    random_state : the seed.
    progress : a callable of stage, steps done and steps in all, or a bar of tqdm.

    Examples
    --------
    >>> from tessera import AdviserMixtureClassifier
    >>> mixture = AdviserMixtureClassifier(["nearest", "perceptron"], random_state=0)
    >>> rows, fruit = [[0.0, 1.0], [1.0, 0.0]] * 20, ["lime", "plum"] * 20
    >>> mixture = mixture.partial_fit(rows, fruit).partial_fit([[-1.0, -1.0]] * 5, ["fig"] * 5)
    >>> print(*mixture.predict([[0.1, 0.9], [0.9, 0.1], [-0.9, -0.9]]))
    lime plum fig
    >>> mixture.trust_["nearest"] > mixture.trust_["perceptron"]
    True
    """

    _native_kind = _native.Advisers

    def __init__(
        self,
        advisers: Sequence[str] = ("contextual", "pa", "nearest"),
        *,
        scale: float | None = None,
        max_iter: int = 1,
        shuffle: bool = True,
        random_state: Any = None,
        progress: Any = None,
    ):
        self.advisers = advisers
        self.scale = scale
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.progress = progress

    def _native_of(self, columns: int, scale: float, seed: int) -> Any:
        advisers = [self.advisers] if isinstance(self.advisers, str) else list(self.advisers)
        return _native.Advisers(columns, advisers, scale, seed)

    def predict_proba(self, X: Any) -> Any:
        """The chance of each class for each row, by the adviser or the mixture that suggests; 0 for classes that no row
        was of."""
        fitted, rows = self._asked(X)
        _, chances, count = fitted.native.advise(rows, teller(self.progress))
        chances = chances.reshape(len(rows), count)[:, fitted.classes.numbers]
        return chances / chances.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> Any:
        """The class that is suggested for each row."""
        fitted, rows = self._asked(X)
        suggested, chances, count = fitted.native.advise(rows, teller(self.progress))
        places = np.full(count, -1)
        places[fitted.classes.numbers] = np.arange(len(fitted.classes))
        best = np.where(suggested < 0, -1, places[suggested])
        # None, or a class that came meanwhile.
        best = np.where(best < 0, chances.reshape(len(rows), count)[:, fitted.classes.numbers].argmax(axis=1), best)
        return fitted.classes.names[best]

    @property
    def trust_(self) -> dict[str, float]:
        """How much the mixture trusts each adviser: 1 in all."""
        check_is_fitted(self)
        return dict(self._fitted.native.trust())
