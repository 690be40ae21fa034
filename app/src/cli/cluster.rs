//! `tessera cluster`.

use std::sync::Mutex;

use anyhow::Result;
use serde_json::{Value, json};
use tessera_core::Error;
use tessera_core::error::display;
use tessera_core::ids::ItemId;
use tessera_core::library::bonds::{Bond, Bonds};
use tessera_core::library::clusters::{ClusterAim, ImageCluster, KeptClusters, unused, usual_clusters};
use tessera_core::library::event::{EventId, UserLabel};
use tessera_core::library::looks::Look;
use tessera_core::library::{Library, hold};
use tessera_core::plural::listed;

use super::Done;
use super::label::label_all;
use super::librarian::{Finder, Librarian, count};
use super::library_args::Cluster;
use super::search::check_look;
use crate::session::clusters::{NOT_FOLLOWED, write_clusters};

/// Iterations where none are asked for.
const ITERATIONS: u32 = 20;
/// The way out where kept clusters are hidden.
const SHOW_AGAIN: &str = "`tessera train LIBRARY --learned-features on` shows them again, and --again or --by finds others in their place";

pub(super) fn run(librarian: &Librarian<'_>, arguments: &Cluster) -> Result<Done> {
    if let Some((number, class)) = &arguments.name {
        return librarian.with(&arguments.library, |library| name(librarian, library, *number, class));
    }
    let library = librarian.open(&arguments.library)?;
    librarian.with_shared(library, |library| {
        check_look(&hold(library), arguments.by.as_ref())?;
        if hold(library).state().images().next().is_none() {
            let path = librarian.named(&arguments.library);
            return Err(Error::data(&path, "images to find clusters of", "none", "import a folder of images first").into());
        }
        let before = hold(library).clusters()?;
        let last = match &before {
            Some(kept) => Some(kept.aim()),
            None => hold(library).cluster_aim()?,
        };
        let is_other = |last: &ClusterAim| librarian.seed.is_some_and(|seed| seed != last.seed);
        let is_reseeded = arguments.merge.is_empty() && arguments.split.is_none() && last.as_ref().is_some_and(is_other);
        // Merging and splitting take none of these options.
        let is_any = arguments.by.is_none() && arguments.clusters.is_none() && !arguments.again && !is_reseeded;
        if is_any {
            check_shown(&hold(library))?;
        }
        // Vectors may have been taken away since.
        let is_there = |look: &Look| check_look(&hold(library), Some(look)).is_ok();
        let look = arguments.by.clone().or_else(|| last.as_ref().and_then(|last| last.look.clone()).filter(is_there));
        let takes_network = match &before {
            Some(kept) if is_any => kept.takes_network(),
            _ => look.as_ref().is_none_or(Look::takes_network),
        };
        if takes_network {
            librarian.complete(library)?;
        }
        let is_said = say(librarian, &mut hold(library), arguments)?;
        let changed = changed(librarian, library, arguments)?;
        let is_changed = is_said || changed.is_some();
        let load =
            |look: Option<&Look>| librarian.out.watched(librarian.session.progress(), || librarian.session.load_looks(library, look));
        let mut kept = if changed.is_some() { changed } else { hold(library).clusters()? };
        let aim = match (&kept, &last) {
            (Some(kept), _) if is_any => kept.aim(),
            (None, Some(last)) if is_any => last.clone(),
            // What is not said stays as it was.
            _ => {
                let clusters = arguments.clusters.map_or_else(|| last.as_ref().and_then(|last| last.clusters), |wanted| wanted.0);
                let seed = librarian.seed.or_else(|| last.as_ref().map(|last| last.seed)).unwrap_or_default();
                ClusterAim { look: Some(load(look.as_ref())?), clusters, seed }
            }
        };
        // Those that were found with these options are gone on with only where that is said.
        let is_same = |kept: &KeptClusters| is_any || kept.aim() == aim && hold(library).has_vectors_of(kept);
        let mut done = None;
        if let Some(kept) = kept.as_mut().filter(|kept| !is_changed && !arguments.again && is_same(kept)) {
            load(Some(&kept.look()))?;
            // Images that came since are assigned by their vectors.
            kept.follow(&hold(library));
            done = Some(kept.iterations()).filter(|_| is_any || !kept.is_outgrown());
        }
        let left = match (arguments.iterations, done) {
            (Some(iterations), _) => iterations.into(),
            (None, Some(_)) if is_any => 0,
            (None, done) => u64::from(ITERATIONS).saturating_sub(done.unwrap_or(0)),
        };
        if left == 0 && !is_any {
            librarian.out.note("Found before with these options; --iterations N goes on with them, --again begins anew");
        }
        let (kept, left_out) = match kept {
            Some(kept) if left == 0 => {
                let left_out = hold(library).state().images().count() - kept.len();
                (kept, left_out)
            }
            kept => {
                let kept = kept.filter(|_| !arguments.again);
                let find = || librarian.session.cluster(library, aim, kept.as_ref(), left as usize);
                let found = librarian.out.watched(librarian.session.progress(), find)?;
                (found.kept, found.left_out)
            }
        };
        let clusters = kept.describe(&hold(library));
        let mut missing = 0;
        if let Some(to) = &arguments.folders {
            let export = || librarian.session.export_clusters(library, &clusters, to, arguments.dry_run);
            let written = librarian.out.watched(librarian.session.progress(), export)?;
            missing = written.missing;
            let done = if arguments.dry_run { "would be copied" } else { "copied" };
            let (images, folders) = (count(written.n, "image"), count(written.folders.len(), "folder"));
            librarian.out.note(&format!("{images} {done} to {folders} in {}", display(to)));
            if missing > 0 {
                librarian.out.note(&format!("{} left out: their files are not there, or hold other bytes now", count(missing, "image")));
            }
        }
        let library = hold(library);
        if let Some(to) = &arguments.to {
            let rows = write_clusters(&library, &clusters, to)?;
            librarian.out.note(&format!("{} written to {}", count(rows, "row"), display(to)));
        }
        answer(librarian, &library, &kept, &clusters, left_out, arguments.k);
        Ok(if missing > 0 { Done::Partly } else { Done::Whole })
    })
}

