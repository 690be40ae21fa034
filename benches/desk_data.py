#!/usr/bin/env python3
"""Makes the sets on which labelling desks are simulated, in libsvm's format: 8x8 digits (scikit-learn's own), and ETH-80 as grey
16x16 pictures with the mean and deviation of each colour, one line an image; in TESSERA_DATA are the images.

    python benches/desk_data.py OUT
"""
import os
import pathlib
import sys

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits


def write(path, rows, labels):
    with open(path, "w") as out:
        for x, y in zip(rows, labels):
            print(y, *(f"{i}:{v:.5g}" for i, v in enumerate(x) if v != 0), file=out)
    print(path, len(labels), "examples")


out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
digits = load_digits()
write(out / "digits.svm", digits.data / 16, digits.target)

data = os.environ.get("TESSERA_DATA")
if data is None:
    print("skipped ETH-80: set TESSERA_DATA to the folder that holds eth80")
    sys.exit()
rows, labels = [], []
for path in sorted(pathlib.Path(data, "eth80").glob("*/*.*")):
    image = Image.open(path).convert("RGB")
    grey = np.asarray(image.convert("L").resize((16, 16), Image.BILINEAR), dtype=float) / 255
    colour = np.asarray(image, dtype=float).reshape(-1, 3) / 255
    rows.append(np.concatenate([grey.ravel() - grey.mean(), 2 * colour.mean(0), 2 * colour.std(0)]))
    labels.append(path.parent.name)
write(out / "eth80.svm", rows, labels)
