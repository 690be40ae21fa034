//! xxh3 hashes, by which files and values are identified. Fast, but no protection against forgery.

/// xxh3-128 of some bytes, as 32 hexadecimal digits.
pub fn hash_hex(bytes: &[u8]) -> String {
    format!("{:032x}", xxhash_rust::xxh3::xxh3_128(bytes))
}

/// xxh3-64 of some bytes.
pub fn hash64(bytes: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(bytes)
}

/// xxh3-128 of some bytes.
pub fn hash128(bytes: &[u8]) -> u128 {
    xxhash_rust::xxh3::xxh3_128(bytes)
}
