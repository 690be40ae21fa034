//! `tessera cluster`: groups of images that look alike, kept and followed, named by labels.

use std::fs;

use image::{Rgb, RgbImage};
use serde_json::Value;

use crate::documents::keys::agrees;
use crate::world::World;

/// A picture of one of three kinds: flat colours that differ a little within a kind.
fn picture(kind: u8, seed: u8) -> RgbImage {
    let near = 6 * (seed % 5);
    let colour = match kind {
        0 => [200 + near, 20, 20],
        1 => [20, 200 + near, 20],
        _ => [20, 20, 200 + near],
    };
    RgbImage::from_fn(48, 48, |x, y| if (x / 8 + y / 8 + u32::from(seed)).is_multiple_of(7) { Rgb([90; 3]) } else { Rgb(colour) })
}

/// A library of twelve images of each of three kinds.
fn world() -> World {
    let world = World::new();
    fs::create_dir_all(world.at("photos")).unwrap();
    for kind in 0..3 {
        for seed in 0..12 {
            picture(kind, seed).save(world.at(&format!("photos/{kind}-{seed:02}.png"))).unwrap();
        }
    }
    world.run(["import", "lib.tessera", "photos", "--labels", "none"]).ended(0);
    world
}

fn clusters(world: &World, arguments: &str) -> Value {
    let all = format!("cluster lib.tessera {arguments} --json");
    world.run(all.split(' ').filter(|word| !word.is_empty())).ended(0).object()
}

/// The kinds of the typical images of each cluster that has any.
fn kinds(found: &Value) -> Vec<String> {
    let list = found["list"].as_array().unwrap();
    let kind = |image: &Value| image["path"].as_str().unwrap().rsplit(['/', '\\']).next().unwrap()[..1].to_owned();
    list.iter().map(|cluster| cluster["typical"].as_array().unwrap().iter().map(kind).collect()).collect()
}

#[test]
fn images_of_one_kind_are_found_together_kept_and_gone_on_with() {
    let world = world();
    let found = clusters(&world, "--by colours --clusters 3 -k 50");
    assert_eq!(
        (&found["clusters"], &found["asked"], &found["iterations"], &found["images"]),
        (&3.into(), &3.into(), &20.into(), &36.into())
    );
    let kinds_found = kinds(&found);
    assert!(kinds_found.iter().all(|kinds| kinds.len() == 12 && kinds.chars().all(|kind| kinds.starts_with(kind))), "{kinds_found:?}");
    assert_eq!(clusters(&world, "-k 50"), found, "without options the kept ones are shown");
    let more = clusters(&world, "--by colours --clusters 3 -k 50 --iterations 5");
    assert_eq!(more["iterations"], 25, "the same options go on");
    let again = clusters(&world, "--by colours --clusters 3 -k 50 --again");
    assert_eq!(again, found, "the same seed finds the same");
    let one_thread = clusters(&world, "--by colours --clusters 3 -k 50 --again --threads 1");
    assert_eq!(one_thread, found, "on any number of threads");
}

#[test]
fn the_same_options_again_compute_nothing_until_more_iterations_are_asked_for() {
    let world = world();
    let asked = "--by colours --clusters 3 -k 50";
    let found = clusters(&world, asked);
    assert_eq!(clusters(&world, asked), found);
    world.run("cluster lib.tessera --by colours --clusters 3".split(' ')).ended(0).complains("--iterations N goes on");
    // Those that did not have all their iterations get the rest.
    assert_eq!(clusters(&world, &format!("{asked} --again --iterations 7"))["iterations"], 7);
    let (more, sizes) = (clusters(&world, asked), |of: &Value| kinds(of).iter().map(String::len).collect::<Vec<_>>());
    assert_eq!((&more["iterations"], sizes(&more)), (&20.into(), sizes(&found)), "{more}");
    // Those that many images came to since are gone on with.
    for seed in 0..12u8 {
        let mut image = picture(seed % 3, seed);
        image.put_pixel(47, u32::from(seed), Rgb([9; 3]));
        image.save(world.at(&format!("photos/{}-later-{seed:02}.png", seed % 3))).unwrap();
    }
    world.run(["import", "lib.tessera", "photos", "--labels", "none"]).ended(0);
    let grown = clusters(&world, asked);
    assert_eq!((&grown["iterations"], &grown["images"]), (&40.into(), &48.into()), "{grown}");
    assert_eq!(clusters(&world, "--by colours --clusters 2")["iterations"], 20, "another number begins anew");
}

