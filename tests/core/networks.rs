//! Networks that the user brings: files that can be used, and a sentence for every other.

use std::path::{Path, PathBuf};

use image::{Rgb, RgbImage};
use tempfile::{TempDir, tempdir};
use tessera_core::ckm::element::Elements;
use tessera_core::ckm::model::RecogniserModel;
use tessera_core::ckm::presets::of_encoder;
use tessera_core::ckm::{Ckm, Example, Without};
use tessera_core::ids::ItemId;
use tessera_core::network::brought::{NetworkParts, explore};
use tessera_core::network::folder::look_in;
use tessera_core::network::{BroughtNetwork, BytePairs, EncoderOptions, ImageEncoder, ImageWishes, NetworkFolder, PixelScale, TextEncoder};

use crate::ckm::unjudged;
use crate::made::{Graph, grid, means, sums, tokenizer, write};

fn plain(colour: [u8; 3]) -> RgbImage {
    RgbImage::from_pixel(40, 20, Rgb(colour))
}

/// What exploring files comes to.
fn explored(files: &[PathBuf], wishes: &ImageWishes) -> (NetworkParts, BroughtNetwork) {
    explore(files, wishes).unwrap()
}

#[track_caller]
fn refused(files: &[PathBuf], wishes: &ImageWishes, words: [&str; 2]) {
    let error = explore(files, wishes).err().unwrap().to_string();
    assert!(words.iter().all(|word| error.contains(word)), "{words:?} are not in: {error}");
}

/// A folder with a pair of encoders, and its files.
fn pair() -> (TempDir, Vec<PathBuf>) {
    let folder = tempdir().unwrap();
    let files = [
        write(folder.path(), "image.onnx", means(Some(8)).file()),
        write(folder.path(), "text.onnx", sums(3).file()),
        write(folder.path(), "tokenizer.json", tokenizer()),
    ];
    (folder, files.into())
}

#[test]
fn a_vector_is_the_one_that_the_layers_compute() {
    let folder = tempdir().unwrap();
    let path = write(folder.path(), "means.onnx", means(None).file());
    let wishes = ImageWishes { size: Some((12, 12)), pixels: Some(PixelScale::SIGNED), output: None };
    let (parts, network) = explored(std::slice::from_ref(&path), &wishes);
    assert_eq!((&parts.image, parts.text, network.image.dimension), (&path, None, 3));
    assert_eq!((network.image.width, network.image.columns, network.image.rows), (12, 1, 1));
    let seen = ImageEncoder::open(&path, network.image).unwrap().look_at(&plain([255, 0, 0])).unwrap();
    let expected = [1.0, -1.0, -1.0].map(|value: f32| value / 3.0_f32.sqrt());
    assert!(seen.vector().iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6), "{:?}", seen.vector());
    assert_eq!(seen.cells(6).len(), 1);
}

#[test]
fn cells_lie_where_their_pixels_do() {
    let folder = tempdir().unwrap();
    let path = write(folder.path(), "grid.onnx", grid().file());
    let wishes = ImageWishes { pixels: Some(PixelScale::UNIT), ..ImageWishes::default() };
    let (_, network) = explored(std::slice::from_ref(&path), &wishes);
    assert_eq!((network.image.columns, network.image.rows, network.image.dimension), (4, 4, 3));
    // Red on the left, blue on the right.
    let picture = RgbImage::from_fn(32, 32, |x, _| Rgb(if x < 16 { [255, 0, 0] } else { [0, 0, 255] }));
    let seen = ImageEncoder::open(&path, network.image).unwrap().look_at(&picture).unwrap();
    let cells = seen.cells(4);
    assert_eq!((cells.len(), cells[0].values.clone(), cells[3].values.clone()), (16, vec![1.0, 0.0, 0.0], vec![0.0, 0.0, 1.0]));
    assert_eq!((cells[3].x, cells[3].y, cells[12].y), (0.875, 0.125, 0.875));
    let cells = seen.cells(1);
    assert_eq!((cells.len(), cells[0].x, cells[0].y), (1, 0.5, 0.5));
    assert_eq!(cells[0].values, seen.vector());
}

