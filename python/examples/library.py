"""A library of images: imported, labelled, searched, and an act taken back."""

import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from tessera import Library

with tempfile.TemporaryDirectory() as folder:
    rng = np.random.default_rng(0)
    for name, colour in [("poppy", (200, 40, 40)), ("cornflower", (60, 80, 200)), ("meadow", (60, 160, 60))]:
        for i in range(3):
            pixels = np.clip(rng.integers(-40, 41, (64, 96, 3)) + colour, 0, 255).astype(np.uint8)
            Path(folder, "images", name).mkdir(parents=True, exist_ok=True)
            Image.fromarray(pixels).save(Path(folder, "images", name, f"{i}.png"))
    with Library(Path(folder, "flowers.tessera"), create=True) as library:
        report = library.import_folder(Path(folder, "images"))
        print(f"{report.imported} images of {', '.join(library.classes)}")
        first = library.images[0]
        library.caption(first.id, ["a blue field in summer"])
        print("summer:", [hit.caption for hit in library.search("summer")])
        print("like the first:", [one.path.parent.name for one in library.similar(first.id, 2)])
        print("taken back:", library.undo())
        print("summer:", library.search("summer"))
        try:
            print(library.to_pandas().groupby("label").size().to_string())
        except ImportError as error:
            print(error)
