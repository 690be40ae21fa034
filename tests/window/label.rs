//! Labelling: without a mouse, with suggestions that learn, going back, many at once, and the
//! review of labels.

use egui::{Event, Key, Modifiers};
use tessera::command::Command;
use tessera::gui::App;
use tessera::gui::modal::Modal;
use tessera::gui::page::Page;
use tessera::session::Session;
use tessera::session::desk::labelling::{LabelActKind, Labelling};
use tessera_core::ids::ItemId;
use tessera_core::library::event::UserLabel;
use tessera_core::library::suggest::LabelOrder;

use crate::keys::small;
use crate::world::{World, class_folders};

/// Twelve images without a class, four of a kind, and the desk before them in the order of their
/// names.
fn desk() -> World {
    let mut world = small();
    world.run(Command::Label((1..=12).map(ItemId).collect(), UserLabel::NoClass));
    world.ctrl(Key::Num2);
    world.run(Command::LabelFrom(None, LabelOrder::Folder));
    world.until("the queue is there", |app| labelling(app).queue.len() == 12);
    settle(&mut world);
    world
}

fn labelling(app: &App) -> &Labelling {
    app.desk().labelling().shown().unwrap()
}

fn current(world: &World) -> ItemId {
    labelling(world.app()).current().unwrap()
}

fn label_of(world: &World, id: ItemId) -> Option<String> {
    world.state().image(id).unwrap().label().map(str::to_owned)
}

fn settle(world: &mut World) {
    world.until("the advisers have thought", |app| {
        let labelling = labelling(app);
        labelling.is_arranged && !labelling.is_computing && !labelling.is_saving
    });
}

/// Waits until what is shown counts as read: keys pressed sooner are ignored.
fn read(world: &mut World) {
    world.harness.run_steps(4);
}

/// Writes a class by the keyboard alone: the first letter opens the field, or Tab does where that
/// letter is a key.
fn write(world: &mut World, class: &str) {
    if class.starts_with('x') {
        world.key(Key::Tab);
    }
    // The first two letters come at once.
    for part in [&class[..1], &class[1..2]] {
        world.harness.event(egui::Event::Text(part.to_owned()));
    }
    world.step();
    world.harness.event(egui::Event::Text(class[2..].to_owned()));
    world.step();
    let before = current(world);
    world.key(Key::Enter);
    world.until("it is labelled", |app| labelling(app).current() != Some(before));
    settle(world);
}

#[test]
fn an_image_of_none_of_the_classes_leaves_the_queue_until_there_is_a_new_one() {
    let mut world = desk();
    write(&mut world, "ant");
    let other = current(&world);
    write(&mut world, "bee");
    world.ctrl(Key::Z);
    world.until("it is back", |app| labelling(app).current() == Some(other));
    settle(&mut world);
    read(&mut world);
    world.harness.key_press_modifiers(egui::Modifiers::SHIFT, Key::X);
    world.until("it has left", |app| !labelling(app).queue.contains(&other));
    settle(&mut world);
    assert_eq!(world.state().image(other).unwrap().rejected, ["ant", "bee", "cat"].map(str::to_owned).into());
    // It also stays away when the queue is filled anew.
    world.run(Command::LabelFrom(Some(std::sync::Arc::new(vec![ItemId(9)])), LabelOrder::Folder));
    world.run(Command::LabelFrom(None, LabelOrder::Folder));
    world.until("the queue is there", |app| labelling(app).queue.len() == 10);
    assert!(!labelling(world.app()).queue.contains(&other));
    world.run(Command::NewClass("dog".into()));
    world.until("it comes back with a new class", |app| labelling(app).queue.contains(&other));
    settle(&mut world);
    // By the button, and taken back.
    world.run(Command::TakeUp(other));
    settle(&mut world);
    read(&mut world);
    world.click("None of these");
    world.until("it has left", |app| !labelling(app).queue.contains(&other));
    settle(&mut world);
    world.key(Key::Backspace);
    world.until("it is back", |app| labelling(app).current() == Some(other));
}

