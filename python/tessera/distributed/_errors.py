"""What can go wrong on many machines."""

from .._native import Error


class ShardError(Error):
    """A shard, or a part of an import, failed three times; the message names it and the reason."""


class VersionsDifferError(Error):
    """A worker has another version of the package than the program that asks."""


class ClusterLostError(Error):
    """The scheduler is gone and did not come back, or no worker is left."""


class LeftOutWarning(UserWarning):
    """A shard was left out of an answer, because that was asked for."""
