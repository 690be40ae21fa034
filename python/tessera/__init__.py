"""The methods of Tessera as scikit-learn estimators, and its libraries of images.

What is refused is told in a sentence, as `Error`; of values and options as `InvalidValueError`; cancelled work is a
`CancelledError`, unless Ctrl+C or what a callable raised cancelled it, which is then raised itself:

>>> from tessera import CanopyMixture, Error, InvalidValueError
>>> try:
...     CanopyMixture(method="magic").fit([[0.0], [1.0]])
... except InvalidValueError as error:
...     print(error, isinstance(error, Error))
option `method` is magic, but it must be auto, em, esca, canopy1 or canopy2 True
"""

from importlib.metadata import version as _version

from . import _allocator as _allocator
from ._native import CancelledError, Error, InvalidValueError
from .library import Alike, Hit, Imported, Library, LibraryImage
from .memory import MemoryTreeClassifier
from .mixture import CanopyMixture
from .neighbors import CandidateNeighbors, CoverTreeNeighbors
from .online import AdviserMixtureClassifier, OnlineClassifier
from .recognition import CkmClassifier, Explanation, Matched, OwnElements, OwnKind, Picture, Piece

__version__ = _version("tessera")

__all__ = [
    "AdviserMixtureClassifier",
    "Alike",
    "CancelledError",
    "CandidateNeighbors",
    "CanopyMixture",
    "CkmClassifier",
    "CoverTreeNeighbors",
    "Error",
    "Explanation",
    "Hit",
    "Imported",
    "InvalidValueError",
    "Library",
    "LibraryImage",
    "Matched",
    "MemoryTreeClassifier",
    "OnlineClassifier",
    "OwnElements",
    "OwnKind",
    "Picture",
    "Piece",
]
