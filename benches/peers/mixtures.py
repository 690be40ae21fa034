"""Mixtures of diagonal Gaussians: Tessera beside scikit-learn, from equal first means, in one run, on the same threads.

usage: mixtures.py DATA.npy --tessera target/release/tessera [--labels LABELS.npy] [--clusters 100,1000] [--iterations 10]
                   [--methods em,esca,canopy1,canopy2] [--threads 2] [--tree] [--converge N]
Both hold out each tenth point and tell the mean log-likelihood of these. scikit-learn starts from the same means, equal shares and the
variance of all points, and adds the same floor (0.001) to variances; seconds for an iteration are those of one more than `iterations`
less those of one, each the fastest of several runs. `--tree` asks a cover tree and scikit-learn's BallTree for the nearest neighbour of 1,000 held-out points, one at a time.
`--converge N`: N iterations of each in place of those that are timed, to compare what they end with.
needs: pip install numpy scikit-learn
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--tessera", required=True)
parser.add_argument("--labels")
parser.add_argument("--clusters", default="100,1000")
parser.add_argument("--iterations", type=int, default=5)
parser.add_argument("--methods", default="em,esca,canopy1,canopy2")
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--tree", action="store_true")
parser.add_argument("--converge", type=int, default=0)
parser.add_argument("--seeds", type=int, default=1)
parser.add_argument("--without-peer", action="store_true")
arguments = parser.parse_args()
os.environ["OMP_NUM_THREADS"] = str(arguments.threads)

import numpy as np
from sklearn.cluster import MiniBatchKMeans, kmeans_plusplus
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import BallTree

warnings.filterwarnings("ignore")
points = np.load(arguments.data).astype(np.float32)
labels = np.load(arguments.labels).astype(np.int32) if arguments.labels else None
held_out = np.arange(len(points)) % 10 == 9
fitted, asked = points[~held_out], points[held_out]
folder = tempfile.mkdtemp()


def tell(**figures):
    print(json.dumps(figures), flush=True)


def tessera(*words):
    ran = subprocess.run([arguments.tessera, *map(str, words), "--json", "--quiet", "--threads", str(arguments.threads)], capture_output=True, text=True)
    if ran.returncode:
        sys.exit(ran.stderr)
    return json.loads(ran.stdout)


def purity(clusters):
    classes = labels[~held_out]
    return float(sum(np.bincount(classes[clusters == c]).max() for c in np.unique(clusters)) / len(classes))


if arguments.tree:
    np.save(f"{folder}/fitted.npy", fitted)
    np.save(f"{folder}/asked.npy", asked[:1000])
    start = time.perf_counter()
    ball = BallTree(fitted)
    built = time.perf_counter() - start
    times = []
    for _ in range(3):
        start = time.perf_counter()
        for row in asked[:1000]:
            ball.query(row[None], k=1)
        times.append(time.perf_counter() - start)
    tell(program="scikit-learn BallTree", build_s=built, s_per_1000=min(times))
    start = time.perf_counter()
    for at in range(0, 1000, 100):
        rows = asked[at : at + 100]
        np.argmin((fitted**2).sum(1) - 2 * rows @ fitted.T, 1)
    tell(program="numpy, all compared, 100 at a time", s_per_1000=time.perf_counter() - start)
    tell(program="tessera cover tree", **tessera("eval", "cover-tree", "--data", f"{folder}/fitted.npy", "--queries", f"{folder}/asked.npy"))

for k in map(int, arguments.clusters.split(",")):
    for seed in range(arguments.seeds):
        start, _ = kmeans_plusplus(fitted, k, random_state=seed)
        np.save(f"{folder}/start.npy", start.astype(np.float32))

        def mixture(iterations):
            variances = fitted.var(0) + 1e-3
            model = GaussianMixture(
                k, covariance_type="diag", max_iter=iterations, tol=0, reg_covar=1e-3, means_init=start, weights_init=np.full(k, 1 / k),
                precisions_init=np.tile(1 / variances, (k, 1)), init_params="random_from_data", random_state=seed,
            )
            begun = time.perf_counter()
            model.fit(fitted)
            return time.perf_counter() - begun, model

        rounds = arguments.converge or arguments.iterations
        if not arguments.without_peer:
            # The first run in a process takes memory that later ones have: it does not count.
            once = 0 if arguments.converge else min(mixture(1)[0] for _ in range(3))
            runs = [mixture(rounds if arguments.converge else 1 + rounds) for _ in range(1 if arguments.converge else 2)]
            seconds, model = min(runs, key=lambda run: run[0])
            tell(
                program="scikit-learn em", clusters=k, d=points.shape[1], seed=seed, s_per_iteration=(seconds - once) / rounds, llh_mix=float(model.score(asked)),
                purity=purity(model.predict(fitted)) if labels is not None else None,
            )
        for method in arguments.methods.split(","):
            words = ["--labels", arguments.labels] if arguments.labels else []
            found = tessera("eval", "canopy", "--data", arguments.data, *words, "--clusters", k, "--method", method, "--init", f"{folder}/start.npy",
                            "--iterations", (rounds if arguments.converge else 1 + rounds), "--seed", seed)
            tell(program=f"tessera {method}", seed=seed, **{name: found[name] for name in (
                "clusters", "d", "s_per_iteration", "s_draw", "s_update", "s_tree", "one_pass_s", "llh_mix", "llh_max", "purity", "nmi", "acceptance", "densities", "bytes")})
    if not arguments.without_peer and labels is not None:
        begun = time.perf_counter()
        means = MiniBatchKMeans(k, random_state=0, n_init=1).fit(fitted)
        tell(program="scikit-learn mini-batch k-means", clusters=k, s_total=time.perf_counter() - begun, purity=purity(means.labels_))
one = tessera("eval", "canopy", "--data", arguments.data, "--clusters", 1, "--method", "em", "--iterations", 2)
tell(program="one Gaussian", llh_mix=one["llh_mix"])
