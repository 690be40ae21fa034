//! `tessera check`: finds damage in a library, and repairs what can be recomputed or restored.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use serde_json::json;
use tessera_core::Error;
use tessera_core::error::display;
use tessera_core::library::chain::{ChainSummary, HeadPlace, NotedHead};
use tessera_core::library::event::{Event, EventId};
use tessera_core::library::fork::{Fork, Side, fork_of, keep};
use tessera_core::library::health::InMemory;
use tessera_core::library::journal::{read, text_of};
use tessera_core::library::learned::LearnedFeatures;
use tessera_core::library::pair::WordsNetwork;
use tessera_core::library::repair::repair;
use tessera_core::library::{CACHE, Library};
use tessera_core::utc::utc;

use super::decode_worker::freedom;
use super::librarian::{Librarian, count};
use super::library_args::{Check, KeptSide};
use super::sandbox::Freedom;
use super::{AlreadyPrinted, Done};
use crate::session::library::{Target, what_is};

/// Acts of each of two histories that are printed one by one; the rest are counted.
const TOLD: usize = 10;
/// Times that a library is looked at and repaired.
const ROUNDS: usize = 3;

/// The findings of a check.
#[derive(Default)]
struct Findings {
    problems: Vec<String>,
    /// What is lost for good.
    lost: Vec<String>,
    /// Whether all problems are in the cache, which can be recomputed.
    is_cache: bool,
    /// What was repaired when the library was opened.
    mended: Vec<String>,
    /// Images that the recogniser lacks; all of them if it could not be read.
    missing: usize,
    /// What is said of them.
    unlearned: Option<Error>,
    /// The state of its learned features, if it could be read.
    learned: Option<LearnedFeatures>,
    /// The pair of encoders by which words find images, if one was chosen.
    pair: Option<WordsNetwork>,
    /// What it takes in memory, if it could be opened.
    memory: Option<InMemory>,
    /// Its two histories, where database and journal went apart.
    fork: Option<Fork>,
    /// Its history, if it could be read.
    chain: Option<ChainSummary>,
    /// Where the head that was asked for stands in it.
    noted: Option<HeadPlace>,
}

