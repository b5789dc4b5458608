//! Reading `observed_at`: RFC 3339 times, with or without an offset from UTC.
//!
//! A time without an offset stays one: it is compared with its like only, never placed in a
//! local zone.

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instant {
    /// Nanoseconds since 1970-01-01T00:00:00, in UTC if `aware`.
    pub(super) nanoseconds: i64,
    /// Whether the text named its offset from UTC.
    pub(super) aware: bool,
}

/// The instant `text` names: `YYYY-MM-DD`, `T` or a space, `hh:mm:ss`, maybe a fraction, maybe `Z`,
/// `±hh:mm` or `±hhmm`. A leap second counts as the second after it. There are
/// no instants before 1678 and after 2261: their nanoseconds have no place in 64 bits.
pub(super) fn instant(text: &str) -> Option<Instant> {
    let text = text.trim();
    let (date, rest) = (text.get(..10)?, text.get(11..)?);
    if !matches!(text.get(10..11)?, "T" | "t" | " ") {
        return None;
    }
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(rest.get(..8)?, ':', [2, 2, 2])?;
    let valid = (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
    if !valid || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let (fraction, zone) = fraction(rest.get(8..)?)?;
    let offset = offset(zone)?;
    let seconds = days_since_epoch(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    let nanoseconds = (seconds - offset.unwrap_or(0)).checked_mul(1_000_000_000)?.checked_add(fraction)?;
    Some(Instant { nanoseconds, aware: offset.is_some() })
}

/// Three numbers of given lengths between separators.
fn numbers(text: &str, separator: char, lengths: [usize; 3]) -> Option<[i64; 3]> {
    let mut parts = text.split(separator);
    let mut next = |length| parts.next().filter(|part| part.len() == length).and_then(digits);
    let [first, second, third] = lengths;
    let found = [next(first)?, next(second)?, next(third)?];
    parts.next().is_none().then_some(found)
}

fn digits(text: &str) -> Option<i64> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

/// The nanoseconds of a leading fraction of a second, and what follows it.
fn fraction(text: &str) -> Option<(i64, &str)> {
    let Some(rest) = text.strip_prefix(['.', ',']) else { return Some((0, text)) };
    let length = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (fraction, zone) = rest.split_at(length);
    let padded: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    (length > 0).then(|| digits(&padded).map(|nanoseconds| (nanoseconds, zone))).flatten()
}

/// Seconds east of UTC, or `None` within for a time that does not say.
fn offset(zone: &str) -> Option<Option<i64>> {
    let (sign, rest) = match zone.chars().next() {
        None => return Some(None),
        Some('Z' | 'z') => return (zone.len() == 1).then_some(Some(0)),
        Some('+') => (1, zone.get(1..)?),
        Some('-') => (-1, zone.get(1..)?),
        Some(_) => return None,
    };
    let minutes = rest.get(2..)?;
    let (hour, minute) = (digits(rest.get(..2)?)?, digits(minutes.strip_prefix(':').unwrap_or(minutes))?);
    let valid = hour <= 23 && minute <= 59 && matches!(rest.len(), 4 | 5);
    valid.then_some(Some(sign * (hour * 3600 + minute * 60)))
}

fn days_in(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 in the proleptic Gregorian calendar, counted from years that begin in
/// March so that the leap day comes last.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::instant;

    const SECOND: i64 = 1_000_000_000;

    #[test]
    fn times_with_offsets_are_points_in_time() {
        let epoch = instant("1970-01-01T00:00:00Z").unwrap();
        assert_eq!((epoch.nanoseconds, epoch.aware), (0, true));
        for text in ["1970-01-01T01:30:00+01:30", "1969-12-31T22:00:00-0200", "1970-01-01 00:00:00.000Z"] {
            assert_eq!(instant(text), Some(epoch), "{text}");
        }
        assert_eq!(instant("2000-02-29T00:00:00.000001Z").unwrap().nanoseconds, 951_782_400 * SECOND + 1000);
        assert_eq!(instant("2000-03-01T00:00:00Z").unwrap().nanoseconds, (951_782_400 + 86_400) * SECOND);
        assert_eq!(instant("1900-03-01T00:00:00Z").unwrap().nanoseconds, -2_203_891_200 * SECOND);
    }

    #[test]
    fn times_without_offset_stay_so() {
        let naive = instant("1970-01-01T00:00:01").unwrap();
        assert_eq!((naive.nanoseconds, naive.aware), (SECOND, false));
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "yesterday",
            "1970-01-01",
            "1970-13-01T00:00:00Z",
            "1970-02-29T00:00:00Z",
            "1970-01-01T24:00:00Z",
            "1970-01-01T00:00:00.Z",
            "1970-01-01T00:00:00+1",
            "1970-01-01T00:00:00Zulu",
            "+970-01-01T00:00:00Z",
            "0001-01-01T00:00:00Z",
            "1970-01-01T00:00:00é",
            "1970-01-0é",
        ] {
            assert_eq!(instant(text), None, "{text}");
        }
    }
}
