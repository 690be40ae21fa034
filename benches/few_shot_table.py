#!/usr/bin/env python3
"""Tables of few-shot classes from captions: means and standard deviations over draws of photos, ours beside the authors' program.

usage: TESSERA_DATA=... few_shot_table.py TESSERA_BINARY [--draws 1,2,3] [--shots 1,2,3,4] [--photos 2000] [--counts] [--alpha 0.9] [--peers [--online] | --budget | --passes]
--peers (the default): error, error while learning, entropy reduction and times beside Vowpal Wabbit, as peers/cmt_vw.py says, offline and online, or online alone.
--budget: error and work of several trees and leaves, beside the exact neighbour and the postings that an inverted index reads for it.
--passes: error with 0, 1 and 5 passes with rewards, the scorer learning or not, over five seeds a draw.
Draws below 1 are for choosing options, see flickr8k_few_shot.py. Vectors are weighed by tf-idf, or with --counts are counts of words.
Prints JSON lines, then a table. Peers are run by this Python. needs for --peers: pip install vowpalwabbit
"""
import argparse, collections, json, os, statistics, subprocess, sys, tempfile
a = argparse.ArgumentParser(); a.add_argument("binary"); a.add_argument("--draws", default="1,2,3"); a.add_argument("--shots", default="1,2,3,4"); a.add_argument("--photos", type=int, default=2000)
a.add_argument("--counts", action="store_true"); a.add_argument("--alpha", default="0.9"); a.add_argument("--online", action="store_true"); a.add_argument("--peers", action="store_true"); a.add_argument("--budget", action="store_true"); a.add_argument("--passes", action="store_true")
a.add_argument("--settings", default="0.5:1:1,0.5:4:8,0.5:16:1,0.5:8:8,0.5:16:4", help="of the budget: c:trees:leaves, …"); a.add_argument("--rounds", type=int, default=3)
a.add_argument("--inserting", type=int, default=2, help="passes of the budget that insert or put in again"); a = a.parse_args()
here = os.path.dirname(os.path.abspath(__file__)); ending = "" if a.counts else "-tfidf"

def files(draw, shots, to):
    subprocess.run([sys.executable, f"{here}/flickr8k_few_shot.py", str(shots), str(a.photos), to, str(draw)], check=True)
    return f"{to}/train{ending}.svm", f"{to}/test{ending}.svm"

def classify(train, test, *more):
    run = subprocess.run([a.binary, "eval", "cmt-classify", "--train", train, "--test", test, "--json", "--quiet", *map(str, more)], capture_output=True, text=True)
    if run.returncode: sys.exit(run.stderr[-800:])
    return json.loads(run.stdout.splitlines()[-1])

def spread(values):
    return f"{statistics.mean(values):.4f} ± {statistics.stdev(values):.4f}" if len(values) > 1 else f"{values[0]:.4f}"

def table(rows, columns):
    """Rows of lists of objects; columns of functions of an object."""
    print("| | " + " | ".join(columns) + " |\n|" + "---|" * (len(columns) + 1))
    for name, found in rows.items():
        cells = []
        for of in columns.values():
            values = [of(r) for r in found]; values = [v for v in values if v is not None]
            cells.append(spread(values) if values else "")
        print(f"| {name} | " + " | ".join(cells) + " |")

rows = collections.defaultdict(list)
with tempfile.TemporaryDirectory() as tmp:
    draws = [int(draw) for draw in a.draws.split(",")]
    if a.budget:
        for draw in draws:
            train, test = files(draw, 4, tmp)
            for setting in a.settings.split(","):
                c, trees, leaves = setting.split(":")
                r = classify(train, test, "--supervised-passes", 0, "--unsupervised-passes", a.inserting, "--c", c, "--trees", trees, "--leaves", leaves)
                r |= {"above": r["error"] - r["nn_error"], "share": r["features_read"] / r["index_postings"]}
                rows[f"{trees} × {leaves}, c = {c}"].append(r); print(json.dumps({"draw": draw, "setting": setting, **r}), flush=True)
        table(rows, {"error": lambda r: r["error"], "above the exact neighbour": lambda r: r["above"], "features read": lambda r: r["features_read"],
            "of the index's postings": lambda r: r["share"], "exact": lambda r: r["nn_error"], "postings": lambda r: r["index_postings"], "ms": lambda r: r["test_ms"]})
    elif a.passes:
        for draw in draws:
            train, test = files(draw, 4, tmp)
            for passes, fixed in ((0, False), (1, False), (5, False), (1, True), (5, True)):
                for seed in range(5):
                    r = classify(train, test, "--supervised-passes", passes, "--seed", seed, *(["--fixed-scorer"] if fixed else []))
                    rows[f"{passes} passes" + (", fixed scorer" if fixed else "")].append(r)
                    print(json.dumps({"draw": draw, "passes": passes, "fixed": fixed, "seed": seed, **r}), flush=True)
        table(rows, {"error": lambda r: r["error"], "memories not found by their own vector": lambda r: r["self_consistency_error"]})
    else:
        for online in ((True,) if a.online else (False, True)):
            for shots in map(int, a.shots.split(",")):
                rows = collections.defaultdict(list)
                for draw in draws:
                    train, test = files(draw, shots, tmp)
                    command = [sys.executable, f"{here}/peers/cmt_vw.py", train, test, "--tessera", a.binary, "--rounds", str(a.rounds), "--alpha", a.alpha] + (["--online"] if online else [])
                    run = subprocess.run(command, capture_output=True, text=True)
                    if run.returncode: sys.exit(run.stderr[-800:])
                    for line in run.stdout.splitlines():
                        r = json.loads(line); rows[r["method"]].append(r)
                        if r["method"] == "tessera-cmt": rows["exact neighbour"].append({"error": r["nn_error"], "test_ms": r["nn_test_ms"]})
                        print(json.dumps({"draw": draw, "shots": shots, "online": online, **r}), flush=True)
                print(f"\n{shots} shots, {'online' if online else 'offline'}, draws {a.draws}")
                table(rows, {name: lambda r, key=key: r.get(key) for name, key in (("error", "error"), ("error while learning", "progressive_error"),
                    ("bits", "entropy_reduction"), ("train ms", "train_ms"), ("ours / theirs", "train_ratio"), ("test ms", "test_ms"))})
                print(flush=True)
