//! What a machine does not take: elements of another one, and options out of their range.

use tessera_core::ckm::element::Elements;
use tessera_core::ckm::presets::Preset;
use tessera_core::ckm::{Ckm, CkmOptions, ElementKind, ElementSource, Example, Without};
use tessera_core::features::OrbOptions;
use tessera_core::ids::{ClassId, ItemId};
use tessera_core::picture::colour::ColourOptions;
use tessera_core::picture::hog::HogOptions;

use super::{machine, presets};
use crate::scenes::scene;

#[test]
fn what_counts_in_whole_images_alone_has_no_weight_and_is_not_alone() {
    let mut options = Preset::All.options();
    assert!(options.check().is_ok());
    let whole = options.kinds.iter().position(|kind| !kind.source.has_pieces()).unwrap();
    let kind = options.kinds[whole].clone();
    options.kinds[whole].kernel.weight = 0.5;
    let error = options.check().unwrap_err().to_string();
    assert!(error.contains("option `weight`") && error.contains("0.5 for network-classes"), "{error}");
    let error = CkmOptions { kinds: vec![kind], ..options }.check().unwrap_err().to_string();
    assert!(error.contains("option `elements`") && error.contains("has pieces"), "{error}");
}

#[test]
fn elements_of_another_machine_are_neither_learned_nor_scored() {
    let ckm = machine(Preset::Mixed.options(), 9);
    let mut narrow = ckm.options().clone();
    narrow.side = 64;
    let mut reordered = ckm.options().clone();
    reordered.kinds.swap(1, 2);
    let mut coarse = ckm.options().clone();
    coarse.kinds[2].source = ElementSource::Colour(ColourOptions { grid: 5 });
    let mut more = ckm.options().clone();
    more.kinds.push(more.kinds[0].clone());
    let picture = scene(3, 96, 80);
    for other in presets()[..3].iter().chain(&[narrow, reordered, coarse, more]) {
        let elements = Ckm::new(other.clone()).unwrap().elements(&picture.clone().into()).unwrap();
        let scores = ckm.scores(&elements, Without::Nothing);
        assert!(scores.of == [None; 3] && scores.ranking().is_empty() && scores.margin() == 0.0 && scores.prior() == 0.0);
        assert!(ckm.explain(&elements, Without::Nothing, &[ClassId(0)]).is_empty());
        let mut changed = ckm.clone();
        let error = changed
            .add("round", Example { id: ItemId(0), name: "x".into(), group: None, elements: elements.into() })
            .unwrap_err()
            .to_string();
        assert!(error.contains("option `elements`"), "{error}");
        assert_eq!(changed, ckm, "what was there under the identifier stays");
    }
    // Kernels take no part in cutting.
    let mut other_kernel = ckm.options().clone();
    other_kernel.kinds[0].kernel.weight = 0.5;
    let elements = Ckm::new(other_kernel).unwrap().elements(&picture.clone().into()).unwrap();
    assert_eq!(ckm.scores(&elements, Without::Nothing).ranking().len(), 3);
}

#[test]
fn elements_are_cut_only_by_options_in_their_range() {
    let picture = scene(3, 40, 40);
    let kind = |source: ElementSource| vec![ElementKind { source, kernel: Preset::Hog.options().kinds[0].kernel }];
    let wrong = [
        (8, Preset::Mixed.options().kinds),
        (64, Vec::new()),
        (64, kind(ElementSource::Hog(HogOptions { cell: 0, ..HogOptions::default() }))),
        (64, kind(ElementSource::Colour(ColourOptions { grid: 0 }))),
        (64, kind(ElementSource::Orb(OrbOptions { levels: 0, ..OrbOptions::default() }))),
    ];
    for (side, kinds) in wrong {
        let error = Elements::of(&picture.clone().into(), side, &kinds).unwrap_err().to_string();
        assert!(error.starts_with("option `"), "{error}");
    }
}

#[test]
fn wrong_options_are_refused_in_words() {
    let base = Preset::Mixed.options();
    let mut no_kind = base.clone();
    no_kind.kinds.clear();
    let mut no_rho = base.clone();
    no_rho.kinds[0].kernel.rho = 0.0;
    let with = |source: ElementSource| {
        let mut options = base.clone();
        options.kinds[0].source = source;
        options
    };
    let huge_grid = with(ElementSource::Colour(ColourOptions { grid: u32::MAX }));
    let no_noise = with(ElementSource::Hog(HogOptions { noise: f32::NAN, ..HogOptions::default() }));
    let wide_edge = with(ElementSource::Orb(OrbOptions { edge: usize::MAX, ..OrbOptions::default() }));
    let many_corners = with(ElementSource::Orb(OrbOptions { count: 10_001, ..OrbOptions::default() }));
    let many_kinds = CkmOptions { kinds: vec![base.kinds[0].clone(); 17], ..base.clone() };
    let wrong = [
        huge_grid,
        no_noise,
        wide_edge,
        many_corners,
        no_kind,
        many_kinds,
        no_rho,
        CkmOptions { side: 1, ..base.clone() },
        CkmOptions { decompositions: 0, ..base.clone() },
        CkmOptions { neighbours: 65, ..base.clone() },
    ];
    for options in wrong {
        let error = Ckm::new(options.clone()).map(|_| options).unwrap_err().to_string();
        assert!(error.starts_with("option `") && error.contains("must be"), "{error}");
    }
    let widest = CkmOptions { kinds: vec![base.kinds[0].clone(); 16], neighbours: 64, ..base.clone() };
    Ckm::new(widest).unwrap();
    Ckm::new(with(ElementSource::Orb(OrbOptions { count: 10_000, ..OrbOptions::default() }))).unwrap();
}
