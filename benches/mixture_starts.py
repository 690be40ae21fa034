"""Mixtures from each start by each method, with several seeds: the table of Zaheer et al. 2017, appendix F, for any data.

usage: mixture_starts.py DATA.npy --labels LABELS.npy --tessera target/release/tessera [--clusters 100] [--iterations 40] [--seeds 5] [--threads 2]
                         [--methods em,esca,canopy1,canopy2]
Prints, as tables in Markdown, the purity and the mean log-likelihood of points held out, and seconds: for an iteration, for the set-up (first
means, groups of points), and for all, each the mean over seeds and its standard deviation.
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
parser.add_argument("--methods", default="em,esca,canopy1,canopy2")
arguments = parser.parse_args()

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


MEASURES = {
    "purity, likelihood of points held out": [("purity", 3), ("llh_mix", 2)],
    "seconds for an iteration, for the set-up, for all": [("s_per_iteration", 4), ("s_setup", 2), ("s_total", 2)],
}

runs = {}
for method in arguments.methods.split(","):
    for start in STARTS:
        runs[method, start] = [fit(method, start, seed) for seed in range(arguments.seeds)]
        print(method, start, file=sys.stderr)
for words, measures in MEASURES.items():
    print(f"{arguments.clusters} clusters, {arguments.iterations} iterations, {arguments.seeds} seeds: {words}\n")
    print("| | " + " | ".join(STARTS) + " |\n|---" + "|---" * len(STARTS) + "|")
    for method in arguments.methods.split(","):
        cells = [", ".join(cell([run[key] for run in runs[method, start]], digits) for key, digits in measures) for start in STARTS]
        print(f"| {method} | " + " | ".join(cells) + " |")
    print()
