//! Times as RFC 3339 text in UTC.

use std::time::Duration;

/// The time `since` the Unix epoch as `YYYY-MM-DDTHH:MM:SS.ffffffZ`.
///
/// ```
/// let time = std::time::Duration::from_micros(951_782_400_000_001);
/// assert_eq!(skyfall::text::time::rfc3339(time), "2000-02-29T00:00:00.000001Z");
/// ```
#[must_use]
pub fn rfc3339(since: Duration) -> String {
    let mut text = rfc3339_seconds(since.as_secs());
    text.pop();
    format!("{text}.{:06}Z", since.subsec_micros())
}

/// The time `seconds` after the Unix epoch as `YYYY-MM-DDTHH:MM:SSZ`.
#[must_use]
pub fn rfc3339_seconds(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

/// The civil date `days` after 1970-01-01 (proleptic Gregorian): eras of 400 years that begin on
/// the first of March, so that the leap day comes last.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}
