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
        // Both factors are exact below these bounds, so one rounding gives the nearest float.
        const EXACT: [f64; 23] = [
            1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
            1e19, 1e20, 1e21, 1e22,
        ];
        let magnitude = match self.digits {
            #[expect(clippy::cast_precision_loss, reason = "at most 2^53, which is exact")]
            Some(digits) if digits <= 1 << 53 => EXACT
                .get(self.exponent.unsigned_abs() as usize)
                .map(|power| if self.exponent < 0 { digits as f64 / power } else { digits as f64 * power }),
            Some(digits) => nearest_quotient(digits, self.exponent.saturating_neg()),
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

/// The float nearest to `digits` / 10^`places`, for 0 to 27 places: 5^27 is the last power of five in 64 bits.
fn nearest_quotient(digits: u64, places: i32) -> Option<f64> {
    let places = u32::try_from(places).ok()?;
    let five = 5_u64.checked_pow(places)?;
    // Both with their first bit set, the quotient has 63 or 64 bits: more than a float and the
    // bit that decides its rounding. Whether anything was left over goes into the last one.
    let (numerator, divisor) = (digits << digits.leading_zeros(), five << five.leading_zeros());
    let (numerator, divisor) = (u128::from(numerator) << 63, u128::from(divisor));
    let quotient = u64::try_from(numerator / divisor).ok()? | u64::from(numerator % divisor != 0);
    let shift = i32::try_from(five.leading_zeros()).ok()? - i32::try_from(digits.leading_zeros()).ok()? - 63;
    let exponent = shift - i32::try_from(places).ok()?;
    #[expect(clippy::cast_precision_loss, reason = "rounded to the nearest, which is what is asked for")]
    let significand = quotient as f64;
    // Exact: the result is far from the ends of the exponents' range.
    Some(significand * f64::from_bits(u64::try_from(1023 + exponent).ok()? << 52))
}

/// The value of eight digits; `None` if other bytes are among them.
#[inline]
pub(super) fn eight_digits(bytes: [u8; 8]) -> Option<u64> {
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    const HIGH: u64 = 0xf0f0_f0f0_f0f0_f0f0;
    let word = u64::from_le_bytes(bytes);
    // A digit's high half is 3, and still is when 6 is added to its low half.
    if word & HIGH != ZEROS || word.wrapping_add(0x0606_0606_0606_0606) & HIGH != ZEROS {
        return None;
    }
    // Neighbours are joined: digits to pairs, pairs to fours, fours to eight.
    let pairs = (word & !HIGH).wrapping_mul((10 << 8) + 1) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul((100 << 16) + 1) >> 16 & 0x0000_ffff_0000_ffff;
    Some(fours.wrapping_mul((10_000 << 32) + 1) >> 32)
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
    fn eight_digits_and_no_others() {
        for value in [0, 1, 12_345_678, 99_999_999, 10_000_000, 80_706_050] {
            let text: [u8; 8] = format!("{value:08}").into_bytes().try_into().unwrap();
            assert_eq!(eight_digits(text), Some(value));
            for place in 0..8 {
                for other in [b'.', b'/', b':', b'e', b' ', b'0' | 0x80, 0x3f, 0] {
                    let mut damaged = text;
                    damaged[place] = other;
                    assert_eq!(eight_digits(damaged), None, "{damaged:?}");
                }
            }
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
