//! Ends in order when the user or the system asks for it: Ctrl+C, and on Unix SIGTERM, and SIGHUP
//! unless it is to be ignored, as under `nohup`.

/// Calls `end` at every request to end, on a thread of its own.
///
/// # Errors
/// When the system does not let signals be handled.
pub fn on_request(end: impl Fn() + Clone + Send + 'static) -> anyhow::Result<()> {
    ctrlc::set_handler(end.clone())?;
    #[cfg(unix)]
    {
        use rustix::process::Signal;
        let hangup = Some(Signal::HUP).filter(|_| !ignores_hangup());
        let wanted: Vec<i32> = [Some(Signal::TERM), hangup].into_iter().flatten().map(Signal::as_raw).collect();
        let mut signals = signal_hook::iterator::Signals::new(wanted)?;
        let wait = move || signals.forever().for_each(|_| end());
        std::thread::Builder::new().name("signals".into()).stack_size(64 << 10).spawn(wait)?;
    }
    Ok(())
}

/// Whether this process was started with SIGHUP ignored; known on Linux alone.
#[cfg(unix)]
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 == 1)
}
