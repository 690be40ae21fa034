//! Any bytes as the changes of an event: what can be read is written, and read again as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tessera_core::library::event::{Change, inverse};

fuzz_target!(|bytes: &[u8]| {
    let Ok(changes) = serde_json::from_slice::<Vec<Change>>(bytes) else { return };
    let text = serde_json::to_string(&changes).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Change>>(&text).unwrap(), changes);
    assert_eq!(inverse(inverse(changes.clone())), changes);
});
