//! `tessera search`, `feedback` and `lessons`.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use anyhow::Result;
use serde_json::{Map, Value, json};
use tessera_core::Error;
use tessera_core::error::display;
use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::event::Reward;
use tessera_core::library::import::hold;
use tessera_core::library::looks::{Look, LookQuery};
use tessera_core::library::models::caption_memory::{ReadAs, words_of};
use tessera_core::text::TextQuery;

use super::acts::tell_with;
use super::args::Arguments;
use super::librarian::{Finder, Librarian, count, number, start};
use super::library_args::{By, Feedback, OfLibrary, Search};
use super::stream::answer_each;
use super::{Done, Usage};
use crate::command;
use crate::session::completion::Completion;
use crate::session::reference::ReferenceImage;
use crate::session::search::{Engine, ReadWord, SearchHit, SearchRequest, did_you_mean, others_words};
use crate::session::why::{Term, Why, memories, typed_words};

pub(super) fn run(librarian: &Librarian<'_>, arguments: &Search) -> Result<Done> {
    if arguments.words.is_empty() && arguments.like.is_none() && arguments.class.is_none() && arguments.folder.is_none() {
        let words = "expected something to look for, found nothing: give words, --like IMAGE, --class CLASS or --folder FOLDER (see `tessera search --help`)";
        return Err(Usage(words.into()).into());
    }
    for word in Arguments::options_after_dashes("search", std::env::args_os()) {
        librarian.out.note(&format!("`{word}` is read as words of the question, for it comes after `--`; options go before that."));
    }
    if arguments.complete {
        return librarian.with(&arguments.library, |library| Ok(complete(librarian, library, &arguments.words.join(" "), arguments.k)));
    }
    let library = librarian.open(&arguments.library)?;
    librarian.with_shared(library, |library| {
        let done = find(librarian, arguments, library)?;
        if arguments.like.is_some() {
            grow_after(librarian, library, arguments.look.as_ref());
        }
        Ok(done)
    })
}

/// How a text may go on.
fn complete(librarian: &Librarian<'_>, library: &Library, text: &str, n: usize) -> Done {
    let completions = librarian.session.complete(library, text, n);
    librarian.out.answer(
        || {
            let one = |one: &Completion| json!({"text": one.text, "word": one.word, "source": one.source.word(), "count": one.count});
            json!({"query": text, "completions": completions.iter().map(one).collect::<Vec<_>>()})
        },
        || match completions.is_empty() {
            true => format!("Nothing goes on from: {text}"),
            false => {
                completions.iter().map(|one| format!("{}  ({}, {})", one.text, one.source.word(), one.count)).collect::<Vec<_>>().join("\n")
            }
        },
    );
    Done::Whole
}

