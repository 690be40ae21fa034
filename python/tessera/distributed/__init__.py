"""Collections of images, and the same answers on one machine or on many.

Needs ``pip install tessera[distributed]`` for Dask; without a scheduler all work is done in this process.

What goes wrong is an error with a sentence:

>>> from tessera import Error
>>> from tessera.distributed import ClusterLostError, Collection, LeftOutWarning, ShardError, VersionsDifferError
>>> Collection("memory://nowhere")
Traceback (most recent call last):
    ...
tessera.Error: memory://nowhere: expected a collection, found no manifest.json; make one with create=True or `tessera shard`
>>> all(issubclass(error, Error) for error in (ClusterLostError, ShardError, VersionsDifferError))
True
>>> issubclass(LeftOutWarning, UserWarning)
True
"""

from ._errors import ClusterLostError, LeftOutWarning, ShardError, VersionsDifferError
from .collection import Added, Answers, Clustered, Collection, CollectionImage, Copy, Near, Recognised, Report, Worded

__all__ = [
    "Added",
    "Answers",
    "ClusterLostError",
    "Clustered",
    "Collection",
    "CollectionImage",
    "Copy",
    "LeftOutWarning",
    "Near",
    "Recognised",
    "Report",
    "ShardError",
    "VersionsDifferError",
    "Worded",
]
