#!/usr/bin/env python3
"""Lay ETH-80 out as two folders, without copying: instances 1 to 4 to train on, 5 and 6 to test on.

usage: TESSERA_DATA=... eth80_split.py TO
Makes TO/train/CATEGORY and TO/test/CATEGORY, with links to the images.
"""
import os, sys
source, to = os.path.join(os.environ["TESSERA_DATA"], "eth80"), sys.argv[1]
for category in sorted(os.listdir(source)):
    for name in sorted(os.listdir(os.path.join(source, category))):
        part = "test" if int(name.split("_")[1]) >= 5 else "train"
        folder = os.path.join(to, part, category)
        os.makedirs(folder, exist_ok=True)
        os.symlink(os.path.abspath(os.path.join(source, category, name)), os.path.join(folder, name))