pub(super) fn run(librarian: &Librarian<'_>, arguments: &Check) -> Result<Done> {
    let folder = &librarian.named_itself(&arguments.library)?;
    let noted = arguments.head.as_ref().and_then(Option::as_ref);
    let mends = arguments.repair || arguments.keep.is_some();
    let look = || look(librarian, folder, noted, mends);
    let mut repaired = Vec::new();
    if mends {
        librarian.session.check_writable(folder)?;
    }
    if let Some(side) = arguments.keep {
        let side = match side {
            KeptSide::Database => Side::Database,
            KeptSide::Journal => Side::Journal,
        };
        let (told, other) = keep(folder, side, librarian.session.progress())?;
        repaired.extend(told);
        repaired.push(format!("the other history is saved as {}", display(&other)));
    }
    let mut looked = look()?;
    repaired.append(&mut looked.mended);
    let mut lost = std::mem::take(&mut looked.lost);
    // A damaged database may hide a damaged cache and the other way round, so each has its turn.
    for _ in 0..ROUNDS {
        if !arguments.repair || looked.problems.is_empty() {
            break;
        }
        let (after, mut done) = if looked.is_cache {
            make_cache_again(librarian, folder, looked, noted)?
        } else {
            make_database_again(librarian, folder, look)?
        };
        looked = after;
        let is_stuck = done.is_empty();
        repaired.append(&mut done);
        repaired.append(&mut looked.mended);
        lost.append(&mut looked.lost);
        if is_stuck {
            break;
        }
    }
    lost.append(&mut looked.problems);
    // What one look found, the next may find again.
    let mut told = BTreeSet::new();
    lost.retain(|words| told.insert(words.clone()));
    let told = noted.zip(looked.noted).zip(looked.chain.as_ref());
    let told = told.map(|((noted, place), chain)| (place, tell_head(noted, place, chain)));
    let is_sound = lost.is_empty();
    lost.extend(told.iter().filter(|(place, _)| place_of(*place).is_none()).map(|(_, words)| words.clone()));
    looked.problems = lost;
    let Findings { problems, learned, pair, fork, chain, unlearned, memory, .. } = &looked;
    let freedom = freedom();
    if let Some(unlearned) = unlearned {
        librarian.out.note(&unlearned.to_string());
    }
    librarian.out.answer(
        || {
            json!({"ok": problems.is_empty(), "problems": problems, "repaired": repaired,
            "head": chain.as_ref().map(|chain| chain.head.to_string()), "events": chain.as_ref().map(|chain| chain.events),
            "lost": chain.iter().flat_map(|chain| &chain.lost).map(|event| event.0).collect::<Vec<_>>(),
            "fork": fork.as_ref().map(|fork| json!({"shared": fork.shared, "database": acts(&fork.database),
                "journal": acts(&fork.journal)})),
            "noted": told.as_ref().map(|(place, words)| json!({"event": place_of(*place), "words": words})),
            "decoders_confined": freedom.is_some_and(Freedom::is_none),
            "learned_features": learned.map(|learned| json!({"on": learned.is_on, "recognises": learned.recognises,
                "seen": learned.seen, "images": learned.images, "missing": learned.images - learned.seen})),
            "words_network": pair.as_ref().map(|pair| json!({"name": pair.name, "hash": pair.hash, "seen": pair.seen,
                "images": pair.images})),
            "memory_bytes": memory.map(|memory| json!({"images": memory.images, "words": memory.words, "captions": memory.captions,
                "recogniser": memory.recogniser, "total": memory.total()}))})
        },
        || {
            let mut lines: Vec<String> = repaired.iter().map(|what| format!("Repaired: {what}")).collect();
            lines.extend(problems.iter().map(|problem| format!("Problem: {problem}")));
            if problems.is_empty() {
                let is_complete = unlearned.is_none();
                lines.push(if is_complete { "Checked: everything is as it should be" } else { "Checked: nothing is damaged" }.into());
            }
            lines.extend(fork.iter().flat_map(fork_in_words));
            if let Some(chain) = chain {
                if arguments.head.is_some() {
                    lines.push(format!("History: {}; its head is {}", count(chain.events, "event"), chain.head));
                }
                if !chain.lost.is_empty() {
                    lines.push(format!("Lost events: {}", numbers(&chain.lost)));
                }
            }
            lines.extend(told.iter().filter(|(place, _)| place_of(*place).is_some()).map(|(_, words)| words.clone()));
            lines.extend(learned.map(in_words));
            lines.extend(pair.as_ref().map(pair_in_words));
            lines.extend(memory.map(memory_in_words));
            lines.push(confinement(freedom).into());
            lines.join("\n")
        },
    );
    if problems.is_empty() {
        return Ok(Done::Whole);
    }
    let advice = if is_sound {
        "look for the noted head in other copies, and put back a backup whose history has it by `tessera backup LIBRARY --restore FROM`"
    } else if fork.is_some() {
        "name the history to go on with by `--keep`"
    } else if !arguments.repair {
        "`tessera check LIBRARY --repair` makes again what can be"
    } else {
        "copy the library's folder before anything else is done with it"
    };
    let error = Error::data(folder, "a library without problems", format!("{} of them", problems.len()), advice);
    librarian.out.complain(&error.to_string());
    Err(AlreadyPrinted(error).into())
}

/// The event after which a noted head stands in the history.
fn place_of(place: HeadPlace) -> Option<u64> {
    if let HeadPlace::After(event) = place { Some(event.0) } else { None }
}

