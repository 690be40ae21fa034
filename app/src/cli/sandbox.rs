//! What a process that decodes gives up for good: opening files, the network, starting programs.
//!
//! A worker is handed the bytes of each file on a pipe. Should a picture take a decoder over, it
//! can use the two pipes and its own memory, and nothing else. Linux alone; elsewhere the limits on
//! memory and files remain.

/// What a confined process could still do when it tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Freedom {
    /// Open a file.
    pub(super) reads: bool,
    /// Make a file.
    pub(super) writes: bool,
    /// Reach the network.
    pub(super) connects: bool,
    /// Start a program.
    pub(super) starts: bool,
}

impl Freedom {
    /// What this process can do with a file, a folder and a program that are there.
    pub(super) fn tried(file: &std::path::Path, folder: &std::path::Path, program: &std::path::Path) -> Self {
        Self {
            reads: std::fs::read(file).is_ok(),
            writes: std::fs::write(folder.join("written-by-a-worker"), b"x").is_ok(),
            connects: std::net::UdpSocket::bind("127.0.0.1:0").is_ok(),
            starts: std::process::Command::new(program).arg("--version").output().is_ok(),
        }
    }

    /// Whether all of it is given up.
    pub(super) fn is_none(self) -> bool {
        self == Self::default()
    }
}

/// Calls of the system that decoding needs: memory, pipes that are open, threads, time, and an end.
/// Every other one fails as if it were not permitted.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
const NEEDED: &[libc::c_long] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_close,
    libc::SYS_fstat,
    libc::SYS_lseek,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_rseq,
    libc::SYS_set_robust_list,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_gettid,
    libc::SYS_tgkill,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_clock_gettime,
    libc::SYS_getrandom,
    libc::SYS_restart_syscall,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// Gives up everything else, for all threads of this process and those that they start. Where the
/// system does not have this, nothing changes.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) fn enter() -> anyhow::Result<()> {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
    let rules = NEEDED.iter().map(|call| (*call, Vec::new())).collect();
    let refused = SeccompAction::Errno(libc::EPERM as u32);
    let filter = SeccompFilter::new(rules, refused, SeccompAction::Allow, std::env::consts::ARCH.try_into()?)?;
    let program: BpfProgram = filter.try_into()?;
    Ok(seccompiler::apply_filter_all_threads(&program)?)
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(super) fn enter() -> anyhow::Result<()> {
    anyhow::bail!("this system has no such confinement")
}
