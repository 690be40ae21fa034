#!/usr/bin/env python3
"""Memory trees beside the authors' own implementation in Vowpal Wabbit, and the paper's baselines, on the same libsvm files.

usage: cmt_vw.py TRAIN.svm TEST.svm [--tessera BINARY] [--online] [--rounds 3] [--c 4] [--d 5] [--alpha 0.9] [--passes 2] [--lr 0.1] [--methods cmt-u,cmt,emt,recall,oaa,lom]
Prints one JSON object a method: test error, entropy reduction (log2 of the accuracy over that of the most frequent class), milliseconds
for a training example and pass, and for a test example. With --online each example is asked for before it is learned, in one pass: the
error while learning is reported too. With --tessera its own figures come first, on one thread.

Everything runs in rounds, in each of which every method runs once with the round's seed, one after the other, ours first. Errors are
means over them, times medians; train_ratio is the median of our time for an example and pass over theirs in the same round. Ours are
timed inside the program; the others as whole processes, less the time of one that only reads the file; the time of a test example is
that of a process that trains and tests less that of one that trains, and 0 where noise is larger. --passes counts the one that inserts.
Options are the paper's for few-shot WikiPara: memories that are put in again teach routers after rewards too; online, the scorer does
not learn. needs: pip install vowpalwabbit
"""
import argparse, collections, json, math, os, shutil, statistics, subprocess, sys, tempfile, time
a = argparse.ArgumentParser(); a.add_argument("train"); a.add_argument("test"); a.add_argument("--tessera"); a.add_argument("--online", action="store_true")
a.add_argument("--c", type=int); a.add_argument("--d", type=int); a.add_argument("--alpha", type=float, default=0.9); a.add_argument("--passes", type=int, default=2); a.add_argument("--lr", type=float, default=0.1)
a.add_argument("--bits", type=int, default=24); a.add_argument("--methods"); a.add_argument("--timeout", type=int, default=900)
a.add_argument("--rounds", type=int, default=3); a = a.parse_args()
# The paper's settings for few-shot WikiPara, offline and online.
c, d = (a.c or 10, a.d or 15) if a.online else (a.c or 4, a.d or 5)
methods = (a.methods or ("cmt,recall,oaa,lom" if a.online else "cmt-u,cmt,emt,recall,oaa,lom")).split(",")
tmp = tempfile.mkdtemp(); names = {}

def convert(src, dst):
    labels = []
    with open(dst, "w") as o:
        for line in open(src):
            p = line.split()
            if p: o.write(f"{names.setdefault(p[0], len(names) + 1)} | {' '.join(p[1:])}\n"); labels.append(names[p[0]])
    return labels

train, test = convert(a.train, tmp + "/train.vw"), convert(a.test, tmp + "/test.vw")
n, m, k = len(train), len(test), len(names)
constant = max(1, test.count(collections.Counter(train).most_common(1)[0][0])) / m
nodes = max(2, int(2 * a.passes * n / (math.log2(n) * c)))
gain = lambda error: math.log2(max(1 - error, 1e-9) / constant)
ours = {"": ["--online"]} if a.online else {"-u": ["--supervised-passes", "0"], "": ["--supervised-passes", str(a.passes - 1), "--reroutes-teach"]}

def tessera(name, seed):
    command = [a.tessera, "eval", "cmt-classify", "--train", a.train, "--test", a.test, "--json", "--quiet", "--c", str(c), "--reroutes", str(d), "--alpha", str(a.alpha), "--seed", str(seed)]
    run = subprocess.run(command + ours[name], capture_output=True, text=True)
    if run.returncode: sys.exit(run.stderr[-800:])
    r = json.loads(run.stdout.splitlines()[-1])
    keep = ("error", "entropy_reduction", "train_ms", "test_ms", "self_consistency_error", "nn_error", "nn_test_ms", "features_read")
    return {**({"progressive_error": r["progressive_error"]} if a.online else {}), **{key: r[key] for key in keep}}

