//! The methods of a library for its users; each calls the file that does the work.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use super::appearance::thumbnail_of;
use super::chain::{ChainSummary, Head, HeadPlace, NotedHead};
use super::draft::Draft;
use super::event::{Caption, ContentHash, Event, EventId, EventKind, UserLabel};
use super::health::{Health, InMemory};
use super::history::{self, Step};
use super::import::{TableRead, read_table};
use super::models::caption_memory::CaptionMemory;
use super::models::recogniser::Recogniser;
use super::models::words::Words;
use super::read_only::ReadOnly;
use super::snapshot::Snapshot;
use super::state::{Act, Image};
use super::{CACHE, Library, check, export, health};
use crate::ckm::Search;
use crate::ckm::confidence::Calibration;
use crate::ckm::element::Elements;
use crate::ckm::kernel::LeafKernel;
use crate::ckm::model::{Metrics, RecogniserModel};
use crate::ckm::weights::ImageWeights;
use crate::data::tables::{Table, TableRow};
use crate::descriptor::Descriptor;
use crate::error::{Error, Result, display};
use crate::ids::ItemId;
use crate::plural::count;
use crate::progress::Progress;

/// Acts. Each returns its event, or `None` when it would change nothing. [`super::draft::Acts`]
/// says which images and names are refused; besides, each returns [`crate::Error::Io`] when its
/// event cannot be written.
impl Library {
    pub(super) fn act(&mut self, draft: Draft) -> Result<Option<EventId>> {
        self.commit(None, EventKind::Act, draft)
    }

    /// Labels images with a class, or takes their label off.
    ///
    /// # Errors
    /// As [`super::draft::Acts::label`].
    pub fn label(&mut self, images: &[ItemId], label: &UserLabel) -> Result<Option<EventId>> {
        self.act(self.acts().label(images, label)?)
    }

    /// Rejects a class for images (`rejected`), or takes the rejection back.
    ///
    /// # Errors
    /// As [`super::draft::Acts::reject`].
    pub fn reject(&mut self, images: &[ItemId], class: &str, rejected: bool) -> Result<Option<EventId>> {
        self.act(self.acts().reject(images, class, rejected)?)
    }

    /// Rejects all classes that there are for images: they show something else.
    ///
    /// # Errors
    /// As [`super::draft::Acts::reject_all`].
    pub fn reject_all(&mut self, images: &[ItemId]) -> Result<Option<EventId>> {
        self.act(self.acts().reject_all(images)?)
    }

    /// Confirms the label of an image and rejects the classes `not` for it.
    ///
    /// # Errors
    /// As [`super::draft::Acts::confirm`].
    pub fn confirm(&mut self, image: ItemId, not: &[String]) -> Result<Option<EventId>> {
        self.act(self.acts().confirm(image, not)?)
    }

    /// Replaces the captions of an image.
    ///
    /// # Errors
    /// As [`super::draft::Acts::caption`].
    pub fn caption(&mut self, image: ItemId, captions: Vec<Caption>) -> Result<Option<EventId>> {
        self.act(self.acts().caption(image, captions)?)
    }

    /// Sets the reward of an image as an answer to a query, -1..=1; `None` takes it back.
    ///
    /// # Errors
    /// As [`super::draft::Acts::reward`].
    pub fn reward(&mut self, query: &str, image: ItemId, reward: Option<f64>) -> Result<Option<EventId>> {
        self.act(self.acts().reward(query, image, reward)?)
    }

    /// Takes back the rewards of all images as answers to a query.
    ///
    /// # Errors
    /// [`crate::Error::Io`] when the event cannot be written.
    pub fn take_rewards_back(&mut self, query: &str) -> Result<Option<EventId>> {
        self.act(self.acts().take_rewards_back(query))
    }

    /// Hides images and their influence (`removed`), or brings them back.
    ///
    /// # Errors
    /// As [`super::draft::Acts::set_removed`].
    pub fn set_removed(&mut self, images: &[ItemId], removed: bool) -> Result<Option<EventId>> {
        self.act(self.acts().set_removed(images, removed)?)
    }

    /// Makes a class without images.
    ///
    /// # Errors
    /// As [`super::draft::Acts::new_class`].
    pub fn new_class(&mut self, name: &str) -> Result<Option<EventId>> {
        self.act(self.acts().new_class(name)?)
    }

    /// Gives a class another name; a name that exists already joins the two.
    ///
    /// # Errors
    /// As [`super::draft::Acts::rename_class`].
    pub fn rename_class(&mut self, from: &str, to: &str) -> Result<Option<EventId>> {
        self.act(self.acts().rename_class(from, to)?)
    }

