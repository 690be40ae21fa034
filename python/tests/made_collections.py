"""Pictures of three classes, collections of them, and all that is asked of one."""

import numpy as np

from tessera.distributed import Collection

CLASSES = ["poppy", "sea", "wren"]


def paint(i):
    """A picture of blots in the colours of its class."""
    rng = np.random.default_rng(i)
    pixels = np.full((40, 48, 3), 110, dtype=np.uint8)
    for _ in range(12):
        x, y, side = rng.integers(0, 40), rng.integers(0, 32), rng.integers(4, 14)
        pixels[y : y + side, x : x + side] = rng.integers(0, 90, 3) + [[150, 0, 0], [0, 60, 160], [90, 90, 30]][i % 3]
    return pixels


def made(photos, at, per_shard, **options):
    collection = Collection(at, create=True, elements="colour", **options)
    rows = collection.listed(photos)
    for row in rows:
        row["captions"] = [f"a {row['label']} in the field", "seen from the left"][: len(row["place"]) % 3]
    collection.add(rows, per_shard=per_shard)
    return collection


def answers(collection):
    """Everything that is asked, as text."""
    queries = [paint(i) for i in (100, 101, 102)]
    report = collection.evaluate(limit=9)
    clustered = collection.cluster(3, max_iter=3, sample=20)
    told = [
        collection.recognise(queries),
        collection.recognise(queries, report=report),
        collection.similar(queries, 5),
        collection.similar(queries, 3, look="colours"),
        collection.search("field -sea", 6),
        collection.search("\"the left\" wren", 20),
        collection.duplicates(),
        sorted(collection.clusters_of(clustered)),
        clustered._replace(means=clustered.means.tolist()),
        report._replace(confusion=report.confusion.tolist()),
    ]
    return repr(told)
