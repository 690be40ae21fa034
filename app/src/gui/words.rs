//! Numbers, times and long texts in words.

use crate::session::desk::view::JobView;
pub use tessera_core::plural::{count, grouped};
use tessera_core::utc::now;

/// Bytes with a unit.
pub fn bytes(n: u64) -> String {
    match n {
        0..1_000 => format!("{n} bytes"),
        1_000..1_000_000 => format!("{:.0} kB", n as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", n as f64 / 1e6),
        _ => format!("{:.1} GB", n as f64 / 1e9),
    }
}

/// A short time with a unit.
pub fn moment(time: std::time::Duration) -> String {
    match time.as_secs_f64() * 1e3 {
        ms if ms < 0.1 => "under 0.1 ms".into(),
        ms if ms < 20.0 => format!("{ms:.1} ms"),
        ms if ms < 1000.0 => format!("{ms:.0} ms"),
        ms => format!("{:.1} s", ms / 1e3),
    }
}

/// What the reason for which a file was not taken in means.
pub fn reason(word: &str) -> &str {
    match word {
        "unsupported" => "no picture of a known format",
        "no_picture" => "no picture",
        "mask" => "mask or map of another picture",
        "duplicate" => "copy of another image",
        "cut_off" => "picture that is cut off, taken in",
        "no_image" => "name without an image",
        "data" => "damaged, or no picture inside",
        "too_large" => "too large",
        "crashed" | "fatal" => "its decoder broke down",
        "io" => "could not be read",
        "link" => "link that leads to no file",
        "special" => "neither a file nor a folder",
        "too_deep" => "too many folders deep",
        "norb" => "inside a NORB file",
        other => other,
    }
}

/// So many files with that reason, in words.
pub fn reasons(n: usize, word: &str) -> String {
    let words = match word {
        "unsupported" => "no pictures of a known format",
        "no_picture" => "no pictures",
        "mask" => "masks or maps of other pictures",
        "duplicate" => "copies of other images",
        "cut_off" => "pictures that are cut off, taken in",
        "no_image" => "names without an image",
        "crashed" | "fatal" => "of which the decoder broke down",
        "link" => "links that lead to no file",
        "special" => "neither files nor folders",
        other => reason(other),
    };
    format!("{} {}", grouped(n), if n == 1 { reason(word) } else { words })
}

/// How long ago something was that happened at a time in milliseconds since 1970.
pub fn ago(at_ms: i64) -> String {
    let minutes = (now() - at_ms).max(0) / 60_000;
    match minutes {
        0 => "just now".into(),
        1..120 => format!("{minutes} min ago"),
        120..2880 => format!("{} hours ago", minutes / 60),
        _ => format!("{} days ago", minutes / 1440),
    }
}

/// A job: what it does, how far it is, how fast, how long it will take.
pub fn job(job: &JobView) -> String {
    let [begin, whole, _] = job_parts(job);
    format!("{begin} {whole}").trim_end().to_owned()
}

/// What a job does; how far it is, how fast, how long it will take; and that in fewer words.
pub fn job_parts(job: &JobView) -> [String; 3] {
    let (stage, done, total) = (stage_of(job), job.snapshot.done, job.snapshot.total);
    let [n, of] = [done, total].map(|n| grouped(n as usize));
    if total == 0 && !job.waits {
        let counted = if done == 0 { String::new() } else { n };
        return [stage.to_owned(), counted.clone(), counted];
    }
    let begin = format!("{stage}:");
    if job.waits {
        let waits = if total == 0 { "waits".to_owned() } else { format!("waits at {n} of {of}") };
        return [begin, waits.clone(), waits];
    }
    let seconds = job.stage_elapsed.as_secs_f64();
    let rate = match done as f64 / seconds.max(0.1) {
        _ if done == 0 || seconds <= 2.0 => String::new(),
        slow if slow < 1.0 => time_left(job),
        rate => format!(", {rate:.0} a second{}", time_left(job)),
    };
    [begin, format!("{n} of {of}{rate}"), format!("{} %{}", 100 * done.min(total) / total, time_left(job))]
}

/// What a job does now.
fn stage_of(job: &JobView) -> &str {
    if job.snapshot.stage.is_empty() { &job.name } else { job.snapshot.stage }
}

/// How long a job will take from now on, in words that follow others; none until that can be told.
fn time_left(job: &JobView) -> String {
    let (done, total, seconds) = (job.snapshot.done, job.snapshot.total, job.stage_elapsed.as_secs_f64());
    if done == 0 || done >= total || seconds <= 2.0 {
        return String::new();
    }
    format!(", {} left", time((total - done) as f64 * seconds / done as f64))
}

/// Seconds in the unit that suits.
fn time(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// The beginning of a text that is longer than so many characters.
pub fn shortened(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest { text.to_owned() } else { text.chars().take(longest).chain("…".chars()).collect() }
}