    /// Gives a class a colour of the user's, or the usual one.
    ///
    /// # Errors
    /// As [`super::draft::Acts::recolour_class`].
    pub fn recolour_class(&mut self, class: &str, colour: Option<[u8; 3]>) -> Result<Option<EventId>> {
        self.act(self.acts().recolour_class(class, colour)?)
    }

    /// Takes a class away: its images are of no class then.
    ///
    /// # Errors
    /// As [`super::draft::Acts::delete_class`].
    pub fn delete_class(&mut self, class: &str) -> Result<Option<EventId>> {
        self.act(self.acts().delete_class(class)?)
    }

    /// Whether the last act is that of an import which is running: [`Library::undo`] would take
    /// back what it has done so far, and the rest would become an act of its own.
    pub fn is_last_act_under_way(&self) -> bool {
        self.importing.is_some() && self.importing == self.state.history().last().map(|act| act.id)
    }

    /// Undoes the last act. Returns it with the event of the undo; `None` when there is nothing to
    /// undo.
    ///
    /// # Errors
    /// [`crate::Error::Io`]; [`crate::Error::Data`] when the log is damaged.
    pub fn undo(&mut self) -> Result<Option<(Arc<Act>, EventId)>> {
        let step = history::undo(&self.state, &self.store)?;
        self.walk(step)
    }

    /// What happened after the act that [`Library::undo`] would undo and cannot be taken back,
    /// such as that images were forgotten: its words, where it was the last event.
    ///
    /// # Errors
    /// As [`Library::events`].
    pub fn beyond_undo(&self) -> Result<Option<String>> {
        let last = self.store.last()?.filter(|event| event.kind == EventKind::Final && event.changes.is_empty());
        Ok(last.map(|event| event.words))
    }

    /// Redoes the act that was undone last. Returns it with the event of the redo; `None` when
    /// there is nothing to redo.
    ///
    /// # Errors
    /// As [`Library::undo`].
    pub fn redo(&mut self) -> Result<Option<(Arc<Act>, EventId)>> {
        let step = history::redo(&self.state, &self.store)?;
        self.walk(step)
    }

    fn walk(&mut self, step: Option<Step>) -> Result<Option<(Arc<Act>, EventId)>> {
        let Some(Step { act, kind, draft }) = step else { return Ok(None) };
        let event = self.append(None, kind, draft)?;
        Ok(Some((act, event)))
    }

    /// Adds the captions and labels of a table, in one act. Labels that the user gave are kept.
    ///
    /// # Errors
    /// [`crate::Error::Io`].
    pub fn read_table(&mut self, table: &Table, name: &str) -> Result<TableRead> {
        let (read, changes) = read_table(&self.state, table);
        self.act(Draft::new(format!("Read {name}"), changes))?;
        Ok(read)
    }

    /// Lets later imports take in a file with this hash again, which was forgotten.
    ///
    /// # Errors
    /// [`crate::Error::Io`].
    pub fn allow_forgotten(&mut self, hash: ContentHash) -> Result<()> {
        self.store.unforget(hash)
    }
}

/// Its models.
impl Library {
    /// The recogniser as it is now.
    pub fn recogniser(&self) -> &Recogniser {
        &self.models.recogniser
    }

    /// Gives the recogniser's images learned weights ([`Recogniser::weighted`]), `weights[i].1[k]`
    /// one for each element of kind `k`; `None` takes all weights away. They last until the library
    /// is closed. O(elements).
    ///
    /// # Errors
    /// As [`crate::ckm::Ckm::set_weights`]; there are no weights then.
    pub fn set_weights(&mut self, weights: Option<&[(ItemId, ImageWeights)]>) -> Result<()> {
        self.models.recogniser.set_weights(weights)
    }

    /// Compares elements with these kernels from now on, one for each kind of the recogniser,
    /// without learned weights. They last until the library is closed or the recogniser has other
    /// kinds. O(elements), and with an index the time of making it.
    ///
    /// # Errors
    /// As [`crate::ckm::Ckm::with_kernels`].
    pub fn set_kernels(&mut self, kernels: &[LeafKernel]) -> Result<()> {
        self.models.recogniser.set_kernels(kernels)?;
        // Where they cannot be written, elements are read at the next opening too.
        let _ = self.models.keep_outlines(self.state.last_event().unwrap_or(EventId(0)), &self.cache);
        Ok(())
    }

    /// Sets which training images the recogniser compares from now on, until the library is closed;
    /// `None` leaves it to their number.
    ///
    /// # Errors
    /// As [`crate::ckm::Ckm::set_search_watched`].
    pub fn set_search(&mut self, search: Option<Search>, progress: &Progress) -> Result<()> {
        self.models.recogniser.set_search(search, progress)
    }

