"""Pickling estimators whose work is done by the native part."""

from typing import Any

from sklearn.base import BaseEstimator


class PickledNative(BaseEstimator):
    """An estimator that pickles the bytes that ``_native`` writes in its place; ``_native_kind`` reads them again."""

    _native: Any
    _native_kind: Any

    def __getstate__(self):
        state = dict(super().__getstate__())
        if "_native" in state:
            state["_native"] = self._native.state()
        return state

    def __setstate__(self, state):
        super().__setstate__(state)
        if "_native" in state:
            self._native = self._native_kind.restored(state["_native"])
