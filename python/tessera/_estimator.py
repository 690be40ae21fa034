"""What all estimators share: learning one call after another, copies, and what is kept of them."""

import copy
import functools
import operator
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from . import _native

_LOCKS: "weakref.WeakKeyDictionary[Any, Any]" = weakref.WeakKeyDictionary()
_GUARD = threading.Lock()


def lock_of(estimator: Any) -> Any:
    """The lock of an estimator: no attribute of it, so that copies and pickles have their own."""
    with _GUARD:
        return _LOCKS.setdefault(estimator, threading.RLock())


def _forget_locks() -> None:
    """Whoever held a lock when a process was forked is not there to let it go."""
    global _GUARD
    _GUARD = threading.Lock()
    _LOCKS.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_locks)


@functools.cache
def _parameters_of(kind: type[BaseEstimator]) -> frozenset[str]:
    """The names that `get_params` finds by reading the signature, which takes as long as a fit of a few rows."""
    return frozenset(kind._get_param_names())


class Estimator(BaseEstimator):
    """An estimator that may be used by several threads, whose ``progress`` belongs to whoever has it: clones have the
    very object, copies and pickles none."""

    progress: Any

    @contextmanager
    def _learning(self) -> Iterator[Callable[[], None]]:
        """Others that learn wait. Where learning fails all attributes are as before, unless it called what it is
        given: then those of that moment stay."""
        with lock_of(self):
            before = self._learned()

            def keep() -> None:
                nonlocal before
                before = self._learned()

            try:
                yield keep
            except BaseException:
                for name in self._learned().keys() - before.keys():
                    delattr(self, name)
                self.__dict__.update(before)
                raise

    def _learned(self) -> dict[str, Any]:
        kind: Any = type(self)
        parameters = _parameters_of(kind)
        return {name: value for name, value in vars(self).items() if name not in parameters}

    def __sklearn_clone__(self) -> Any:
        made = type(self)(
            **{name: value if name == "progress" else clone(value, safe=False) for name, value in self.get_params(deep=False).items()}
        )
        for name in ["_metadata_request", "_sklearn_output_config"]:
            if hasattr(self, name):
                setattr(made, name, copy.deepcopy(getattr(self, name)))
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "progress": None}


class Classes:
    """Known classes, sorted, and the number of each in the order of coming. Never changed: new ones make another."""

    def __init__(self, names: Any = None, numbers: Any = None):
        self.names = names
        self.numbers = np.empty(0, dtype=np.int64) if numbers is None else numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def joined(self, y: Any) -> "Classes":
        """With the classes of these labels, too."""
        found = _distinct(y)
        if self.names is None:
            return Classes(found, np.arange(len(found)))
        if len(self) and len(found) and (self.names.dtype.kind in "biuf") != (found.dtype.kind in "biuf"):
            of = {True: "numbers", False: "texts"}
            known, other = (of[names.dtype.kind in "biuf"] for names in [self.names, found])
            raise ValueError(f"y: expected {known} as classes, as before, found {other}")
        new = np.setdiff1d(found, self.names)
        if not len(new):
            return self
        names = np.concatenate([self.names, new])
        numbers = np.concatenate([self.numbers, len(self) + np.arange(len(new))])
        order = np.argsort(names, kind="stable")
        return Classes(names[order], numbers[order])

    def of(self, y: Any) -> Any:
        """The number of the class of each label."""
        least = _least_of_few(self.names, len(y))
        if least is None or y.dtype.kind not in "iu":
            return self.numbers[np.searchsorted(self.names, y)]
        places = self.names.astype(np.int64) - least
        table = np.zeros(places[-1] + 1, dtype=np.int64)
        table[places] = self.numbers
        return table[y.astype(np.int64, copy=False) - least]

    def first(self, count: int) -> "Classes":
        """The first that came, so many."""
        if count >= len(self):
            return self
        there = self.numbers < count
        return Classes(self.names[there], self.numbers[there])


def _least_of_few(labels: Any, count: int) -> int | None:
    """The least label, where labels are whole numbers of which so many rows need no larger a table than they are."""
    if labels.dtype.kind not in "iu" or not labels.size:
        return None
    least, most = int(labels.min()), int(labels.max())
    return least if most - least <= 4 * count + 1000 and -(2**62) < least and most < 2**62 else None


def _distinct(labels: Any) -> Any:
    """`np.unique`, by counting where that is quicker."""
    labels = np.asarray(labels)
    least = _least_of_few(labels, labels.size)
    if least is None:
        return np.unique(labels)
    found = np.flatnonzero(np.bincount(labels.ravel().astype(np.int64, copy=False) - least))
    return (found + least).astype(labels.dtype)


class Fitted(NamedTuple):
    """What was learned, put in the place of what was before in one step."""

    native: Any
    classes: Classes
    several: bool = False
    """Whether rows have several labels."""


class NativeEstimator(Estimator):
    """A fitted estimator, which pickles the bytes that its native part writes in its place; ``_native_kind`` reads
    them again."""

    _fitted: Fitted
    _native_kind: Any

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")

    @property
    def classes_(self) -> Any:
        """The classes that are known, sorted."""
        if not hasattr(self, "_fitted"):
            raise AttributeError("classes_: there are none before something is learned")
        native, classes, several = self._fitted
        return np.arange(native.known()) if several else classes.names

    def __getstate__(self) -> dict[str, Any]:
        with lock_of(self):
            state = super().__getstate__()
            if "_fitted" in state:
                native, *others = state["_fitted"]
                state["_fitted"] = (native.state(), *others)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_fitted" in state:
            written, *others = state["_fitted"]
            self._fitted = Fitted(self._native_kind.restored(written), *others)


