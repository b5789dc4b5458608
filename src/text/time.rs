//! Times as RFC 3339 text in UTC.

use std::time::Duration;

/// The time `since` the Unix epoch as `YYYY-MM-DDTHH:MM:SS.ffffffZ`.
#[must_use]
pub(crate) fn rfc3339(since: Duration) -> String {
    let mut text = rfc3339_seconds(since.as_secs());
    text.pop();
    format!("{text}.{:06}Z", since.subsec_micros())
}

/// The time `seconds` after the Unix epoch as `YYYY-MM-DDTHH:MM:SSZ`.
#[must_use]
pub(crate) fn rfc3339_seconds(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

/// The whole seconds from the Unix epoch to a time in UTC, written `YYYY-MM-DDTHH:MM:SS` with or
/// without a fraction, and `Z`; `None` for anything else, and for times before the epoch.
/// Only listings of objects hold such times.
#[cfg(any(feature = "s3", test))]
#[must_use]
pub(crate) fn seconds(text: &str) -> Option<u64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let numbers = |text: &str, sign| -> Option<[u64; 3]> {
        let parts: Vec<u64> = text.split(sign).map(str::parse).collect::<Result<_, _>>().ok()?;
        parts.try_into().ok()
    };
    let whole = time.split_once('.').map_or(time, |(whole, _)| whole);
    let ([year, month, day], [hour, minute, second]) = (numbers(date, '-')?, numbers(whole, ':')?);
    let in_range = (1970..10_000).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    if !in_range || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, year_of_era) = (year / 400, year % 400);
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + (153 * month + 2) / 5 + day - 1;
    let days = (era * 146_097 + day_of_era).checked_sub(719_468)?;
    Some(days * 86_400 + hour * 3600 + minute * 60 + second)
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{rfc3339, rfc3339_seconds, seconds};

    #[test]
    fn times_are_read_as_they_are_written() {
        for time in (0..253_402_300_800).step_by(7_654_321) {
            assert_eq!(seconds(&rfc3339_seconds(time)), Some(time));
        }
        let leap_day = Duration::from_micros(951_782_400_000_001);
        assert_eq!(rfc3339(leap_day), "2000-02-29T00:00:00.000001Z");
        assert_eq!(seconds("2000-02-29T00:00:00.125Z"), Some(951_782_400));
        for text in
            ["", "2000-01-01", "2000-13-01T00:00:00Z", "2000-01-01T00:00Z", "2000-01-01T24:00:00Z", "1-1-1T1:1:1Z"]
        {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
