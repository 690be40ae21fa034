//! hog.
