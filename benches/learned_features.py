"""Guessed words and look-alikes of a library without captions, judged by captions that it does not see.

    python3 benches/learned_features.py target/release/tessera $TESSERA_DATA/flickr8k/images \
        $TESSERA_DATA/flickr8k/Flickr8k.token.txt assets/squeezenet-names.txt [IMAGES] [QUERIES]

Guessed words: for each noun of the network that captions of some, but fewer than 5 % of the images have, the share of the
ten best answers whose captions have it, beside the share of all images (chance). Look-alikes: the share of caption words that
an image has in common with its ten nearest, with learned features and without, and with any other image (chance).
"""

import collections
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

STOP = set("a an the of in on at with and is are to from for by it its his her their two one three as that while through over up down".split())


def run(*arguments):
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def stem(word):
    """Plurals and singulars as one; good enough for nouns."""
    return word[:-2] if word.endswith(("ches", "shes", "xes", "sses")) else word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def words(text):
    return {stem(word) for word in re.findall(r"[a-z]+", text.lower())} - STOP


def main():
    program, images, captions, names = sys.argv[1:5]
    n_images, n_queries = (int(x) for x in (sys.argv[5:7] + ["2000", "200"][len(sys.argv) - 5:]))
    said = {}
    for line in open(captions):
        name, text = line.rstrip("\n").split("\t", 1)
        said.setdefault(name.split("#")[0], set()).update(words(text))
    chosen = sorted(name for name in os.listdir(images) if name in said)[:n_images]
    with tempfile.TemporaryDirectory() as folder:
        pictures, library = os.path.join(folder, "pictures"), os.path.join(folder, "one.tessera")
        os.mkdir(pictures)
        # Names without words: nothing but guesses can answer.
        of = {}
        for i, name in enumerate(chosen):
            of[f"{i:05}.jpg"] = name
            os.symlink(os.path.abspath(os.path.join(images, name)), os.path.join(pictures, f"{i:05}.jpg"))
        run(program, "import", library, pictures, "--json")

        def answers(*arguments):
            hits = run(program, "search", library, *arguments, "--json", "-k", "10")["hits"]
            return [of[os.path.basename(hit["path"])] for hit in hits]

        nouns = {noun.split()[-1].lower() for line in open(names) for noun in line.strip().split(", ")}
        shares = {noun: sum(stem(noun) in said[name] for name in chosen) / len(chosen) for noun in sorted(nouns) if noun.isalpha()}
        asked = {noun: share for noun, share in shares.items() if 10 / len(chosen) <= share < 0.05}
        precision, chance, times = [], [], []
        for noun, share in asked.items():
            found = answers(noun)
            if not found:
                precision.append(0.0)
            else:
                precision.append(sum(stem(noun) in said[name] for name in found) / 10)
            chance.append(share)
        print(f"guessed words: {len(asked)} nouns, precision at 10 {sum(precision) / len(precision):.3f}, "
              f"chance {sum(chance) / len(chance):.4f}, {sum(precision) / sum(chance):.1f} times that")

        counts = collections.Counter(word for name in chosen for word in said[name])

        def rare(some):
            return sum(math.log(len(chosen) / counts[word]) ** 2 for word in some)

        queries = random.Random(0).sample(range(len(chosen)), min(n_queries, len(chosen)))
        by_chance = []
        for i in queries:
            own = said[chosen[i]]
            others = [said[name] for name in chosen if name != chosen[i]]
            by_chance.append((sum(len(own & other) / len(own | other) for other in others) / len(others),
                              sum(rare(own & other) / (rare(own) * rare(other)) ** 0.5 for other in others) / len(others)))
        likeness = {}
        for on in ("on", "off"):
            switch(program, library, on)
            likeness[on] = []
            for i in queries:
                own = said[chosen[i]]
                for other in answers("--like", os.path.join(pictures, f"{i:05}.jpg")):
                    likeness[on].append((len(own & said[other]) / len(own | said[other]), rare(own & said[other]) / (rare(own) * rare(said[other])) ** 0.5))
        for n, what in enumerate(["of caption words in common", "cosine of caption words, the rarer the weightier"]):
            chance = sum(value[n] for value in by_chance) / len(by_chance)
            mean = {on: sum(value[n] for value in values) / len(values) for on, values in likeness.items()}
            print(f"look-alikes of {len(queries)} images: {mean['on']:.4f} {what}, "
                  f"{mean['off']:.4f} without learned features, {mean['on'] / mean['off']:.2f} times that; "
                  f"two photos have {chance:.4f}, and above that it is {(mean['on'] - chance) / (mean['off'] - chance):.2f} times")


def switch(program, library, on):
    """`train` wants two classes and ends with an error where there are none, after it has turned the switch."""
    subprocess.run([program, "train", library, "--learned-features", on, "--quiet"], capture_output=True)
    state = run(program, "check", library, "--json")["learned_features"]["on"]
    assert state == (on == "on"), state


main()
