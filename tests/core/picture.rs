//! Decoding of good and bad files, and pictures against slow and obvious versions of what is
//! computed on them.

use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::thread;

use image::{DynamicImage, GrayImage, ImageFormat, Luma, Rgb, RgbImage, Rgba, RgbaImage, imageops};
use proptest::prelude::*;
use tessera_core::Error;
use tessera_core::picture::appearance::{Appearance, VALUES};
use tessera_core::picture::blur::gaussian_7x7;
use tessera_core::picture::colour::{ColourOptions, colour_layout, lab};
use tessera_core::picture::decode::{WHOLE, is_decoding};
use tessera_core::picture::hog::{self, HogOptions, dense_hog};
use tessera_core::picture::jpeg_end::is_cut_off;
use tessera_core::picture::pyramid::Bordered;
use tessera_core::picture::resize::{fit, resize_grey, resize_rgb};
use tessera_core::picture::{Decoder, InProcess, Limits, grey};
use tessera_core::progress::Progress;

use crate::scenes::{noise, scene};

fn encode(picture: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    picture.into().write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// The JPEG with an EXIF block that says how it must be turned.
fn with_orientation(jpeg: &[u8], orientation: u8) -> Vec<u8> {
    let mut exif = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0".to_vec();
    exif.extend([orientation, 0, 0, 0, 0, 0, 0]);
    let mut out = jpeg[..2].to_vec();
    out.extend([0xFF, 0xE1]);
    out.extend((exif.len() as u16 + 2).to_be_bytes());
    out.extend(exif);
    out.extend(&jpeg[2..]);
    out
}

#[test]
fn decodes_every_format() {
    let picture = scene(5, 40, 30);
    let decoder = InProcess::default();
    for format in [ImageFormat::Png, ImageFormat::Bmp, ImageFormat::Tiff, ImageFormat::WebP, ImageFormat::Pnm] {
        let decoded = decoder.decode_bytes(Path::new("x"), &encode(picture.clone(), format)).unwrap();
        assert_eq!(decoded, picture, "{format:?}");
    }
    for format in [ImageFormat::Jpeg, ImageFormat::Gif] {
        let decoded = decoder.decode_bytes(Path::new("x"), &encode(picture.clone(), format)).unwrap();
        assert_eq!(decoded.dimensions(), (40, 30), "{format:?}");
    }
}

#[test]
fn every_form_of_netpbm_is_read() {
    let [black, grey, white] = [0, 128, 255].map(|v| Rgb([v; 3]));
    let forms: [(&[u8], [Rgb<u8>; 2]); 15] = [
        (b"P1\n# a comment\n2 1\n1 0\n", [black, white]),
        (b"P1 2 1 10", [black, white]),
        (b"P2\n2 1\n255\n0 128\n", [black, grey]),
        (b"P2\n2 1\n65535\n0 65535\n", [black, white]),
        (b"P2 2 1 15 0 15", [black, white]),
        (b"P3\n2 1\n255\n0 0 0 1 2 3\n", [black, Rgb([1, 2, 3])]),
        (b"P4\n2 1\n\x80", [black, white]),
        (b"P5\n2 1\n255\n\x00\x80", [black, grey]),
        (b"P5\n2 1\n65535\n\x00\x00\xFF\xFF", [black, white]),
        (b"P5\n2 1\n1023\n\x00\x00\x03\xFF", [black, white]),
        (b"P6\n2 1\n255\n\x00\x00\x00\x01\x02\x03", [black, Rgb([1, 2, 3])]),
        (b"P6\n2 1\n65535\n\x00\x00\x00\x00\x00\x00\xFF\xFF\xFF\xFF\xFF\xFF", [black, white]),
        (b"P7\nWIDTH 2\nHEIGHT 1\nDEPTH 1\nMAXVAL 1\nTUPLTYPE BLACKANDWHITE\nENDHDR\n\x00\x01", [black, white]),
        (b"P7\nWIDTH 2\nHEIGHT 1\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n\x00\xFF\x00\x00", [black, white]),
        (b"P7\nWIDTH 2\nHEIGHT 1\nDEPTH 3\nMAXVAL 255\nENDHDR\n\x00\x00\x00\x01\x02\x03", [black, Rgb([1, 2, 3])]),
    ];
    for (bytes, [left, right]) in forms {
        let shown = String::from_utf8_lossy(bytes);
        let decoded = InProcess::default().decode_bytes(Path::new("x"), bytes).unwrap_or_else(|error| panic!("{error}: {shown}"));
        assert_eq!((decoded.dimensions(), *decoded.get_pixel(0, 0), *decoded.get_pixel(1, 0)), ((2, 1), left, right), "{shown}");
    }
}

#[test]
fn netpbm_files_that_lie_are_refused_in_a_sentence() {
    let lies: [(&[u8], &str); 12] = [
        (b"P5\n9000 9000\n255\n\x00\x80", "19 bytes for 9000 x 9000 pixels"),
        (b"P2\n9000 9000\n255\n0 128\n", "for 9000 x 9000 pixels"),
        (b"P1\n9000 9000\n0 1\n", "for 9000 x 9000 pixels"),
        (b"P4\n60000 60000\n\x00", "for 60000 x 60000 pixels"),
        (b"P6\n4294967295 4294967295\n65535\n\x00", "too large"),
        (b"P7\nWIDTH 9000\nHEIGHT 9000\nDEPTH 4\nMAXVAL 255\nENDHDR\n\x00", "for 9000 x 9000 pixels"),
        (b"P7\nWIDTH 1\nHEIGHT 1\nDEPTH 1\nMAXVAL 65535\nENDHDR\n\x00\x00", "without TUPLTYPE"),
        (b"P2\n2 1\n255\n0 300\n", "sample"),
        (b"P2\n2 1\n0\n0 0\n", "MAXVAL"),
        (b"P5\n0 0\n255\n", "0 x 0"),
        (b"P3 is the name of a text", "digit"),
        (b"P7 332\n#IMGINFO\n", "P7"),
    ];
    for (bytes, words) in lies {
        let error = InProcess::default().decode_bytes(Path::new("lies.pnm"), bytes).unwrap_err().to_string();
        assert!(error.contains("lies.pnm") && error.contains(words), "{error}, expected {words}");
    }
}

#[test]
fn turns_pictures_upright() {
    let mut picture = RgbImage::from_pixel(32, 16, Rgb([0, 0, 0]));
    for (x, y) in (0..16).flat_map(|x| (0..8).map(move |y| (x, y))) {
        picture.put_pixel(x, y, Rgb([255, 255, 255]));
    }
    let jpeg = encode(picture.clone(), ImageFormat::Jpeg);
    let upright = |orientation: u8| InProcess::default().decode_bytes(Path::new("x"), &with_orientation(&jpeg, orientation)).unwrap();
    let expected: [(u8, RgbImage); 4] =
        [(1, picture.clone()), (3, imageops::rotate180(&picture)), (6, imageops::rotate90(&picture)), (8, imageops::rotate270(&picture))];
    for (orientation, expected) in expected {
        let found = upright(orientation);
        assert_eq!(found.dimensions(), expected.dimensions(), "orientation {orientation}");
        let off = found.as_raw().iter().zip(expected.as_raw()).map(|(a, b)| f64::from(a.abs_diff(*b))).sum::<f64>() / found.len() as f64;
        assert!(off < 8.0, "orientation {orientation} is off by {off}");
    }
}

#[test]
fn what_is_transparent_lies_on_white() {
    let mut picture = RgbaImage::from_pixel(2, 1, Rgba([10, 20, 30, 255]));
    picture.put_pixel(1, 0, Rgba([10, 20, 30, 0]));
    let decoded = InProcess::default().decode_bytes(Path::new("x"), &encode(picture, ImageFormat::Png)).unwrap();
    assert_eq!(decoded.as_raw(), &[10, 20, 30, 255, 255, 255]);
}

/// A PNG that claims to be of this size and holds nothing.
fn png_claiming(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 2, 0, 0, 0]);
    bytes.extend(crc32(&bytes[12..29]).to_be_bytes());
    bytes.extend(b"\0\0\0\x0aIDATx\x9c\x63\0\0\0\x02\0\x01");
    bytes
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes
        .iter()
        .fold(!0u32, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xEDB8_8320 & (0u32.wrapping_sub(crc & 1)))))
}

