import base64
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
from tessera import CkmClassifier, OwnElements, OwnKind


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
    for alone in [X[0], X[0][:, :, 0], "one.png", tmp_path / "one.png", Image.fromarray(X[0])]:
        with pytest.raises(ValueError, match="X: expected several images, such as a list of them, found one"):
            CkmClassifier().fit(alone, y)
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
    with pytest.raises(tessera.InvalidValueError, match="classes: expected some of bar, cross, disc, found fish"):
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


def test_classes_are_sorted_and_scores_go_with_them():
    (X, y), (queries, truths) = painted(4, 1), painted(3, 2)
    numbers = {"disc": 9, "bar": 100, "cross": 10}
    machine = CkmClassifier().fit(X, [numbers[label] for label in y], groups=range(12))
    assert machine.classes_.tolist() == [9, 10, 100] and machine.classes_.dtype == np.int64
    assert machine.score(queries, [numbers[label] for label in truths]) == 1
    scores = machine.decision_function(queries)
    assert np.array_equal(machine.classes_[scores.argmax(axis=1)], machine.predict(queries))
    for query, own in zip(queries, scores):
        assert [why.score for why in machine.explain(query, [9, 10, 100])] == pytest.approx(sorted(own, reverse=True))
    two = CkmClassifier(judge=False).fit(X[:2], [9, 10])
    assert np.array_equal(two.predict(queries) == 10, two.decision_function(queries) > 0)
    assert CkmClassifier(judge=False).fit(X[:2], [1, 2]).partial_fit(X[2:3], [2.0]).classes_.tolist() == [1, 2]


def test_texts_and_numbers_do_not_mix(tmp_path):
    X, y = painted(2, 1)
    CkmClassifier(judge=False).fit(X, [1, 2, 3] * 2).save(tmp_path / "model")
    opened = CkmClassifier.load(tmp_path / "model")
    with pytest.raises(ValueError, match="y: expected texts as classes, as before, found numbers such as"):
        opened.partial_fit(X[:1], [4])
    assert opened.partial_fit(X[:1], ["4"], ids=[50]).classes_.tolist() == ["1", "2", "3", "4"]
    opened.forget(range(100))
    assert opened.partial_fit(X[:2], [2, 1]).classes_.tolist() == [1, 2]


def test_groups_that_are_not_known():
    X, y = painted(4, 1)
    unknown = [CkmClassifier().fit(X, y, groups=groups) for groups in [None, [None] * 12, np.full(12, np.nan), [float("nan")] * 12]]
    assert len({machine.held_out_accuracy_ for machine in unknown}) == 1
    scores = [machine.decision_function(X[:2]) for machine in unknown]
    assert all(np.array_equal(own, scores[0]) for own in scores)
    # One object shows all there is of a class.
    assert CkmClassifier().fit(X, y, groups=y).held_out_accuracy_ is None


def test_confidence_is_there_once_images_were_judged():
    (X, y), (queries, _) = painted(4, 1), painted(1, 2)
    machine = CkmClassifier(judge=False).fit(X, y, groups=range(12))
    with pytest.raises(ValueError, match="There is no confidence: no image was left out and judged"):
        machine.confidence(queries)
    usual = CkmClassifier().fit(X, y, groups=range(12))
    assert np.array_equal(machine.calibrate().confidence(queries), usual.confidence(queries))
    assert machine.held_out_accuracy_ == usual.held_out_accuracy_


def stains(values, n=6, seed=0):
    rng = np.random.default_rng(seed)
    return OwnElements((200, 100), [(rng.uniform(0, 100, (n, 2)), rng.normal(values, 0.03, (n, 3)).clip(0, 1))])


def test_elements_of_your_own_are_recognised_and_pickled():
    kind = OwnKind("stain", dimension=3, rho=0.5)
    classes = {"oak": [0.9, 0.1, 0.2], "elm": [0.2, 0.7, 0.4], "ash": [0.1, 0.2, 0.9]}
    X, y = [stains(values, seed=i) for i, values in enumerate([*classes.values()] * 4)], [*classes] * 4
    trees = CkmClassifier(kind).fit(X, y, groups=range(12))
    queries = [stains(values, seed=50) for values in classes.values()]
    assert trees.predict(queries).tolist() == list(classes) and trees.held_out_accuracy_ == 1
    why = trees.explain(queries[0])[0]
    assert {piece.kind for piece in why.pieces} == {"stain"}
    assert sum(piece.value for piece in why.pieces) + why.term + why.whole == pytest.approx(why.score, rel=1e-6)
    again = pickle.loads(pickle.dumps(clone(trees).fit(X, y, groups=range(12))))
    assert np.array_equal(again.decision_function(queries), trees.decision_function(queries))
    rng = np.random.default_rng(0)
    stamps = rng.integers(0, 256, (2, 8, 32), dtype=np.uint8)
    places = rng.uniform(0, 99, (8, 2))
    two = CkmClassifier([OwnKind("stamp"), kind], judge=False)
    both = lambda stamp, values: OwnElements((100, 100), [(places, stamp), stains(values).parts[0]])
    two.fit([both(stamps[0], classes["oak"]), both(stamps[1], classes["oak"])], ["bell", "anchor"])
    assert two.predict([both(stamps[0] ^ 1, classes["oak"]), both(stamps[1] ^ 1, classes["oak"])]).tolist() == ["bell", "anchor"]
    for image, said in [
        (OwnElements((10, 10), []), "a list for each kind that the caller brings"),
        (OwnElements((10, 10), [([[1, 1]], [[0.5, 0.5]])]), "values of `stain`"),
        (OwnElements((0, 10), [([[1, 1]], [[0.5, 0.5, 0.5]])]), "size"),
        (np.zeros((20, 20, 3), dtype=np.uint8), "expected"),
    ]:
        with pytest.raises(tessera.Error, match=said):
            trees.predict([image])
    with pytest.raises(ValueError, match="parts: expected 1 rows of features"):
        trees.predict([OwnElements((10, 10), [([[1, 1]], [[0.5] * 3] * 2)])])
    with pytest.raises(ValueError, match="elements: expected a name, an OwnKind or several"):
        CkmClassifier(elements=[3]).fit(X, y)


