#!/usr/bin/env python3
"""Table 7 of the memory trees' paper: rewards and times of finding photos by captions, on random splits with means and deviations.

usage: TESSERA_DATA=... photo_retrieval.py TESSERA_BINARY [--splits 5] [--test 1000] [--seed 0] [--choose] [further options of eval cmt-captions]
1,000 photos of Flickr8k, the same always, are held out: no split contains them. The other 6,000 are split at random into those remembered
and those asked for. With --choose the held-out photos are asked for instead, and 5,000 others drawn at random are remembered: for choosing options.
Prints one JSON object a split, then the mean and the standard deviation of each figure over the splits, the medians of how many times as
fast as the scan and the kd-tree the memory is in each split, and a table. In each split all ways of finding take turns on one thread.
"""
import argparse, json, os, random, statistics, subprocess, sys, tempfile
a = argparse.ArgumentParser(allow_abbrev=False); a.add_argument("binary"); a.add_argument("--splits", type=int, default=5); a.add_argument("--test", type=int, default=1000)
a.add_argument("--seed", type=int, default=0); a.add_argument("--choose", action="store_true"); a, more = a.parse_known_args()
data = os.path.join(os.environ["TESSERA_DATA"], "flickr8k"); tmp = tempfile.mkdtemp(); rows = []
names = sorted(name for list in ("trainImages.txt", "devImages.txt") for name in open(os.path.join(data, list)).read().split())
random.Random(2019).shuffle(names); held_out, names = names[:1000], names[1000:]
for split in range(1, a.splits + 1):
    shuffled = names[:]; random.Random(1000 * a.seed + split).shuffle(shuffled)
    if a.choose: shuffled = held_out[:a.test] + shuffled[:len(names) - a.test]
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

mean = lambda key, digits=4: "{:.{d}f} ± {:.{d}f}".format(*middle[key], d=digits) if key in middle else ""
print("\n| | reward | ms | recall@1 | recall@10 |\n|---|---|---|---|---|")
for name, reward, time, one, ten in (("memory, no rewards", "reward_unsupervised", "test_ms_unsupervised", "recall_at_1", "recall_at_10"), ("memory, one pass with rewards", "reward", "test_ms", "", ""),
        ("scan, Euclid", "nn_reward", "nn_test_ms", "", ""), ("scan, cosine", "nn_cosine_reward", "nn_cosine_test_ms", "nn_recall_at_1", "nn_recall_at_10"),
        ("kd-tree", "kd_reward", "kd_test_ms", "", ""), ("inverted index", "inverted_index_reward", "inverted_index_test_ms", "inverted_index_recall_at_1", "inverted_index_recall_at_10")):
    print(f"| {name} | {mean(reward)} | {mean(time)} | {mean(one)} | {mean(ten)} |")
