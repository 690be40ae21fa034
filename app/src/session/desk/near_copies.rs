//! Near copies in the library, as last looked for.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tessera_core::copies::{Extent, PixelDifference, Relation, Turn, pixel_difference};
use tessera_core::ids::ItemId;
use tessera_core::library::clearance::Clearance;
use tessera_core::library::copies::{Copies, Copy, find_copies};
use tessera_core::library::event::EventId;
use tessera_core::library::import::hold;
use tessera_core::library::state::State;

use super::context::{Context, Event};
use super::library_act::state_and;
use super::notices::{done, problem};
use super::part::Part;
use super::view::{Notice, Tone};
use crate::command::ImageQuery;
use crate::job::JobKind;
use crate::session::bin::{PutBack, taken};

/// The longer side, in pixels, of pictures whose difference is drawn.
const COMPARED: u32 = 2048;

/// Files, each with the image that it holds.
type Files = Vec<(ItemId, PathBuf)>;

/// Near copies, as last looked for.
#[derive(Default)]
pub struct NearCopies {
    found: Option<(f64, Copies)>,
    /// The files of the library when they were looked for.
    looked_at: usize,
    /// Files that came to the library since.
    new: usize,
    groups: Arc<Vec<CopyGroup>>,
    /// Files that are not there any more.
    gone: HashSet<PathBuf>,
    /// Files of images that stay which went to the bin, each time after which act; the last last.
    binned: Vec<(Option<EventId>, Files)>,
    /// Files that were to come back from the bin when it was stopped: the next undo asks for them
    /// again.
    unfinished: Files,
    /// What is to be put back once that which is being put back is there.
    waiting: VecDeque<Wanted>,
    is_putting_back: bool,
    difference: Option<(ItemId, ItemId, Result<Arc<PixelDifference>, String>)>,
}

/// Images of which all but the first are copies of the first.
#[derive(Clone, Debug, PartialEq)]
pub struct CopyGroup {
    /// The images, the best first. One alone lies in several files.
    pub images: Vec<Copy>,
    /// The files of all of them.
    pub files: usize,
    /// Files that are there beside one of each image.
    pub further: usize,
    /// Images that show the same object as the first, as folders or names tell: other views of it
    /// may look like copies.
    pub views: usize,
}

/// What was done to the best image of a group to make that copy of it which is farthest from it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum CopyKind {
    SamePixels,
    /// Recompressed or resized.
    Rewritten,
    /// Rotated, mirrored or cropped.
    Turned,
}

impl CopyGroup {
    fn kind(&self) -> CopyKind {
        let of = |copy: &Copy| match copy.relation {
            Relation::Identical | Relation::SamePixels => CopyKind::SamePixels,
            Relation::Changed { turn, part: Extent::Whole, .. } if turn == Turn::default() => CopyKind::Rewritten,
            Relation::Changed { .. } => CopyKind::Turned,
        };
        // The first counts, too: when the best is gone, it is told what was done to that one.
        self.images.iter().map(of).max().unwrap_or(CopyKind::SamePixels)
    }

    /// Whether two of its images that have captions have others, or two that have a class another.
    fn differs_in_words(&self, state: &State) -> bool {
        let mut captions: HashSet<BTreeSet<&str>> = HashSet::new();
        let mut classes: HashSet<&str> = HashSet::new();
        for image in self.images.iter().filter_map(|copy| state.image(copy.image)) {
            let texts: BTreeSet<&str> = image.captions.iter().map(|caption| caption.text.as_str()).collect();
            if !texts.is_empty() {
                captions.insert(texts);
            }
            classes.extend(image.label());
        }
        captions.len() > 1 || classes.len() > 1
    }
}

/// What goes when the best image of each group is kept, and how sure it is that these are copies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CopiesToClear {
    /// Of groups that hold one picture: neither rotated, mirrored nor cropped, no other views
    /// unless the pixels are the same, and captions and classes do not differ.
    pub sure: Vec<Clearance>,
    /// Of the other groups.
    pub unsure: Vec<Clearance>,
    /// Groups of the same pixels in several files.
    pub same_pixels: usize,
    /// Groups of which a copy was recompressed or resized.
    pub rewritten: usize,
    /// Groups of which a copy was rotated, mirrored or cropped.
    pub turned: usize,
    /// Groups in which captions or classes differ.
    pub differing: usize,
    /// Groups in which pixels differ and that may hold other views of one object.
    pub views: usize,
}

