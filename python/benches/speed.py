"""Seconds of calls from Python beside those of the same work in Rust: the least of some runs each.

usage: speed.py PROGRAM, which is `benches/speed.rs` as it was built:

    cargo build --release --example speed --manifest-path python/Cargo.toml
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.sparse import random as random_sparse

from tessera import CanopyMixture, CkmClassifier, CoverTreeNeighbors, MemoryTreeClassifier, OnlineClassifier

RUNS = 5


def least(work):
    seconds = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begun)
    return min(seconds)


def main(program):
    rng = np.random.default_rng(0)
    points = rng.standard_normal((20_000, 16)).astype(np.float32)
    queries = rng.standard_normal((1_000, 16)).astype(np.float32)
    rows = rng.standard_normal((5_000, 32))
    classes = (rows @ rng.standard_normal((32, 10))).argmax(axis=1)
    sparse = random_sparse(4_000, 10_000, 0.002, "csr", dtype=np.float32, rng=1)
    topics = np.arange(4_000) % 500
    images = rng.integers(0, 256, (40, 128, 128, 3), dtype=np.uint8)
    with tempfile.TemporaryDirectory() as folder:
        for name, values in [
            ("points", points),
            ("queries", queries),
            ("rows", rows),
            ("classes", classes.astype(np.uint32)),
            ("ends", sparse.indptr.astype(np.uint32)),
            ("columns", sparse.indices.astype(np.uint32)),
            ("values", sparse.data),
            ("topics", topics.astype(np.uint32)),
            ("images", images),
        ]:
            Path(folder, name).write_bytes(np.ascontiguousarray(values).tobytes())
        rust = json.loads(subprocess.run([program, folder], check=True, capture_output=True, text=True).stdout)
    neighbours = CoverTreeNeighbors(5)
    mixture = CanopyMixture(100, random_state=0)
    online = lambda: OnlineClassifier("averaged", shuffle=False, scale=10.0)
    learned = online().fit(rows, classes)
    memory = lambda: MemoryTreeClassifier(random_state=0)
    remembered = memory().fit(sparse, topics)
    shapes = CkmClassifier(judge=False)
    labels = np.arange(40) % 4
    python = {
        "cover tree: fit": least(lambda: neighbours.fit(points)),
        "cover tree: kneighbors": least(lambda: neighbours.kneighbors(queries)),
        "mixture: fit": least(lambda: mixture.fit(points)),
        "online: fit": least(lambda: online().fit(rows, classes)),
        "online: predict": least(lambda: learned.predict(rows)),
        "memory: fit": least(lambda: memory().fit(sparse, topics)),
        "memory: predict": least(lambda: remembered.predict(sparse)),
        "recogniser: fit": least(lambda: shapes.fit(images, labels)),
        "recogniser: predict": least(lambda: shapes.predict(images)),
    }
    print("| call | from Python | in Rust | ratio |\n|---|---|---|---|")
    for name, seconds in python.items():
        print(f"| {name} | {1e3 * seconds:.1f} ms | {1e3 * rust[name]:.1f} ms | {seconds / rust[name]:.2f} |")


if __name__ == "__main__":
    main(sys.argv[1])
