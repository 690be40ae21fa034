//! Trials of search by words on a library: with errors of typing, other forms of nouns, what is
//! claimed of images, and how long answers take while a query is typed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::time::Instant;

use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};
use tessera_core::data::tables::Table;
use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::looks::RECALL;
use tessera_core::library::search::LEAVES;
use tessera_core::library::state::Image;
use tessera_core::random::{Rng, seeded};
use tessera_core::text::{TextQuery, words};
use tessera_core::{Error, Result};

use super::Session;
use super::search::{Engine, SearchAnswer, SearchRequest};

/// What is tried.
pub struct WordTrial {
    /// Captions that are asked for as they are, with an error, and with a noun in another form.
    pub queries: usize,
    /// Queries whose hits are looked at for words that they do not have.
    pub claims: usize,
    /// Captions that are typed letter by letter.
    pub typed: usize,
}

/// The outcome of a trial.
#[derive(Clone, Debug, Default)]
pub struct WordScores {
    /// Captions that were asked for.
    pub queries: usize,
    /// The share of images found among the first ten.
    pub recall: f64,
    /// The same with one error of typing in one word.
    pub recall_with_error: f64,
    /// Captions with a noun that has another form.
    pub form_queries: usize,
    /// The share of images found by these as they are.
    pub form_recall: f64,
    /// The same with one noun in the other form.
    pub recall_in_other_form: f64,
    /// Queries whose hits were looked at.
    pub claim_queries: usize,
    /// Words claimed of hits.
    pub claims: usize,
    /// Of these, words that no text of the image has.
    pub false_claims: usize,
    /// The time of each answer while queries were typed, with completions, in milliseconds,
    /// ascending.
    pub typing_ms: Vec<f64>,
    /// The most images that answered one of these.
    pub most_found: usize,
    /// Images, captions and different words of the library.
    pub library: [usize; 3],
}

/// Hits that count as found.
const FIRST: usize = 10;
/// Hits of which claims are looked at.
const LOOKED_AT: usize = 20;
/// Hits that the window gets in full.
const SHOWN: usize = 100;
/// The shortest word that gets an error of typing.
const LETTERS: usize = 4;
/// Letters of a caption that are typed.
const TYPED: usize = 60;
const COMPLETIONS: usize = 8;

impl Session {
    /// Tries search by words on a library with the captions of a table, which it should not have.
    ///
    /// # Errors
    /// [`Error::Value`] where no caption is of an image of the library; [`Error::Cancelled`].
    pub fn try_words(&self, library: &Library, table: &Table, trial: &WordTrial) -> Result<WordScores> {
        let mut rng = seeded(self.seed());
        let mut asked = captions(library, table);
        if asked.is_empty() {
            return Err(Error::value("table of captions", "captions of images of the library", "none".to_owned()));
        }
        asked.shuffle(&mut rng);
        let mut scores = WordScores { library: [library.state().images().count(), library.words().memories(), 0], ..WordScores::default() };
        let vocabulary: BTreeSet<String> = library.state().images().flat_map(|image| all_words(image)).collect();
        scores.library[2] = vocabulary.len();
        self.recall(library, &asked, trial, &mut rng, &mut scores)?;
        self.claims(library, &vocabulary.into_iter().collect::<Vec<_>>(), trial, &mut rng, &mut scores)?;
        for (_, caption) in asked.iter().take(trial.typed) {
            let text: String = caption.chars().take(TYPED).collect();
            let ends: Vec<usize> = text.char_indices().map(|(at, c)| at + c.len_utf8()).collect();
            for end in ends {
                self.check()?;
                let start = Instant::now();
                let answer = self.ask(library, TextQuery::typing(&text[..end]), SHOWN);
                self.complete(library, &text[..end], COMPLETIONS);
                scores.typing_ms.push(start.elapsed().as_secs_f64() * 1e3);
                scores.most_found = scores.most_found.max(answer.found.len());
            }
        }
        scores.typing_ms.sort_by(f64::total_cmp);
        Ok(scores)
    }