#[test]
fn refuses_in_words_that_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let whole = encode(scene(1, 64, 64), ImageFormat::Png);
    let cases = [
        (file("text.jpg", b"this is not a picture"), "data"),
        (file("empty.png", b""), "data"),
        (file("cut.png", &whole[..whole.len() / 2]), "data"),
        (file("huge.png", &png_claiming(30_000, 30_000)), "too_large"),
        (file("page.png", b"<svg xmlns='http://www.w3.org/2000/svg'/>"), "data"),
        (folder.path().to_owned(), "data"),
        (folder.path().join("nothing.png"), "io"),
    ];
    for (path, reason) in cases {
        let error = InProcess::default().decode(&path, WHOLE, &Progress::default()).unwrap_err();
        assert_eq!(error.reason(), reason, "{error}");
        let name = path.file_name().unwrap().to_string_lossy();
        assert!(error.to_string().contains(&*name), "{error} does not name {name}");
    }
}

#[test]
fn limits_hold() {
    let decode = |limits: Limits| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        fs::write(&path, encode(scene(1, 64, 48), ImageFormat::Png)).unwrap();
        InProcess::new(limits).decode(&path, WHOLE, &Progress::default())
    };
    assert!(decode(Limits { pixels: 64 * 48, ..Limits::default() }).is_ok());
    assert!(decode(Limits { total_bytes: 1, ..Limits::default() }).is_ok(), "one picture alone is always let in");
    for limits in [
        Limits { pixels: 64 * 48 - 1, ..Limits::default() },
        Limits { side: 63, ..Limits::default() },
        Limits { file_bytes: 10, ..Limits::default() },
        Limits { codec_bytes: 100, ..Limits::default() },
    ] {
        assert!(matches!(decode(limits), Err(Error::TooLarge { .. })), "{limits:?}");
    }
}

