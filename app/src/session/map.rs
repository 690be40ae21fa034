//! The map of a collection: its images as points in the plane, near each other where they are
//! alike; and what their colours mean.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Mutex;

use tessera_core::eval::report::Report;
use tessera_core::ids::ItemId;
use tessera_core::layout::{Components, NEIGHBORS, PlanePoint, Tsne, TsneOptions, trustworthiness};
use tessera_core::library::Library;
use tessera_core::library::clusters::{ImageCluster, titles};
use tessera_core::library::event::ClassStyle;
use tessera_core::library::import::hold;
use tessera_core::library::looks::{self, Look, LookRows};
use tessera_core::library::state::{Image, State};
use tessera_core::progress::Progress;
use tessera_core::utc::utc;
use tessera_core::{Error, Result};

use super::reports::is_right;
use super::{Session, colours};

/// Images at which the trustworthiness is measured, at most.
const MEASURED: usize = 1000;
/// The name of images without a class.
const NO_CLASS: &str = "no class";
/// The name of images without a cluster, or in one far smaller than the others.
const NO_CLUSTER: &str = "no large cluster";
/// Steps of a scale that a legend shows.
const STEPS: usize = 5;
/// Colours that are looked through for one that nothing has.
const FREE: u32 = 2000;
/// Nanoseconds in a millisecond.
const PER_MILLISECOND: i64 = 1_000_000;
/// Letters of a time as it is written, up to its day and its second.
const DAY: usize = 10;
const SECOND: usize = 19;

/// The images of a map with the vectors that they are laid out by.
#[derive(Debug)]
pub struct MapPoints {
    /// By which vectors.
    pub by: Look,
    /// The images that have one, in order, and the vectors.
    pub rows: LookRows,
    /// The images without one, in order.
    pub left_out: Vec<ItemId>,
    /// Their principal components.
    pub components: Components,
}

/// What the colour of a point says. Whatever gives each image a name or a value can be added here
/// and in [`Colouring::new`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MapColour {
    /// The image's class.
    #[default]
    Class,
    /// How sure the recogniser is of its own answer, with the image's object left out.
    Score,
    /// Whether that answer is the image's class.
    Error,
    /// When its file was last changed.
    Date,
    /// The cluster that it was found in.
    Cluster,
}

impl MapColour {
    /// All of them, in order.
    pub const ALL: [Self; 5] = [Self::Class, Self::Score, Self::Error, Self::Date, Self::Cluster];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Class => "class",
            Self::Score => "score",
            Self::Error => "error",
            Self::Date => "date",
            Self::Cluster => "cluster",
        }
    }

    /// Its name in the window, and what it means in a sentence.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Class => ("Class", "The class of each image"),
            Self::Score => ("Score", "How sure the recogniser is of its own answer, as it was last judged, without the image's object"),
            Self::Error => ("Error", "Whether that answer is the image's class"),
            Self::Date => ("Date", "When the image's file was last changed"),
            Self::Cluster => ("Cluster", "The cluster of each image, as the page Clusters found them"),
        }
    }
}

/// An entry of a legend.
#[derive(Clone, Debug, PartialEq)]
pub struct LegendEntry {
    /// What the colour means.
    pub name: String,
    /// The colour: red, green, blue.
    pub colour: [u8; 3],
    /// Images that have it; `None` where it is a step of a scale.
    pub images: Option<usize>,
}

/// The colours of the points of a map, and what they mean.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Colouring {
    /// A colour for each point.
    pub colours: Vec<[u8; 3]>,
    /// What they mean.
    pub legend: Vec<LegendEntry>,
}

/// The lowest and the highest of values; infinite where there are none.
fn bounds(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}

