"""How many images of none of its classes a recogniser calls unknown, and how many of its own.

    python3 benches/unknown_images.py target/release/tessera $TESSERA_DATA/flickr8k/images $TESSERA_DATA/flickr8k/Flickr8k.token.txt \
        [--of-class 29] [FOLDER...]

Five classes of photographs are made of words that at least four of the five captions of an image have, while no caption has a word
of another class. A library learns some images of each class; asked are other images of these classes, images of five classes that it
does not know, and images of each FOLDER, at most 60. Nothing about unknown images is set: bars are those that judging found.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import tempfile

KNOWN = {
    "dog": "dogs?",
    "child": "(child|children|boy|girl|kid|baby|toddler)s?",
    "bicycle": "(bike|bicycle|biker|cyclist)s?",
    "snow": "(snow|snowy|ski|skier|skiing|snowboard|snowboarder)",
    "beach": "(beach|ocean|surfer|wave)s?",
}
OTHER = {
    "football": "(football|soccer)",
    "climbing": "(climber|climbing|climbs)",
    "motorcycle": "(motorcycle|dirt bike)s?",
    "horse": "horses?",
    "basketball": "basketball",
}
ASKED, SURE = 60, 0.95


def images_of_classes(images, captions):
    """The images of each class, in an order of their own."""
    said = {}
    for line in open(captions, encoding="utf8"):
        name, text = line.rstrip("\n").split("\t", 1)
        said.setdefault(name.split("#")[0], []).append(text.lower())
    there, found = set(os.listdir(images)), {}
    for name, texts in sorted(said.items()):
        counts = {c: sum(bool(re.search(rf"\b{word}\b", text)) for text in texts) for c, word in {**KNOWN, **OTHER}.items()}
        named = [c for c, count in counts.items() if count]
        if name in there and len(named) == 1 and counts[named[0]] >= 4:
            found.setdefault(named[0], []).append(os.path.join(images, name))
    for of_class in found.values():
        random.Random(1).shuffle(of_class)
    return found


def images_in(folder):
    endings = (".png", ".jpg", ".jpeg")
    files = sorted(os.path.join(place, name) for place, _, names in os.walk(folder) for name in names if name.lower().endswith(endings))
    random.Random(1).shuffle(files)
    return files[:ASKED]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("images")
    parser.add_argument("captions")
    parser.add_argument("--of-class", type=int, default=29)
    parser.add_argument("folders", nargs="*")
    options = parser.parse_intermixed_args()

    def run(*arguments):
        done = subprocess.run([options.program, *arguments, "--json", "--quiet"], capture_output=True, text=True)
        if not done.stdout:
            raise SystemExit(done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    of_class = images_of_classes(options.images, options.captions)
    with tempfile.TemporaryDirectory() as folder:
        library = os.path.join(folder, "one.tessera")
        for name in KNOWN:
            place = os.path.join(folder, "training", name)
            os.makedirs(place)
            for image in of_class[name][ASKED : ASKED + options.of_class]:
                shutil.copy(image, place)
        run("import", library, os.path.join(folder, "training"), "--labels", "folder-paths")
        model = os.path.join(folder, "one.model")
        trained = run("train", library, "--learned-features", "on", "--to", model)[-1]
        print(f"{trained['images']} training images, {100 * trained['held_out_accuracy']:.0f} % right when left out, novelty {trained['novelty']}")
        asked = {"its classes": [image for name in KNOWN for image in of_class[name][:ASKED]]}
        asked["other classes"] = [image for name in OTHER for image in of_class[name][:ASKED]]
        asked.update((folder, images_in(folder)) for folder in options.folders)
        for what, files in asked.items():
            answers = run("classify", model, *files)
            unknown = sum(answer["unknown"] for answer in answers)
            sure = sum(not answer["unknown"] and answer["confidence"] > SURE for answer in answers)
            n = len(answers)
            print(f"{what}: of {n} {100 * unknown / n:.0f} % unknown, {100 * sure / n:.0f} % answered with more than {100 * SURE:.0f} % sure")


main()
