#!/usr/bin/env python3
"""Learning curves on compositions and symmetries made of ETH-80: Tessera beside k-NN and SVM on pixels, on HOG and on colour histograms.

usage: TESSERA_DATA=... compositions.py compositions|symmetries TESSERA_BINARY WORK_DIR [--sizes 50,100,...] [--test N]
           [--choose] [--settings "NAME; ..."] [--peers knn,svm] [--features pixels,HOG,colours] [--minutes M]
           [--search exact|shortlist|index] [--shortlist N] [--probes N]
Generates the pictures into WORK_DIR (seed 0) unless they are there, trains on the first N pictures of `train` for each size,
tests on the first pictures of `test`, and prints one JSON object a line. A setting whose name ends in ", mirrored too"
trains on each picture's mirror image besides. Training and test pictures show the same objects
in different views.
With --choose it instead compares settings of Tessera on pictures that are made of the training half's views alone, again
with different views to train and to test on: no test view takes part in the choice. A curve that has taken M minutes of processor
time ends.
The SVM's C is chosen by three folds of the training pictures. Without --search Tessera searches by shortlist
above 2,000 training pictures. All run on one thread; Tessera's test times are wall times brought to processor time
by the share of a processor that the run had.
needs: pip install numpy pillow scikit-learn scikit-image
"""
import argparse, copy, json, os, re, resource, shutil, subprocess, sys, time
os.environ.setdefault("OMP_NUM_THREADS", "1")
a = argparse.ArgumentParser()
a.add_argument("kind", choices=["compositions", "symmetries"]); a.add_argument("tessera"); a.add_argument("work")
a.add_argument("--sizes", default="50,100,200,400,800,1600,3200,6400,12800"); a.add_argument("--test", type=int, default=1000)
a.add_argument("--choose", action="store_true"); a.add_argument("--choose-train", type=int, default=100); a.add_argument("--choose-test", type=int, default=200)
a.add_argument("--settings", default="default; chosen"); a.add_argument("--peers", default="knn,svm"); a.add_argument("--features", default="pixels,HOG,colours"); a.add_argument("--minutes", type=float, default=20)
a.add_argument("--search", choices=["exact", "shortlist", "index"]); a.add_argument("--shortlist"); a.add_argument("--probes")
a = a.parse_args()
DATA = os.environ["TESSERA_DATA"]
CATEGORIES = "car,cow,cup"


def run(*words):
    done = subprocess.run([a.tessera, *words, "--threads", "1", "--json", "--quiet"], capture_output=True, text=True)
    if done.returncode > 1: sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def generate(to, objects, masks, train, test):
    if os.path.exists(to): return
    more = ["--categories", CATEGORIES] if a.kind == "compositions" else []
    run("generate", a.kind, "--to", to, "--objects", objects, "--masks", masks, "--train", str(train), "--test", str(test), *more)


def pictures(folder):
    """Class and path of each picture, by its number."""
    found = [(name, cls) for cls in os.listdir(folder) for name in os.listdir(os.path.join(folder, cls))]
    number = lambda name: int(re.search(r"\d{6}", name).group())
    return [(cls, os.path.join(folder, cls, name)) for name, cls in sorted(found, key=lambda pair: number(pair[0]))]


def linked(part, items):
    """A folder of links to these pictures."""
    to = os.path.join(a.work, f"{a.kind}-now-{os.getpid()}", part); shutil.rmtree(to, ignore_errors=True)
    for cls, path in items:
        os.makedirs(os.path.join(to, cls), exist_ok=True); os.symlink(os.path.abspath(path), os.path.join(to, cls, os.path.basename(path)))
    return to


# Settings of the recogniser: kernels as by default unless named here.
ORB = {"source": "Orb", "features": {"count": 100, "area": 0.0, "levels": 8, "scale": 1.2, "edge": 4, "threshold": 20, "patch": 51, "spread": 0, "upright": True},
       "kernel": {"rho": 56.0, "cost": 0.5, "reach": 32.0, "pair_bonus": 0.2, "weight": 0.03}}
HOG = {"source": "Hog", "features": {"cell": 9, "noise": 0.01, "clip": 0.4}, "kernel": {"rho": 2.0, "cost": 0.05, "reach": 32.0, "pair_bonus": 0.2, "weight": 1.0}}
COLOUR = {"source": "Colour", "features": {"grid": 6}, "kernel": {"rho": 4.0, "cost": 0.1, "reach": 32.0, "pair_bonus": 0.1, "weight": 0.8}}


def machine(kinds, side=128):
    made = []
    for kind, changes in kinds:
        kind = copy.deepcopy(kind)
        for name, value in changes.items(): kind["kernel" if name in kind["kernel"] else "features"][name] = value
        made.append(kind)
    return made, side