#[test]
fn rejecting_the_only_class_leaves_the_image_to_be_named() {
    let mut world = desk();
    for class in ["bee", "cat"] {
        world.run(Command::DeleteClass(class.into()));
    }
    world.until("one class is left", |app| app.desk().state().unwrap().classes().len() == 1);
    write(&mut world, "ant");
    let id = current(&world);
    assert!(world.shows("the only class so far") && !world.shows("ant, 100 %"));
    read(&mut world);
    world.key(Key::X);
    world.until("it is rejected", |app| app.desk().state().unwrap().image(id).unwrap().rejected.contains("ant"));
    settle(&mut world);
    assert_eq!(current(&world), id);
    let keys = labelling(world.app()).statistics().keys;
    assert!(keys.pressed > keys.typing && world.shows("Keys saved") && !world.shows("-1"), "{keys:?}");
    write(&mut world, "bee");
    assert_eq!(label_of(&world, id).as_deref(), Some("bee"));
}

#[test]
fn everything_is_labelled_without_a_mouse() {
    let mut world = desk();
    assert!(world.shows("No suggestion") && world.shows("12 images without a class"));
    let first = current(&world);
    write(&mut world, "ant");
    assert_eq!(label_of(&world, first).as_deref(), Some("ant"));
    assert!(world.shows("100 % likely") && world.shows("Skip"));
    // A new class; then one of those that are there, begun and completed.
    world.run(Command::TakeUp(ItemId(5)));
    settle(&mut world);
    write(&mut world, "bee");
    world.run(Command::TakeUp(ItemId(6)));
    settle(&mut world);
    write(&mut world, "be");
    assert_eq!(label_of(&world, ItemId(6)).as_deref(), Some("bee"), "a class that begins so is meant");
    // Enter accepts what is shown.
    world.run(Command::TakeUp(ItemId(7)));
    settle(&mut world);
    let best = |world: &World| labelling(world.app()).ranking(world.state(), current(world))[0].0.clone();
    let shown = best(&world);
    read(&mut world);
    world.key(Key::Enter);
    world.until("it is labelled", |app| app.desk().state().unwrap().image(ItemId(7)).unwrap().label().is_some());
    assert_eq!(label_of(&world, ItemId(7)), Some(shown));
    settle(&mut world);
    // X rejects: the other class is suggested instead.
    let (id, refused) = (current(&world), best(&world));
    read(&mut world);
    world.key(Key::X);
    world.until("it is rejected", |app| app.desk().state().unwrap().image(id).unwrap().rejected.contains(&refused));
    settle(&mut world);
    assert!(current(&world) == id && best(&world) != refused);
    // Digits choose, Space skips, Backspace goes back.
    read(&mut world);
    let chosen = best(&world);
    world.key(Key::Num1);
    world.until("it is labelled", |app| app.desk().state().unwrap().image(id).unwrap().label().is_some());
    assert_eq!(label_of(&world, id), Some(chosen));
    settle(&mut world);
    let skipped = current(&world);
    world.key(Key::Space);
    assert_ne!(current(&world), skipped);
    assert_eq!(labelling(world.app()).queue.last(), Some(&skipped));
    world.key(Key::Backspace);
    world.until("it is back", |app| labelling(app).current() == Some(skipped));
    world.key(Key::Backspace);
    world.until("the label is taken back", |app| app.desk().state().unwrap().image(id).unwrap().label().is_none());
    settle(&mut world);
    assert_eq!(current(&world), id, "the desk goes back to its image");
    let statistics = labelling(world.app()).statistics();
    assert_eq!(statistics.labelled, 4, "what was taken back does not count");
    assert!(statistics.keys.typing == 16 && statistics.keys.pressed == 4 + 4 + 3 + 1 + 1, "{statistics:?}");
}

