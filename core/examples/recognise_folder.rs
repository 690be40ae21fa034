//! Recognises images: toys are painted into a temporary folder, half of them learned, the others
//! classified.
#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use tessera_core::Result;
use tessera_core::ckm::Without;
use tessera_core::ckm::presets::Preset;
use tessera_core::data::toys::{ToyFormat, ToyOptions, generate};
use tessera_core::data::{Dataset, OpenOptions};
use tessera_core::error::Error;
use tessera_core::eval::recognition::{learn, test};
use tessera_core::picture::{Decoder, InProcess};
use tessera_core::progress::Progress;

fn main() -> Result<()> {
    let folder = tempfile::tempdir().map_err(Error::io("create", "a temporary folder"))?;
    let (decoder, progress) = (InProcess::default(), Progress::default());

    // Files such as `train/000123_truck_07_lt.jpg`: other instances of the same categories in
    // `train` and in `test`.
    let options = ToyOptions { instances: 4, views: 5, side: 64, format: ToyFormat::NorbNames, ..ToyOptions::default() };
    generate(&options, folder.path(), &progress)?;
    let train = Dataset::open(&folder.path().join("train"), &OpenOptions::default(), &progress)?;
    let other = Dataset::open(&folder.path().join("test"), &OpenOptions::default(), &progress)?;
    println!("{} images of {} to learn from", train.items.len(), train.classes.join(", "));

    // Training is one pass: every image is cut into its elements.
    let machine = learn(&train, |_| true, &Preset::Mixed.options(), &decoder, &progress)?.ckm;
    let tested = test(&machine, &other, |_| true, &decoder, &progress)?;
    println!("right in {:.0} % of {} images of objects never seen", 100.0 * tested.accuracy(), tested.n());

    // Why one image got its class: the pieces of training images that its own pieces were matched
    // with.
    let picture = decoder.decode(other.items[0].path(), options.side, &progress)?;
    let elements = machine.elements(&picture)?;
    let best = machine.scores(&elements, Without::Nothing).ranking()[0].0;
    let explanation = &machine.explain(&elements, Without::Nothing, &[best])[0];
    println!("{} is called {} for these pieces, among others:", other.items[0].name(), machine.classes()[best.index()].name);
    for piece in &explanation.contributions[..3] {
        if let Some(found) = &piece.matched {
            println!("  {:.3} at {:?}, as at {:?} of {}", piece.value, piece.position, found.position, found.name);
        }
    }
    Ok(())
}