impl Colouring {
    /// The colours of these images. `report` is the last one on the recogniser, `clusters` are
    /// those found last, the largest first. O(images).
    pub fn new(state: &State, report: Option<&Report>, clusters: &[ImageCluster], images: &[ItemId], colour: MapColour) -> Self {
        let judged: HashMap<ItemId, _> = report.iter().flat_map(|report| &report.judged).map(|judged| (judged.image, judged)).collect();
        // What was removed since has no colour.
        let image = |id: &ItemId| state.image(*id).map(AsRef::as_ref).filter(|image: &&Image| image.is_live());
        match colour {
            MapColour::Class => {
                let looks: HashMap<Option<&str>, (u32, [u8; 3])> = classes(state);
                let none = (u32::MAX, colours::UNKNOWN);
                Self::of_names(images.iter().map(|id| {
                    let class = image(id)?.label();
                    let (position, colour) = looks.get(&class).copied().unwrap_or(none);
                    Some((position, class.unwrap_or(NO_CLASS), colour))
                }))
            }
            MapColour::Error => {
                let verdict = |id: &ItemId| {
                    image(id)?;
                    Some(match judged.get(id).and_then(|judged| is_right(state, report?, judged)) {
                        Some(true) => (0, "right", colours::RIGHT),
                        Some(false) => (1, "wrong", colours::WRONG),
                        None => (u32::MAX, "not judged", colours::UNKNOWN),
                    })
                };
                Self::of_names(images.iter().map(verdict))
            }
            MapColour::Score => {
                let words = |value: f64| format!("{value:.2}");
                Self::of_values(images.iter().map(|id| Some(judged.get(id)?.confidence)), Some((0.0, 1.0)), words, "not judged")
            }
            MapColour::Date => {
                let modified = |id: &ItemId| Some((image(id)?.place()?.modified / PER_MILLISECOND) as f64);
                let date = |value: f64, length| utc(value as i64).chars().take(length).collect::<String>();
                let (first, last) = bounds(images.iter().filter_map(modified));
                let length = if date(first, DAY) == date(last, DAY) { SECOND } else { DAY };
                Self::of_values(images.iter().map(modified), None, |value| date(value, length), "no file")
            }
            MapColour::Cluster => {
                let (titles, colours) = (titles(clusters), cluster_colours(state, clusters));
                let each = clusters.iter().zip(0..).flat_map(|(cluster, place)| cluster.images.iter().map(move |id| (*id, place)));
                let places: HashMap<ItemId, u32> = each.collect();
                Self::of_names(images.iter().map(|id| {
                    image(id)?;
                    let place = places.get(id).copied().unwrap_or(u32::MAX);
                    let title = titles.get(place as usize);
                    let colour = colours.get(place as usize).copied().unwrap_or(colours::UNKNOWN);
                    Some((place, title.map_or(NO_CLUSTER, String::as_str), colour))
                }))
            }
        }
    }

    /// Colours of things with names, in the order of their numbers.
    fn of_names<'a>(each: impl Iterator<Item = Option<(u32, &'a str, [u8; 3])>>) -> Self {
        let mut entries: BTreeMap<(u32, &str), ([u8; 3], usize)> = BTreeMap::new();
        let mut all = Vec::new();
        for one in each {
            let Some((number, name, colour)) = one else {
                all.push(colours::UNKNOWN);
                continue;
            };
            all.push(colour);
            entries.entry((number, name)).or_insert((colour, 0)).1 += 1;
        }
        let entry = |((_, name), (colour, images)): ((u32, &str), ([u8; 3], usize))| LegendEntry {
            name: name.to_owned(),
            colour,
            images: Some(images),
        };
        Self { colours: all, legend: entries.into_iter().map(entry).collect() }
    }

    /// Colours of values between two bounds, or else between the lowest and the highest.
    fn of_values(
        each: impl Iterator<Item = Option<f64>>,
        within: Option<(f64, f64)>,
        words: impl Fn(f64) -> String,
        unknown: &str,
    ) -> Self {
        let values: Vec<Option<f64>> = each.collect();
        let known = values.iter().flatten().copied();
        let (low, high) = within.unwrap_or_else(|| bounds(known.clone()));
        let share = |value: f64| if high > low { (value - low) / (high - low) } else { 0.5 };
        let n = known.count();
        let steps = match n {
            0 => 0,
            _ if high > low => STEPS,
            _ => 1,
        };
        let step = |i: usize| {
            let value = if steps > 1 { low + (high - low) * i as f64 / (steps - 1) as f64 } else { low };
            LegendEntry { name: words(value), colour: colours::of_share(share(value)), images: None }
        };
        let mut legend: Vec<LegendEntry> = (0..steps).map(step).collect();
        if values.len() > n {
            legend.push(LegendEntry { name: unknown.to_owned(), colour: colours::UNKNOWN, images: Some(values.len() - n) });
        }
        let colour = |value: Option<f64>| value.map_or(colours::UNKNOWN, |value| colours::of_share(share(value)));
        Self { colours: values.into_iter().map(colour).collect(), legend }
    }
}

/// The position and the colour of each class.
fn classes(state: &State) -> HashMap<Option<&str>, (u32, [u8; 3])> {
    let of = |(name, look): (_, ClassStyle)| (Some(name), (look.position, colours::class(look.position, look.colour)));
    state.classes().into_iter().map(of).collect()
}

