#!/usr/bin/env python3
"""Table 7 of the memory trees' paper: rewards and times of finding photos by captions, on random splits with means and deviations.

usage: TESSERA_DATA=... photo_retrieval.py TESSERA_BINARY [--splits 5] [--test 1000] [--seed 0] [further options of eval cmt-captions]
Splits all photos of Flickr8k that are there into those remembered and those asked for. Prints one JSON object a split, and at the end the
mean and the standard deviation of each figure over the splits. Split number 0 may be used for choosing options, and is left out of the means.
"""
import argparse, json, os, random, statistics, subprocess, sys, tempfile
a = argparse.ArgumentParser(); a.add_argument("binary"); a.add_argument("--splits", type=int, default=5); a.add_argument("--test", type=int, default=1000)
a.add_argument("--seed", type=int, default=0); a.add_argument("--first", type=int, default=1); a, more = a.parse_known_args()
data = os.path.join(os.environ["TESSERA_DATA"], "flickr8k"); tmp = tempfile.mkdtemp(); rows = []
names = sorted(name for list in ("trainImages.txt", "devImages.txt") for name in open(os.path.join(data, list)).read().split())
for split in range(a.first, a.first + a.splits):
    shuffled = names[:]; random.Random(1000 * a.seed + split).shuffle(shuffled)
    for part, chosen in (("test", shuffled[:a.test]), ("train", shuffled[a.test:])):
        with open(f"{tmp}/{part}", "w") as out: out.write("\n".join(chosen) + "\n")
    run = subprocess.run([a.binary, "eval", "cmt-captions", "--images", os.path.join(data, "images"), "--captions", os.path.join(data, "Flickr8k.token.txt"),
        "--train-list", f"{tmp}/train", "--test-list", f"{tmp}/test", "--json", "--quiet", "--seed", str(split), *more], capture_output=True, text=True)
    if run.returncode > 1: sys.exit(run.stderr[-800:])
    rows.append(json.loads(run.stdout.splitlines()[-1]))
    print(json.dumps({"split": split, **rows[-1]}), flush=True)
middle = {key: [round(statistics.mean(r[key] for r in rows), 6), round(statistics.stdev([r[key] for r in rows]), 6) if len(rows) > 1 else 0] for key in rows[0]}
for way in ("unsupervised", ""):
    own = "test_ms" + ("_" + way if way else "")
    middle["speed_up_over_scan" + ("_" + way if way else "")] = [round(statistics.median(r["nn_test_ms"] / r[own] for r in rows), 2)]
    middle["speed_up_over_kd_tree" + ("_" + way if way else "")] = [round(statistics.median(r["kd_test_ms"] / r[own] for r in rows), 2)]
print(json.dumps({"splits": len(rows), "mean_and_deviation": middle}))
