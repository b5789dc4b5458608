//! A number's text taken apart: its digits and its power of ten, read as a float or an integer.
//!
//! Floats are the nearest to the text, whatever its length, as Python reads them.

/// A number's parts, enough to read most numbers without reading their text again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number<'a> {
    pub(super) text: &'a [u8],
    pub(super) negative: bool,
    /// The digits as an integer, if they are few enough.
    pub(super) digits: Option<u64>,
    /// The power of ten that `digits` is to be multiplied by.
    pub(super) exponent: i32,
    /// Written without point and exponent.
    pub(super) is_int: bool,
}

/// `value`, if so many digits surely fit.
pub(super) fn held(value: u64, digits: usize) -> Option<u64> {
    const SURE: usize = 19;
    (digits <= SURE).then_some(value)
}

impl Number<'_> {
    /// The float nearest to the number, as Python reads it; infinite where it is too large.
    #[inline]
    pub(super) fn float(&self) -> f64 {
        let magnitude = match self.digits {
            Some(digits) => match usize::try_from(self.exponent.saturating_neg()) {
                Ok(places) => quotient(digits, places),
                Err(_) => product(digits, self.exponent.unsigned_abs() as usize),
            },
            None => None,
        };
        match magnitude {
            Some(magnitude) if self.negative => -magnitude,
            Some(magnitude) => magnitude,
            None => self.parsed(),
        }
    }

    #[cold]
    fn parsed(&self) -> f64 {
        std::str::from_utf8(self.text).ok().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
    }

    /// The integer, if it has no fraction and is within 64 bits (`3`, `3.0`, `1e3`).
    pub(super) fn int(&self) -> Option<i64> {
        let Some(mut digits) = self.digits else { return self.long_int() };
        let mut exponent = self.exponent;
        while exponent < 0 && digits != 0 {
            if digits % 10 != 0 {
                return None;
            }
            digits /= 10;
            exponent += 1;
        }
        if digits != 0 {
            digits = digits.checked_mul(10_u64.checked_pow(u32::try_from(exponent).ok()?)?)?;
        }
        if self.negative { 0_i64.checked_sub_unsigned(digits) } else { i64::try_from(digits).ok() }
    }

    /// [`Number::int`] of a number with more digits than 64 bits hold: all but zeros may be few.
    #[cold]
    fn long_int(&self) -> Option<i64> {
        let mantissa = self.text.split(|byte| matches!(byte, b'e' | b'E')).next()?;
        let digits: Vec<u8> = mantissa.iter().copied().filter(u8::is_ascii_digit).collect();
        let significant = digits.iter().rposition(|digit| *digit != b'0').map_or(0, |last| last + 1);
        let zeros = i32::try_from(digits.len() - significant).ok()?;
        let digits = match digits.get(..significant)? {
            [] => 0,
            digits => std::str::from_utf8(digits).ok()?.parse().ok()?,
        };
        Number { digits: Some(digits), exponent: self.exponent.checked_add(zeros)?, ..*self }.int()
    }
}

/// Powers of ten that are floats: both factors are exact up to here and up to [`EXACT`] digits, so
/// that one rounding gives the nearest float.
const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// Integers up to this are floats.
const EXACT: u64 = 1 << 53;

/// The float nearest to `digits` / 10^`places`; `None` where this takes reading the text.
#[inline]
#[expect(clippy::cast_precision_loss, reason = "exact")]
pub(super) fn quotient(digits: u64, places: usize) -> Option<f64> {
    match TENS.get(places) {
        Some(power) if digits <= EXACT => Some(digits as f64 / power),
        _ => nearest_quotient(digits, i32::try_from(places).ok()?),
    }
}

#[expect(clippy::cast_precision_loss, reason = "exact")]
fn product(digits: u64, zeros: usize) -> Option<f64> {
    TENS.get(zeros).filter(|_| digits <= EXACT).map(|power| digits as f64 * power)
}

/// 10^`places` for up to eight of them.
#[inline]
pub(super) fn ten_to(places: usize) -> u64 {
    const TENS: [u64; 9] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
    TENS.get(places).copied().unwrap_or_default()
}

/// The float nearest to `digits` / 10^`places`, for 0 to 27 places: 5^27 is the last power of five in 64 bits.
fn nearest_quotient(digits: u64, places: i32) -> Option<f64> {
    if digits == 0 {
        return Some(0.0);
    }
    let (divisor, reciprocal) = *FIVES.get(usize::try_from(places).ok()?)?;
    // Both with their first bit set, the quotient has 63 or 64 bits: more than a float and the
    // bit that decides its rounding. Whether anything was left over goes into the last one.
    let shift = 64 - i32::try_from(digits.leading_zeros()).ok()? - bits_of_five(places);
    let digits = digits << digits.leading_zeros();
    let (quotient, left) = divide(digits >> 1, digits << 63, divisor, reciprocal);
    let quotient = quotient >> 1 | quotient & 1 | u64::from(left != 0);
    let exponent = shift - 62 - places;
    #[expect(clippy::cast_precision_loss, reason = "rounded to the nearest, which is what is asked for")]
    let significand = quotient.cast_signed() as f64;
    // Exact: the result is far from the ends of the exponents' range.
    Some(significand * f64::from_bits(u64::try_from(1023 + exponent).ok()? << 52))
}

/// How many bits 5^`places` has: log2(5) is 2.3219..
fn bits_of_five(places: i32) -> i32 {
    ((places * 2378) >> 10) + 1
}