/// Where a noted head stands in a history, in a sentence.
fn tell_head(noted: &NotedHead, place: HeadPlace, chain: &ChainSummary) -> String {
    let last = chain.head.event.0;
    match place {
        HeadPlace::After(event) if event.0 == last => "The noted head is the head of this history".into(),
        HeadPlace::After(event) => {
            format!("The noted head is in this history, after event {}; {} came later", event.0, count((last - event.0) as usize, "event"))
        }
        HeadPlace::BeyondEnd(event) if event.0 == last + 1 => format!("the history ends at event {last}: event {} is missing", event.0),
        HeadPlace::BeyondEnd(event) => format!("the history ends at event {last}: events {} to {} are missing", last + 1, event.0),
        HeadPlace::Differs(event) if chain.lost.contains(&event) => format!("event {}, after which the head was noted, is lost", event.0),
        HeadPlace::Differs(event) => {
            format!(
                "the noted head is not in this history: another one stands after event {}, so that event or one before it is another",
                event.0
            )
        }
        HeadPlace::Nowhere => {
            format!(
                "the noted head {} is not in this history, which ends at event {last}: it is of later events or of another history",
                noted.digits
            )
        }
    }
}

/// Events as JSON.
fn acts(events: &[Event]) -> Vec<serde_json::Value> {
    events.iter().map(|event| json!({"event": event.id.0, "at": event.at, "words": event.words})).collect()
}

/// Two histories, in lines.
fn fork_in_words(fork: &Fork) -> Vec<String> {
    let mut lines = vec![format!("Both histories have: {}", count(fork.shared, "event"))];
    for (file, events) in [("library.db", &fork.database), ("journal.jsonl", &fork.journal)] {
        lines.push(format!("`{file}` alone has: {}", count(events.len(), "event")));
        lines.extend(events.iter().take(TOLD).map(|event| format!("    {} {}: {}", event.id.0, utc(event.at), event.words)));
        if events.len() > TOLD {
            lines.push(format!("    and {} more, which --json lists", events.len() - TOLD));
        }
    }
    lines
}

/// Numbers of events, of very many the first.
fn numbers(events: &[EventId]) -> String {
    let told: Vec<String> = events.iter().take(20).map(|event| event.0.to_string()).collect();
    let more = if events.len() > told.len() { format!(" and {} more", events.len() - told.len()) } else { String::new() };
    told.join(", ") + &more
}

/// What processes that decode images may do, in words.
fn confinement(freedom: Option<Freedom>) -> &'static str {
    match freedom {
        Some(freedom) if freedom.is_none() => "Decoders: can open no file, reach no network and start no program",
        Some(_) => "Decoders: processes of their own with limits on memory, which this system cannot confine further",
        None => "Decoders: no process of their own can be started here, so images are decoded in this program",
    }
}

/// What a library takes in memory, in words.
fn memory_in_words(memory: InMemory) -> String {
    let megabytes = |bytes: u64| bytes.div_ceil(1 << 20);
    let InMemory { images, words, captions, recogniser } = memory;
    let [images, words, captions, recogniser] = [images, words, captions, recogniser].map(megabytes);
    format!("Memory: {} MB, images {images}, words {words}, caption memory {captions}, recogniser {recogniser}", megabytes(memory.total()))
}

/// The state of learned features, in words.
fn in_words(learned: LearnedFeatures) -> String {
    let LearnedFeatures { is_on, recognises, seen, images } = learned;
    if !is_on {
        return "Learned features: off".into();
    }
    let mut words = format!("Learned features: on. The network has looked at {seen} of {}.", count(images, "image"));
    if seen < images {
        words.push_str(
            " It looks at the others before the next search for words; \
             `tessera train LIBRARY --learned-features on` has it do so now.",
        );
    }
    if !recognises {
        words.push_str(" The recogniser does not use them yet.");
    }
    words
}

/// The pair of encoders by which words find images, in words.
fn pair_in_words(pair: &WordsNetwork) -> String {
    let WordsNetwork { hash, name, seen, images } = pair;
    let seen = format!("it has looked at {seen} of {}", count(*images, "image"));
    match name {
        Some(name) => format!("Words find images by the pair of encoders `{name}`; {seen}"),
        None => format!(
            "Words would find images by a pair of encoders of hash {hash}, which is not here: add it again with `tessera network add`; {seen}"
        ),
    }
}

