//! Writing all or nothing, and folders that hold a model and nothing else.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tessera_core::envelope::{MANIFEST, check_place, hash_hex, read_model, replace, write_model};

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn weights_of(folder: &Path) -> PathBuf {
    let name = names(folder).into_iter().find(|name| name.starts_with("weights-")).unwrap();
    folder.join(name)
}

/// Changes the manifest and puts a true checksum under it.
fn reseal(folder: &Path, change: impl Fn(&str) -> String) {
    let text = fs::read_to_string(folder.join(MANIFEST)).unwrap();
    let at = text.rfind("// xxh3-128").unwrap();
    let body = change(&text[..at]);
    let line = text[at..].split(": ").next().unwrap();
    fs::write(folder.join(MANIFEST), format!("{body}{line}: {}\n", hash_hex(body.as_bytes()))).unwrap();
}

#[test]
fn a_failed_write_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    replace(&path, b"old").unwrap();
    replace(&path, b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");

    // A folder in the way lets everything succeed but the last step.
    let blocked = folder.path().join("b");
    fs::create_dir(&blocked).unwrap();
    fs::write(blocked.join("kept"), "x").unwrap();
    let error = replace(&blocked, b"x").unwrap_err().to_string();
    assert!(error.contains("cannot write"), "{error}");
    assert_eq!(names(&blocked), ["kept"]);
    assert_eq!(names(folder.path()), ["a", "b"], "no half-written file stays");

    assert!(replace(&folder.path().join("no such folder").join("a"), b"x").is_err());
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_keeps_its_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    replace(&path, b"old").unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
    // The system's administrator may write everywhere.
    let may_write = File::create(folder.path().join("probe")).is_ok();
    let outcome = replace(&path, b"new");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(outcome.is_ok(), may_write);
    assert_eq!(fs::read(&path).unwrap(), if may_write { b"new" } else { b"old" });
}

#[test]
fn files_of_others_named_like_temporary_ones_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.csv");
    fs::write(folder.path().join("table.csv.part"), "a download").unwrap();
    replace(&path, b"ours").unwrap();
    assert_eq!(fs::read(folder.path().join("table.csv.part")).unwrap(), b"a download");
    assert_eq!(names(folder.path()), ["table.csv", "table.csv.part"]);
}

#[test]
fn many_may_write_one_file_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    std::thread::scope(|scope| {
        for writer in 0..4u8 {
            let path = &path;
            scope.spawn(move || (0..20).for_each(|_| replace(path, &vec![writer; 10_000]).unwrap()));
        }
    });
    let bytes = fs::read(&path).unwrap();
    assert!(bytes.len() == 10_000 && bytes.iter().all(|byte| *byte == bytes[0]), "a mixture of two files");
    assert_eq!(names(folder.path()), ["a"]);
}

#[test]
fn things_of_others_are_neither_replaced_nor_removed() {
    let hex = "0123456789abcdef0123456789abcdef";
    let others = [
        "weights-best.hdf5".to_owned(),
        "film.mp4.part".into(),
        "weights-best.safetensors".into(),
        format!("weights-{hex}.safetensors.part"),
        format!("weights-{hex}0.safetensors"),
        format!("weights-{}.safetensors", hex.to_uppercase()),
        format!("weights-{hex}.bin"),
        "manifest.ron.part".into(),
        "manifest.ron.1-.part".into(),
        "manifest.ron.-1.part".into(),
        "manifest.ron.1-2.part.part".into(),
        "manifest.json.1-2.part".into(),
    ];
    for other in &others {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(other), "x").unwrap();
        for error in [check_place(folder.path()).err(), write_model(folder.path(), "test", 1u32, b"weights").err()] {
            let error = error.unwrap_or_else(|| panic!("{other} was taken for ours")).to_string();
            assert!(error.contains(other.as_str()), "{error}");
        }
        assert_eq!(names(folder.path()), [other.as_str()]);
    }
}

