import subprocess
import sys
from pathlib import Path

import pytest
from tqdm import tqdm

from tessera import CandidateNeighbors, CanopyMixture, CkmClassifier, OnlineClassifier

EXAMPLES = Path(__file__).parent.parent / "examples"
TOLD = {
    "candidates": "rows compared",
    "canopy": "CanopyMixture: a mean log density of",
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


def test_bars_of_tqdm_show_progress():
    import numpy as np

    rows = np.random.default_rng(0).random((2500, 4)).astype(np.float32)
    labels = np.arange(2500) % 3
    images = [np.full((32, 32, 3), 10 * i, dtype=np.uint8) for i in range(20)]
    for estimator, last, arguments in [
        (CanopyMixture(5, max_iter=7), ("Fitting a mixture", 7), (rows,)),
        (OnlineClassifier("averaged"), ("Learning online", 2500), (rows, labels)),
        (CkmClassifier("colour", judge=False), ("Learning images", 20), (images, labels[:20])),
        (CandidateNeighbors(), None, (rows,)),
    ]:
        with tqdm(disable=False, file=open(sys.platform == "win32" and "NUL" or "/dev/null", "w")) as bar:
            estimator.set_params(progress=bar).fit(*arguments)
            assert bar.n == bar.total > 0
            assert last is None or (bar.desc.removesuffix(": "), bar.total) == last
