//! The window driven without a screen.
