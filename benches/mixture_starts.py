"""Mixtures from each start by each method, with several seeds: the table of Zaheer et al. 2017, appendix F, for any data.

usage: mixture_starts.py DATA.npy --labels LABELS.npy --tessera target/release/tessera [--clusters 100] [--iterations 40] [--seeds 5] [--threads 2]
Prints, as a table in Markdown, the purity and the mean log-likelihood of points held out, each the mean over seeds and its standard deviation.
"""

import argparse
import json
import statistics
import subprocess
import sys

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--labels", required=True)
parser.add_argument("--tessera", required=True)
parser.add_argument("--clusters", type=int, default=100)
parser.add_argument("--iterations", type=int, default=40)
parser.add_argument("--seeds", type=int, default=5)
parser.add_argument("--threads", type=int, default=2)
arguments = parser.parse_args()

METHODS = ["em", "esca", "canopy1", "canopy2"]
STARTS = ["random1", "random2", "kmeans++", "cover-tree"]


def fit(method, start, seed):
    words = ["eval", "canopy", "--data", arguments.data, "--labels", arguments.labels, "--clusters", arguments.clusters, "--method", method, "--init", start,
             "--iterations", arguments.iterations, "--seed", seed, "--threads", arguments.threads, "--json", "--quiet"]
    ran = subprocess.run([arguments.tessera, *map(str, words)], capture_output=True, text=True)
    if ran.returncode:
        sys.exit(ran.stderr)
    return json.loads(ran.stdout)


def cell(values, digits):
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{statistics.mean(values):.{digits}f} ± {spread:.{digits}f}"


print(f"{arguments.clusters} clusters, {arguments.iterations} iterations, {arguments.seeds} seeds: purity, likelihood\n")
print("| | " + " | ".join(STARTS) + " |\n|---" + "|---" * len(STARTS) + "|")
for method in METHODS:
    row = []
    for start in STARTS:
        runs = [fit(method, start, seed) for seed in range(arguments.seeds)]
        row.append(cell([run["purity"] for run in runs], 3) + ", " + cell([run["llh_mix"] for run in runs], 2))
        print(f"{method} {start}: {row[-1]}", file=sys.stderr)
    print(f"| {method} | " + " | ".join(row) + " |", flush=True)