impl CopiesToClear {
    /// That of some groups. O(images of the groups).
    pub fn of(groups: &[CopyGroup], state: &State) -> Self {
        let mut all = Self::default();
        for group in groups {
            let Some(clearance) = Clearance::keeping(group.images[0].image, &group.images) else { continue };
            let (kind, differs) = (group.kind(), group.differs_in_words(state));
            let has_views = kind != CopyKind::SamePixels && group.views > 0;
            match kind {
                CopyKind::SamePixels => all.same_pixels += 1,
                CopyKind::Rewritten => all.rewritten += 1,
                CopyKind::Turned => all.turned += 1,
            }
            all.differing += usize::from(differs);
            all.views += usize::from(has_views);
            let is_sure = kind != CopyKind::Turned && !differs && !has_views;
            let list = if is_sure { &mut all.sure } else { &mut all.unsure };
            list.push(clearance);
        }
        all
    }
}

/// Files that are to come back from the bin.
enum Wanted {
    /// Those that went there while their images stayed.
    Files(Files),
    /// Those of the images that an undo has brought back: the states before and after it.
    Undone(Box<(State, State)>),
}

impl Wanted {
    fn files(self) -> Files {
        match self {
            Self::Files(files) => files,
            Self::Undone(states) => taken(&states.0, &states.1),
        }
    }
}

/// What was found.
pub(super) enum Message {
    /// Near copies within a distance.
    Found(f64, Copies),
    /// Files of copies that are not there any more.
    Gone(HashSet<PathBuf>),
    /// Files of images that have others, which lie in the bin now, after this act.
    Binned(Option<EventId>, Files),
    /// An act was undone with which files went to the bin: the states before and after that.
    Undone(Box<(State, State)>),
    /// Files that went to the bin may be there again, but for those that were not reached.
    PutBack(Files),
    /// Where an image and a copy of it differ, or why that is not known.
    Difference(ItemId, ItemId, Result<Arc<PixelDifference>, String>),
}

impl Part for NearCopies {
    type Message = Message;

    fn new(_: &Context) -> io::Result<Self> {
        Ok(Self::default())
    }

    fn take_in(&mut self, ctx: &mut Context, message: Message) {
        match message {
            Message::Found(distance, copies) => {
                (self.found, self.gone) = (Some((distance, copies)), HashSet::new());
                self.looked_at = ctx.state().map_or(0, all_files);
                self.regroup(ctx);
            }
            Message::Gone(gone) => {
                self.gone = gone;
                self.regroup(ctx);
            }
            Message::Binned(after, files) => {
                self.gone.extend(files.iter().map(|(_, file)| file.clone()));
                if !files.is_empty() {
                    self.binned.push((after, files));
                }
                self.regroup(ctx);
            }
            Message::Undone(states) => self.put_back(ctx, Wanted::Undone(states)),
            Message::PutBack(stopped) => {
                self.is_putting_back = false;
                self.unfinished.extend(stopped);
                self.look_for_files(ctx);
                if let Some(next) = self.waiting.pop_front() {
                    self.put_back(ctx, next);
                }
            }
            Message::Difference(image, copy, outcome) => self.difference = Some((image, copy, outcome)),
        }
    }

    fn hear(&mut self, ctx: &mut Context, event: Event) {
        match event {
            Event::Closed => *self = Self::default(),
            Event::Changed => {
                let copies = |groups: &[CopyGroup]| groups.iter().map(|group| group.files).sum::<usize>();
                let before = copies(&self.groups);
                self.regroup(ctx);
                // Images have come back, whose files may not have.
                if copies(&self.groups) > before {
                    self.look_for_files(ctx);
                }
            }
            Event::First | Event::Opened | Event::Ready | Event::Learned(_) | Event::Seen => {}
        }
    }
}

impl NearCopies {
    /// The groups of images that take part now, those with the most files first.
    pub fn groups(&self) -> &Arc<Vec<CopyGroup>> {
        &self.groups
    }

