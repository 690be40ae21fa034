"""What can go wrong on many machines."""

from .._native import Error


class ShardError(Error):
    """A shard, or a part of an import, failed three times; the message names it and the reason.

    >>> from tessera.distributed import ShardError
    >>> str(ShardError("shard-0f.parquet: failed 3 times"))
    'shard-0f.parquet: failed 3 times'
    """


class VersionsDifferError(Error):
    """A worker has another version of the package than the program that asks.

    >>> from tessera.distributed import VersionsDifferError
    >>> issubclass(VersionsDifferError, Error)
    True
    """


class ClusterLostError(Error):
    """The scheduler is gone and did not come back, or no worker is left.

    >>> from tessera.distributed import ClusterLostError, Collection
    >>> collection = Collection("memory://lost", create=True, client="tcp://127.0.0.1:1", patience=1)
    >>> try:
    ...     collection.search("sea")
    ... except ClusterLostError as error:
    ...     print("no scheduler")
    no scheduler
    """


class LeftOutWarning(UserWarning):
    """A shard was left out of an answer, because that was asked for.

    >>> from tessera.distributed import LeftOutWarning
    >>> issubclass(LeftOutWarning, UserWarning)
    True
    """
