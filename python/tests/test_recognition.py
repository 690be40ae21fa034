import json
import os
import pickle
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from sklearn.base import clone

import tessera
from tessera import CkmClassifier


def paint(kind, rng, side=64):
    """A disc, a bar or a cross in a colour of its own, moved about, on a noisy ground."""
    y, x = np.mgrid[:side, :side] - side // 2 - rng.integers(-6, 7, (2, 1, 1))
    shape = {"disc": x**2 + y**2 < 300, "bar": abs(x) < 6, "cross": (abs(x) < 5) | (abs(y) < 5)}[kind]
    pixels = rng.integers(90, 130, (side, side, 3))
    pixels[shape] = rng.integers(0, 40, 3) + {"disc": [200, 40, 40], "bar": [60, 180, 60], "cross": [60, 60, 190]}[kind]
    return pixels.astype(np.uint8)


def painted(n, seed):
    rng = np.random.default_rng(seed)
    labels = ["disc", "bar", "cross"] * n
    return [paint(label, rng) for label in labels], labels


def test_images_are_recognised_and_scores_explained():
    (X, y), (queries, truths) = painted(6, 1), painted(4, 2)
    machine = CkmClassifier().fit(X, y, groups=range(18))
    assert machine.score(queries, truths) == 1 and machine.held_out_accuracy_ > 0.8
    assert list(machine.classes_) == ["bar", "cross", "disc"]
    scores = machine.decision_function(queries)
    assert np.array_equal(machine.classes_[scores.argmax(axis=1)], machine.predict(queries))
    assert np.all((machine.confidence(queries) >= 0) & (machine.confidence(queries) <= 1))
    for query, own in zip(queries, scores):
        explained = machine.explain(query)
        assert [why.label for why in explained] == list(machine.classes_[np.argsort(-own)])
        for why in explained:
            # Its parts are added up in another order.
            assert why.score == pytest.approx(own[list(machine.classes_).index(why.label)], rel=1e-12)
            assert sum(piece.value for piece in why.pieces) + why.term + why.whole == pytest.approx(why.score, rel=1e-6)
            assert {piece.matched.name for piece in why.pieces if piece.matched} <= {name for _, name, _ in machine.images_}
    assert [why.label for why in machine.explain(queries[0], ["cross"])] == ["cross"]


def test_images_learned_and_forgotten_leave_nothing():
    (X, y), (queries, _) = painted(4, 1), painted(2, 2)
    machine = CkmClassifier(judge=False).fit(X[:6], y[:6])
    before = machine.decision_function(queries)
    machine.partial_fit(X[6:], y[6:]).partial_fit([X[0]], ["new"], ids=[99])
    assert list(machine.classes_) == ["bar", "cross", "disc", "new"] and len(machine.images_) == 13
    assert machine.forget([*range(6, 12), 99, 1000]) == 7
    assert np.array_equal(machine.decision_function(queries), before)
    in_turn = CkmClassifier(judge=False)
    for image, label in zip(X[:6], y[:6]):
        in_turn.partial_fit([image], [label])
    assert np.array_equal(in_turn.decision_function(queries), before)
    machine.forget(range(6))
    with pytest.raises(ValueError, match="There are no classes"):
        machine.predict(queries)


def test_paths_arrays_and_pictures_are_the_same_images(tmp_path):
    (X, y), (queries, _) = painted(3, 1), painted(1, 2)
    paths = [tmp_path / f"{i}.png" for i in range(len(X))]
    for path, pixels in zip(paths, X):
        Image.fromarray(pixels).save(path)
    as_ever = CkmClassifier(judge=False).fit(X, y).decision_function(queries)
    for images in [paths, [str(path) for path in paths], [Image.open(path) for path in paths]]:
        assert np.array_equal(CkmClassifier(judge=False).fit(images, y).decision_function(queries), as_ever)
    grey = X[0][:, :, 0]
    one = CkmClassifier(judge=False).fit(X, y)
    assert np.array_equal(one.decision_function([grey]), one.decision_function([np.dstack([grey] * 3)]))
    clear = Image.fromarray(np.dstack([X[0], np.zeros((64, 64), dtype=np.uint8)]))
    assert np.array_equal(one.decision_function([clear]), one.decision_function([np.full((64, 64, 3), 255, dtype=np.uint8)]))