    /// The index of words as it is now.
    pub fn words(&self) -> &Words {
        &self.models.words
    }

    /// The caption memory as it is now.
    pub fn caption_memory(&self) -> &CaptionMemory {
        &self.models.recall
    }

    /// Each model's name and everything it learned, as bytes that can be compared.
    pub fn everything_learned(&self) -> Vec<(String, Vec<u8>)> {
        self.models.everything(&self.state)
    }

    /// The recogniser, with its weights if it has some, as a model that can be saved and used
    /// elsewhere. Its images are named by their paths from the root when there is one root,
    /// otherwise by their full paths, and numbered in the order in which they came: what was
    /// forgotten leaves no gap.
    ///
    /// # Errors
    /// As [`crate::ckm::Ckm::new`].
    pub fn model(&self, calibration: Calibration, metrics: Metrics) -> Result<RecogniserModel> {
        let ckm = self.recogniser().weighted().unwrap_or(self.recogniser().ckm());
        export::model(&self.state, ckm, calibration, metrics)
    }

    /// The elements of images, from the cache or else from their files; images with neither are
    /// left out.
    ///
    /// # Errors
    /// [`crate::Error::Io`].
    pub fn elements_of(&self, images: &[ItemId]) -> Result<Vec<(ItemId, Elements)>> {
        let records: Vec<&Image> = images.iter().filter_map(|id| self.state.image(*id)).map(Arc::as_ref).collect();
        let found = self.features().of(&self.state, &records, &Progress::default())?;
        Ok(records.iter().zip(found).filter_map(|(image, elements)| Some((image.id, elements?))).collect())
    }
}

/// The content of a library.
impl Library {
    /// The full path of an image's file.
    pub fn path(&self, image: ItemId) -> Option<PathBuf> {
        self.state.image(image).and_then(|image| self.state.path_of(image))
    }

    /// The images by the full paths of their files, removed ones too. Of two images of one path it
    /// is the first. O(files).
    pub fn by_path(&self) -> HashMap<PathBuf, ItemId> {
        export::by_path(&self.state)
    }

    /// A row for each image that is there: its full path, with its label and captions where they
    /// are asked for. Images without any of what is asked for are left out. Paths that are not text
    /// are given with replacement characters.
    pub fn rows(&self, labels: bool, captions: bool) -> Vec<TableRow> {
        export::rows(&self.state, labels, captions)
    }

    /// Why the recogniser compares with fewer images than have a class: what was computed of the
    /// others is lost, and their files cannot be read. `None` where it compares with all.
    pub fn unlearned(&self) -> Option<Error> {
        let missing = self.models.recogniser.missing();
        let path = missing.iter().find_map(|id| self.path(*id))?;
        let which = count(missing.len(), "labelled image");
        let found = format!("{which} whose features are not in {CACHE} and whose files cannot be read, such as {}", display(&path));
        let advice = "bring the files back, or say where they are now: by `It moved…` on the window's page Library, or by `tessera relocate LIBRARY OLD NEW`";
        Some(Error::data(&self.folder, "the features or the files of all labelled images", found, advice))
    }

    /// Every event, the oldest first.
    ///
    /// # Errors
    /// [`crate::Error::Io`]; [`crate::Error::Data`] when one is damaged.
    pub fn events(&self) -> Result<Vec<Event>> {
        self.store.events_after(0)
    }

    /// The hashes of forgotten files, which imports do not take in again.
    ///
    /// # Errors
    /// [`crate::Error::Io`].
    pub fn forgotten(&self) -> Result<HashSet<ContentHash>> {
        self.store.forgotten()
    }

    /// The thumbnail of an image as JPEG; none before its file could be read.
    ///
    /// # Errors
    /// [`crate::Error::Io`].
    pub fn thumbnail(&self, image: ItemId) -> Result<Option<Vec<u8>>> {
        match self.state.image(image).and_then(|image| image.content) {
            Some(content) => self.cache.thumbnail(content.hash),
            None => Ok(None),
        }
    }

