"""Threads, processes, and calls that are cancelled."""

import os
import pickle
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from sklearn.base import clone
from tqdm import tqdm

from tessera import (
    AdviserMixtureClassifier,
    CandidateNeighbors,
    CanopyMixture,
    CkmClassifier,
    CoverTreeNeighbors,
    MemoryTreeClassifier,
    OnlineClassifier,
)

ALL = [
    AdviserMixtureClassifier,
    CandidateNeighbors,
    CanopyMixture,
    CkmClassifier,
    CoverTreeNeighbors,
    MemoryTreeClassifier,
    OnlineClassifier,
]


class Enough(Exception):
    pass


def stop(*_):
    raise Enough


def in_threads(*works):
    """What each raised, or nothing."""
    raised = []

    def run(work):
        try:
            work()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert not any(thread.is_alive() for thread in threads)
    return raised


def run_python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=240, env={**os.environ, **environment}
    )


def test_images_of_a_judged_machine_are_predicted_at_once():
    code = """
import numpy as np
from tessera import CkmClassifier
rng = np.random.default_rng(0)
images = [np.clip(rng.integers(-60, 60, (int(rng.integers(30, 90)), 64, 3)) + 60 * (i % 4 + 1), 0, 255).astype(np.uint8) for i in range(60)]
machine = CkmClassifier("mixed").fit(images, np.arange(60) % 4)
for round in range(15):
    machine.forget([round])
    assert len(machine.predict(images)) == 60
"""
    ended = run_python(code, RAYON_NUM_THREADS="8")
    assert ended.returncode == 0, ended.stderr


def test_who_waits_for_a_learner_does_not_hold_up_others():
    rng = np.random.default_rng(0)
    rows, labels = rng.standard_normal((60_000, 120)), rng.integers(0, 8, 60_000)
    learner = OnlineClassifier("second-order").partial_fit(rows[:10], labels[:10])
    native = learner._fitted.native
    learning = threading.Thread(target=lambda: learner.partial_fit(rows, labels))
    learning.start()
    time.sleep(0.05)
    threading.Thread(target=native.state, daemon=True).start()
    steps = 0
    while learning.is_alive():
        time.sleep(0.01)
        steps += 1
    # All of it is some seconds.
    assert steps > 10


@pytest.mark.parametrize("learner", [OnlineClassifier("ellipsoid"), AdviserMixtureClassifier(), MemoryTreeClassifier()])
def test_classes_that_come_while_others_ask(learner):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((40, 5))
    learner.partial_fit(rows, rng.permutation(np.arange(40) % 2 + 50))
    ended = threading.Event()

    def learn():
        try:
            for i in range(12):
                learner.partial_fit(rows[:6], [100 - i, 50, i, 51, 50, i])
        finally:
            ended.set()

    def ask():
        while not ended.is_set():
            found = learner.predict(rows)
            assert set(found) <= set(learner.classes_)
            for name in ["decision_function", "predict_proba"]:
                if hasattr(learner, name):
                    assert np.isfinite(getattr(learner, name)(rows)).all()

    assert not in_threads(learn, ask, ask)
    assert len(learner.classes_) == 26


def test_mistakes_and_numbers_are_counted_by_all_threads():
    rng = np.random.default_rng(0)
    rows, labels = rng.standard_normal((60, 3)), rng.integers(0, 3, 60)
    learner, memory = OnlineClassifier("perceptron", scale=3.0).partial_fit(rows, labels), MemoryTreeClassifier()
    alone = learner.n_mistakes_
    learn = lambda: [learner.partial_fit(rows[i : i + 1], labels[i : i + 1]) for i in range(60)]
    remember = lambda: [memory.partial_fit(rows[i : i + 1], labels[i : i + 1]) for i in range(60)]
    assert not in_threads(learn, learn, remember, remember, remember)
    assert alone < learner.n_mistakes_ <= alone + 120
    assert memory.n_memories_ == 180 and memory.forget(range(180)) == 180
    images = rng.integers(0, 256, (12, 32, 32, 3), dtype=np.uint8)
    machine = CkmClassifier("colour", judge=False)
    see = lambda: [machine.partial_fit(images[i : i + 1], ["a"]) for i in range(12)]
    assert not in_threads(see, see, see)
    assert sorted(number for number, _, _ in machine.images_) == list(range(36))


