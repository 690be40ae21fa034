"""Nearest neighbours."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._estimator import Estimator, about, centred_points, checked_points, shares_memory, whole
from ._progress import teller


class _Rows(NamedTuple):
    """What was fitted, put in the place of what was before in one step."""

    index: Any
    rows: Any
    """None where the index has them."""
    option: Any
    """What the index is built by when it is read again."""
    centre: Any
    """What was subtracted from the rows, or None."""


class _Neighbors(Estimator):
    """What is asked of fitted rows."""

    n_neighbors: int
    _fitted: _Rows

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")

    def _asked(self, X: Any, n_neighbors: int | None) -> tuple[Any, int, Any]:
        """The index, how many neighbours are asked for, and the queries; without ``X`` the fitted rows."""
        check_is_fitted(self)
        fitted = self._fitted
        k = whole("n_neighbors", self.n_neighbors if n_neighbors is None else n_neighbors)
        most = self.n_samples_fit_ - (X is None)
        if not 1 <= k <= most:
            raise ValueError(f"n_neighbors: expected 1 to {most}, found {k}")
        return fitted.index, k, self._queries(fitted, X)

    def _queries(self, fitted: _Rows, X: Any) -> Any:
        if X is None:
            return fitted.index.rows() if fitted.rows is None else fitted.rows
        return centred_points(self, X, fitted.centre, reset=False)[0]


class CoverTreeNeighbors(_Neighbors):
    """Exact nearest neighbours in Euclidean distance, by a cover tree; as ``NearestNeighbors``.

    Values are rounded to 32 bits, those of 64 bits around the middle of the fitted rows. Of equally near rows the lower
    one comes first.

    Parameters
    ----------
    n_neighbors : how many neighbours ``kneighbors`` finds unless it is told.
    radius : how far ``radius_neighbors`` looks unless it is told.
    base : the ratio of the radii of one level of the tree and the next, above 1, at most 16.
    progress : a callable of stage, steps done and steps in all, or a bar of tqdm.

    Examples
    --------
    >>> from tessera import CoverTreeNeighbors
    >>> distances, rows = CoverTreeNeighbors(n_neighbors=1).fit([[0.0], [4.0]]).kneighbors([[3.0]])
    >>> float(distances[0, 0]), int(rows[0, 0])
    (1.0, 1)
    """

    def __init__(self, n_neighbors: int = 5, radius: float = 1.0, *, base: float = 1.3, progress: Any = None):
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.base = base
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> "CoverTreeNeighbors":
        """Builds the tree of the rows of ``X``; ``y`` is not used. Refused or cancelled, it leaves all as it was."""
        with self._learning():
            rows, centre = centred_points(self, X, reset=True)
            base = float(self.base)
            self._fitted = _Rows(_native.CoverTree(rows, base, teller(self.progress)), None, base, centre)
            self.n_samples_fit_ = rows.shape[0]
        return self

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """Distances and rows of the nearest, ``(queries, n_neighbors)`` each; without ``X`` those
        of each fitted row among the others."""
        tree, k, queries = self._asked(X, n_neighbors)
        found = tree.nearest(queries, k + (X is None), teller(self.progress))
        distances, rows, counts = found
        if X is None:
            lists = [self._others(i, *lists) for i, lists in enumerate(_split(distances, rows, counts))]
            distances = np.array([own[:k] for own, _ in lists])
            rows = np.array([own[:k] for _, own in lists])
        else:
            distances, rows = distances.reshape(-1, k), rows.reshape(-1, k)
        return (distances, rows) if return_distance else rows

    def radius_neighbors(self, X: Any = None, radius: float | None = None, return_distance: bool = True) -> Any:
        """Distances and rows within ``radius``, an array of arrays each, nearest first."""
        check_is_fitted(self)
        fitted = self._fitted
        reach = self.radius if radius is None else radius
        if not reach >= 0:
            raise ValueError(f"radius: expected a number of 0 or more, found {reach}")
        lists = _split(*fitted.index.within(self._queries(fitted, X), float(reach), teller(self.progress)))
        if X is None:
            lists = [self._others(i, *lists) for i, lists in enumerate(lists)]
        distances, rows = np.empty(len(lists), dtype=object), np.empty(len(lists), dtype=object)
        for i, (own_distances, own_rows) in enumerate(lists):
            distances[i], rows[i] = own_distances, own_rows
        return (distances, rows) if return_distance else rows

    @staticmethod
    def _others(i: int, distances: Any, rows: Any) -> tuple[Any, Any]:
        return distances[rows != i], rows[rows != i]

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        if "_fitted" in state:
            tree, _, base, centre = state["_fitted"]
            state["_fitted"] = (tree.rows(), base, centre)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_fitted" in state:
            rows, base, centre = state["_fitted"]
            self._fitted = _Rows(_native.CoverTree(rows, base), None, base, centre)


class CandidateNeighbors(_Neighbors):
    """Most of the nearest neighbours, by trees that select the few rows to compare a query with; as
    ``NearestNeighbors``.

    Fitting finds the neighbours of all rows, which is worth it where rows are asked for often, and
    chooses the cheapest way of selection with the ``recall`` that is asked for: by up to 1,000 rows
    that are held back meanwhile, one of twenty at most, or by queries that are told. Half of them
    choose; ``recall_`` is the share of true neighbours found for the other half. Fewer than 2,000
    rows are all compared.

    Values are rounded to 32 bits, for Euclidean distances those of 64 bits around the middle of the fitted rows. One
    seed gives one answer on any number of threads.

    Parameters
    ----------
    n_neighbors : how many neighbours ``kneighbors`` finds unless it is told, and recall is of.
    recall : the share of true neighbours that is to be found, above 0, at most 1; where no way has it, the
        one that finds most is taken.
    metric : ``"euclidean"`` or ``"cosine"``, one minus the cosine of the angle.
    trees : how trees part space: at medians of random projections, ``"rp"``, of coordinates of much
        variance, ``"kd"``, of directions of most variance, ``"pca"``, of all coordinates in turn,
        ``"chronological"``, or as a ``"forest"`` that is trained on neighbours, along directions of some
        coordinates where it is ``"oblique"``.
    selection : ``"natural"``, by the probability to be a neighbour, ``"labels"``, all neighbours of the rows in
        the query's leaves, ``"voting"``, by the trees that have a row in the query's leaf, or ``"lookup"``, all of these.
    n_trees : how many trees are grown; as many as it takes are used.
    random_state : the seed.
    progress : a callable of stage, steps done and steps in all, or a bar of tqdm.

    Examples
    --------
    >>> import numpy as np
    >>> from tessera import CandidateNeighbors
    >>> rows = np.random.default_rng(0).standard_normal((3000, 8))
    >>> index = CandidateNeighbors(n_neighbors=5, recall=0.8, random_state=0).fit(rows)
    >>> distances, found = index.kneighbors(rows[:1])
    >>> int(found[0, 0]), found.shape, index.recall_ > 0.75, index.n_candidates_ < 1000
    (0, (1, 5), True, True)
    """

    def __init__(
        self,
        n_neighbors: int = 10,
        recall: float = 0.9,
        *,
        metric: str = "euclidean",
        trees: str = "rp",
        selection: str = "natural",
        n_trees: int = 50,
        random_state: Any = None,
        progress: Any = None,
    ):
        self.n_neighbors = n_neighbors
        self.recall = recall
        self.metric = metric
        self.trees = trees
        self.selection = selection
        self.n_trees = n_trees
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: Any = None, *, queries: Any = None) -> "CandidateNeighbors":
        """Builds the index of the rows of ``X``; ``y`` is not used. ``queries``, two or more, are like those
        that will be asked; without them rows are held back, and all is grown twice. Refused or cancelled, it leaves
        all as it was."""
        with self._learning():
            # An angle is that at 0.
            is_about = self.metric == "euclidean"
            rows, centre = centred_points(self, X, reset=True) if is_about else (checked_points(self, X, reset=True), None)
            if not 0 < self.recall <= 1:
                raise ValueError(f"recall: expected a number above 0 and at most 1, found {self.recall}")
            for name in ["n_neighbors", "n_trees"]:
                if whole(name, getattr(self, name)) < 1:
                    raise ValueError(f"{name}: expected 1 or more, found {getattr(self, name)}")
            rng = check_random_state(self.random_state)
            rest, none = None, np.empty((0, rows.shape[1]), dtype=np.float32)
            tuned, checked = none, none
            if len(rows) < 2000:
                pass
            elif queries is not None:
                queries = check_array(queries, dtype=[np.float64, np.float32], ensure_min_samples=2)
                if queries.shape[1] != rows.shape[1]:
                    raise ValueError(f"queries: expected rows of {rows.shape[1]} values, found {queries.shape[1]}")
                queries = check_array(about(queries, centre), dtype=np.float32)
                tuned, checked = queries[::2], queries[1::2]
            else:
                order, held = rng.permutation(len(rows)), min(500, len(rows) // 40)
                tuned, checked, rest = rows[order[:held]], rows[order[held : 2 * held]], rows[np.sort(order[2 * held :])]
            metric = self.metric
            index = _native.Candidates(
                rows,
                rest,
                np.ascontiguousarray(tuned),
                np.ascontiguousarray(checked),
                whole("n_neighbors", self.n_neighbors),
                float(self.recall),
                metric,
                self.trees,
                self.selection,
                whole("n_trees", self.n_trees),
                int(rng.randint(2**31 - 1)),
                teller(self.progress),
            )
            rows = rows.copy() if shares_memory(rows, X) else rows
            rows.flags.writeable = False
            self._fitted = _Rows(index, rows, metric, centre)
            self.n_samples_fit_ = rows.shape[0]
            self.recall_ = index.recall()
            self.n_candidates_ = index.compared()
        return self

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """Distances and rows of the nearest candidates, ``(queries, n_neighbors)`` each; without ``X``
        those of each fitted row among the others."""
        index, k, queries = self._asked(X, n_neighbors)
        distances, rows, _ = index.nearest(queries, k + (X is None), teller(self.progress))
        if X is None:
            distances, rows = distances.reshape(-1, k + 1), rows.reshape(-1, k + 1)
            # Where a row is no candidate of its own, the farthest is one too many.
            own = rows == np.arange(len(rows))[:, None]
            own[~own.any(axis=1), -1] = True
            distances, rows = distances[~own].reshape(-1, k), rows[~own].reshape(-1, k)
        else:
            distances, rows = distances.reshape(-1, k), rows.reshape(-1, k)
        return (distances, rows) if return_distance else rows

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        if "_fitted" in state:
            index, *others = state["_fitted"]
            state["_fitted"] = (index.state(), *others)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_fitted" in state:
            written, rows, metric, centre = state["_fitted"]
            self._fitted = _Rows(_native.Candidates.restored(rows, metric, written), rows, metric, centre)


def _split(distances: Any, rows: Any, counts: Any) -> list[tuple[Any, Any]]:
    ends = np.cumsum(counts)[:-1]
    return list(zip(np.split(distances, ends), np.split(rows, ends)))
