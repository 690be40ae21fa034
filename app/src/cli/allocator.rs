//! Lets the allocator of the C library keep little of what is freed, for a window that is open for
//! hours.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
const SETTINGS: &str = "GLIBC_TUNABLES";
/// Three pools for all threads, where each thread would get its own, up to eight for each
/// processor; and the largest blocks from the system and back to it
/// (`docs/benchmarks/program.md`).
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const VALUE: &str = "glibc.malloc.arena_max=3:glibc.malloc.mmap_threshold=4194304:glibc.malloc.trim_threshold=33554432";

/// Starts this program again in its own place with these settings, which the allocator reads only
/// when a program starts. Where that cannot be done, or the user has made settings, it goes on as
/// it is.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(super) fn keep_little() {
    use std::os::unix::process::CommandExt as _;
    let is_set = |(name, _): (std::ffi::OsString, _)| name == SETTINGS || name.to_string_lossy().starts_with("MALLOC_");
    if std::env::vars_os().any(is_set) {
        return;
    }
    let mut arguments = std::env::args_os();
    let mut again = std::process::Command::new("/proc/self/exe");
    if let Some(name) = arguments.next() {
        again.arg0(name);
    }
    // It returns only where it failed.
    let _ = again.args(arguments).env(SETTINGS, VALUE).exec();
}

/// Other allocators are as they are.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(super) fn keep_little() {}
