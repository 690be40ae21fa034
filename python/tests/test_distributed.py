"""Collections: the same answers here and on Dask, on any number of shards."""

import doctest
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from made_collections import CLASSES, answers, made, paint
from PIL import Image

import tessera
import tessera.distributed
from tessera import CkmClassifier, Library, _native
from tessera.distributed import Answers, Collection, LeftOutWarning, ShardError
from tessera.distributed import _errors, _storage, _workers
from tessera.distributed import collection as collections
from tessera.distributed._run import Part, executor, run


@pytest.mark.parametrize("per_shard", [12, 8, 3])
def test_any_number_of_shards_gives_the_same(photos, expected, tmp_path, per_shard):
    collection = made(photos, tmp_path / "collection", per_shard)
    assert len(collection.shards) == 24 // per_shard and answers(collection) == expected


def test_workers_of_dask_give_the_same(photos, expected, tmp_path, healthy):
    with made(photos, tmp_path / "collection", 3, client=healthy.address) as collection:
        assert len(collection.shards) == 8 and answers(collection) == expected


def test_scores_are_those_of_the_recogniser(photos, tmp_path):
    collection = made(photos, tmp_path / "collection", 5, random_state=0)
    rows = collection.listed(photos)
    machine = CkmClassifier("colour", search="exact", judge=False).fit([row["place"][7:] for row in rows], [row["label"] for row in rows])
    queries = [paint(i) for i in range(100, 106)]
    scores = machine.decision_function(queries)
    for own, one in zip(scores, collection.recognise(queries)):
        assert [one.scores[label] for label in machine.classes_] == list(own)
        assert one.label == max(one.scores, key=one.scores.get)


@pytest.mark.parametrize("module", [tessera.distributed, collections, _errors])
def test_examples(module):
    failed, tried = doctest.testmod(module)
    assert tried > 0 and failed == 0


@pytest.mark.parametrize("name", tessera.distributed.__all__)
def test_public_names_are_documented_with_an_example(name):
    text = getattr(tessera.distributed, name).__doc__
    assert text and ">>>" in text and name in text


def test_folders_above_count_for_nothing(photos, tmp_path):
    found = []
    for above in ["field/left", "elsewhere"]:
        shutil.copytree(photos, tmp_path / above)
        collection = Collection(tmp_path / f"of-{above[:3]}", create=True, elements="colour")
        collection.add(collection.listed(tmp_path / above), per_shard=7)
        assert all("/./" not in hit.place and hit.place.startswith("file:///") for hit in collection.search("sea", 24))
        assert not collection.search("elsewhere") and not collection.search("field")
        found.append([(hit.image, hit.score, hit.terms) for hit in collection.search("sea 4", 24)])
    assert found[0] == found[1] and len(found[0]) == 8
    # Places of which no folder is known have their files' names alone, and one can be told.
    collection = Collection(tmp_path / "told", create=True, elements="colour")
    added = collection.add([{"place": photos / "sea" / "sea_1.png"}, {"place": f"{photos}/./wren/wren_2.png"}])
    assert added.images == 2 and [hit.place for hit in collection.search("wren")] == [f"{photos}/wren/wren_2.png"]
    [hit] = collection.search("sea")
    assert hit.terms.keys() == {"sea"} and not collection.search(photos.name)


def many(at, n, per_shard, **options):
    """A collection of images that are like some twenty, without files."""
    collection = Collection(at, create=True, elements="colour", **options)
    some = collection._features([paint(i) for i in range(20)])
    rng, rows = np.random.default_rng(3), []
    for i in range(n):
        elements, look = some[i % 20]
        values = np.frombuffer(look, dtype="<i2").astype(np.int32) + rng.integers(-500, 501, 372)
        name, label = hashlib.md5(str(i).encode()).hexdigest(), CLASSES[i % 3]
        rows.append((name, f"{label}/red{i % 40}.png", label, elements, values.astype("<i2").tobytes()))
    entries = []
    for first in range(0, n, per_shard):
        data, entry = _native.shard_of_known(collection._manifest, rows[first : first + per_shard])
        collection._storage.write(entry[0], data)
        entries.append(entry)
    collection._commit(collection._manifest.changed([], entries))
    return collection