/// A colour for each cluster: that of the class whose name it bears, if no other cluster has it
/// already, or else one that no class has, as long as there are any.
fn cluster_colours(state: &State, clusters: &[ImageCluster]) -> Vec<[u8; 3]> {
    let classes = classes(state);
    let mut taken: HashSet<[u8; 3]> = classes.values().map(|(_, colour)| *colour).collect();
    let mut of_classes: HashMap<&str, [u8; 3]> = classes.into_iter().filter_map(|(class, (_, colour))| Some((class?, colour))).collect();
    let (mut colours, mut given) = (vec![None; clusters.len()], HashSet::new());
    // Those with more right to the name come first.
    for is_named in [true, false] {
        for (colour, cluster) in colours.iter_mut().zip(clusters).filter(|(_, cluster)| cluster.is_named == is_named) {
            // Two classes may have one colour by the user's choice.
            let own = cluster.name.as_deref().and_then(|name| of_classes.remove(name));
            *colour = own.filter(|own| given.insert(*own));
        }
    }
    let mut free = (0..FREE).map(|position| colours::class(position, None)).filter(|free| taken.insert(*free));
    let others = (0..).map(|place| colours::class(place, None));
    colours.into_iter().zip(others).map(|(own, other)| own.or_else(|| free.next()).unwrap_or(other)).collect()
}

/// Places in the unit square, x to the right and y down, with the same scale along both: what is
/// shorter is in the middle. Points that are all in one place are in the middle of the square.
pub fn in_square(places: &[PlanePoint]) -> Vec<PlanePoint> {
    let (mut low, mut high) = ([f32::INFINITY; 2], [f32::NEG_INFINITY; 2]);
    for place in places {
        for axis in 0..2 {
            low[axis] = low[axis].min(place[axis]);
            high[axis] = high[axis].max(place[axis]);
        }
    }
    let span = (high[0] - low[0]).max(high[1] - low[1]);
    let scale = if span > 0.0 { 1.0 / span } else { 0.0 };
    let put = |place: &PlanePoint| [0, 1].map(|axis| 0.5 + (place[axis] - f32::midpoint(low[axis], high[axis])) * scale);
    places.iter().map(put).collect()
}

impl Session {
    /// The vectors of all images of a library, by these or by the usual ones, with their principal
    /// components. The library is held only for moments.
    ///
    /// # Errors
    /// [`Error::Unfit`] when it has no such vectors; [`Error::Io`], [`Error::Cancelled`].
    pub fn map_points(&self, library: &Mutex<Library>, by: Option<&Look>) -> Result<MapPoints> {
        self.check_look(&hold(library), by)?;
        let by = self.load_looks(library, by)?;
        self.on_threads(|| {
            let mut left_out: Vec<ItemId> = hold(library).state().images().map(|image| image.id).collect();
            let rows = looks::rows(library, &by, self.progress())?;
            left_out.retain(|id| rows.images.binary_search(id).is_err());
            let components = Components::new(&rows.values, rows.dimension, self.seed());
            Ok(MapPoints { by, rows, left_out, components })
        })
    }

    fn check_look(&self, library: &Library, by: Option<&Look>) -> Result<()> {
        let expected = match by {
            Some(Look::Network) if !library.has_learned_features() => {
                "given where learned features are on, which `tessera train LIBRARY --learned-features on` turns on"
            }
            Some(Look::Brought(set)) if !library.state().vector_sets().contains_key(&**set) => {
                "appearance, edges, colours, network, words, elements or a set that `tessera vectors` lists"
            }
            _ => return Ok(()),
        };
        Err(Error::Option { name: "--by", found: by.map_or("", Look::name).to_owned(), expected })
    }

    /// The beginning of a layout that keeps neighbours together.
    ///
    /// # Errors
    /// As [`Tsne::new`].
    pub fn map_layout(&self, points: &MapPoints, options: TsneOptions) -> Result<Tsne> {
        self.on_threads(|| Tsne::new(&points.components, options, self.progress()))
    }

    /// How far the neighbours in a map can be trusted, measured at up to 1,000 of the images.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn map_trust(&self, points: &MapPoints, places: &[PlanePoint], progress: &Progress) -> Result<f64> {
        let LookRows { values, dimension, .. } = &points.rows;
        self.on_threads(|| trustworthiness(values, *dimension, places, NEIGHBORS, (MEASURED, self.seed()), progress))
    }
}

/// What kind of file a map is written to, by the ending of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapFile {
    /// Vectors.
    Svg,
    /// Pixels.
    Png,
    /// A table.
    Csv,
}

impl MapFile {
    /// By the ending of a name.
    ///
    /// # Errors
    /// [`Error::Option`] for any other ending.
    pub fn of(path: &Path) -> Result<Self> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
        match ending.as_str() {
            "svg" => Ok(Self::Svg),
            "png" => Ok(Self::Png),
            "csv" => Ok(Self::Csv),
            _ => Err(Error::Option {
                name: "--to",
                found: path.to_string_lossy().into_owned(),
                expected: "a name that ends in .svg, .png or .csv",
            }),
        }
    }
}
