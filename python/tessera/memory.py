"""Memory trees."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _native
from ._classes import KnownClasses
from ._pickling import PickledNative
from ._progress import teller


class MemoryTreeClassifier(KnownClasses, ClassifierMixin, PickledNative):
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
    _several: bool
    _columns: int
    _next: int

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

    def fit(self, X, y):
        """Remembers the rows of ``X``, and nothing from before."""
        return self._learn(X, y, None, True)

    def partial_fit(self, X, y, classes=None):
        """Remembers the rows of ``X`` too; labels may be new, and arrays of labels may have new columns.
        Cancelled, it keeps what was learned until then."""
        return self._learn(X, y, classes, not hasattr(self, "_native"))

    def _learn(self, X, y, classes, is_new):
        X, y = validate_data(
            self, X, y, dtype=np.float32, accept_sparse="csr", multi_output=True, reset=is_new, ensure_min_features=1
        )
        check_classification_targets(y)
        several = type_of_target(y) == "multilabel-indicator" or (not is_new and self._several and np.ndim(y) == 2)
        if not several:
            if np.ndim(y) > 1 and y.shape[1] > 1:
                raise ValueError("y: expected one class for each row, or 0 and 1 for each label, found several columns of classes")
            y = column_or_1d(y, warn=True)
        if is_new:
            self._forget_classes()
            self._begin(several)
        elif several != self._several:
            raise ValueError("y: expected one class for each row or several labels, as before, found the other")
        if several:
            y = csr_array(y)
            self._columns = max(self._columns, y.shape[1])
            self.classes_ = np.arange(self._columns)
            y.eliminate_zeros()
            y.sort_indices()
            ends, labels = y.indptr, y.indices
        else:
            if classes is not None:
                self._number(np.asarray(classes))
            labels = self._number(y)
            ends = np.arange(len(labels) + 1)
        first, self._next = self._next, self._next + X.shape[0]
        parts = (*_parts(X), ends.astype(np.int64), labels.astype(np.int64))
        self._native.learn(first, *parts, int(self.n_passes), teller(self.progress))
        return self

    def _begin(self, several):
        if self.n_passes < 0:
            raise ValueError(f"n_passes: expected 0 or more, found {self.n_passes}")
        for name in ["n_trees", "n_leaves"]:
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: expected 1 or more, found {getattr(self, name)}")
        self._several, self._columns, self._next = several, 0, 0
        self._native = _native.MemoryTree(
            several,
            int(self.n_trees),
            float(self.alpha),
            float(self.leaf_factor),
            int(self.n_reroutes),
            float(self.router_rate),
            float(self.scorer_rate),
            float(self.label_rate),
            self.similarity,
            bool(self.learn_scorer),
            int(check_random_state(self.random_state).randint(2**31 - 1)),
        )

    def _rows(self, X):
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float32, accept_sparse="csr", reset=False)

    def predict(self, X):
        """The class of each row; with several labels 0 or 1 for each row and label."""
        X = self._rows(X)
        labels, counts = self._native.predict(*_parts(X), int(self.n_leaves), teller(self.progress))
        if self._several:
            holds = np.zeros((X.shape[0], self._columns), dtype=np.int64)
            holds[np.repeat(np.arange(X.shape[0]), counts), labels] = 1
            return holds
        if not counts.all():
            raise ValueError("There are no memories left: all were forgotten. Learn some first.")
        return self.classes_[np.argsort(self._numbers)][labels]

    def recall(self, X, n_memories: int = 5):
        """Scores of the best memories for each row, best first, and their numbers in the order of
        learning: a list of arrays each, for a leaf may have fewer."""
        found = self._native.recall(*_parts(self._rows(X)), int(n_memories), int(self.n_leaves), teller(self.progress))
        scores, numbers, counts = found
        ends = np.cumsum(counts)[:-1]
        return np.split(scores, ends), np.split(numbers, ends)

    def forget(self, memories):
        """Forgets memories of these numbers; how many of them there were. What trees and functions have
        learned from them stays."""
        check_is_fitted(self)
        return self._native.forget([int(number) for number in memories])

    @property
    def n_memories_(self):
        """How many memories there are."""
        check_is_fitted(self)
        return self._native.size()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags


def _parts(X) -> tuple[Any, Any, Any]:
    X = csr_array(X)
    return X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data.astype(np.float32, copy=False)
