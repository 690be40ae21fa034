"""Time of a query against the number of points, by `tessera eval ann` at recall 0.95, on one thread and on two.

usage: vector_sizes.py TESSERA [--points 1000 10000 100000 1000000] [--folder FOLDER]
Points of 128 values are drawn around 1,000 places on a surface of 24 dimensions, with noise in all; 1,000 queries and as many for validation in
the same way. Prints a row of a table for each number of points.
needs: pip install numpy
"""

import argparse
import json
import os
import subprocess
import tempfile

import numpy as np

VALUES, INNER, PLACES = 128, 24, 1000


def drawn(n, seed):
    fixed = np.random.default_rng(0)
    places, mixing = fixed.normal(size=(PLACES, INNER)) * 2, fixed.normal(size=(INNER, VALUES))
    rng = np.random.default_rng(seed)
    out = np.empty((n, VALUES), np.float32)
    for start in range(0, n, 100_000):
        rows = min(100_000, n - start)
        inner = places[rng.integers(0, PLACES, rows)] + rng.normal(size=(rows, INNER))
        out[start : start + rows] = inner @ mixing + 0.3 * rng.normal(size=(rows, VALUES))
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tessera")
    parser.add_argument("--points", type=int, nargs="+", default=[1000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--folder")
    arguments = parser.parse_args()
    folder = arguments.folder or tempfile.mkdtemp()
    path = lambda name: os.path.join(folder, name + ".npy")
    np.save(path("queries"), drawn(1000, 1))
    np.save(path("validation"), drawn(1000, 2))
    print("| points | recall | ms a query | ms in batches, 1 thread | 2 threads | build, s | bytes a point | probability error |")
    print("|---|---|---|---|---|---|---|---|")
    for n in arguments.points:
        np.save(path("corpus"), drawn(n, 3))
        found = {}
        for threads in (1, 2):
            command = [arguments.tessera, "eval", "ann", "--corpus", path("corpus"), "--queries", path("queries"), "--validation", path("validation")]
            options = ["-k", "10", "--tree", "kmeans", "--select", "regression", "--target-recall", "0.95", "--threads", str(threads), "--json"]
            found[threads] = json.loads(subprocess.run(command + options, capture_output=True, text=True, check=True).stdout)
        one, two = found[1], found[2]
        row = [f"{n:,}", f"{one['recall']:.4f}", f"{one['s_per_1000']:.4f}", f"{one['batch_s_per_1000']:.4f}", f"{two['batch_s_per_1000']:.4f}"]
        row += [f"{one['build_s']:.1f}", f"{one['bytes'] / n:.0f}", f"{one['probability_error']:.4f}"]
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
