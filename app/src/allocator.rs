//! How much freed memory the allocator of the C library keeps.

/// Has all threads share one pool of freed memory, and gives back to the system what lies free at
/// its end. glibc has a pool for each of up to eight threads a processor, and what a thread of a
/// large library's work once used stays in its own: a third of the program's memory. Elsewhere it
/// does nothing. To be called before there are threads.
pub fn share_one_pool() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[expect(unsafe_code, reason = "numbers are handed to a function of C that sets options of the allocator; no crate wraps it")]
    // SAFETY: mallopt takes any numbers, and no other thread allocates yet.
    unsafe {
        // Told, the threshold no longer grows with the largest piece that was freed.
        libc::mallopt(libc::M_TRIM_THRESHOLD, 128 << 10);
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}
