"""Most of the nearest neighbours, with the recall that was asked for, beside a scan of all rows."""

import time

import numpy as np
from sklearn.neighbors import NearestNeighbors

from tessera import CandidateNeighbors

rng = np.random.default_rng(0)
centres = rng.standard_normal((200, 32))
draw = lambda n: (centres[rng.integers(0, 200, n)] + 0.5 * rng.standard_normal((n, 32))).astype(np.float32)
rows, queries = draw(10_000), draw(1000)
for recall in [0.8, 0.95]:
    index = CandidateNeighbors(n_neighbors=10, recall=recall, random_state=0).fit(rows)
    begun = time.perf_counter()
    found = index.kneighbors(queries, return_distance=False)
    seconds = time.perf_counter() - begun
    true = NearestNeighbors(n_neighbors=10, algorithm="brute").fit(rows).kneighbors(queries, return_distance=False)
    share = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(found, true)])
    print(f"asked {recall}: measured {index.recall_:.3f}, found {share:.3f}; {index.n_candidates_:.0f} rows compared, {1e3 * seconds:.1f} ms")