def test_indexes_of_shards_tell_their_recall(tmp_path, healthy):
    here = many(tmp_path / "collection", 3000, 1000, keep_states=True)
    queries = [paint(i) for i in range(8)]
    exact = here.similar(queries)
    assert isinstance(exact, Answers) and exact.recall == 1 and exact == here.similar(queries, recall=1.0)
    found = here.similar(queries, recall=0.9)
    assert 0.85 < found.recall <= 1
    hits = sum(one.image in {other.image for other in own} for own, all in zip(exact, found) for one in all)
    assert hits / 80 > found.recall - 0.1
    # The index of each shard is kept beside the states, and used again; forgetting deletes it.
    index = _native.shards_of(_native.nearest(10, "appearance", [], 0.9))[1]
    kept = (tmp_path / "collection" / _workers.state_name(index, here.shards[:1])).parent
    written = {path.name: path.stat().st_mtime_ns for path in kept.iterdir()}
    assert len(written) == 3
    again = here.similar(queries[:3], recall=0.9)
    assert list(again) == found[:3] and {path.name: path.stat().st_mtime_ns for path in kept.iterdir()} == written
    with Collection(tmp_path / "collection", client=healthy.address) as there:
        others = there.similar(queries, recall=0.9)
        assert others == found and others.recall == found.recall, "without states that are kept it is made in the call"
    assert here.forget(["00" * 16]) == 0 and not kept.exists()
    with pytest.raises(tessera.InvalidValueError, match="recall"):
        here.similar(queries, recall=0)


def test_memory_trees_of_shards_tell_their_recall(photos, tmp_path):
    for collection in [many(tmp_path / "many", 900, 300), made(photos, tmp_path / "few", 8)]:
        everything = {hit.image: hit for hit in collection.search("wren red7 field", len(collection))}
        exact = collection.search("wren red7 field", 10)
        found = collection.search("wren red7 field", 10, engine="memory", recall=0.8)
        assert exact.recall == 1 and 0.6 < found.recall <= 1 and found
        # The scores are those of the exact index.
        assert all(everything[hit.image] == hit for hit in found)
        assert sum(hit.score >= exact[-1].score for hit in found) >= len(exact) // 2
        # Trees are tried with words alone, so others are looked for in the index of each shard.
        assert collection.search("\"in the\" wren -sea", engine="memory", recall=0.8).recall == 1
        assert collection.search("wren", engine="memory", recall=0.99).recall == 1, "more than a tree can promise"
        assert not collection.search("wren -wren", engine="memory") and not collection.search("nowhere", engine="memory")
        with pytest.raises(ValueError, match="engine: expected index or memory"):
            collection.search("wren", engine="trees")


def test_the_files_are_parquet_for_everyone(photos, tmp_path):
    import pyarrow.parquet as parquet

    collection = made(photos, tmp_path / "collection", 10)
    table = parquet.read_table([tmp_path / "collection" / entry[0] for entry in collection.shards])
    assert table.num_rows == 24 and set(table["class"].to_pylist()) == set(CLASSES)
    assert sorted(value.hex() for value in table["hash"].to_pylist()) == collection.hashes()
    assert [len(words) <= 2 for words in table["captions"].to_pylist()] == [True] * 24
    manifest = json.loads((tmp_path / "collection" / "manifest.json").read_text())
    assert manifest["version"] == 1 and sum(shard["images"] for shard in manifest["shards"]) == 24


def test_images_are_added_once_and_forgotten_for_good(photos, tmp_path):
    collection = made(photos, tmp_path / "collection", 7, keep_states=True)
    again = collection.add(collection.listed(photos))
    assert (again.images, again.duplicate, collection.version) == (0, 24, 1)
    (tmp_path / "broken.png").write_bytes(b"\x89PNG no picture")
    added = collection.add([{"place": tmp_path / "broken.png"}, {"place": tmp_path / "nowhere.png"}, {"place": photos / "sea" / "sea_1.png"}])
    assert added.images == 0 and sorted(os.path.basename(place) for place in added.failed) == ["broken.png", "nowhere.png"]
    before = collection.similar([paint(4)], 3)
    states = tmp_path / "collection" / "states"
    assert len(list(states.rglob("*.state"))) == len(collection.shards)
    # What is kept is whole or not used.
    for state in states.rglob("*.state"):
        state.write_bytes(state.read_bytes()[:-1] + b"?")
    assert collection.similar([paint(4)], 3) == before
    gone = before[0][0].image
    assert before[0][0].likeness > 0.99 and collection.forget([gone]) == 1 and collection.forget([gone]) == 0
    assert not states.exists() and gone not in collection.hashes() and len(collection) == 23
    files = {path.name for path in (tmp_path / "collection").glob("*.parquet")}
    assert files == {entry[0] for entry in collection.shards}
    assert collection.similar([paint(4)], 2) == [before[0][1:]]
    other = Collection(tmp_path / "collection")
    Image.fromarray(paint(50)).save(tmp_path / "new.png")
    collection.add([{"place": tmp_path / "new.png"}])
    Image.fromarray(paint(51)).save(tmp_path / "new.png")
    with pytest.raises(tessera.Error, match="one process at a time"):
        other.add([{"place": tmp_path / "new.png"}])


