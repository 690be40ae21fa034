//! Three sentences about a picture, true by construction.

use super::category::Category;
use super::view::CameraView;

/// The captions of a picture: what it is and its looks, where it is seen from, how it stands and is
/// lit.
pub(super) fn captions(category: Category, colour: &str, pattern: &str, view: &CameraView) -> [String; 3] {
    let name = category.name();
    let (side, light) = (view.side(), view.light());
    let height = match view.elevation {
        0..=2 => "from slightly above",
        3..=5 => "from above",
        _ => "from high above",
    };
    let article = |word: &str| if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    [
        format!("a {pattern} {colour} {name} from the {side}, lit {light}"),
        format!("{} {name} in {colour}, {pattern}, seen {height}", article(name)),
        format!("the {side} of {} {colour} toy {name} with a {pattern} surface", article(colour)),
    ]
}