#[test]
fn undo_brings_back_the_clusters_before_a_merge_or_a_split_and_redo_those_after() {
    let world = world();
    let all = |world: &World| clusters(world, "-k 50");
    let found = clusters(&world, "--by colours --clusters 3 -k 50");
    let number = |at: usize| found["list"][at]["cluster"].as_u64().unwrap();
    let merged = clusters(&world, &format!("--merge {},{} -k 50", number(0), number(1)));
    let split = clusters(&world, "--split 1 -k 50");
    let go = |act: &str| drop(world.run([act, "lib.tessera"]).ended(0));
    // Each of several pairs is an act of its own.
    let pairs = "cluster lib.tessera --together photos/0-00.png photos/0-05.png --together photos/1-00.png photos/1-05.png";
    world.run(pairs.split(' ')).ended(0);
    let paired = all(&world);
    go("undo");
    all(&world);
    go("undo");
    assert_eq!(all(&world), split);
    go("redo");
    go("redo");
    assert_eq!(all(&world), paired);
    go("undo");
    go("undo");
    for expected in [&merged, &found] {
        go("undo");
        assert_eq!(&all(&world), expected);
    }
    for expected in [&merged, &split] {
        go("redo");
        assert_eq!(&all(&world), expected);
    }
    go("undo");
    // All images of the merged clusters stay together, however long it goes on.
    let more = clusters(&world, "--iterations 40 -k 50");
    let joined = |of: &Value| of["list"].as_array().unwrap().iter().any(|cluster| cluster["size"] == 24);
    assert!(joined(&merged) && joined(&more) && more["iterations"] == 80, "{more}");
    go("redo");
    assert_eq!(all(&world), split);
    go("undo");
    assert_eq!(all(&world), more, "as they were left");
    // Clusters that were found anew have none to return to.
    let mut anew = clusters(&world, "--by colours --clusters 2 -k 50 --again --seed 4");
    go("undo");
    // But they do not follow what was taken back.
    anew["follows_pairs"] = false.into();
    assert_eq!(all(&world), anew);
}

#[test]
fn clusters_without_images_are_explained() {
    let world = world();
    let found = clusters(&world, "--by colours --clusters 3 -k 50");
    assert_eq!(found["list"].as_array().unwrap().len(), 3);
    let told = || world.run(["cluster", "lib.tessera"]).ended(0).stdout;
    assert!(!told().contains("not shown"), "{}", told());
    // Clusters whose images have gone stay, without any.
    for (at, words) in
        ["(1 of 3 clusters is not shown: no image is nearer to it", "(2 of 3 clusters are not shown: no image is nearer to them"]
            .into_iter()
            .enumerate()
    {
        let images = found["list"][at]["typical"].as_array().unwrap().iter().map(|image| format!("#{}", image["image"]));
        world.run(["remove".to_owned(), "lib.tessera".to_owned()].into_iter().chain(images)).ended(0);
        assert!(told().contains(words), "{}", told());
    }
    world.run("cluster lib.tessera --clusters 13".split(' ')).ended(65).complains("1 to 12, the number of images that can be compared");
}

