import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tqdm import tqdm

from tessera import CandidateNeighbors, CanopyMixture, CkmClassifier, OnlineClassifier

EXAMPLES = Path(__file__).parent.parent / "examples"
TOLD = {
    "advisers": "nearest and perceptron and pa:",
    "candidates": "rows compared",
    "canopy": "CanopyMixture: a mean log density of",
    "collection": "1 forgotten, 17 left",
    "cover_tree": "1.000 of the rows are their own nearest",
    "library": "taken back:",
    "memory": "of 500 queries find a text of their class, among 2000 memories",
    "online": "served:",
    "recognise": "1 image is forgotten, 15 are left",
}


def test_each_example_is_run():
    assert sorted(TOLD) == sorted(path.stem for path in EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("name", TOLD)
def test_examples_run_and_say_what_they_found(name):
    ended = subprocess.run([sys.executable, EXAMPLES / f"{name}.py"], capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    assert TOLD[name] in ended.stdout


@pytest.mark.parametrize("readme", ["README.md", "python/README.md"])
def test_readmes_hold(readme, tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "photos").mkdir()
    for name in ["cowrie1", "cowrie2", "whelk1", "whelk2", "beach", "photos/beach", "photos/pier"]:
        Image.fromarray(rng.integers(0, 256, (48, 64, 3), dtype=np.uint8)).save(tmp_path / f"{name}.jpg")
    (code,) = re.findall("```python\n(.*?)```", (EXAMPLES.parent.parent / readme).read_text(encoding="utf-8"), re.S)
    ended = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0 and len(ended.stdout.splitlines()) >= 2, ended.stderr


def test_bars_of_tqdm_show_progress():
    rows = np.random.default_rng(0).random((2500, 4)).astype(np.float32)
    labels = np.arange(2500) % 3
    images = [np.full((32, 32, 3), 10 * i, dtype=np.uint8) for i in range(20)]
    for estimator, last, arguments in [
        (CanopyMixture(5, max_iter=7), ("Fitting a mixture", 7), (rows,)),
        (OnlineClassifier("averaged"), ("Learning online", 2500), (rows, labels)),
        (CkmClassifier("colour", judge=False), ("Learning images", 20), (images, labels[:20])),
        (CandidateNeighbors(), None, (rows,)),
    ]:
        with open(os.devnull, "w") as nowhere, tqdm(file=nowhere) as bar:
            estimator.set_params(progress=bar).fit(*arguments)
            assert bar.n == bar.total > 0
            assert last is None or (bar.desc.removesuffix(": "), bar.total) == last
