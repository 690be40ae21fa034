"""Measures the map beside scikit-learn's t-SNE: trustworthiness and time, on the same vectors of the same images.

usage: map.py TESSERA WORK [--images N] [--seeds N] [--threads N]
Takes the first N (10,000) test images of Fashion-MNIST from the Debian package `dataset-fashion-mnist` or from the folder in
FASHION_MNIST, writes them to WORK with their pixels as vectors (784 values, each row of length 1), imports both into a library, and
lays them out by both. The trustworthiness of ten neighbours is computed by scikit-learn for both, and compared with what the program
says. Prints a table; deletes nothing.
needs: pip install numpy pillow scikit-learn
"""

import argparse
import csv
import gzip
import json
import os
import subprocess
import time
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE, trustworthiness

NEIGHBORS = 10
NAMES = "top trouser pullover dress coat sandal shirt sneaker bag boot".split()


def read(folder, name, start):
    with gzip.open(folder / name) as file:
        return np.frombuffer(file.read(), np.uint8, offset=start)


def run(*words):
    ran = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}: {ran.stderr}")
    return json.loads(ran.stdout.splitlines()[-1]) if "--json" in words else None


def prepare(tessera, work, pixels, classes):
    """A library of the images, without the network, and with their pixels as a set of vectors."""
    library, images = work / "map.tessera", work / "images"
    for i, (picture, label) in enumerate(zip(pixels, classes)):
        folder = images / NAMES[label]
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture.reshape(28, 28)).save(folder / f"{i:05}.png")
    rows = pixels.astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    np.save(work / "pixels.npy", rows)
    (work / "pixels.txt").write_text("".join(f"images/{NAMES[label]}/{i:05}.png\n" for i, label in enumerate(classes)))
    if not library.exists():
        one = work / "one"
        one.mkdir(exist_ok=True)
        Image.new("RGB", (16, 16)).save(one / "one.png")
        run(tessera, "import", library, one)
        run(tessera, "train", library, "--learned-features", "off")
        run(tessera, "import", library, images, "--labels", "class-folders", "--vectors", work / "pixels.npy")
    return library, rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tessera", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--images", type=int, default=10_000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--perplexity", type=float, default=30.0)
    parser.add_argument("--rounds", type=int, default=750)
    parser.add_argument("--no-peer", action="store_true", help="leave scikit-learn's t-SNE out")
    arguments = parser.parse_args()
    tessera, work = arguments.tessera.resolve(), arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    data = Path(os.environ.get("FASHION_MNIST", "/usr/share/datasets/fashion-mnist"))
    pixels = read(data, "t10k-images-idx3-ubyte.gz", 16).reshape(-1, 784)[: arguments.images]
    classes = read(data, "t10k-labels-idx1-ubyte.gz", 8)[: arguments.images]
    library, rows = prepare(tessera, work, pixels, classes)
    print(f"{len(rows)} images of 784 values, trustworthiness of {NEIGHBORS} neighbours by scikit-learn\n")
    print("| layout | seed | trustworthiness | as the program says | s |\n|---|---|---|---|---|")

    def tell(name, seed, places, own, seconds):
        trust = trustworthiness(rows, places, n_neighbors=NEIGHBORS)
        print(f"| {name} | {seed} | {trust:.4f} | {own} | {seconds:.1f} |", flush=True)

    def own(layout, seed):
        to = work / "map.csv"
        said = run(tessera, "map", library, "--by", "pixels", "--to", to, "--layout", layout, "--seed", seed, "--json",
                   "--perplexity", arguments.perplexity, "--rounds", arguments.rounds, "--threads", arguments.threads)
        with open(to, newline="") as file:
            places = {int(Path(row["path"]).stem): (float(row["x"]), float(row["y"])) for row in csv.DictReader(file)}
        tell(f"tessera, {layout}", seed, np.array([places[i] for i in range(len(rows))]), f"{said['trustworthiness']:.4f}", said["s"])

    start = time.perf_counter()
    components = PCA(2, svd_solver="full").fit_transform(rows)
    tell("scikit-learn, PCA", 0, components, "", time.perf_counter() - start)
    own("components", 0)
    for seed in range(arguments.seeds):
        own("neighbours", seed)
        if not arguments.no_peer:
            start = time.perf_counter()
            places = TSNE(random_state=seed, n_jobs=arguments.threads or None).fit_transform(rows)
            tell("scikit-learn, TSNE", seed, places, "", time.perf_counter() - start)


if __name__ == "__main__":
    main()