#[test]
fn a_cluster_tells_its_words_classes_and_oddities() {
    let world = World::new();
    fs::create_dir_all(world.at("photos")).unwrap();
    for seed in 0..20 {
        picture(0, seed % 2).save(world.at(&format!("photos/red-{seed:02}.png"))).unwrap();
        picture(2, seed % 2).save(world.at(&format!("photos/blue-{seed:02}.png"))).unwrap();
    }
    // Copies of equal bytes are one image: each differs in one pixel.
    for (at, name) in fs::read_dir(world.at("photos")).unwrap().enumerate() {
        let path = name.unwrap().path();
        let mut image = image::open(&path).unwrap().into_rgb8();
        image.put_pixel(at as u32 % 48, 5 + at as u32 / 48, Rgb([at as u8, 7, 7]));
        image.save(&path).unwrap();
    }
    RgbImage::from_fn(48, 48, |x, _| if x < 40 { Rgb([200, 20, 20]) } else { Rgb([250, 250, 250]) })
        .save(world.at("photos/red-odd.png"))
        .unwrap();
    let caption = |colour: &str, words: &str| (0..12).map(|seed| format!("{colour}-{seed:02}.png#0\t{words}\n")).collect::<String>();
    let captions = caption("red", "a poppy in a field") + &caption("blue", "a lake in a field");
    world.file("captions.txt", captions.as_bytes());
    world.run(["import", "lib.tessera", "photos", "--labels", "none", "--captions", "captions.txt"]).ended(0);
    world.run(["label", "lib.tessera", "photos/blue-00.png", "--as", "sky"]).ended(0);
    let ran = world.run("cluster lib.tessera --by colours --clusters 2 --json".split(' ')).ended(0);
    agrees("cluster", &ran);
    let found = ran.object();
    let list = found["list"].as_array().unwrap();
    let red = list.iter().find(|cluster| cluster["words"].as_array().unwrap().iter().any(|word| word["word"] == "poppy"));
    let odd = red.unwrap()["outliers"][0]["path"].as_str().unwrap();
    assert!(odd.ends_with("red-odd.png"), "{found}");
    assert!(list.iter().any(|cluster| cluster["classes"][0]["class"] == "sky"), "{found}");
}

#[test]
fn the_number_may_be_left_open() {
    let world = world();
    let found = clusters(&world, "--by colours");
    let tried = found["tried"].as_array().unwrap();
    assert!(tried.len() >= 2 && found["asked"].is_null() && found["clusters"].as_u64() >= Some(2), "{found}");
    assert!(world.run(["cluster", "lib.tessera"]).ended(0).stdout.contains("describes images best"));
}

#[test]
fn a_number_left_open_is_enough_for_images_that_are_said_to_be_apart() {
    let world = world();
    let found = clusters(&world, "--by colours");
    let count = found["clusters"].as_u64().unwrap() as usize;
    let path = |seed: usize| format!("photos/0-{seed:02}.png");
    // One more than there are clusters, each apart from each.
    for a in 0..=count {
        for b in 0..a {
            world.run(["cluster", "lib.tessera", "--apart", &path(a), &path(b)]).ended(0);
        }
    }
    let after = clusters(&world, "--by colours");
    assert!(after["clusters"].as_u64().unwrap() as usize > count, "{after}");
    let refused = world.run(["cluster", "lib.tessera", "--by", "colours", "--clusters", &count.to_string()]).ended(65);
    assert!(refused.stderr.contains("or more, which are enough for what is said to be apart"), "{}", refused.stderr);
}

#[test]
fn what_was_asked_for_outlives_the_cache() {
    let world = world();
    let found = clusters(&world, "--by colours --clusters 3 -k 50 --seed 5");
    fs::remove_file(world.at("lib.tessera/cache.db")).unwrap();
    assert_eq!(clusters(&world, "-k 50"), found, "lost clusters are found again as they were asked for");
    // Also vectors that the user brought.
    let rows = (0..36).map(|at| format!("{}-{:02}.png,{},{}\n", at / 12, at % 12, 1 + at / 18, 1 + at % 2));
    world.file("own.csv", ("path,x,y\n".to_owned() + &rows.collect::<String>()).as_bytes());
    world.run(["import", "lib.tessera", "photos", "--labels", "none", "--vectors", "own.csv"]).ended(0);
    let found = clusters(&world, "--by own --clusters 4");
    fs::remove_file(world.at("lib.tessera/cache.db")).unwrap();
    assert_eq!(clusters(&world, ""), found);
    assert_eq!((&found["by"], &found["asked"]), (&"own".into(), &4.into()));
    world.run("cluster lib.tessera --by colours --clusters 2".split(' ')).ended(0);
    fs::remove_file(world.at("lib.tessera/cache.db")).unwrap();
    assert_eq!(clusters(&world, "")["asked"], 2, "the newest word holds");
}

