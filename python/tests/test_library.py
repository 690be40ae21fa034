import json
import os
import pickle
import shutil
import subprocess
import threading

import numpy as np
import pytest
from PIL import Image

import tessera
from tessera import Library

PROGRAM = os.environ.get("TESSERA_PROGRAM") or shutil.which("tessera")


@pytest.fixture
def folder(tmp_path):
    """Two classes of noisy images."""
    rng = np.random.default_rng(1)
    for label, colour in [("poppy", [200, 40, 40]), ("sea", [40, 60, 190])]:
        (tmp_path / "images" / label).mkdir(parents=True)
        for i in range(6):
            pixels = np.clip(rng.integers(-30, 31, (48, 64, 3)) + colour, 0, 255).astype(np.uint8)
            pixels[: 8 * i, :10] = 255
            Image.fromarray(pixels).save(tmp_path / "images" / label / f"{label}{i}.png")
    return tmp_path


def test_acts_on_a_library(folder):
    with Library(folder / "a.tessera", create=True) as library:
        (folder / "images" / "broken.png").write_bytes(b"no picture")
        report = library.import_folder(folder / "images")
        assert report.imported == 12 and report.found == 13 and len(library) == 12
        assert len(report.failed) + report.unsupported == 1
        assert library.import_folder(folder / "images").unchanged == 12
        (folder / "images" / "sea" / "sea5.png").rename(folder / "images" / "sea" / "wave.png")
        shutil.copy(folder / "images" / "sea" / "sea4.png", folder / "images" / "sea" / "copy.png")
        report = library.import_folder(folder / "images")
        assert (report.imported, report.duplicate, report.moved) == (0, 2, 1)
        assert sorted(library.classes) == ["poppy", "sea"] and not library.read_only
        first, second = library.images[:2]
        assert first.path.name == "poppy0.png" and first.label == "poppy" and first.captions == []
        assert library.label([first.id, second.path], "treasure") and not library.label([first.id], "treasure")
        assert {hit.id for hit in library.search("treasure")} == {first.id, second.id}
        assert library.caption(first.id, ["a white corner", "a poppy field"])
        assert [hit.caption for hit in library.search("corner", engine="index")] == ["a white corner"]
        assert [hit.id for hit in library.search(label="treasure")] == [first.id, second.id]
        acts = len(library.history)
        assert library.undo() and len(library.history) == acts - 1 and library.images[0].captions == []
        assert library.redo() and library.images[0].captions == ["a white corner", "a poppy field"]
        assert library.remove([second.id]) and len(library) == 11
        assert library.restore([second.id]) and len(library) == 12
        assert library.label([second.id], None) and library.images[1].label is None
        assert library.forget([second.id]) == 1 and len(library) == 11
    with pytest.raises(tessera.InvalidValueError, match="which was closed"):
        library.images
    with Library(folder / "a.tessera") as library:
        assert library.images[0].label == "treasure" and len(library) == 11
        assert repr(library).endswith("a.tessera')")


def test_a_folder_is_read_as_it_was_before(folder):
    shutil.move(folder / "images", folder / "set")
    (folder / "set" / "plant").mkdir()
    shutil.move(folder / "set" / "poppy", folder / "set" / "plant" / "poppy")
    with Library(folder / "a.tessera", create=True) as library:
        library.import_folder(folder / "set", labels="folder-paths")
        assert sorted(library.classes) == ["plant/poppy", "sea"]
        library.import_folder(folder / "set")
        assert {image.label for image in library.images} == {"plant/poppy", "sea"}
        library.import_folder(folder / "set", labels="auto")
        assert {image.label for image in library.images} == {"plant", "sea"}
        library.import_folder(folder / "set", one_class="holidays")
        library.import_folder(folder / "set")
        assert {image.label for image in library.images} == {"holidays"}
        with pytest.raises(tessera.Error, match="whole-folder or left out where one class of all images is named"):
            library.import_folder(folder / "set", labels="none", one_class="holidays")


