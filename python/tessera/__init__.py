"""The methods of Tessera as scikit-learn estimators, and its libraries of images."""

from ._native import CancelledError, Error, InvalidValueError
from .library import Library
from .memory import MemoryTreeClassifier
from .mixture import CanopyMixture
from .neighbors import CandidateNeighbors, CoverTreeNeighbors
from .online import OnlineClassifier
from .recognition import CkmClassifier

__all__ = [
    "CancelledError",
    "CandidateNeighbors",
    "CanopyMixture",
    "CkmClassifier",
    "CoverTreeNeighbors",
    "Error",
    "InvalidValueError",
    "Library",
    "MemoryTreeClassifier",
    "OnlineClassifier",
]
