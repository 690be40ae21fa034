//! The items of a NORB set.

use std::sync::Arc;

use super::dataset::{ClassesFrom, Dataset, ImageSource, Item, Labels, Layout, OpenOptions, UNLABELLED, count, group_name, preview};
use super::norb::NorbSet;
use super::shot::Camera;
use crate::ids::ClassId;

/// The items of a set.
pub(super) fn dataset(set: &Arc<NorbSet>, options: &OpenOptions) -> Dataset {
    let is_labelled = options.labels != Labels::None;
    let class_of = |pair: u32| if is_labelled { set.category_name(pair) } else { UNLABELLED };
    let mut classes: Vec<String> = (0..set.n_pairs()).map(|pair| class_of(pair).to_owned()).collect();
    classes.sort();
    classes.dedup();
    let items: Vec<Item> = (0..set.n_pairs())
        .map(|pair| {
            let index = 2 * pair + u32::from(options.camera == Camera::Right);
            let class = classes.partition_point(|name| name.as_str() < class_of(pair));
            let meta = set.meta(index);
            let category = set.category_name(pair);
            let group = meta.instance.map(|instance| group_name(category, &instance.to_string()));
            Item { source: ImageSource::Frame { set: set.clone(), index }, class: ClassId(class as u32), group, meta }
        })
        .collect();
    let (pairs, side) = (items.len(), if options.camera == Camera::Left { "left" } else { "right" });
    let size = format!("{} x {}", set.width(), set.height());
    let layout = Layout {
        classes_from: if is_labelled { ClassesFrom::Norb } else { ClassesFrom::Nowhere },
        pattern: None,
        words: format!("a NORB set of {} of {size} pixels, seen by the {side} camera", count(pairs, "stereo pair")),
        preview: preview(&items, &classes),
        pairs,
        ignored: 0,
        hidden: 0,
    };
    let root = set.path().to_owned();
    Dataset { root, classes, items, layout, skipped: Vec::new(), masks: Vec::new(), others: Vec::new() }
}
