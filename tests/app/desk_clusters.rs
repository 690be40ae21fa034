//! Clusters at the desk: found, stopped and gone on with, named, merged, told together and apart,
//! kept, and brought up to date.

use tessera::command::Command;
use tessera::job::JobKind;
use tessera::session::desk::Desk;
use tessera::session::desk::clusters::ClusterAnswer;
use tessera::session::desk::view::Tone;
use tessera_core::ids::ItemId;
use tessera_core::library::bonds::Bond;
use tessera_core::library::clusters::ClusterAim;
use tessera_core::library::event::{Caption, UserLabel};
use tessera_core::library::looks::Look;

use crate::desk::{desk, session, state, until};
use crate::world::World;

fn aim(clusters: Option<usize>) -> ClusterAim {
    ClusterAim { look: Some(Look::Appearance), clusters, ..ClusterAim::default() }
}

/// A desk on a folder of images, with the page of clusters in sight.
fn ready(world: &World) -> Desk {
    let mut desk = desk(session(world));
    desk.run(Command::Open(world.at("images")));
    until(&mut desk, "the images are there", |desk| {
        desk.state().is_some_and(|state| state.images().count() == 24) && !desk.jobs().is_busy()
    });
    desk.watch_clusters(true);
    until(&mut desk, "it is known that none are kept", |desk| desk.clusters().is_known());
    assert!(desk.clusters().answer().is_none());
    desk
}

/// The desk on the same library, which has lost its cache meanwhile.
fn without_cache(world: &World, desk: Desk) -> Desk {
    let folder = desk.folder().unwrap().to_owned();
    drop(desk);
    std::fs::remove_file(folder.join("cache.db")).unwrap();
    let mut desk = crate::desk::desk(session(world));
    desk.watch_clusters(true);
    desk.run(Command::Open(folder));
    desk
}

fn run(desk: &mut Desk, command: Command) {
    desk.run(command);
    until(desk, "the run has ended", |desk| !desk.jobs().is_running(&JobKind::FindClusters));
}

fn answer(desk: &Desk) -> &ClusterAnswer {
    desk.clusters().answer().unwrap()
}

fn labels(desk: &Desk) -> Vec<Option<String>> {
    state(desk).images().map(|image| image.label().map(str::to_owned)).collect()
}

#[test]
fn clusters_are_found_gone_on_with_and_kept() {
    let world = World::with_images();
    let mut desk = ready(&world);
    run(&mut desk, Command::FindClusters(aim(Some(2))));
    let found = answer(&desk);
    assert_eq!((found.kept.iterations(), found.kept.len(), found.left_out), (20, 24, 0));
    let mut all = found.all();
    all.sort();
    assert_eq!(all, state(&desk).images().map(|image| image.id).collect::<Vec<_>>(), "each image has one cluster");
    for place in 0..found.len() {
        assert!(found.images(place).iter().all(|id| found.place_of(*id) == Some(place)));
    }
    run(&mut desk, Command::FindClusters(aim(Some(2))));
    assert_eq!(answer(&desk).kept.iterations(), 40, "it goes on from there");
    let before = answer(&desk).all();
    let folder = desk.folder().unwrap().to_owned();
    drop(desk);
    let mut desk = crate::desk::desk(session(&world));
    desk.watch_clusters(true);
    desk.run(Command::Open(folder));
    until(&mut desk, "kept clusters are shown", |desk| desk.clusters().answer().is_some());
    assert_eq!((answer(&desk).kept.iterations(), answer(&desk).all()), (40, before));
    // Lost with the cache, they are found again as they were asked for.
    let mut desk = without_cache(&world, desk);
    until(&mut desk, "lost clusters are found again", |desk| {
        desk.clusters().answer().is_some() && !desk.jobs().is_running(&JobKind::FindClusters)
    });
    assert_eq!((answer(&desk).kept.aim(), answer(&desk).kept.iterations()), (aim(Some(2)), 20));
    // Left open, numbers are tried; another number begins anew.
    run(&mut desk, Command::FindClusters(aim(None)));
    let found = answer(&desk);
    assert!(!found.kept.tried().is_empty() && found.kept.asked().is_none());
    run(&mut desk, Command::FindClusters(aim(Some(25))));
    assert!(desk.clusters().failure().unwrap().contains("1 to 24"), "{:?}", desk.clusters().failure());
    assert!(answer(&desk).kept.asked().is_none(), "those before stay");
    run(&mut desk, Command::FindClusters(ClusterAim { look: Some(Look::Brought("own".into())), ..aim(None) }));
    assert!(desk.clusters().failure().unwrap().contains("none of 24 images with own"), "{:?}", desk.clusters().failure());
}