#[test]
fn suggestions_learn_and_one_undo_reverts_them() {
    let mut world = desk();
    for id in [1, 2, 5, 6, 9] {
        let class = ["ant", "bee", "cat"][(id - 1) / 4];
        world.run(Command::LabelNext(vec![ItemId(id as u32)], class.into(), 1));
        world.until("it is labelled", |app| app.desk().state().unwrap().image(ItemId(id as u32)).unwrap().label().is_some());
        settle(&mut world);
    }
    assert_eq!(labelling(world.app()).learned, 5);
    assert!(world.shows("Learned from") && world.shows("Who says what") && world.shows("Nearest image"));
    let suggestion = labelling(world.app()).suggestions[&current(&world)].clone();
    // What another label changes is taken back with it.
    world.run(Command::LabelNext(vec![ItemId(10)], "dog".into(), 4));
    world.until("it is labelled", |app| app.desk().state().unwrap().class("dog").is_some());
    settle(&mut world);
    assert_eq!(labelling(world.app()).learned, 6);
    world.ctrl(Key::Z);
    world.until("it is undone", |app| app.desk().state().unwrap().class("dog").is_none());
    settle(&mut world);
    let labelling = labelling(world.app());
    assert_eq!((labelling.learned, labelling.current(), labelling.acts.len()), (5, Some(ItemId(10)), 5));
    assert_eq!(labelling.suggestions[&suggestion.image].ranking, suggestion.ranking, "as if it had never been said");
    // A class that goes while it is in use, and one that joins another.
    world.run(Command::RenameClass("bee".into(), "ant".into()));
    world.run(Command::DeleteClass("cat".into()));
    world.until("it is gone", |app| app.desk().state().unwrap().class("cat").is_none());
    settle(&mut world);
    let id = current(&world);
    let names: Vec<String> = self::labelling(world.app()).ranking(world.state(), id).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["ant"]);
    assert!(self::labelling(world.app()).queue.contains(&ItemId(9)), "what lost its class is to be labelled again");
}

#[test]
fn many_are_labelled_at_once_and_a_selection_is_gone_through() {
    let mut world = small();
    // By what the network sees, the three are not all suggested one class.
    world.run(Command::UseLearnedFeatures(false));
    world.harness.state_mut().view_mut().selection.set([ItemId(1), ItemId(2), ItemId(5)]);
    world.ctrl_shift(Key::L);
    world.until("they are on the desk", |app| app.desk().labelling().shown().is_some_and(|labelling| labelling.queue.len() == 3));
    assert_eq!(world.harness.state_mut().view_mut().page, Page::Label);
    settle(&mut world);
    assert!(world.shows("3 of 3 chosen images left") && world.shows("labelled "));
    world.ctrl(Key::B);
    // Images that have another class than the suggested one are left out at first.
    let batch = |world: &mut World| world.harness.state_mut().pages_mut().label.batch.clone().unwrap();
    let begun = batch(&mut world);
    assert!(begun.images[1..].iter().all(|id| begun.left_out.contains(id) || label_of(&world, *id).as_ref() == Some(&begun.class)));
    let own = world.harness.state_mut().pages_mut().label.batch.as_mut().unwrap();
    (own.class, own.is_written) = ("gnu".into(), true);
    world.click("Take all in");
    world.step();
    assert!(world.shows("Label 3 images") && world.shows("3 images of another class by now"));
    // Keys go from image to image, and Space leaves one out.
    let place = begun.images.iter().position(|id| *id == ItemId(2)).unwrap();
    world.key(Key::Home);
    for _ in 0..place {
        world.key(Key::ArrowRight);
    }
    world.key(Key::Space);
    assert_eq!(batch(&mut world).left_out.into_iter().collect::<Vec<_>>(), [ItemId(2)]);
    assert!(world.shows("Label 2 images"));
    world.key(Key::Enter);
    world.until("they are labelled", |app| labelling(app).queue == [ItemId(2)]);
    assert_eq!((label_of(&world, ItemId(5)), label_of(&world, ItemId(2))), (Some("gnu".into()), Some("ant".into())));
    settle(&mut world);
    // The same class again changes nothing in the library, and still takes the image out of the
    // queue.
    world.run(Command::LabelNext(vec![ItemId(2)], "ant".into(), 1));
    world.until("all are done", |app| labelling(app).queue.is_empty());
    assert!(world.shows("All chosen images are labelled"));
    assert!(matches!(labelling(world.app()).acts.last().unwrap().kind, LabelActKind::Label(_)));
    world.click("Label all images without a class");
    world.step();
    assert!(world.shows("Every image has a class"));
    world.ctrl(Key::Z);
    world.until("one act is taken back", |app| app.desk().state().unwrap().image(ItemId(2)).unwrap().user == UserLabel::Unsaid);
    world.ctrl(Key::Z);
    world.until("the many are one act", |app| app.desk().state().unwrap().class("gnu").is_none());
}

