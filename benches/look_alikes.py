"""Recall, probability and time of look-alikes in a library that has an index: some of its images are asked for by `tessera similar`, with
each recall, and once with all images compared.

usage: look_alikes.py TESSERA LIBRARY [--by VECTORS] [--queries N] [--images N] [--seed SEED]
IMAGES is the highest number of an image.
"""

import argparse
import json
import random
import statistics
import subprocess

RECALLS = ("0.8", "0.95", "0.99")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tessera")
    parser.add_argument("library")
    parser.add_argument("--by", default="appearance")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--images", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)

    def ask(image, recall):
        command = [arguments.tessera, "similar", arguments.library, f"#{image}", "--by", arguments.by, "--recall", recall, "--json"]
        ran = subprocess.run(command, capture_output=True, text=True)
        return json.loads(ran.stdout) if ran.returncode == 0 else None

    found = {recall: {"recall": [], "ms": [], "told": [], "true": [], "measured": []} for recall in RECALLS}
    scans = []
    while len(scans) < arguments.queries:
        image = draw.randint(1, arguments.images)
        exact = ask(image, "1")
        if exact is None:
            continue
        scans.append(1000 * exact["s"])
        truth = {hit["image"] for hit in exact["hits"]}
        for recall, sums in found.items():
            answer = ask(image, recall)
            true = [hit["image"] in truth for hit in answer["hits"]]
            sums["recall"].append(sum(true) / len(truth))
            sums["ms"].append(1000 * answer["s"])
            sums["measured"].append(answer["recall"])
            sums["told"] += [hit["probability"] for hit in answer["hits"]]
            sums["true"] += true
    print("| recall asked for | measured when it was made | of these queries | error | probability told | true | ms, median | ms, 19 of 20 |")
    print("|---|---|---|---|---|---|---|---|")
    for recall, sums in found.items():
        n, ms = len(sums["recall"]), sorted(sums["ms"])
        error = statistics.stdev(sums["recall"]) / n**0.5
        row = [recall, f"{sums['measured'][0]:.3f}", f"{statistics.mean(sums['recall']):.3f}", f"{error:.3f}", f"{statistics.mean(sums['told']):.3f}"]
        row += [f"{statistics.mean(sums['true']):.3f}", f"{ms[n // 2]:.2f}", f"{ms[n * 19 // 20]:.2f}"]
        print("| " + " | ".join(row) + " |")
    print(f"all images compared: {statistics.median(scans):.0f} ms")


if __name__ == "__main__":
    main()
