//! The hidden commands `decode-worker` and `network-worker`: this program as a process that decodes
//! pictures, or tries a network, for another one, within limits.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::Done;
use super::sandbox::{self, Freedom};
use crate::session::DECODE_WORKER;
use tessera_core::network::trial;
use tessera_core::picture::workers::serve;

/// Bytes of address space that a worker may have.
#[cfg(unix)]
const MEMORY: u64 = 1536 << 20;

pub(super) fn run(tries: Option<&[PathBuf]>) -> anyhow::Result<Done> {
    confine();
    // Where this is not possible, `tessera check` says so.
    let _ = sandbox::enter();
    if let Some([file, folder, program]) = tries {
        let Freedom { reads, writes, connects, starts } = Freedom::tried(file, folder, program);
        writeln!(io::stdout(), "{reads} {writes} {connects} {starts}")?;
        return Ok(Done::Whole);
    }
    // A broken pipe means that nobody waits for pictures any more.
    let _ = serve(io::stdin().lock(), io::stdout().lock());
    Ok(Done::Whole)
}

/// What a worker can still do, found out by one that tries; `None` where none can be started.
pub(super) fn freedom() -> Option<Freedom> {
    let (program, folder) = (std::env::current_exe().ok()?, tempfile::tempdir().ok()?);
    let file = folder.path().join("secret");
    std::fs::write(&file, b"secret").ok()?;
    let tries = ["--try".as_ref(), file.as_os_str(), folder.path().as_os_str(), program.as_os_str()];
    let tried = Command::new(&program).arg(DECODE_WORKER).args(tries).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let told: Vec<bool> = String::from_utf8(tried.stdout).ok()?.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    let [reads, writes, connects, starts] = told[..] else { return None };
    Some(Freedom { reads, writes, connects, starts })
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
