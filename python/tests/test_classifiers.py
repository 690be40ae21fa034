import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_digits, make_multilabel_classification
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import tessera
from tessera import MemoryTreeClassifier, OnlineClassifier

LEARNERS = ["served", "ellipsoid", "polytope", "perceptron", "averaged", "crammer-singer", "passive-aggressive", "second-order"]
# A polytope is sampled: how its points are drawn depends on the rows asked before.
SAMPLED = "predictions near a border depend on what was drawn for the rows before"


def exclusions(estimator):
    if getattr(estimator, "learner", None) == "polytope":
        return {check: SAMPLED for check in ["check_methods_subset_invariance", "check_methods_sample_order_invariance"]}
    return {}


@parametrize_with_checks(
    [*(OnlineClassifier(learner, max_iter=5) for learner in LEARNERS), MemoryTreeClassifier(), MemoryTreeClassifier(3, n_passes=1)],
    expected_failed_checks=exclusions,
)
def test_scikit_learn(estimator, check):
    check(estimator)


def digits():
    X, y = load_digits(return_X_y=True)
    return X[:1200], y[:1200], X[1200:], y[1200:]


@pytest.mark.parametrize("learner", ["served", "ellipsoid", "averaged", "passive-aggressive", "second-order"])
def test_online_classifier_learns_digits(learner):
    X, y, queries, truths = digits()
    learned = OnlineClassifier(learner, max_iter=2, random_state=1).fit(X, y)
    # Ridge regression of the same rows has 0.874.
    assert learned.score(queries, truths) > 0.874
    assert 0 < learned.n_mistakes_ < len(X)
    again = pickle.loads(pickle.dumps(learned))
    assert np.array_equal(again.decision_function(queries), learned.decision_function(queries))
    rest = (again, learned)
    assert all(np.array_equal(a, b) for a, b in zip(*(own.partial_fit(queries, truths).decision_function(X) for own in rest)))
    fresh = OnlineClassifier(learner, max_iter=2, random_state=1).fit(X, y)
    assert np.array_equal(clone(learned).fit(X, y).predict(queries), fresh.predict(queries))


def test_rows_learned_one_by_one_and_together_are_learned_alike():
    X, y, queries, _ = digits()
    rows = slice(0, 200)
    together = OnlineClassifier(random_state=1, scale=80).partial_fit(X[rows], y[rows])
    apart = OnlineClassifier(random_state=1, scale=80)
    for row, label in zip(X[rows], y[rows]):
        apart.partial_fit([row], [label])
    assert np.array_equal(together.classes_, apart.classes_) and together.n_mistakes_ == apart.n_mistakes_
    assert np.array_equal(together.decision_function(queries), apart.decision_function(queries))


def test_new_classes_come_at_any_time():
    for learner in [OnlineClassifier(random_state=1), MemoryTreeClassifier(random_state=1)]:
        rows = np.eye(3)
        for _ in range(5):
            learner.partial_fit(rows[:2], ["pear", "quince"])
        for _ in range(5):
            learner.partial_fit(rows, ["pear", "quince", "apple"])
        assert list(learner.classes_) == ["apple", "pear", "quince"]
        assert list(learner.predict(rows)) == ["pear", "quince", "apple"]


def test_contextual_search_stays_within_its_bound():
    # In two dimensions, with the nearest of two centres as the label: 4 R d (d + 1) ln(32 (d + 1)) of loss.
    rng = np.random.default_rng(2)
    rows = rng.standard_normal((2000, 2))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    hidden = np.array([0.6, 0.8])
    learner = OnlineClassifier("ellipsoid", metric="inner", scale=1.0, random_state=0)
    loss = 0.0
    for row in rows:
        label = int(row @ hidden > 0)
        if hasattr(learner, "classes_") and learner.predict([row])[0] != label:
            loss += abs(row @ hidden)
        learner.partial_fit([row], [label], classes=[0, 1])
    assert loss < 4 * 2 * 2 * 3 * np.log(32 * 3) and learner.n_mistakes_ < 30