def test_what_is_compared_follows_the_number_of_images(tmp_path):
    kind = OwnKind("stain", dimension=3, rho=0.5)
    many = [OwnElements((10, 10), [([[i % 10, 5]], [[0.1, i % 7 / 7, 0.5]])]) for i in range(5001)]
    few = CkmClassifier(kind, judge=False).fit(many[:4], ["a", "b"] * 2)
    few.save(tmp_path / "model")
    exact = CkmClassifier(kind, judge=False, search="exact").fit(many[:4], ["a", "b"] * 2)
    for machine, after in [
        (few, "shortlist"),
        (pickle.loads(pickle.dumps(few)), "shortlist"),
        (CkmClassifier.load(tmp_path / "model"), "shortlist"),
        (pickle.loads(pickle.dumps(exact)), "exact"),
    ]:
        assert machine.search_ == "exact"
        assert machine.partial_fit(many[4:], ["a"] * 4997).search_ == after
        machine.forget([5000])
        assert machine.search_ == "exact"


def test_learned_weights_count_and_are_kept():
    X, y = painted(6, 1)
    machine = CkmClassifier("hog", weights="learned").fit(X, y, groups=range(18))
    uniform = CkmClassifier("hog").fit(X, y, groups=range(18))
    assert machine.held_out_accuracy_ >= uniform.held_out_accuracy_ - 0.06
    again = pickle.loads(pickle.dumps(machine))
    assert np.array_equal(again.decision_function(X), machine.decision_function(X))
    with pytest.raises(ValueError, match="weights: expected uniform or learned, found heavy"):
        CkmClassifier(weights="heavy").fit(X, y)


def test_explanations_are_pictures_in_notebooks(tmp_path):
    (X, y), (queries, _) = painted(3, 1), painted(1, 2)
    paths = [tmp_path / f"{i}.png" for i in range(9)]
    for path, pixels in zip(paths, X):
        Image.fromarray(pixels).save(path)
    by_files = CkmClassifier(judge=False).fit(paths, y).picture(queries[0])
    machine = CkmClassifier(judge=False).fit(X, y)
    by_pixels = machine.picture(queries[0], images=dict(enumerate(X)))
    assert by_files.missing == by_pixels.missing == 0 and by_files.png == by_pixels.png
    bare = machine.picture(queries[0])
    assert bare.missing > 0 and bare.png != by_files.png
    by_files.save(tmp_path / "why.png")
    drawn = np.asarray(Image.open(tmp_path / "why.png"))
    assert drawn.shape == (512, 1256, 3) and drawn.std() > 20
    assert base64.b64decode(by_files._repr_png_()) == by_files.png
    alone = machine.picture(queries[0], ["cross"], images=dict(enumerate(X)))
    assert alone.missing == 0 and alone.png != by_files.png
    # Lines begin at the pieces of the image that lead most over the second class.
    best, second = machine.explain(queries[0])[:2]
    theirs = {(piece.kind, piece.position): piece.value for piece in second.pieces}
    lead = max(best.pieces, key=lambda piece: piece.value - theirs[piece.kind, piece.position])
    x, y = (round(16 + (place + 0.5) * 480 / 64) for place in lead.position)
    assert tuple(drawn[y, x]) in [(214, 62, 62), (35, 120, 200), (40, 150, 80), (205, 120, 20), (140, 80, 190), (20, 150, 160)]
    with pytest.raises(tessera.Error, match="classes: expected some of bar, cross, disc, found fish"):
        machine.picture(queries[0], ["fish"])


PROGRAM = os.environ.get("TESSERA_PROGRAM") or shutil.which("tessera")


@pytest.mark.skipif(not PROGRAM, reason="needs the program: its path in TESSERA_PROGRAM")
def test_the_program_opens_models_and_answers_alike(tmp_path):
    # Enough that kinds of pieces are fitted.
    (X, y), (queries, _) = painted(15, 1), painted(1, 2)
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
    # And what is fitted here is what the program fits.
    paths = [tmp_path / "images" / name for _, name, _ in sorted(opened.images_)]
    trained = CkmClassifier().fit(paths, [path.parent.name for path in paths])
    assert trained.kind_weights_ == opened.kind_weights_ and trained.held_out_accuracy_ == opened.held_out_accuracy_
    assert np.array_equal(trained.decision_function(queries), opened.decision_function(queries))
    CkmClassifier().fit(X, y).save(tmp_path / "ours")
    ours = CkmClassifier.load(tmp_path / "ours")
    told = subprocess.run(
        [PROGRAM, "classify", "--json", tmp_path / "ours", tmp_path / "query.png"], capture_output=True, check=True
    )
    assert ours.confidence(queries[:1])[0] == json.loads(told.stdout)["confidence"]
