"""Whether the image that a part was cut out of is found by it, among all images of a library, through the command line.

usage: parts.py TESSERA LIBRARY IMAGES [--queries N] [--seed SEED] [--by VECTORS]

Parts have 0.3, 0.4, 0.5 and 0.7 of the width and the height of their image and lie anywhere in it. Needs pillow.
"""

import argparse
import json
import pathlib
import random
import statistics
import subprocess
import tempfile

from PIL import Image

SHARES = (0.3, 0.4, 0.5, 0.7)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tessera")
    parser.add_argument("library")
    parser.add_argument("images", help="the folder that was imported")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--by", default="network")
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)

    def run(*words):
        return subprocess.run([arguments.tessera, *map(str, words)], capture_output=True, text=True, check=True).stdout

    images = sorted(str(path.absolute()) for path in pathlib.Path(arguments.images).rglob("*.jpg"))
    print("| part of each side | found as | first | among 10 | among 50 | place, median | ms, median |")
    print("|---|---|---|---|---|---|---|")
    for share in SHARES:
        places = {"a whole": [], "a part": []}
        times = {"a whole": [], "a part": []}
        for _ in range(arguments.queries):
            path = draw.choice(images)
            with tempfile.TemporaryDirectory() as folder:
                picture = Image.open(path).convert("RGB")
                width, height = (int(side * share) for side in picture.size)
                x, y = draw.randint(0, picture.width - width), draw.randint(0, picture.height - height)
                picture.crop((x, y, x + width, y + height)).save(f"{folder}/part.png")
                for name, crop in (("a whole", []), ("a part", ["--crop", f"0,0,{width},{height}"])):
                    found = json.loads(
                        run("similar", arguments.library, f"{folder}/part.png", "--by", arguments.by, "-k", 100, "--json", *crop)
                    )
                    times[name].append(1000 * found["s"])
                    at = [hit["path"] for hit in found["hits"]]
                    places[name].append(at.index(path) + 1 if path in at else 1000)
        for name, all_places in places.items():
            within = [statistics.mean(place <= n for place in all_places) for n in (1, 10, 50)]
            middle = statistics.median(all_places)
            row = [share, name, *(f"{value:.2f}" for value in within), f"{middle:.0f}" if middle < 1000 else "over 100"]
            print("| " + " | ".join(map(str, row)) + f" | {statistics.median(times[name]):.0f} |", flush=True)


main()
