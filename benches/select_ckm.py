#!/usr/bin/env python3
"""Choose the recogniser's options on the training objects of ETH-80 alone (instances 1 to 4; 5 and 6 are never looked at).

usage: TESSERA_DATA=... select_ckm.py TESSERA_BINARY [--race] > select_ckm.log
Every line of the log is one setting and its accuracy when each image is judged without any image of its object. Kinds are
tuned one after the other, one option at a time from the values below, keeping the best; of equals the first. At the end
`tessera tune` races which kinds there are and their weights, 0 included, and then their options, on the same images: its
lines tell besides whether a setting was dropped, being significantly worse than another, and the values that it compares
for an image. With --race only this last part runs, from the options that are the default. Needs nothing but Python.
"""
import copy, json, os, subprocess, sys, tempfile

binary, data = sys.argv[1], os.path.join(os.environ["TESSERA_DATA"], "eth80")
work = tempfile.mkdtemp()

def ron(value):
    if isinstance(value, dict):
        return "(" + ", ".join(f"{k}: {ron(v)}" for k, v in value.items()) + ")"
    return str(value).lower() if isinstance(value, bool) else str(value)

def options(kinds):
    texts = [f"(source: {k['source']}({ron(k['features'])}), kernel: {ron(k['kernel'])})" for k in kinds]
    return f"(side: 128, kinds: [{', '.join(texts)}], decompositions: 8, neighbours: 4, seed: 0)"

def accuracy(label, kinds):
    path = os.path.join(work, "options.ron")
    with open(path, "w") as file:
        file.write(options(kinds))
    run = subprocess.run([binary, "eval", "ckm", "--data", data, "--without-instances", "5,6", "--options", path, "--json", "--quiet"], capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    answer = json.loads(run.stdout.splitlines()[-1])
    print(json.dumps({"setting": label, "accuracy": round(answer["accuracy"], 4), "n": answer["n_test"], "test_ms_per_image": round(answer["test_ms_per_image"], 1)}), flush=True)
    return answer["accuracy"], answer["n_test"]

def climb(kind, grid):
    best = accuracy(f"{kind['source']} as it begins", [kind])[0]
    for part, name, values in grid:
        for value in values:
            if kind[part][name] == value:
                continue
            other = copy.deepcopy(kind)
            other[part][name] = value
            now = accuracy(f"{kind['source']} {name} {value}", [other])[0]
            if now > best:
                best, kind = now, other
    print(json.dumps({"chosen": kind["source"], "features": kind["features"], "kernel": kind["kernel"], "accuracy": round(best, 4)}), flush=True)
    return kind


def race(options):
    """Options raced by `tessera tune` on objects 1 to 4."""
    train = os.path.join(work, "train")
    for category in os.listdir(data):
        os.makedirs(os.path.join(train, category))
        for name in os.listdir(os.path.join(data, category)):
            if int(name.split("_")[1]) < 5:
                os.symlink(os.path.abspath(os.path.join(data, category, name)), os.path.join(train, category, name))
    # Enough for the first race to judge all images.
    run = subprocess.run([binary, "tune", train, *options, "--steps", "27000", "--json", "--quiet"], capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    answer = json.loads(run.stdout.splitlines()[-1])
    for tried in answer["settings"]:
        told = {key: round(tried[key], 4) for key in ("accuracy", "deviation")}
        print(json.dumps({"setting": tried["setting"], **told, "n": tried["held_out"], "dropped": tried["dropped"], "values": round(tried["values"] / 1e6, 1)}), flush=True)
    print(json.dumps({"chosen": answer["best"], "accuracy": round(answer["held_out_accuracy"], 4), "standard_error": round(answer["deviation"], 4), "steps": answer["steps"]}), flush=True)


if "--race" in sys.argv:
    race([])
else:
    orb = climb(
        {"source": "Orb", "features": {"count": 100, "area": 0.0, "spread": 0, "edge": 8, "threshold": 20, "levels": 8, "scale": 1.2, "patch": 41, "upright": False},
         "kernel": {"rho": 56.0, "cost": 0.5, "reach": 32.0, "pair_bonus": 0.2, "weight": 1.0}},
        [("features", "upright", [True]), ("features", "threshold", [12]), ("features", "patch", [31, 51]), ("features", "edge", [4]),
         ("kernel", "rho", [48.0, 72.0]), ("kernel", "cost", [0.25, 1.0]), ("kernel", "pair_bonus", [0.0, 0.4])])
    hog = climb(
        {"source": "Hog", "features": {"cell": 12, "noise": 0.02, "clip": 0.3}, "kernel": {"rho": 2.0, "cost": 0.1, "reach": 32.0, "pair_bonus": 0.1, "weight": 1.0}},
        [("features", "noise", [0.01, 0.04]), ("kernel", "cost", [0.05, 0.2]), ("kernel", "pair_bonus", [0.0, 0.2]), ("features", "clip", [0.2, 0.4]), ("features", "cell", [10, 9, 16])])
    colour = climb(
        {"source": "Colour", "features": {"grid": 6}, "kernel": {"rho": 4.0, "cost": 0.1, "reach": 32.0, "pair_bonus": 0.1, "weight": 1.0}},
        [("features", "grid", [4, 8]), ("kernel", "rho", [1.0, 2.0]), ("kernel", "cost", [0.05, 0.2])])
    for kind, weight in ((orb, 0.03), (hog, 1.0), (colour, 0.8)):
        kind["kernel"]["weight"] = weight
    path = os.path.join(work, "mixed.ron")
    with open(path, "w") as file:
        file.write(options([orb, hog, colour]))
    race(["--options", path])
