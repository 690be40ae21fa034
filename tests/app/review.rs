//! Labels reviewed and given out: wrong ones are told, class folders can be links, and a dry run writes nothing.

use crate::world::World;

#[test]
fn wrong_labels_are_listed_with_their_reasons() {
    let world = World::with_images();
    world.run(["import", "lib.tessera", "images"]).ended(0);
    // A disc that is said to be a grid.
    world.run(["label", "lib.tessera", "images/disc/disc_02_1_0_0_lt.png", "--as", "grid"]).ended(0);
    let all = world.run(["review", "lib.tessera", "--json"]).ended(0).object();
    let judged = all["judged"].as_u64().unwrap();
    assert!(judged > 0, "{all}");
    assert_eq!((all["left"].as_u64(), all["doubted"].as_u64() <= Some(judged)), (Some(0), true));
    let one = world.run(["review", "lib.tessera", "-k", "1", "--json"]).ended(0).object();
    assert!(one["doubts"].as_array().unwrap().len() <= 1);
    let said: Vec<&str> = all["doubts"].as_array().unwrap().iter().map(|doubt| doubt["path"].as_str().unwrap()).collect();
    assert!(said.iter().any(|path| path.ends_with("disc_02_1_0_0_lt.png")), "{all}");
    for doubt in all["doubts"].as_array().unwrap() {
        let (label, instead) = (doubt["label"].as_str().unwrap(), doubt["instead"].as_array().unwrap());
        assert!(
            !instead.is_empty() && instead.iter().all(|pair| pair[0] != label && pair[1].as_f64() > doubt["chance"].as_f64()),
            "{doubt}"
        );
        assert_eq!(doubt["advisers"].as_array().unwrap().len(), 5);
    }
    world.run(["review", "lib.tessera", "-k", "0"]).ended(2);
    let words = world.run(["review", "lib.tessera"]).ended(0).stdout;
    assert!(words.contains("doubted"), "{words}");
}

#[test]
fn class_folders_are_copies_or_links_and_told_before() {
    let world = World::with_images();
    world.run(["import", "lib.tessera", "images"]).ended(0);
    let export = |to: &str, more: &[&str]| {
        let mut arguments = vec!["export", "lib.tessera", "labels", "--format", "class-folders", "--to", to, "--json"];
        arguments.extend(more);
        world.run(arguments)
    };
    let told = export("out", &["--dry-run"]).ended(0).object();
    assert!(told["dry_run"] == true && !world.at("out").exists(), "{told}");
    assert_eq!(told["folders"], serde_json::json!([["disc", 12], ["grid", 12]]));
    assert_eq!((told["written"].as_u64(), told["missing"].as_u64()), (Some(24), Some(0)));
    let copied = export("out", &[]).ended(0).object();
    assert_eq!(copied["written"], told["written"]);
    assert!(world.at("out/disc/disc_01_0_0_0_lt.png").is_file() && !world.at("out/disc/disc_01_0_0_0_lt.png").is_symlink());
    export("linked", &["--links"]).ended(0);
    let link = world.at("linked/disc/disc_01_0_0_0_lt.png");
    assert_eq!(std::fs::read(&link).unwrap(), std::fs::read(world.at("images/disc/disc_01_0_0_0_lt.png")).unwrap());
    assert!(cfg!(not(unix)) || link.is_symlink());
    // Never into what is there, and links are of class folders alone.
    export("out", &["--links"]).ended(65).complains("new or empty folder");
    world.run(["export", "lib.tessera", "labels", "--to", "l.csv", "--links"]).ended(2).complains("class-folders");
}