#[test]
fn clusters_follow_the_library() {
    let world = world();
    let before = clusters(&world, "--by colours --clusters 3 -k 50");
    picture(1, 13).save(world.at("photos/1-new.png")).unwrap();
    world.run(["import", "lib.tessera", "photos"]).ended(0);
    world.run(["remove", "lib.tessera", "photos/0-00.png"]).ended(0);
    let after = clusters(&world, "-k 50");
    assert_eq!(after["images"], 36, "one came and one went");
    let of = |kind: &str| kinds(&after).iter().find(|kinds| kinds.starts_with(kind)).map(String::len);
    assert_eq!((of("0"), of("1"), of("2")), (Some(11), Some(13), Some(12)), "{before} {after}");
    world.run(["forget", "lib.tessera", "photos/2-00.png", "--yes"]).ended(0);
    let anew = clusters(&world, "--by colours --clusters 3 -k 50");
    assert_eq!(anew["iterations"], 20, "what an image took part in that was forgotten is gone");
    assert_eq!(anew["images"], 35);
    let mut cache = fs::read(world.at("lib.tessera/cache.db")).unwrap();
    cache.fill(0);
    fs::write(world.at("lib.tessera/cache.db"), cache).unwrap();
    assert_eq!(clusters(&world, "--by colours --clusters 3 -k 50")["images"], 35, "a lost cache is made again");
}

#[test]
fn a_cluster_is_named_by_labelling_it_and_keeps_its_name() {
    let world = world();
    let found = clusters(&world, "--by colours --clusters 3");
    let number = found["list"][0]["cluster"].as_u64().unwrap();
    let events = || {
        world.run("export lib.tessera events --to events.jsonl".split(' ')).ended(0);
        fs::read_to_string(world.at("events.jsonl")).unwrap().lines().count()
    };
    let before = events();
    world.run(["cluster", "lib.tessera", "--name", &format!("{number}=bright one")]).ended(0);
    assert_eq!(events(), before + 1, "one act");
    let anew = clusters(&world, "--by colours --clusters 3 --again --seed 9");
    let names: Vec<&Value> = anew["list"].as_array().unwrap().iter().map(|cluster| &cluster["name"]).collect();
    assert_eq!(names.iter().filter(|name| **name == "bright one").count(), 1, "{anew}");
    // Images that come later do not take it away.
    let kind = kinds(&found)[0][..1].parse().unwrap();
    for seed in 0..16 {
        let mut image = picture(kind, seed);
        image.put_pixel(47, u32::from(seed), Rgb([9; 3]));
        image.save(world.at(&format!("photos/{kind}-later-{seed:02}.png"))).unwrap();
    }
    world.run(["import", "lib.tessera", "photos", "--labels", "none"]).ended(0);
    let grown = clusters(&world, "--by colours --clusters 3 --again --seed 9");
    let named = grown["list"].as_array().unwrap().iter().find(|cluster| cluster["name"] == "bright one");
    assert_eq!(named.unwrap()["size"], 28, "{grown}");
    world.run(["undo", "lib.tessera"]).ended(0);
    world.run(["undo", "lib.tessera"]).ended(0);
    assert!(clusters(&world, "")["list"].as_array().unwrap().iter().all(|cluster| cluster["name"].is_null()));
    world.run(["cluster", "lib.tessera", "--name", "77=x"]).ended(65).complains("number of a cluster");
    world.run(["label", "lib.tessera", "photos/0-00.png", "--as", "Sky"]).ended(0);
    let named = world.run(["cluster", "lib.tessera", "--name", "1=sky", "--json"]).ended(0).object();
    assert_eq!((&named["new_class"], &named["near_class"]), (&true.into(), &"Sky".into()), "{named}");
    world.run(["cluster", "lib.tessera", "--name", "x"]).ended(2);
}

