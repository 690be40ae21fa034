"""Mixtures of diagonal Gaussians: Tessera beside scikit-learn, from equal first means, in one run, on the same threads.

usage: mixtures.py DATA.npy --tessera target/release/tessera [--labels LABELS.npy] [--clusters 100,1000] [--iterations 10]
                   [--methods em,esca,canopy1,canopy2] [--threads 2] [--tree] [--converge N] [--to-purity 0.7,0.8]
Both hold out each tenth point and tell the mean log-likelihood of these. scikit-learn starts from the same means, equal shares and the
variance of all points, and adds the same floor (0.001) to variances; seconds for an iteration are those of one more than `iterations`
less those of one, each the fastest of several runs. `--tree` asks a cover tree and scikit-learn's BallTree for the nearest neighbour of 1,000 held-out points, one at a time.
`--converge N`: N iterations of each in place of those that are timed, to compare what they end with. A method `canopy2:64` has lists of 64 clusters.
`--to-purity P,…`: alone Canopy II and scikit-learn's MiniBatchKMeans, each from its own start, and the seconds from the points in memory to
each purity of the points fitted; what tells the purity does not count.
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
parser.add_argument("--to-purity")
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

def told_purities(program, clusters, runs):
    """Of runs, each a list of seconds and purity, the mean seconds to each purity; none where a seed did not reach it."""
    wanted = [float(purity) for purity in arguments.to_purity.split(",")]
    first = lambda run, purity: min((seconds for seconds, reached in run if reached >= purity), default=None)
    times = {purity: [first(run, purity) for run in runs] for purity in wanted}
    means = {purity: None if None in found else float(np.mean(found)) for purity, found in times.items()}
    curve = [[float(value) for value in point] for point in np.mean(runs, axis=0)]
    tell(program=program, clusters=clusters, d=points.shape[1], seeds=len(runs), s_to_purity=means, seconds_and_purity=curve)


def times_to_purity(clusters):
    canopy, batches = [], []
    for seed in range(arguments.seeds):
        canopy.append([])
        for rounds in (1, 2, 4, 8, 16):
            found = tessera("eval", "canopy", "--data", arguments.data, "--labels", arguments.labels, "--clusters", clusters, "--method", "canopy2",
                            "--iterations", rounds, "--seed", seed)
            canopy[-1].append((found["s_total"], found["purity"]))
        batches.append([])
        for rounds in (1, 2, 4, 8, 16):
            model = MiniBatchKMeans(clusters, max_iter=rounds, max_no_improvement=None, n_init=1, compute_labels=False, random_state=seed)
            begun = time.perf_counter()
            model.fit(fitted)
            batches[-1].append((time.perf_counter() - begun, purity(model.predict(fitted))))
    told_purities("tessera canopy2", clusters, canopy)
    told_purities("scikit-learn mini-batch k-means", clusters, batches)


for k in map(int, arguments.clusters.split(",")):
    if arguments.to_purity:
        times_to_purity(k)
        continue
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
            name, _, candidates = method.partition(":")
            words += ["--candidates", candidates] if candidates else []
            found = tessera("eval", "canopy", "--data", arguments.data, *words, "--clusters", k, "--method", name, "--init", f"{folder}/start.npy",
                            "--iterations", (rounds if arguments.converge else 1 + rounds), "--seed", seed)
            tell(program=f"tessera {method}", seed=seed, **{name: found[name] for name in (
                "clusters", "d", "s_per_iteration", "s_draw", "s_update", "s_tree", "one_pass_s", "llh_mix", "llh_max", "purity", "nmi", "acceptance", "densities", "bytes")})
    if not arguments.without_peer and labels is not None:
        begun = time.perf_counter()
        means = MiniBatchKMeans(k, random_state=0, n_init=1).fit(fitted)
        tell(program="scikit-learn mini-batch k-means", clusters=k, s_total=time.perf_counter() - begun, purity=purity(means.labels_))
if not arguments.to_purity:
    one = tessera("eval", "canopy", "--data", arguments.data, "--clusters", 1, "--method", "em", "--iterations", 2)
    tell(program="one Gaussian", llh_mix=one["llh_mix"])