    fn check(&self) -> Result<()> {
        if self.progress().is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    fn ask(&self, library: &Library, query: TextQuery, k: usize) -> SearchAnswer {
        let request = SearchRequest {
            query,
            like: None,
            by: None,
            recall: RECALL,
            only: None,
            k,
            keeps_judged: false,
            engine: Engine::Memory,
            leaves: LEAVES,
        };
        self.search(library, &request)
    }

    fn recall(
        &self,
        library: &Library,
        asked: &[(ItemId, String)],
        trial: &WordTrial,
        rng: &mut Rng,
        scores: &mut WordScores,
    ) -> Result<()> {
        let finds = |image: ItemId, text: &[String]| {
            let query = TextQuery { words: text.to_vec(), ..TextQuery::default() };
            f64::from(self.ask(library, query, FIRST).hits.iter().any(|hit| hit.image == image))
        };
        let forms = other_forms(library);
        let (mut found, mut with_error, mut by_form, mut in_other_form) = (0.0, 0.0, 0.0, 0.0);
        for (image, caption) in asked {
            self.check()?;
            if scores.queries >= trial.queries && scores.form_queries >= trial.queries {
                break;
            }
            let text: Vec<String> = words(caption).collect();
            let is_long = |word: &String| word.len() >= LETTERS && word.bytes().all(|byte| byte.is_ascii_lowercase());
            let long: Vec<usize> = (0..text.len()).filter(|at| is_long(&text[*at])).collect();
            let nouns: Vec<usize> = (0..text.len()).filter(|at| forms.contains_key(&text[*at])).collect();
            let as_it_is = finds(*image, &text);
            if let Some(&at) = long.choose(rng)
                && scores.queries < trial.queries
            {
                let mut wrong = text.clone();
                wrong[at] = with_an_error(&text[at], rng);
                scores.queries += 1;
                found += as_it_is;
                with_error += finds(*image, &wrong);
            }
            if let Some(&at) = nouns.choose(rng)
                && scores.form_queries < trial.queries
            {
                let mut other = text.clone();
                other[at].clone_from(&forms[&text[at]]);
                scores.form_queries += 1;
                by_form += as_it_is;
                in_other_form += finds(*image, &other);
            }
        }
        let share = |sum: f64, n: usize| sum / n.max(1) as f64;
        (scores.recall, scores.recall_with_error) = (share(found, scores.queries), share(with_error, scores.queries));
        (scores.form_recall, scores.recall_in_other_form) =
            (share(by_form, scores.form_queries), share(in_other_form, scores.form_queries));
        Ok(())
    }

    /// Asks for one to three words of the library, one in three with an error, and looks at what is
    /// claimed of the first hits.
    fn claims(&self, library: &Library, vocabulary: &[String], trial: &WordTrial, rng: &mut Rng, scores: &mut WordScores) -> Result<()> {
        for _ in 0..trial.claims {
            self.check()?;
            let n = rng.random_range(1..=3);
            let mut text: Vec<String> = (0..n).filter_map(|_| vocabulary.choose(rng).cloned()).collect();
            if rng.random_range(0..3) == 0
                && let Some(first) = text.first_mut()
            {
                *first = with_an_error(first, rng);
            }
            let answer = self.ask(library, TextQuery { words: text, ..TextQuery::default() }, LOOKED_AT);
            scores.claim_queries += 1;
            for hit in &answer.hits {
                let Some(image) = library.state().image(hit.image) else { continue };
                let there: BTreeSet<String> = all_words(image).into_iter().collect();
                let of_caption: BTreeSet<String> = hit.caption.iter().flat_map(|caption| words(caption)).collect();
                scores.claims += hit.words.len();
                scores.false_claims += hit.words.iter().filter(|word| !there.contains(*word)).count();
                scores.false_claims += usize::from(hit.has_caption && !hit.words.iter().any(|word| of_caption.contains(word)));
            }
        }
        Ok(())
    }
}

/// The captions of a table, with the images whose files have the names that it gives.
fn captions(library: &Library, table: &Table) -> Vec<(ItemId, String)> {
    let state = library.state();
    let name = |image: &Image| Some((state.path_of(image)?.file_name()?.to_owned(), image.id));
    let by_name: HashMap<OsString, ItemId> = state.images().filter_map(|image| name(image)).collect();
    let of_row = |path: &str| std::path::Path::new(path).file_name().and_then(|name| by_name.get(name)).copied();
    let rows = table.rows.iter().filter_map(|row| Some((of_row(&row.path)?, &row.captions)));
    rows.flat_map(|(image, captions)| captions.iter().map(move |caption| (image, caption.clone()))).collect()
}

/// The words of an image's class, captions and file's name, by splitting them anew.
fn all_words(image: &Image) -> Vec<String> {
    let name = image.place().map(|place| place.path.to_string_lossy().into_owned()).unwrap_or_default();
    let texts = image.captions.iter().map(|caption| caption.text.as_str()).chain(image.label());
    texts.chain([name.as_str()]).flat_map(words).collect()
}

/// A word with one error: a letter more, one less, another in its place, or two neighbours the
/// other way round.
fn with_an_error(word: &str, rng: &mut Rng) -> String {
    let letters: Vec<char> = word.chars().collect();
    loop {
        let mut wrong = letters.clone();
        let at = rng.random_range(0..letters.len());
        let letter = char::from(b'a' + rng.random_range(0..26u8));
        match rng.random_range(0..4) {
            0 => wrong.insert(rng.random_range(0..=letters.len()), letter),
            1 if letters.len() > 1 => drop(wrong.remove(at)),
            2 if at + 1 < letters.len() => wrong.swap(at, at + 1),
            _ => wrong[at] = letter,
        }
        if wrong != letters {
            return wrong.into_iter().collect();
        }
    }
}

/// The other number of nouns, by rules of their own: singulars that stand after `a` or `an` twice,
/// with plurals that stand twice after a word of number.
fn other_forms(library: &Library) -> BTreeMap<String, String> {
    let mut after_one: BTreeMap<String, usize> = BTreeMap::new();
    let mut after_many: BTreeMap<String, usize> = BTreeMap::new();
    for caption in library.state().images().flat_map(|image| &image.captions) {
        let text: Vec<String> = words(&caption.text).collect();
        for pair in text.windows(2) {
            match pair[0].as_str() {
                "a" | "an" => *after_one.entry(pair[1].clone()).or_default() += 1,
                "two" | "three" | "four" | "five" | "six" | "several" | "many" => *after_many.entry(pair[1].clone()).or_default() += 1,
                _ => {}
            }
        }
    }
    let is_noun =
        |singular: &str, plural: &str| after_one.get(singular).is_some_and(|n| *n > 1) && after_many.get(plural).is_some_and(|n| *n > 1);
    let mut forms = BTreeMap::new();
    for singular in after_one.keys() {
        for plural in plurals(singular).into_iter().filter(|plural| is_noun(singular, plural)) {
            forms.insert(singular.clone(), plural.clone());
            forms.insert(plural, singular.clone());
        }
    }
    forms
}

fn plurals(singular: &str) -> Vec<String> {
    let ending = |end: &str, new: &str| singular.strip_suffix(end).map(|start| format!("{start}{new}"));
    let irregular = [("man", "men"), ("child", "children"), ("person", "people"), ("foot", "feet"), ("tooth", "teeth"), ("goose", "geese")];
    let regular = [("", "s"), ("", "es"), ("y", "ies"), ("f", "ves"), ("fe", "ves")];
    irregular.into_iter().chain(regular).filter_map(|(end, new)| ending(end, new)).collect()
}
