//! The hidden commands `decode-worker` and `network-worker`: this program as a process that decodes
//! pictures, or tries a network, for another one, within limits.

use std::io;

use super::Done;
use tessera_core::network::trial;
use tessera_core::picture::workers::serve;

/// Bytes of address space that a worker may have.
#[cfg(unix)]
const MEMORY: u64 = 1536 << 20;

pub(super) fn run() -> anyhow::Result<Done> {
    confine();
    // A broken pipe means that nobody waits for pictures any more.
    let _ = serve(io::stdin().lock(), io::stdout().lock());
    Ok(Done::Whole)
}

pub(super) fn try_network() -> anyhow::Result<Done> {
    confine();
    trial::serve(io::stdin().lock(), io::stdout().lock())?;
    Ok(Done::Whole)
}

/// Restricts this process to what its work needs: limited memory, no writing of files, no core
/// dump. It ends when the program that started it is gone, even in the middle of its work.
#[cfg(unix)]
fn confine() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    for (resource, limit) in [(Resource::As, MEMORY), (Resource::Fsize, 0), (Resource::Core, 0)] {
        // If the system does not allow this, the decoder's own limits remain.
        let _ = setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) });
    }
    let parent = std::os::unix::process::parent_id();
    let _ = std::thread::Builder::new().name("parent".into()).stack_size(64 << 10).spawn(move || {
        while std::os::unix::process::parent_id() == parent {
            std::thread::sleep(std::time::Duration::from_secs(1));
        }
        std::process::exit(0);
    });
}

#[cfg(not(unix))]
fn confine() {
    // Ctrl-C reaches every process of a terminal, but is meant for the program that started this
    // one.
    let _ = ctrlc::set_handler(|| {});
}
