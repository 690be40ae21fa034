//! A whole journey: from the first frame to an explained answer, and everything undone.

use egui::Key;
use egui_kittest::kittest::Queryable as _;
use tessera::command::{Command, ImageQuery};
use tessera_core::ids::ItemId;
use tessera_core::library::event::UserLabel;

use crate::world::World;

/// The sample, opened by its button, learned and captioned.
fn sample(answers: &[&str]) -> World {
    let mut world = World::new(answers);
    world.click("Try the sample");
    world.until("the sample is there", |app| app.desk().state().is_some_and(|state| state.images().count() > 400));
    world.until("its captions are read", |app| {
        app.desk().state().is_some_and(|state| state.images().any(|image| !image.captions.is_empty()))
    });
    world
}

/// One after another, for opening the sample takes longer than any of them.
#[test]
fn the_sample_is_recognised_searched_captioned_and_labelled() {
    let mut world = sample(&[]);
    a_toy_never_seen_is_recognised_with_a_sum_that_holds(&mut world);
    world.ctrl(Key::Num1);
    words_find_images_and_unknown_words_find_none(&mut world);
    a_caption_is_written_and_found(&mut world);
    a_label_is_given_taken_back_and_given_again(&mut world);
}

/// One after another, for judging takes longer than any of them.
#[test]
fn a_judged_sample_is_looked_through_saved_corrected_and_cleared() {
    let mut world = sample(&["toys.tessera-model"]);
    // Judging gives the classes their terms, which are part of the scores and of the model.
    world.until("the recogniser is judged", |app| app.desk().recognising().report().is_some());
    world.rest();
    the_matrix_leads_to_the_images(&mut world);
    a_model_is_saved_as_one_file_loaded_and_answers_alike(&mut world);
    a_planted_wrong_label_is_found_corrected_and_changes_the_scores(&mut world);
    images_are_removed_restored_and_forgotten(&mut world);
}

fn labels(world: &World, id: ItemId) -> Option<String> {
    world.state().image(id).unwrap().label().map(str::to_owned)
}

fn a_toy_never_seen_is_recognised_with_a_sum_that_holds(world: &mut World) {
    world.click("Recognise a toy it has never seen");
    world.until("it is recognised", |app| app.desk().recognising().recognition().is_some());
    let recognition = world.app().desk().recognising().recognition().unwrap().clone();
    let file = recognition.path.as_ref().unwrap().file_stem().unwrap().to_string_lossy().into_owned();
    let (class, score) = recognition.scores[0].clone();
    assert!(file.starts_with(&class), "{file} was taken for {class}");
    let best = recognition.best.as_ref().unwrap();
    let sum: f64 = best.contributions.iter().map(|c| c.value).sum();
    assert!((sum - score).abs() < 1e-4, "{sum} is not {score}");
    assert!(world.shows(&format!("Score of {class}: {score:.4}")), "the sum and the score are on the screen");
    assert!(world.shows(&format!("Why {class} and not")));
    assert!(!recognition.tiles.is_empty() && !recognition.pieces.is_empty());
    assert!(recognition.tiles.iter().all(|tile| tile.picture.is_some()));
}

fn words_find_images_and_unknown_words_find_none(world: &mut World) {
    world.ctrl(Key::F);
    world.type_into("Search", "checked blue airplane");
    world.until("there are hits", |app| app.desk().searching().hits().is_some_and(|hits| !hits.hits.is_empty()));
    let hits = world.app().desk().searching().hits().unwrap().clone();
    let best = &hits.hits[0];
    let caption = best.caption.clone().unwrap();
    assert!(["checked", "blue", "airplane"].iter().all(|word| caption.contains(word)), "{caption}");
    assert_eq!(best.words, ["airplane", "blue", "checked"]);
    assert!(hits.hits.windows(2).all(|two| two[0].score >= two[1].score));
    assert!(world.shows(&caption));
    world.key(Key::Escape);
    assert!(world.app().desk().searching().hits().is_none());
    world.ctrl(Key::F);
    world.type_into("Search", "zebra ");
    world.until("the answer is there", |app| app.desk().searching().hits().is_some());
    assert!(world.shows("Nothing answers") && world.shows("Nothing has “zebra”"));
    world.key(Key::Escape);
}