#[test]
fn patches_of_a_transformer_are_cells() {
    let folder = tempdir().unwrap();
    let patches = grid().integers("shape", &[1, 3, 16]).layer("Reshape", &["cells", "shape"], "flat", &[]);
    let patches =
        patches.layer("Transpose", &["flat"], "patches", &[("perm", &[0, 2, 1])]).output("patches", &[Some(1), Some(16), Some(3)]);
    let path = write(folder.path(), "patches.onnx", patches.file());
    let wishes = ImageWishes { output: Some("patches".into()), pixels: Some(PixelScale::UNIT), ..ImageWishes::default() };
    let (_, network) = explored(std::slice::from_ref(&path), &wishes);
    assert_eq!((network.image.columns, network.image.rows, network.image.dimension), (4, 4, 3));
    let picture = RgbImage::from_fn(16, 16, |x, y| Rgb([(16 * x) as u8, (16 * y) as u8, 99]));
    let cells = |form| ImageEncoder::open(&path, form).unwrap().look_at(&picture).unwrap().cells(4);
    let (_, as_planes) = explored(std::slice::from_ref(&path), &ImageWishes { output: Some("cells".into()), ..wishes });
    assert_eq!(cells(network.image), cells(as_planes.image));
}

#[test]
fn words_lie_nearest_to_what_they_show() {
    let (folder, files) = pair();
    let (parts, network) = explored(&files, &ImageWishes { pixels: Some(PixelScale::SIGNED), ..ImageWishes::default() });
    let kept = NetworkFolder::new(folder.path().join("kept"));
    kept.add("colours", &parts, &network).unwrap();
    let (image, text) = (kept.image_encoder("colours").unwrap(), kept.text_encoder("colours").unwrap().unwrap());
    let colours = [[255, 0, 0], [0, 255, 0], [0, 0, 255]];
    let seen = colours.map(|colour| image.look_at(&plain(colour)).unwrap().vector());
    for (i, word) in ["a RED ball", "sea", "the sky, again"].into_iter().enumerate() {
        let vector = text.vector(word).unwrap();
        let cosine = |other: &Vec<f32>| vector.iter().zip(other).map(|(a, b)| a * b).sum::<f32>();
        assert!((0..3).all(|j| j == i || cosine(&seen[i]) > cosine(&seen[j]) + 0.5), "{word}: {:?}", seen.each_ref().map(cosine));
    }
    // Any text at all has a vector.
    for text_of in ["", "\u{0}", "\u{1f600} caf\u{e9}", &"x".repeat(100_000)] {
        assert_eq!(text.vector(text_of).unwrap().len(), 3);
    }
}

#[test]
fn tokens_are_merged_in_order() {
    let tokens = BytePairs::parse(Path::new("t"), &tokenizer()).unwrap().tokens("Red seas 4", None);
    let byte = |letter: char| u32::from(letter);
    assert_eq!(tokens, [521, 512, 516, byte('a'), 256 + byte('s'), 256 + byte('4'), 522]);
    let short = BytePairs::parse(Path::new("t"), &tokenizer()).unwrap().tokens("red sea sky", Some(3));
    assert_eq!(short, [521, 512, 522]);
}

#[test]
fn words_end_at_blanks_digits_and_signs() {
    let tokens = BytePairs::parse(Path::new("t"), &tokenizer()).unwrap().tokens("a dog's ball, 42 'sand' --'d \u{e9}\u{0}", None);
    // Without merges a token is a byte, and one of a second set where a word ends.
    let bytes: Vec<u8> = tokens[1..tokens.len() - 1].iter().map(|token| (token % 256) as u8).collect();
    let mut rest = bytes.as_slice();
    let words: Vec<&[u8]> =
        tokens[1..tokens.len() - 1].split_inclusive(|token| *token >= 256).map(|word| rest.split_off(..word.len()).unwrap()).collect();
    let expected: [&[u8]; 15] =
        [b"a", b"dog", b"'s", b"ball", b",", b"4", b"2", b"'s", b"and", b"'", b"--'", b"d", "\u{e9}".as_bytes(), b"\0", b""];
    assert_eq!(words, expected[..14]);
}