/// For each number of places: 5^places with its first bit set, and what [`divide`] divides by it with.
const FIVES: [(u64, u64); 28] = {
    let mut table = [(0, 0); 28];
    let mut places = 0;
    let mut five = 1_u64;
    while places < table.len() {
        let divisor = five << five.leading_zeros();
        let reciprocal = (u128::MAX / divisor as u128 - (1 << 64)) as u64;
        #[expect(clippy::indexing_slicing, reason = "while compiling")]
        {
            table[places] = (divisor, reciprocal);
        }
        places += 1;
        five = five.wrapping_mul(5);
    }
    table
};

/// Quotient and remainder of `high` * 2^64 + `low`, `high` below the divisor, whose first bit is
/// set: two multiplications (Möller and Granlund 2011, "Improved division by invariant integers").
#[inline]
fn divide(high: u64, low: u64, divisor: u64, reciprocal: u64) -> (u64, u64) {
    let guess = (u128::from(reciprocal) * u128::from(high)).wrapping_add(u128::from(high) << 64 | u128::from(low));
    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    let (mut quotient, fraction) = (((guess >> 64) as u64).wrapping_add(1), guess as u64);
    let mut left = low.wrapping_sub(quotient.wrapping_mul(divisor));
    if left > fraction {
        quotient = quotient.wrapping_sub(1);
        left = left.wrapping_add(divisor);
    }
    if left >= divisor {
        quotient = quotient.wrapping_add(1);
        left -= divisor;
    }
    (quotient, left)
}

/// How many digits come first in `bytes`, and their value.
#[inline]
pub(super) fn leading_digits(bytes: [u8; 8]) -> (usize, u64) {
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    const FIRST: u64 = 0x8080_8080_8080_8080;
    let word = u64::from_le_bytes(bytes) ^ ZEROS;
    // A byte's first bit says that it is no digit: it was set, or is when 0x76 is added.
    let others = ((word & !FIRST).wrapping_add(0x7676_7676_7676_7676) | word) & FIRST;
    let count = others.trailing_zeros() / 8;
    // The digits move to the end; zeros come before them.
    let digits = word.checked_shl(64 - 8 * count).unwrap_or_default();
    // Neighbours are joined: digits to pairs, pairs to fours, fours to eight.
    let pairs = digits.wrapping_mul((10 << 8) + 1) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul((100 << 16) + 1) >> 16 & 0x0000_ffff_0000_ffff;
    (count as usize, fours.wrapping_mul((10_000 << 32) + 1) >> 32)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

    use proptest::prelude::*;

    use super::*;
    use crate::trace::scan::Cursor;

    fn number(text: &str) -> Number<'_> {
        Cursor::new(text.as_bytes()).number().unwrap().unwrap()
    }

    #[test]
    fn integers_in_any_spelling() {
        for (text, value) in [
            ("0", Some(0)),
            ("-0", Some(0)),
            ("3.0", Some(3)),
            ("1e3", Some(1000)),
            ("1.50e1", Some(15)),
            ("1.5", None),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775808", None),
            ("1e400", None),
            ("0e400", Some(0)),
            ("0.0", Some(0)),
        ] {
            assert_eq!(number(text).int(), value, "{text}");
        }
    }

    #[test]
    fn digits_up_to_the_first_other_byte() {
        for value in ["00000000", "12345678", "99999999", "10000000", "80706050"] {
            assert_eq!(leading_digits(value.as_bytes().try_into().unwrap()), (8, value.parse().unwrap()));
            for place in 0..8 {
                for other in [b'.', b'/', b':', b'e', b' ', b'0' | 0x80, 0xff, 0x3f, 0] {
                    let mut damaged: [u8; 8] = value.as_bytes().try_into().unwrap();
                    damaged[place] = other;
                    assert_eq!(leading_digits(damaged), (place, value[..place].parse().unwrap_or(0)), "{damaged:?}");
                }
            }
        }
    }

    #[test]
    fn powers_of_five() {
        for places in 0..28 {
            let five = 5_u64.pow(places);
            assert_eq!(bits_of_five(places as i32), 64 - five.leading_zeros() as i32);
            assert_eq!(FIVES[places as usize].0, five << five.leading_zeros());
        }
    }

    #[test]
    fn halfway_between_two_floats() {
        // 2^53 + 1 and its like lie exactly between two floats: the even one is nearest.
        for text in [
            "9007199254740993.0",
            "9007199254740993",
            "900719925474099.30e1",
            "4503599627370497.5",
            "4503599627370498.5",
            "1.00000000000000011102230246251565e0",
            "9007199254740993.00000001",
            "0e-25",
            "0.000000000000000000",
            "1e-25",
            "9.007199254740993",
            "9.999999999999999999",
        ] {
            assert_eq!(number(text).float(), text.parse::<f64>().unwrap(), "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn floats_are_exact(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            for text in [format!("{value:e}"), crate::text::number::float_text(value)] {
                prop_assert_eq!(number(&text).float().to_bits(), value.to_bits(), "{}", text);
            }
        }

        #[test]
        fn quotients_and_remainders(high: u64, low: u64, place in 0_usize..28) {
            let (divisor, reciprocal) = FIVES[place];
            let high = high % divisor;
            let whole = u128::from(high) << 64 | u128::from(low);
            let (quotient, left) = divide(high, low, divisor, reciprocal);
            prop_assert_eq!(u128::from(quotient) * u128::from(divisor) + u128::from(left), whole);
            prop_assert!(left < divisor);
        }

        #[test]
        fn short_decimals_are_exact(digits in 0_u64..100_000_000_000_000_000, power in -30_i32..30) {
            let text = format!("{digits}e{power}");
            prop_assert_eq!(number(&text).float(), text.parse::<f64>().unwrap());
        }

        #[test]
        fn long_decimals_are_exact(digits: u64, power in -30_i32..3) {
            let text = format!("{digits}e{power}");
            prop_assert_eq!(number(&text).float(), text.parse::<f64>().unwrap());
        }
    }
}
