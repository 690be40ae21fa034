//! `tessera label` and `tessera caption`.

use std::path::Path;

use anyhow::Result;
use serde_json::{Map, Value, json};
use tessera_core::Error;
use tessera_core::error::display;
use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::event::{Caption, EventId, UserLabel};
use tessera_core::library::hold;
use tessera_core::library::import::TakenFile;

use super::acts::{tell, tell_with};
use super::librarian::{Finder, Librarian, count, find_all, start};
use super::library_args as args;
use super::output::Failures;
use super::stream::answer_each;
use super::{AlreadyPrinted, Done};

/// Whether a label creates a class; a typing error does so too, so it is reported.
enum New {
    No,
    /// It does; the existing class that differs from it only in case, if there is one.
    Yes(Option<String>),
}

impl New {
    fn of(library: &Library, label: &UserLabel) -> Self {
        match label {
            UserLabel::Class(class) => match library.acts().tidy_name(class) {
                Ok(class) if library.state().class(&class).is_none() => Self::Yes(library.state().class_like(&class).map(str::to_owned)),
                _ => Self::No,
            },
            _ => Self::No,
        }
    }

    /// `near` finds a class that is written nearly so, where none differs in case alone.
    fn in_words(&self, near: impl FnOnce() -> Option<String>) -> String {
        let Self::Yes(alike) = self else { return String::new() };
        match alike.clone().or_else(near) {
            None => " (new class)".into(),
            Some(near) => format!(" (new class; there is also `{}`)", display(near.as_ref())),
        }
    }

    fn in_json(&self) -> Map<String, Value> {
        let Self::Yes(near) = self else { return Map::new() };
        let near = near.iter().map(|near| ("near_class".to_owned(), json!(near)));
        std::iter::once(("new_class".to_owned(), json!(true))).chain(near).collect()
    }
}

pub(super) fn label(librarian: &Librarian<'_>, arguments: &args::Label) -> Result<Done> {
    if let (true, Some(class)) = (arguments.take_in, &arguments.class) {
        return take_in(librarian, arguments, class);
    }
    librarian.with(&arguments.library, |library| {
        if arguments.stdin {
            return answer_each(librarian, library, |library, id, request| {
                if request.contains_key("not") && request.contains_key("label") {
                    return Err("expected `label` or `not`, found both; say one on each of two lines".into());
                }
                if let Some(not) = request.get("not") {
                    let Value::String(class) = not else {
                        return Err(format!("`not` is {not}, but it must be a class's name"));
                    };
                    let rejected = match request.get("rejected") {
                        None => true,
                        Some(Value::Bool(rejected)) => *rejected,
                        Some(other) => return Err(format!("`rejected` is {}, but it must be true or false", start(&other.to_string()))),
                    };
                    let event = library.reject(&[id], class, rejected).map_err(|error| error.to_string())?;
                    let mut answer = json!({"not": class, "event": number(event)});
                    if !rejected {
                        answer["rejected"] = json!(false);
                    }
                    return Ok(answer);
                }
                if request.contains_key("rejected") {
                    return Err("`rejected` goes with `not`, a class's name".into());
                }
                let label = match request.get("label") {
                    Some(Value::String(class)) => UserLabel::Class(class.clone()),
                    Some(Value::Null) => UserLabel::NoClass,
                    Some(other) => return Err(format!("`label` is {}, but it must be a class's name or null", start(&other.to_string()))),
                    None => return Err("expected `label`, a class's name or null, or `not`, a class's name; found neither".into()),
                };
                let new = New::of(library, &label);
                let event = library.label(&[id], &label).map_err(|error| error.to_string())?;
                let mut answer = json!({"label": request["label"], "event": number(event)});
                new.in_json().into_iter().for_each(|(key, value)| answer[key] = value);
                Ok(answer)
            });
        }
        let images = find_all(library, &arguments.images)?;
        if let Some(class) = &arguments.not {
            let event = library.reject(&images, class, true)?;
            tell(librarian, library, event);
            return Ok(Done::Whole);
        }
        if let Some(word) = &arguments.not_guessed {
            let event = library.reject_guess(&images, word, true)?;
            tell(librarian, library, event);
            return Ok(Done::Whole);
        }
        let label = arguments.class.clone().map_or(UserLabel::NoClass, UserLabel::Class);
        label_all(librarian, library, &images, &label)
    })
}

