"""Collections of images, and the same answers on one machine or on many.

Needs ``pip install tessera[distributed]`` for Dask; without a scheduler all work is done in this process.
"""

from ._errors import ClusterLostError, LeftOutWarning, ShardError, VersionsDifferError
from .collection import Added, Clustered, Collection, Copy, Near, Recognised, Report, Worded

__all__ = [
    "Added",
    "ClusterLostError",
    "Clustered",
    "Collection",
    "Copy",
    "LeftOutWarning",
    "Near",
    "Recognised",
    "Report",
    "ShardError",
    "VersionsDifferError",
    "Worded",
]
