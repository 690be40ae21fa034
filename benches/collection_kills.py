"""Kills workers while a collection is asked, and compares each answer with that of one process.

    PYTHONPATH=python/tests python benches/collection_kills.py FOLDER [--kills 200] [--workers 3]

FOLDER is a scratch folder. Workers are ended by the kernel (SIGKILL) before they begin with a shard, in the middle of it, or just after its
state was made, in turns; Dask's nannies start them again. Prints how many were killed and how many answers differed, which must be none.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from dask_cluster import Cluster
from PIL import Image

from tessera.distributed import Collection

KINDS = ["kill", "killmiddle", "killafter"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--workers", type=int, default=3)
    arguments = parser.parse_args()
    photos = arguments.folder / "photos"
    photos.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for i in range(60):
        Image.fromarray(rng.integers(0, 256, (24, 32, 3), dtype=np.uint8)).save(photos / f"{i}.png")
    here = Collection(arguments.folder / "collection", create=True, elements="colour")
    here.add([row | {"label": f"class {i % 4}"} for i, row in enumerate(here.listed(photos))], per_shard=3)
    queries = sorted(photos.iterdir())[:4]
    asks = [lambda one: one.similar(queries, 60), lambda one: one.recognise(queries), lambda one: one.search("class")]
    expected = [repr(ask(here)) for ask in asks]
    cluster = Cluster(arguments.folder / "cluster", arguments.workers)
    killed, differed, asked, begun = 0, 0, 0, time.monotonic()
    try:
        with Collection(arguments.folder / "collection", client=cluster.address, patience=300) as there:
            while killed < arguments.kills:
                kind = KINDS[asked % 3]
                now = min(4, arguments.kills - killed)
                cluster.fault(kind, now)
                differed += repr(asks[asked % len(asks)](there)) != expected[asked % len(asks)]
                killed += now - cluster.left(kind)
                cluster.heal()
                asked += 1
                print(f"{killed} killed, {asked} answers, {differed} differed", flush=True)
    finally:
        cluster.stop()
    print(json.dumps({"killed": killed, "answers": asked, "differed": differed, "seconds": round(time.monotonic() - begun, 1)}))
    return differed


if __name__ == "__main__":
    raise SystemExit(main())