/// Gives images a label, and tells of it, and of a class that this makes.
pub(super) fn label_all(librarian: &Librarian<'_>, library: &mut Library, images: &[ItemId], label: &UserLabel) -> Result<Done> {
    let new = New::of(library, label);
    let event = library.label(images, label)?;
    // Comparing spellings takes time that many lines do not have.
    let near = || {
        let UserLabel::Class(class) = label else { return None };
        let class = library.acts().tidy_name(class).ok()?;
        library.state().class_near(&class).map(str::to_owned)
    };
    let aside = new.in_words(near);
    tell_with(librarian, library, event, &aside, new.in_json());
    Ok(Done::Whole)
}

/// Labels images, and takes those in that the library does not have. One that cannot be taken in
/// does not keep the others out.
fn take_in(librarian: &Librarian<'_>, arguments: &args::Label, class: &str) -> Result<Done> {
    let library = librarian.open(&arguments.library)?;
    let label = UserLabel::Class(class.to_owned());
    let mut failures = Failures::new(librarian.out, arguments.report.as_deref())?;
    librarian.with_shared(library, |library| {
        // A name that no class can have is refused once, not for each image.
        hold(library).acts().label(&[], &label)?;
        let new = New::of(&hold(library), &label);
        let (mut taken, mut last, mut is_stopped) = (Vec::new(), None, false);
        let mut finder = Finder::default();
        let mut give = |image: &Path| {
            if image.exists() {
                return librarian.session.import_file(library, image, &label);
            }
            let id = finder.find(&hold(library), image)?;
            let event = hold(library).label(&[id], &label)?;
            Ok(TakenFile { image: id, is_new: false, event })
        };
        for image in &arguments.images {
            match give(image) {
                Ok(TakenFile { image: id, is_new, event }) => {
                    last = event.or(last);
                    taken.push(json!({"image": id.0, "path": display(image), "new": is_new, "event": number(event)}));
                }
                // What was done until then is told all the same.
                Err(Error::Cancelled) => {
                    is_stopped = true;
                    break;
                }
                Err(error) => failures.file(image, error)?,
            }
        }
        if taken.is_empty() {
            return if is_stopped { Err(Error::Cancelled.into()) } else { failures.finish(0) };
        }
        let n = taken.iter().filter(|one| one["new"] == json!(true)).count();
        let aside = format!("{}; {} taken in", new.in_words(|| None), count(n, "image"));
        let mut more = new.in_json();
        let done = taken.len();
        more.insert("images".into(), json!(taken));
        more.insert("failed".into(), json!(failures.failed()));
        tell_with(librarian, &hold(library), last, &aside, more);
        let outcome = failures.finish(done);
        if is_stopped {
            librarian.out.complain("stopped; what was done stays");
            return Err(AlreadyPrinted(Error::Cancelled).into());
        }
        outcome
    })
}

pub(super) fn caption(librarian: &Librarian<'_>, arguments: &args::Caption) -> Result<Done> {
    librarian.with(&arguments.library, |library| {
        if arguments.stdin {
            return answer_each(librarian, library, |library, id, request| {
                let texts = match request.get("caption") {
                    Some(Value::String(text)) => vec![text.clone()],
                    Some(Value::Null) => Vec::new(),
                    Some(Value::Array(texts)) if texts.iter().all(Value::is_string) => {
                        texts.iter().filter_map(|text| text.as_str().map(str::to_owned)).collect()
                    }
                    Some(other) => {
                        return Err(format!("`caption` is {}, but it must be a text, a list of texts or null", start(&other.to_string())));
                    }
                    None => return Err("expected `caption`, found none".into()),
                };
                let event = library.caption(id, by_user(&texts)).map_err(|error| error.to_string())?;
                Ok(json!({"caption": request["caption"], "event": number(event)}))
            });
        }
        // Without --stdin the parser requires an image.
        let image = arguments.image.clone().unwrap_or_default();
        let id = Finder::default().find(library, &image)?;
        let event = library.caption(id, by_user(&arguments.captions))?;
        let stored: Vec<String> = library.state().image(id).into_iter().flat_map(|image| &image.captions).map(quoted).collect();
        let aside = match stored.as_slice() {
            _ if event.is_none() => String::new(),
            [] => String::new(),
            [one] => format!(": {one}"),
            all => format!(" with {} captions: {}; quote words that belong together", all.len(), all.join(", ")),
        };
        tell_with(librarian, library, event, &aside, Map::new());
        Ok(Done::Whole)
    })
}

/// A caption in quotation marks, or its beginning.
fn quoted(caption: &Caption) -> String {
    format!("\u{201c}{}\u{201d}", display(start(&caption.text).as_ref()))
}

fn by_user(texts: &[String]) -> Vec<Caption> {
    texts.iter().map(|text| Caption { text: text.clone(), by_user: true }).collect()
}

fn number(event: Option<EventId>) -> Option<u64> {
    event.map(|event| event.0)
}