/// A TIFF of these entries (tag, type, values; those of type 3 are short) with `data` at byte 8.
fn tiff(data: &[u8], entries: &[(u16, u16, &[u32])]) -> Vec<u8> {
    let mut bytes = b"II*\0\0\0\0\0".to_vec();
    bytes.extend(data);
    let mut list = (entries.len() as u16).to_le_bytes().to_vec();
    for (tag, kind, values) in entries {
        let mut packed: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()[..if *kind == 3 { 2 } else { 4 }].to_vec()).collect();
        if packed.len() > 4 {
            let at = bytes.len() as u32;
            bytes.append(&mut packed);
            packed.extend(at.to_le_bytes());
        }
        packed.resize(4, 0);
        list.extend([tag.to_le_bytes(), kind.to_le_bytes()].concat());
        list.extend((values.len() as u32).to_le_bytes());
        list.extend(packed);
    }
    let at = bytes.len() as u32;
    bytes[4..8].copy_from_slice(&at.to_le_bytes());
    bytes.extend(list);
    bytes.extend([0; 4]);
    bytes
}

/// A TIFF whose rows are all alike, black and packed.
fn large_tiff(width: u32, height: u32) -> Vec<u8> {
    let runs = (0..3 * width).step_by(128).map(|start| (3 * width - start).min(128));
    let row: Vec<u8> = runs.flat_map(|run| [(257 - run) as u8, 0]).collect();
    let (offsets, lengths) = (vec![8; height as usize], vec![row.len() as u32; height as usize]);
    tiff(
        &row,
        &[
            (256, 4, &[width]),
            (257, 4, &[height]),
            (258, 3, &[8, 8, 8]),
            (259, 3, &[32773]),
            (262, 3, &[2]),
            (273, 4, &offsets),
            (277, 3, &[3]),
            (278, 4, &[1]),
            (279, 4, &lengths),
        ],
    )
}

