"""Progress of long calls."""

from collections.abc import Callable
from typing import Any


def teller(progress: Any) -> Callable[[str, int, int], object] | None:
    """What the Rust side calls: ``progress`` itself, or steps of it where it is a bar of tqdm."""
    if progress is not None and (isinstance(progress, type) or not (callable(progress) or hasattr(progress, "update"))):
        raise ValueError(f"progress: expected a callable, or a bar such as tqdm.tqdm(), found {progress!r}")
    if progress is None or not hasattr(progress, "update"):
        return progress

    def told(stage: str, done: int, total: int) -> None:
        progress.set_description(stage, refresh=False)
        progress.total = total
        progress.update(done - progress.n)

    return told