#[test]
fn pairs_that_belong_together_or_apart_are_held_to() {
    let world = world();
    let cluster_of = |found: &Value, name: &str| {
        let list = found["list"].as_array().unwrap();
        let has =
            |cluster: &&Value| cluster["typical"].as_array().unwrap().iter().any(|image| image["path"].as_str().unwrap().ends_with(name));
        list.iter().find(has).map(|cluster| cluster["cluster"].as_u64().unwrap()).unwrap()
    };
    let said = "--by colours --clusters 4 -k 50 --together photos/0-00.png photos/1-00.png --apart photos/2-00.png photos/2-01.png";
    let found = clusters(&world, said);
    assert_eq!(cluster_of(&found, "0-00.png"), cluster_of(&found, "1-00.png"));
    assert_ne!(cluster_of(&found, "2-00.png"), cluster_of(&found, "2-01.png"));
    let both = "cluster lib.tessera --clusters 4 --together photos/0-00.png photos/1-00.png --apart photos/0-00.png photos/1-00.png";
    world.run(both.split(' ')).ended(65).complains("together");
    // What was said is part of the history: it outlives the clusters and is undone like any act.
    let words = |said: &str| -> Vec<String> {
        world.run(["export", "lib.tessera", "events", "--to", "events.jsonl"]).ended(0);
        let log = fs::read_to_string(world.at("events.jsonl")).unwrap();
        let events = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["words"].as_str().unwrap().to_owned());
        events.filter(|words| words.starts_with(said)).collect()
    };
    assert_eq!(
        words("Said that"),
        ["Said that 0-00.png and 1-00.png belong together", "Said that 2-00.png and 2-01.png do not belong together"]
    );
    fs::remove_file(world.at("lib.tessera/cache.db")).unwrap();
    let found = clusters(&world, "--by colours --clusters 4 -k 50");
    assert_eq!(cluster_of(&found, "0-00.png"), cluster_of(&found, "1-00.png"));
    assert_ne!(cluster_of(&found, "2-00.png"), cluster_of(&found, "2-01.png"));
    assert!(world.run(["undo", "lib.tessera"]).ended(0).stdout.contains("do not belong together"));
    let dropped = "cluster lib.tessera --drop-pairs --by colours --clusters 3 --json";
    let found = world.run(dropped.split(' ')).ended(0).complains("Dropped what was said of 1 pair").object();
    assert_eq!((found["clusters"].as_u64(), kinds(&clusters(&world, "-k 50")).len()), (Some(3), 3));
    assert_eq!(words("Dropped").len(), 1);
    // Forgetting an image forgets what was said of it.
    world.run("cluster lib.tessera --together photos/0-00.png photos/1-00.png".split(' ')).ended(0);
    world.run(["forget", "lib.tessera", "photos/1-00.png", "--yes"]).ended(0);
    let journal = fs::read_to_string(world.at("lib.tessera/journal.jsonl")).unwrap();
    assert!(!journal.contains("\"Bond\":[13,") && !journal.contains("1-00.png"), "{journal}");
    world.run(["check", "lib.tessera"]).ended(0);
}

