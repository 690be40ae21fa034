//! The tests of `tessera-core`, in one binary.
#![expect(clippy::unwrap_used, reason = "tests may stop at the first surprise")]

mod toys;