fn a_label_is_given_taken_back_and_given_again(world: &mut World) {
    let id = world.state().images().find(|image| image.label() == Some("boat")).unwrap().id;
    world.harness.state_mut().view_mut().selection.set([id]);
    world.step();
    world.key(Key::Num1);
    world.until("it is labelled", |app| app.desk().state().unwrap().image(id).unwrap().user != UserLabel::Unsaid);
    assert_eq!(labels(world, id).as_deref(), Some("airplane"));
    world.ctrl(Key::Z);
    world.until("it is taken back", |app| app.desk().state().unwrap().image(id).unwrap().user == UserLabel::Unsaid);
    assert_eq!(labels(world, id).as_deref(), Some("boat"));
    world.ctrl_shift(Key::Z);
    world.until("it is given again", |app| app.desk().state().unwrap().image(id).unwrap().user != UserLabel::Unsaid);
    world.ctrl(Key::Z);
    world.until("it is taken back again", |app| app.desk().state().unwrap().image(id).unwrap().user == UserLabel::Unsaid);
    world.ctrl(Key::Y);
    world.until("it is given once more", |app| app.desk().state().unwrap().image(id).unwrap().user != UserLabel::Unsaid);
    world.key(Key::Backspace);
    world.until("it has no label", |app| app.desk().state().unwrap().image(id).unwrap().label().is_none());
    world.ctrl(Key::H);
    assert!(world.shows("as airplane") && world.shows("Took the label off"), "the history lists what was done");
}

fn a_planted_wrong_label_is_found_corrected_and_changes_the_scores(world: &mut World) {
    // The sample lists its faults: this boat lies among the teapots.
    let planted = "teapot_02_0_06_4_lt.jpg";
    let wrong = world.state().images().find(|image| image.file_name() == planted).unwrap().id;
    assert_eq!(labels(world, wrong).as_deref(), Some("teapot"));
    let census = world.harness.state_mut().view_mut().shown.census();
    if let Some(prediction) = census.predictions.get(&wrong) {
        assert!(prediction.wrong && prediction.class == "boat", "{prediction:?}");
    }
    // Another view of the same boat is compared with it.
    let other = world.state().images().find(|image| image.id != wrong && image.label() == Some("boat")).unwrap().id;
    world.run(Command::Recognise(ImageQuery::Item(other)));
    world.until("it is recognised", |app| app.desk().recognising().recognition().is_some());
    let before = world.app().desk().recognising().recognition().unwrap().scores.clone();
    world.run(Command::Label(vec![wrong], UserLabel::Class("boat".into())));
    world.until("the scores have changed", |app| {
        app.desk().recognising().recognition().is_some_and(|recognition| recognition.before.is_some())
    });
    let after = world.app().desk().recognising().recognition().unwrap().clone();
    assert_eq!(after.before.as_ref(), Some(&before));
    let of = |scores: &[(String, f64)], class: &str| scores.iter().find(|(name, _)| name == class).unwrap().1;
    assert!(of(&after.scores, "boat") >= of(&before, "boat"), "one more boat cannot make the boats less like it");
    assert!(of(&after.scores, "teapot") <= of(&before, "teapot"));
    assert!(world.shows("The marks show the scores before the last change"));
}

