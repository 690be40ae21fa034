"""Collections where something goes wrong: damaged shards, workers that die or hang, a full disk, a scheduler that is restarted."""

import os
import sys
import threading
import time

import pytest
from dask_cluster import Cluster
from distributed import Client
from made_collections import made, paint

import tessera
from tessera import _native
from tessera.distributed import ClusterLostError, Collection, LeftOutWarning, ShardError, VersionsDifferError
from tessera.distributed import _workers


def test_damage_is_named_and_left_out_only_if_asked(photos, tmp_path, caplog):
    collection = made(photos, tmp_path / "collection", 6)
    name = collection.shards[1][0]
    file = tmp_path / "collection" / name
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(ShardError, match=f"{name}: failed 3 times.*the file is damaged"):
        collection.similar([paint(1)])
    assert caplog.text.count("attempt") == 3 and name in caplog.text
    collection.leave_out = True
    with pytest.warns(LeftOutWarning, match=name):
        found = collection.similar([paint(1)], 30)
    assert len(found[0]) == 18 and list(collection.left_out) == [name]
    file.unlink()
    collection.leave_out = False
    with pytest.raises(ShardError, match=f"{name}: cannot be read"):
        collection.similar([paint(1)])
    (tmp_path / "collection" / "manifest.json").write_text("{}")
    with pytest.raises(tessera.Error, match="manifest"):
        Collection(tmp_path / "collection")
    with pytest.raises(tessera.Error, match="create=True"):
        Collection(tmp_path / "nowhere")


def test_workers_that_die_hang_or_differ(photos, expected, tmp_path, healthy):
    with made(photos, tmp_path / "collection", 3, client=healthy.address) as collection:
        once = repr(collection.similar([paint(5)], 24))
        for fault in ["kill", "killmiddle", "killafter"]:
            healthy.fault(fault)
            assert repr(collection.similar([paint(5)], 24)) == once
            assert healthy.left(fault) == 0
        healthy.heal()
        healthy.fault("hang")
        collection.timeout = 8
        assert repr(collection.similar([paint(5)], 24)) == once and healthy.left("hang") == 0
        collection.timeout = None
        healthy.fault("version")
        with pytest.raises(VersionsDifferError, match="on all workers, found 0.0.9"):
            collection.similar([paint(5)], 24)


def test_a_worker_that_is_busy_with_the_work_of_others_does_not_hang(photos, tmp_path, healthy):
    here = made(photos, tmp_path / "collection", 3)
    once = repr(here.similar([paint(5)], 24))
    with Client(healthy.address, set_as_default=False) as others, Collection(tmp_path / "collection", client=healthy.address) as collection:
        others.wait_for_workers(healthy.n_workers)
        collection.similar([paint(5)], 24)
        before = set(others.scheduler_info()["workers"])
        slow = [others.submit(time.sleep, 12, pure=False, workers=[worker]) for worker in before]
        time.sleep(1)
        collection.timeout = 4
        # Nor does it where whoever takes the answers is away for longer than that.
        collection.progress = lambda stage, done, total: time.sleep(5 if done == 1 else 0)
        begun = time.monotonic()
        assert repr(collection.similar([paint(5)], 24)) == once
        assert time.monotonic() - begun > 8, "it waited for both workers"
        # Nobody was started again, and what others asked is done.
        assert set(others.scheduler_info()["workers"]) == before
        assert others.gather(slow) == [None, None]


def test_a_worker_that_says_nothing_hangs(photos, tmp_path, healthy):
    here = made(photos, tmp_path / "collection", 3)
    once = repr(here.similar([paint(5)], 24))
    with Collection(tmp_path / "collection", client=healthy.address) as collection:
        collection.similar([paint(5)], 24)
        healthy.fault("stop")
        collection.timeout = 6
        assert repr(collection.similar([paint(5)], 24)) == once and healthy.left("stop") == 0


def test_wrongly_installed_workers_are_no_fault_of_shards(photos, tmp_path, healthy):
    with made(photos, tmp_path / "collection", 12, client=healthy.address) as collection:
        collection.leave_out = True
        healthy.fault("lacking", 2)
        with pytest.raises(tessera.Error, match="a worker lacks a package: no s3fs here; install the same packages"):
            collection.similar([paint(5)], 24)


