import doctest
import os
import pickle
import subprocess
import sys

import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.estimator_checks import parametrize_with_checks

import tessera
import tessera.library
import tessera.memory
import tessera.mixture
import tessera.neighbors
import tessera.online
import tessera.recognition
from tessera import CandidateNeighbors, CanopyMixture, CoverTreeNeighbors


@parametrize_with_checks([CandidateNeighbors(), CoverTreeNeighbors(), CanopyMixture(), CanopyMixture(method="em")])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "module",
    [tessera, tessera.library, tessera.memory, tessera.mixture, tessera.neighbors, tessera.online, tessera.recognition],
)
def test_examples(module):
    failed, tried = doctest.testmod(module)
    assert tried > 0 and failed == 0


@pytest.mark.parametrize("name", tessera.__all__)
def test_public_names_are_documented_with_an_example(name):
    shown = getattr(tessera, name)
    # Those of the native part are in that of the package.
    text = tessera.__doc__ if issubclass(shown, Exception) else shown.__doc__
    assert shown.__doc__ and ">>>" in text
    # What calls return is not made by its name.
    assert name in text or name in ["Alike", "Explanation", "Hit", "Imported", "LibraryImage", "Matched", "Picture", "Piece"]


def points(n=500, d=6, seed=3):
    return np.random.default_rng(seed).standard_normal((n, d)).astype(np.float32)


def groups():
    rng = np.random.default_rng(5)
    return (rng.standard_normal((600, 4)) + 12 * np.repeat(np.arange(3), 200)[:, None]).astype(np.float32)


def test_neighbours_are_those_of_a_scan():
    rows, queries = points(), points(50, seed=4)
    ours, scan = CoverTreeNeighbors().fit(rows), NearestNeighbors(algorithm="brute").fit(rows)
    for query in [queries, None]:
        (d, i), (true_d, true_i) = ours.kneighbors(query), scan.kneighbors(query)
        assert np.array_equal(i, true_i) and np.allclose(d, true_d, atol=1e-4)
        (d, i), (_, true_i) = ours.radius_neighbors(query, 2.0), scan.radius_neighbors(query, 2.0)
        assert all(set(a) == set(b) for a, b in zip(i, true_i)) and all(np.all(np.diff(a) >= 0) for a in d)


def test_pickled_neighbours_answer_alike():
    ours = CoverTreeNeighbors().fit(points())
    ours.base = 2.0  # The tree stays what it was fitted as.
    again = pickle.loads(pickle.dumps(ours))
    assert all(np.array_equal(a, b) for a, b in zip(ours.kneighbors(), again.kneighbors()))


@pytest.mark.parametrize("kind", [CoverTreeNeighbors, lambda: CandidateNeighbors(5)])
def test_rows_that_change_after_fit_change_nothing(kind):
    rows = points(100)
    for given in [rows, rows[:, :], memoryview(rows), pandas.DataFrame(rows)]:
        ours = kind().fit(given)
        before, rows[:] = ours.kneighbors(), 0.0
        assert all(np.array_equal(a, b) for a, b in zip(ours.kneighbors(), before))
        rows[:] = points(100)


def found_of(truth, found):
    return np.mean([len(set(a) & set(b)) / len(b) for a, b in zip(found, truth)])


@pytest.mark.parametrize(
    "trees, metric, selection",
    [
        ("rp", "euclidean", "natural"),
        ("rp", "cosine", "natural"),
        ("rp", "euclidean", "labels"),
        ("kd", "euclidean", "natural"),
        ("pca", "euclidean", "natural"),
        ("forest", "euclidean", "natural"),
        ("oblique", "euclidean", "natural"),
        ("oblique", "cosine", "labels"),
    ],
)
def test_candidates_have_the_recall_that_was_asked_for(trees, metric, selection):
    rows, queries = points(6000, 10), points(500, 10, seed=4)
    truth = NearestNeighbors(n_neighbors=10, algorithm="brute", metric=metric).fit(rows)
    index = CandidateNeighbors(recall=0.85, trees=trees, metric=metric, selection=selection, n_trees=30, random_state=1).fit(rows)
    assert index.recall_ > 0.85 and index.n_candidates_ < 3000
    distances, found = index.kneighbors(queries)
    true_distances, true = truth.kneighbors(queries)
    # It was measured on 150 rows: three standard errors.
    assert abs(found_of(true, found) - index.recall_) < 0.04 and found_of(true, found) > 0.85
    same = found[:, 0] == true[:, 0]
    assert same.mean() > 0.8 and np.allclose(distances[same, 0], true_distances[same, 0], atol=1e-4)
    assert np.all(np.diff(distances) >= 0)
    again = pickle.loads(pickle.dumps(index))
    assert all(np.array_equal(a, b) for a, b in zip(index.kneighbors(queries), again.kneighbors(queries)))
    assert again.recall_ == index.recall_


