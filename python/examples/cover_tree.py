"""Exact neighbours by a cover tree, where rows lie near a surface of few dimensions."""

import numpy as np

from tessera import CoverTreeNeighbors

rng = np.random.default_rng(0)
angles = rng.uniform(0, 2 * np.pi, (20_000, 1))
rows = np.hstack([np.cos(angles), np.sin(angles), angles]) @ rng.standard_normal((3, 50))
neighbours = CoverTreeNeighbors(n_neighbors=2).fit(rows)
distances, found = neighbours.kneighbors(rows[:1000])
print(f"{(found[:, 0] == np.arange(1000)).mean():.3f} of the rows are their own nearest; the next is {distances[:, 1].mean():.4f} away")
within = neighbours.radius_neighbors(rows[:3], 0.05, return_distance=False)
print("within 0.05:", [len(own) for own in within])