@pytest.mark.parametrize("learner", [OnlineClassifier("second-order"), AdviserMixtureClassifier(), MemoryTreeClassifier(n_passes=5)])
def test_what_was_learned_before_a_fit_was_cancelled_is_still_there(learner):
    rng = np.random.default_rng(0)
    rows, labels = rng.standard_normal((100_000, 60)), rng.integers(0, 9, 100_000)
    learner = clone(learner).fit(rows[:50, :7], labels[:50] + 100)
    before, found = list(learner.classes_), learner.predict(rows[:400, :7])
    learner.progress = stop
    with pytest.raises(Enough):
        learner.fit(rows, labels)
    learner.progress = None
    assert list(learner.classes_) == before and learner.n_features_in_ == 7
    assert np.array_equal(learner.predict(rows[:400, :7]), found)
    # What is learned by parts stays as far as it came.
    learner = clone(learner).fit(rows[:50], labels[:50])
    learner.progress = stop
    with pytest.raises(Enough):
        learner.partial_fit(rows, labels + 9)
    learner.progress = None
    assert set(learner.classes_) == set(range(18)) and set(learner.predict(rows[:400])) <= set(range(18))


def test_a_machine_is_as_it_was_when_a_fit_is_cancelled():
    rng = np.random.default_rng(0)
    images = list(rng.integers(0, 256, (40, 128, 128, 3), dtype=np.uint8))
    machine = CkmClassifier(judge=False).fit(images[:4], ["a", "b"] * 2)
    before = machine.decision_function(images[:5])
    machine.progress = stop
    with pytest.raises(Enough):
        machine.fit(images * 3, ["c", "d"] * 60)
    machine.progress = None
    with pytest.raises(ValueError):
        machine.fit(images, ["c"])
    assert list(machine.classes_) == ["a", "b"] and np.array_equal(machine.decision_function(images[:5]), before)


def test_work_that_has_ended_is_not_thrown_away(monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    tree = CoverTreeNeighbors(1).fit([[0.0], [4.0]])
    tree.progress = stop
    # It is told once, when all is done; but not where the machine is so busy that this takes long.
    for _ in range(20):
        try:
            assert tree.kneighbors([[3.0]])[1].tolist() == [[1]]
            break
        except Enough:
            told.clear()
    assert [type(one.exc_value) for one in told] == [Enough]


@pytest.mark.parametrize("kind", ALL)
def test_progress_belongs_to_whoever_has_it(kind):
    with open(os.devnull, "w") as nowhere, tqdm(file=nowhere) as bar:
        estimator = kind(progress=bar)
        assert clone(estimator).progress is bar
        assert pickle.loads(pickle.dumps(estimator)).progress is None and estimator.progress is bar
        assert clone(estimator).get_params(deep=False).keys() == estimator.get_params(deep=False).keys()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no such processes")
def test_a_forked_process_is_refused_in_a_sentence(tmp_path):
    code = f"""
import os, warnings
warnings.simplefilter("ignore")
from tessera import CoverTreeNeighbors, Library
tree = CoverTreeNeighbors(1).fit([[0.0], [4.0]])
library = Library({str(tmp_path / "a.tessera")!r}, create=True)
child = os.fork()
if child == 0:
    for work in [lambda: tree.kneighbors([[3.0]]), lambda: library.images, library.close]:
        try:
            work()
        except Exception as error:
            print(error, flush=True)
    del library
    os._exit(0)
os.waitpid(child, 0)
print(tree.kneighbors([[3.0]])[1], len(library), flush=True)
"""
    ended = run_python(code)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("which was forked from it; start processes by") == 3 and "[[1]] 0" in ended.stdout


@pytest.mark.parametrize("own", [None, "250"])
def test_loading_leaves_the_environment_as_it_was(own):
    said = "import os, tessera; print(os.environ.get('MIMALLOC_PURGE_DELAY'))"
    environment = {name: value for name, value in os.environ.items() if name != "MIMALLOC_PURGE_DELAY"}
    if own is not None:
        environment["MIMALLOC_PURGE_DELAY"] = own
    ended = subprocess.run([sys.executable, "-c", said], env=environment, capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == str(own)