#[test]
fn labels_are_reviewed_and_kept_or_changed_by_one_key() {
    let folder = tempfile::tempdir().unwrap();
    class_folders(folder.path(), &["ant", "bee"], 10);
    // Pictures of one class that are labelled as the other.
    let wrong =
        [("ant/000.png", "bee/900.png"), ("ant/001.png", "bee/901.png"), ("ant/002.png", "bee/902.png"), ("bee/000.png", "ant/900.png")];
    for (from, to) in wrong {
        let mut picture = image::open(folder.path().join(from)).unwrap().to_rgb8();
        picture.put_pixel(0, 0, image::Rgb([1, 2, 3]));
        picture.save(folder.path().join(to)).unwrap();
    }
    let mut world = World::on(folder.path());
    world.until("the recogniser is judged", |app| app.desk().recognising().report().is_some() && !app.desk().jobs().is_busy());
    world.ctrl(Key::R);
    world.until("it is reviewed", |app| app.desk().labelling().shown().is_some_and(|labelling| labelling.review.reviewed.is_some()));
    let doubts = |world: &World| labelling(world.app()).review.doubts.clone();
    let found = doubts(&world);
    assert!(!found.is_empty());
    assert!(world.shows("labels doubted") && world.shows("Rather:") && world.shows("Most like it"));
    let first = found[0].clone();
    world.key(Key::Num1);
    world.until("it is changed", |app| labelling(app).review.doubts.len() < found.len());
    assert_eq!(label_of(&world, first.image), Some(first.instead[0].0.clone()));
    world.ctrl(Key::Z);
    world.until("it is doubted again", |app| labelling(app).review.doubts.len() == found.len());
    assert_eq!(world.state().image(first.image).unwrap().user, UserLabel::Unsaid);
    world.key(Key::Enter);
    world.until("it is kept", |app| labelling(app).review.doubts.len() < found.len());
    // A key pressed before the next image could be seen does not apply to it.
    let now = world.harness.ctx.input(|input| input.time) + 1.0;
    world.harness.input_mut().time = Some(now);
    world.key(Key::Space);
    let left = doubts(&world).len();
    assert!(left > 1, "{left}");
    for key in [Key::Enter, Key::A, Key::Num1] {
        world.key(key);
        world.rest();
        assert_eq!(doubts(&world).len(), left, "{key:?}");
    }
    world.harness.input_mut().time = Some(now + 1.0);
    world.step();
    world.key(Key::Enter);
    world.until("it is kept", |app| labelling(app).review.doubts.len() < left);
    world.harness.input_mut().time = None;
    let image = world.state().image(first.image).unwrap();
    assert!(image.user == UserLabel::Class(first.label.0.clone()) && image.rejected.contains(&first.instead[0].0));
    world.run(Command::Review);
    world.rest();
    assert!(doubts(&world).iter().all(|doubt| doubt.image != first.image), "what was confirmed is not doubted again");
    // It is kept with the library, and told of as one of other labels once these have changed.
    let (found, is_stale) = (doubts(&world), |app: &App| labelling(app).review.is_stale);
    assert!(!is_stale(world.app()));
    world.run(Command::Close);
    world.run(Command::Open(folder.path().to_owned()));
    world.until("it is open again", |app| app.desk().state().is_some());
    world.ctrl(Key::Num2);
    world.until("the review is back", |app| app.desk().labelling().shown().is_some_and(|labelling| labelling.review.reviewed.is_some()));
    world.rest();
    assert_eq!((doubts(&world), is_stale(world.app())), (found, false));
    world.run(Command::Label(vec![first.image], UserLabel::Class("cat".into())));
    world.until("a label has changed", is_stale);
    world.click("Review");
    assert!(world.shows("Labels have changed since this was measured."));
}