#[test]
fn the_largest_tiffs_are_decoded() {
    let picture = InProcess::default().decode_bytes(Path::new("x"), &large_tiff(10_000, 9_000)).unwrap();
    assert_eq!(picture.dimensions(), (10_000, 9_000));
}

#[test]
fn unreadable_exif_does_not_refuse_a_picture() {
    let beyond = [1; 4];
    let mut bytes = tiff(
        &[9; 12],
        &[
            (256, 4, &[2]),
            (257, 4, &[2]),
            (258, 3, &[8, 8, 8]),
            (259, 3, &[1]),
            (262, 3, &[2]),
            (273, 4, &[8]),
            (274, 4, &beyond),
            (277, 3, &[3]),
            (278, 4, &[2]),
            (279, 4, &[12]),
        ],
    );
    let decode = |bytes: &[u8]| InProcess::default().decode_bytes(Path::new("x"), bytes);
    assert_eq!(decode(&bytes).unwrap().as_raw(), &[9; 12]);
    // The values of the orientation are said to lie beyond the end of the file.
    let entry = bytes.windows(4).position(|at| at == [18, 1, 4, 0]).unwrap();
    bytes[entry + 8..entry + 12].copy_from_slice(&1_000_000_u32.to_le_bytes());
    assert_eq!(decode(&bytes).unwrap().as_raw(), &[9; 12]);
}

/// The codec asks too much of the lower tiles of all planes but the first.
#[test]
fn a_codec_that_panics_is_an_error() {
    let offsets = [8; 12];
    let bytes = tiff(
        &[9; 256],
        &[
            (256, 4, &[20]),
            (257, 4, &[20]),
            (258, 3, &[8, 8, 8]),
            (259, 3, &[1]),
            (262, 3, &[2]),
            (277, 3, &[3]),
            (284, 3, &[2]),
            (322, 4, &[16]),
            (323, 4, &[16]),
            (324, 4, &offsets),
            (325, 4, &[256; 12]),
        ],
    );
    let decoder = InProcess::default();
    let error = decoder.decode_bytes(Path::new("planes.tif"), &bytes).unwrap_err();
    assert!(matches!(&error, Error::Crashed { path, .. } if path == Path::new("planes.tif")), "{error}");
    assert!(!is_decoding());
    assert!(decoder.decode_bytes(Path::new("x"), &encode(scene(1, 8, 8), ImageFormat::Png)).is_ok());
}

#[test]
fn the_largest_file_of_the_largest_picture_has_room() {
    let Limits { pixels, file_bytes, codec_bytes, total_bytes, .. } = Limits::default();
    assert!(codec_bytes >= 12 * pixels && file_bytes + codec_bytes <= total_bytes);
}

