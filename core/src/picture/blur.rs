//! blur.