#[test]
fn a_run_is_stopped_and_goes_on() {
    let world = World::with_images();
    let mut desk = ready(&world);
    desk.run(Command::FindClusters(aim(Some(3))));
    let job = desk.jobs().of(&JobKind::FindClusters).unwrap();
    run(&mut desk, Command::Cancel(job.id));
    let stopped = desk.clusters().answer().map_or(0, |answer| answer.kept.iterations());
    assert!(stopped <= 20 && desk.clusters().failure().is_none(), "{stopped} {:?}", desk.clusters().failure());
    run(&mut desk, Command::FindClusters(aim(Some(3))));
    assert_eq!(answer(&desk).kept.iterations(), stopped + 20, "nothing was lost");
    // Another question while one is under way takes its place.
    desk.run(Command::FindClusters(aim(Some(4))));
    run(&mut desk, Command::FindClusters(aim(Some(5))));
    assert_eq!((answer(&desk).kept.asked(), answer(&desk).kept.iterations()), (Some(5), 20));
}

#[test]
fn naming_is_one_event_and_one_undo() {
    let world = World::with_images();
    let mut desk = ready(&world);
    run(&mut desk, Command::FindClusters(aim(Some(2))));
    let (images, acts, before) = (answer(&desk).images(0).to_vec(), state(&desk).history().len(), labels(&desk));
    assert!(images.len() > 2);
    desk.run(Command::Label(images.clone(), UserLabel::Class("kite".into())));
    until(&mut desk, "it has its name", |desk| answer(desk).clusters.iter().any(|cluster| cluster.name.as_deref() == Some("kite")));
    assert_eq!(state(&desk).history().len(), acts + 1);
    assert_eq!(labels(&desk).iter().filter(|label| label.as_deref() == Some("kite")).count(), images.len());
    run(&mut desk, Command::FindClusters(ClusterAim { seed: 7, ..aim(Some(2)) }));
    let count = |answer: &ClusterAnswer| -> usize {
        answer.clusters.iter().flat_map(|cluster| &cluster.classes).filter(|(class, _)| class == "kite").map(|(_, count)| count).sum()
    };
    until(&mut desk, "names survive a new run", |desk| count(answer(desk)) == images.len());
    desk.run(Command::Undo);
    until(&mut desk, "it has none again", |desk| count(answer(desk)) == 0);
    assert_eq!((labels(&desk), state(&desk).history().len()), (before, acts));
}

#[test]
fn clusters_are_merged_and_images_told_together_and_apart() {
    let world = World::with_images();
    let mut desk = ready(&world);
    run(&mut desk, Command::FindClusters(aim(Some(4))));
    let numbers: Vec<usize> = answer(&desk).clusters.iter().take(2).map(|cluster| cluster.number).collect();
    let typical: Vec<ItemId> = answer(&desk).clusters.iter().take(2).map(|cluster| cluster.images[0]).collect();
    run(&mut desk, Command::MergeClusters(numbers));
    let found = answer(&desk);
    assert_eq!((found.kept.count(), found.kept.asked()), (3, Some(3)));
    assert_eq!(found.kept.cluster_of(typical[0]), found.kept.cluster_of(typical[1]));
    assert_eq!(found.kept.iterations(), 40, "it went on from there");
    // The newest word holds.
    let before = found.pairs;
    assert!(before[0] > 1 && before[1] == 0);
    run(&mut desk, Command::SayBond(typical.clone(), Bond::Apart));
    let found = answer(&desk);
    assert_ne!(found.kept.cluster_of(typical[0]), found.kept.cluster_of(typical[1]));
    assert_eq!((found.kept.iterations(), found.pairs), (60, [0, 1]));
    run(&mut desk, Command::SayBond(typical.clone(), Bond::Together));
    let found = answer(&desk);
    assert_eq!(found.kept.cluster_of(typical[0]), found.kept.cluster_of(typical[1]));
    assert_eq!(found.pairs, [1, 0]);
    // It can be undone like any act.
    desk.run(Command::Undo);
    until(&mut desk, "the word before holds", |desk| answer(desk).pairs == [0, 1]);
    desk.run(Command::Redo);
    until(&mut desk, "the newest holds again", |desk| answer(desk).pairs == [1, 0]);
    // More images apart than there are clusters: that cannot be, and what is there stays.
    let (some, there): (Vec<ItemId>, _) = (answer(&desk).all().into_iter().take(5).collect(), answer(&desk).kept.clone());
    run(&mut desk, Command::SayBond(some, Bond::Apart));
    assert!(desk.clusters().failure().unwrap().contains("or more, which are enough"), "{:?}", desk.clusters().failure());
    assert_eq!(answer(&desk).kept, there);
    desk.run(Command::Undo);
    until(&mut desk, "it is taken back", |desk| answer(desk).pairs == [1, 0]);
    run(&mut desk, Command::MergeClusters(vec![1, 9]));
    assert!(desk.clusters().failure().unwrap().contains("clusters to merge"), "{:?}", desk.clusters().failure());
    // What was said of an image that is gone takes no part.
    desk.run(Command::Remove(vec![typical[0]]));
    until(&mut desk, "it has no cluster any more", |desk| answer(desk).place_of(typical[0]).is_none());
    let same = answer(&desk).kept.aim();
    run(&mut desk, Command::FindClusters(same));
    assert!(desk.clusters().failure().is_none() && answer(&desk).kept.len() == 23);
}