def test_models_are_saved_pickled_and_cloned(tmp_path):
    (X, y), (queries, _) = painted(4, 1), painted(2, 2)
    numbers = [["disc", "bar", "cross"].index(label) + 10 for label in y]
    machine = CkmClassifier("all", search="index", random_state=4).fit(X, numbers)
    assert machine.predict(queries).dtype == np.int64
    machine.save(tmp_path / "model")
    opened = CkmClassifier.load(tmp_path / "model")
    assert np.array_equal(opened.decision_function(queries), machine.decision_function(queries))
    assert list(opened.classes_) == ["10", "11", "12"] and opened.held_out_accuracy_ == machine.held_out_accuracy_
    again = pickle.loads(pickle.dumps(machine))
    assert np.array_equal(again.predict(queries), machine.predict(queries)) and again.get_params() == machine.get_params()
    assert np.array_equal(clone(machine).fit(X, numbers).decision_function(queries), machine.decision_function(queries))
    file = next(path for path in (tmp_path / "model").iterdir() if path.stat().st_size > 1000)
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    with pytest.raises(tessera.Error):
        CkmClassifier.load(tmp_path / "model")


def test_errors_are_sentences(tmp_path):
    X, y = painted(1, 1)
    for options, said in [
        ({"elements": "smell"}, "option `elements` is smell, but it must be orb, hog"),
        ({"subject": "sea"}, "option `subject` is sea, but it must be object, scene or texture"),
        ({"search": "never"}, "option `search` is never, but it must be auto, exact"),
        ({"side": 3}, "option `side` is 3, but it must be 16 to 1024"),
    ]:
        with pytest.raises(tessera.InvalidValueError, match=said):
            CkmClassifier(**options).fit(X, y)
    with pytest.raises(ValueError, match="image: expected a path, .* found one of 3 dimensions of float64"):
        CkmClassifier().fit([X[0] / 255.0], ["disc"])
    with pytest.raises(ValueError, match="y: expected 3, one for each image, found 2"):
        CkmClassifier().fit(X, y[:2])
    with pytest.raises(tessera.InvalidValueError, match="3 colours"):
        CkmClassifier().fit([np.zeros((4, 4, 2), dtype=np.uint8)], ["disc"])
    missing = tmp_path / "missing.png"
    machine = CkmClassifier(judge=False).fit(X, y)
    with pytest.raises(tessera.Error, match="missing.png"):
        machine.partial_fit([X[0], missing], ["disc", "disc"])
    assert len(machine.images_) == 3
    with pytest.raises(ValueError, match="classes: expected some of bar, cross, disc, found fish"):
        machine.explain(X[0], ["fish"])


def test_cancelling_leaves_the_machine_as_it_was():
    X, y = painted(3, 1)
    machine = CkmClassifier(judge=False).fit(X, y)

    def stop(*_):
        raise InterruptedError

    machine.progress = stop
    with pytest.raises(InterruptedError):
        machine.partial_fit(X * 40, y * 40)
    assert len(machine.images_) == 9


PROGRAM = os.environ.get("TESSERA_PROGRAM") or shutil.which("tessera")


@pytest.mark.skipif(not PROGRAM, reason="needs the program: its path in TESSERA_PROGRAM")
def test_the_program_opens_models_and_answers_alike(tmp_path):
    (X, y), (queries, _) = painted(4, 1), painted(1, 2)
    for i, (pixels, label) in enumerate(zip(X, y)):
        Path(tmp_path / "images" / label).mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(tmp_path / "images" / label / f"{i}.png")
    subprocess.run([PROGRAM, "train", tmp_path / "images", "--to", tmp_path / "theirs"], check=True, capture_output=True)
    opened = CkmClassifier.load(tmp_path / "theirs")
    Image.fromarray(queries[0]).save(tmp_path / "query.png")
    told = subprocess.run(
        [PROGRAM, "classify", "--json", tmp_path / "theirs", tmp_path / "query.png"], capture_output=True, check=True
    )
    answer = json.loads(told.stdout)
    assert opened.predict(queries[:1])[0] == answer["class"]
    assert opened.confidence(queries[:1])[0] == answer["confidence"]
    # And the other way round.
    CkmClassifier().fit(X, y).save(tmp_path / "ours")
    ours = CkmClassifier.load(tmp_path / "ours")
    told = subprocess.run(
        [PROGRAM, "classify", "--json", tmp_path / "ours", tmp_path / "query.png"], capture_output=True, check=True
    )
    assert ours.confidence(queries[:1])[0] == json.loads(told.stdout)["confidence"]
