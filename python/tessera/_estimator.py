"""What all estimators share: learning one call after another, copies, and what is kept of them."""

import copy
import operator
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone

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
        parameters = self.get_params(deep=False)
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
        found = np.unique(y)
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
        return self.numbers[np.searchsorted(self.names, y)]

    def first(self, count: int) -> "Classes":
        """The first that came, so many."""
        if count >= len(self):
            return self
        there = self.numbers < count
        return Classes(self.names[there], self.numbers[there])


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


def shares_memory(rows: Any, X: Any) -> bool:
    """Whether rows that were checked may be those that the caller has, who may change them."""
    return rows is X or rows.base is not None



def numbers_of(name: str, numbers: Iterable[int]) -> list[int]:
    """Numbers of images or memories."""
    found = [operator.index(number) for number in numbers]
    wrong = [number for number in found if not 0 <= number < 2**32]
    if wrong:
        raise ValueError(f"{name}: expected numbers from 0 to {2**32 - 1}, found {wrong[0]}")
    return found
