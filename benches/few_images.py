#!/usr/bin/env python3
"""Draws a few images of each class of sets of photographs into folders, each with the whole test half.

usage: few_images.py TO SET...        (each SET has train/CLASS/*, test/CLASS/*)
Makes TO/SET-N-DRAW for 5 and 20 images of each class and three draws.
"""
import os
import random
import shutil
import sys

to, sets = sys.argv[1], sys.argv[2:]
for source in sets:
    for n in (5, 20):
        for draw in range(3):
            rng = random.Random(draw)
            folder = os.path.join(to, f"{os.path.basename(source.rstrip('/'))}-{n}-{draw}")
            os.makedirs(os.path.join(folder, "train"))
            os.symlink(os.path.abspath(os.path.join(source, "test")), os.path.join(folder, "test"))
            for name in sorted(os.listdir(os.path.join(source, "train"))):
                images = sorted(os.listdir(os.path.join(source, "train", name)))
                os.mkdir(os.path.join(folder, "train", name))
                for image in rng.sample(images, min(n, len(images))):
                    shutil.copy(os.path.join(source, "train", name, image), os.path.join(folder, "train", name))