#[test]
fn a_class_that_is_gone_or_rejected_is_not_given() {
    let mut world = desk();
    let give = |world: &mut World| {
        world.run(Command::LabelNext(vec![ItemId(1)], "gnu".into(), 1));
        world.until("it is labelled", |app| app.desk().state().unwrap().class("gnu").is_some());
        settle(world);
    };
    give(&mut world);
    // A quick prediction counts unless its class was rejected since.
    let id = current(&world);
    let mut own = labelling(world.app()).clone();
    own.suggestions.clear();
    let mut said = |class: &str| {
        own.glances.insert(id, (class.to_owned(), 0.9));
        own.likeliest(world.state(), id).map(|(class, _)| class)
    };
    assert_eq!((said("gnu"), said("nothing of the kind")), (Some("gnu".to_owned()), None));
    // A class that goes while many are chosen.
    world.ctrl(Key::B);
    let batch = |world: &mut World| world.harness.state_mut().pages_mut().label.batch.clone();
    let begun = batch(&mut world).unwrap();
    assert!(begun.class == "gnu" && begun.images.len() > 1, "{begun:?}");
    world.ctrl(Key::Z);
    world.until("it is undone", |app| app.desk().state().unwrap().class("gnu").is_none());
    world.key(Key::Enter);
    world.rest();
    assert!(world.state().class("gnu").is_none() && batch(&mut world).is_some_and(|batch| batch.class.is_empty()));
    world.key(Key::Escape);
    // With Caps Lock X is the same key; with others a class begins.
    give(&mut world);
    read(&mut world);
    let typed = |world: &mut World| world.harness.state_mut().pages_mut().label.field.text.clone();
    world.harness.event(egui::Event::Text("X".into()));
    world.step();
    assert_eq!(typed(&mut world), "");
    world.harness.event(egui::Event::Text("B".into()));
    world.step();
    assert_eq!(typed(&mut world), "B");
    world.key(Key::Escape);
    world.step();
    // The only class there is, rejected: nothing is suggested, and nothing is given; it can be
    // taken back.
    let id = current(&world);
    let is_rejected = move |app: &App| app.desk().state().unwrap().image(id).unwrap().rejected.contains("gnu");
    read(&mut world);
    world.key(Key::X);
    world.until("it is rejected", is_rejected);
    settle(&mut world);
    world.ctrl(Key::B);
    world.key(Key::Enter);
    world.rest();
    assert_eq!(label_of(&world, id), None);
    world.key(Key::Escape);
    assert!(world.shows("You rejected"));
    world.click("gnu  ×");
    world.until("it is taken back", move |app| !is_rejected(app));
}

#[test]
fn enter_in_the_field_means_one_thing() {
    let mut world = small();
    world.until("the recogniser is judged", |app| app.desk().recognising().report().is_some() && !app.desk().jobs().is_busy());
    // At the desk, Tab and Enter in the empty field give nothing.
    world.run(Command::Label(vec![ItemId(1)], UserLabel::NoClass));
    world.ctrl(Key::Num2);
    world.until("it is on the desk", |app| app.desk().labelling().shown().is_some_and(|labelling| labelling.queue.len() == 1));
    settle(&mut world);
    read(&mut world);
    world.key(Key::Tab);
    world.key(Key::Enter);
    world.rest();
    assert_eq!(label_of(&world, ItemId(1)), None);
    // In a batch, a class is written before the images are given it.
    world.ctrl(Key::B);
    world.harness.event(egui::Event::Text("gnu".into()));
    world.step();
    world.key(Key::Enter);
    world.rest();
    let batch = world.harness.state_mut().pages_mut().label.batch.clone();
    assert_eq!((batch.map(|batch| batch.class), label_of(&world, ItemId(1))), (Some("gnu".to_owned()), None));
    // Tab goes to the field, and the button means what is written in it.
    world.key(Key::Tab);
    world.harness.event(egui::Event::Text("yak".into()));
    world.step();
    assert_eq!(world.harness.state_mut().pages_mut().label.field.text, "yak");
    world.press("Label 1 image");
    world.until("they are labelled", |app| app.desk().state().unwrap().class("yak").is_some());
    assert!(world.state().class("gnu").is_none());
    world.ctrl(Key::Z);
    world.until("it is undone", |app| app.desk().state().unwrap().class("yak").is_none());
    settle(&mut world);
    world.ctrl(Key::B);
    world.harness.event(egui::Event::Text("gnu".into()));
    world.step();
    world.key(Key::Enter);
    world.rest();
    world.key(Key::Enter);
    world.until("now they are", |app| app.desk().state().unwrap().class("gnu").is_some());
    // A new class is not taken for one that contains it; one that begins so is meant.
    world.run(Command::Label(vec![ItemId(2)], UserLabel::Class("elephant".into())));
    world.run(Command::Label(vec![ItemId(1), ItemId(3)], UserLabel::NoClass));
    world.run(Command::RenameClass("ant".into(), "emmet".into()));
    world.until("two are to be labelled", |app| labelling(app).queue.len() == 2);
    settle(&mut world);
    let first = current(&world);
    write(&mut world, "ant");
    assert_eq!(label_of(&world, first).as_deref(), Some("ant"));
    // In the review, a class that was written is no confirmation.
    world.ctrl(Key::R);
    world.until("it is reviewed", |app| labelling(app).review.reviewed.is_some());
    let doubt = labelling(world.app()).review.doubts.first().cloned().unwrap();
    world.rest();
    world.harness.event(egui::Event::Text("gnu".into()));
    world.step();
    world.key(Key::Enter);
    world.until("it is labelled", |app| app.desk().state().unwrap().image(doubt.image).unwrap().label() == Some("gnu"));
    assert!(world.state().image(doubt.image).unwrap().rejected.is_empty());
}