def test_candidates_tuned_by_queries_and_among_the_rows_themselves():
    rows, queries = points(3000, 10), points(600, 10, seed=4)
    index = CandidateNeighbors(5, recall=0.9, random_state=1).fit(rows, queries=queries)
    truth = NearestNeighbors(n_neighbors=5, algorithm="brute").fit(rows)
    _, true = truth.kneighbors(queries[1::2])
    # The very queries that recall was measured on.
    assert abs(found_of(true, index.kneighbors(queries[1::2], return_distance=False)) - index.recall_) < 0.002
    _, found = index.kneighbors()
    assert found.shape == (3000, 5) and not np.any(found == np.arange(3000)[:, None])
    assert found_of(truth.kneighbors()[1], found) > 0.85
    again = pickle.loads(pickle.dumps(index))
    assert np.array_equal(again.kneighbors(queries)[0], index.kneighbors(queries)[0])


def test_few_rows_are_all_compared():
    rows = points(300)
    index, scan = CandidateNeighbors(3).fit(rows), NearestNeighbors(n_neighbors=3, algorithm="brute").fit(rows)
    assert np.array_equal(index.kneighbors()[1], scan.kneighbors()[1]) and index.recall_ == 1 and index.n_candidates_ == 300


@pytest.mark.parametrize("method", ["auto", "em", "esca", "canopy1", "canopy2"])
def test_mixture_finds_groups(method):
    rows = groups()
    mixture = CanopyMixture(3, method=method, random_state=1).fit(rows)
    found = mixture.predict(rows).reshape(3, 200)
    assert all(len(set(group)) == 1 for group in found) and len(set(found[:, 0])) == 3
    assert np.allclose(mixture.predict_proba(rows).sum(axis=1), 1)
    drawn, components = mixture.sample(300)
    assert np.mean(mixture.predict(drawn) == components) > 0.99
    again = pickle.loads(pickle.dumps(mixture))
    assert np.array_equal(again.score_samples(rows), mixture.score_samples(rows))
    assert np.array_equal(clone(mixture).fit(rows).means_, mixture.means_)


def test_densities_are_those_of_the_told_parameters():
    rows = groups()
    for kind in ["diag", "spherical"]:
        mixture = CanopyMixture(3, covariance_type=kind, random_state=1).fit(rows)
        variances = np.broadcast_to(mixture.covariances_, mixture.means_.shape)
        squares = (rows[:, None].astype(float) - mixture.means_) ** 2 / variances
        logs = np.log(mixture.weights_) - 0.5 * (squares + np.log(2 * np.pi * variances)).sum(axis=2)
        assert np.allclose(np.log(np.exp(logs).sum(axis=1)), mixture.score_samples(rows))


def test_one_seed_gives_one_answer_on_any_number_of_threads():
    code = (
        "import numpy as np; from tessera import CanopyMixture; rows = np.random.default_rng(0).random((3000, 5));"
        "print(CanopyMixture(40, random_state=7).fit(rows).score_samples(rows).tobytes().hex())"
    )
    run = lambda n: subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "RAYON_NUM_THREADS": n}, check=True, capture_output=True
    ).stdout
    assert run("1") == run("3")