/// The images of each cluster, in order, whatever the clusters' numbers.
fn groups(desk: &Desk) -> Vec<Vec<ItemId>> {
    let found = answer(desk);
    let sorted = |place| {
        let mut images = found.images(place).to_vec();
        images.sort();
        images
    };
    let mut groups: Vec<Vec<ItemId>> = (0..found.len()).map(sorted).collect();
    groups.sort();
    groups
}

#[test]
fn undo_puts_clusters_back_as_they_were_and_redo_brings_the_others_again() {
    let world = World::with_images();
    let mut desk = ready(&world);
    run(&mut desk, Command::FindClusters(aim(Some(4))));
    let (found, asked) = (groups(&desk), answer(&desk).kept.asked());
    let numbers: Vec<usize> = answer(&desk).clusters.iter().take(2).map(|cluster| cluster.number).collect();
    let joined: Vec<ItemId> = [0, 1].into_iter().flat_map(|place| answer(&desk).images(place)).copied().collect();
    run(&mut desk, Command::MergeClusters(numbers));
    // However long it goes on, all of them stay together.
    for _ in 0..3 {
        let same = answer(&desk).kept.aim();
        run(&mut desk, Command::FindClusters(same));
        let places: Vec<Option<usize>> = joined.iter().map(|id| answer(&desk).place_of(*id)).collect();
        assert!(places[0].is_some() && places.iter().all(|place| *place == places[0]), "{places:?}");
    }
    let merged = groups(&desk);
    let is = |groups_then: &[Vec<ItemId>], clusters: usize| {
        let groups_then = groups_then.to_vec();
        move |desk: &Desk| answer(desk).kept.count() == clusters && groups(desk) == groups_then
    };
    desk.run(Command::Undo);
    until(&mut desk, "the four are back", is(&found, 4));
    assert_eq!((answer(&desk).kept.asked(), answer(&desk).pairs), (asked, [0, 0]));
    desk.run(Command::Redo);
    until(&mut desk, "they are merged again", is(&merged, 3));
    let number = answer(&desk).clusters[0].number;
    run(&mut desk, Command::SplitCluster(number));
    let split = groups(&desk);
    desk.run(Command::Undo);
    until(&mut desk, "the split is taken back", is(&merged, 3));
    desk.run(Command::Redo);
    until(&mut desk, "it is split again", is(&split, 4));
    desk.run(Command::Undo);
    desk.run(Command::Undo);
    until(&mut desk, "both are taken back", is(&found, 4));
    // So it is after the library was closed.
    let folder = desk.folder().unwrap().to_owned();
    drop(desk);
    let mut desk = crate::desk::desk(session(&world));
    desk.watch_clusters(true);
    desk.run(Command::Open(folder));
    until(&mut desk, "kept clusters are shown", |desk| desk.clusters().answer().is_some() && !desk.jobs().is_busy());
    assert_eq!(groups(&desk), found);
    desk.run(Command::Redo);
    until(&mut desk, "they are merged again", is(&merged, 3));
    // Going on at once, before those of before are shown, loses neither.
    let same = answer(&desk).kept.aim();
    desk.run(Command::Undo);
    run(&mut desk, Command::FindClusters(same));
    until(&mut desk, "there are four", |desk| answer(desk).kept.count() == 4 && answer(desk).pairs == [0, 0]);
    desk.run(Command::Redo);
    until(&mut desk, "they are merged again", |desk| answer(desk).kept.count() == 3);
}