    /// The perceptual hashes of the images that take part, for finding near copies.
    ///
    /// # Errors
    /// [`crate::Error::Io`].
    pub fn perceptual_hashes(&self) -> Result<BTreeMap<ItemId, Descriptor>> {
        let (mut hashes, is_damaged) = self.cache.perceptual_hashes()?;
        if is_damaged {
            // What was deleted is made again where the file still has the image's bytes.
            let without = self.state.images().filter(|image| image.content.is_some_and(|content| !hashes.contains_key(&content.hash)));
            let anew = |image: &Arc<Image>| {
                let (look, jpeg) = thumbnail_of(&self.state, image, &*self.decoder)?;
                Some((image.content?.hash, look, jpeg))
            };
            let made: Vec<_> = without.filter_map(anew).collect();
            self.cache.put_thumbnails(&made)?;
            hashes.extend(made.into_iter().map(|(hash, look, _)| (hash, look)));
        }
        Ok(self.state.images().filter_map(|image| Some((image.id, *hashes.get(&image.content?.hash)?))).collect())
    }

    /// Keeps a result that can be computed again, such as a report on the recogniser.
    ///
    /// # Errors
    /// [`crate::Error::Io`].
    pub fn keep_result(&self, name: &str, text: &str) -> Result<()> {
        self.cache.put_result(name, text)
    }

    /// A result that was kept.
    ///
    /// # Errors
    /// [`crate::Error::Io`].
    pub fn result(&self, name: &str) -> Result<Option<String>> {
        self.cache.result(name)
    }
}

/// How it is.
impl Library {
    /// How it is. O(images + files of the library).
    ///
    /// # Errors
    /// [`crate::Error::Io`] when its files cannot be read.
    pub fn health(&self) -> Result<Health> {
        health::health(&self.folder, &self.state, &self.store, &self.cache)
    }

    /// What is in memory of it. O(images + texts + words).
    pub fn in_memory(&self) -> InMemory {
        InMemory::of(&self.state, &self.models)
    }

    /// What is wrong with the library, each in a sentence; nothing when it is sound. Checks
    /// SQLite's own structures, the hash of every event and the chain of them, that replaying the
    /// events gives what the tables hold, the journal, the snapshots and the models.
    /// O(changes + images).
    ///
    /// # Errors
    /// [`crate::Error::Io`] when the files cannot be read at all.
    pub fn check(&self) -> Result<Vec<String>> {
        check::check(&self.folder, &self.state, &self.store, &self.models)
    }

    /// Why nothing is written to it; `None` where it can be.
    pub fn read_only(&self) -> Option<ReadOnly> {
        self.read_only
    }

    /// Refuses what would change it where nothing is written.
    ///
    /// # Errors
    /// [`crate::Error::ReadOnly`].
    pub fn check_writable(&self) -> Result<()> {
        self.store.check_writable()
    }

    /// Its last event and the head after it, which stands for the whole history.
    ///
    /// # Errors
    /// [`crate::Error::Io`]; [`crate::Error::Data`] when the last event is damaged.
    pub fn head(&self) -> Result<Head> {
        self.store.head()
    }

    /// Its history as the chain of events tells it. O(events).
    ///
    /// # Errors
    /// As [`Library::head`].
    pub fn chain(&self) -> Result<ChainSummary> {
        let joints = self.store.joints()?;
        let mut chain = ChainSummary::of(&joints);
        chain.add_lost(&self.store.lost_ends()?, &joints);
        Ok(chain)
    }

    /// Where a head that somebody noted stands in the history. O(events).
    ///
    /// # Errors
    /// As [`Library::head`].
    pub fn find_head(&self, noted: &NotedHead) -> Result<HeadPlace> {
        Ok(noted.find(&self.store.joints()?))
    }

    /// Takes a snapshot now.
    ///
    /// # Errors
    /// [`crate::Error::Io`], [`crate::Error::Data`] when what was written is not sound; the older
    /// ones stay then.
    pub fn take_snapshot(&mut self) -> Result<Snapshot> {
        self.store.check_writable()?;
        self.snapshots().take(&self.store, self.state.last_event())
    }

    /// Lets later imports try files again that brought decoders down.
    ///
    /// # Errors
    /// [`crate::Error::Io`].
    pub fn retry_skipped(&self) -> Result<()> {
        self.store.check_writable()?;
        self.cache.clear_quarantine()
    }

    /// Problems beside acts that succeeded, in sentences, since the last call.
    pub fn take_remarks(&mut self) -> Vec<String> {
        let mut all = self.take_mended();
        all.append(&mut self.remarks);
        all
    }

    /// What opening the library has found to be lost, in sentences.
    pub fn lost(&self) -> &[String] {
        &self.lost
    }

    /// The damage that was found when the library was opened, in sentences, whether it was repaired
    /// or not: that of its journal, and that of its cache. Damage of its database is an error.
    pub fn found(&self) -> &[String] {
        &self.found
    }

    /// What opening the library has repaired, in sentences; each is returned once.
    pub fn take_mended(&mut self) -> Vec<String> {
        std::mem::take(&mut self.mended)
    }
}
