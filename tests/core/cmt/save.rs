//! Trees as bytes and back.

use proptest::prelude::*;
use tessera_core::cmt::Cmt;

use super::structure::{act, acts};
use super::{filled, options, texts, vector};
use tessera_core::cmt::CmtOptions;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_saved_tree_goes_on_as_if_nothing_had_happened(options in options(), before in acts(60), after in acts(40), x in vector()) {
        let mut cmt = Cmt::new(&options).unwrap();
        before.iter().for_each(|done| drop(act(&mut cmt, done)));
        let bytes = cmt.to_bytes();
        let mut back = Cmt::<u32>::from_bytes(&bytes).unwrap();
        prop_assert_eq!(back.check(), Ok(()));
        prop_assert_eq!(back.to_bytes(), bytes);
        for done in &after {
            prop_assert_eq!(act(&mut back, done), act(&mut cmt, done));
        }
        prop_assert_eq!(back.query_budget(&x, 5, 2), cmt.query_budget(&x, 5, 2));
        prop_assert_eq!(back.to_bytes(), cmt.to_bytes());
    }
}

/// A small tree's bytes.
fn bytes() -> Vec<u8> {
    filled(&CmtOptions { leaf_cap: tessera_core::cmt::LeafCap::Fixed(2), ..CmtOptions::default() }, &texts(12, 3, 9, 21)).to_bytes()
}

#[test]
fn a_cut_anywhere_is_refused() {
    let bytes = bytes();
    for cut in 0..bytes.len() {
        assert!(Cmt::<u32>::from_bytes(&bytes[..cut]).is_err(), "{cut} of {}", bytes.len());
    }
    let longer = [&bytes[..], &[0]].concat();
    assert_eq!(Cmt::<u32>::from_bytes(&longer).unwrap_err().to_string(), "memory tree: expected no more bytes, found 1 more");
}

#[test]
fn damage_is_refused_or_harmless() {
    let bytes = bytes();
    let mut refused = 0;
    for at in 0..bytes.len() {
        for flip in [1, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] ^= flip;
            match Cmt::<u32>::from_bytes(&damaged) {
                Err(error) => {
                    refused += 1;
                    assert!(error.to_string().contains("expected") || error.to_string().contains("must be"), "{error}");
                }
                Ok(mut cmt) => {
                    assert_eq!(cmt.check(), Ok(()));
                    cmt.reroute(5);
                    assert_eq!(cmt.check(), Ok(()));
                }
            }
        }
    }
    assert!(refused > bytes.len() / 2);
}

#[test]
fn other_bytes_are_refused_in_a_sentence() {
    let mut other = bytes();
    other[0] = b'X';
    let error = Cmt::<u32>::from_bytes(&other).unwrap_err().to_string();
    assert_eq!(error, "memory tree: expected `tess.cmt` of version 2, found `Xess.cmt` of version 2");
}
