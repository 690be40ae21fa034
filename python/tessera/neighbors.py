"""Nearest neighbours."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _native
from ._progress import teller


class CoverTreeNeighbors(BaseEstimator):
    """Exact nearest neighbours in Euclidean distance, by a cover tree; as ``NearestNeighbors``.

    Values are rounded to 32 bits. Of equally near rows the lower one comes first.

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

    def fit(self, X, y=None):
        """Builds the tree of the rows of ``X``; ``y`` is not used."""
        rows = validate_data(self, X, dtype=np.float32, order="C")
        self._tree = _native.CoverTree(rows, float(self.base))
        self._fit_X = rows.copy() if rows is X else rows
        self._fit_base = float(self.base)
        self.n_samples_fit_ = rows.shape[0]
        return self

    def kneighbors(self, X=None, n_neighbors=None, return_distance=True):
        """Distances and rows of the nearest, ``(queries, n_neighbors)`` each; without ``X`` those
        of each fitted row among the others."""
        check_is_fitted(self)
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        most = self.n_samples_fit_ - (X is None)
        if not 1 <= k <= most:
            raise ValueError(f"n_neighbors: expected 1 to {most}, found {k}")
        queries = self._queries(X)
        found = self._tree.nearest(queries, int(k) + (X is None), teller(self.progress))
        distances, rows, counts = found
        if X is None:
            lists = [self._others(i, *lists) for i, lists in enumerate(_split(distances, rows, counts))]
            distances = np.array([own[:k] for own, _ in lists])
            rows = np.array([own[:k] for _, own in lists])
        else:
            distances, rows = distances.reshape(-1, k), rows.reshape(-1, k)
        return (distances, rows) if return_distance else rows

    def radius_neighbors(self, X=None, radius=None, return_distance=True):
        """Distances and rows within ``radius``, an array of arrays each, nearest first."""
        check_is_fitted(self)
        reach = self.radius if radius is None else radius
        if not reach >= 0:
            raise ValueError(f"radius: expected a number of 0 or more, found {reach}")
        lists = _split(*self._tree.within(self._queries(X), float(reach), teller(self.progress)))
        if X is None:
            lists = [self._others(i, *lists) for i, lists in enumerate(lists)]
        distances, rows = np.empty(len(lists), dtype=object), np.empty(len(lists), dtype=object)
        for i, (own_distances, own_rows) in enumerate(lists):
            distances[i], rows[i] = own_distances, own_rows
        return (distances, rows) if return_distance else rows

    def _queries(self, X):
        return self._fit_X if X is None else validate_data(self, X, dtype=np.float32, order="C", reset=False)

    @staticmethod
    def _others(i, distances, rows):
        return distances[rows != i], rows[rows != i]

    def __getstate__(self):
        state = dict(super().__getstate__())
        state.pop("_tree", None)
        return state

    def __setstate__(self, state):
        super().__setstate__(state)
        if "_fit_X" in state:
            self._tree = _native.CoverTree(self._fit_X, self._fit_base)


def _split(distances, rows, counts):
    ends = np.cumsum(counts)[:-1]
    return list(zip(np.split(distances, ends), np.split(rows, ends)))
