"""Makes matrices of real image vectors for benches/peers/neighbours.py and benches/neighbour_trees.py, from folders of pictures.

usage: vector_sets.py PICTURES OUT [--kind rootsift|pixels|idx] [--points N] [--side PIXELS]
rootsift: 128 values for each key point (SIFT, brought to sum 1, roots taken), of as many pictures as are needed; pixels: some squares of each
picture, drawn at random, as SIDE x SIDE pixels of three colours; idx: the pixels
of a file of images such as train-images-idx3-ubyte.gz of Fashion-MNIST (Debian has it as dataset-fashion-mnist). Writes OUT-corpus.npy, and OUT-queries.npy and OUT-validation.npy of 1,000 rows each, which are not in the corpus.
needs: pip install numpy opencv-python-headless
"""

import argparse
import gzip
import os

import cv2
import numpy as np


def pictures(folder):
    for path, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            picture = cv2.imread(os.path.join(path, name))
            if picture is not None:
                yield picture


def pixels_of(path):
    with gzip.open(path) as file:
        whole = file.read()
    count, height, width = np.frombuffer(whole, ">u4", 3, 4)
    return np.frombuffer(whole, np.uint8, offset=16).reshape(count, height * width).astype(np.float32)


def rootsift(picture, most):
    height, width = picture.shape[:2]
    scale = min(1.0, 400 / max(height, width))
    grey = cv2.cvtColor(cv2.resize(picture, None, fx=scale, fy=scale), cv2.COLOR_BGR2GRAY)
    found = cv2.SIFT_create(nfeatures=most).detectAndCompute(grey, None)[1]
    if found is None:
        return np.zeros((0, 128), np.float32)
    return np.sqrt(found / np.maximum(found.sum(1, keepdims=True), 1e-9)).astype(np.float32)


def squares(picture, count, side, rng):
    rows = []
    for _ in range(count):
        long = int(rng.integers(min(picture.shape[:2]) // 3, min(picture.shape[:2]) + 1))
        y, x = (int(rng.integers(0, size - long + 1)) for size in picture.shape[:2])
        small = cv2.resize(picture[y : y + long, x : x + long], (side, side), interpolation=cv2.INTER_AREA)
        rows.append(small.reshape(-1).astype(np.float32))
    return np.stack(rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pictures")
    parser.add_argument("out")
    parser.add_argument("--kind", choices=("rootsift", "pixels", "idx"), default="rootsift")
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--side", type=int, default=32)
    parser.add_argument("--each", type=int, default=60, help="key points or squares of a picture at most")
    arguments = parser.parse_args()
    rows, n, rng = [], 0, np.random.default_rng(1)
    if arguments.kind == "idx":
        rows.append(pixels_of(arguments.pictures))
        n = len(rows[0])
    for picture in pictures(arguments.pictures) if arguments.kind != "idx" else ():
        if arguments.kind == "rootsift":
            rows.append(rootsift(picture, arguments.each))
        else:
            rows.append(squares(picture, arguments.each, arguments.side, rng))
        n += len(rows[-1])
        if n >= arguments.points + 2000:
            break
    if n < 3000:
        raise SystemExit(f"{n} points in {arguments.pictures}: 3,000 or more are needed, of which 2,000 become queries")
    drawn = np.random.default_rng(0).permutation(np.concatenate(rows))
    np.save(arguments.out + "-queries.npy", drawn[:1000])
    np.save(arguments.out + "-validation.npy", drawn[1000:2000])
    np.save(arguments.out + "-corpus.npy", drawn[2000 : arguments.points + 2000])
    print(len(drawn) - 2000, "points of", drawn.shape[1])


if __name__ == "__main__":
    main()