fn a_model_is_saved_as_one_file_loaded_and_answers_alike(world: &mut World) {
    let tried = world.app().desk().opening().tray()[3].path.clone();
    world.run(Command::Recognise(ImageQuery::File(tried.clone())));
    world.until("it is recognised", |app| app.desk().recognising().recognition().is_some());
    let own = world.app().desk().recognising().recognition().unwrap().clone();
    world.rest();
    world.ctrl_shift(Key::S);
    world.click("Browse…");
    world.until("it is saved", |app| app.desk().notices().log().iter().any(|notice| notice.words.starts_with("Saved the model")));
    let file = world.path("toys.tessera-model");
    assert!(file.is_file());
    world.run(Command::LoadModel(file.clone()));
    world.until("it is loaded", |app| app.desk().recognising().loaded_model().is_some());
    world.run(Command::Recognise(ImageQuery::File(tried)));
    world.until("it answers", |app| {
        app.desk().recognising().recognition().is_some_and(|recognition| recognition.by == "toys.tessera-model")
    });
    let theirs = world.app().desk().recognising().recognition().unwrap();
    assert_eq!(theirs.scores, own.scores, "the same scores, to the last bit");
    world.run(Command::UseLibrary);
    // A damaged model gets a sentence, and nothing else changes.
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    world.run(Command::LoadModel(file));
    world.until("it is refused", |app| {
        app.desk().notices().log().iter().any(|notice| notice.words.contains("toys.tessera-model: expected"))
    });
    assert!(world.app().desk().recognising().loaded_model().is_none());
}

fn images_are_removed_restored_and_forgotten(world: &mut World) {
    world.ctrl(Key::Num1);
    let n = world.state().images().count();
    let ids: Vec<ItemId> = world.state().images().take(3).map(|image| image.id).collect();
    world.harness.state_mut().view_mut().selection.set(ids.clone());
    world.step();
    world.key(Key::Delete);
    world.until("they are removed", |app| app.desk().state().unwrap().images().count() == n - 3);
    world.click_containing("Removed 3");
    world.ctrl(Key::A);
    world.run(Command::Restore(ids.clone()));
    world.until("they are back", |app| app.desk().state().unwrap().images().count() == n);
    world.harness.state_mut().view_mut().shown.scopes.clear();
    world.harness.state_mut().view_mut().selection.set(ids.clone());
    world.ctrl(Key::K);
    world.type_into("Command", "forget");
    world.key(Key::Enter);
    assert!(world.shows("Forget 3 images for good?"), "it asks, for this cannot be undone");
    world.click("Forget");
    world.until("they are forgotten", |app| ids.iter().all(|id| app.desk().state().unwrap().image(*id).is_none()));
    world.rest();
    assert_eq!(world.state().images().count(), n - 3);
    world.run(Command::Check);
    world.until("it is checked", |app| app.desk().notices().log().iter().any(|notice| notice.words.starts_with("Checked: everything")));
}

fn a_caption_is_written_and_found(world: &mut World) {
    let id = world.state().images().next().unwrap().id;
    world.harness.state_mut().view_mut().selection.set([id]);
    world.step();
    world.type_into("New caption", "my grandmother's glider");
    world.key(Key::Enter);
    world.until("it is written", |app| app.desk().state().unwrap().image(id).unwrap().captions.iter().any(|c| c.by_user));
    world.run(Command::Search("glider grandmother".into()));
    world
        .until("it is found", |app| app.desk().searching().hits().is_some_and(|hits| hits.hits.first().is_some_and(|hit| hit.image == id)));
    world.run(Command::Undo);
    world.until("it is found no more", |app| app.desk().searching().hits().is_some_and(|hits| hits.hits.is_empty()));
    world.run(Command::Search(String::new()));
}

fn the_matrix_leads_to_the_images(world: &mut World) {
    world.ctrl(Key::Num4);
    assert!(world.shows("were right"));
    let cell = {
        let report = world.app().desk().recognising().report().unwrap().0.clone();
        let n = report.classes.len();
        let pairs = (0..n * n).map(|i| (i / n, i % n));
        pairs
            .into_iter()
            .find(|(t, g)| t != g && report.confusion[*t][*g] > 0)
            .map(|(t, g)| (report.confusion[t][g], report.classes[t].clone(), report.classes[g].clone()))
    };
    let (count, truth, given) = cell.expect("planted labels are confused");
    world.click_containing(&format!("images of {truth} were taken for {given}"));
    let list = world.harness.state_mut().view_mut().shown.list();
    assert_eq!(list.len(), count as usize, "the grid shows just those");
    assert!(world.harness.query_all_by_label_contains("taken for").next().is_some());
}