fn find(librarian: &Librarian<'_>, arguments: &Search, library: &Mutex<Library>) -> Result<Done> {
    let (session, out) = (librarian.session, librarian.out);
    let text = arguments.words.join(" ");
    let number = number(Path::new(text.trim()));
    let query = if number.is_some() { TextQuery::default() } else { TextQuery::parse(&text) };
    let seen_by_network = !query.is_empty() || (arguments.like.is_some() && arguments.look.as_ref().is_none_or(Look::takes_network));
    let missing = if seen_by_network { librarian.complete(library)? } else { 0 };
    let like = match &arguments.like {
        Some(image) => Some(Arc::new(look_at(librarian, library, image, arguments.crop, arguments.look.as_ref())?)),
        None => None,
    };
    let mut library = hold(library);
    if !query.is_empty() {
        session.load_seen(&mut library)?;
    }
    let library = &*library;
    let named = number.map(|_| Finder::default().find(library, Path::new(text.trim()))).transpose()?;
    let wanted = SearchRequest {
        query,
        like,
        by: arguments.look.clone(),
        recall: arguments.recall,
        only: filter(library, arguments.class.as_deref(), arguments.folder.as_deref(), named)?,
        k: arguments.k,
        keeps_judged: false,
        engine: match arguments.by {
            By::Memory => Engine::Memory,
            By::Index => Engine::Index,
        },
        leaves: arguments.leaves,
    };
    let answer = session.search(library, &wanted);
    let reasons = |hit: &SearchHit| arguments.explain.then(|| session.why(library, &wanted, hit));
    let is_scored = !wanted.query.is_empty() || wanted.like.is_some();
    let hits: Vec<(&SearchHit, Option<Why>)> = answer.hits.iter().map(|hit| (hit, reasons(hit))).collect();
    let found = answer.found.len();
    let meant = did_you_mean(&text, &answer).filter(|_| !wanted.query.is_empty() && wanted.engine == Engine::Memory);
    let unknown = session.unknown_words(library, &wanted.query, &answer);
    // What is not looked at yet may have a word.
    let guessable = if missing > 0 { library.guessable(&wanted.query) } else { BTreeSet::new() };
    let missing_words = session.missing_words(&answer, &unknown, wanted.engine, &guessable);
    let memories = library.words().memories();
    if !is_scored && wanted.only.is_none() {
        out.note(match wanted.query.unwanted.is_empty() {
            true => "There is no word in that to search for.",
            false => {
                "A question needs a word to look for besides those that must not be there; or say where, by --like, --class or --folder."
            }
        });
    }
    let taught = session.taught_words(&answer, &unknown);
    let in_other_forms = session.words_in_other_forms(&answer, &unknown, wanted.engine);
    let is_other = |word: &&String| !in_other_forms.iter().any(|(other, _)| other == *word);
    let guessed: Vec<String> = unknown.iter().filter(|word| answer.guessed.contains(*word)).filter(is_other).cloned().collect();
    for (word, form) in &in_other_forms {
        out.note(&format!("No caption, class or name has the word {word}: images with another form of it, {form}, are shown."));
    }
    if let Some(meant) = &meant {
        let wrong: Vec<&str> = answer.asked.iter().filter(|one| one.is_corrected()).map(|one| one.written.as_str()).collect();
        let reason = if wrong.is_empty() { String::new() } else { format!(" Nothing in this library has the word {}.", wrong.join(", ")) };
        out.note(&format!("Did you mean: {meant}?{reason}"));
    }
    let has_pair = library.words_network()?.is_some();
    if memories == 0 && guessed.is_empty() && !has_pair && wanted.like.is_none() && (is_scored || wanted.only.is_none()) {
        out.note("No captions are remembered yet: only classes and file names are searched. Add some with `tessera caption`.");
    }
    if !taught.is_empty() {
        out.note(&format!("No caption, class or name has the word {}: it is known from what was taught.", taught.join(", ")));
    }
    if !guessed.is_empty() {
        out.note(&format!("No caption, class or name has the word {}: the network guesses where it is seen.", guessed.join(", ")));
    }
    let often_seen = session.often_seen(library, &wanted, &answer);
    if !often_seen.is_empty() {
        out.note(&format!("What the network guesses in many images here: {}.", often_seen.join(", ")));
    }
    let pair = library.words_network()?.filter(|_| library.has_learned_features() && !wanted.query.is_empty());
    if let Some(pair) = pair.as_ref().filter(|pair| pair.name.is_none()) {
        let words = "This library finds images by what they look like with a pair of encoders that is not here";
        out.note(&format!("{words}: hash {}. Add it again with `tessera network add`; until then it answers without.", pair.hash));
    }
    if !missing_words.is_empty() {
        let others = others_words(answer.asked.len(), missing_words.len(), found);
        out.note(&format!("Nothing in this library has the word {}{others}.", missing_words.join(", ")));
    }
    out.answer(
        || {
            json!({"query": text, "found": found, "did_you_mean": meant,
                "hits": hits.iter().map(|(hit, why)| hit_json(hit, why.as_ref())).collect::<Vec<_>>(), "memories": memories, "unknown_words": unknown, "missing_words": missing_words, "not_looked_at": missing})
        },
        || {
            if hits.is_empty() {
                return format!(
                    "Nothing was found for: {}",
                    [Some(&text), arguments.like.as_ref()].into_iter().flatten().cloned().collect::<Vec<_>>().join(" like ")
                );
            }
            let mut lines: Vec<String> = hits.iter().map(|(hit, why)| hit_words(hit, is_scored, why.as_ref())).collect();
            if found > hits.len() {
                lines.push(format!("{} answer; these are the first {} (-k for more).", count(found, "image"), hits.len()));
            }
            lines.join("\n")
        },
    );
    Ok(Done::Whole)
}

