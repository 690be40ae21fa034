//! Moments: now, and as people read them.

use std::time::{SystemTime, UNIX_EPOCH};

const DAY: i64 = 24 * 60 * 60;

/// A moment in milliseconds since 1970 as date and time of day, in UTC: `2026-11-23 02:13:22 UTC`.
/// The date is found as in E. Richards, *Mapping time*, 1998, for the Gregorian calendar.
pub fn utc(milliseconds: i64) -> String {
    let seconds = milliseconds.div_euclid(1000);
    let (days, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    // Years begin in March here, so that the leap day is the last; eras have 400 years.
    let day = days + 719_468;
    let (era, of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let (of_month, month) = (of_year - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    let year = year + 400 * era + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{of_month:02} {:02}:{:02}:{:02} UTC", second / 3600, second / 60 % 60, second % 60)
}

/// The time now, in milliseconds since 1970.
pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}