/// Checks that no clusters were kept that learned features, which are off, take part in.
fn check_shown(library: &Library) -> Result<(), Error> {
    if !library.hides_clusters()? {
        return Ok(());
    }
    let (expected, found) = ("clusters without learned features, which are off", "those found last with learned features");
    Err(Error::data(library.folder(), expected, found, SHOW_AGAIN))
}

/// The kept clusters, merged or split where that is asked for, and kept so; they are gone on with
/// then.
fn changed(librarian: &Librarian<'_>, library: &Mutex<Library>, arguments: &Cluster) -> Result<Option<KeptClusters>, Error> {
    let found = match (arguments.split, &arguments.merge[..]) {
        (None, []) => return Ok(None),
        (Some(cluster), _) => cluster.to_string(),
        (None, clusters) => listed(clusters),
    };
    let name = if arguments.split.is_some() { "--split" } else { "--merge" };
    let expected = "numbers of clusters that `tessera cluster` told of";
    let Some(kept) = hold(library).clusters()? else { return Err(Error::Option { name, found, expected }) };
    librarian.out.watched(librarian.session.progress(), || librarian.session.load_looks(library, Some(&kept.look())))?;
    let session = librarian.session;
    let change = match arguments.split {
        Some(cluster) => session.on_threads(|| kept.split(library, cluster, session.progress()))?,
        None => kept.merged(&arguments.merge)?,
    };
    let words = change.words.clone();
    let (_, changed) = hold(library).change_clusters(&kept, change)?;
    librarian.out.note(&words);
    Ok(Some(changed))
}

/// Drops what was said of pairs of images, or says what is to be said, where that is asked for.
/// Returns whether it is.
fn say(librarian: &Librarian<'_>, library: &mut Library, arguments: &Cluster) -> Result<bool> {
    let mut finder = Finder::default();
    let mut pairs = |images: &[std::path::PathBuf]| -> Result<Vec<[ItemId; 2]>, Error> {
        images.chunks_exact(2).map(|pair| Ok([finder.find(library, &pair[0])?, finder.find(library, &pair[1])?])).collect()
    };
    let said = [(Bond::Together, pairs(&arguments.together)?), (Bond::Apart, pairs(&arguments.apart)?)];
    let mut checked = Bonds::default();
    said[0].1.iter().for_each(|pair| checked.say_together(pair));
    let before = checked.clone();
    said[1].1.iter().for_each(|pair| checked.say_apart(pair));
    if before.of(Bond::Together).ne(checked.of(Bond::Together)) {
        let expected = "pairs of which none is said to belong together and not to";
        return Err(Error::value("--together and --apart", expected, "images of which both are said").into());
    }
    if !arguments.drop_pairs && said.iter().all(|(_, pairs)| pairs.is_empty()) {
        return Ok(false);
    }
    let mut kept = library.clusters()?;
    let mut events: Vec<EventId> = Vec::new();
    let mut one = |library: &mut Library, say: &dyn Fn(&mut Library) -> Result<Option<EventId>, Error>| -> Result<()> {
        let (event, changed) = library.say_with_clusters(kept.take(), say)?;
        events.extend(event);
        kept = changed;
        Ok(())
    };
    if arguments.drop_pairs {
        one(library, &Library::drop_bonds)?;
    }
    for (bond, pairs) in &said {
        for pair in pairs {
            one(library, &|library| library.say_bond(pair, *bond))?;
        }
    }
    if events.is_empty() {
        let is_dropped = said.iter().all(|(_, pairs)| pairs.is_empty());
        librarian.out.note(if is_dropped { "There was nothing to drop" } else { "That was said before" });
    }
    for act in library.state().history().iter().filter(|act| events.contains(&act.id)) {
        librarian.out.note(&act.words);
    }
    Ok(!events.is_empty() || library.clusters()?.is_some_and(|kept| !library.follows_pairs(&kept)))
}