#[test]
fn a_failure_is_told_until_something_else_is_done() {
    let world = World::with_images();
    let mut desk = ready(&world);
    run(&mut desk, Command::FindClusters(aim(Some(25))));
    assert!(desk.clusters().failure().is_some_and(|words| words.contains("1 to 24, the number of images")));
    let first = state(&desk).images().next().unwrap().id;
    desk.run(Command::Remove(vec![first]));
    until(&mut desk, "it is not told any more", |desk| desk.clusters().failure().is_none());
}

#[test]
fn a_cluster_is_split_into_two_that_stay_apart() {
    let world = World::with_images();
    let mut desk = ready(&world);
    run(&mut desk, Command::FindClusters(aim(Some(2))));
    let (number, before) = (answer(&desk).clusters[0].number, answer(&desk).images(0).to_vec());
    run(&mut desk, Command::SplitCluster(number));
    let found = answer(&desk);
    assert_eq!((found.kept.count(), found.kept.asked(), found.kept.iterations()), (3, Some(3), 40));
    let apart: Vec<_> = state(&desk).bonds().of(Bond::Apart).collect();
    assert_eq!(apart.len(), 1);
    let (one, other) = apart[0];
    assert!(before.contains(&one) && before.contains(&other));
    assert_ne!(found.kept.cluster_of(one), found.kept.cluster_of(other));
    run(&mut desk, Command::SplitCluster(7));
    assert!(desk.clusters().failure().unwrap().contains("cluster to split"), "{:?}", desk.clusters().failure());
    assert_eq!(answer(&desk).kept.count(), 3, "what is there stays");
}

#[test]
fn images_that_come_get_clusters_and_those_that_go_leave() {
    let world = World::with_images();
    let mut desk = ready(&world);
    run(&mut desk, Command::FindClusters(aim(Some(2))));
    world.picture("images/disc/disc_09_0_0_0_lt.png", 0, 9, 0);
    desk.run(Command::Rescan);
    until(&mut desk, "it has a cluster", |desk| answer(desk).kept.len() == 25 && !desk.jobs().is_busy());
    let new = state(&desk).images().last().unwrap().id;
    assert!(answer(&desk).place_of(new).is_some() && answer(&desk).left_out == 0);
    desk.run(Command::Remove(vec![new]));
    until(&mut desk, "it is gone", |desk| answer(desk).place_of(new).is_none());
    desk.run(Command::Undo);
    until(&mut desk, "it is back", |desk| answer(desk).place_of(new).is_some());
    // A run of what is there now.
    run(&mut desk, Command::FindClusters(aim(Some(2))));
    assert_eq!((answer(&desk).kept.len(), answer(&desk).kept.iterations()), (25, 40), "it goes on with all of them");
    // Where a quarter came, it does so by itself.
    (10..17).for_each(|number| drop(world.picture(&format!("images/disc/disc_{number}_0_0_0_lt.png"), 0, number, 0)));
    desk.run(Command::Rescan);
    until(&mut desk, "they are fitted, too", |desk| {
        let kept = &answer(desk).kept;
        (kept.len(), kept.iterations(), kept.is_outgrown()) == (32, 60, false) && !desk.jobs().is_busy()
    });
    desk.run(Command::Close);
    assert!(desk.clusters().answer().is_none() && !desk.clusters().is_known());
}