/// Looks at a library. Opening it mends what it can where `mends` is true; otherwise nothing of it
/// is changed, and that damage is a problem.
fn look(librarian: &Librarian<'_>, folder: &Path, noted: Option<&NotedHead>, mends: bool) -> Result<Findings> {
    let opened = match mends {
        true => librarian.open(folder),
        false => librarian.patiently(|| librarian.session.open_library_to_check(folder)),
    };
    let mut library = match opened {
        Ok(library) => library,
        Err(error) => {
            let about = match &error {
                Error::Io { path, .. } | Error::Data { path, .. } if what_is(folder) == Target::Library => path,
                _ => return Err(error.into()),
            };
            let is_cache = about.file_name().is_some_and(|name| name == CACHE);
            if matches!(error, Error::Io { .. }) && !is_cache {
                return Err(error.into());
            }
            let journal = text_of(folder).map(|text| read(&text).1).unwrap_or_default();
            let problems = std::iter::once(error.to_string()).chain(journal.into_iter().map(|line| line.words)).collect();
            let fork = fork_of(folder, librarian.session.progress());
            return Ok(Findings { problems, is_cache, missing: usize::MAX, fork, ..Findings::default() });
        }
    };
    // A check changes nothing, so the library is dropped without saving its models.
    let (mended, lost) = (library.take_mended(), library.lost().to_vec());
    for remark in library.take_remarks().iter().filter(|remark| !lost.contains(remark)) {
        librarian.out.complain(remark);
    }
    let mut looked = Findings { mended, lost, ..look_at(&library, noted)? };
    if !mends {
        let is_told = |words: &&String| !looked.lost.contains(words) && !looked.problems.contains(words);
        let found: Vec<String> = library.found().iter().filter(is_told).cloned().collect();
        looked.problems.splice(0..0, found);
    }
    Ok(looked)
}

/// Rebuilds the database from the newest snapshot and the journal.
fn make_database_again(librarian: &Librarian<'_>, folder: &Path, look: impl Fn() -> Result<Findings>) -> Result<(Findings, Vec<String>)> {
    let repaired = repair(folder, librarian.session.progress())?;
    let mut looked = look()?;
    looked.lost.extend(repaired.lost);
    let mut done = repaired.done;
    if let Some(damaged) = &repaired.damaged {
        done.push(format!("the damaged file is kept as {}", display(damaged)));
    }
    Ok((looked, done))
}

fn look_at(library: &Library, noted: Option<&NotedHead>) -> Result<Findings, Error> {
    let problems = library.check()?;
    let is_cache = problems.iter().all(|problem| problem.starts_with("the recogniser "));
    Ok(Findings {
        problems,
        is_cache,
        missing: library.recogniser().missing().len(),
        unlearned: library.unlearned(),
        learned: library.learned_features().ok(),
        pair: library.words_network().ok().flatten(),
        memory: Some(library.in_memory()),
        chain: library.chain().ok(),
        noted: noted.and_then(|noted| library.find_head(noted).ok()),
        ..Findings::default()
    })
}

/// Opens the library with a cache rebuilt from the log and the images. The old one is restored if
/// that repairs nothing, or would lose images whose files are missing.
fn make_cache_again(
    librarian: &Librarian<'_>,
    folder: &Path,
    before: Findings,
    noted: Option<&NotedHead>,
) -> Result<(Findings, Vec<String>)> {
    let helped = |library: &mut Library| {
        let after = look_at(library, noted)?;
        Ok(Some(after).filter(|after| after.problems.is_empty() && after.missing <= before.missing))
    };
    match librarian.patiently(|| librarian.session.with_new_cache(folder, helped)) {
        Ok(Some(after)) => Ok((after, vec![format!("{CACHE} was made again from the images and the log")])),
        Ok(None) | Err(Error::Data { .. }) => Ok((before, Vec::new())),
        Err(error) => Err(error.into()),
    }
}