#[test]
fn a_manifest_of_another_program_is_not_replaced() {
    for text in ["", "(name: \"a game\", schema: 1, written_by: \"ed\")\n", "\u{fffd}", "(schema: 3)"] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(MANIFEST), text).unwrap();
        for error in [check_place(folder.path()).err(), write_model(folder.path(), "test", 1u32, b"weights").err()] {
            let error = error.unwrap_or_else(|| panic!("{text:?} was replaced")).to_string();
            assert!(error.contains(MANIFEST), "{error}");
        }
        assert_eq!(fs::read_to_string(folder.path().join(MANIFEST)).unwrap(), text);
        assert_eq!(names(folder.path()), [MANIFEST]);
    }
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(MANIFEST)).unwrap();
    assert!(write_model(folder.path(), "test", 1u32, b"weights").is_err());
    assert_eq!(names(folder.path()), [MANIFEST]);
}

#[test]
fn a_damaged_model_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    write_model(folder.path(), "test", 1u32, b"weights").unwrap();
    let whole = fs::read(folder.path().join(MANIFEST)).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x80;
        fs::write(folder.path().join(MANIFEST), bytes).unwrap();
        check_place(folder.path()).unwrap();
    }
    fs::write(folder.path().join(MANIFEST), &whole[..whole.len() / 2]).unwrap();
    write_model(folder.path(), "test", 2u32, b"other weights").unwrap();
    assert_eq!(read_model::<u32>(folder.path(), "test").unwrap(), (2, b"other weights".to_vec()));
    assert_eq!(names(folder.path()).len(), 2);
}

#[test]
fn what_interrupted_writes_left_is_swept() {
    let folder = tempfile::tempdir().unwrap();
    write_model(folder.path(), "test", 1u32, b"weights").unwrap();
    let (manifest, weights) = (folder.path().join(MANIFEST), weights_of(folder.path()));
    let part = |of: &Path, number: &str| PathBuf::from(format!("{}.{number}.part", of.display()));
    let (old, recent) = ([part(&manifest, "77-0"), part(&weights, "77-1")], part(&weights, "78-0"));
    for path in old.iter().chain([&recent]) {
        fs::write(path, "half").unwrap();
    }
    for path in &old {
        File::options().write(true).open(path).unwrap().set_modified(SystemTime::now() - Duration::from_hours(2)).unwrap();
    }
    write_model(folder.path(), "test", 2u32, b"other weights").unwrap();
    assert!(old.iter().all(|path| !path.exists()) && !weights.exists(), "{:?}", names(folder.path()));
    assert!(recent.exists(), "another program may still be writing it");
    assert_eq!(read_model::<u32>(folder.path(), "test").unwrap().0, 2);
}

#[test]
fn asking_for_a_place_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    check_place(&folder.path().join("a").join("b").join("c")).unwrap();
    assert_eq!(names(folder.path()), [""; 0]);

    fs::create_dir(folder.path().join("a")).unwrap();
    check_place(&folder.path().join("a").join("b").join("c")).unwrap();
    assert_eq!(names(folder.path()), ["a"], "what was there stays");
    assert_eq!(names(&folder.path().join("a")), [""; 0]);

    fs::write(folder.path().join("file"), "x").unwrap();
    assert!(check_place(&folder.path().join("file")).is_err());
    assert!(check_place(&folder.path().join("file").join("b")).is_err());
    assert_eq!(names(folder.path()), ["a", "file"]);
}

#[test]
fn a_newer_schema_is_named_whatever_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    write_model(folder.path(), "test", 1u32, b"weights").unwrap();
    reseal(folder.path(), |body| body.replacen("schema: 1,", "schema: 2,\n    licence: Some(Open([\"a\"])),", 1));
    let error = read_model::<u32>(folder.path(), "test").unwrap_err().to_string();
    assert!(error.contains("expected schema 1") && error.contains("found schema 2"), "{error}");

    reseal(folder.path(), |body| body.replacen("schema: 2", "schema: 1", 1));
    let error = read_model::<u32>(folder.path(), "test").unwrap_err().to_string();
    assert!(error.contains("licence"), "in this schema there is no such field: {error}");

    write_model(folder.path(), "test", 1u32, b"weights").unwrap();
    let error = read_model::<u32>(folder.path(), "other").unwrap_err().to_string();
    assert!(error.contains("kind `other`") && error.contains("kind `test`"), "{error}");
}