def test_images_that_look_alike(folder):
    with Library(folder / "a.tessera", create=True) as library:
        library.import_folder(folder / "images")
        for image in library.images:
            alike = library.similar(image.id, 3)
            assert len(alike) == 3 and image.id not in [one.id for one in alike]
            assert [one.likeness for one in alike] == sorted((one.likeness for one in alike), reverse=True)
            assert alike == library.similar(image.path, 3)
        kinds = {image.id: image.label for image in library.images}
        assert all(kinds[one.id] == "sea" for one in library.similar(folder / "images" / "sea" / "sea0.png", 3, look="colours"))
        elsewhere = folder / "query.png"
        Image.new("RGB", (64, 48), (40, 60, 190)).save(elsewhere)
        assert all(kinds[one.id] == "sea" for one in library.similar(elsewhere, 4, look="colours", recall=1.0))
        both = library.search("poppy", like=elsewhere, k=12)
        assert {kinds[hit.id] for hit in both} == {"poppy"} and len(both) == 6 and both[0].score > both[-1].score


def test_a_table_of_pandas(folder):
    pandas = pytest.importorskip("pandas")
    with Library(folder / "a.tessera", create=True) as library:
        library.import_folder(folder / "images", labels="none")
        library.caption(library.images[0].id, ["red"])
        library.label([library.images[1].id], "thing")
        table = library.to_pandas()
        assert isinstance(table, pandas.DataFrame) and list(table.index) == [image.id for image in library.images]
        assert list(table.columns) == ["path", "label", "captions"]
        for image in library.images:
            row = table.loc[image.id]
            assert (row["path"], row["label"], row["captions"]) == (str(image.path), image.label, image.captions)


def test_a_table_of_arrow(folder):
    pyarrow = pytest.importorskip("pyarrow")
    with Library(folder / "a.tessera", create=True) as library:
        library.import_folder(folder / "images", labels="none")
        library.caption(library.images[0].id, ["red", "a corner"])
        library.label([library.images[1].id], "thing")
        table = library.to_arrow()
        assert isinstance(table, pyarrow.Table) and table.schema.field("id").type == pyarrow.uint32()
        assert table.to_pylist() == [
            {"id": image.id, "path": str(image.path), "label": image.label, "captions": image.captions} for image in library.images
        ]


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no such links")
def test_a_path_may_be_spelled_in_several_ways_and_told_twice(folder, monkeypatch):
    os.symlink(folder / "images", folder / "link")
    os.symlink(folder / "images" / "sea" / "sea0.png", folder / "images" / "poppy" / "other.png")
    with Library(folder / "a.tessera", create=True) as library:
        library.import_folder(folder / "images")
        by_name = {image.path.name: image.id for image in library.images if image.path}
        monkeypatch.chdir(folder / "images" / "poppy")
        spelled = ["poppy0.png", folder / "link" / "poppy" / "poppy0.png", folder / "images" / "sea" / ".." / "poppy" / "poppy0.png"]
        for path in spelled:
            assert library.label([path], None) or library.label([path], "poppy")
        library.label([*spelled, by_name["poppy0.png"], "poppy1.png"], "treasure")
        assert len(library.search(label="treasure")) == 2
        assert library.forget([*spelled, "poppy1.png", by_name["poppy1.png"]]) == 2


def test_closing_waits_for_other_threads(folder):
    library = Library(folder / "a.tessera", create=True)
    working = threading.Event()
    library.progress = lambda *_: working.set()
    importing = threading.Thread(target=lambda: library.import_folder(folder / "images"))
    importing.start()
    working.wait(60)
    library.close()
    importing.join(60)
    # It can be opened at once.
    with Library(folder / "a.tessera") as again:
        assert len(again) == 12


def test_one_process_has_a_library(folder, monkeypatch):
    with Library(folder / "a.tessera", create=True) as library:
        library.import_folder(folder / "images")
        with pytest.raises(tessera.Error, match="a.tessera: .* open in this very process; go on with that"):
            Library(folder / "images" / ".." / "a.tessera")
        # Another library of the same name is another.
        (folder / "there").mkdir()
        monkeypatch.chdir(folder / "there")
        with Library("a.tessera", create=True) as other:
            assert len(other) == 0
        monkeypatch.chdir(folder)
        with pytest.raises(tessera.Error, match="open in this very process"):
            Library("a.tessera")
        with pytest.raises(TypeError):
            pickle.dumps(library)


