//! Files in which a key stands once: of two values under one key a program would take either, so
//! both are refused by name.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};

/// Reads a map whose keys differ; made for `#[serde(deserialize_with)]`.
///
/// # Errors
/// Those of the format, and one that names a key that stands twice.
pub fn map<'de, V: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, V>, D::Error> {
    struct Keys<V>(PhantomData<V>);
    impl<'de, V: Deserialize<'de>> Visitor<'de> for Keys<V> {
        type Value = BTreeMap<String, V>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map")
        }

        fn visit_map<M: MapAccess<'de>>(self, mut entries: M) -> Result<Self::Value, M::Error> {
            let mut all = BTreeMap::new();
            while let Some(key) = entries.next_key::<String>()? {
                let value = entries.next_value()?;
                if all.contains_key(&key) {
                    return Err(M::Error::custom(twice(&key)));
                }
                all.insert(key, value);
            }
            Ok(all)
        }
    }
    deserializer.deserialize_map(Keys(PhantomData))
}

/// What is wrong with a key that stands twice.
pub(crate) fn twice(key: &str) -> String {
    format!("`{}` twice", key.escape_debug())
}
