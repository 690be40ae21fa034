"""Seconds for an iteration of a mixture against the number of clusters, by `tessera eval canopy`: a table, and a plot.

usage: mixture_scale.py TESSERA NAME=DATA.npy ... [--clusters 100,200,500,1000,2000] [--methods em,esca,canopy1,canopy2] [--iterations 6]
                        [--repeat 3] [--threads 2] [--svg FILE] [--kept FILE]
Each figure is the fastest of `repeat` runs of the mean of their iterations but for the first, from means drawn at random among the points.
A method `canopy2:128` has lists of 128 clusters. The last column is the last number of clusters over the first. `--kept` keeps the figures,
to go on from them or to draw them again.
needs: nothing, with --svg: pip install matplotlib
"""

import argparse
import json
import os
import subprocess


def measured(arguments, data, method, clusters):
    name, _, candidates = method.partition(":")
    command = [arguments.tessera, "eval", "canopy", "--data", data, "--method", name, "--clusters", str(clusters), "--init", "random1"]
    command += ["--iterations", str(arguments.iterations), "--threads", str(arguments.threads), "--json", "--quiet"]
    command += ["--candidates", candidates] if candidates else []
    run = lambda: json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["s_per_iteration"]
    return min(run() for _ in range(arguments.repeat))


def figure(found, sets, methods, counts, path):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.fonttype"] = "none"
    matplotlib.rcParams["svg.hashsalt"] = "mixtures"
    import matplotlib.pyplot as plt

    figure, all_axes = plt.subplots(1, len(sets), figsize=(4.2 * len(sets), 3.2), squeeze=False, sharey=True)
    for name, axis in zip(sets, all_axes[0]):
        for method in methods:
            axis.plot(counts, [found[f"{name} {method} {clusters}"] for clusters in counts], marker=".", label=method)
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_title(name, fontsize=9)
        axis.set_xlabel("clusters", fontsize=8)
        axis.tick_params(labelsize=7)
    all_axes[0][0].set_ylabel("s / iteration", fontsize=8)
    all_axes[0][0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tessera")
    parser.add_argument("sets", nargs="+", metavar="NAME=DATA.npy")
    parser.add_argument("--clusters", default="100,200,500,1000,2000")
    parser.add_argument("--methods", default="em,esca,canopy1,canopy2")
    parser.add_argument("--iterations", type=int, default=6)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--svg")
    parser.add_argument("--kept", default=os.devnull)
    arguments = parser.parse_args()
    counts, methods = [int(count) for count in arguments.clusters.split(",")], arguments.methods.split(",")
    sets = dict(pair.split("=", 1) for pair in arguments.sets)
    found = {}
    if os.path.isfile(arguments.kept):
        with open(arguments.kept) as file:
            found = json.load(file)
    print("| | | " + " | ".join(map(str, counts)) + " | growth |\n|---|---" + "|---" * (len(counts) + 1) + "|")
    for name, data in sets.items():
        for method in methods:
            for clusters in counts:
                key = f"{name} {method} {clusters}"
                if key not in found:
                    found[key] = measured(arguments, data, method, clusters)
                    if arguments.kept != os.devnull:
                        with open(arguments.kept, "w") as file:
                            json.dump(found, file)
            seconds = [found[f"{name} {method} {clusters}"] for clusters in counts]
            print(f"| {name} | {method} | " + " | ".join(f"{value:.4f}" for value in seconds) + f" | {seconds[-1] / seconds[0]:.1f} |", flush=True)
    if arguments.svg:
        figure(found, sets, methods, counts, arguments.svg)


if __name__ == "__main__":
    main()