def test_memory_finds_digits_again():
    X, y, queries, truths = digits()
    nearest = KNeighborsClassifier(1, metric="cosine").fit(X, y)
    every = MemoryTreeClassifier(n_leaves=1200, learn_scorer=False, random_state=1).fit(X, y)
    assert np.mean(every.predict(queries) == nearest.predict(queries)) > 0.995  # But for rounding to 32 bits.
    memory = MemoryTreeClassifier(4, n_leaves=4, random_state=1).fit(X, y)
    assert memory.score(queries, truths) > nearest.score(queries, truths) - 0.03 and memory.n_memories_ == 1200
    assert np.array_equal(memory.predict(csr_matrix(queries)), memory.predict(queries))
    scores, numbers = every.recall(X[:50], 2)
    assert [own[0] for own in numbers] == list(range(50)) and all(best > second for best, second in scores)
    again = pickle.loads(pickle.dumps(memory))
    assert all(own.forget(range(600)) == 600 for own in (memory, again)) and memory.forget([0]) == 0
    assert np.array_equal(again.predict(queries), memory.predict(queries)) and again.n_memories_ == 600
    assert all(np.array_equal(a, b) for a, b in zip(*(own.partial_fit(X[:9], y[:9]).recall(queries)[1] for own in (again, memory))))


def test_memories_of_several_labels():
    X, Y = make_multilabel_classification(600, 30, n_classes=8, random_state=3)
    memory = MemoryTreeClassifier(random_state=0).fit(X[:200], Y[:200]).partial_fit(X[200:500], Y[200:500])
    found, truth = memory.predict(X[500:]), Y[500:]
    assert found.shape == truth.shape and (found != truth).mean() < 0.75 * truth.mean()
    wider = np.hstack([Y[500:], np.ones((100, 1), dtype=int)])
    memory.partial_fit(X[500:], wider)
    assert memory.predict(X).shape == (600, 9)
    again = pickle.loads(pickle.dumps(memory))
    assert np.array_equal(again.predict(X), memory.predict(X))
    with pytest.raises(ValueError, match="as before, found the other"):
        memory.partial_fit(X, Y[:, 0])


def test_errors_are_sentences():
    rows, y = np.eye(3), [0, 1, 2]
    for options, said in [
        ({"learner": "oracle"}, "option `learner` is oracle, but it must be served, ellipsoid"),
        ({"learner": "polytope", "metric": "lp:x"}, "option `metric` is lp:x, but it must be inner, l2 or lp:P with P even"),
        ({"guard": 99}, "option `guard` is 99, but it must be from 0 to 60"),
        ({"learner": "second-order", "ridge": 0}, "option `ridge` is 0, but it must be a number above 0"),
    ]:
        with pytest.raises(tessera.InvalidValueError, match=said):
            OnlineClassifier(**options).fit(rows, y)
    with pytest.raises(tessera.InvalidValueError, match="option `learner` is polytope, with rows of 41 components"):
        OnlineClassifier("polytope").fit(np.eye(40), range(40))
    with pytest.raises(tessera.InvalidValueError, match="option `similarity` is taste, but it must be cosine or euclidean"):
        MemoryTreeClassifier(similarity="taste").fit(rows, y)
    with pytest.raises(tessera.InvalidValueError, match="expected"):
        tessera._native.Online.restored(b"no state")
    with pytest.raises(tessera.InvalidValueError, match="expected"):
        tessera._native.MemoryTree.restored(b"no state")


def test_progress_of_what_is_learned():
    X, y, queries, _ = digits()
    for learner, stages in [
        (OnlineClassifier("ellipsoid"), {"Learning online", "Predicting"}),
        (MemoryTreeClassifier(), {"Remembering", "Asking memory"}),
    ]:
        told = []
        learner.set_params(progress=lambda *step: told.append(step)).fit(X, y).predict(queries)
        assert {stage for stage, _, _ in told} == stages and told[-1][1] == told[-1][2] == len(queries)
