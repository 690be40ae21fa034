"""Trees and ways of selection as Hyvonen, Jaasaari and Roos compare them (NeurIPS 2022), by `tessera eval ann --each` on one thread.

usage: neighbour_trees.py TESSERA NAME=PREFIX ... [--recalls 0.8,0.9,0.95,0.99] [--trees 60] [--svg FILE] [--kept FILE]
PREFIX-corpus.npy, PREFIX-queries.npy and PREFIX-validation.npy are matrices as benches/vector_sets.py makes them. Prints the paper's Table 1
(seconds for 1,000 queries by the natural classifier, for each kind of tree), then for each set what its Figure 1 shows: seconds for 1,000
queries and candidates of each way of selection. Options are chosen on the validation queries; a setting that missed its recall by more than a
point on the queries has its recall in brackets; - stands where no setting reached it. --kept keeps the answers, to draw again from them.
needs: nothing, with --svg: pip install matplotlib
"""

import argparse
import json
import os
import subprocess

TREES = {"pca": "PCA", "kd": "KD", "rp": "RP", "forest": "RF", "oblique": "oblique"}
WAYS = {"natural": "natural", "labels": "natural, tau = 0", "voting": "voting", "lookup": "lookup"}


def measured(tessera, prefix, arguments):
    command = [tessera, "eval", "ann", "--json", "--quiet", "--threads", str(arguments.threads), "--trees", str(arguments.trees)]
    command += ["--each", arguments.recalls, "--target-recall", "0.9"]
    for name in ("corpus", "queries", "validation"):
        command += [f"--{name}", f"{prefix}-{name}.npy"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])


def cell(run, wanted, what=lambda run: f"{run['s_per_1000']:.4f}"):
    if run is None or run["validation_recall"] < wanted:
        return "-"
    return what(run) + (f" ({run['recall']:.3f})" if run["recall"] < wanted - 0.01 else "")


def found(answer, tree, select, wanted):
    fits = lambda run: (run["tree"], run["select"], run["target_recall"]) == (tree, select, wanted)
    return next(filter(fits, answer["each"]), None)


def fastest(texts):
    known = [float(text.split()[0]) for text in texts if text != "-"]
    return [f"**{text}**" if text != "-" and float(text.split()[0]) == min(known) else text for text in texts]


def figure(answers, path):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.fonttype"] = "none"
    import matplotlib.pyplot as plt

    kinds = [tree for tree in TREES if any(run["tree"] == tree for answer in answers.values() for run in answer["each"])][:4]
    figure, all_axes = plt.subplots(len(answers), len(kinds), figsize=(3.1 * len(kinds), 2.6 * len(answers)), squeeze=False, sharex=True)
    for (name, answer), axes in zip(answers.items(), all_axes):
        for tree, axis in zip(kinds, axes):
            for select, words in WAYS.items():
                runs = [run for run in answer["each"] if (run["tree"], run["select"]) == (tree, select)]
                runs = [run for run in runs if run["validation_recall"] >= run["target_recall"]]
                axis.plot([run["recall"] for run in runs], [run["s_per_1000"] for run in runs], marker=".", label=words)
            axis.set_yscale("log")
            axis.set_title(f"{name}, {TREES[tree]}", fontsize=9)
            axis.tick_params(labelsize=7)
    for axis in all_axes[-1]:
        axis.set_xlabel("recall", fontsize=8)
    for axes in all_axes:
        axes[0].set_ylabel("s / 1,000 queries", fontsize=8)
    all_axes[0][0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tessera")
    parser.add_argument("sets", nargs="+", metavar="NAME=PREFIX")
    parser.add_argument("--recalls", default="0.8,0.9,0.95,0.99")
    parser.add_argument("--trees", type=int, default=60)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--svg")
    parser.add_argument("--kept", default=os.devnull)
    arguments = parser.parse_args()
    recalls = [float(recall) for recall in arguments.recalls.split(",")]
    answers = {}
    if os.path.isfile(arguments.kept):
        with open(arguments.kept) as file:
            answers = json.load(file)
    for name, prefix in (pair.split("=", 1) for pair in arguments.sets):
        if name not in answers:
            answers[name] = measured(arguments.tessera, prefix, arguments)
            if arguments.kept != os.devnull:
                with open(arguments.kept, "w") as file:
                    json.dump(answers, file)
    print("| set | recall | " + " | ".join(TREES.values()) + " | cells |\n" + "|---" * (len(TREES) + 3) + "|")
    for name, answer in answers.items():
        for wanted in recalls:
            row = fastest([cell(found(answer, tree, "natural", wanted), wanted) for tree in TREES])
            print(f"| {name} | {wanted} | " + " | ".join([*row, cell(found(answer, "kmeans", "regression", wanted), wanted)]) + " |")
    for name, answer in answers.items():
        print(f"\n**{name}**\n\n| trees | selection | " + " | ".join(map(str, recalls)) + " |\n|---|---" + "|---" * len(recalls) + "|")
        for tree, words in TREES.items():
            for select, way in WAYS.items():
                both = lambda run: f"{run['s_per_1000']:.4f}, {run['candidates']:,.0f}"
                row = [cell(found(answer, tree, select, wanted), wanted, both) for wanted in recalls]
                print(f"| {words} | {way} | " + " | ".join(row) + " |")
    if arguments.svg:
        figure(answers, arguments.svg)


if __name__ == "__main__":
    main()