/// The image of the library with this path or `#ID`, or else the file at this path.
pub(super) fn look_at(
    librarian: &Librarian<'_>,
    library: &Mutex<Library>,
    image: &str,
    crop: Option<command::Crop>,
    by: Option<&Look>,
) -> Result<ReferenceImage> {
    check_look(&hold(library), by)?;
    let path = Path::new(image);
    let found = Finder::default().find(&hold(library), path);
    let query = match found {
        Ok(id) => command::ImageQuery::Item(id),
        Err(error) if number(path).is_some() => return Err(error.into()),
        Err(_) if !path.is_file() => {
            let found = if path.is_dir() { "a folder" } else { "nothing like that" };
            let advice = "name an image by its path, or by #ID as a search shows it";
            return Err(Error::data(path, "an image of this library or a picture file", found, advice).into());
        }
        Err(_) => command::ImageQuery::File(path.to_owned()),
    };
    let session = librarian.session;
    let (like, compared) = librarian.out.watched(session.progress(), || {
        let loaded = session.load_looks(library, by)?;
        let like = session.like(library, &query, crop)?;
        let look = hold(library).look_of(&LookQuery { by: by.cloned(), ..like.query() });
        if look != loaded {
            session.load_looks(library, Some(&look))?;
        }
        Ok::<_, Error>((like, look))
    })?;
    if like.crop.is_some() && like.is_all() && compared != Look::Network {
        librarian.out.note("It is compared as a whole: only what the network sees is compared part by part.");
    }
    if let Some(look) = by.filter(|look| look.is_of_items())
        && !like.of().is_some_and(|id| hold(library).has_look(look, id))
    {
        let advice = match look {
            Look::Brought(_) => "name an image of the library that has one, as a whole, or bring one of it by `tessera import --vectors`",
            Look::Words => "name an image of the library that has a caption, as a whole",
            _ => "name an image of the library, as a whole",
        };
        let found = if like.is_all() { "one without" } else { "a part of one, which has none" };
        return Err(Error::data(path, format!("an image with a vector `{}`", look.name()), found, advice).into());
    }
    Ok(like)
}

/// Makes the index that an answer lacked, for later ones. One that cannot be made, or is stopped,
/// is made another time.
pub(super) fn grow_after(librarian: &Librarian<'_>, library: &Mutex<Library>, by: Option<&Look>) {
    let session = librarian.session;
    match librarian.out.watched(session.progress(), || session.grow_looks(library, by)) {
        Ok(()) | Err(Error::Cancelled) => {}
        Err(error) => librarian.out.note(&format!("The index of look-alikes was not made: {error}")),
    }
}

/// Refuses vectors that a library does not have.
pub(super) fn check_look(library: &Library, by: Option<&Look>) -> Result<()> {
    let found = match by {
        Some(Look::Network) if !library.has_learned_features() => {
            "network: expected a library with learned features, found them off; turn them on with `tessera train LIBRARY --learned-features on`, or compare something else".to_owned()
        }
        Some(Look::Brought(set)) if !library.state().vector_sets().contains_key(&**set) => {
            let names: Vec<String> = Look::all(library.state()).map(|look| look.name().to_owned()).collect();
            format!("{set}: expected what is compared, one of {}, found nothing of that name", names.join(", "))
        }
        _ => return Ok(()),
    };
    Err(Usage(found).into())
}

/// The images that pass the filters, or only the named one if it does; `None` without filters.
pub(super) fn filter(
    library: &Library,
    class: Option<&str>,
    folder: Option<&Path>,
    named: Option<ItemId>,
) -> Result<Option<Arc<HashSet<ItemId>>>> {
    if class.is_none() && folder.is_none() && named.is_none() {
        return Ok(None);
    }
    let state = library.state();
    let class = class.map(|class| state.class_spelled(class));
    let class = class.as_deref();
    if let Some(class) = class
        && let Err(error) = library.acts().look(class)
    {
        let is_spelled_so = state.class_like(class).is_some();
        return Err(if is_spelled_so { Usage(error.to_string()).into() } else { error.into() });
    }
    let folder: Option<PathBuf> = folder.map(|folder| std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()));
    let is_inside = |image: &tessera_core::library::state::Image| {
        folder.as_ref().is_none_or(|folder| image.places.iter().any(|place| state.full_path(place).starts_with(folder)))
    };
    let fitting = state.images().filter(|image| class.is_none_or(|class| image.label() == Some(class)) && is_inside(image));
    let ids: HashSet<ItemId> = fitting.map(|image| image.id).filter(|id| named.is_none_or(|named| named == *id)).collect();
    if let Some(folder) =
        folder.filter(|folder| !state.images().any(|image| image.places.iter().any(|place| state.full_path(place).starts_with(folder))))
    {
        return Err(Error::data(&folder, "a folder with images of this library", "none of them", "check the name").into());
    }
    Ok(Some(Arc::new(ids)))
}