    /// Files that came to the library since copies were looked for, fewer those that went.
    pub fn new_files(&self) -> usize {
        self.new
    }

    /// The distance that was last looked for; `None` before that.
    pub fn distance(&self) -> Option<f64> {
        self.found.as_ref().map(|(distance, _)| *distance)
    }

    /// Where an image and a copy of it differ, or why that is not known; `None` before it was asked
    /// for and is there.
    pub fn difference(&self, image: ItemId, copy: ItemId) -> Option<Result<&Arc<PixelDifference>, &str>> {
        let (_, _, outcome) = self.difference.as_ref().filter(|(one, other, _)| (*one, *other) == (image, copy))?;
        Some(outcome.as_ref().map_err(String::as_str))
    }

    /// How often files went to the bin since the last act of the library, while their images
    /// stayed.
    pub fn binned_since(&self, state: &State) -> usize {
        let last = state.history().last().map(|act| act.id);
        self.binned.iter().rev().take_while(|(after, _)| *after == last).count()
    }

    /// What an undo puts back from the bin before one takes back the last act, in words.
    pub fn to_put_back(&self, state: &State) -> Option<&'static str> {
        if !self.unfinished.is_empty() {
            return Some("files that are still in the bin");
        }
        (self.binned_since(state) > 0).then_some("files moved to the bin")
    }

    /// So many undos put files back before one takes back the last act.
    pub fn undos_first(&self, state: &State) -> usize {
        usize::from(!self.unfinished.is_empty()) + self.binned_since(state)
    }

    /// Goes on putting files back, or puts those back that went to the bin after the last act.
    /// Returns whether there were any: only then the last thing that was done is no act of the
    /// library.
    pub(super) fn undo(&mut self, ctx: &mut Context) -> bool {
        if ctx.state().is_none_or(|state| self.undos_first(state) == 0) {
            return false;
        }
        // Those that were not reached are asked for with any others.
        let files = if self.unfinished.is_empty() { self.binned.pop() } else { None };
        self.put_back(ctx, Wanted::Files(files.map_or_else(Files::new, |(_, files)| files)));
        true
    }

    /// Puts files back from the bin, of which a notice tells.
    fn put_back(&mut self, ctx: &mut Context, wanted: Wanted) {
        if std::mem::replace(&mut self.is_putting_back, true) {
            self.waiting.push_back(wanted);
            return;
        }
        let mut files = std::mem::take(&mut self.unfinished);
        ctx.library_job(JobKind::PutBack, move |session, library| {
            files.extend(wanted.files());
            files.sort();
            files.dedup();
            let put_back = session.put_back(library, &files);
            let stopped = put_back.as_ref().map_or_else(|_| Vec::new(), |put_back| put_back.stopped.clone());
            let notice = match put_back {
                Ok(put_back) if put_back == PutBack::default() => None,
                Ok(put_back) if put_back.left.is_empty() => Some(done(put_back.in_words())),
                Ok(put_back) if !put_back.stopped.is_empty() => Some(problem(format!("{}; Ctrl+Z goes on", put_back.in_words()))),
                Ok(put_back) => Some(problem(put_back.in_words())),
                Err(error) => Some(problem(error)),
            };
            let mut told: Vec<super::Message> = vec![super::Message::State(hold(library).state().clone())];
            told.extend(notice.map(Into::into));
            told.push(Message::PutBack(stopped).into());
            Ok(super::Message::from(told))
        });
    }

    /// Leaves out images that were removed since, or said to be no copies; they come back with an
    /// undo.
    fn regroup(&mut self, ctx: &Context) {
        let Some(((_, found), state)) = self.found.as_ref().zip(ctx.state()) else { return };
        self.new = all_files(state).saturating_sub(self.looked_at);
        self.groups = Arc::new(found.groups.iter().filter_map(|group| present(group, state, &self.gone)).collect());
    }

    /// Finds out which files are not there: an undo brings images back whose files stay in the bin.
    fn look_for_files(&self, ctx: &Context) {
        let Some((_, found)) = &self.found else { return };
        let files: Vec<PathBuf> = found.groups.iter().flatten().map(|copy| copy.path.clone()).collect();
        ctx.short(move || super::Message::from(Message::Gone(files.into_iter().filter(|file| !file.exists()).collect())));
    }
}