#[test]
fn clusters_are_merged_and_split_by_their_numbers() {
    let world = world();
    let found = clusters(&world, "--by colours --clusters 3 -k 50");
    let number = |at: usize| found["list"][at]["cluster"].as_u64().unwrap();
    assert_eq!((0..3).map(number).min(), Some(1), "counted from 1: {found}");
    let merged = clusters(&world, &format!("--merge {},{} -k 50", number(0), number(1)));
    assert_eq!((&merged["clusters"], &merged["asked"], &merged["iterations"]), (&2.into(), &2.into(), &40.into()), "{merged}");
    let two = kinds(&merged).into_iter().find(|kinds| kinds.len() == 24).unwrap();
    let large = merged["list"].as_array().unwrap().iter().find(|cluster| cluster["size"] == 24).unwrap()["cluster"].clone();
    let split = clusters(&world, &format!("--split {large} -k 50"));
    assert_eq!((&split["clusters"], &split["asked"], &split["iterations"]), (&3.into(), &3.into(), &60.into()), "{split}");
    assert!(kinds(&split).iter().all(|kinds| kinds.len() == 12 || !kinds.starts_with(&two[..1])), "{split}");
    assert_eq!(clusters(&world, "-k 50"), split, "they are kept");
    let undone = world.run(["undo", "lib.tessera"]).ended(0).stdout;
    assert!(undone.contains(&format!("Split cluster {large}; the new one is cluster 3")), "{undone}");
    let undone = world.run(["undo", "lib.tessera"]).ended(0).stdout;
    assert!(undone.contains("Merged clusters ") && undone.contains(" into cluster "), "{undone}");
    // Where others were found since, those of the merge are not there any more, which is told.
    clusters(&world, "--by colours --clusters 3 --again");
    world.run(["redo", "lib.tessera"]).ended(0);
    assert!(world.run(["cluster", "lib.tessera"]).ended(0).stdout.contains("What was said of pairs has changed since"));
    world.run(["undo", "lib.tessera"]).ended(0);
    assert!(!world.run(["cluster", "lib.tessera"]).ended(0).stdout.contains("What was said of pairs has changed since"));
    let merged = clusters(&world, &format!("--merge {},{} -k 50", number(0), number(1)));
    let large = merged["list"].as_array().unwrap().iter().find(|cluster| cluster["size"] == 24).unwrap()["cluster"].clone();
    clusters(&world, &format!("--split {large} -k 50"));
    // They are gone on with also when an image came and one that was said to be apart has gone.
    picture(1, 13).save(world.at("photos/1-new.png")).unwrap();
    world.run(["import", "lib.tessera", "photos"]).ended(0);
    for kind in 0..3 {
        world.run(["remove", "lib.tessera", &format!("photos/{kind}-00.png"), &format!("photos/{kind}-01.png")]).ended(0);
    }
    let more = clusters(&world, "--split 1 -k 50");
    assert_eq!((&more["clusters"], &more["iterations"], &more["images"]), (&4.into(), &80.into(), &31.into()), "{more}");
    world.run("cluster lib.tessera --split 9".split(' ')).ended(65).complains("cluster to split");
    world.run("cluster lib.tessera --merge 1,9".split(' ')).ended(65).complains("two or more of 1 to 4, found 1 and 9");
    let other = World::with_images();
    other.run(["import", "lib.tessera", "images"]).ended(0);
    other.run("cluster lib.tessera --split 1".split(' ')).ended(2).complains("tessera cluster");
}

