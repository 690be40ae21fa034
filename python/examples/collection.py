"""Images as shards: recognised, found and forgotten, here or on the workers of a Dask scheduler.

    python collection.py [tcp://scheduler:8786]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from tessera.distributed import Collection

rng = np.random.default_rng(0)
colours = {"poppy": (200, 40, 40), "cornflower": (50, 60, 200), "buttercup": (220, 200, 40)}
with tempfile.TemporaryDirectory() as folder:
    images = []
    for i, (label, colour) in enumerate(list(colours.items()) * 6):
        pixels = rng.normal(colour, 25, (48, 64, 3)).clip(0, 255).astype(np.uint8)
        images.append({"place": Path(folder) / f"{label}{i}.png", "label": label, "captions": [f"a {label} in the sun"]})
        Image.fromarray(pixels).save(images[-1]["place"])
    client = sys.argv[1] if len(sys.argv) > 1 else None
    with Collection(Path(folder) / "collection", create=True, elements="colour", client=client) as collection:
        print(collection.add(images, per_shard=5), "in", len(collection.shards), "shards")
        report = collection.evaluate()
        answer = collection.recognise([images[0]["place"]], report=report)[0]
        print(f"{answer.label}: confidence {answer.confidence:.2f}, {report.accuracy[0]:.2f} right of {report.judged} judged")
        print([hit.caption for hit in collection.search("poppy -cornflower", 2)])
        print(collection.forget([collection.similar([images[0]["place"]], 1)[0][0].image]), "forgotten,", len(collection), "left")
