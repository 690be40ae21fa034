//! What is remembered between runs survives wrong files, field by field.

use std::fs;
use std::path::{Path, PathBuf};

use tessera::settings::{Settings, Theme};
use tessera_core::library::suggest::LabelOrder;

use crate::world::{World, program};

fn load(text: &str) -> (Settings, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.ron");
    fs::write(&path, text).unwrap();
    Settings::load(&path)
}

#[test]
fn what_is_saved_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/settings.ron");
    let mut settings =
        Settings { theme: Theme::Dark, scale: 1.25, answered: Some(0.8), hits: 7, label_order: LabelOrder::Folder, ..Settings::default() };
    for i in 0..20 {
        settings.remember(Path::new(&format!("/some/\"where\"/{i}")));
    }
    settings.remember(Path::new("/some/\"where\"/15"));
    settings.save(&path).unwrap();
    assert_eq!(Settings::load(&path), (settings.clone(), Vec::new()));
    assert_eq!(settings.recents.len(), 12);
    assert_eq!(settings.recents[0], PathBuf::from("/some/\"where\"/15"));
    assert_eq!(settings.recents.iter().filter(|path| path.ends_with("15")).count(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_display_that_is_not_there_is_told_once() {
    let world = World::new();
    // It starts itself again once, unless the user has made settings of the allocator.
    for settings in [None, Some("65536")] {
        let mut command = program(world.path(), ["images"]);
        fs::create_dir_all(world.at("images")).unwrap();
        command.env("DISPLAY", ":4099").env_remove("GLIBC_TUNABLES");
        settings.map(|bytes| command.env("MALLOC_TRIM_THRESHOLD_", bytes));
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), told.matches("cannot open a window").count()), (Some(74), 1), "{told}");
    }
}

#[test]
fn no_file_is_the_usual_without_a_word() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Settings::load(&folder.path().join("settings.ron")), (Settings::default(), Vec::new()));
}

#[test]
fn a_wrong_field_gets_a_sentence_and_keeps_the_rest() {
    for (field, value) in [
        ("theme", "\"Purple\""),
        ("scale", "9.0"),
        ("scale", "\"big\""),
        ("thumbnail_side", "3.0"),
        ("answered", "0.4"),
        ("hits", "0"),
        ("label_order", "\"sideways\""),
        ("threads", "4000"),
        ("thumbnail_megabytes", "\"many\""),
        ("recents", "7"),
        ("flavour", "\"mint\""),
    ] {
        let right = if field == "hits" { "\"theme\": \"Dark\"" } else { "\"hits\": 33" };
        let (settings, problems) = load(&format!("{{ {right}, \"{field}\": {value} }}"));
        assert_eq!(problems.len(), 1, "{field}");
        assert!(problems[0].contains(&format!("`{field}`")), "{}", problems[0]);
        assert!(settings.hits == 33 || settings.theme == Theme::Dark, "{field} took the others with it");
    }
}

#[test]
fn a_file_that_is_no_settings_is_kept_aside() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.ron");
    fs::write(&path, "{ \"hits\": 33, ").unwrap();
    let (settings, problems) = Settings::load(&path);
    assert_eq!(settings, Settings::default());
    assert!(problems[0].contains("settings.ron.bad"), "{}", problems[0]);
    assert_eq!(fs::read_to_string(folder.path().join("settings.ron.bad")).unwrap(), "{ \"hits\": 33, ");
    settings.save(&path).unwrap();
    assert_eq!(Settings::load(&path).1, Vec::<String>::new());
    fs::write(&path, vec![b' '; 2 << 20]).unwrap();
    assert!(Settings::load(&path).1[0].contains("too long"));
}