#[test]
fn letters_that_come_with_enter_in_a_slow_frame_are_part_of_the_class() {
    let mut world = desk();
    let enter = |pressed| Event::Key { key: Key::Enter, physical_key: None, pressed, repeat: false, modifiers: Modifiers::NONE };
    for frames in [["o", "wl\n"].as_slice(), &["k", "e", "a\n"], &["emu\n"], &["g", "nu\n"]] {
        let first = current(&world);
        for letters in frames {
            for letter in letters.trim_end().chars() {
                world.harness.input_mut().events.push(Event::Text(letter.into()));
            }
            if letters.ends_with('\n') {
                world.harness.input_mut().events.extend([enter(true), enter(false)]);
            }
            world.harness.step();
        }
        world.until("it is labelled", |app| labelling(app).current() != Some(first));
        assert_eq!(label_of(&world, first).as_deref(), Some(frames.concat().trim_end()));
        assert_eq!(world.harness.state_mut().pages_mut().label.field.text, "", "{frames:?}");
        settle(&mut world);
    }
}

#[test]
fn a_class_is_written_as_it_is_typed() {
    let mut world = desk();
    let letters = |world: &mut World, word: &str| {
        for letter in word.chars() {
            world.harness.event(egui::Event::Text(letter.to_string()));
            world.step();
        }
    };
    // A text is begun and dropped, then begun anew.
    letters(&mut world, "do");
    world.key(Key::Home);
    world.key(Key::Escape);
    let first = current(&world);
    letters(&mut world, "cow");
    assert_eq!(world.harness.state_mut().pages_mut().label.field.text, "cow");
    world.key(Key::Escape);
    // Nothing is suggested yet that X could reject.
    letters(&mut world, "xenon");
    assert_eq!(world.harness.state_mut().pages_mut().label.field.text, "xenon");
    world.key(Key::Enter);
    world.until("it is labelled", |app| labelling(app).current() != Some(first));
    assert_eq!(label_of(&world, first).as_deref(), Some("xenon"));
    settle(&mut world);
    // All keys are shown here too.
    world.harness.event(egui::Event::Text("?".into()));
    world.key(Key::Questionmark);
    assert!(matches!(world.harness.state_mut().view_mut().modal, Some(Modal::Keys)));
    assert!(world.harness.state_mut().pages_mut().label.field.text.is_empty());
    world.key(Key::Escape);
    // Unfinished text does not carry over to the next image.
    letters(&mut world, "gn");
    world.harness.state_mut().pages_mut().label.field.completion = 0;
    world.harness.ctx.memory_mut(|memory| memory.stop_text_input());
    world.step();
    world.key(Key::Space);
    assert!(world.harness.state_mut().pages_mut().label.field.text.is_empty());
}

#[test]
fn a_key_that_is_held_says_one_thing() {
    let mut world = desk();
    for id in [1, 5] {
        world.run(Command::LabelNext(vec![ItemId(id)], ["ant", "bee"][usize::from(id > 4)].into(), 1));
        world.until("it is labelled", |app| app.desk().state().unwrap().image(ItemId(id)).unwrap().label().is_some());
        settle(&mut world);
    }
    read(&mut world);
    let before = labelling(world.app()).queue.len();
    let enter = |repeat| egui::Event::Key { key: Key::Enter, physical_key: None, pressed: true, repeat, modifiers: egui::Modifiers::NONE };
    world.harness.event(enter(false));
    for _ in 0..40 {
        world.harness.event(enter(true));
        world.step();
    }
    settle(&mut world);
    assert_eq!(labelling(world.app()).queue.len(), before - 1);
    // What was skipped comes after all others, in every order.
    for order in LabelOrder::ALL {
        world.run(Command::LabelFrom(None, order));
        settle(&mut world);
        let skipped = current(&world);
        world.key(Key::Space);
        settle(&mut world);
        assert_eq!(labelling(world.app()).queue.last(), Some(&skipped), "{order:?}");
    }
}