#[test]
fn every_byte_has_a_letter_of_its_own() {
    let tokenizer = BytePairs::parse(Path::new("t"), &tokenizer()).unwrap();
    // All bytes that UTF-8 has: of one, two, three and four a letter.
    let letters = ('\0'..'\u{800}').chain((1..=0x10f).filter_map(|block| char::from_u32(block << 12 | 0xabc)));
    for letter in letters.filter(|letter| !letter.is_whitespace()) {
        let text = letter.to_lowercase().to_string();
        let tokens = tokenizer.tokens(&text, None);
        let bytes: Vec<u8> = tokens[1..tokens.len() - 1].iter().map(|token| (token % 256) as u8).collect();
        assert_eq!(bytes, text.as_bytes(), "{letter:?}");
    }
}

#[test]
fn a_side_file_tells_of_pixels_and_size() {
    let folder = tempdir().unwrap();
    let image = write(folder.path(), "means.onnx", means(None).file());
    let text =
        r#"{"crop_size": 16, "size": {"shortest_edge": 20}, "image_mean": [0.1, 0.2, 0.3], "image_std": [1, 1, 2], "rescale_factor": 0.5}"#;
    let side = write(folder.path(), "preprocessor_config.json", text);
    let (_, network) = explored(&[image.clone(), side.clone()], &ImageWishes::default());
    assert_eq!((network.image.width, network.image.height), (16, 16));
    assert_eq!(network.image.pixels, PixelScale { factor: 0.5, mean: [0.1, 0.2, 0.3], deviation: [1.0, 1.0, 2.0] });
    write(folder.path(), "preprocessor_config.json", r#"{"size": 20, "image_mean": [0.5], "image_std": [0, 0, 0]}"#);
    refused(&[image, side], &ImageWishes::default(), ["`image_mean` that is not three numbers", "--pixels"]);
}

#[test]
fn every_wrong_file_gets_a_sentence() {
    let folder = tempdir().unwrap();
    let file = |name: &str, bytes: Vec<u8>| write(folder.path(), name, bytes);
    let none = ImageWishes::default();
    let sided = |side| ImageWishes { size: Some((side, side)), ..ImageWishes::default() };
    let shaped = |shape: &[Option<u64>]| Graph::default().layer("Relu", &["x"], "y", &[]).input("x", shape).output("y", shape).file();
    let open = [None; 4];
    let cases: [(&str, Vec<u8>, ImageWishes, [&str; 2]); 11] = [
        ("empty.onnx", Vec::new(), none.clone(), ["can be loaded", "export it again"]),
        ("noise.onnx", (0..2000).map(|i| (i * 31 % 251) as u8).collect(), none.clone(), ["can be loaded", "export it again"]),
        ("half.onnx", means(Some(8)).file()[..60].to_vec(), none.clone(), ["can be loaded", "export it again"]),
        (
            "layer.onnx",
            Graph::default().layer("Dream", &["x"], "y", &[]).input("x", &open).file(),
            none.clone(),
            ["Dream", "export it again"],
        ),
        ("flat.onnx", shaped(&[None, Some(7)]), none.clone(), ["4 dimensions", "`x` (? x 7 of floats)"]),
        ("open.onnx", means(None).file(), none.clone(), ["tells the width and height", "--side 224"]),
        ("tiny.onnx", means(None).file(), sided(2), ["8 to 1024 pixels", "found 2 x 2"]),
        ("grey.onnx", shaped(&[None, Some(1), Some(32), Some(32)]), none.clone(), ["three channels", "1 x 32 x 32"]),
        ("batch.onnx", shaped(&[Some(8), Some(3), Some(32), Some(32)]), none.clone(), ["one picture at a time", "batch of 1"]),
        ("big.onnx", shaped(&[Some(1), Some(3), Some(999), Some(999)]), none.clone(), ["a grid of them", "[1, 3, 999, 999]"]),
        ("named.onnx", means(Some(8)).file(), ImageWishes { output: Some("logits".into()), ..none.clone() }, ["`logits`", "--output"]),
    ];
    for (name, bytes, wishes, words) in cases {
        refused(&[file(name, bytes)], &wishes, words);
    }
    let infinite = Graph::default()
        .constant("zero", &[1], &[0.0])
        .layer("Div", &["x", "zero"], "y", &[])
        .layer("GlobalAveragePool", &["y"], "z", &[])
        .input("x", &[None, Some(3), Some(8), Some(8)])
        .output("z", &[None, Some(3), Some(1), Some(1)]);
    refused(&[file("infinite.onnx", infinite.file())], &none, ["no finite number", "vector"]);
    let image = file("means.onnx", means(Some(8)).file());
    let grid = file("grid.onnx", grid().file());
    let text = file("text.onnx", sums(3).file());
    let other = file("other.onnx", sums(5).file());
    let tokens = file("tokenizer.json", tokenizer().into_bytes());
    refused(&[image.clone(), text.clone()], &none, ["1 text encoders and 0 tokenizers", "tokenizer.json"]);
    refused(&[image.clone(), grid.clone()], &none, ["2 image encoders", "give one"]);
    refused(&[image.clone(), other, tokens.clone()], &none, ["one vector of 3 values", "[1, 5]"]);
    refused(&[grid, text.clone(), tokens], &none, ["one vector of an image", "4 x 4"]);
    for (json, words) in [
        ("{}", ["JSON of another kind", "tokenizer.json"]),
        ("{", ["EOF", "tokenizer.json"]),
        (r#"{"model": {"type": "WordPiece"}}"#, ["the kind WordPiece", "belongs to the text encoder"]),
        (r#"{"model": {"end_of_word_suffix": "</w>"}}"#, ["no vocabulary", "belongs"]),
        (r#"{"model": {"end_of_word_suffix": "</w>", "vocab": {}, "merges": []}}"#, ["no token for", "belongs"]),
    ] {
        refused(&[image.clone(), text.clone(), file("tokenizer.json", json.as_bytes().to_vec())], &none, words);
    }
}

#[test]
fn networks_are_kept_listed_and_removed() {
    let (folder, files) = pair();
    let (parts, network) = explored(&files, &ImageWishes::default());
    assert_eq!(network.image.pixels, PixelScale::CLIP);
    let kept = NetworkFolder::new(folder.path().join("kept"));
    assert!(kept.list().unwrap().is_empty());
    kept.add("pair", &parts, &network).unwrap();
    let listed = kept.list().unwrap();
    assert_eq!((listed.len(), &listed[0].0, listed[0].1.as_ref().unwrap()), (1, &"pair".to_owned(), &network));
    let again = kept.add("pair", &parts, &network).unwrap_err().to_string();
    assert!(again.contains("a network of that name"), "{again}");
    let twice = kept.add("other", &parts, &network).unwrap_err().to_string();
    assert!(twice.contains("called `pair`"), "{twice}");
    assert!(kept.add("../up", &parts, &network).unwrap_err().to_string().contains("lowercase"));
    // A file that is another one than was added is not run.
    write(&kept.path().join("pair"), "image.onnx", grid().file());
    let changed = kept.image_encoder("pair").err().unwrap().to_string();
    assert!(changed.contains(&network.image.hash) && changed.contains("tessera network add"), "{changed}");
    kept.remove("pair").unwrap();
    assert!(kept.remove("pair").unwrap_err().to_string().contains("tessera network list"));
    assert_eq!(std::fs::read_dir(kept.path()).unwrap().count(), 0);
    // A file that changed between trial and copy is not kept.
    write(folder.path(), "text.onnx", sums(5).file());
    assert!(kept.add("pair", &parts, &network).unwrap_err().to_string().contains("has changed since"));
    assert_eq!(std::fs::read_dir(kept.path()).unwrap().count(), 0);
}

#[test]
fn what_a_network_is_told_from_others_by() {
    let (_folder, files) = pair();
    let identity = |wishes: &ImageWishes| explored(&files[..1], wishes).1.image.identity();
    let usual = identity(&ImageWishes::default());
    assert_eq!((usual.len(), &identity(&ImageWishes { pixels: Some(PixelScale::IMAGENET), ..ImageWishes::default() })), (32, &usual));
    assert_ne!(identity(&ImageWishes { pixels: Some(PixelScale::BYTES), ..ImageWishes::default() }), usual);
}

#[test]
fn one_file_may_hold_both_encoders() {
    let folder = tempdir().unwrap();
    let both = write(folder.path(), "model.onnx", means(Some(8)).with(sums(3)).file());
    let tokens = write(folder.path(), "tokenizer.json", tokenizer());
    let (parts, network) = explored(&[both.clone(), tokens.clone()], &ImageWishes::default());
    assert_eq!((parts.files().count(), &network.image.output[..], &network.text.as_ref().unwrap().output[..]), (2, "image_embeds", "flat"));
    let kept = NetworkFolder::new(folder.path().join("kept"));
    kept.add("both", &parts, &network).unwrap();
    let text = TextEncoder::open(&both, &tokens, network.text.unwrap()).unwrap();
    assert_eq!(text.vector("red").unwrap(), kept.text_encoder("both").unwrap().unwrap().vector("red").unwrap());
}

/// A folder with a network of that name, where machines look for it.
fn kept_network(name: &str, side: u32) -> (TempDir, NetworkFolder) {
    let folder = tempdir().unwrap();
    let file = write(folder.path(), "image.onnx", means(None).file());
    let (parts, network) = explored(&[file], &ImageWishes { size: Some((side, side)), ..ImageWishes::default() });
    let kept = NetworkFolder::new(folder.path().join("kept"));
    kept.add(name, &parts, &network).unwrap();
    look_in(kept.clone());
    (folder, kept)
}

#[test]
fn machines_are_made_of_its_cells() {
    let (_folder, kept) = kept_network("means", 9);
    let options = of_encoder(kept.find("means").unwrap().elements("means"));
    let mut ckm = Ckm::new(options.clone()).unwrap();
    for id in 0..8 {
        let (class, colour) = if id % 2 == 0 { ("red", [255 - id as u8, 9, 3]) } else { ("blue", [4, id as u8, 250]) };
        let elements = ckm.elements(&plain(colour).into()).unwrap();
        ckm.add(class, Example { id: ItemId(id), name: format!("{id}.png"), group: None, elements: elements.into() }).unwrap();
    }
    let elements = ckm.elements(&plain([20, 30, 200]).into()).unwrap();
    let scores = ckm.scores(&elements, Without::Nothing);
    assert_eq!(ckm.classes()[scores.ranking()[0].0.index()].name, "blue");
    assert_eq!(Elements::from_bytes(&elements.to_bytes(), &options), Some(elements));
    let (folder, model) = (tempdir().unwrap(), unjudged(ckm));
    model.save(&folder.path().join("m")).unwrap();
    assert_eq!(RecogniserModel::load(&folder.path().join("m")).unwrap(), model);
}

#[test]
fn a_machine_tells_which_network_it_lacks() {
    let (_folder, kept) = kept_network("lost", 10);
    let elements = kept.find("lost").unwrap().elements("lost");
    let options = of_encoder(elements.clone());
    options.check_networks().unwrap();
    let other = of_encoder(EncoderOptions { dimension: 4, ..elements.clone() });
    assert!(Ckm::new(other).unwrap().elements(&plain([0; 3]).into()).is_err());
    kept.remove("lost").unwrap();
    for error in [options.check_networks().unwrap_err(), Ckm::new(options).unwrap().elements(&plain([0; 3]).into()).unwrap_err()] {
        let words = error.to_string();
        assert!(["`lost`", &elements.hash, "tessera network add"].iter().all(|word| words.contains(word)), "{words}");
    }
}
