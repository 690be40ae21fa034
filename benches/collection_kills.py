"""Kills workers while a collection is made and asked, and compares each answer with that of one process.

    PYTHONPATH=python/tests python benches/collection_kills.py FOLDER [--kills 200] [--workers 3]

FOLDER is a scratch folder. Every job (import, recognition, similar images, words by index and by memory trees, mixtures and their clusters,
near copies, evaluation) meets every kind of kill: workers are ended by the kernel (SIGKILL) before they begin with a call, in the middle of it, or
just after its result was made; Dask's nannies start them again. What is counted are processes that were seen at work and are no more, by their
ids; only what is killed while an answer is awaited counts. In the middle is after a call has read the first shard or file it is about. Prints them by job and kind, and how many answers differed, which must be none.
"""

import argparse
import itertools
import json
import shutil
import threading
import time
from pathlib import Path

import numpy as np
import psutil
from dask_cluster import Cluster
from PIL import Image

from tessera.distributed import Collection

KINDS = ["kill", "killmiddle", "killafter"]
AT_ONCE = 4
"""Kills of an answer at most."""

PER_SHARD = 3


class Watched:
    """The worker processes of a cluster, by their ids: those that were ever seen, and those that are no more."""

    def __init__(self, cluster):
        # The first process is the scheduler; the others are nannies, each with a worker.
        self._nannies = [psutil.Process(process.pid) for process in cluster.processes[1:]]
        self._seen, self._dead, self._ends = {}, set(), threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _workers(self):
        for nanny in self._nannies:
            for process in nanny.children():
                try:
                    # Beside it there is the tracker of resources, which holds no shard.
                    if "spawn_main" in " ".join(process.cmdline()):
                        yield process
                except psutil.Error:
                    pass

    def look(self):
        """Looks once; how many have died so far."""
        for process in self._workers():
            self._seen.setdefault((process.pid, process.create_time()), process)
        for known, process in list(self._seen.items()):
            if known not in self._dead and not alive(process):
                self._dead.add(known)
        return len(self._dead)

    def _look(self):
        while not self._ends.wait(0.02):
            try:
                self.look()
            except psutil.Error:
                pass

    def dead(self):
        """How many have died so far."""
        return len(self._dead)

    def stop(self):
        self._ends.set()
        self._thread.join()


def alive(process):
    """Whether a process is still there, and not only its exit code."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def jobs(photos, scratch, queries):
    """What is asked, by name: functions of where a collection is and of a collection that is asked."""

    def made(client):
        folder = scratch / "made"
        shutil.rmtree(folder, ignore_errors=True)
        with Collection(folder, create=True, elements="colour", client=client, patience=300) as collection:
            added = collection.add(labelled(collection, photos), per_shard=PER_SHARD)
            return added, collection.shards

    def mixture(collection):
        clustered = collection.cluster(4, max_iter=3, sample=30)
        return clustered._replace(means=clustered.means.tolist()), sorted(collection.clusters_of(clustered))

    def evaluate(collection):
        report = collection.evaluate(limit=12)
        return report._replace(confusion=report.confusion.tolist())

    asked = {
        "recognise": lambda one: one.recognise(queries),
        "similar": lambda one: one.similar(queries, 60),
        "words": lambda one: one.search("class", 60),
        "memory trees": lambda one: one.search("class", 60, engine="memory"),
        "mixture": mixture,
        "near copies": lambda one: one.duplicates(),
        "evaluate": evaluate,
    }
    return made, asked


def labelled(collection, photos):
    return [row | {"label": f"class {i % 4}"} for i, row in enumerate(collection.listed(photos))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--workers", type=int, default=3)
    arguments = parser.parse_args()
    photos = arguments.folder / "photos"
    photos.mkdir(parents=True)
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (60, 24, 32, 3), dtype=np.uint8)
    for i in range(60):
        # Every tenth is a near copy of the one before.
        Image.fromarray(np.rot90(pixels[i - 1]) if i % 10 == 9 else pixels[i]).save(photos / f"{i}.png")
    here = Collection(arguments.folder / "collection", create=True, elements="colour")
    here.add(labelled(here, photos), per_shard=PER_SHARD)
    made, asked = jobs(photos, arguments.folder, sorted(photos.iterdir())[:4])
    expected = {name: repr(ask(here)) for name, ask in asked.items()} | {"import": repr(made(None))}
    if len(here.duplicates()) != 6:
        raise SystemExit(f"expected 6 groups of near copies, found {len(here.duplicates())}: the comparison would say nothing")
    cluster = Cluster(arguments.folder / "cluster", arguments.workers)
    watched = Watched(cluster)
    by = {name: dict.fromkeys(KINDS, 0) for name in expected}
    killed, differed, answers, begun = 0, 0, 0, time.monotonic()
    try:
        with Collection(arguments.folder / "collection", client=cluster.address, patience=300) as there:
            # The first answer waits for the workers.
            there.search("class")
            rounds = itertools.cycle(itertools.product(expected, KINDS))
            # At least each job with each kind, and then until there are enough.
            while answers < len(expected) * len(KINDS) or killed < arguments.kills:
                name, kind = next(rounds)
                before = watched.dead()
                cluster.fault(kind, AT_ONCE)
                told = repr(made(cluster.address)) if name == "import" else repr(asked[name](there))
                dead = watched.look() - before
                # Those to be killed after their result may outlive the answer by a moment.
                cluster.heal()
                time.sleep(0.2)
                if told != expected[name]:
                    differed += 1
                    print(f"{name}, {kind}: the answer differed", flush=True)
                by[name][kind] += dead
                killed += dead
                answers += 1
                print(f"{killed} killed, {answers} answers, {differed} differed", flush=True)
    finally:
        watched.stop()
        cluster.stop()
    seconds = round(time.monotonic() - begun, 1)
    print(json.dumps({"killed": killed, "answers": answers, "differed": differed, "seconds": seconds, "by": by}))
    return differed


if __name__ == "__main__":
    raise SystemExit(main())
