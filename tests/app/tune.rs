//! `tessera tune`: races on held-out objects, and what they leave for `tessera train`.

use std::fs;

use crate::world::World;

#[test]
fn the_best_is_told_and_written_for_other_commands() {
    let world = World::with_images();
    let answer = world.run(["tune", "images", "--steps", "300", "--write", "options.ron", "--json"]).ended(0).object();
    assert!(answer["tried"].as_u64().unwrap() > 20 && answer["steps"].as_u64().unwrap() <= 300, "{answer}");
    assert_eq!(answer["tried"].as_u64(), answer["settings"].as_array().map(|settings| settings.len() as u64));
    assert_eq!(answer["held_out_accuracy"].as_f64(), Some(1.0), "rings and squares are easily told apart");
    assert!(answer["deviation"].as_f64().unwrap() > 0.0, "it is not certain of that");
    assert_eq!(answer["options"], fs::read_to_string(world.at("options.ron")).unwrap());
    let trained = world.run(["train", "images", "--to", "model", "--options", "options.ron", "--json"]).ended(0).object();
    assert_eq!(trained["held_out_accuracy"].as_f64(), Some(1.0));
    let again = world.run(["eval", "ckm", "--print-options", "--options", "options.ron", "--json"]).ended(0).object();
    assert_eq!(again["options"], answer["options"]);
}

#[test]
fn words_say_how_to_use_it() {
    let world = World::with_images();
    let ran = world.run(["tune", "images", "--steps", "60", "--elements", "colour", "--write", "options.ron"]).ended(0);
    assert!(
        ran.stdout.contains("The first line is the best.") && ran.stdout.contains("tessera train images --options options.ron"),
        "{}",
        ran.stdout
    );
}

#[test]
fn what_cannot_be_tuned_is_refused_in_a_sentence() {
    let world = World::with_library();
    world.run(["tune", "lib.tessera"]).ended(2).complains("a folder of images");
    world.run(["tune", "images", "--steps", "20"]).ended(2).complains("--steps is 20, but it must be 21 or more");
    let ran = world.run(["tune", "images", "--steps", "21"]).ended(0);
    assert!(ran.stdout.contains("It was judged by 2 images alone") && !ran.stdout.contains("100.0 +-"), "{}", ran.stdout);
    world.run(["tune", "images", "--write", "nowhere/options.ron"]).ended(74).complains("nowhere");
    for (class, name) in [("disc", 0), ("grid", 1)] {
        world.picture(&format!("single/{class}/{class}_01_0_0_0_lt.png"), name, 1, 0);
    }
    world.run(["tune", "single"]).ended(65).complains("two objects");
}