FREE = {"cost": 0.0}
TURNED = {"cost": 0.0, "upright": False, "weight": 1.0}
SETTINGS = {
    "default": machine([(ORB, {}), (HOG, {}), (COLOUR, {})]),
    "blocks": machine([(HOG, {})]),
    "blocks, no place cost": machine([(HOG, FREE)]),
    "blocks, no place cost, pairs 0.5": machine([(HOG, {"cost": 0.0, "pair_bonus": 0.5})]),
    "upright corners, no place cost, double size": machine([(ORB, {"cost": 0.0, "weight": 1.0, "count": 200, "patch": 31})], 256),
    "turned corners, no place cost": machine([(ORB, TURNED)]),
    "turned corners, no place cost, double size": machine([(ORB, {**TURNED, "count": 200, "patch": 31})], 256),
    "colour, no place cost": machine([(COLOUR, {"cost": 0.0, "weight": 1.0})]),
    "fine colour, no place cost": machine([(COLOUR, {"cost": 0.0, "weight": 1.0, "grid": 16})]),
    "fine colour, no place cost, pairs 0.3": machine([(COLOUR, {"cost": 0.0, "weight": 1.0, "grid": 16, "pair_bonus": 0.3})]),
    "fine colour, no place cost, no pairs": machine([(COLOUR, {"cost": 0.0, "weight": 1.0, "grid": 16, "pair_bonus": 0.0})]),
    "fine colour, no place cost, near": machine([(COLOUR, {"cost": 0.0, "weight": 1.0, "grid": 16, "rho": 0.5})]),
    "finer colour, no place cost": machine([(COLOUR, {"cost": 0.0, "weight": 1.0, "grid": 24})], 256),
    "fine colour, no place cost, and corners": machine([(ORB, {"cost": 0.0, "weight": 0.03}), (COLOUR, {"cost": 0.0, "weight": 1.0, "grid": 16})]),
    "all, no place cost, fine colour": machine([(ORB, FREE), (HOG, FREE), (COLOUR, {"cost": 0.0, "grid": 16})]),
    "all, no place cost": machine([(ORB, FREE), (HOG, FREE), (COLOUR, FREE)]),
    "blocks, place cost 0.2": machine([(HOG, {"cost": 0.2})]),
    "all, place cost of blocks 0.2": machine([(ORB, {}), (HOG, {"cost": 0.2}), (COLOUR, {})]),
    "all, place cost of blocks 0.2, less colour": machine([(ORB, {}), (HOG, {"cost": 0.2}), (COLOUR, {"weight": 0.2})]),
    "all, no place cost, turned": machine([(ORB, {**FREE, "upright": False}), (HOG, FREE), (COLOUR, FREE)]),
    "corners and fine colour, no place cost": machine([(ORB, {"cost": 0.0, "count": 200, "patch": 31, "weight": 0.3}), (COLOUR, {"cost": 0.0, "grid": 16, "weight": 1.0})], 256),
}
# What --choose found best for each kind of picture.
CHOSEN = {"compositions": "fine colour, no place cost, no pairs", "symmetries": "all, place cost of blocks 0.2"}


def ron(value):
    if isinstance(value, dict): return "(" + ", ".join(f"{k}: {ron(v)}" for k, v in value.items()) + ")"
    return str(value).lower() if isinstance(value, bool) else str(value)


MIRRORED = ", mirrored too"


def with_mirrored(train):
    """A folder with these pictures and each of them mirrored."""
    from PIL import Image, ImageOps
    to = train + "-mirrored"; shutil.rmtree(to, ignore_errors=True)
    for cls in os.listdir(train):
        os.makedirs(os.path.join(to, cls))
        for name in os.listdir(os.path.join(train, cls)):
            path = os.path.join(train, cls, name); os.symlink(os.path.abspath(path), os.path.join(to, cls, name))
            ImageOps.mirror(Image.open(path)).save(os.path.join(to, cls, "mirrored-" + os.path.splitext(name)[0] + ".png"))
    return to


def recognise(setting, train, test):
    if setting.endswith(MIRRORED): train = with_mirrored(train)
    kinds, side = SETTINGS[setting.removesuffix(MIRRORED)]; path = os.path.join(a.work, f"{a.kind}-{os.getpid()}.ron")
    texts = [f"(source: {k['source']}({ron(k['features'])}), kernel: {ron(k['kernel'])})" for k in kinds]
    open(path, "w").write(f"(side: {side}, kinds: [{', '.join(texts)}], decompositions: 8, neighbours: 4, seed: 0)")
    search = a.search or ("shortlist" if sum(len(files) for *_, files in os.walk(train)) > 2000 else "exact")
    more = [word for name, value in (("--shortlist", a.shortlist), ("--probes", a.probes)) if value for word in (name, value)]
    wall, processor = time.time(), used()
    found = run("eval", "ckm", "--train", train, "--test", test, "--options", path, "--search", search, *more)
    found["test_ms_per_image"] *= min(1, (used() - processor) / (time.time() - wall))
    return found


