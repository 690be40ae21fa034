//! An ensemble: advisers of several kinds and the mixture that combines their opinions, both
//! learning from the same labels.

use std::time::{Duration, Instant};

use super::member::{AdviserKind, Member};
use super::mixture::{Advice, Mixture, Opinion};
use super::views::Views;
use crate::bytes::{Reader, Stored, Writer};
use crate::error::Result;
use crate::ids::ClassId;
use crate::random::{self, Rng};

/// Advisers and their mixture. A copy is a checkpoint: it goes on as the original would have.
#[derive(Clone, Debug)]
pub struct Ensemble {
    kinds: Vec<AdviserKind>,
    members: Vec<Member>,
    mixture: Mixture,
    rng: Rng,
    times: Times,
}

/// The time that an ensemble has spent since it was made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// By adviser: to give opinions and to learn.
    pub advisers: Vec<Duration>,
    /// The mixture.
    pub mixture: Duration,
}

impl Times {
    fn none(advisers: usize) -> Self {
        Self { advisers: vec![Duration::ZERO; advisers], mixture: Duration::ZERO }
    }
}

/// The positions of the advisers that the mixture trusts most at first: the recogniser, which is
/// the most accurate after a few examples; without one, the advisers by nearest neighbours, which
/// need only one example of a class.
fn favourites(kinds: &[AdviserKind]) -> Vec<usize> {
    let places = |wanted: &[AdviserKind]| wanted.iter().filter_map(|kind| kinds.iter().position(|own| own == kind)).collect::<Vec<_>>();
    let recogniser = places(&[AdviserKind::Recogniser]);
    if recogniser.is_empty() { places(&[AdviserKind::LocalMeans, AdviserKind::Nearest]) } else { recogniser }
}

impl Ensemble {
    /// An untrained ensemble of advisers of these kinds, for items whose [`Views::whole`] has
    /// `dimension` components. `rng` breaks ties.
    ///
    /// # Errors
    /// [`crate::Error::Option`] for no adviser, or more than 64.
    pub fn new(kinds: &[AdviserKind], dimension: usize, rng: Rng) -> Result<Self> {
        let members = kinds.iter().map(|kind| Member::new(*kind, dimension)).collect::<Result<_>>()?;
        let favourites = favourites(kinds);
        let has_others = !favourites.is_empty() && favourites.len() < kinds.len();
        let mixture = if has_others { Mixture::favouring(&favourites, kinds.len())? } else { Mixture::new(kinds.len())? };
        Ok(Self { kinds: kinds.to_vec(), members, mixture, rng, times: Times::none(kinds.len()) })
    }

    /// The kinds of its advisers, in their order.
    pub fn kinds(&self) -> &[AdviserKind] {
        &self.kinds
    }

    /// The mixture: which classes are known, how much each adviser is trusted.
    pub fn mixture(&self) -> &Mixture {
        &self.mixture
    }

    /// The time it has spent so far.
    pub fn times(&self) -> &Times {
        &self.times
    }

    /// The opinion of each adviser on an item, in the order of [`Ensemble::kinds`].
    ///
    /// # Errors
    /// As [`super::Adviser::opinion`].
    pub fn opinions(&mut self, views: &Views) -> Result<Vec<Opinion>> {
        let mut opinions = Vec::with_capacity(self.members.len());
        for (member, time) in self.members.iter_mut().zip(&mut self.times.advisers) {
            let start = Instant::now();
            opinions.push(member.opinion(views, &mut self.rng)?);
            *time += start.elapsed();
        }
        Ok(opinions)
    }

    /// The combined advice on an item. Nothing that later calls depend on changes: neither what was
    /// learned nor the state of the random generator.
    ///
    /// # Errors
    /// As [`Ensemble::opinions`].
    pub fn advise(&mut self, views: &Views) -> Result<Advice> {
        let rng = self.rng.clone();
        let opinions = self.opinions(views);
        self.rng = rng;
        Ok(self.mixture.combine(&opinions?))
    }

    /// Learns the class of an item, and returns the combined advice as it was before.
    ///
    /// # Errors
    /// As [`Ensemble::opinions`]; [`crate::Error::Value`] for a class number that is too large.
    pub fn learn(&mut self, views: &Views, truth: ClassId) -> Result<Advice> {
        let opinions = self.opinions(views)?;
        let advice = self.learn_trust(&opinions, truth)?;
        self.teach(views, truth)?;
        Ok(advice)
    }

    /// Updates the weights of the mixture by the advisers' opinions on an item of this class; the
    /// advisers themselves learn nothing. Returns the combined advice as it was before.
    ///
    /// # Errors
    /// [`crate::Error::Value`] for a class number that is too large.
    pub fn learn_trust(&mut self, opinions: &[Opinion], truth: ClassId) -> Result<Advice> {
        let start = Instant::now();
        let advice = self.mixture.combine(opinions);
        self.mixture.learn(&advice, truth)?;
        self.times.mixture += start.elapsed();
        Ok(advice)
    }

    /// Teaches the advisers the class of an item; the weights of the mixture stay as they are.
    ///
    /// # Errors
    /// As [`super::Adviser::learn`].
    pub fn teach(&mut self, views: &Views, truth: ClassId) -> Result<()> {
        for (member, time) in self.members.iter_mut().zip(&mut self.times.advisers) {
            let start = Instant::now();
            member.learn(views, truth, &mut self.rng)?;
            *time += start.elapsed();
        }
        Ok(())
    }
}

/// What was saved goes on as the ensemble would have, to the last bit; the time that it has spent
/// is not kept.
impl Stored for Ensemble {
    fn write(&self, out: &mut Writer) {
        let names: Vec<String> = self.kinds.iter().map(|kind| kind.name().to_owned()).collect();
        out.put(&names);
        self.members.iter().for_each(|member| member.write(out));
        out.put(&self.mixture);
        out.bytes(&random::state(&self.rng));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let names: Vec<String> = from.get()?;
        let kind = |name: &String| AdviserKind::ALL.into_iter().find(|kind| kind.name() == name);
        let Some(kinds) = names.iter().map(kind).collect::<Option<Vec<AdviserKind>>>() else {
            return Err(from.wrong("names of advisers", names.join(", ")));
        };
        let members = kinds.iter().map(|kind| Member::read(*kind, from)).collect::<Result<Vec<_>>>()?;
        let mixture: Mixture = from.get()?;
        if mixture.n_advisers() != kinds.len() {
            return Err(from.wrong(format!("a mixture of {}", kinds.len()), mixture.n_advisers().to_string()));
        }
        let times = Times::none(kinds.len());
        Ok(Self { kinds, members, mixture, rng: random::restored(&from.bytes::<56>()?), times })
    }
}
