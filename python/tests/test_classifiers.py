import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_digits, make_multilabel_classification
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import tessera
from tessera import AdviserMixtureClassifier, MemoryTreeClassifier, OnlineClassifier

LEARNERS = ["served", "ellipsoid", "polytope", "perceptron", "averaged", "crammer-singer", "passive-aggressive", "second-order"]
# A polytope is sampled: how its points are drawn depends on the rows asked before.
SAMPLED = "predictions near a border depend on what was drawn for the rows before"


def exclusions(estimator):
    if getattr(estimator, "learner", None) == "polytope":
        return {check: SAMPLED for check in ["check_methods_subset_invariance", "check_methods_sample_order_invariance"]}
    return {}


@parametrize_with_checks(
    [
        *(OnlineClassifier(learner, max_iter=5) for learner in LEARNERS),
        AdviserMixtureClassifier(),
        AdviserMixtureClassifier(["neighbours", "local-means", "perceptron", "second-order"]),
        MemoryTreeClassifier(),
        MemoryTreeClassifier(3, n_passes=1),
    ],
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
    for learner in [OnlineClassifier(random_state=1), AdviserMixtureClassifier(random_state=1), MemoryTreeClassifier(random_state=1)]:
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


@pytest.mark.parametrize("learner", ["served", "ellipsoid", "polytope", "averaged"])
def test_the_best_class_is_that_of_the_largest_score(learner):
    # Classes that are hard to tell apart, so that contextual search is often not sure, and equal scores before it learns.
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((150, 4))
    y = rng.permutation(["e", "b", "d", "a", "c"])[(rows @ rng.standard_normal((4, 5))).argmax(axis=1)]
    learned = OnlineClassifier(learner, random_state=1).partial_fit(rows[:1], y[:1], classes=["e", "c", "a"])
    for part in [slice(1, 3), slice(3, 40), slice(40, 150)]:
        learned.partial_fit(rows[part], y[part])
        scores = learned.decision_function(rows)
        assert np.array_equal(learned.classes_[scores.argmax(axis=1)], learned.predict(rows))


def test_a_mixture_of_advisers_does_as_well_as_the_best():
    X, y, queries, truths = digits()
    alone = {}
    for kind in ["nearest", "perceptron", "pa"]:
        alone[kind] = AdviserMixtureClassifier([kind], random_state=0).partial_fit(X[:600], y[:600])
    together = AdviserMixtureClassifier(list(alone), random_state=0).partial_fit(X[:600], y[:600])
    best = min(own.n_mistakes_ for own in alone.values())
    assert together.n_mistakes_ < best + 15 and best < max(own.n_mistakes_ for own in alone.values()) - 20
    assert max(together.trust_, key=together.trust_.get) == "nearest" and sum(together.trust_.values()) == pytest.approx(1)
    chances = together.predict_proba(queries)
    assert chances.shape == (597, 10) and np.allclose(chances.sum(axis=1), 1) and together.score(queries, truths) > 0.93
    again = pickle.loads(pickle.dumps(together))
    assert again.n_mistakes_ == together.n_mistakes_ and np.array_equal(again.predict_proba(queries), chances)
    rest = [own.partial_fit(X[600:700], y[600:700]).predict_proba(queries) for own in (again, together)]
    assert np.array_equal(*rest)
    with pytest.raises(tessera.InvalidValueError, match="option `advisers` is oracle, but it must be some of nearest"):
        AdviserMixtureClassifier(["oracle"]).fit(X, y)


def test_labels_that_do_not_fit_leave_all_as_it_was():
    rows = np.eye(4)
    for learner in [OnlineClassifier("averaged"), AdviserMixtureClassifier(), MemoryTreeClassifier()]:
        learner.partial_fit(rows, [3, 1, 2, 1])
        before, found = list(learner.classes_), learner.predict(rows)
        with pytest.raises(ValueError, match="y: expected numbers as classes, as before, found texts"):
            learner.partial_fit(rows, ["a", "b", "c", "d"])
        for X in [np.eye(5)[:4], np.full((4, 4), np.nan)]:
            with pytest.raises(ValueError):
                learner.partial_fit(X, [7, 8, 9, 9])
            with pytest.raises((ValueError, tessera.Error)):
                learner.set_params(**{"n_trees" if hasattr(learner, "n_trees") else "scale": -1}).fit(X, [7, 8, 9, 9])
        learner.set_params(**{"n_trees" if hasattr(learner, "n_trees") else "scale": -1})
        with pytest.raises((ValueError, tessera.Error)):
            learner.fit(np.eye(5), [7, 8, 9, 9, 7])
        assert list(learner.classes_) == before and np.array_equal(learner.predict(rows), found) and learner.n_features_in_ == 4


def test_labels_of_several_are_0_or_1_sparse_or_not():
    X, Y = make_multilabel_classification(60, 20, n_classes=6, random_state=3)
    dense = MemoryTreeClassifier(random_state=0).fit(X, Y)
    sparse = csr_matrix(Y)
    for part in [sparse.data, sparse.indices, sparse.indptr]:
        part.flags.writeable = False
    assert np.array_equal(MemoryTreeClassifier(random_state=0).fit(X, sparse).predict(X), dense.predict(X))
    for wrong in [2 * Y, csr_matrix(2 * Y), np.where(Y == 0, -1, 1)]:
        with pytest.raises(ValueError, match="y: expected 0 or 1 for each label, found"):
            MemoryTreeClassifier().fit(X, wrong)


def as_given(X, y):
    """Rows and classes in all the forms in which they may come: some are taken as they are, others checked and copied."""
    read_only = X.copy()
    read_only.flags.writeable = False
    rows = [X, read_only, np.asfortranarray(X), X.astype(">f8"), X.view(type("Own", (np.ndarray,), {})), X.tolist()]
    labels = [y, y.astype(">i8"), y.astype(np.int8), y.astype(np.uint8), y.tolist()]
    return [(each, y) for each in rows] + [(X, each) for each in labels]


@pytest.mark.parametrize("made", [OnlineClassifier("averaged", random_state=1), AdviserMixtureClassifier(random_state=1)])
def test_rows_and_classes_are_learned_alike_in_any_form(made):
    X, y, queries, _ = digits()
    X, y = X[:150], y[:150]
    expected = clone(made).fit(X, y)
    for rows, labels in as_given(X, y):
        own = clone(made).fit(rows, labels)
        assert np.array_equal(own.classes_, expected.classes_) and own.scale_ == expected.scale_ and own.n_features_in_ == 64
        assert np.array_equal(own.predict(queries), expected.predict(queries))
    for asked in [queries.tolist(), np.asfortranarray(queries), queries.astype(">f8")]:
        assert np.array_equal(expected.predict(asked), expected.predict(queries))


@pytest.mark.parametrize(
    "labels",
    [
        np.array([-7, 3, -7, 5]),
        np.array([0, 2**64 - 1, 5, 0], dtype=np.uint64),
        np.array([-(2**63), 2**63 - 1, 0, 0]),
        np.array([0, 10**9, 0, 5]),
        np.array([127, -128, 127, 0], dtype=np.int8),
        np.array([True, False, True, True]),
    ],
)
def test_whole_numbers_of_any_range_are_classes(labels):
    rows = np.eye(4)[np.unique(labels, return_inverse=True)[1]]
    learned = OnlineClassifier("perceptron", max_iter=20, random_state=0).fit(rows, labels)
    assert np.array_equal(learned.classes_, np.unique(labels)) and learned.classes_.dtype == labels.dtype
    assert np.array_equal(learned.predict(rows), labels)
    assert np.array_equal(learned.partial_fit(rows, labels, classes=labels[:1]).predict(rows), labels)


def test_rows_that_are_taken_as_they_are_are_checked_all_the_same():
    X, y, queries, _ = digits()
    learned = OnlineClassifier("averaged", random_state=1).fit(X, y)
    for value in [np.nan, np.inf, -np.inf]:
        wrong = X.copy()
        wrong[700, 3] = value
        for refused in [lambda: learned.fit(wrong, y), lambda: learned.partial_fit(wrong, y), lambda: learned.predict(wrong)]:
            with pytest.raises(ValueError, match="NaN|infinity"):
                refused()
    for refused in [lambda: learned.partial_fit(X[:, :9].copy(), y), lambda: learned.predict(X[:, :9].copy())]:
        with pytest.raises(ValueError, match="9 features"):
            refused()
    for wrong in [(X, y[:-1]), (X[:0], y[:0]), (X[0], y[:1]), (X, y[:, None][:, [0, 0]])]:
        with pytest.raises(ValueError):
            learned.fit(*wrong)
    again = OnlineClassifier("averaged", random_state=1).fit(X, y)
    assert learned.n_features_in_ == 64 and np.array_equal(learned.predict(queries), again.predict(queries))
    with pytest.warns(UserWarning, match="unique classes"):
        OnlineClassifier("averaged").fit(X[:40], np.arange(40))


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200, 1e-310])
def test_rows_of_any_size_are_learned(size):
    rows = np.array([[3.0, 4.0], [0.0, 1.0]] * 10) * size
    learned = OnlineClassifier("perceptron", random_state=0).fit(rows, np.arange(20) % 2)
    assert np.isclose(learned.scale_, 5 * size, rtol=1e-6, atol=0.0) and list(learned.predict(rows[:2])) == [0, 1]


def test_rows_of_nothing_have_the_scale_one():
    assert OnlineClassifier("perceptron").fit(np.zeros((4, 3)), np.array([0, 1, 0, 1])).scale_ == 1.0