#[test]
fn images_that_come_get_clusters_while_no_page_shows_them() {
    let world = World::with_images();
    let mut desk = ready(&world);
    run(&mut desk, Command::FindClusters(aim(Some(2))));
    desk.watch_clusters(false);
    world.picture("images/disc/disc_09_0_0_0_lt.png", 0, 9, 0);
    desk.run(Command::Rescan);
    until(&mut desk, "it has a cluster", |desk| answer(desk).kept.len() == 25);
    // Also where the clusters were kept by an earlier run of the program.
    drop(desk);
    let mut desk = crate::desk::desk(session(&world));
    desk.run(Command::Open(world.at("images")));
    until(&mut desk, "it is open", |desk| desk.state().is_some() && !desk.jobs().is_busy());
    assert!(desk.clusters().answer().is_none(), "nobody asked");
    (10..17).for_each(|number| drop(world.picture(&format!("images/disc/disc_{number}_0_0_0_lt.png"), 0, number, 0)));
    desk.run(Command::Rescan);
    until(&mut desk, "they are fitted, too", |desk| {
        let kept = desk.clusters().answer().map(|answer| &answer.kept);
        kept.is_some_and(|kept| (kept.len(), kept.iterations(), kept.is_outgrown()) == (32, 40, false))
    });
}

#[test]
fn words_of_captions_are_told_where_they_tell_clusters_apart() {
    let world = World::with_images();
    let mut desk = ready(&world);
    run(&mut desk, Command::FindClusters(aim(Some(2))));
    assert!(answer(&desk).clusters.iter().all(|cluster| cluster.words.is_empty()));
    for (place, text) in [(0, "there is a kite"), (1, "there is a boat")] {
        for image in answer(&desk).images(place).to_vec().into_iter().skip(1) {
            desk.run(Command::Caption(image, vec![Caption { text: text.into(), by_user: true }]));
        }
    }
    // A share of all its images, also those without a caption; words of every caption say nothing.
    let n = answer(&desk).images(1).len();
    let wanted = [("boat".to_owned(), (n - 1) as f64 / n as f64)];
    until(&mut desk, "all captions are counted", |desk| answer(desk).clusters[1].words == wanted);
    assert!(answer(&desk).clusters[0].words.iter().all(|(word, _)| word == "kite"), "{:?}", answer(&desk).clusters[0].words);
}

#[test]
fn images_may_go_and_be_forgotten_while_clusters_are_found() {
    let world = World::with_images();
    let mut desk = ready(&world);
    for round in 0..6 {
        let last = state(&desk).images().last().unwrap().id;
        desk.run(Command::FindClusters(ClusterAim { seed: round, ..aim(Some(3)) }));
        desk.run(if round % 2 == 0 { Command::Forget(vec![last]) } else { Command::Remove(vec![last]) });
        until(&mut desk, "both are done", |desk| !desk.jobs().is_busy() && state(desk).images().count() == 23 - round as usize);
        until(&mut desk, "it has no cluster", |desk| {
            desk.clusters().answer().is_some_and(|answer| answer.place_of(last).is_none() && answer.kept.len() == 23 - round as usize)
        });
        assert!(desk.clusters().failure().is_none(), "{:?}", desk.clusters().failure());
    }
    assert!(desk.notices().log().iter().all(|notice| notice.tone != Tone::Problem), "{:?}", desk.notices().log());
}

