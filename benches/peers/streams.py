#!/usr/bin/env python3
"""Linear rules of scikit-learn and river beside Tessera's on the streams of `tessera eval online`, in the same rounds, which Tessera writes down.

usage: streams.py TESSERA_BINARY [--rounds 100000] [--streams perceptron-killer:4,perceptron-killer:16,sphere:4,sphere:16] [--seed 0]
Each learner answers, pays what its answer costs and hears the right one. A table for each stream: the loss until T/100, T/10 and T, mistakes, and the time of a
round, to answer and learn, as a multiple of contextual search's. The adversary's answers are made against whoever asks, so that it is no stream for several.
needs: pip install numpy scikit-learn river
"""
import argparse, json, os, subprocess, sys, tempfile, time
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"): os.environ[name] = "1"
import numpy as np
from river import linear_model
from sklearn.linear_model import PassiveAggressiveClassifier, Perceptron
import warnings; warnings.filterwarnings("ignore")
a = argparse.ArgumentParser(); a.add_argument("binary"); a.add_argument("--rounds", type=int, default=100000); a.add_argument("--seed", default="0")
a.add_argument("--streams", default="perceptron-killer:4,perceptron-killer:16,sphere:4,sphere:16"); a = a.parse_args()
if a.rounds < 100 or set(str(a.rounds)[1:]) != {"0"} or str(a.rounds)[0] not in "125": sys.exit("--rounds must be 1, 2 or 5 times a power of ten, 100 or more")
marks = [max(a.rounds // 100, 1), max(a.rounds // 10, 1), a.rounds]


def ours(learner, stream, d, to=None):
    run = subprocess.run([a.binary, "eval", "online", "--learner", learner, "--stream", stream, "--d", d, "--rounds", str(a.rounds), "--seed", a.seed, "--json", "--quiet",
        *(["--to", to] if to else [])], capture_output=True, text=True)
    if run.returncode: sys.exit(run.stderr[-800:])
    told = json.loads(run.stdout)
    curve = dict(told["curve"])
    return [curve[m] for m in marks], told["mistakes"], told["ms_per_round"]


class Sklearn:
    def __init__(self, model): self.model, self.heard = model, False
    def answer(self, x): return int(self.model.predict(x[None])[0]) if self.heard else 0
    def learn(self, x, c): self.model.partial_fit(x[None], [c], classes=[0, 1]); self.heard = True


class River:
    def __init__(self, model): self.model = model
    def answer(self, x): return int(self.model.predict_one(x) or 0)
    def learn(self, x, c): self.model.learn_one(x, c)


peers = {
    "scikit-learn, Perceptron": lambda: Sklearn(Perceptron(fit_intercept=False)),
    "scikit-learn, passive-aggressive": lambda: Sklearn(PassiveAggressiveClassifier(C=1.0, fit_intercept=False)),
    "river, Perceptron": lambda: River(linear_model.Perceptron()),
    "river, passive-aggressive": lambda: River(linear_model.PAClassifier(C=1.0, mode=1, learn_intercept=False)),
}
for one in a.streams.split(","):
    stream, d = one.split(":")
    with tempfile.TemporaryDirectory() as tmp:
        contextual = ours("ellipsoid", stream, d, f"{tmp}/asked.csv")
        table = np.loadtxt(f"{tmp}/asked.csv", delimiter=",", skiprows=1)
    truths, costs, rows = [int(c) for c in table[:, 0]], table[:, 1:3].tolist(), table[:, 3:].copy()
    dicts = [dict(enumerate(row)) for row in rows.tolist()]
    print(f"\n{stream}, d = {d}, {a.rounds} rounds, seed {a.seed}\n\n| learner | loss at T/100, T/10, T | mistakes | time of a round |\n|---|---|---|---|")
    tell = lambda name, found: print(f"| {name} | {' '.join(f'{x:.2f}' for x in found[0])} | {found[1]:,} | {found[2] / contextual[2]:.2f} |", flush=True)
    tell("**Tessera, contextual search**", contextual)
    for name, rule in [("Perceptron", "perceptron"), ("Crammer and Singer", "crammer-singer"), ("passive-aggressive", "pa")]: tell(f"Tessera, {name}", ours(rule, stream, d))
    for name, make in peers.items():
        learner, loss, wrong, curve, spent = make(), 0.0, 0, [], 0.0
        see = dicts if isinstance(learner, River) else rows
        start = time.perf_counter()
        for t, (x, c, cost) in enumerate(zip(see, truths, costs), 1):
            guess = learner.answer(x)
            loss += cost[guess]; wrong += int(guess != c)
            learner.learn(x, c)
            if t in marks: curve.append(loss)
        tell(name, (curve, wrong, (time.perf_counter() - start) / a.rounds * 1e3))