def used():
    """Seconds of processor time so far."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def told(method, accuracy, n, n_test, start, **more):
    print(json.dumps({"method": method, "n_train": n, "n_test": n_test, "accuracy": round(accuracy, 4), "seconds": round(time.time() - start, 1), **more}), flush=True)


os.makedirs(a.work, exist_ok=True)
scenes = os.path.join(a.work, a.kind)
sizes = [int(n) for n in a.sizes.split(",")]
generate(scenes, os.path.join(DATA, "eth80"), os.path.join(DATA, "eth80-masks"), max(sizes), a.test)

if a.choose:
    # The views of the first training pictures, as objects of their own.
    inner = os.path.join(a.work, a.kind + "-inner")
    if not os.path.exists(inner):
        views = set()
        for line in open(os.path.join(scenes, "scenes.tsv")):
            path, shows = line.rstrip("\n").split("\t")
            if path.startswith("train/"): views.update(view for view in shows.split() if view != "-")
        for view in views:
            cls = view.split("_")[0]
            for source, ending in (("eth80", "jpg"), ("eth80-masks", "png")):
                os.makedirs(os.path.join(inner, source, cls), exist_ok=True)
                os.symlink(os.path.join(DATA, source, cls, f"{view}.{ending}"), os.path.join(inner, source, cls, f"{view}.{ending}"))
    made = os.path.join(a.work, a.kind + "-choose")
    generate(made, os.path.join(inner, "eth80"), os.path.join(inner, "eth80-masks"), a.choose_train, a.choose_test)
    for setting in SETTINGS if a.settings == "default; chosen" else a.settings.split("; "):
        start = time.time(); r = recognise(setting, os.path.join(made, "train"), os.path.join(made, "test"))
        told(setting, r["accuracy"], r["n_train"], r["n_test"], start, test_ms_per_image=round(r["test_ms_per_image"], 1))
    sys.exit()

import numpy as np
from PIL import Image
from skimage.feature import hog
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

train, test = pictures(os.path.join(scenes, "train")), pictures(os.path.join(scenes, "test"))[:a.test]
side = 96
grey = lambda path: np.asarray(Image.open(path).convert("L").resize((side, side), Image.LANCZOS))


def histogram(path):
    """Square roots of the shares of 8 x 8 x 8 colours."""
    bins = np.asarray(Image.open(path).convert("RGB")).reshape(-1, 3).astype(int) // 32
    return np.sqrt(np.bincount(bins @ [64, 8, 1], minlength=512) / len(bins))


spent, over = {}, set()


def curve(method, n, work):
    if method in over: return
    start, before = time.time(), used(); accuracy, more = work(); told(method, accuracy, n, len(test), start, **more)
    spent[method] = spent.get(method, 0) + used() - before
    if spent[method] > 60 * a.minutes: over.add(method); print(json.dumps({"method": method, "ended_after": n}), flush=True)


tests = linked("test", test)
if a.peers: Z = np.stack([grey(path) for _, path in test]); ZC = np.stack([histogram(path) for _, path in test]); T = np.array([cls for cls, _ in test])
for n in sizes:
    some = train[:n]; trains = linked("train", some)
    for setting in a.settings.split("; ") if a.settings else []:
        name = CHOSEN[a.kind] if setting == "chosen" else setting
        def ckm():
            r = recognise(name, trains, tests); return r["accuracy"], {"test_ms_per_image": round(r["test_ms_per_image"], 1), "setting": name}
        curve("tessera " + setting, n, ckm)
    if not a.peers: continue
    X = np.stack([grey(path) for _, path in some]); y = np.array([cls for cls, _ in some])
    flat = lambda A: A.reshape(len(A), -1).astype(np.float32) / 255
    blocks = lambda A: np.stack([hog(i, 9, (8, 8), (2, 2)) for i in A]).astype(np.float32)
    features = {"pixels": lambda: (flat(X), flat(Z)), "HOG": lambda: (blocks(X), blocks(Z)), "colours": lambda: (np.stack([histogram(path) for _, path in some]), ZC)}
    for what, of in features.items():
        if what not in a.features.split(","): continue
        made = []
        def both():
            if not made: made.append(of())
            return made[0]
        if "knn" in a.peers:
            for k in (1, 5): curve(f"{k}-NN on {what}", n, lambda: ((KNeighborsClassifier(k).fit(both()[0], y).predict(both()[1]) == T).mean(), {}))
        if "svm" in a.peers:
            def svm():
                found = GridSearchCV(make_pipeline(StandardScaler(with_std=False), SVC(gamma="scale")), {"svc__C": [1, 10]}, cv=3).fit(both()[0], y)
                return (found.predict(both()[1]) == T).mean(), found.best_params_
            curve(f"SVM (RBF) on {what}", n, svm)