#[test]
fn clusters_and_maps_by_the_network_go_with_the_switch() {
    let world = World::with_images();
    let mut desk = ready(&world);
    let by_network = ClusterAim { look: Some(Look::Network), ..aim(Some(2)) };
    run(&mut desk, Command::FindClusters(by_network));
    let found = answer(&desk).all();
    desk.watch_map(true);
    desk.run(Command::LayOutMap(Some(Look::Network)));
    let is_done = |desk: &Desk| desk.map().shown().is_some_and(|map| map.trust.is_some());
    until(&mut desk, "the map is done", |desk| is_done(desk) && desk.map().by() == Some(&Look::Network));
    let places = desk.map().shown().unwrap().places.clone();

    desk.run(Command::UseLearnedFeatures(false));
    until(&mut desk, "they are off", |desk| !desk.recognising().learned().is_on);
    assert!(desk.clusters().answer().is_none() && desk.clusters().is_hidden(), "at once");
    assert!(desk.map().shown().is_none() && desk.map().is_hidden(), "at once");
    until(&mut desk, "nothing goes on", |desk| !desk.jobs().is_busy() && !desk.jobs().is_running(&JobKind::LayOutMap));
    assert!(desk.clusters().answer().is_none() && desk.clusters().is_hidden(), "and for good");
    assert!(desk.map().shown().is_none());
    // Opened anew without them it is the same.
    let folder = desk.folder().unwrap().to_owned();
    drop(desk);
    let mut desk = crate::desk::desk(session(&world));
    desk.watch_clusters(true);
    desk.run(Command::Open(folder));
    until(&mut desk, "it is known that they are hidden", |desk| desk.clusters().is_hidden());
    assert!(desk.clusters().answer().is_none());

    desk.run(Command::UseLearnedFeatures(true));
    until(&mut desk, "the clusters are back", |desk| desk.clusters().answer().is_some());
    assert!(answer(&desk).all() == found && !desk.clusters().is_hidden());
    desk.watch_map(true);
    desk.run(Command::LayOutMap(Some(Look::Network)));
    until(&mut desk, "so is the map, as it was kept", |desk| desk.map().shown().is_some_and(|map| map.places == places));

    // A map whose vectors nobody chose is made without them.
    desk.run(Command::LayOutMap(None));
    // Until it is made the one before is shown.
    until(&mut desk, "the usual map is there", |desk| is_done(desk) && !desk.jobs().is_running(&JobKind::LayOutMap));
    assert!(desk.map().by().is_none());
    until(&mut desk, "it is", |desk| desk.map().shown().is_some_and(|map| map.by == Look::Network));
    desk.run(Command::UseLearnedFeatures(false));
    until(&mut desk, "they are off again", |desk| !desk.recognising().learned().is_on);
    assert!(desk.map().shown().is_none() && !desk.map().is_hidden());
    desk.watch_map(true);
    until(&mut desk, "it is made without", |desk| desk.map().shown().is_some_and(|map| map.by == Look::Appearance));
    assert!(!desk.map().is_hidden());
    // That was kept beside the one by the network, which is back.
    until(&mut desk, "it is done", is_done);
    desk.run(Command::UseLearnedFeatures(true));
    until(&mut desk, "they are on again", |desk| desk.recognising().learned().is_on);
    desk.run(Command::LayOutMap(Some(Look::Network)));
    until(&mut desk, "the map is as it was kept", |desk| desk.map().shown().is_some_and(|map| map.places == places));
}

#[test]
fn a_run_by_the_network_ends_with_the_switch() {
    let world = World::with_images();
    let mut desk = ready(&world);
    run(&mut desk, Command::FindClusters(aim(Some(2))));
    let before = answer(&desk).all();
    let by_network = |clusters| ClusterAim { look: Some(Look::Network), ..aim(Some(clusters)) };
    desk.run(Command::UseLearnedFeatures(false));
    desk.run(Command::FindClusters(by_network(3)));
    until(&mut desk, "they are off, and nothing runs", |desk| {
        !desk.recognising().learned().is_on && !desk.jobs().is_running(&JobKind::FindClusters) && !desk.jobs().is_busy()
    });
    assert!(desk.clusters().answer().is_none_or(|answer| !answer.kept.takes_network()), "nothing of the network is shown");
    desk.run(Command::FindClusters(aim(Some(2))));
    until(&mut desk, "others are found", |desk| desk.clusters().answer().is_some() && !desk.jobs().is_running(&JobKind::FindClusters));
    assert_eq!(answer(&desk).all().len(), before.len());
}

#[test]
fn clusters_follow_the_network_as_it_looks_again_at_images() {
    let world = World::with_images();
    let mut desk = ready(&world);
    run(&mut desk, Command::FindClusters(ClusterAim { look: Some(Look::Network), ..aim(Some(2)) }));
    assert_eq!(answer(&desk).kept.len(), 24);
    let mut desk = without_cache(&world, desk);
    until(&mut desk, "all are there again", |desk| {
        desk.clusters().answer().is_some_and(|answer| (answer.kept.len(), answer.left_out) == (24, 0))
    });
    assert!(answer(&desk).kept.takes_network());
}

#[test]
fn that_a_library_is_only_read_is_told_when_it_is_opened() {
    let world = World::with_images();
    let desk = ready(&world);
    let folder = desk.folder().unwrap().to_owned();
    drop(desk);
    let mut desk = crate::desk::desk(session(&world).reading_only(true));
    desk.run(Command::Open(folder));
    crate::desk::until_told(&mut desk, "The library is open read-only, as it was asked for");
}