def test_what_the_library_gave_names_images_too(folder):
    with Library(folder / "a.tessera", create=True) as library:
        library.import_folder(folder / "images")
        first, second = library.images[:2]
        assert library.label(first, "treasure") and library.label([second, f"#{library.images[2].id}"], "treasure")
        hits = library.search("treasure", 2)
        assert len(hits) == 2 and library.label(hits, "found") and library.classes.count("found") == 1
        assert library.similar(first, 1)[0].id != first.id and library.label(str(second.path), None)
        # A text is one caption, not one for each letter.
        assert library.caption(first, "a white corner") and library.images[0].captions == ["a white corner"]
        with pytest.raises(ValueError, match="k: expected 0 or more, found -1"):
            library.search("treasure", -1)
    with Library(folder / "a.tessera") as library:
        assert library.images[0].captions == ["a white corner"]


def test_a_library_that_is_only_read_is_not_changed(folder):
    with Library(folder / "a.tessera", create=True) as library:
        library.import_folder(folder / "images")
    with Library(folder / "a.tessera", read_only=True) as library, Library(folder / "a.tessera", read_only=True) as other:
        assert library.read_only and len(library) == len(other) == 12
        with pytest.raises(tessera.Error):
            library.label([library.images[0].id], "other")


def test_errors_are_sentences(folder):
    with pytest.raises(tessera.Error, match="none.tessera"):
        Library(folder / "none.tessera")
    with Library(folder / "a.tessera", create=True) as library:
        library.import_folder(folder / "images")
        for call, said in [
            (lambda: library.label([999], "x"), "a number of this library"),
            (lambda: library.label([folder / "nowhere.png"], "x"), "a path of this library"),
            (lambda: library.search(label="fish"), "one of poppy, sea"),
            (lambda: library.similar(library.images[0].id, look="taste"), "one of appearance, edges, colours, network, words, elements, found taste"),
            (lambda: library.import_folder(folder / "images", labels="tea-leaves"), "tea-leaves, but it must be auto, class-folders"),
        ]:
            with pytest.raises(tessera.Error, match=said):
                call()
        with pytest.raises(TypeError, match="image: expected its number or its path, found 3.7"):
            library.label([3.7], "x")
        with pytest.raises(ValueError, match="image: expected a number of this library, found -1"):
            library.remove([-1])
        with pytest.raises(ValueError, match="engine: expected memory or index, found luck"):
            library.search("poppy", engine="luck")


def test_cancelling_an_import_keeps_what_was_done(folder):
    class Enough(Exception):
        pass

    def stop(stage, done, total):
        raise Enough

    with Library(folder / "a.tessera", create=True) as library:
        library.progress = stop
        with pytest.raises(Enough):
            library.import_folder(folder / "images")
        library.progress = None
        assert library.import_folder(folder / "images").missing == 0 and len(library) == 12


@pytest.mark.skipif(not PROGRAM, reason="needs the program: its path in TESSERA_PROGRAM")
def test_the_program_gives_the_same_answers(folder):
    def program(*command):
        return subprocess.run([PROGRAM, "--json", *map(str, command)], check=True, capture_output=True, text=True).stdout

    place, image = folder / "a.tessera", folder / "images" / "poppy" / "poppy3.png"
    with Library(place, create=True) as library:
        library.import_folder(folder / "images")
        library.label([image], "treasure")
        library.caption(image, ["a red field with a white corner"])
        searches = ["red field", "poppy", "white corner treasure", "sea -poppy"]
        found = {words: library.search(words, k=7) for words in searches}
        likes = library.search("field", like=image, k=7)
        alike = library.similar(image, 5)
    for words, hits in found.items():
        theirs = json.loads(program("search", place, "-k", 7, "--", *words.split()))["hits"]
        assert [(hit["image"], hit["path"], hit["score"], hit["words"]) for hit in theirs] == [
            (hit.id, str(hit.path), hit.score, hit.words) for hit in hits
        ]
    theirs = json.loads(program("search", place, "-k", 7, "--like", image, "field"))["hits"]
    assert [(hit["image"], hit["score"]) for hit in theirs] == [(hit.id, hit.score) for hit in likes]
    theirs = json.loads(program("similar", place, image, "-k", 5))["hits"]
    assert [(hit["image"], hit["distance"], hit["probability"]) for hit in theirs] == [
        (one.id, 1 - one.likeness, one.probability) for one in alike
    ]
    program("undo", place)
    with Library(place) as library:
        assert library.images[3].captions == [] and library.images[3].label == "treasure"