#[test]
fn what_cannot_be_labelled_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("nothing.tessera");
    Session::new(1, 0).unwrap().open_or_create_library(&empty).unwrap().close().unwrap();
    let mut world = World::new(&[]);
    world.run(Command::Open(empty));
    world.until("it is open", |app| app.desk().state().is_some() && !app.desk().jobs().is_busy());
    world.ctrl(Key::Num2);
    world.step();
    assert!(world.shows("No images yet"));
    world.ctrl(Key::B);
    world.step();
    assert!(!world.harness.state_mut().pages_mut().label.wants_batch, "there is nothing to label, now or later");
    world.key(Key::Enter);
    world.key(Key::X);
    world.key(Key::Backspace);
    world.key(Key::Space);
    world.run(Command::LabelNext(vec![ItemId(7)], "ant".into(), 1));
    world.until("it is refused", |app| app.desk().notices().log().iter().any(|notice| notice.words.contains('7')));
    assert!(!labelling(world.app()).is_saving, "and something else can be said");
}

#[test]
fn class_folders_are_told_before_they_are_written() {
    let mut world = World::new(&["out"]);
    let folder = tempfile::tempdir().unwrap();
    class_folders(folder.path(), &["ant", "bee"], 3);
    world.run(Command::Open(folder.path().to_owned()));
    world.until("the images are there", |app| {
        app.desk().state().is_some_and(|state| state.images().count() == 6) && !app.desk().jobs().is_busy()
    });
    let out = world.path("out");
    world.ctrl(Key::K);
    world.type_into("Command", "folder for each class");
    world.key(Key::Enter);
    world.step();
    world.harness.state_mut().view_mut().draft.text = out.to_string_lossy().into_owned();
    world.key(Key::Enter);
    world.until("it is counted", |app| app.desk().exporting().plan().is_some_and(|(_, plan)| plan.is_some()));
    assert!(world.shows("6 images of the whole library in 2 folders") && !out.exists());
    world.click("Link to the images");
    world.until("it is written", |app| {
        app.desk().notices().log().iter().any(|notice| notice.words.contains("Wrote 6 images of 2 classes of the whole library"))
    });
    let link = out.join("ant/000.png");
    assert!(link.symlink_metadata().unwrap().is_symlink() == cfg!(unix));
    assert_eq!(std::fs::read(&link).unwrap(), std::fs::read(folder.path().join("ant/000.png")).unwrap());
    world.harness.state_mut().view_mut().open(Modal::ClassFolders);
    world.run(Command::PreviewExport(Some(out)));
    world.until("it is counted", |app| app.desk().exporting().plan().is_some_and(|(_, plan)| plan.is_some()));
    assert!(world.shows("a folder with things in it"));
    world.key(Key::Escape);
    world.until("it is forgotten", |app| app.desk().exporting().plan().is_none());
}

/// Typing a class that begins with X, without Tab, rejects the suggestion and labels nothing.
#[test]
fn letters_behind_x_are_not_meant_for_what_is_suggested_next() {
    let mut world = desk();
    write(&mut world, "ant");
    settle(&mut world);
    read(&mut world);
    let (first, n) = (current(&world), labelling(world.app()).queue.len());
    // Each event takes a quarter of a second here.
    let key = |key, pressed| egui::Event::Key { key, physical_key: None, pressed, repeat: false, modifiers: egui::Modifiers::NONE };
    let letter = |text: &str| egui::Event::Text(text.to_owned());
    for event in [key(Key::X, true), letter("i"), letter("r"), key(Key::Enter, true), key(Key::X, false), key(Key::Enter, false)] {
        world.harness.event(event);
        world.harness.step();
    }
    world.until("it is rejected", |app| app.desk().state().unwrap().image(first).unwrap().rejected.contains("ant"));
    settle(&mut world);
    assert_eq!(label_of(&world, first), None);
    assert_eq!(labelling(world.app()).queue.len(), n);
    assert!(world.state().class("ir").is_none() && world.harness.state_mut().pages_mut().label.field.text.is_empty());
    assert!(world.harness.state_mut().view_mut().toasts.iter().any(|toast| toast.notice.words.contains("Tab or /")));
    // A moment later letters begin a class again.
    read(&mut world);
    write(&mut world, "bee");
    assert!(world.state().class("bee").is_some());
}
