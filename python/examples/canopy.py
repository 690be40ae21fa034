"""A mixture of Gaussians with many components, beside scikit-learn's."""

import time

import numpy as np
from sklearn.mixture import GaussianMixture

from tessera import CanopyMixture

rng = np.random.default_rng(0)
points = (10 * rng.standard_normal((100, 8)))[rng.integers(0, 100, 20_000)] + rng.standard_normal((20_000, 8))
for mixture in [CanopyMixture(100, random_state=0), GaussianMixture(100, covariance_type="diag", max_iter=20, random_state=0)]:
    begun = time.perf_counter()
    score = mixture.fit(points).score(points)
    print(f"{type(mixture).__name__}: a mean log density of {score:.2f} after {time.perf_counter() - begun:.2f} s")
