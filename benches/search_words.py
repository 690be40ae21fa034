#!/usr/bin/env python3
"""Search by words: with errors of typing and other forms of nouns, and while typing in a large library.

Makes a library of Flickr8k's photographs with four captions of each, and asks for the fifth (`tessera eval words`); then one of small
pictures, 100,000 unless told otherwise, with five captions each, and types in it. Those captions are Flickr8k's with one word in each
replaced by one of another caption, and in one of twenty by a compound of two, so that there are many times as many different words.

    python3 benches/search_words.py PROGRAM OUT [--images 100000] [--queries 1000]

OUT is a folder with room for 2 GB; what is there already is used again. Flickr8k is in TESSERA_DATA.
"""
import argparse
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import zlib

arguments = argparse.ArgumentParser()
arguments.add_argument("program", type=pathlib.Path)
arguments.add_argument("out", type=pathlib.Path)
arguments.add_argument("--images", type=int, default=100_000)
arguments.add_argument("--queries", type=int, default=1000)
arguments = arguments.parse_args()
data = os.environ.get("TESSERA_DATA")
if data is None:
    sys.exit("skipped: TESSERA_DATA is not set")
flickr = pathlib.Path(data) / "flickr8k"
out = arguments.out
out.mkdir(parents=True, exist_ok=True)


def run(*words):
    ran = subprocess.run([arguments.program, *words, "--json", "--quiet"], stdout=subprocess.PIPE)
    if ran.returncode not in (0, 1):
        sys.exit(f"{words} ended with {ran.returncode}")
    return json.loads(ran.stdout.splitlines()[-1])


def png(number):
    """A picture of 8x8 pixels, another for each number."""
    rng = random.Random(number)
    rows = b"".join(b"\0" + bytes(rng.randrange(256) for _ in range(8)) for _ in range(8))
    chunk = lambda kind, body: struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    header = struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


lines = (flickr / "Flickr8k.token.txt").read_text().splitlines()
asked = out / "asked.txt"
asked.write_text("".join(line + "\n" for line in lines if "#4\t" in line))
library = out / "flickr8k.tessera"
if not library.exists():
    kept = out / "kept.txt"
    kept.write_text("".join(line + "\n" for line in lines if "#4\t" not in line))
    print(run("import", library, flickr / "images", "--labels", "none", "--captions", kept))
print(json.dumps(run("eval", "words", library, "--captions", asked, "--queries", str(arguments.queries)), indent=1))

library = out / "many.tessera"
many = out / "many.token.txt"
if not library.exists():
    rng = random.Random(0)
    texts = [line.split("\t")[1].split() for line in lines]
    words = [word for text in texts for word in text if len(word) > 3]
    folder = out / "many"
    with open(many, "w") as to:
        for number in range(arguments.images):
            inside = folder / f"{number // 1000:03}"
            inside.mkdir(parents=True, exist_ok=True)
            (inside / f"{number:06}.png").write_bytes(png(number))
            for caption in range(5):
                text = list(rng.choice(texts))
                text[rng.randrange(len(text))] = rng.choice(words) + (rng.choice(words) if rng.random() < 0.05 else "")
                print(f"{number:06}.png#{caption}\t{' '.join(text)}", file=to)
    # The network has nothing to see in such pictures.
    first = out / "one"
    first.mkdir(exist_ok=True)
    (first / "one.png").write_bytes(png(-1))
    run("import", library, first, "--labels", "none")
    run("train", library, "--learned-features", "off")
    print(run("import", library, folder, "--labels", "none", "--captions", many))
print(json.dumps(run("eval", "words", library, "--captions", many, "--queries", "100", "--claims", "1000", "--typed", "30"), indent=1))