def test_images_are_told_in_more_ways_and_refused_in_sentences(photos, tmp_path):
    collection = Collection(tmp_path / "collection", create=True, elements="colour")
    first, second = photos / "sea" / "sea_1.png", photos / "wren" / "wren_2.png"
    added = collection.add([str(first), {"place": second, "captions": "a wren sings", "label": "wren"}])
    assert added.images == 2 and collection.search("sings")[0].caption == "a wren sings"
    for wrong, said in [
        (str(first), "images: expected several"),
        ([{"label": "sea"}], "dictionaries with a place, found"),
        ([{"place": first, "lable": "sea", "caption": "the sea"}], "expected place, label, group and captions, found caption, lable"),
        ([3], "expected places, or dictionaries with a place, found 3"),
    ]:
        with pytest.raises(ValueError, match=said):
            collection.add(wrong)
    with pytest.raises(tessera.Error, match="nowhere: expected a folder of images, found nothing"):
        collection.listed(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="images: expected several images"):
        collection.recognise(str(first))
    with pytest.raises(tessera.InvalidValueError, match="zz"):
        collection.forget(["zz"])
    with pytest.raises(ValueError, match="images: expected hashes"):
        collection.forget("00" * 16)
    with pytest.raises(tessera.Error, match="memory://nowhere/bad.png: cannot be read"):
        collection.recognise(["memory://nowhere/bad.png"])
    # What it says of places and hashes can be asked about.
    place = collection.listed(photos / "wren")[0]["place"]
    assert place.startswith("file://") and collection.recognise([place, second])[1].label == "wren"
    assert collection.recognise([second])[0].confidence is None
    near = collection.similar([place], 2)[0]
    known = collection.images([hit.image for hit in near] + ["00" * 16])
    assert [image.image for image in known] == [hit.image for hit in near] and (str(second), "wren") in [row[1:3] for row in known]
    assert repr(collection).endswith("2 images, version 1)")
    # Another process replaced the shards meanwhile: that is the reason, not a lost file.
    other = Collection(tmp_path / "collection")
    collection.forget([near[0].image])
    with pytest.raises(tessera.Error, match="expected version 1, found 2; one process at a time changes a collection: open it anew"):
        other.similar([second])


def test_collections_in_memory_are_asked_by_url(photos):
    import fsspec

    fsspec.filesystem("memory").pipe_file("/asked/wren.png", (photos / "wren" / "wren_2.png").read_bytes())
    collection = Collection("memory://asked-collection", create=True, elements="colour")
    collection.add(["memory://asked/wren.png"])
    assert collection.similar(["memory://asked/wren.png"], 1)[0][0].likeness > 0.999


def test_of_two_that_change_a_version_one_is_refused(photos, tmp_path):
    Collection(tmp_path / "collection", create=True, elements="colour")
    for i in range(3):
        both, told = [Collection(tmp_path / "collection") for _ in range(2)], []
        begin = threading.Barrier(2)

        def add(collection, place):
            begin.wait()
            try:
                told.append(collection.add([{"place": place}]).images)
            except tessera.Error as error:
                assert "one process at a time" in str(error)

        threads = [threading.Thread(target=add, args=(one, photos / "sea" / f"sea_{6 * i + 3 * j + 1}.png")) for j, one in enumerate(both)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        now = Collection(tmp_path / "collection")
        assert told == [1] and (now.version, len(now.hashes())) == (i + 1, i + 1)
    # A shard that another process deleted before it was named is missed.
    data, entry = _native.shard_of(now._manifest, [("new", str(photos / "wren" / "wren_2.png"), None, None, [])])[0]
    now._storage.write(entry[0], data)
    assert Collection(tmp_path / "collection").forget(["00" * 16]) == 0
    with pytest.raises(tessera.Error, match=f"{entry[0]}: expected a shard that was just written"):
        now._commit(now._manifest.changed([], [entry]))


def test_files_are_written_whole_and_named_where_they_cannot_be(tmp_path, monkeypatch):
    synced, real = [], os.fsync
    monkeypatch.setattr(_storage.os, "fsync", lambda file: synced.append(os.path.isdir(f"/proc/self/fd/{file}")) or real(file))
    storage = _storage.Storage(tmp_path)
    storage.write("a", b"one")
    assert storage.read("a") == b"one" and (synced == [False, True] or not os.path.isdir("/proc/self/fd"))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_storage.os, "replace", full)
    with pytest.raises(tessera.Error, match=f"{tmp_path}/a: cannot be written: .*No space left.*free some room"):
        storage.write("a", b"two")
    assert storage.read("a") == b"one" and [path.name for path in tmp_path.iterdir()] == ["a"]