/// `tessera feedback`.
pub(super) fn feedback(librarian: &Librarian<'_>, arguments: &Feedback) -> Result<Done> {
    librarian.with(&arguments.library, |library| {
        if arguments.stdin {
            return answer_each(librarian, library, |library, id, request| {
                let query = match request.get("query") {
                    Some(Value::String(query)) => query,
                    Some(other) => return Err(format!("`query` is {}, but it must be the words of a search", start(&other.to_string()))),
                    None => return Err("expected `query`, found none".into()),
                };
                let reward = match request.get("reward") {
                    Some(Value::Number(reward)) => reward.as_f64(),
                    Some(Value::Null) => None,
                    Some(other) => {
                        return Err(format!("`reward` is {}, but it must be a number from -1 to 1, or null", start(&other.to_string())));
                    }
                    None => return Err("expected `reward`, found none".into()),
                };
                let event = library.reward(query, id, reward).map_err(|error| error.to_string())?;
                let lesson = words_of(&TextQuery::parse(query));
                Ok(json!({"query": query, "lesson": lesson, "reward": request["reward"], "event": event.map(|event| event.0)}))
            });
        }
        // Without --stdin the parser requires a query, and an image unless rewards are taken back.
        let query = arguments.query.clone().unwrap_or_default();
        let parsed = TextQuery::parse(&query);
        let lesson = words_of(&parsed);
        if lesson.is_empty() {
            let found = if parsed.unwanted.is_empty() { "none" } else { "only words that must not be there" };
            return Err(Usage(format!(
                "--query: expected words that were searched for, found {found}; give those that the image is to answer"
            ))
            .into());
        }
        let reward = if arguments.unteach { None } else { arguments.reward };
        let event = match &arguments.image {
            Some(image) => library.reward(&query, Finder::default().find(library, image)?, reward)?,
            None => library.take_rewards_back(&query)?,
        };
        let aside = if parsed.unwanted.is_empty() { "" } else { ". Words that must not be there are no part of it" };
        tell_with(librarian, library, event, aside, Map::from_iter([("lesson".to_owned(), json!(lesson))]));
        Ok(Done::Whole)
    })
}

/// `tessera lessons`.
pub(super) fn lessons(librarian: &Librarian<'_>, arguments: &OfLibrary) -> Result<Done> {
    librarian.with(&arguments.library, |library| {
        let state = library.state();
        let lessons = state.lessons();
        let path = |image: ItemId| state.image(image).and_then(|image| state.path_of(image));
        librarian.out.answer(
            || {
                let lesson = |(query, image, reward): &(String, ItemId, Reward)| {
                    json!({"query": query, "image": image.0, "reward": reward.value(),
                        "path": path(*image).map(|path| path.to_string_lossy().into_owned())})
                };
                json!({"lessons": lessons.iter().map(lesson).collect::<Vec<_>>()})
            },
            || {
                if lessons.is_empty() {
                    return "Nothing was said of any answer yet: `tessera feedback` does.".into();
                }
                let lesson = |(query, image, reward): &(String, ItemId, Reward)| {
                    let path = path(*image).map(|path| display(&path)).unwrap_or_default();
                    format!("{:+.2}  {query}  #{} {path}", reward.value(), image.0)
                };
                lessons.iter().map(lesson).collect::<Vec<_>>().join("\n")
            },
        );
        Ok(Done::Whole)
    })
}