#[test]
fn a_table_is_written_and_never_over_another_file() {
    let world = world();
    world.run("cluster lib.tessera --by colours --clusters 3 --to clusters.csv".split(' ')).ended(0);
    let table = fs::read_to_string(world.at("clusters.csv")).unwrap();
    assert_eq!((table.lines().count(), table.lines().next()), (37, Some("path,image,cluster,name,place,outlier,label")));
    world.run("cluster lib.tessera --to clusters.csv".split(' ')).ended(0);
    world.file("mine.txt", b"my own words");
    world.run("cluster lib.tessera --to mine.txt".split(' ')).ended(65).complains("another file");
    assert_eq!(fs::read_to_string(world.at("mine.txt")).unwrap(), "my own words");
    // Clusters of one name have a folder each.
    let found = clusters(&world, "");
    for at in 0..2 {
        world.run(["cluster", "lib.tessera", "--name", &format!("{}=sky", found["list"][at]["cluster"])]).ended(0);
    }
    let said = world.run("cluster lib.tessera --folders sorted --dry-run".split(' ')).ended(0).stderr;
    assert!(said.contains("36 images would be copied to 3 folders") && !world.at("sorted").exists(), "{said}");
    world.run("cluster lib.tessera --folders sorted".split(' ')).ended(0);
    let folders: Vec<usize> =
        fs::read_dir(world.at("sorted")).unwrap().map(|folder| fs::read_dir(folder.unwrap().path()).unwrap().count()).collect();
    assert_eq!((folders.len(), folders.iter().sum()), (3, 36));
    let first = format!("sky (cluster {})", found["list"][0]["cluster"]);
    assert!(world.at("sorted").join(&first).is_dir(), "{first}");
    world.run("cluster lib.tessera --folders sorted".split(' ')).ended(65).complains("new or empty folder");
}

#[test]
fn what_cannot_be_clustered_is_said() {
    let world = World::new();
    fs::create_dir_all(world.at("photos")).unwrap();
    picture(0, 0).save(world.at("photos/one.png")).unwrap();
    world.run(["import", "lib.tessera", "photos", "--labels", "none"]).ended(0);
    assert_eq!(clusters(&world, "--by appearance")["clusters"], 1, "one image is one cluster");
    world.run("cluster lib.tessera --clusters 2".split(' ')).ended(65).complains("1 to 1");
    world.run("cluster lib.tessera --clusters 0".split(' ')).ended(2);
    world.run("cluster lib.tessera --by nothing-like-that".split(' ')).ended(2).complains("one of appearance, edges");
    world.run(["remove", "lib.tessera", "photos/one.png"]).ended(0);
    world.run("cluster lib.tessera".split(' ')).ended(65).complains("import a folder of images first");
}

#[test]
fn what_is_not_given_stays_as_it_was() {
    let world = world();
    clusters(&world, "--by colours --clusters 3");
    let four = clusters(&world, "--clusters 4");
    assert_eq!((&four["by"], &four["asked"]), (&"colours".into(), &4.into()), "{four}");
    let edges = clusters(&world, "--by edges");
    assert_eq!((&edges["by"], &edges["asked"]), (&"edges".into(), &4.into()), "{edges}");
    let anew = clusters(&world, "--again");
    assert_eq!(anew, edges, "from the beginning");
    let other = clusters(&world, "--seed 9");
    assert_eq!((&other["by"], &other["asked"], &other["iterations"]), (&"edges".into(), &4.into(), &20.into()));
    assert_eq!(clusters(&world, "--again"), other, "the seed stays, too");
    assert_eq!(clusters(&world, "--seed 0"), edges);
    assert_eq!(clusters(&world, "--clusters open")["asked"], Value::Null);
}

#[test]
fn images_whose_learned_features_are_lost_are_looked_at_again() {
    let world = world();
    let found = clusters(&world, "--by network --clusters 3 -k 50");
    assert_eq!((&found["images"], &found["left_out"]), (&36.into(), &0.into()));
    fs::remove_file(world.at("lib.tessera/cache.db")).unwrap();
    let again = world.run("cluster lib.tessera -k 50 --json".split(' ')).ended(0);
    assert!(again.stderr.contains("The network looked at 36 images first"), "{}", again.stderr);
    assert_eq!(again.object(), found);
}

/// The last digits of the names of the typical images of each cluster.
fn seeds(found: &Value) -> Vec<Vec<u8>> {
    let seed = |image: &Value| image["path"].as_str().unwrap().trim_end_matches(".png").rsplit('-').next().unwrap().parse().unwrap();
    let list = found["list"].as_array().unwrap();
    list.iter().map(|cluster| cluster["typical"].as_array().unwrap().iter().map(seed).collect()).collect()
}