def test_equal_images_of_one_call_are_one(photos, tmp_path, monkeypatch):
    monkeypatch.chdir(photos)
    collection = Collection(tmp_path / "collection", create=True, elements="colour")
    assert collection.similar([paint(4), paint(5)]) == [[], []]
    place = os.path.join("sea", "sea_1.png")
    added = collection.add([{"place": place}, {"place": photos / place}, {"place": "nowhere.png"}], per_shard=1)
    assert (added.images, added.duplicate, list(added.failed)) == (1, 1, [str(photos / "nowhere.png")])
    assert collection.similar([paint(1)])[0][0].likeness > 0.99
    # What an ended run left goes at the next time; what others have added since stays.
    states = tmp_path / "collection" / "states" / "job"
    states.mkdir(parents=True)
    (states / "a.state").write_bytes(b"state")
    other = Collection(tmp_path / "collection")
    other.add([{"place": photos / "sea" / "sea_4.png"}])
    with pytest.raises(tessera.Error, match="one process at a time"):
        collection.forget(["00" * 16])
    assert other.forget(["00" * 16]) == 0 and not states.parent.exists() and len(other.hashes()) == 2


def test_adding_deletes_no_file(photos, tmp_path):
    for name, source in [("a", "sea_1"), ("b", "sea_4"), ("c", "sea_1"), ("d", "sea_7")]:
        shutil.copy(photos / "sea" / f"{source}.png", tmp_path / f"{name}.png")
    places = [{"place": tmp_path / f"{name}.png"} for name in "abcd"]
    Collection(tmp_path / "collection", create=True, elements="colour")
    late, other = [Collection(tmp_path / "collection") for _ in range(2)]
    # Another process names the very file of which this one needs only a part.
    assert other.add(places[2:]).images == 2
    with pytest.raises(tessera.Error, match="one process at a time"):
        late.add(places, per_shard=2)
    now = Collection(tmp_path / "collection")
    assert now.shards == other.shards and len(now.hashes()) == 2
    assert len(list((tmp_path / "collection").glob("*.parquet"))) == 3
    assert now.forget(["00" * 16]) == 0 and len(list((tmp_path / "collection").glob("*.parquet"))) == 1


def test_pictures_below_a_root_are_found(photos, tmp_path):
    import fsspec

    system = fsspec.filesystem("memory")
    system.pipe_file("/below-a-root/sea/sea_1.png", (photos / "sea" / "sea_1.png").read_bytes())
    try:
        collection = Collection(tmp_path / "collection", create=True, elements="colour")
        rows = [row for row in collection.listed("memory://") if "below-a-root" in row["place"]]
        assert rows == [{"place": "memory:///below-a-root/sea/sea_1.png", "label": "sea"}]
        added = collection.add(rows)
        assert (added.images, added.failed) == (1, {})
        [hit] = collection.search("sea")
        assert hit.place == rows[0]["place"] and not collection.search("below")
    finally:
        system.rm("/below-a-root", recursive=True)
    assert collections._absolute("/./a/../b.png") == "/./b.png" and _workers.plain("/./b.png") == "/b.png"
    assert collections._absolute("/a/./b.png") == "/a/./b.png"
    # Told by the root, it is found as well.
    added = Collection(tmp_path / "rooted", create=True, elements="colour").add([{"place": f"/.{photos}/sea/sea_1.png"}])
    assert (added.images, added.failed) == (1, {})


