#!/usr/bin/env python3
"""Seconds of each estimator's calls from Python, of the same job by Rust alone, and by scikit-learn, river, faiss and Vowpal Wabbit.

    cargo bench -p tessera-core --bench python_calls --no-run      (tells the program's path)
    pip install ./python river faiss-cpu vowpalwabbit
    python benches/peers/python_speed.py PROGRAM [--rounds 5] [--only JOB ...] [--threads 1]

PROGRAM is that of `benches/python_calls.rs`, which does each job by calls of the crate. Rounds are in turns, Python and Rust; told are medians, and
the ratio of Python's to Rust's, and in parentheses that of the shortest. The others do the job once. Data are made from a seed: 20,000 rows (`--rows`) of 32 values in 20 classes whose groups overlap, 5,000 queries,
and 300 images of 64 pixels in six classes.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROWS, QUERIES, SIDE, CLASSES, K = 20_000, 5_000, 32, 20, 10
ADVISED = 2_000


def threads_of(argv):
    return argv[argv.index("--threads") + 1] if "--threads" in argv else "1"


# Before any library starts its threads.
for variable in ["RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"]:
    os.environ[variable] = threads_of(sys.argv)

import numpy as np  # noqa: E402


def data(folder, rows):
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((3 * CLASSES, SIDE)) * 2.0
    def drawn(n):
        groups = rng.integers(0, 3 * CLASSES, n)
        return (centres[groups] + rng.standard_normal((n, SIDE))).astype(np.float32), (groups % CLASSES).astype(np.int64)
    (points, classes), (queries, asked) = drawn(rows), drawn(QUERIES)
    images, kinds = [], rng.integers(0, 6, 300)
    for kind in kinds:
        pixels = np.full((64, 64, 3), 120, dtype=np.uint8)
        for _ in range(14):
            x, y, w, h = rng.integers(0, 48), rng.integers(0, 48), rng.integers(4, 16), rng.integers(4, 16)
            pixels[y : y + h, x : x + w] = rng.integers(0, 120, 3) + [[130, 0, 0], [0, 130, 0], [0, 0, 130], [130, 130, 0], [0, 130, 130], [130, 0, 130]][kind]
        images.append(pixels)
    images = np.array(images)
    for name, array in [("points", points), ("classes", classes), ("queries", queries), ("images", images.reshape(300, -1)), ("image_classes", kinds)]:
        np.save(folder / f"{name}.npy", array)
    return {"points": points, "classes": classes, "queries": queries, "asked": asked, "images": list(images), "kinds": [str(kind) for kind in kinds]}


def timed(fit, ask, told=None):
    """Seconds of both, and what `told` tells of the model and its answer. The model is not kept: the next has its memory."""
    begun = time.perf_counter()
    model = fit()
    fitted = time.perf_counter() - begun
    begun = time.perf_counter()
    answer = ask(model)
    return fitted, time.perf_counter() - begun, told(model, answer) if told else None


def river_rows(rows):
    return [dict(enumerate(row)) for row in rows.tolist()]


def jobs(d):
    """For each job what tessera does, and what others do: functions that fit, and that ask."""
    import faiss
    import tessera
    from river import linear_model, multiclass, neighbors
    from sklearn.linear_model import SGDClassifier, Perceptron
    from sklearn.mixture import GaussianMixture
    from sklearn.neighbors import BallTree, KNeighborsClassifier, NearestNeighbors
    from sklearn.svm import LinearSVC
    from vowpalwabbit import pyvw

    faiss.omp_set_num_threads(int(threads_of(sys.argv)))
    points, classes, queries, asked = d["points"], d["classes"], d["queries"], d["asked"]
    doubles, wanted = points.astype(np.float64), queries.astype(np.float64)
    images, kinds, n = d["images"], d["kinds"], 200

    def right(model, answer):
        return f"{np.mean(np.asarray(answer) == asked[: len(answer)]):.3f} right"

    truth = NearestNeighbors(n_neighbors=K, algorithm="brute").fit(points).kneighbors(queries, return_distance=False)

    def recall(model, found):
        return f"recall {np.mean([len(set(a) & set(b)) / K for a, b in zip(found, truth)]):.3f}"

    def vw(options, label):
        def fit():
            model = pyvw.Workspace(f"{options} --quiet")
            for row, kind in zip(points.tolist(), classes.tolist()):
                model.learn(f"{label(kind)} | " + " ".join(f"{i}:{x:.5f}" for i, x in enumerate(row)))
            return model
        def ask(model):
            return np.array([model.predict("| " + " ".join(f"{i}:{x:.5f}" for i, x in enumerate(row))) for row in queries.tolist()]) - 1
        return fit, ask

    def river(model):
        def fit():
            made = model()
            for row, kind in zip(river_rows(points), classes.tolist()):
                made.learn_one(row, kind)
            return made
        return fit, lambda made: [made.predict_one(row) for row in river_rows(queries)]

    def flat(index):
        def fit():
            made = index()
            if not made.is_trained:
                made.train(points)
            made.add(points)
            return made
        return fit, lambda made: made.search(queries, K)[1]

    def ivf():
        made = faiss.IndexIVFFlat(faiss.IndexFlatL2(SIDE), SIDE, 128)
        made.nprobe = 8
        return made

    def first(model, rows, labels):
        return lambda: model().fit(rows[:ADVISED], labels[:ADVISED])

    def mixture(method):
        return lambda: tessera.CanopyMixture(50, method=method, max_iter=20, random_state=0).fit(points)

    online = {
        "scikit-learn SGDClassifier, one pass": (lambda: SGDClassifier(max_iter=1, tol=None, random_state=0).fit(doubles, classes), lambda m: m.predict(wanted)),
        "scikit-learn Perceptron, one pass": (lambda: Perceptron(max_iter=1, tol=None, random_state=0).fit(doubles, classes), lambda m: m.predict(wanted)),
        "river, softmax regression": river(lambda: linear_model.SoftmaxRegression()),
        "river, one against all of passive-aggressive": river(lambda: multiclass.OneVsRestClassifier(linear_model.PAClassifier())),
        f"Vowpal Wabbit --oaa {CLASSES}": vw(f"--oaa {CLASSES}", lambda kind: kind + 1),
    }
    return {
        "served": (lambda: tessera.OnlineClassifier("served", shuffle=False, random_state=0).fit(doubles, classes), lambda m: m.predict(wanted), right, online),
        "averaged": (lambda: tessera.OnlineClassifier("averaged", shuffle=False, random_state=0).fit(doubles, classes), lambda m: m.predict(wanted), right, {}),
        "advisers": (
            lambda: tessera.AdviserMixtureClassifier(shuffle=False, random_state=0).fit(doubles[:ADVISED], classes[:ADVISED]),
            lambda m: m.predict(wanted[:ADVISED]),
            right,
            {
                "scikit-learn LinearSVC": (first(LinearSVC, doubles, classes), lambda m: m.predict(wanted[:ADVISED])),
                "scikit-learn KNeighborsClassifier": (first(KNeighborsClassifier, doubles, classes), lambda m: m.predict(wanted[:ADVISED])),
            },
        ),
        "memories": (
            lambda: tessera.MemoryTreeClassifier(random_state=0).fit(points, classes),
            lambda m: m.predict(queries),
            right,
            {
                f"Vowpal Wabbit --memory_tree": vw(f"--memory_tree 2000 --max_number_of_labels {CLASSES} --leaf_example_multiplier 4 --alpha 0.9 -b 18 --dream_at_update 0 --dream_repeats 5", lambda kind: kind + 1),
                "river KNNClassifier, 1,000 rows": river(lambda: neighbors.KNNClassifier(1)),
            },
        ),
        "candidates": (
            lambda: tessera.CandidateNeighbors(K, random_state=0).fit(points, queries=queries),
            lambda m: m.kneighbors(queries)[1],
            recall,
            {"faiss IVFFlat, 128 cells, 8 looked at": flat(ivf), "faiss HNSW, 16 links": flat(lambda: faiss.IndexHNSWFlat(SIDE, 16))},
        ),
        "cover_tree": (
            lambda: tessera.CoverTreeNeighbors(K).fit(points),
            lambda m: m.kneighbors(queries)[1],
            recall,
            {
                "scikit-learn BallTree": (lambda: BallTree(points), lambda m: m.query(queries, K)[1]),
                "scikit-learn NearestNeighbors, brute": (lambda: NearestNeighbors(n_neighbors=K, algorithm="brute").fit(points), lambda m: m.kneighbors(queries)[1]),
                "faiss Flat": flat(lambda: faiss.IndexFlatL2(SIDE)),
            },
        ),
        "em": (
            mixture("em"),
            lambda m: m.predict(points),
            lambda m, _: f"likelihood {m.score(points):.2f}",
            {
                "scikit-learn GaussianMixture, diag": (
                    lambda: GaussianMixture(50, covariance_type="diag", max_iter=20, tol=0, init_params="k-means++", random_state=0).fit(doubles),
                    lambda m: m.predict(doubles),
                )
            },
        ),
        "canopy2": (mixture("canopy2"), lambda m: m.predict(points), lambda m, _: f"likelihood {m.score(points):.2f}", {}),
        "recogniser": (
            lambda: tessera.CkmClassifier(search="exact", judge=False, random_state=0).fit(images[:n], kinds[:n]),
            lambda m: m.predict(images[n:]),
            lambda _, found: f"{np.mean(np.asarray(found) == np.array(kinds[n:])):.3f} right",
            {
                "scikit-learn LinearSVC on pixels": (
                    lambda: LinearSVC().fit(np.array(images[:n]).reshape(n, -1) / 255, kinds[:n]),
                    lambda m: m.predict(np.array(images[n:]).reshape(len(images) - n, -1) / 255),
                )
            },
        ),
    }


def main():
    import warnings

    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--alone", action="store_true", help="without other programs")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        d = data(Path(folder), asked.rows)
        rust = subprocess.Popen([asked.program, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

        def by_rust(job):
            rust.stdin.write(job + "\n")
            rust.stdin.flush()
            return tuple(map(float, rust.stdout.readline().split()))

        print("| job | by | fit, s | over Rust | ask, s | over Rust | answers |\n|---|---|---|---|---|---|---|")
        for job, (fit, ask, told, others) in jobs(d).items():
            if asked.only and job not in asked.only:
                continue
            python, alone, peers = [], [], {name: [] for name in others}
            for turn in range(asked.rounds):
                python.append(timed(fit, ask, None if turn else told))
                alone.append(by_rust(job))
                for name, (their_fit, their_ask) in ({} if asked.alone or turn else others).items():
                    peers[name].append(timed(their_fit, their_ask, told))
            of = lambda rounds, at: statistics.median(one[at] for one in rounds)
            least = lambda rounds, at: min(one[at] for one in rounds)
            ratios = [f"{of(python, at) / of(alone, at):.2f} ({least(python, at) / least(alone, at):.2f})" for at in (0, 1)]
            print(f"| `{job}` | tessera | {of(python, 0):.4f} | {ratios[0]} | {of(python, 1):.4f} | {ratios[1]} | {python[0][2]} |")
            print(f"| | Rust alone | {of(alone, 0):.4f} | | {of(alone, 1):.4f} | | |")
            for name, rounds in peers.items():
                if rounds:
                    print(f"| | {name} | {of(rounds, 0):.4f} | | {of(rounds, 1):.4f} | | {rounds[0][2]} |", flush=True)
        rust.stdin.close()
        rust.wait()


main()
