"""Whether more kinds of elements would make the recogniser better on photographs: blocks at other scales, colour words, textures, self-similarity.

usage: more_kinds.py SET... [--images 1500]

Each SET has `train`, with a folder for each class; `test` is not looked at. Each quarter of the classes of `train`, by name, is judged by the
rest, of at most so many images. Scores of kinds are sums, so a kind is judged beside `mixed` (weights of kinds, terms of classes and whole
images fitted, as the program does) by adding its scores, times a weight. Told is the accuracy of the kind alone, and the largest with any
weight of 1/16 to 4, **chosen on the very images that are judged**: more than the kind is worth.
needs: pip install ./python numpy pillow
"""

import argparse
import os

import numpy as np
from PIL import Image
from tessera import CkmClassifier, OwnElements, OwnKind

SIDE, GRID = 128, 8


def examples(folder, images):
    """For each quarter the others and the quarter, as paths and classes."""
    classes = sorted(name for name in os.listdir(folder) if os.path.isdir(f"{folder}/{name}"))
    parts = [[] for _ in range(4)]
    for name in classes:
        files = sorted(os.listdir(f"{folder}/{name}"))
        files = files[:: max(1, -(-len(files) * len(classes) // images))]
        for at, file in enumerate(files):
            parts[4 * at // len(files)].append((f"{folder}/{name}/{file}", name))
    return [(sum((parts[other] for other in range(4) if other != part), []), parts[part]) for part in range(4)]


def opened(path):
    """The pixels, the longer side of 128, from 0 to 1."""
    image = Image.open(path).convert("RGB")
    scale = SIDE / max(image.size)
    image = image.resize([max(GRID, round(side * scale)) for side in image.size], Image.Resampling.LANCZOS)
    return np.asarray(image, dtype=np.float32) / 255


def cells(height, width, count=GRID):
    """Overlapping windows on a grid: the middle and the slices of each."""
    high, wide = height / (count + 1), width / (count + 1)
    for i in range(count):
        for j in range(count):
            top, left = int(i * high), int(j * wide)
            yield ((j + 1) * wide, (i + 1) * high), (slice(top, int((i + 2) * high) + 1), slice(left, int((j + 2) * wide) + 1))


def normal(vector):
    return np.sqrt(vector / max(vector.sum(), 1e-9))


def elements(pixels, describe):
    places, rows = zip(*((place, describe(window)) for place, window in cells(*pixels.shape[:2])))
    return OwnElements((pixels.shape[1], pixels.shape[0]), [(np.array(places), np.array(rows))])


def colour_words(pixels):
    """A histogram of 64 colours in each window."""
    words = (pixels * 3.999).astype(int) @ [16, 4, 1]
    return elements(pixels, lambda window: normal(np.bincount(words[window].ravel(), minlength=64).astype(float)))


def textures(pixels):
    """Uniform local binary patterns (Ojala et al. 2002) of radius 1 and 3 in each window."""
    grey = pixels.mean(2)
    uniform = {}
    for pattern in range(256):
        bits = [(pattern >> bit) & 1 for bit in range(8)]
        if sum(bits[bit] != bits[bit - 1] for bit in range(8)) <= 2:
            uniform[pattern] = len(uniform)
    table = np.array([uniform.get(pattern, 58) for pattern in range(256)])
    found = []
    for radius in (1, 3):
        padded = np.pad(grey, radius, mode="reflect")
        steps = [(-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1)]
        near = (padded[radius + y * radius :, radius + x * radius :][: grey.shape[0], : grey.shape[1]] for y, x in steps)
        found.append(table[sum((other > grey + 0.005).astype(int) << bit for bit, other in enumerate(near))])
    return elements(pixels, lambda window: normal(np.concatenate([np.bincount(one[window].ravel(), minlength=59) for one in found]).astype(float)))


def self_similarity(pixels):
    """How alike a patch of 5 pixels is to those around it, the best of each of 5 x 5 bins within 20 pixels (after Shechtman and Irani 2007)."""
    reach, half = 20, 2
    padded = np.pad(pixels, ((reach + half,) * 2, (reach + half,) * 2, (0, 0)), mode="reflect")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (5, 5, 3))[:, :, 0].reshape(padded.shape[0] - 4, padded.shape[1] - 4, 75)
    places, rows = [], []
    for (x, y), _ in cells(*pixels.shape[:2]):
        at, to = int(y) + reach, int(x) + reach
        around = windows[at - reach : at + reach : 2, to - reach : to + reach : 2]
        apart = ((around - windows[at, to]) ** 2).sum(2)
        alike = np.exp(-apart / max(0.05 * 75, 2 * apart[9:12, 9:12].mean()))
        bins = alike.reshape(5, 4, 5, 4).max((1, 3)).ravel()
        places.append((x, y))
        rows.append(bins / max(np.linalg.norm(bins), 1e-9))
    return OwnElements((pixels.shape[1], pixels.shape[0]), [(np.array(places), np.array(rows))])


OWN = {"colour words": (colour_words, 64), "textures": (textures, 118), "self-similarity": (self_similarity, 25)}
BUILT_IN = {"blocks at half the scale": ("hog", 64), "blocks at one and a half": ("hog", 192), "colours at half the scale": ("colour", 64)}


def scores(model, train, judged):
    fitted = model.fit([x for x, _ in train], [y for _, y in train])
    found = fitted.decision_function([x for x, _ in judged])
    return (found if found.ndim == 2 else np.stack([-found, found], 1) / 2), fitted.classes_


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--images", type=int, default=1500)
    arguments = parser.parse_args()
    print("| set | judged | `mixed` | kind | alone | beside `mixed`, at most |\n|---|---|---|---|---|---|")
    for folder in arguments.sets:
        folds = examples(f"{folder}/train", arguments.images)
        mixed = [scores(CkmClassifier("mixed", search="exact"), *fold)[0] for fold in folds]
        classes = np.unique([y for _, y in folds[0][0]])
        truth = np.array([y for _, judged in folds for _, y in judged])
        right = lambda found: float(np.mean(classes[np.concatenate(found).argmax(1)] == truth))
        of = {name: (lambda e=e, s=s: CkmClassifier(e, side=s, judge=False, search="exact"), None) for name, (e, s) in BUILT_IN.items()}
        for name, (describe, dimension) in OWN.items():
            kind = OwnKind(name.replace(" ", "-"), dimension=dimension, rho=1.0)
            of[name] = (lambda kind=kind: CkmClassifier(kind, judge=False, search="exact"), describe)
        for name, (model, describe) in of.items():
            made = (lambda rows: [(describe(opened(x)), y) for x, y in rows]) if describe else (lambda rows: rows)
            own = [scores(model(), *map(made, fold))[0] for fold in folds]
            spread = lambda found: np.concatenate([one - one.mean(1, keepdims=True) for one in found]).std()
            unit = spread(mixed) / max(spread(own), 1e-9)
            best = max(right([a + 2.0**power * unit * b for a, b in zip(mixed, own)]) for power in range(-4, 3))
            print(f"| {os.path.basename(folder.rstrip('/'))} | {len(truth)} | {right(mixed):.3f} | {name} | {right(own):.3f} | {best:.3f} |", flush=True)


main()
