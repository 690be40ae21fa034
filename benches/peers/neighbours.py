"""Nearest neighbours of dense vectors: Tessera beside the libraries that people use, in one run, on one thread (hnswlib builds on two).

usage: neighbours.py CORPUS.npy QUERIES.npy VALIDATION.npy --tessera target/release/tessera [--trees] [--peers ivf,codes,lorann,...]
The files hold matrices of f32, a row for each point. Tessera chooses its options on the validation queries (`tessera eval ann`). Of each
peer a grid of settings is tried, and for each recall of the 10 nearest the fastest that reaches it *on the queries themselves* is printed,
which favours the peers. All times are the fastest of three passes, in seconds for 1,000 queries. Tessera, LoRANN and MRPT are asked one
query at a time; faiss, hnswlib and ScaNN all at once, which is faster. `mb` is the index as it is saved, with its vectors, in 10^6 bytes.
needs: pip install numpy faiss-cpu hnswlib lorann mrpt scann      (mrpt and lorann compile for minutes)
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

os.environ["OMP_NUM_THREADS"] = "1"
import faiss
import numpy as np

K = 10
WANTED = (0.8, 0.9, 0.95, 0.99)


def saved(save):
    with tempfile.TemporaryDirectory() as folder:
        save(os.path.join(folder, "index"))
        return sum(file.stat().st_size for file in pathlib.Path(folder).rglob("*") if file.is_file())


def ivf(points, queries):
    lists = int(4 * len(points) ** 0.5)
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(points.shape[1]), points.shape[1], lists)
    index.train(points)
    index.add(points)
    yield lambda: faiss.serialize_index(index).nbytes
    for probes in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128):
        index.nprobe = probes
        yield f"{lists} lists, {probes} probes", lambda: index.search(queries, K)[1]


def refined(factory):
    def run(points, queries):
        dimension = points.shape[1]
        halves = next(n for n in range(max(8, min(dimension // 8, 98)), 0, -1) if dimension % n == 0)
        index = faiss.index_factory(dimension, factory.format(halves=halves, axes=min(64, dimension)))
        index.train(points)
        index.add(points)
        yield lambda: faiss.serialize_index(index).nbytes
        inner = faiss.extract_index_ivf(index)
        for probes in (2, 4, 8, 12, 16, 24, 32, 64):
            for times in (2, 4, 8, 16):
                inner.nprobe, index.k_factor = probes, times
                yield f"{probes} probes, {times} times as many", lambda: index.search(queries, K)[1]

    return run


def hnsw(points, queries):
    import hnswlib

    index = hnswlib.Index("l2", points.shape[1])
    index.set_num_threads(1)
    index.init_index(len(points), M=16, ef_construction=200, random_seed=1)
    index.add_items(points, num_threads=2)
    yield lambda: index.index_file_size()
    for ef in (10, 12, 15, 20, 30, 40, 60, 80, 120, 200, 400):
        index.set_ef(ef)
        yield f"ef {ef}", lambda: index.knn_query(queries, K, num_threads=1)[0]


def lorann(points, queries):
    from lorann import L2, LorannIndex

    dimension = points.shape[1]
    axes = 128 if dimension > 200 else dimension // 32 * 32
    index = LorannIndex(data=points, n_clusters=int(2 * len(points) ** 0.5), global_dim=axes, quantization_bits=8, distance=L2)
    index.build(verbose=False)
    yield lambda: saved(index.save)
    for cells in (2, 4, 8, 16, 32, 64):
        for candidates in (12, 20, 50, 100, 200, 400):
            search = lambda cells=cells, candidates=candidates: np.stack([index.search(x, K, cells, candidates) for x in queries])
            yield f"{cells} clusters, {candidates} candidates", search


def mrpt(points, queries):
    import mrpt

    index = mrpt.MRPTIndex(points)
    index.build_autotune_sample(None, K, n_test=500)
    # The largest of its settings; it reads the vectors from elsewhere.
    yield lambda: saved(index.subset(WANTED[-1]).save) + points.nbytes
    for wanted in (*WANTED, *(min(0.999, wanted + 0.02) for wanted in WANTED)):
        part = index.subset(wanted)
        yield f"tuned for {wanted}", lambda part=part: np.stack([part.ann(x) for x in queries])


def scann(points, queries):
    import scann

    builder = scann.scann_ops_pybind.builder(points, K, "squared_l2").tree(
        num_leaves=int(2 * len(points) ** 0.5), num_leaves_to_search=10, training_sample_size=len(points)
    )
    index = builder.score_ah(2, anisotropic_quantization_threshold=0.2).reorder(100).build()
    yield lambda: saved(lambda folder: (os.mkdir(folder), index.serialize(folder)))
    for leaves in (4, 8, 12, 16, 24, 32, 48, 64):
        for candidates in (20, 40, 80, 160):
            search = lambda leaves=leaves, candidates=candidates: index.search_batched(
                queries, leaves_to_search=leaves, pre_reorder_num_neighbors=candidates
            )[0]
            yield f"{leaves} leaves, {candidates} candidates", search


PEERS = {
    "ivf": ("faiss IVFFlat", ivf),
    "codes": ("faiss PCA64, IVF512, SQ8, refined", refined("PCA{axes},IVF512,SQ8,Refine(Flat)")),
    "pq": ("faiss IVF512, PQ x4fs, refined", refined("IVF512,PQ{halves}x4fs,Refine(Flat)")),
    "hnsw": ("hnswlib M 16", hnsw),
    "lorann": ("LoRANN", lorann),
    "mrpt": ("MRPT, autotuned", mrpt),
    "scann": ("ScaNN", scann),
}


def fastest(search):
    times = []
    for _ in range(3):
        start = time.perf_counter()
        found = search()
        times.append(time.perf_counter() - start)
    return found, min(times)


def tell(name, wanted, recall, seconds, build, size, setting):
    line = {"method": name, "target": wanted, "recall": round(recall, 4), "s_per_1000": round(seconds, 4), "build_s": round(build, 1)}
    print(json.dumps(line | {"mb": round(size / 1e6), "setting": setting}), flush=True)


def ours(arguments, tree):
    for wanted in WANTED:
        command = [arguments.tessera, "eval", "ann", "--json", "--threads", "1", "-k", str(K), "--target-recall", str(wanted), "--tree", tree]
        command += ["--corpus", arguments.corpus, "--queries", arguments.queries, "--validation", arguments.validation]
        said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        keys = ("select", "cells", "probes", "shortlist") if said["cells"] else ("select", "trees", "depth", "labels", "threshold")
        setting = ", ".join(f"{key} {said[key]}" for key in keys)
        tell(f"Tessera, {tree}", wanted, said["recall"], said["s_per_1000"], said["build_s"], said["bytes"], setting)


def main():
    parser = argparse.ArgumentParser()
    for name in ("corpus", "queries", "validation"):
        parser.add_argument(name)
    parser.add_argument("--tessera", required=True)
    parser.add_argument("--trees", action="store_true", help="also each kind of tree, which takes minutes each")
    parser.add_argument("--peers", default=",".join(PEERS))
    arguments = parser.parse_args()
    faiss.omp_set_num_threads(1)
    points, queries = (np.ascontiguousarray(np.load(path), np.float32) for path in (arguments.corpus, arguments.queries))
    exact = faiss.IndexFlatL2(points.shape[1])
    exact.add(points)
    start = time.perf_counter()
    truth = exact.search(queries, K)[1]
    tell("faiss, all points", 1.0, 1.0, (time.perf_counter() - start) / len(queries) * 1e3, 0.0, points.nbytes, "all queries at once")
    for tree in ("kmeans", *(("forest", "pca", "kd", "rp") if arguments.trees else ())):
        ours(arguments, tree)
    for peer in filter(None, arguments.peers.split(",")):
        name, settings = PEERS[peer]
        start = time.perf_counter()
        runs = settings(points, queries)
        size = next(runs)
        build = time.perf_counter() - start
        size = size()
        tried = []
        for setting, search in runs:
            found, seconds = fastest(search)
            recall = np.mean([len(set(found[i]) & set(truth[i])) / K for i in range(len(queries))])
            tried.append((recall, seconds / len(queries) * 1e3, setting))
        for wanted in WANTED:
            good = [run for run in tried if run[0] >= wanted]
            if good:
                recall, seconds, setting = min(good, key=lambda run: run[1])
                tell(name, wanted, recall, seconds, build, size, setting)


if __name__ == "__main__":
    main()
