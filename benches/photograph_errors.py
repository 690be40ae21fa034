"""Why a recogniser is wrong about photographs: which class its errors go to, clutter, place and scale, kinds of elements, sizes of classes.

    python3 benches/photograph_errors.py target/release/tessera [--fold OUT] SET...

Each SET has `train` and `test`, with a folder for each class. With `--fold OUT` the last quarter of each class of `train`, by
name, is judged by the rest, through links in the folder OUT, and `test` is not looked at. Needs pillow and numpy.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

# What is done to a picture: how much of each side is seen, and how far to the side of the middle, in shares of the side.
VIEWS = {"cut": (0.8, 0.1), "larger": (0.75, 0.0), "smaller": (1.3, 0.0)}


def run(*arguments):
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(map(str, arguments))}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines() if line]


def classes(folder):
    return {c: sorted(os.listdir(f"{folder}/{c}")) for c in sorted(os.listdir(folder)) if os.path.isdir(f"{folder}/{c}")}


def link(folder, names, to):
    for c, files in names.items():
        os.makedirs(f"{to}/{c}")
        for f in files:
            os.symlink(os.path.realpath(f"{folder}/{c}/{f}"), f"{to}/{c}/{f}")


def options(program, kinds, has_place, to):
    """Writes the program's options of these kinds, without a cost of place where `has_place` is not set."""
    text = subprocess.run([program, "eval", "ckm", "--print-options", "--elements", kinds], capture_output=True, text=True).stdout
    with open(to, "w") as file:
        file.write(text if has_place else re.sub(r"\bcost: [0-9.]+", "cost: 0.0", text))


class Machine:
    """A trained recogniser, and what it says of images."""

    def __init__(self, program, train, kinds, has_place, folder):
        self.program = program
        self.model = tempfile.mktemp(".tessera-model", dir=folder)
        written = tempfile.mktemp(".ron", dir=folder)
        options(program, kinds, has_place, written)
        run(program, "train", train, "--options", written, "--to", self.model, "--json", "--quiet")

    def answers(self, folder):
        """Of each image, by class and file: the answer."""
        lines = run(self.program, "classify", self.model, folder, "--json", "--quiet")
        return {tuple(line["path"].split("/")[-2:]): line["nearest_class"] for line in lines}


def accuracy(answers):
    return np.mean([answer == c for (c, _), answer in answers.items()])


def clutter(path):
    """The strength of a picture's edges in the outer half of its area."""
    grey = np.asarray(Image.open(path).convert("L").resize((64, 64)), float)
    strength = np.hypot(*np.gradient(grey))
    edge = 9
    return strength.sum() - strength[edge:-edge, edge:-edge].sum()


def viewed(folder, names, view, to):
    """Copies of pictures, seen otherwise; where more is seen than there is, the border goes on."""
    share, aside = view
    for c, files in names.items():
        os.makedirs(f"{to}/{c}")
        for f in files:
            picture = np.asarray(Image.open(f"{folder}/{c}/{f}").convert("RGB"))
            h, w = picture.shape[:2]
            rows = (np.arange(h) - h / 2) * share + h / 2 + aside * h
            columns = (np.arange(w) - w / 2) * share + w / 2 + aside * w
            near = lambda at, n: np.clip(np.round(at).astype(int), 0, n - 1)
            Image.fromarray(picture[near(rows, h)][:, near(columns, w)]).save(f"{to}/{c}/{os.path.splitext(f)[0]}.png")


def report(program, name, train, test, scratch):
    test_names, train_names = classes(test), classes(train)
    print(f"\n## {name}: {sum(map(len, train_names.values()))} training images, {sum(map(len, test_names.values()))} judged")
    of = {}
    for kinds in ["orb", "hog", "colour", "mixed", "network", "all"]:
        for has_place in [True, False]:
            of[kinds, has_place] = Machine(program, train, kinds, has_place, scratch).answers(test)
    print("\n| elements | accuracy | place costs nothing |\n|---|---|---|")
    for kinds in ["orb", "hog", "colour", "mixed", "network", "all"]:
        print(f"| `{kinds}` | {accuracy(of[kinds, True]):.3f} | {accuracy(of[kinds, False]):.3f} |")
    # The largest of equals would be an accident, so all classes of the largest size count.
    most = max(map(len, train_names.values()))
    largest = {c for c, files in train_names.items() if len(files) == most}
    dirt = {(c, f): clutter(f"{test}/{c}/{f}") for c, files in test_names.items() for f in files}
    # Thirds within each class, so that a class of cluttered pictures does not stand for clutter.
    third = {}
    for c, files in test_names.items():
        for rank, f in enumerate(sorted(files, key=lambda f: dirt[c, f])):
            third[c, f] = 3 * rank // len(files)
    least = min(map(len, train_names.values()))
    link(train, {c: files[:least] for c, files in train_names.items()}, f"{scratch}/equal")
    for view, what in VIEWS.items():
        viewed(test, test_names, what, f"{scratch}/{view}")
    print("\n| elements | errors | to the class answered most | to the largest, whose share is | calm, medium, cluttered third | equal sizes | cut off at two sides, larger, smaller |")
    print("|---|---|---|---|---|---|---|")
    for kinds in ["mixed", "all"]:
        answers = of[kinds, True]
        wrong = [answer for (c, _), answer in answers.items() if answer != c]
        often = max(set(answers.values()), key=list(answers.values()).count)
        to_often = np.mean([answer == often for answer in wrong]) if wrong else 0
        to_largest = np.mean([answer in largest for answer in wrong]) if wrong else 0
        thirds = [accuracy({key: a for key, a in answers.items() if third[key] == t}) for t in range(3)]
        equal = accuracy(Machine(program, f"{scratch}/equal", kinds, True, scratch).answers(test))
        machine = Machine(program, train, kinds, True, scratch)
        views = [accuracy(machine.answers(f"{scratch}/{view}")) for view in VIEWS]
        share = sum(len(train_names[c]) for c in largest) / sum(map(len, train_names.values()))
        print(f"| `{kinds}` | {len(wrong)} | {to_often:.2f} ({often}) | {to_largest:.2f}, {share:.2f} | "
              + ", ".join(f"{t:.3f}" for t in thirds) + f" | {equal:.3f} | " + ", ".join(f"{v:.3f}" for v in views) + " |", flush=True)


def main():
    program, *rest = sys.argv[1:]
    fold = None
    if rest and rest[0] == "--fold":
        fold, rest = rest[1], rest[2:]
    if not rest:
        sys.exit(__doc__)
    for folder in rest:
        train, test = f"{folder}/train", f"{folder}/test"
        if fold:
            to = f"{fold}/{os.path.basename(os.path.normpath(folder))}"
            shutil.rmtree(to, ignore_errors=True)
            names = classes(train)
            link(train, {c: files[: len(files) * 3 // 4] for c, files in names.items()}, f"{to}/train")
            link(train, {c: files[len(files) * 3 // 4 :] for c, files in names.items()}, f"{to}/test")
            train, test = f"{to}/train", f"{to}/test"
        with tempfile.TemporaryDirectory() as scratch:
            report(program, os.path.basename(os.path.normpath(folder)), os.path.abspath(train), os.path.abspath(test), scratch)


if __name__ == "__main__":
    main()