def test_the_local_root_is_not_marked(tmp_path, monkeypatch):
    from fsspec.implementations.local import LocalFileSystem

    monkeypatch.setattr(LocalFileSystem, "find", lambda self, path: ["/sea/1.png"])
    collection = Collection(tmp_path / "collection", create=True, elements="colour")
    assert collection.listed("/") == [{"place": "file:///sea/1.png", "label": "sea"}]
    assert collection.listed("/sea") == [{"place": "file:///sea/./1.png", "label": "sea"}]


def test_clusters_come_in_the_order_of_shards(photos, tmp_path, monkeypatch):
    collection = made(photos, tmp_path / "collection", 6)
    clustered = collection.cluster(2, max_iter=2, sample=10)
    expected = [image for entry in collection.shards for image in _native.hashes_of(_workers.read_shard(collection._storage, entry))]
    once = list(collection.clusters_of(clustered))
    assert [image for image, _ in once] == expected
    # Workers answer in any order.
    real = collections.run
    monkeypatch.setattr(collections, "run", lambda *given, **told: reversed(list(real(*given, **told))))
    assert list(collection.clusters_of(clustered)) == once
    gone = collection.shards[1]
    (tmp_path / "collection" / gone[0]).unlink()
    collection.leave_out = True
    with pytest.warns(LeftOutWarning, match=gone[0]):
        left = list(collection.clusters_of(clustered))
    assert left == once[: collection.shards[0][2]] + once[collection.shards[0][2] + gone[2] :]


class Slow:
    """Workers, of which the test says when their calls end."""

    knows_begin = True

    def __init__(self):
        self.ended, self.given_up = set(), []

    def room(self, patience):
        return 2

    def submit(self, name, function, arguments):
        return name

    def done(self, calls, seconds):
        return [call for call in calls if call in self.ended]

    def result(self, call, seconds):
        return f"of {call}"

    def hung(self, late):
        self.given_up += late
        return dict.fromkeys(late, "a worker")

    def drop(self, call):
        pass


def test_calls_that_ended_while_nobody_looked_have_not_hung(monkeypatch):
    slow, now = Slow(), [0.0]
    monkeypatch.setattr("tessera.distributed._run.time.monotonic", lambda: now[0])
    parts = [Part(name, print, ()) for name in ("a", "b")]
    slow.ended = {"a"}
    results = run(slow, parts, timeout=5, patience=5, leave_out=False, told=None, stage="Trying")
    assert next(results)[1] == "of a"
    # Whoever takes the results takes long; the other ends meanwhile.
    now[0], slow.ended = 60, {"b"}
    assert next(results)[1] == "of b" and slow.given_up == [] and list(results) == []
    # One that has not ended is given up.
    slow.ended = {"a"}
    results = run(slow, parts, timeout=5, patience=5, leave_out=True, told=None, stage="Trying")
    next(results)
    real = slow.done
    monkeypatch.setattr(slow, "done", lambda calls, seconds: now.__setitem__(0, now[0] + 6) or real(calls, seconds))
    part, error = next(results)
    assert part.name == "b" and "no answer within 5 seconds" in str(error) and slow.given_up == ["b"] * 3


def test_listings_that_fsspec_keeps_are_not_believed(photos, expected):
    import fsspec
    from fsspec.implementations.memory import MemoryFileSystem

    class Listing(MemoryFileSystem):
        """Keeps what it was told of folders, as systems of object stores do."""

        protocol = "memory"
        kept = {}

        def ls(self, path, detail=True, **options):
            found = self.kept.setdefault(path, super().ls(path, detail=True, **options))
            return found if detail else [one["name"] for one in found]

        def exists(self, path, **options):
            return path in self.kept.setdefault("files", set(self.store)) or super().isdir(path)

        def invalidate_cache(self, path=None):
            self.kept.clear()

    storage = _storage.Storage("memory://listed/collection")
    storage._system = Listing()
    assert not storage.exists("a")
    fsspec.filesystem("memory").pipe_file("/listed/collection/a", b"1")
    assert storage.exists("a") and storage.names() == ["a"]
    fsspec.filesystem("memory").pipe_file("/listed/collection/b", b"1")
    assert sorted(storage.names()) == ["a", "b"]
    # A system that keeps none, and cannot forget any, is asked as it is.
    storage._system = type("Bare", (), {"exists": lambda self, at: at.endswith("/a"), "ls": lambda self, at, detail: [f"{at}/a"]})()
    assert storage.exists("a") and not storage.exists("b") and storage.names() == ["a"]
    fsspec.filesystem("memory").rm("/listed", recursive=True)


