//! Finds near copies among the images of a folder: prints a line for each pair, with the distance
//! and what was done to the first to make the second, parted by tabs.
//!
//!     cargo run --release -p tessera-core --example near_copies -- [FOLDER] [DISTANCE]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example prints what it found, and how long it took")]

use rayon::prelude::*;
use tessera_core::Result;
use tessera_core::copies::{NEAR, Signature, candidates, compare};
use tessera_core::data::{Dataset, OpenOptions};
use tessera_core::picture::decode::SIDE;
use tessera_core::picture::{Decoder, InProcess, thumbnail};
use tessera_core::progress::Progress;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| "assets/sample".into());
    let most = arguments.next().and_then(|number| number.parse().ok()).unwrap_or(NEAR);
    let (decoder, progress) = (InProcess::default(), Progress::default());
    let mut images = Dataset::open(folder.as_ref(), &OpenOptions { unlabelled_too: true, ..OpenOptions::default() }, &progress)?.items;

    // A signature of each that can be read, of its thumbnail.
    let begun = std::time::Instant::now();
    let small = |path| Ok(thumbnail::encode(&thumbnail::shrink(&decoder.decode(path, SIDE, &progress)?.pixels)));
    let read: Vec<Result<Vec<u8>>> = images.par_iter().map(|image| small(image.path())).collect();
    let mut kept = read.iter().map(Result::is_ok);
    images.retain(|_| kept.next() == Some(true));
    let mut thumbnails = Vec::with_capacity(images.len());
    for thumbnail in read {
        match thumbnail {
            Ok(bytes) => thumbnails.push(thumbnail::decode(&bytes).unwrap_or_default()),
            Err(error) => eprintln!("left out: {error}"),
        }
    }
    let signatures: Vec<Signature> = thumbnails.par_iter().map(Signature::of).collect();
    let flat = signatures.iter().filter(|signature| signature.is_flat()).count();
    eprintln!("{} images, {flat} of them flat, read in {:.1} s", images.len(), begun.elapsed().as_secs_f64());

    // Pairs that may be copies, and how far each is apart.
    let begun = std::time::Instant::now();
    let found = candidates(&signatures, &progress)?;
    eprintln!("{} candidates in {:.1} s", found.len(), begun.elapsed().as_secs_f64());
    let begun = std::time::Instant::now();
    let compared: Vec<_> = found
        .par_iter()
        .map(|pair| compare(&pair.turn.of(&thumbnails[pair.from]), &thumbnails[pair.to], pair.turn.window(pair.window)))
        .collect();
    eprintln!("compared in {:.1} s", begun.elapsed().as_secs_f64());
    for (pair, compared) in found.iter().zip(compared).filter(|(_, compared)| compared.distance <= most) {
        let [from, to] = [pair.from, pair.to].map(|at| images[at].path().display());
        println!("{from}\t{to}\t{:.2}\t{}\t{}\t{:.3}", compared.distance, pair.turn.degrees(), pair.turn.mirrors(), compared.window.area());
    }
    Ok(())
}
