"""Memory trees."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _native
from ._estimator import Classes, Fitted, NativeEstimator, lock_of, numbers_of, whole
from ._progress import teller


class MemoryTreeClassifier(ClassifierMixin, NativeEstimator):
    """Remembers rows and answers with the class of the best memory, which trees that learn from
    rewards find in logarithmic time; for many classes with few rows each, and for sparse rows.

    Where ``y`` is an array of rows of 0 and 1, memories have several labels: trees find few that
    may hold, and a linear function for each decides.

    Values are rounded to 32 bits. One seed gives one answer on any number of threads.

    Parameters
    ----------
    n_trees : trees that share the memories, 1 to 64.
    n_leaves : how many leaves are searched for an answer, for each tree.
    n_passes : how often memories are asked for and the answers rewarded, after they are inserted.
        A memory may then be its own answer; with one class each that can do harm: on images of digits
        0.95 of the answers are right without passes, 0.88 with one.
    alpha : how much the balance of a tree counts beside its routers, above 0, at most 1.
    leaf_factor : a leaf holds so many times log2 of the number of memories.
    n_reroutes : memories that are moved to where they belong by now, for each step.
    router_rate, scorer_rate, label_rate : how fast routers, the scorer of memories and the functions of
        labels learn, above 0, at most 100.
    similarity : what scores start from, ``"cosine"`` or ``"euclidean"``.
    learn_scorer : whether the scorer learns from rewards; with several labels it never does.
    random_state : the seed.
    progress : a callable of stage, steps done and steps in all, or a bar of tqdm.

    Examples
    --------
    >>> from tessera import MemoryTreeClassifier
    >>> memory = MemoryTreeClassifier(random_state=0).fit([[1, 0, 0], [0, 1, 0]], ["truck", "boat"])
    >>> memory = memory.partial_fit([[0, 0, 1]], ["plane"])
    >>> print(*memory.predict([[0, 0.2, 0.9], [0.8, 0.1, 0]]))
    plane truck
    """

    _native_kind = _native.MemoryTree

    def __init__(
        self,
        n_trees: int = 1,
        *,
        n_leaves: int = 1,
        n_passes: int = 0,
        alpha: float = 0.9,
        leaf_factor: float = 4.0,
        n_reroutes: int = 5,
        router_rate: float = 0.5,
        scorer_rate: float = 0.1,
        label_rate: float = 0.5,
        similarity: str = "cosine",
        learn_scorer: bool = True,
        random_state: Any = None,
        progress: Any = None,
    ):
        self.n_trees = n_trees
        self.n_leaves = n_leaves
        self.n_passes = n_passes
        self.alpha = alpha
        self.leaf_factor = leaf_factor
        self.n_reroutes = n_reroutes
        self.router_rate = router_rate
        self.scorer_rate = scorer_rate
        self.label_rate = label_rate
        self.similarity = similarity
        self.learn_scorer = learn_scorer
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: Any) -> "MemoryTreeClassifier":
        """Remembers the rows of ``X``, and nothing from before. Refused or cancelled, it leaves all as it was."""
        return self._learn(X, y, None, True)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> "MemoryTreeClassifier":
        """Remembers the rows of ``X`` too; labels may be new, and arrays of labels may have new columns.
        Cancelled, it keeps what was learned until then, and the classes of all rows; refused, it leaves all as it
        was."""
        return self._learn(X, y, classes, False)

    def _learn(self, X: Any, y: Any, classes: Any, is_fit: bool) -> "MemoryTreeClassifier":
        with self._learning() as keep:
            is_new = is_fit or not hasattr(self, "_fitted")
            X, y = validate_data(
                self, X, y, dtype=np.float32, accept_sparse="csr", multi_output=True, reset=is_new, ensure_min_features=1
            )
            check_classification_targets(y)
            several = type_of_target(y) == "multilabel-indicator" or (not is_new and self._fitted.several and np.ndim(y) == 2)
            if not several:
                if np.ndim(y) > 1 and y.shape[1] > 1:
                    raise ValueError("y: expected one class for each row, or 0 and 1 for each label, found several columns of classes")
                y = column_or_1d(y, warn=True)
            native, known, was_several = Fitted(self._begin(several), Classes(), several) if is_new else self._fitted
            if several != was_several:
                raise ValueError("y: expected one class for each row or several labels, as before, found the other")
            if several:
                y = csr_array(y, copy=True)
                if not np.isin(y.data, [0, 1]).all():
                    raise ValueError(f"y: expected 0 or 1 for each label, found {y.data[~np.isin(y.data, [0, 1])][0]}")
                y.sum_duplicates()
                y.eliminate_zeros()
                y.sort_indices()
                ends, labels, count = y.indptr, y.indices, y.shape[1]
            else:
                if classes is not None:
                    known = known.joined(np.asarray(classes))
                known = known.joined(y)
                labels, count = known.of(y), len(known)
                ends = np.arange(len(labels) + 1)
            parts = (_rows(X), ends.astype(np.int64), labels.astype(np.int64))
            try:
                native.learn(*parts, count, whole("n_passes", self.n_passes), teller(self.progress))
            except BaseException:
                if is_fit or not native.known():
                    raise
                self._fitted = Fitted(native, known.first(native.known()), several)
                keep()
                raise
            self._fitted = Fitted(native, known, several)
        return self

    def _begin(self, several: bool) -> Any:
        if self.n_passes < 0:
            raise ValueError(f"n_passes: expected 0 or more, found {self.n_passes}")
        for name in ["n_trees", "n_leaves"]:
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: expected 1 or more, found {getattr(self, name)}")
        return _native.MemoryTree(
            several,
            whole("n_trees", self.n_trees),
            float(self.alpha),
            float(self.leaf_factor),
            whole("n_reroutes", self.n_reroutes),
            float(self.router_rate),
            float(self.scorer_rate),
            float(self.label_rate),
            self.similarity,
            bool(self.learn_scorer),
            int(check_random_state(self.random_state).randint(2**31 - 1)),
        )

    def _asked(self, X: Any) -> tuple[Fitted, Any]:
        check_is_fitted(self)
        fitted = self._fitted
        return fitted, validate_data(self, X, dtype=np.float32, accept_sparse="csr", reset=False)

    def predict(self, X: Any) -> Any:
        """The class of each row; with several labels 0 or 1 for each row and label."""
        (native, classes, several), X = self._asked(X)
        labels, counts = native.predict(_rows(X), whole("n_leaves", self.n_leaves), teller(self.progress))
        if several:
            holds = np.zeros((X.shape[0], native.known()), dtype=np.int64)
            holds[np.repeat(np.arange(X.shape[0]), counts), labels] = 1
            return holds
        if not counts.all():
            raise ValueError("There are no memories left: all were forgotten. Learn some first.")
        if labels.max(initial=0) >= len(classes):
            # Memories of a class that came meanwhile: whoever learns them has not ended.
            with lock_of(self):
                pass
            return self.predict(X)
        return classes.names[np.argsort(classes.numbers)][labels]

    def recall(self, X: Any, n_memories: int = 5) -> tuple[list[Any], list[Any]]:
        """Scores of the best memories for each row, best first, and their numbers in the order of
        learning: a list of arrays each, for a leaf may have fewer."""
        (native, _, _), X = self._asked(X)
        scores, numbers, counts = native.recall(_rows(X), whole("n_memories", n_memories), whole("n_leaves", self.n_leaves), teller(self.progress))
        ends = np.cumsum(counts)[:-1]
        return np.split(scores, ends), np.split(numbers, ends)

    def forget(self, memories: Iterable[int]) -> int:
        """Forgets memories of these numbers; how many of them there were. What trees and functions have
        learned from them stays."""
        check_is_fitted(self)
        return self._fitted.native.forget(numbers_of("memories", memories))

    @property
    def n_memories_(self) -> int:
        """How many memories there are."""
        check_is_fitted(self)
        return self._fitted.native.size()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags


def _rows(X: Any) -> Any:
    """An array as it is, else where rows end, the columns of values, and these."""
    if isinstance(X, np.ndarray):
        return np.ascontiguousarray(X, dtype=np.float32)
    X = csr_array(X)
    return X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data.astype(np.float32, copy=False)