def test_reports_lack_no_answers(photos, tmp_path, healthy):
    collection = made(photos, tmp_path / "collection", 1000)
    real, asked = collection._joined, []

    def joined(job, stage):
        asked.append(stage)
        return None if stage == "Judging" and asked.count("Judging") == 1 else real(job, stage)

    collection._joined = joined
    with pytest.raises(ShardError, match="no shard could be read"):
        collection.evaluate(at_once=5)


def test_of_shards_asked_in_one_call_each_fails_alone(photos, tmp_path, healthy, caplog):
    healthy.heal()
    with made(photos, tmp_path / "collection", 1, client=healthy.address) as collection:
        once = repr(collection.similar([paint(5)], 24))
        assert once == repr(Collection(tmp_path / "collection").similar([paint(5)], 24))
        told = []
        collection.progress = lambda stage, done, total: told.append((done, total))
        healthy.fault("kill")
        assert repr(collection.similar([paint(5)], 24)) == once and healthy.left("kill") == 0
        # Of more than one shard in a call.
        assert told[-1] == (24, 24) and len(told) < 24
        gone = collection.shards[7]
        (tmp_path / "collection" / gone[0]).unlink()
        with pytest.raises(ShardError, match=f"{gone[0]}: failed 3 times.*cannot be read"):
            collection.similar([paint(5)], 24)
        assert "tried alone" in caplog.text
        collection.leave_out = True
        with pytest.warns(LeftOutWarning, match=gone[0]):
            found = collection.similar([paint(5)], 24)
        assert len(found[0]) == 23 and list(collection.left_out) == [gone[0]]


BRINGS_DOWN = """
import os, signal, types
from tessera.distributed import _workers
real = _workers._native
def shard_of(manifest, files):
    if files[0][1].endswith(b"brings it down"):
        os.kill(os.getpid(), signal.SIGKILL)
    return real.shard_of(manifest, files)
_workers._native = types.SimpleNamespace(shard_of=shard_of, Manifest=real.Manifest)
_workers.tried()
"""


def test_pictures_that_bring_a_process_down_are_named(photos, tmp_path, monkeypatch):
    monkeypatch.setattr(_workers, "TRIAL", [sys.executable, "-c", BRINGS_DOWN])
    collection = Collection(tmp_path / "collection", create=True, elements="colour")
    (tmp_path / "bad.png").write_bytes((photos / "sea" / "sea_1.png").read_bytes() + b"brings it down")
    (tmp_path / "empty.png").write_bytes(b"")
    places = [photos / "sea" / "sea_4.png", tmp_path / "bad.png", tmp_path / "empty.png", tmp_path / "nowhere.png", photos / "wren" / "wren_2.png"]
    files = [(str(place), None, None, []) for place in places]
    entry, failed = _workers.make_shard(str(tmp_path / "collection"), {}, collection._manifest.to_json(), files, {}, True)
    assert entry[2] == 2 and sorted(os.path.basename(place) for place, _ in failed) == ["bad.png", "empty.png", "nowhere.png"]
    assert "ended the process which decoded it" in dict(failed)[str(tmp_path / "bad.png")]
    monkeypatch.setattr(_workers, "TRIAL", [sys.executable, "-c", "raise SystemExit(3)"])
    with pytest.raises(tessera.Error, match="exit code 3"):
        _workers.make_shard(str(tmp_path / "collection"), {}, collection._manifest.to_json(), files, {}, True)


HANGS = BRINGS_DOWN.replace("os.kill(os.getpid(), signal.SIGKILL)", "__import__('time').sleep(3600)")