#[test]
fn images_are_compared_by_the_words_of_their_captions() {
    let world = world();
    // The even ones of all colours are of boats, the odd ones of trees; two of each have no
    // caption.
    let boats = ["Two boats sail on the sea", "A boat at sea, under sail", "The sails of a boat"];
    let trees = ["An old tree in the forest", "Trees with green leaves", "A forest of old trees"];
    let mut captions = String::new();
    for kind in 0..3 {
        for seed in 0..10 {
            let words = if seed % 2 == 0 { boats[(seed / 2 + kind) % 3] } else { trees[(seed / 2 + kind) % 3] };
            captions += &format!("{kind}-{seed:02}.png#0\t{words}\n");
        }
    }
    world.file("captions.txt", captions.as_bytes());
    world.run(["import", "lib.tessera", "photos", "--labels", "none", "--captions", "captions.txt"]).ended(0);
    let found = clusters(&world, "--by words --clusters 2 -k 50");
    assert_eq!((&found["by"], &found["images"], &found["left_out"]), (&"words".into(), &30.into(), &6.into()), "{found}");
    for seeds in seeds(&found) {
        assert!(seeds.len() == 15 && seeds.iter().all(|seed| seed % 2 == seeds[0] % 2), "{found}");
    }
    assert_eq!(clusters(&world, "--by words --clusters 2 -k 50 --again --threads 1"), found, "on any number of threads");
    // An image that is captioned later is given its cluster.
    world.file("captions.txt", b"0-11.png#0\tAn old boat on the sea\n");
    world.run(["import", "lib.tessera", "photos", "--labels", "none", "--captions", "captions.txt"]).ended(0);
    let after = clusters(&world, "-k 50");
    let boat = seeds(&after).into_iter().find(|seeds| seeds.contains(&0)).unwrap();
    assert_eq!((&after["images"], boat.len(), boat.contains(&11)), (&31.into(), 16, true), "{after}");
    let hits = world.run("similar lib.tessera photos/0-00.png --by words -k 3 --json".split(' ')).ended(0).object();
    assert!(hits["hits"].as_array().unwrap().iter().all(|hit| hit["caption"].as_str().unwrap().contains("boat")), "{hits}");
    world.run("similar lib.tessera photos/0-10.png --by words".split(' ')).ended(65).complains("has a caption");
    let map = world.run("map lib.tessera --by words --rounds 5 --to map.csv --json".split(' ')).ended(0).object();
    assert_eq!((&map["by"], &map["points"]), (&"words".into(), &31.into()), "{map}");
}

#[test]
fn images_are_compared_by_the_recognisers_elements() {
    let world = world();
    let found = clusters(&world, "--by elements --clusters 3 -k 50");
    assert_eq!((&found["by"], &found["images"], &found["left_out"]), (&"elements".into(), &36.into(), &0.into()), "{found}");
    assert!(kinds(&found).iter().all(|kinds| kinds.len() == 12 && kinds.chars().all(|kind| kinds.starts_with(kind))), "{found}");
    // What is kept of them in the cache can be made again.
    fs::remove_file(world.at("lib.tessera/cache.db")).unwrap();
    assert_eq!(clusters(&world, "--by elements --clusters 3 -k 50"), found);
    // Other elements, other vectors: clusters begin anew.
    world.run("train lib.tessera --learned-features off".split(' ')).ended(0);
    let anew = clusters(&world, "--by elements --clusters 3 -k 50");
    assert_eq!(anew["iterations"], 20, "{anew}");
    let hits = world.run("similar lib.tessera photos/0-00.png --by elements -k 11 --json".split(' ')).ended(0).object();
    let path = |hit: &Value| hit["path"].as_str().unwrap().rsplit(['/', '\\']).next().unwrap().to_owned();
    assert!(hits["hits"].as_array().unwrap().iter().map(path).all(|name| name.starts_with("0-")), "{hits}");
}
