"""Clusters of real photographs by each kind of vectors: how well they agree with classes that the clustering does not see.

usage: TESSERA_DATA=… clusters_by.py TESSERA WORK [--sets small-pictures,hand-signs,insects,flickr8k] [--by network,appearance,…] [--clusters K] [--seeds N]
Photographs with classes: the training halves of `photographs`, in as many clusters as there are classes. Flickr8k has no classes: here an image
is of the one noun of NOUNS that its first and its second caption have both, and the library has the three other captions alone, so that words
never see what they are judged by. Libraries are made in WORK and used again. Purity is the share of images that are of the largest class of their cluster.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess

NOUNS = "dog bike skateboard snow water beach street mountain soccer football basketball horse car pool grass".split()

parser = argparse.ArgumentParser()
parser.add_argument("tessera")
parser.add_argument("work", type=pathlib.Path)
parser.add_argument("--sets", default="small-pictures,hand-signs,insects,flickr8k")
parser.add_argument("--by", default="network,elements,appearance,edges,colours,words")
parser.add_argument("--clusters", type=int)
parser.add_argument("--seeds", type=int, default=3)
arguments = parser.parse_args()
data = pathlib.Path(os.environ["TESSERA_DATA"])


def run(*words):
    ran = subprocess.run([arguments.tessera, *map(str, words), "--json", "--quiet"], capture_output=True, text=True)
    return json.loads(ran.stdout.splitlines()[-1]) if ran.returncode == 0 else None


def nouns(caption):
    return {noun for noun in re.findall("[a-z]+", caption.lower()) if noun in NOUNS}


def flickr(to):
    captions = {}
    for line in (data / "flickr8k/Flickr8k.token.txt").read_text().splitlines():
        name, caption = line.split("\t", 1)
        captions.setdefault(name.split("#")[0], []).append(caption)
    table = []
    for name, own in sorted(captions.items()):
        found, picture = [nouns(caption) for caption in own[:2]], data / "flickr8k/images" / name
        if len(own) == 5 and found[0] == found[1] and len(found[0]) == 1 and picture.exists():
            folder = to / found[0].pop()
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(picture, folder)
            table += [f"{name}#{i}\t{caption}" for i, caption in enumerate(own[2:])]
    (to.parent / "flickr8k.token.txt").write_text("\n".join(table) + "\n")
    return ["--captions", to.parent / "flickr8k.token.txt"]


print("| set | compared by | clusters | purity | largest cluster | images |\n|---|---|---|---|---|---|")
for name in arguments.sets.split(","):
    library, more = arguments.work / f"{name}.tessera", []
    folder = arguments.work / name if name == "flickr8k" else data / "photographs" / name / "train"
    if not library.exists():
        arguments.work.mkdir(parents=True, exist_ok=True)
        more = flickr(folder) if name == "flickr8k" else []
        run("import", library, folder, "--labels", "class-folders", *more)
    classes = arguments.clusters or sum(1 for path in folder.iterdir() if path.is_dir())
    for by in arguments.by.split(","):
        purities, largest, images = [], [], 0
        for seed in range(arguments.seeds):
            found = run("cluster", library, "--by", by, "--clusters", classes, "--again", "--seed", seed)
            if found is None:
                break
            images = sum(cluster["size"] for cluster in found["list"])
            purities.append(sum(max((one["images"] for one in cluster["classes"]), default=0) for cluster in found["list"]) / images)
            largest.append(max(cluster["size"] for cluster in found["list"]))
        if purities:
            mean, spread = statistics.mean(purities), statistics.stdev(purities) if len(purities) > 1 else 0.0
            print(f"| {name} | {by} | {classes} | {mean:.3f} ± {spread:.3f} | {statistics.mean(largest):.0f} | {images} |", flush=True)