/// Labels the images of a cluster.
fn name(librarian: &Librarian<'_>, library: &mut Library, number: usize, class: &str) -> Result<Done> {
    check_shown(library)?;
    let kept = library.clusters()?;
    let cluster = kept.iter().flat_map(|kept| kept.describe(library)).find(|cluster| cluster.number == number);
    let Some(cluster) = cluster else {
        let expected = "the number of a cluster that `tessera cluster` told of";
        return Err(Error::value("cluster to name", expected, number.to_string()).into());
    };
    label_all(librarian, library, &cluster.images, &UserLabel::Class(class.to_owned()))
}

fn answer(librarian: &Librarian<'_>, library: &Library, kept: &KeptClusters, clusters: &[ImageCluster], left_out: usize, typical: usize) {
    let look = kept.look();
    librarian.out.answer(
        || {
            let tried: Vec<Value> = kept.tried().iter().map(|(clusters, likelihood)| json!([clusters, likelihood])).collect();
            let list: Vec<Value> = clusters.iter().map(|cluster| in_json(library, cluster, typical)).collect();
            json!({"by": look.name(), "clusters": kept.count(), "asked": kept.asked(), "iterations": kept.iterations(),
                "images": kept.len(), "left_out": left_out, "follows_pairs": library.follows_pairs(kept), "tried": tried, "list": list})
        },
        || {
            let (usual, odd) = clusters.split_at(usual_clusters(clusters));
            let mut lines = vec![format!(
                "{} of {} by {}, after {}",
                count(clusters.len(), "cluster"),
                count(kept.len(), "image"),
                look.words(),
                count(usize::try_from(kept.iterations()).unwrap_or(usize::MAX), "iteration")
            )];
            if let (None, false) = (kept.asked(), kept.tried().is_empty()) {
                let tried: Vec<String> = kept.tried().iter().map(|(clusters, _)| clusters.to_string()).collect();
                lines.push(format!("(the number that describes images best that took no part, of {})", tried.join(", ")));
            }
            lines.extend(unused(kept, clusters.len()).map(|words| format!("({words})")));
            if !library.follows_pairs(kept) {
                lines.push(format!("({NOT_FOLLOWED}; --iterations {ITERATIONS} follows it)"));
            }
            lines.push(String::new());
            lines.extend(usual.iter().map(|cluster| in_words(library, cluster)));
            if !odd.is_empty() {
                let images = odd.iter().map(|cluster| cluster.images.len()).sum();
                lines.push(format!(
                    "\nOddities: {} in {} far smaller than the others",
                    count(images, "image"),
                    count(odd.len(), "cluster")
                ));
                lines.extend(odd.iter().map(|cluster| in_words(library, cluster)));
            }
            if left_out > 0 {
                lines.push(format!("\n{} could not be compared by {}", count(left_out, "image"), look.words()));
            }
            lines.join("\n")
        },
    );
}

fn in_json(library: &Library, cluster: &ImageCluster, typical: usize) -> Value {
    let image = |id: &ItemId| {
        let image = library.state().image(*id);
        let path = image.and_then(|image| library.state().path_of(image));
        json!({"image": id.0, "path": path.map(|path| path.to_string_lossy().into_owned())})
    };
    let outliers = &cluster.images[cluster.images.len() - cluster.outliers..];
    json!({"cluster": cluster.number, "size": cluster.images.len(), "name": cluster.name, "spread": cluster.spread,
        "words": cluster.words.iter().map(|(word, share)| json!({"word": word, "share": share})).collect::<Vec<_>>(),
        "classes": cluster.classes.iter().map(|(class, images)| json!({"class": class, "images": images})).collect::<Vec<_>>(),
        "typical": cluster.images.iter().take(typical).map(image).collect::<Vec<_>>(),
        "outliers": outliers.iter().map(image).collect::<Vec<_>>()})
}

fn in_words(library: &Library, cluster: &ImageCluster) -> String {
    let name = cluster.name.as_ref().map(|_| format!("  {}", cluster.title())).unwrap_or_default();
    let words: Vec<&str> = cluster.words.iter().map(|(word, _)| word.as_str()).collect();
    let words = if words.is_empty() { String::new() } else { format!("  ({})", words.join(", ")) };
    let typical = cluster.images.first().and_then(|id| library.state().image(*id)).map(|image| image.name()).unwrap_or_default();
    let outliers = if cluster.outliers > 0 { format!(", {}", count(cluster.outliers, "outlier")) } else { String::new() };
    format!("{:>4}: {}{outliers}{name}{words}, such as {typical}", cluster.number, count(cluster.images.len(), "image"))
}