#[test]
fn pictures_wait_for_room_and_all_are_decoded() {
    let pictures =
        [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Tiff, ImageFormat::Gif].map(|format| encode(scene(2, 64, 48), format));
    for total_bytes in [1, 4000, 60_000] {
        let decoder = InProcess::new(Limits { total_bytes, ..Limits::default() });
        let decoded: usize = thread::scope(|scope| {
            let work = || pictures.iter().filter(|bytes| decoder.decode_bytes(Path::new("x"), bytes).is_ok()).count();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(decoded, 16, "with {total_bytes} bytes");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn damaged_files_never_panic(seed: u64, at in 0.0..1.0f64, byte: u8, cut: bool, format in prop::sample::select(vec![ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP, ImageFormat::Bmp, ImageFormat::Tiff, ImageFormat::Pnm])) {
        let mut bytes = encode(scene(seed % 4, 24, 24), format);
        let at = (at * bytes.len() as f64) as usize;
        if cut { bytes.truncate(at) } else { bytes[at] = byte }
        match InProcess::default().decode_bytes(Path::new("damaged"), &bytes) {
            Ok(picture) => prop_assert!(picture.width() > 0),
            Err(error) => prop_assert!(error.to_string().contains("damaged")),
        }
    }

    #[test]
    fn resizing_keeps_the_mean_and_the_range(seed: u64, width in 1u32..50, height in 1u32..50, to_width in 1u32..70, to_height in 1u32..70) {
        let picture = noise(seed, width, height);
        let resized = resize_grey(&picture, to_width, to_height);
        prop_assert_eq!(resized.dimensions(), (to_width, to_height));
        let range = |p: &GrayImage| (*p.as_raw().iter().min().unwrap(), *p.as_raw().iter().max().unwrap());
        prop_assert!(range(&picture).0 <= range(&resized).0 && range(&resized).1 <= range(&picture).1);
        let mean = |p: &GrayImage| p.as_raw().iter().map(|&v| f64::from(v)).sum::<f64>() / p.len() as f64;
        if to_width <= width && to_height <= height {
            // Area averaging: every source pixel counts alike.
            prop_assert!((mean(&picture) - mean(&resized)).abs() < 0.6, "{} became {}", mean(&picture), mean(&resized));
        }
    }

    #[test]
    fn resizing_wide_pictures_keeps_the_range(seed: u64, width in 1u32..70_000, to_width in 1u32..70) {
        let picture = noise(seed, width, 1);
        let mean = |p: &GrayImage| p.as_raw().iter().map(|&v| f64::from(v)).sum::<f64>() / p.len() as f64;
        let resized = resize_grey(&picture, to_width, 1);
        if to_width <= width {
            prop_assert!((mean(&picture) - mean(&resized)).abs() < 4.0, "{} became {}", mean(&picture), mean(&resized));
        }
        let level = picture.as_raw()[0];
        let flat = resize_grey(&GrayImage::from_pixel(width, 1, Luma([level])), to_width, 1);
        prop_assert!(flat.as_raw().iter().all(|&v| v == level), "{} became {:?}", level, flat.as_raw());
    }

    #[test]
    fn a_border_mirrors_its_picture(seed: u64, width in 1u32..12, height in 1u32..12, border in 0usize..20) {
        let picture = noise(seed, width, height);
        let bordered = Bordered::new(&picture, border);
        let fold = |i: i64, n: i64| { let mut i = i; while i < 0 || i >= n { i = if i < 0 { -i } else { 2 * n - 2 - i }; if n == 1 { return 0; } } i };
        for y in -(border as i64)..(height as usize + border) as i64 {
            for x in -(border as i64)..(width as usize + border) as i64 {
                let at = ((y + border as i64) * bordered.stride as i64 + x + border as i64) as usize;
                let expected = picture.get_pixel(fold(x, width.into()) as u32, fold(y, height.into()) as u32).0[0];
                prop_assert_eq!(bordered.pixels[at], expected, "at {}, {}", x, y);
            }
        }
    }
}

#[test]
fn halving_is_the_mean_of_four() {
    let picture = noise(1, 40, 20);
    let half = resize_grey(&picture, 20, 10);
    for (x, y, value) in half.enumerate_pixels() {
        let sum: u32 =
            [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(dx, dy)| u32::from(picture.get_pixel(2 * x + dx, 2 * y + dy).0[0])).iter().sum();
        assert!((f64::from(value.0[0]) - f64::from(sum) / 4.0).abs() <= 0.51);
    }
}

#[test]
fn shrinking_a_lot_keeps_a_level() {
    for (width, height) in [(201, 1), (1, 201), (65_535, 1), (20_000, 3)] {
        let flat = GrayImage::from_pixel(width, height, Luma([200]));
        assert_eq!(resize_grey(&flat, 1, 1).as_raw(), &[200], "{width} x {height}");
    }
}

#[test]
fn resizing_is_near_to_the_image_crate() {
    let picture = scene(3, 120, 90);
    for (width, height) in [(100, 75), (60, 45), (37, 80), (180, 135)] {
        let ours = resize_rgb(&picture, width, height);
        let theirs = imageops::resize(&picture, width, height, imageops::FilterType::Triangle);
        let off = ours.as_raw().iter().zip(theirs.as_raw()).map(|(a, b)| f64::from(a.abs_diff(*b))).sum::<f64>() / ours.len() as f64;
        assert!(off < 5.0, "{width} x {height} is off by {off} levels on average");
    }
    assert_eq!(resize_rgb(&picture, 120, 90), picture);
    assert_eq!(fit(400, 100, 128), (128, 32));
    assert_eq!(fit(1, 10_000, 128), (1, 128));
}

#[test]
fn blurring_is_the_weighted_mean() {
    let picture = noise(2, 30, 20);
    let bordered = Bordered::new(&picture, 5);
    let smooth = gaussian_7x7(&bordered);
    let weights = [18.0, 33.0, 49.0, 56.0, 49.0, 33.0, 18.0f64].map(|w| w / 256.0);
    for (x, y) in (0..30).flat_map(|x| (0..20).map(move |y| (x, y))) {
        let mut sum = 0.0;
        for (i, a) in weights.iter().enumerate() {
            for (j, b) in weights.iter().enumerate() {
                sum += a * b * f64::from(bordered.pixels[bordered.index(x, y) + i * bordered.stride + j - 3 * bordered.stride - 3]);
            }
        }
        assert!((f64::from(smooth.pixels[smooth.index(x, y)]) - sum).abs() <= 1.01);
    }
}

#[test]
fn grey_keeps_grey() {
    let levels = RgbImage::from_fn(256, 1, |x, _| Rgb([x as u8; 3]));
    assert_eq!(grey(&levels), GrayImage::from_fn(256, 1, |x, _| Luma([x as u8])));
}

#[test]
fn gradient_blocks_tell_the_direction() {
    for degrees in (0..180).step_by(10) {
        let angle = f64::from(degrees).to_radians();
        let picture = RgbImage::from_fn(128, 128, |x, y| {
            let along = (f64::from(x) - 64.0) * angle.cos() + (f64::from(y) - 64.0) * angle.sin();
            Rgb([128, (128.0 + 1.3 * along) as u8, 128])
        });
        let blocks = dense_hog(&picture, &HogOptions::default());
        assert_eq!(blocks.len(), 169);
        let mut sums = [0.0f64; hog::BINS];
        for block in &blocks {
            assert!(block.values.iter().map(|v| v * v).sum::<f32>() <= 1.0001);
            block.values.iter().enumerate().for_each(|(i, v)| sums[i % hog::BINS] += f64::from(*v));
        }
        // The mean direction on the circle of half turns.
        let (mut c, mut s) = (0.0, 0.0);
        for (bin, sum) in sums.iter().enumerate() {
            let turn = 2.0 * std::f64::consts::PI * bin as f64 / hog::BINS as f64;
            (c, s) = (c + sum * turn.cos(), s + sum * turn.sin());
        }
        let off = (s.atan2(c) / 2.0 - angle).sin().abs();
        assert!(off < 0.1, "{degrees} degrees is off by {off}");
    }
    let flat = dense_hog(&RgbImage::from_pixel(128, 128, Rgb([9, 99, 199])), &HogOptions::default());
    assert!(flat.iter().all(|block| block.values.iter().all(|&v| v == 0.0)));
    assert!(dense_hog(&RgbImage::new(17, 128), &HogOptions::default()).is_empty(), "no block fits");
}

#[test]
fn colours_are_those_of_the_standard() {
    let near = |found: [f32; 3], expected: [f32; 3]| found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 0.1);
    assert!(near(lab([255, 255, 255]), [100.0, 0.0, 0.0]));
    assert!(near(lab([0, 0, 0]), [0.0, 0.0, 0.0]));
    assert!(near(lab([255, 0, 0]), [53.24, 80.09, 67.20]));
    assert!(near(lab([0, 255, 0]), [87.73, -86.18, 83.18]));
    assert!(near(lab([0, 0, 255]), [32.30, 79.19, -107.86]));
    let blocks = colour_layout(&RgbImage::from_pixel(100, 50, Rgb([255, 0, 0])), &ColourOptions::default());
    assert_eq!(blocks.len(), 18);
    assert!(blocks.iter().all(|block| (block.values[0] - 0.5324).abs() < 0.001));
}

/// The class of the most alike, of the other objects of a small world of toys.
#[test]
fn toys_look_like_toys_of_their_class() {
    use tessera_core::data::toys::{Category, ToyOptions, render};
    let options = ToyOptions::default();
    let mut looks = Vec::new();
    for category in Category::ALL {
        for (instance, view) in (0..4).flat_map(|instance| (0..4).map(move |view| (instance, view))) {
            looks.push((category, instance, Appearance::of(&render(category, instance, view, &options).picture)));
        }
    }
    let nearest = |(_, instance, look): &(Category, u32, Appearance)| {
        let others = looks.iter().filter(|(_, other, _)| other != instance);
        others.max_by(|a, b| a.2.likeness(look).total_cmp(&b.2.likeness(look))).map(|found| found.0)
    };
    let right = looks.iter().filter(|one| nearest(one) == Some(one.0)).count() as f64 / looks.len() as f64;
    let chance = 1.0 / Category::ALL.len() as f64;
    assert!(right > 2.0 * chance, "{right:.2} where chance is {chance:.2}");
}

proptest! {
    #[test]
    fn an_appearance_is_most_like_itself_at_any_size(width in 8..40_u32, height in 8..40_u32, seed in 0..50_u64) {
        let picture = scene(seed, width, height);
        let look = Appearance::of(&picture);
        prop_assert_eq!(look.to_bytes().len(), 2 * VALUES);
        prop_assert_eq!(Appearance::from_bytes(&look.to_bytes()), Some(look.clone()));
        prop_assert!(Appearance::from_bytes(&look.to_bytes()[1..]).is_none());
        let itself = look.likeness(&look);
        prop_assert!((itself - 1.0).abs() < 1e-3, "{itself}");
        let larger = Appearance::of(&resize_rgb(&scene(seed, 90, 90), 180, 180));
        prop_assert!(larger.likeness(&Appearance::of(&scene(seed, 90, 90))) > 0.95);
        prop_assert_eq!(look.likeness(&larger), larger.likeness(&look));
    }
}

/// A head, a table and a scan with a stuffed 0xff and a restart, then the end.
const JPEG: [u8; 24] = [0xff, 0xd8, 0xff, 0xdb, 0, 4, 1, 2, 0xff, 0xff, 0xda, 0, 3, 9, 5, 0xff, 0, 6, 0xff, 0xd3, 7, 8, 0xff, 0xd9];

/// Whether a file of these bytes ends without the end mark of its picture.
fn ends_early(bytes: &[u8]) -> bool {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), bytes).unwrap();
    is_cut_off(file.path())
}

