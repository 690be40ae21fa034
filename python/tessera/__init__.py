"""The methods of Tessera as scikit-learn estimators."""

from ._native import CancelledError, Error, InvalidValueError
from .memory import MemoryTreeClassifier
from .mixture import CanopyMixture
from .neighbors import CandidateNeighbors, CoverTreeNeighbors
from .online import OnlineClassifier

__all__ = [
    "CancelledError",
    "CandidateNeighbors",
    "CanopyMixture",
    "CoverTreeNeighbors",
    "Error",
    "InvalidValueError",
    "MemoryTreeClassifier",
    "OnlineClassifier",
]