/// The files of all images that are there. O(images).
fn all_files(state: &State) -> usize {
    state.images().map(|image| image.files().count()).sum()
}

/// What is still there of a group, if that is more than one file.
fn present(group: &[Copy], state: &State, gone: &HashSet<PathBuf>) -> Option<CopyGroup> {
    let is_live = |copy: &Copy| !gone.contains(&copy.path) && state.image(copy.image).is_some_and(|image| image.is_live());
    let best = group.iter().find(|copy| is_live(copy))?.image;
    let is_there = |copy: &&Copy| is_live(copy) && !state.are_no_copies(best, copy.image);
    let files = group.iter().filter(is_there).count();
    let mut images: Vec<Copy> = group.iter().filter(is_there).cloned().collect();
    images.dedup_by_key(|copy| copy.image);
    let views = state.views_among(best, images.iter().map(|copy| copy.image));
    let further = images.iter().filter_map(|copy| state.image(copy.image)).map(|image| image.files().count().saturating_sub(1)).sum();
    (files > 1).then_some(CopyGroup { images, files, further, views })
}

/// Removes images with their files, of which a notice tells.
pub(super) fn clear(ctx: &mut Context, cleared: Vec<Clearance>) {
    ctx.library_job(JobKind::MoveToBin, move |session, library| {
        let binned = session.remove_to_bin(library, &cleared)?;
        let notice = match binned.event {
            Some(event) => {
                // Others may have acted since.
                let words = hold(library).state().history().iter().find(|act| act.id == event).map(|act| act.words.clone());
                let words = format!("{}: {}", words.as_deref().unwrap_or("Removed, and brought back"), binned.in_words());
                Notice { undo: Some(event), ..Notice::new(words, Tone::Done) }
            }
            None => problem(format!("Nothing was removed: {}", binned.in_words())),
        };
        Ok(super::Message::from(state_and(library, notice)))
    });
}

/// Moves files to the bin, each one of several files of its image, of which a notice tells.
pub(super) fn clear_files(ctx: &mut Context, files: Arc<Vec<(ItemId, PathBuf)>>) {
    ctx.library_job(JobKind::MoveToBin, move |session, library| {
        let binned = session.files_to_bin(library, &files)?;
        let words = binned.in_words();
        let notice = match (binned.moved.is_empty(), binned.left.is_empty()) {
            (false, true) => done(format!("{words}; Ctrl+Z puts back what went there")),
            (false, false) => problem(format!("{words}; Ctrl+Z puts back what went there")),
            (true, _) => problem(words),
        };
        let mut told = state_and(library, notice);
        // Files are no part of the state's history, so their absence is told apart.
        let last = hold(library).state().history().last().map(|act| act.id);
        let moved: HashSet<PathBuf> = binned.moved.into_iter().collect();
        told.push(Message::Binned(last, files.iter().filter(|(_, file)| moved.contains(file)).cloned().collect()).into());
        Ok(super::Message::from(told))
    });
}

/// Looks for near copies within a distance.
pub(super) fn find(ctx: &mut Context, distance: f64) {
    ctx.library_job(JobKind::FindCopies, move |session, library| {
        Ok(super::Message::from(Message::Found(distance, find_copies(library, distance, session.progress())?)))
    });
}

/// Draws where an image and a copy of it differ.
pub(super) fn draw_difference(ctx: &mut Context, image: ItemId, copy: ItemId) {
    ctx.library_job(JobKind::DrawDifference, move |session, library| {
        let state = hold(library).state().clone();
        let picture = |image| session.pixels_of(&ImageQuery::Item(image), Some(&state), COMPARED).map(|pixels| pixels.picture.pixels);
        let both = picture(image).and_then(|one| Ok((one, picture(copy)?)));
        let outcome = match both {
            Ok((one, other)) => Ok(Arc::new(pixel_difference(&one, &other, session.progress())?)),
            Err(error) => Err(error.to_string()),
        };
        Ok(super::Message::from(Message::Difference(image, copy, outcome)))
    });
}