fn hit_json(hit: &SearchHit, why: Option<&Why>) -> Value {
    let mut value = json!({"image": hit.image.0, "path": hit.path.as_ref().map(|path| path.to_string_lossy()), "caption": hit.caption,
        "score": hit.score, "words": hit.words, "all_words": hit.has_all, "read": hit.read.iter().map(read_json).collect::<Vec<_>>(), "lesson": hit.lesson, "taught": hit.taught, "look": hit.look, "probability": hit.probability,
        "likeness": hit.likeness.map(|likeness| likeness.cosine),
        "guessed": hit.guessed.iter().map(|word| json!({"noun": word.guess.noun, "chance": word.guess.chance})).collect::<Vec<_>>()});
    if let Some(why) = why {
        value["why"] =
            json!({"matched": why.matched, "terms": why.terms.iter().map(term_json).collect::<Vec<_>>(), "ways": ways_json(why)});
    }
    value
}

fn read_json(read: &ReadWord) -> Value {
    json!({"word": read.word, "typed": read.written, "how": if read.how == ReadAs::Form { "form" } else { "correction" }})
}

fn term_json((term, value): &(Term, f64)) -> Value {
    let (kind, words) = match term {
        Term::Word(word, _) => ("word", Some(word)),
        Term::Name(word, _) => ("name", Some(word)),
        Term::Good(query) | Term::Bad(query) => ("lesson", Some(query)),
        Term::Guess(noun, _) => ("guess", Some(noun)),
        Term::Likeness(_) => ("likeness", None),
        Term::Look => ("look", None),
    };
    let mut json = json!({"kind": kind, "words": words, "value": value});
    if let Term::Word(_, Some(typed)) | Term::Name(_, Some(typed)) = term {
        json["typed"] = json!(typed);
    }
    json
}

fn ways_json(why: &Why) -> Value {
    let turn = |turn: &crate::session::why::RouterReason| json!({"margin": turn.margin, "side": if turn.right { "right" } else { "left" }, "counts": turn.counts, "words": turn.words});
    let way = |way: &crate::session::why::Way| json!({"tree": way.tree, "memories": way.memories, "turns": way.turns.iter().map(turn).collect::<Vec<_>>()});
    why.ways.iter().map(way).collect()
}

fn hit_words(hit: &SearchHit, is_scored: bool, why: Option<&Why>) -> String {
    let path = hit.path.as_deref().map(display).unwrap_or_default();
    let score = if is_scored { format!("{:.2}  ", hit.score) } else { String::new() };
    let mut words = format!("{score}#{} {path}", hit.image.0);
    if let Some(caption) = &hit.caption {
        let _ = write!(words, "\n      {}", display(caption.as_ref()));
    }
    if !hit.words.is_empty() {
        let read = |word: &String| match hit.read.iter().find(|read| read.word == *word) {
            Some(read) => typed_words(word, &read.written),
            None => word.clone(),
        };
        let _ = write!(words, "\n      (has {})", hit.words.iter().map(read).collect::<Vec<_>>().join(", "));
    }
    for word in &hit.guessed {
        let _ = write!(words, "\n      (guessed: {}, {:.2})", word.guess.noun, word.guess.chance);
    }
    if let Some(likeness) = hit.likeness {
        let _ = write!(words, "\n      (by what it looks like, {:.2})", likeness.cosine);
    }
    if let Some(lesson) = &hit.lesson {
        let _ = write!(words, "\n      (taught: {lesson})");
    }
    for line in why.filter(|_| is_scored).map(why_words).unwrap_or_default() {
        let _ = write!(words, "\n      {line}");
    }
    words
}

fn why_words(why: &Why) -> Vec<String> {
    let term = |(term, value): &(Term, f64)| format!("{value:+.3} {}", term.words());
    let by = why.matched.as_ref().map(|matched| format!(", by {matched}")).unwrap_or_default();
    let mut lines = vec![format!("{:.3}{by} = {}", why.score, why.terms.iter().map(term).collect::<Vec<_>>().join("  "))];
    for way in &why.ways {
        lines.push(format!("tree {}: {}, then a leaf of {}", way.tree, count(way.turns.len(), "router"), memories(way.memories)));
        for turn in &way.turns {
            let words: Vec<String> = turn.words.iter().map(|(word, value)| format!("{word} {value:+.2}")).collect();
            let aside = if turn.follows() { "" } else { ", though the router says otherwise" };
            lines.push(format!(
                "  {:+.2} {} of {} | {}{aside}  {}",
                turn.margin,
                if turn.right { "right" } else { "left" },
                turn.counts[0],
                turn.counts[1],
                words.join("  ")
            ));
        }
    }
    lines
}
