#!/usr/bin/env python3
"""Labelling desks of scikit-learn and river beside Tessera's, on the same things in the same orders, which Tessera writes down.

usage: online.py TESSERA_BINARY FILE.svm [--groups FILE] [--order random,folder,instance,runs] [--orders 20] [--peers 5] [--timed 3]
A desk suggests a class for each thing, hears the right one and counts a correction where they differ; a class that it has never heard cannot be
suggested. Prints a table for each kind of order: means and standard deviations over orders, of which the others have the first --peers, and river's
neighbours, which take longest, the first alone. Then times: suggesting and learning, of one example, on one thread; after each other in turns on the first --timed random
orders, as medians of ratios to Tessera's desk with all its advisers.
needs: pip install numpy scikit-learn river
"""
import argparse, json, os, statistics, subprocess, sys, tempfile, time
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"): os.environ[name] = "1"
import numpy as np
from river import linear_model, multiclass, neighbors, optim
from sklearn.linear_model import PassiveAggressiveClassifier, Perceptron, SGDClassifier
from sklearn.neighbors import KNeighborsClassifier
import warnings; warnings.filterwarnings("ignore")
a = argparse.ArgumentParser(); a.add_argument("binary"); a.add_argument("stream"); a.add_argument("--groups"); a.add_argument("--order", default="random")
a.add_argument("--orders", type=int, default=20); a.add_argument("--timed", type=int, default=3); a.add_argument("--peers", type=int, default=5); a = a.parse_args()


def ours(orders, kinds, to=None):
    more = (["--groups", a.groups] if a.groups else []) + (["--to", to] if to else [])
    run = subprocess.run([a.binary, "eval", "desk", "--stream", a.stream, "--order", kinds, "--orders", str(orders), "--threads", "1", "--json", "--quiet", *more],
        capture_output=True, text=True)
    if run.returncode: sys.exit(run.stderr[-800:])
    return [json.loads(line) for line in run.stdout.splitlines()]


class Linear:
    """scikit-learn's linear rules, which must be told all classes at first; those not heard are never suggested."""
    def __init__(self, make, classes): self.model, self.all, self.heard = make(), classes, []
    def suggest(self, x):
        if len(self.heard) < 2: return self.heard[0] if self.heard else None
        scores = self.model.decision_function(x[None])[0]
        if len(self.all) == 2: scores = np.array([-scores, scores])
        return max(self.heard, key=lambda c: scores[c])
    def learn(self, x, c):
        if c not in self.heard: self.heard.append(c)
        self.model.partial_fit(x[None], [c], classes=self.all)


class Nearest:
    """scikit-learn's neighbours have no partial_fit: they are fitted to all that was heard before each suggestion, which only keeps a reference."""
    def __init__(self, k, n, d): self.k, self.x, self.y, self.n = k, np.zeros((n, d)), np.zeros(n, int), 0
    def suggest(self, x):
        if not self.n: return None
        model = KNeighborsClassifier(min(self.k, self.n), algorithm="brute", weights="distance" if self.k > 1 else "uniform")
        return model.fit(self.x[:self.n], self.y[:self.n]).predict(x[None])[0]
    def learn(self, x, c): self.x[self.n], self.y[self.n] = x, c; self.n += 1


class River:
    def __init__(self, model): self.model = model
    def suggest(self, x): return self.model.predict_one(x)
    def learn(self, x, c): self.model.learn_one(x, c)


def desks(n, d, classes):
    every = range(len(classes))
    return {
        "sklearn PassiveAggressiveClassifier": lambda: Linear(lambda: PassiveAggressiveClassifier(C=1.0), list(every)),
        "sklearn Perceptron": lambda: Linear(lambda: Perceptron(), list(every)),
        "sklearn SGDClassifier (log loss)": lambda: Linear(lambda: SGDClassifier(loss="log_loss"), list(every)),
        "sklearn KNeighborsClassifier, 1": lambda: Nearest(1, n, d),
        "sklearn KNeighborsClassifier, 5": lambda: Nearest(5, n, d),
        "river Perceptron, one against rest": lambda: River(multiclass.OneVsRestClassifier(linear_model.Perceptron())),
        "river PAClassifier, one against rest": lambda: River(multiclass.OneVsRestClassifier(linear_model.PAClassifier(C=1.0, mode=1))),
        "river SoftmaxRegression": lambda: River(linear_model.SoftmaxRegression(optimizer=optim.SGD(0.1))),
        "river KNNClassifier, 5": lambda: River(neighbors.KNNClassifier(n_neighbors=5, engine=neighbors.LazySearch(window_size=n))),
    }


SLOW = {"river KNNClassifier, 5"}


def sit(desk, places, rows, dicts, truths):
    wrong, start = 0, time.perf_counter()
    see = dicts if isinstance(desk, River) else rows
    for place in places:
        x, c = see[place], truths[place]
        wrong += int(desk.suggest(x) != c)
        desk.learn(x, c)
    return wrong, (time.perf_counter() - start) / len(places) * 1e3


with tempfile.TemporaryDirectory() as tmp:
    kinds = a.order.split(",")
    found = ours(a.orders, a.order, tmp)
    table = np.loadtxt(f"{tmp}/things.csv", delimiter=",")
    orders = [[int(p) for p in line.split(",")] for line in open(f"{tmp}/orders.csv")]
truths, rows = [int(c) for c in table[:, 0]], table[:, 1:].copy()
dicts = [dict(enumerate(row)) for row in rows.tolist()]
makes = desks(len(rows), rows.shape[1], sorted(set(truths)))
for kind, one, first in zip(kinds, found, range(0, len(orders), a.orders)):
    print(f"\n{kind}: {len(rows)} things, {len(set(truths))} classes, {a.orders} orders\n\n| desk | corrections | orders |\n|---|---|---|")
    print(f"| **Tessera, mixture** | {one['corrections']:.1f} ± {one['deviation']:.1f} | {a.orders} |")
    for name, who in one["advisers"].items(): print(f"| Tessera, {name} alone | {who['corrections']:.1f} ± {who['deviation']:.1f} | {a.orders} |")
    print(f"| the last class again | {one['last_class']:.1f} | {a.orders} |", flush=True)
    for name, make in makes.items():
        some = orders[first:first + min(1 if name in SLOW else a.peers, a.orders)]
        wrong = [sit(make(), places, rows, dicts, truths)[0] for places in some]
        print(f"| {name} | {statistics.mean(wrong):.1f} ± {statistics.stdev(wrong) if len(wrong) > 1 else 0:.1f} | {len(wrong)} |", flush=True)
ratios, times = {name: [] for name in makes}, []
for places in orders[:a.timed]:
    for name, make in makes.items():
        one = ours(1, "random")[0]
        own = one["mixing_ms"] + sum(who["ms_per_example"] for who in one["advisers"].values())
        times.append(own)
        ratios[name].append(sit(make(), places, rows, dicts, truths)[1] / own)
print("\n| desk | time of an example, as a multiple of Tessera's with all advisers |\n|---|---|")
print(f"| **Tessera, mixture** | 1 ({statistics.median(times):.2f} ms) |")
for name, those in ratios.items():
    if those: print(f"| {name} | {statistics.median(those):.2f} |")