@pytest.mark.skipif(os.name == "nt", reason="flock is asked elsewhere")
def test_a_system_without_locks_locks_nothing(tmp_path, monkeypatch):
    import errno
    import fcntl

    numbers = iter([errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EIO])

    def flock(*_):
        raise OSError(next(numbers), "no")

    monkeypatch.setattr(fcntl, "flock", flock)
    storage = _storage.Storage(tmp_path)
    for _ in range(3):
        with storage.locked():
            pass
    with pytest.raises(OSError, match="no"), storage.locked():
        pass


def test_folders_of_fsspec_hold_collections(photos, expected):
    collection = made(photos, "memory://photos/collection", 9)
    assert answers(collection) == expected
    assert collection.forget(collection.hashes()[:2]) == 2 and len(Collection("memory://photos/collection")) == 22


PROGRAM = os.environ.get("TESSERA_PROGRAM") or shutil.which("tessera")


@pytest.mark.skipif(not PROGRAM, reason="needs the program: its path in TESSERA_PROGRAM")
def test_the_program_makes_the_same_collections(photos, tmp_path):
    def shard(*arguments):
        command = [PROGRAM, "--json", "shard", tmp_path / "theirs", *arguments, "--elements", "colour", "--images", "9"]
        return json.loads(subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout)

    told = shard(photos, "--labels", "class-folders")
    assert (told["added"], told["shards"]) == (24, 3)
    theirs, ours = Collection(tmp_path / "theirs"), made(photos, tmp_path / "ours", 9)
    assert theirs.hashes() == ours.hashes()
    assert theirs.similar([paint(3)], 9) == ours.similar([paint(3)], 9)
    assert theirs.recognise([paint(200)]) == ours.recognise([paint(200)])
    # The same words count, though places are full here and relative there.
    bare = Collection(tmp_path / "bare", create=True, elements="colour")
    bare.add(bare.listed(photos), per_shard=9)
    scores = [[(hit.image, hit.score, hit.terms) for hit in one.search("sea 4 png", 24)] for one in (theirs, bare)]
    assert scores[0] == scores[1] and scores[0]
    # While one changes the collection the other waits.
    with theirs._storage.locked():
        command = [PROGRAM, "shard", tmp_path / "theirs", "--forget", theirs.hashes()[0]]
        waiting = subprocess.Popen(list(map(str, command)))
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(1)
    assert waiting.wait(60) == 0 and len(Collection(tmp_path / "theirs")) == 23
    with Library(tmp_path / "a.tessera", create=True) as library:
        library.import_folder(photos)
        library.caption(library.images[0].id, ["a poppy in the field"])
        hits = library.search("poppy field", engine="index", k=30)
    told = json.loads(
        subprocess.run([PROGRAM, "--json", "shard", tmp_path / "of-library", tmp_path / "a.tessera"], check=True, capture_output=True).stdout
    )
    assert told["added"] == 24
    found = Collection(tmp_path / "of-library").search("poppy field", k=30)
    assert [hit.score for hit in found] == [hit.score for hit in hits]


def test_ray_gives_the_same(photos, expected, tmp_path):
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        with made(photos, tmp_path / "shards", 5, client=ray) as collection:
            assert answers(collection) == expected
            gone = collection.shards[2][0]
            (tmp_path / "shards" / gone).unlink()
            with pytest.raises(ShardError, match=f"{gone}: failed 3 times.*cannot be read"):
                collection.similar([paint(5)], 24)
            collection.leave_out = True
            with pytest.warns(LeftOutWarning, match=gone):
                assert len(collection.similar([paint(5)], 24)[0]) < 24
        died, hung = str(tmp_path / "died"), str(tmp_path / "hung")

        def die_once():
            if not os.path.exists(died):
                open(died, "w").close()
                os._exit(1)
            return 7

        def hang_once():
            if not os.path.exists(hung):
                open(hung, "w").close()
                time.sleep(3600)
            return 8

        parts = [Part("one that dies", die_once, ()), Part("one that hangs", hang_once, ())]
        where = executor(ray)
        # Workers know no functions of the test by their names.
        faulty = {own.__name__: ray.remote(max_retries=0)(own) for own in (die_once, hang_once)}
        where.submit = lambda name, function, arguments: faulty[function].remote()
        found = run(where, parts, timeout=20, patience=5, leave_out=False, told=None, stage="Trying")
        assert {part.name: result for part, result in found} == {"one that dies": 7, "one that hangs": 8}
    finally:
        ray.shutdown()


