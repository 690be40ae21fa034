#!/usr/bin/env python3
"""Approximate nearest neighbours among elements of images: Tessera beside faiss, at equal recall, on one thread.

usage: ann.py TRAIN TEST WORK --tessera target/release/examples/ann_search
`ann_search` writes the gradient blocks and corners of the images in TRAIN and TEST into WORK and
prints what its own indexes do; the same bytes are then searched by faiss in the same run, one query
at a time as Tessera's are, and all at once. For each recall of the 10 nearest that is wanted, the
fastest setting of each method that reaches it is printed.
needs: pip install numpy faiss-cpu
"""
import argparse
import json
import os
import subprocess
import time

os.environ["OMP_NUM_THREADS"] = "1"
import faiss
import numpy as np

K = 10
WANTED = (0.8, 0.9, 0.95, 0.99)
PROBES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128)


def timed(search, queries):
    """Distances found, and seconds of 1,000 queries: the fastest of three runs."""
    fastest, found = float("inf"), None
    for _ in range(3):
        start = time.perf_counter()
        found = search(queries)
        fastest = min(fastest, time.perf_counter() - start)
    return found, 1e3 * fastest / len(queries)


def runs(name, index, truth, queries):
    """A line for each number of probes: of equally near points any may be found."""
    one_by_one = lambda all: np.concatenate([index.search(all[i : i + 1], K)[0] for i in range(len(all))])
    at_once = lambda all: index.search(all, K)[0]
    for probes in PROBES:
        index.nprobe = probes
        for way, search in (("one by one", one_by_one), ("all at once", at_once)):
            found, seconds = timed(search, queries)
            recall = float((found <= truth[:, -1:] * (1 + 1e-6)).mean())
            yield {"method": f"{name}, {way}", "setting": f"{index.nlist} lists, {probes} probes", "recall": recall, "s_per_1000": seconds}


def read(folder, name, width):
    return np.fromfile(os.path.join(folder, name), np.uint8).reshape(-1, width)


def blocks(folder):
    points, queries = (read(folder, name, 36).astype(np.float32) for name in ("blocks.u8", "block_queries.u8"))
    exact = faiss.IndexFlatL2(36)
    exact.add(points)
    truth = exact.search(queries, K)[0]
    for times in (2, 4):
        index = faiss.IndexIVFFlat(faiss.IndexFlatL2(36), 36, int(times * len(points) ** 0.5))
        index.train(points)
        index.add(points)
        yield from runs("faiss IVFFlat", index, truth, queries)


def corners(folder):
    points, queries = (read(folder, name, 32) for name in ("corners.u8", "corner_queries.u8"))
    exact = faiss.IndexBinaryFlat(256)
    exact.add(points)
    truth = exact.search(queries, K)[0]
    for times in (2, 4):
        quantizer = faiss.IndexBinaryFlat(256)
        index = faiss.IndexBinaryIVF(quantizer, 256, int(times * len(points) ** 0.5))
        index.train(points)
        index.add(points)
        yield from runs("faiss BinaryIVF", index, truth, queries)


def main():
    parser = argparse.ArgumentParser()
    for name in ("train", "test", "work"):
        parser.add_argument(name)
    parser.add_argument("--tessera", required=True)
    arguments = parser.parse_args()
    faiss.omp_set_num_threads(1)
    os.makedirs(arguments.work, exist_ok=True)
    command = [arguments.tessera, arguments.train, arguments.test, arguments.work]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | {"RAYON_NUM_THREADS": "1"}).stdout
    ours = [json.loads(line) for line in printed.splitlines()]
    for title, own, peers in (
        ("gradient blocks", [run for run in ours if "bits" not in run["method"]], list(blocks(arguments.work))),
        ("corners", [run for run in ours if "bits" in run["method"]], list(corners(arguments.work))),
    ):
        print(title)
        for method in dict.fromkeys(run["method"] for run in own + peers):
            for wanted in WANTED:
                good = [run for run in own + peers if run["method"] == method and run["recall"] >= wanted]
                best = min(good, key=lambda run: run["s_per_1000"], default=None)
                told = f"{1e3 * best['s_per_1000']:8.1f} us  recall {best['recall']:.3f}  {best['setting']}" if best else "not reached"
                print(f"  {method:28} {wanted:.2f}  {told}", flush=True)


if __name__ == "__main__":
    main()
