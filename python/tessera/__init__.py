"""The methods of Tessera as scikit-learn estimators."""

from ._native import CancelledError, Error, InvalidValueError
from .mixture import CanopyMixture
from .neighbors import CoverTreeNeighbors

__all__ = ["CancelledError", "CanopyMixture", "CoverTreeNeighbors", "Error", "InvalidValueError"]