#[test]
fn every_part_of_a_picture_is_cut_off_and_what_follows_it_does_not_matter() {
    assert!(!ends_early(&JPEG));
    assert!(!ends_early(&[&JPEG[..], b"more", &JPEG[..7]].concat()));
    (2..JPEG.len()).for_each(|end| assert!(ends_early(&JPEG[..end]), "{end}"));
    assert!(!ends_early(&[0xff, 0xd8, b'n', b'o']));
    assert!(!ends_early(&[]) && !ends_early(b"no picture"));
}

#[test]
fn neither_a_thumbnail_nor_another_scan_nor_zeros_are_the_end() {
    // A segment of a camera with a picture of its own, which ends.
    let camera = [&[0xff, 0xe1, 0, 26][..], &JPEG].concat();
    let with_thumbnail = |rest: &[u8]| [&JPEG[..2], &camera, rest].concat();
    assert!(!ends_early(&with_thumbnail(&JPEG[2..])));
    assert!(ends_early(&with_thumbnail(&JPEG[2..18])));
    // Two scans, as progressive files have several.
    let scan = &JPEG[9..22];
    assert!(!ends_early(&[&JPEG[..22], scan, &JPEG[22..]].concat()));
    assert!(ends_early(&[&JPEG[..22], scan].concat()));
    // What was not written yet of a file whose length was set first.
    assert!(ends_early(&[&JPEG[..18], &[0; 64]].concat()));
}
