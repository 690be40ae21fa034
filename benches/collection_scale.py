"""Seconds and bytes of collections of 10,000 to 1,000,000 images, in one process and by three workers on two cores.

    python benches/collection_scale.py FOLDER [--images 10000 100000 1000000] [--queries 32] [--rounds 3] [--indexes]

FOLDER is a scratch folder with room for some gigabytes. Elements and appearances are those of 300 real images below TESSERA_DATA, each
changed a little for every image that is made of it, so that no two are the same. With --indexes an index of each shard is made and kept, and similar
images are looked for by it at a recall of 0.95: seconds, the recall told and the true one. Without TESSERA_DATA it says that it was skipped.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from distributed import Client

from tessera import _native
from tessera.distributed import Collection

PER_SHARD = 5000


def real_images(data, n):
    """Paths of images, spread over all that there are."""
    found = sorted(path for path in Path(data).rglob("*") if path.suffix.lower() in (".png", ".jpg", ".jpeg"))
    step = max(1, len(found) // n)
    return found[::step][:n]


def varied(elements, appearance, rng):
    """Elements with other values at the same places, and an appearance near the one given."""
    (count,) = np.frombuffer(elements, dtype="<u4", count=1, offset=8)
    start = 12 + 8 * int(count)
    values = np.frombuffer(elements, dtype=np.uint8, offset=start).astype(np.int16)
    values = np.clip(values + rng.integers(-6, 7, values.size), 0, 255).astype(np.uint8)
    look = np.frombuffer(appearance, dtype="<i2").astype(np.int32)
    look = np.clip(look + rng.integers(-150, 151, look.size), -16384, 16384).astype("<i2")
    return elements[:start] + values.tobytes(), look.tobytes()


def generate(folder, n, seeds):
    """A collection of n images in shards, made without decoding one."""
    collection = Collection(folder, create=True, elements="colour")
    entries = []
    for first in range(0, n, PER_SHARD):
        rng = np.random.default_rng(first)
        rows = []
        for i in range(first, min(n, first + PER_SHARD)):
            label, elements, appearance = seeds[int(rng.integers(len(seeds)))]
            rows.append((hashlib.md5(str(i).encode()).hexdigest(), f"{i}.png", label, *varied(elements, appearance, rng)))
        data, entry = _native.shard_of_known(collection._manifest, rows)
        collection._storage.write(entry[0], data)
        entries.append(entry)
    collection._commit(collection._manifest.changed([], entries))
    return collection


def timed(work):
    begun = time.perf_counter()
    found = work()
    return time.perf_counter() - begun, found


def by_indexes(folder, address, queries, exact):
    """Seconds to make the indexes of all shards, to look for images by them, the recall told and the true one."""
    with Collection(folder, client=address, patience=120, keep_states=True) as kept:
        # Another question than the next one, whose answer is not kept yet.
        made_s, _ = timed(lambda: kept.similar(queries[:1], 10, recall=0.95))
        search_s, found = timed(lambda: kept.similar(queries, 10, recall=0.95))
    right = sum(one in own for own, all in zip(exact, found) for one in all) / sum(map(len, exact))
    told = {"index_make_s": made_s, "index_similar_s": search_s, "index_recall_told": found.recall, "index_recall": right}
    return {name: round(value, 3) for name, value in told.items()}


def imported():
    """Imports the package in a worker."""
    import tessera.distributed._workers


def warm(address, workers):
    """Waits for the workers, and has each import the package."""
    with Client(address, timeout=120) as client:
        client.wait_for_workers(workers, timeout=120)
        client.run(imported)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--images", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--queries", type=int, default=32)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--indexes", action="store_true")
    arguments = parser.parse_args()
    data = os.environ.get("TESSERA_DATA")
    if not data:
        print("skipped: TESSERA_DATA names no folder of images")
        return
    paths = real_images(data, 300 + arguments.queries)
    manifest = _native.Manifest("colour", "object", 128, 8, 4, 0)
    features = _native.features_of(manifest, paths[: len(paths) - arguments.queries])
    seeds = [(path.parent.name, *one) for path, one in zip(paths, features)]
    queries = paths[len(paths) - arguments.queries :]
    python = [sys.executable, "-m"]
    port, quiet = 18786, {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen([*python, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"], **quiet)
    one_thread = os.environ | {"RAYON_NUM_THREADS": "1"}
    worker = [*python, "distributed.cli.dask_worker", f"tcp://127.0.0.1:{port}", "--nthreads", "1", "--no-dashboard"]
    worker += ["--local-directory", str(arguments.folder / "workers")]
    workers = [subprocess.Popen(worker, env=one_thread, **quiet) for _ in range(arguments.workers)]
    try:
        for n in arguments.images:
            folder = arguments.folder / str(n)
            made_s, here = timed(lambda: generate(folder, n, seeds))
            size = sum(entry[3] for entry in here.shards)
            told = {"images": n, "shards": len(here.shards), "bytes": size, "generate_s": round(made_s, 1), "classes": len({seed[0] for seed in seeds})}
            with Collection(folder, client=f"tcp://127.0.0.1:{port}", patience=120) as there:
                # A worker imports the package, which takes it a second, with its first call.
                warm(f"tcp://127.0.0.1:{port}", arguments.workers)
                seconds = {}
                # In turns, so that what else the machine does meets both alike.
                for _ in range(arguments.rounds):
                    answers = {}
                    for name, collection in [("one_process", here), ("workers", there)]:
                        for stage, work in [
                            ("recognise", lambda: collection.recognise(queries, at_once=arguments.queries)),
                            ("similar", lambda: collection.similar(queries, 10)),
                            ("cluster_round", lambda: collection.cluster(8, max_iter=1)),
                        ]:
                            took, found = timed(work)
                            seconds.setdefault(f"{stage}_{name}", []).append(took)
                            answers.setdefault(stage, []).append(repr(found))
                    assert all(one == other for one, other in answers.values()), "the answers differ"
                for stage in ["recognise", "similar", "cluster_round"]:
                    one, many = (float(np.median(seconds[f"{stage}_{name}"])) for name in ("one_process", "workers"))
                    told |= {f"{stage}_one_process_s": round(one, 2), f"{stage}_workers_s": round(many, 2), f"{stage}_efficiency": round(one / many, 2)}
                if arguments.indexes:
                    told |= by_indexes(folder, f"tcp://127.0.0.1:{port}", queries, here.similar(queries, 10))
                job = _native.recognition(there._manifest, [elements for elements, _ in there._features(queries)])
                entry = there.shards[0]
                told["recognise_state_bytes"] = len(_native.state_of(job, [(entry[0], there._storage.read(entry[0]), entry[1])]))
            print(json.dumps(told), flush=True)
    finally:
        for process in [*workers, scheduler]:
            process.terminate()
        for process in [*workers, scheduler]:
            process.wait()


if __name__ == "__main__":
    main()
