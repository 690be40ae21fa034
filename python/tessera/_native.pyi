from collections.abc import Callable
from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import NDArray

_Image = NDArray[np.uint8] | Path
_Piece = tuple[str, tuple[float, float], tuple[int, str, tuple[float, float]] | None, float]
_Told = Callable[[str, int, int], object] | None
_Found = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]

__all__ = ["CancelledError", "Candidates", "CoverTree", "Error", "InvalidValueError", "MemoryTree", "Mixture", "Online", "Recogniser"]

class Error(Exception): ...
class InvalidValueError(Error): ...
class CancelledError(Error): ...

@final
class Candidates:
    def __new__(
        cls,
        points: NDArray[np.float32],
        rest: NDArray[np.float32] | None,
        tuned: NDArray[np.float32],
        checked: NDArray[np.float32],
        k: int,
        recall: float,
        metric: str,
        kind: str,
        rule: str,
        trees: int,
        seed: int,
        told: _Told,
    ) -> Candidates: ...
    def recall(self) -> float: ...
    def compared(self) -> float: ...
    def way(self) -> tuple[int, int, int, float] | None: ...
    def nearest(self, queries: NDArray[np.float32], k: int, told: _Told) -> _Found: ...
    def state(self) -> bytes: ...
    @staticmethod
    def restored(points: NDArray[np.float32], metric: str, bytes: bytes) -> Candidates: ...

@final
class CoverTree:
    def __new__(cls, points: NDArray[np.float32], base: float) -> CoverTree: ...
    def nearest(self, queries: NDArray[np.float32], k: int, told: _Told) -> _Found: ...
    def within(self, queries: NDArray[np.float32], radius: float, told: _Told) -> _Found: ...

@final
class Mixture:
    def __new__(
        cls,
        points: NDArray[np.float32],
        clusters: int,
        covariance: str,
        method: str,
        floor: float,
        iterations: int,
        seed: int,
        told: _Told,
    ) -> Mixture: ...
    @staticmethod
    def from_json(covariance: str, json: str) -> Mixture: ...
    def to_json(self) -> str: ...
    def shares(self) -> NDArray[np.float64]: ...
    def means(self) -> NDArray[np.float64]: ...
    def variances(self) -> NDArray[np.float64]: ...
    def log_densities(self, points: NDArray[np.float32], told: _Told) -> NDArray[np.float64]: ...

@final
class Online:
    def __new__(
        cls,
        dimension: int,
        learner: str,
        metric: str,
        loss_power: float,
        margin: float | None,
        update: str,
        guard: int | None,
        aggressiveness: float,
        ridge: float,
        scale: float,
        seed: int,
    ) -> Online: ...
    def learn(self, rows: NDArray[np.float64], truths: NDArray[np.int64], classes: int, told: _Told) -> int: ...
    def scores(self, rows: NDArray[np.float64], told: _Told) -> NDArray[np.float64]: ...
    def state(self) -> bytes: ...
    @staticmethod
    def restored(bytes: bytes) -> Online: ...

@final
class MemoryTree:
    def __new__(
        cls,
        several: bool,
        trees: int,
        alpha: float,
        leaf_factor: float,
        reroutes: int,
        router_rate: float,
        scorer_rate: float,
        label_rate: float,
        similarity: str,
        learn_scorer: bool,
        seed: int,
    ) -> MemoryTree: ...
    def learn(
        self,
        first: int,
        ends: NDArray[np.int64],
        columns: NDArray[np.int64],
        values: NDArray[np.float32],
        label_ends: NDArray[np.int64],
        labels: NDArray[np.int64],
        passes: int,
        told: _Told,
    ) -> None: ...
    def predict(
        self,
        ends: NDArray[np.int64],
        columns: NDArray[np.int64],
        values: NDArray[np.float32],
        leaves: int,
        told: _Told,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
    def recall(
        self,
        ends: NDArray[np.int64],
        columns: NDArray[np.int64],
        values: NDArray[np.float32],
        k: int,
        leaves: int,
        told: _Told,
    ) -> _Found: ...
    def forget(self, ids: list[int]) -> int: ...
    def size(self) -> int: ...
    def state(self) -> bytes: ...
    @staticmethod
    def restored(bytes: bytes) -> MemoryTree: ...

@final
class Recogniser:
    def __new__(
        cls, elements: str, subject: str, side: int, decompositions: int, neighbours: int, search: str, seed: int
    ) -> Recogniser: ...
    @staticmethod
    def load(folder: Path) -> Recogniser: ...
    def save(self, folder: Path) -> int: ...
    def learn(
        self,
        images: list[_Image],
        ids: list[int],
        names: list[str],
        classes: list[str],
        objects: list[str | None],
        told: _Told,
    ) -> None: ...
    def judge(self, fits_kinds: bool, seed: int, told: _Told) -> float | None: ...
    def forget(self, ids: list[int]) -> int: ...
    def classes(self) -> list[str]: ...
    def images(self) -> list[tuple[int, str, str]]: ...
    def accuracy(self) -> float | None: ...
    def scores(self, images: list[_Image], told: _Told) -> NDArray[np.float64]: ...
    def predict(self, images: list[_Image], told: _Told) -> list[tuple[int, float]]: ...
    def explain(self, image: _Image, classes: list[int]) -> list[tuple[str, float, float, float, list[_Piece]]]: ...
