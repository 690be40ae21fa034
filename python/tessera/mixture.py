"""Mixtures of Gaussians."""

import operator
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.base import DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._estimator import Estimator, centred_points, lock_of, whole
from ._progress import teller


class CanopyMixture(DensityMixin, Estimator):
    """A mixture of Gaussians whose iterations cost about one pass over the data, however many
    components there are; as ``GaussianMixture``.

    Values are rounded to 32 bits, those of 64 bits around the middle of the fitted rows. One seed gives one answer on any number of threads.

    Parameters
    ----------
    n_components : the number of components.
    covariance_type : ``"diag"``, a variance for each dimension, or ``"spherical"``, one for all.
    method : ``"em"``, ``"esca"``, ``"canopy1"``, ``"canopy2"``, or ``"auto"``: ESCA up to 32
        components, else Canopy II.
    reg_covar : what is added to each variance.
    max_iter : the number of iterations, all of which are done.
    random_state : the seed.
    progress : a callable of stage, steps done and steps in all, or a bar of tqdm.

    Examples
    --------
    >>> from tessera import CanopyMixture
    >>> mixture = CanopyMixture(2, random_state=0).fit([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]])
    >>> a, b = mixture.predict([[0.1], [9.1]])
    >>> bool(a != b)
    True
    """

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "diag",
        method: str = "auto",
        reg_covar: float = 1e-3,
        max_iter: int = 20,
        random_state: Any = None,
        progress: Any = None,
    ):
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.method = method
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> "CanopyMixture":
        """Fits the mixture to the rows of ``X``; ``y`` is not used. Refused or cancelled, it leaves all as it was."""
        with self._learning():
            rows, centre = centred_points(self, X, reset=True, min_samples=2)
            if whole("max_iter", self.max_iter) < 1:
                raise ValueError(f"max_iter: expected 1 or more, found {self.max_iter}")
            if not 1 <= whole("n_components", self.n_components) <= len(rows):
                raise ValueError(f"n_components: expected 1 to {len(rows)}, the number of rows, found {self.n_components}")
            if not 0 <= self.reg_covar < np.inf:
                raise ValueError(f"reg_covar: expected a number of 0 or more, found {self.reg_covar}")
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
            clusters, covariance = operator.index(self.n_components), self.covariance_type
            options = (clusters, covariance, self.method, float(self.reg_covar), operator.index(self.max_iter))
            native = _native.Mixture(rows, *options, seed, teller(self.progress))
            self.n_iter_ = self.max_iter
            self.weights_ = native.shares()
            self.means_ = native.means().reshape(clusters, -1) + (0.0 if centre is None else centre)
            self.covariances_ = native.variances().reshape(clusters, -1)
            self._native, self._covariance, self._centre = native, covariance, centre
        return self

    def fit_predict(self, X: Any, y: Any = None) -> Any:
        """Fits the mixture and gives the component of each row."""
        return self.fit(X).predict(X)

    def _log_densities(self, X: Any) -> Any:
        check_is_fitted(self)
        native, centre = self._native, self._centre
        rows, _ = centred_points(self, X, centre, reset=False)
        return native.log_densities(rows, teller(self.progress)).reshape(len(rows), -1)

    def predict(self, X: Any) -> Any:
        """The most probable component of each row."""
        return self._log_densities(X).argmax(axis=1)

    def predict_proba(self, X: Any) -> Any:
        """The probability of each component for each row."""
        logs = self._log_densities(X)
        return np.exp(logs - logsumexp(logs, axis=1, keepdims=True))

    def score_samples(self, X: Any) -> Any:
        """The logarithm of the density of each row."""
        return logsumexp(self._log_densities(X), axis=1)

    def score(self, X: Any, y: Any = None) -> float:
        """The mean logarithm of the density of the rows."""
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1) -> tuple[Any, Any]:
        """Rows drawn from the mixture, and the component of each."""
        check_is_fitted(self)
        weights, means, covariances = self.weights_, self.means_, self.covariances_
        rng = check_random_state(self.random_state)
        components = rng.choice(len(weights), size=n_samples, p=weights / weights.sum())
        spread = np.sqrt(covariances[components])
        return means[components] + spread * rng.standard_normal(means[components].shape), components

    def __getstate__(self) -> dict[str, Any]:
        with lock_of(self):
            state = super().__getstate__()
            if "_native" in state:
                state["_native"] = state["_native"].to_json()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_native" in state:
            self._native = _native.Mixture.from_json(self._covariance, state["_native"])
