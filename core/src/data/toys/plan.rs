//! Which picture goes where, and the planted faults.

use std::collections::HashSet;

use super::category::Category;
use super::math::{Dice, Purpose};
use super::options::{ToyFormat, ToyOptions};
use super::view::CameraView;

/// Views of each instance that the sample keeps aside, and how far apart they are.
const KEPT_VIEWS: u32 = 4;
const KEPT_STEP: u32 = 3;

/// What is done to a picture before it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    WrongLabel,
    /// A copy, by its number from 0.
    Copy(u32),
    Corrupt,
}

/// One picture, or stereo pair, to be painted and where it goes.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) category: Category,
    pub(super) instance: u32,
    pub(super) number: u32,
    /// The path without camera and ending.
    pub(super) stem: String,
    pub(super) fault: Fault,
    /// For a fault: the path it would have, or of what it is a copy.
    pub(super) truth: String,
}

fn named(label: Category, instance: u32, view: &CameraView) -> String {
    format!("{}_{instance:02}_{}_{:02}_{}", label.name(), view.elevation, view.azimuth, view.lighting)
}

/// Every picture in the order of instances, views and categories, the planted ones last.
pub(super) fn plan(options: &ToyOptions) -> Vec<Job> {
    let mut jobs = Vec::new();
    let mut running = [0u32; 2];
    let n_kept = if options.sample { 2 } else { 0 };
    let root = if options.sample { "train/" } else { "" };
    let mut kept = Vec::new();
    for instance in 1..=options.instances {
        let aside = instance > options.instances - n_kept;
        let numbers: Vec<u32> = if aside {
            (0..KEPT_VIEWS).map(|i| i * KEPT_STEP).filter(|&n| n < options.views).collect()
        } else {
            (0..options.views).collect()
        };
        for number in numbers {
            for category in Category::ALL {
                let view = CameraView::of(options.seed, category, instance, number);
                let name = named(category, instance, &view);
                let stem = match options.format {
                    ToyFormat::NorbNames => {
                        let part = usize::from(instance > options.n_train());
                        running[part] += 1;
                        format!("{}/{:06}_{}_{instance:02}", ["train", "test"][part], running[part] - 1, category.name())
                    }
                    _ if aside => format!("try-these/{name}"),
                    _ => format!("{root}{}/{name}", category.name()),
                };
                let job = Job { category, instance, number, stem, fault: Fault::None, truth: String::new() };
                if aside { kept.push(job) } else { jobs.push(job) }
            }
        }
    }
    plant(options, root, &mut jobs);
    jobs.append(&mut kept);
    jobs
}

fn plant(options: &ToyOptions, root: &str, jobs: &mut Vec<Job>) {
    let faults = options.faults;
    let mut dice = Dice::new(options.seed, Purpose::Faults, 0, 0, 0);
    let mut order = dice.order(jobs.len()).into_iter();
    let mut taken: HashSet<String> = jobs.iter().map(|job| job.stem.clone()).collect();
    for _ in 0..faults.wrong_labels {
        for i in order.by_ref() {
            let job = &mut jobs[i];
            let label = Category::ALL[(job.category.index() + 1 + dice.below(Category::ALL.len() - 1)) % Category::ALL.len()];
            let view = CameraView::of(options.seed, job.category, job.instance, job.number);
            let stem = format!("{root}{}/{}", label.name(), named(label, job.instance, &view));
            // Another toy may have this view, and then its picture has this name.
            if taken.insert(stem.clone()) {
                job.truth = std::mem::replace(&mut job.stem, stem);
                job.fault = Fault::WrongLabel;
                break;
            }
        }
    }
    for (n, i) in order.take((faults.near_duplicates + faults.corrupt) as usize).enumerate() {
        let n = n as u32;
        let job = jobs[i].clone();
        let fault = if n < faults.near_duplicates { Fault::Copy(n) } else { Fault::Corrupt };
        let stem = format!("{root}{}/IMG_{:04}", job.category.name(), 2041 + n);
        jobs.push(Job { truth: job.stem, stem, fault, ..job });
    }
}
