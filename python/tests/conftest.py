"""What all tests share."""

import os
import sys
from pathlib import Path

# Tests are imported by their files, so what they share is found by its folder.
sys.path.insert(0, str(Path(__file__).parent))

# scikit-learn leaves checks of array libraries out without it; SciPy reads it when it is imported.
os.environ["SCIPY_ARRAY_API"] = "1"

import numpy as np  # noqa: E402
import pytest  # noqa: E402
from dask_cluster import Cluster  # noqa: E402
from made_collections import CLASSES, answers, made, paint  # noqa: E402
from PIL import Image  # noqa: E402


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photos")
    for i in range(24):
        (folder / CLASSES[i % 3]).mkdir(exist_ok=True)
        # The last three are near copies of those before.
        pixels = paint(i) if i < 21 else np.rot90(paint(i - 3))
        Image.fromarray(pixels).save(folder / CLASSES[i % 3] / f"{CLASSES[i % 3]}_{i}.png")
    return folder


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    yield cluster
    cluster.stop()


@pytest.fixture
def healthy(cluster):
    cluster.heal()
    yield cluster
    cluster.heal()


@pytest.fixture(scope="module")
def expected(photos, tmp_path_factory):
    collection = made(photos, tmp_path_factory.mktemp("one") / "collection", 1000)
    assert [len(group) for group in collection.duplicates()] == [2, 2, 2]
    return answers(collection)
