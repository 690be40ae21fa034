#!/usr/bin/env python3
"""How many of the ten nearest are among the candidates that codes of product quantisation put first, beside exact distances.

usage: product_codes.py CORPUS.npy QUERIES.npy [--cells 480] [--probes 8] [--axes 128]
As "What codes are worth" in docs/benchmarks/neighbours.md: vectors along their principal axes, in cells of k-means; of the points in the
cells nearest to a query the best by their codes (faiss, H. Jégou and others 2011, residuals to the centres) are candidates. Prints, for
each number of bytes a point, the share of the true ten nearest among the best 10, 15, 20, 30 and 40.
needs: pip install numpy faiss-cpu
"""
import argparse

import faiss
import numpy as np

CANDIDATES = (10, 15, 20, 30, 40)
K = 10


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("corpus")
    parser.add_argument("queries")
    parser.add_argument("--cells", type=int, default=480)
    parser.add_argument("--probes", type=int, default=8)
    parser.add_argument("--axes", type=int, default=128)
    arguments = parser.parse_args()
    corpus, queries = (np.ascontiguousarray(np.load(file), dtype=np.float32) for file in (arguments.corpus, arguments.queries))
    exact = faiss.IndexFlatL2(corpus.shape[1])
    exact.add(corpus)
    truth = exact.search(queries, K)[1]
    axes = faiss.PCAMatrix(corpus.shape[1], arguments.axes)
    axes.train(corpus)
    corpus, queries = axes.apply(corpus), axes.apply(queries)

    def row(name, index):
        index.nprobe = arguments.probes
        index.train(corpus)
        index.add(corpus)
        found = index.search(queries, max(CANDIDATES))[1]
        shares = [np.mean([len(set(row[:n]) & set(true)) / K for row, true in zip(found, truth)]) for n in CANDIDATES]
        print(f"| {name} | " + " | ".join(f"{share:.3f}".lstrip("0") for share in shares) + " |", flush=True)

    print("| codes | " + " | ".join(str(n) for n in CANDIDATES) + " |")
    centres = faiss.IndexFlatL2(arguments.axes)
    row("none: exact", faiss.IndexIVFFlat(centres, arguments.axes, arguments.cells))
    for parts in (16, 32, 64):
        for bits in (8, 4):
            index = faiss.IndexIVFPQ(faiss.IndexFlatL2(arguments.axes), arguments.axes, arguments.cells, parts, bits)
            row(f"product quantisation, {parts} parts of {bits} bits: {parts * bits // 8} bytes", index)


if __name__ == "__main__":
    main()