def checked_rows(estimator: Any, X: Any) -> Any:
    """What `validate_data` makes of rows that are asked, one after another in memory. An array that is such rows
    already is only looked through."""
    if _max_norm_as_given(estimator, X, reset=False) is not None:
        return X
    return validate_data(estimator, X, dtype=np.float64, order="C", reset=False)


def checked_examples(estimator: Any, X: Any, y: Any, *, reset: bool) -> tuple[Any, Any, float | None]:
    """The same of rows that are learned, with the class of each, and the greatest length of a row, if it is known."""
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iu" and type(X) is np.ndarray and X.shape[:1] == y.shape:
        max_norm = _max_norm_as_given(estimator, X, reset=reset)
        if max_norm is not None:
            if 2 * len(_distinct(y)) > len(y):
                check_classification_targets(y)  # It warns.
            return X, y, max_norm
    rows, y = validate_data(estimator, X, y, dtype=np.float64, order="C", reset=reset)
    check_classification_targets(y)
    return rows, y, None


def whole(name: str, value: Any) -> int:
    """A whole number; a fraction is none, even 2.0."""
    try:
        return operator.index(value)
    except TypeError:
        raise ValueError(f"{name}: expected a whole number, found {value!r}") from None


def centre_of(rows: Any) -> Any:
    """What is subtracted from rows of 64 bits before they are rounded to 32; ``None`` where nothing is.

    A column counts whose values lie farther from 0 than from each other: about its middle, at a multiple of so large a
    power of two that whole numbers stay whole.
    """
    least, most = rows.min(axis=0), rows.max(axis=0)
    middle, spread = least / 2 + most / 2, most / 2 - least / 2
    with np.errstate(all="ignore"):
        unit = 16 * np.exp2(np.ceil(np.log2(spread)))
        # Never farther from 0 than the values: they would be rounded more than without it.
        centre = np.trunc(middle / unit) * unit
        is_exact = middle.astype(np.float32) == middle
    # All values are the same: they are the centre, where 32 bits cannot hold them.
    centre = np.where(spread == 0, np.where(is_exact, 0.0, middle), centre)
    centre[~np.isfinite(centre)] = 0.0
    return centre if centre.any() else None


def about(rows: Any, centre: Any) -> Any:
    """Rows around a centre, in single precision."""
    with np.errstate(over="ignore"):
        return (rows if centre is None else rows - centre).astype(np.float32, copy=False)


def centred_points(estimator: Any, X: Any, centre: Any = None, *, reset: bool, min_samples: int = 1) -> tuple[Any, Any]:
    """As :func:`checked_points`, around a centre, which with ``reset`` is that of ``X``: so that distances between values
    of 64 bits that lie far from 0 stay right."""
    if (reset or centre is None) and _is_as_given(estimator, X, np.float32, reset=reset) and len(X) >= min_samples:
        return checked_points(estimator, X, reset=reset), None
    rows = validate_data(estimator, X, dtype=[np.float64, np.float32], order="C", reset=reset, ensure_min_samples=min_samples)
    if reset:
        centre = centre_of(rows) if rows.dtype == np.float64 else None
    found = about(rows, centre)
    if not np.isfinite(found).all():
        # It says why not, but where rows alone would fit.
        check_array(rows, dtype=np.float32, input_name="X")
        raise ValueError("X: expected values that fit into dtype('float32') around the middle of the fitted rows, found too large ones")
    return found, centre


def checked_points(estimator: Any, X: Any, *, reset: bool) -> Any:
    """What `validate_data` makes of rows in single precision, one after another in memory. An array that is such rows
    already is only looked through."""
    if _is_as_given(estimator, X, np.float32, reset=reset):
        values = X.reshape(-1)
        with np.errstate(over="ignore", invalid="ignore"):
            # A sum of squares that is finite has no other terms.
            is_finite = np.isfinite(np.dot(values, values))
        if is_finite:
            if reset:
                estimator.n_features_in_ = X.shape[1]
            return X
    return validate_data(estimator, X, dtype=np.float32, order="C", reset=reset)


def _max_norm_as_given(estimator: Any, X: Any, *, reset: bool) -> float | None:
    """The greatest length of a row, where rows need nothing to be done to them and pass every check."""
    if not _is_as_given(estimator, X, np.float64, reset=reset):
        return None
    max_norm = _native.max_norm(X)
    if not np.isfinite(max_norm):
        return None
    if reset:
        estimator.n_features_in_ = X.shape[1]
    return max_norm


def _is_as_given(estimator: Any, X: Any, dtype: type, *, reset: bool) -> bool:
    """Whether rows are of the wanted form already, so that only their values are left to be checked."""
    if type(X) is not np.ndarray or X.dtype != dtype or X.ndim != 2 or not X.size or not X.flags.carray:
        return False
    return not hasattr(estimator, "feature_names_in_") and (reset or X.shape[1] == estimator.n_features_in_)


def shares_memory(rows: Any, X: Any) -> bool:
    """Whether rows that were checked may be those that the caller has, who may change them."""
    return rows is X or rows.base is not None


def numbers_of(name: str, numbers: Iterable[int]) -> list[int]:
    """Numbers of images or memories."""
    found = [whole(name, number) for number in numbers]
    wrong = [number for number in found if not 0 <= number < 2**32]
    if wrong:
        raise ValueError(f"{name}: expected numbers from 0 to {2**32 - 1}, found {wrong[0]}")
    return found