def test_progress_is_told_and_what_it_raises_cancels():
    told = []
    CanopyMixture(3, progress=lambda *step: told.append(step), max_iter=5).fit(groups())
    assert told[-1] == ("Fitting a mixture", 5, 5)

    class Enough(Exception):
        pass

    def stop(*_):
        raise Enough

    with pytest.raises(Enough):
        CanopyMixture(40, progress=stop, max_iter=10**9).fit(points(2000))


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
def test_ctrl_c_cancels():
    code = (
        "import numpy as np, os, signal, threading; from tessera import CanopyMixture;"
        # Where tests run in the background signals may be ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler);"
        "threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start();"
        "CanopyMixture(9, max_iter=10**9).fit(np.random.default_rng(0).random((2000, 5)))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "KeyboardInterrupt" in ended.stderr and "Cancelled" not in ended.stderr


@pytest.mark.parametrize("kind", [np.float64, np.int64])
def test_values_far_from_zero_are_told_apart(kind):
    # Metres of a map, of which 32 bits tell no two of a half apart.
    rows = (np.random.default_rng(2).uniform(0, 400, (2500, 2)) + [500_000, 5_200_000]).astype(kind)
    asked = rows[:200] + 1
    distances, _ = NearestNeighbors(n_neighbors=3, algorithm="kd_tree").fit(rows).kneighbors(asked)
    for ours in [CoverTreeNeighbors(3).fit(rows), CandidateNeighbors(3, recall=1, random_state=0).fit(rows)]:
        for index in [ours, pickle.loads(pickle.dumps(ours))]:
            found, _ = index.kneighbors(asked)
            assert np.isclose(found, distances, rtol=1e-3, atol=2e-3).mean() > (0.99 if index is ours else 0.98)
    exact = CoverTreeNeighbors(3).fit(rows)
    assert np.allclose(exact.kneighbors(asked)[0], distances, rtol=1e-3, atol=2e-3)
    assert np.allclose(exact.kneighbors()[0][:, 0], NearestNeighbors(n_neighbors=1, algorithm="kd_tree").fit(rows).kneighbors()[0][:, 0], atol=2e-3)
    # Times of two days, a hundred seconds apart.
    times = np.concatenate([np.random.default_rng(i).normal(1_700_000_000 + 100 * i, 3, (300, 1)) for i in range(2)])
    mixture = CanopyMixture(2, random_state=0).fit(times)
    assert np.allclose(np.sort(mixture.means_.ravel()) - 1_700_000_000, [0, 100], atol=1)
    assert np.allclose(mixture.covariances_, 9, atol=2)
    again = pickle.loads(pickle.dumps(mixture))
    assert np.array_equal(again.predict(times), mixture.predict(times)) and len(set(mixture.predict(times)[:300])) == 1
    # What 32 bits hold exactly stays so.
    held = np.float32(7.2) + np.arange(3, dtype=np.float32) * np.spacing(np.float32(7.2))
    held = np.append(held, np.float32(9.15))[:, None]
    assert np.array_equal(CoverTreeNeighbors(2).fit(held.astype(float)).kneighbors()[0], CoverTreeNeighbors(2).fit(held).kneighbors()[0])
    # Rows of 32 bits are as they are, and so are those of 64 near 0.
    near = points().astype(np.float64)
    assert np.array_equal(CoverTreeNeighbors().fit(near).kneighbors()[0], CoverTreeNeighbors().fit(points()).kneighbors()[0])


@pytest.mark.parametrize("copies", [1, 3000])
def test_all_points_of_a_tree_are_counted(copies):
    told = []
    CoverTreeNeighbors(progress=lambda *step: told.append(step)).fit(np.repeat(points(9000 // copies, 3), copies, axis=0))
    assert told[-1] == ("Building a cover tree", 9000, 9000)


def test_queries_of_another_shape_are_refused():
    rows = np.random.default_rng(2).uniform(0, 400, (2500, 4)) + 5_000_000
    for wrong, said in [(rows[:50, :1], "rows of 4 values, found 1"), (np.full((50, 4), 1e300), "infinity or a value too large")]:
        with pytest.raises(ValueError, match=said):
            CandidateNeighbors(3, random_state=0).fit(rows, queries=wrong)
    tree = CoverTreeNeighbors(1).fit(np.column_stack([np.full(9, 1e39), 1e9 + np.arange(9)]))
    with pytest.raises(ValueError, match="around the middle of the fitted rows"):
        tree.kneighbors([[0.0, 1e9]])


def test_trees_tell_their_progress_and_are_cancelled():
    # What has ended before it was looked at is neither told nor cancelled: with more points it is looked at in time.
    sizes = [30_000 * 2**i for i in range(6)]
    for make in [lambda told: CoverTreeNeighbors(progress=told), lambda told: CanopyMixture(40, method="canopy2", max_iter=1, progress=told)]:

        def stop(stage, done, total):
            if stage == "Building a cover tree":
                raise KeyError(stage)

        with pytest.raises(KeyError, match="Building a cover tree"):
            for size in sizes:
                make(stop).fit(points(size, 8))


def test_errors_are_sentences():
    for wrong in [{"n_components": 2.0}, {"max_iter": "3"}]:
        with pytest.raises(ValueError, match="expected a whole number, found"):
            CanopyMixture(**wrong).fit(points())
    with pytest.raises(ValueError, match="n_neighbors: expected a whole number, found 2.5"):
        CoverTreeNeighbors().fit(points()).kneighbors(points(), 2.5)
    with pytest.raises(ValueError, match="progress: expected a callable, or a bar"):
        CanopyMixture(progress=True).fit(points())
    # It is caught as what scikit-learn itself refuses.
    assert issubclass(tessera.InvalidValueError, ValueError) and issubclass(tessera.InvalidValueError, tessera.Error)
    with pytest.raises(tessera.InvalidValueError, match="option `method` is magic, but it must be auto, em"):
        CanopyMixture(method="magic").fit(groups())
    for options in [{"metric": "taste"}, {"trees": "oak"}, {"selection": "none"}]:
        with pytest.raises(tessera.InvalidValueError, match="but it must be"):
            CandidateNeighbors(**options).fit(points())
    with pytest.raises(ValueError, match="recall: expected a number above 0 and at most 1, found 1.5"):
        CandidateNeighbors(recall=1.5).fit(points())
    with pytest.raises(tessera.Error, match="above 1"):
        CoverTreeNeighbors(base=0.5).fit(points())
    with pytest.raises(ValueError, match="n_neighbors: expected 1 to 3, found 5"):
        CoverTreeNeighbors().fit(points(3)).kneighbors(points(1))
