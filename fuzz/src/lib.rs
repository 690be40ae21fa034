//! What the fuzz targets do, apart from libFuzzer, so that the ordinary tests can do it too.

mod readers;

/// Reads an input as the file that the fuzz target of this name is about.
pub fn read(target: &str, bytes: &[u8]) {
    readers::read(target, bytes);
}