def command(*arguments, **options):
    """Starts the command; its input ends when the test says so."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
    return subprocess.Popen([sys.executable, "-m", "tessera.distributed", *map(str, arguments)], **pipes)


def lines_of(process):
    """Its lines and its exit code, once it has ended by itself."""
    out, err = process.communicate(timeout=300)
    return [json.loads(line) for line in out.splitlines()], process.returncode, err


def test_the_command_answers_as_the_package(photos, tmp_path, healthy):
    here = made(photos, tmp_path / "shards", 5)
    asked = tmp_path / "-asked.png"
    Image.fromarray(paint(100)).save(asked)
    of = [tmp_path / "shards", "--scheduler", healthy.address]
    for scheduler in ([], of[1:]):
        lines, code, err = lines_of(command(of[0], *scheduler, "search", "-k", 4, "--", "-sea field"))
        assert code == 0, err
        assert lines[-1]["answer"]["hits"] == [one._asdict() for one in here.search("-sea field", 4)]
        done = [line["progress"] for line in lines[:-1]]
        assert {"stage": "Counting words", "done": 5, "total": 5} in done and done[-1]["stage"] == "Looking for words"
    lines, code, err = lines_of(command(*of, "evaluate", "--limit", 9))
    assert code == 0, err
    report = here.evaluate(limit=9)
    told = lines[-1]["answer"]
    assert (told["judged"], told["accuracy"], told["confusion"]) == (9, list(report.accuracy), report.confusion.tolist())
    (tmp_path / "report.json").write_text(json.dumps(told))
    lines, code, err = lines_of(command(*of, "recognise", "--report", tmp_path / "report.json", "--", asked))
    assert code == 0, err
    [expected] = here.recognise([asked], report=report)
    [found] = lines[-1]["answer"]["images"]
    assert (found["class"], found["confidence"], found["scores"]) == (expected.label, expected.confidence, expected.scores)
    lines, code, _ = lines_of(command(*of, "similar", "--by", "colours", "--", asked))
    assert lines[-1]["answer"]["images"][0]["hits"] == [one._asdict() for one in here.similar([asked], look="colours")[0]] and code == 0


def test_the_command_tells_what_failed_and_is_cancelled(photos, tmp_path, healthy):
    collection = made(photos, tmp_path / "shards", 1)
    name = collection.shards[3][0]
    whole = (tmp_path / "shards" / name).read_bytes()
    (tmp_path / "shards" / name).write_bytes(whole[:-1])
    asked = [tmp_path / "shards", "--scheduler", healthy.address]
    lines, code, _ = lines_of(command(*asked, "search", "sea"))
    assert code == 1 and lines[-1]["kind"] == "ShardError" and name in lines[-1]["error"]
    assert sum(line.get("log", "").startswith(f"{name}: attempt") for line in lines) == 3, "each attempt is told with shard and reason"
    lines, code, _ = lines_of(command(*asked, "--leave-out", "search", "sea"))
    assert code == 0 and list(lines[-1]["answer"]["left_out"]) == [name]
    (tmp_path / "shards" / name).write_bytes(whole)
    lines, code, err = lines_of(command(tmp_path / "nothing", "search", "sea"))
    assert code == 1 and "no manifest.json" in lines[-1]["error"] and "Traceback" not in err
    lines, code, _ = lines_of(command(tmp_path / "shards", "--scheduler", "tcp://127.0.0.1:9", "--patience", 1, "search", "sea"))
    assert code == 1 and lines[-1]["kind"] == "ClusterLostError"
    # Workers that are slow are let alone once the input ends, and nothing is left of what they were asked.
    (healthy.faults / "slow").write_text("8")
    process = command(*asked, "--until-input-ends", "evaluate")
    assert "progress" in json.loads(process.stdout.readline())
    began = time.monotonic()
    process.stdin.close()
    process.stdin = None
    lines, code, err = lines_of(process)
    assert (code, lines[-1].get("kind")) == (130, "Cancelled"), (lines[-1], err)
    assert time.monotonic() - began < 30
    from distributed import Client

    with Client(healthy.address) as client:
        until(lambda: not any(key.startswith("tessera-") for key in client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))))


def until(is_so):
    end = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