def vw(*args):
    t0 = time.perf_counter(); r = subprocess.run([sys.executable, "-m", "vowpalwabbit", *map(str, args)], capture_output=True, text=True, timeout=a.timeout)
    if r.returncode: raise RuntimeError(r.stderr[-800:])
    return time.perf_counter() - t0

common = ["-b", a.bits, "-l", a.lr, "--loss_function", "squared", "--quiet"]
# Vowpal Wabbit's --alpha is 1 minus the paper's.
tree = ["--memory_tree", nodes, "--max_number_of_labels", k, "--leaf_example_multiplier", c, "--dream_repeats", d, "--alpha", round(1 - a.alpha, 6)]
passes = 1 if a.online else 3
options = {
    "cmt-u": (tree + ["--dream_at_update", 1], 1),
    "cmt": (tree + ["--online"], 1) if a.online else (tree + ["--dream_at_update", 1, "--learn_at_leaf"], a.passes),
    "emt": (["--emt"], 1), "recall": (["--recall_tree", k], passes), "oaa": (["--oaa", k], passes), "lom": (["--log_multi", k], passes)}
# A saved memory tree does not load back correctly, so train and test run in one process: the test lines follow the
# training lines without a label, which makes VW predict on them and learn nothing.
with open(tmp + "/both.vw", "w") as o:
    o.write(open(tmp + "/train.vw").read())
    for l in open(tmp + "/test.vw"): o.write(l[l.index("|"):])

def run(name, file, seed, extra):
    opt, passes = options[name]
    cache = ["--passes", passes, "--cache_file", f"{tmp}/{name}.{os.path.basename(file)}.cache", "-k", "--holdout_off"] if passes > 1 else []
    return vw(*opt, *common, "--random_seed", seed, "-d", file, *cache, *extra)

wrong = lambda said, truth: sum(u != v for u, v in zip(said, truth)) / len(truth)

def peer(name, seed):
    try:
        t = run(name, tmp + "/train.vw", seed, []); b = run(name, tmp + "/both.vw", seed, ["-p", tmp + "/p"]); read = vw("--noop", "-d", tmp + "/train.vw", "--quiet")
    except subprocess.TimeoutExpired:
        return {"timeout_s": a.timeout}
    except RuntimeError as error:
        return {"failed": str(error)}
    said = [float(l.split()[0]) for l in open(tmp + "/p") if l.strip()]
    error = wrong(said[-m:], test); passes = options[name][1]
    online = {"progressive_error": wrong(said[:n], train)} if a.online and len(said) == n + m else {}
    return {**online, "error": error, "entropy_reduction": gain(error), "train_ms": 1e3 * (t - read) / n / passes, "test_ms": 1e3 * max(b - t, 0) / m / passes}

rounds = collections.defaultdict(list)
for seed in range(a.rounds):
    for name in (ours if a.tessera else ()): rounds["tessera-cmt" + name].append(tessera(name, seed))
    for name in methods: rounds["vw-" + name].append(peer(name, seed))
shutil.rmtree(tmp)
for name, all in list(rounds.items()):
    row = dict(next((r for r in all if "error" in r), all[0]))
    if "error" in row:
        good = [r for r in all if "error" in r]
        row |= {key: (statistics.median if key.endswith("_ms") else statistics.mean)(r[key] for r in good) for key in row}
        own = "tessera-cmt-u" if name == "vw-cmt-u" else "tessera-cmt"
        ratios = [u["train_ms"] / v["train_ms"] for u, v in zip(rounds[own], all) if v.get("train_ms", 0) > 0]
        if name.startswith("vw-") and ratios: row["train_ratio"] = statistics.median(ratios)
    print(json.dumps({"method": name, **row, "n_train": n, "n_test": m, "classes": k, "rounds": len(all)}), flush=True)
