//! Which classes a recogniser confuses, for reports on more of them than a matrix can show.

use tessera_core::eval::report::Report;

use super::class_tree::NameFilter;

/// Images of one class that were taken for another; classes are positions in the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confusion {
    /// Their class.
    pub truth: usize,
    /// The class that they were taken for.
    pub given: usize,
    /// How many they are.
    pub images: u32,
    /// Judged images of their class.
    pub of: u32,
}

/// All confusions of a report, the most images first, and of as many the larger share of the class
/// first. O(classes² + confusions * log).
pub fn worst(report: &Report) -> Vec<Confusion> {
    let mut found = Vec::new();
    for (truth, row) in report.confusion.iter().enumerate() {
        let of = row.iter().sum();
        let wrong = row.iter().enumerate().filter(|(given, images)| *given != truth && **images > 0);
        found.extend(wrong.map(|(given, &images)| Confusion { truth, given, images, of }));
    }
    found.sort_by_key(|one| (std::cmp::Reverse(one.images), one.of, one.truth, one.given));
    found
}

/// The classes of a matrix of at most `most`, in the order of the report: of those whose names pass
/// the filter, the ones that are confused with each other most, and then the first ones. `worst` is
/// that of the report. O(classes + confusions).
pub fn chosen(report: &Report, worst: &[Confusion], filter: &NameFilter, most: usize) -> Vec<usize> {
    let fits: Vec<bool> = report.classes.iter().map(|name| filter.fits(name)).collect();
    let mut chosen = Vec::new();
    let mut is_in = vec![false; fits.len()];
    let pairs = worst.iter().filter(|one| fits[one.truth] && fits[one.given]).map(|one| vec![one.truth, one.given]);
    let others = (0..fits.len()).filter(|class| fits[*class]).map(|class| vec![class]);
    for group in pairs.chain(others) {
        let new: Vec<usize> = group.into_iter().filter(|class| !is_in[*class]).collect();
        if chosen.len() + new.len() <= most {
            new.iter().for_each(|class| is_in[*class] = true);
            chosen.extend(new);
        }
        if chosen.len() == most {
            break;
        }
    }
    chosen.sort_unstable();
    chosen
}