def test_pictures_that_hang_are_named(photos, tmp_path, monkeypatch):
    monkeypatch.setattr(_workers, "TRIAL", [sys.executable, "-c", HANGS])
    monkeypatch.setattr(_workers, "LONGEST", 10)
    collection = Collection(tmp_path / "collection", create=True, elements="colour")
    (tmp_path / "bad.png").write_bytes((photos / "sea" / "sea_1.png").read_bytes() + b"brings it down")
    files = [(str(place), None, None, []) for place in [tmp_path / "bad.png", photos / "sea" / "sea_4.png"]]
    given = (str(tmp_path / "collection"), {}, collection._manifest.to_json(), files, {}, True)
    entry, failed = _workers.make_shard(*given)
    assert entry[2] == 1 and "hung: it was not decoded within 10 seconds" in dict(failed)[str(tmp_path / "bad.png")]
    monkeypatch.setattr(_workers, "TRIAL", [sys.executable, "-c", "import time; time.sleep(3600)"])
    monkeypatch.setattr(_workers, "LONGEST_START", 0.5)
    with pytest.raises(tessera.Error, match="said nothing for 0.5 seconds"):
        _workers.make_shard(*given)
    # One that is gone before it was told anything, and one whose imports print.
    monkeypatch.setattr(_workers, "LONGEST_START", 60)
    monkeypatch.setattr(_workers, "TRIAL", [sys.executable, "-c", "raise SystemExit(3)"])
    monkeypatch.setattr(_workers._Trial, "_send", lambda *_: (_ for _ in ()).throw(BrokenPipeError()))
    with pytest.raises(tessera.Error, match="found one that ended .exit code 3"):
        _workers.make_shard(*given)
    monkeypatch.undo()
    words = "print('1 word', flush=True); os.write(1, b'r'); from tessera.distributed._workers import tried; tried(to=to)"
    monkeypatch.setattr(_workers, "TRIAL", [sys.executable, "-c", f"{_workers.ANSWERS}; {words}"])
    assert _workers.ANSWERS in _workers.TRIAL[2]
    entry, failed = _workers.make_shard(*given)
    assert entry[2] == 2 and failed == []


def test_an_import_goes_on_carefully_after_workers_died(photos, tmp_path, healthy):
    healthy.fault("kill", 4)
    collection = made(photos, tmp_path / "collection", 1000, client=healthy.address)
    assert len(collection) == 24 and len(collection.shards) == 1 and healthy.left("kill") == 0
    collection.close()


def test_few_bytes_of_files_are_in_memory_at_once(photos, tmp_path, monkeypatch):
    import fsspec

    system = fsspec.filesystem("memory")
    for path in photos.rglob("*.png"):
        system.pipe_file(f"/bucket/{path.relative_to(photos)}", path.read_bytes())
    sizes, real = [], _native.shard_of

    def seen(manifest, files, before=None):
        sizes.append(sum(len(held) for _, held, *_ in files if isinstance(held, bytes)))
        return real(manifest, files, before)

    monkeypatch.setattr(_workers._native, "shard_of", seen)
    entries = []
    for most in [1 << 30, 2000]:
        monkeypatch.setattr(_workers, "TOGETHER", most)
        collection = Collection(tmp_path / str(most), create=True, elements="colour")
        assert collection.add(collection.listed("memory://bucket")).images == 24
        entries.append(collection.shards)
    assert entries[0] == entries[1] and len(entries[0]) == 1, "the same shard"
    assert len(sizes) > 4 and max(sizes[1:]) < sizes[0]
    assert [hit.place for hit in collection.search("sea_1")][:1] == ["memory:///bucket/sea/sea_1.png"]


def test_a_full_disk_is_named(photos, tmp_path, healthy):
    healthy.fault("full", 9)
    with pytest.raises(ShardError, match="images 1 to 24: failed 3 times.*cannot be written: .*free some room"):
        made(photos, tmp_path / "collection", 1000, client=healthy.address)
    collection = Collection(tmp_path / "collection")
    assert len(collection) == 0 and not list((tmp_path / "collection").glob("*.parquet*"))


def test_a_scheduler_that_is_restarted_is_asked_again(photos, tmp_path):
    here = made(photos, tmp_path / "collection", 2)
    expected = here.similar([paint(5)], 24)
    cluster = Cluster(tmp_path / "cluster")
    try:
        (cluster.faults / "slow").touch()
        with Collection(tmp_path / "collection", client=cluster.address, patience=240) as collection:
            seen = threading.Event()
            collection.progress = lambda stage, done, total: seen.set()
            found = []
            asking = threading.Thread(target=lambda: found.append(collection.similar([paint(5)], 24)))
            asking.start()
            assert seen.wait(120)
            cluster.stop()
            cluster.start()
            asking.join(300)
            assert found == [expected]
            cluster.stop()
            collection.patience = 3
            with pytest.raises(ClusterLostError):
                collection.similar([paint(5)], 24)
    finally:
        cluster.stop()
