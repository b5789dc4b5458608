//! What an axis's values are drawn from: a map from the unit interval, so that plain draws,
//! stratified ones and low-discrepancy points share it.

use crate::value::Value;

/// What the values of a drawn axis are drawn from.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// A float of `[low, high)`, every one as likely.
    Uniform {
        /// The lowest.
        low: f64,
        /// Its bound above.
        high: f64,
    },
    /// A float of `[low, high)` whose logarithm is uniform; `low` is above 0.
    LogUniform {
        /// The lowest.
        low: f64,
        /// Its bound above.
        high: f64,
    },
    /// A float, normally distributed.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        deviation: f64,
    },
    /// An integer of `low..=high`, every one as likely.
    Integer {
        /// The lowest.
        low: i64,
        /// The highest.
        high: i64,
    },
    /// One of these, every one as likely; not empty.
    Choice(Vec<Value>),
}

impl Distribution {
    /// Checks the parameters.
    ///
    /// # Errors
    /// One line: which is wrong.
    pub fn check(&self) -> Result<(), String> {
        let finite = |values: [f64; 2]| values.iter().all(|value| value.is_finite());
        match self {
            Self::Uniform { low, high } | Self::LogUniform { low, high } if !finite([*low, *high]) || low >= high => {
                Err(format!("`low` must be below `high`, both finite; got {low} and {high}"))
            }
            Self::LogUniform { low, .. } if *low <= 0.0 => Err(format!("`low` must be above 0, got {low}")),
            Self::Normal { mean, deviation } if !finite([*mean, *deviation]) || *deviation <= 0.0 => {
                Err(format!("the deviation must be above 0, both finite; got {mean} and {deviation}"))
            }
            Self::Integer { low, high } if low > high => {
                Err(format!("`low` must not be above `high`; got {low} and {high}"))
            }
            Self::Choice(values) if values.is_empty() => Err("there is nothing to choose from".to_owned()),
            _ => Ok(()),
        }
    }

    /// The value at the quantile `share` of `[0, 1)`.
    #[must_use]
    pub fn at(&self, share: f64) -> Value {
        match self {
            Self::Uniform { low, high } => {
                let width = high - low;
                // The width of an interval that is larger than half of all floats is none of them.
                let value = if width.is_finite() { low + width * share } else { low * (1.0 - share) + high * share };
                Value::Float(within(value, *low, *high))
            }
            Self::LogUniform { low, high } => {
                let (from, to) = (pxfm::f_log(*low), pxfm::f_log(*high));
                Value::Float(within(pxfm::f_exp(from + (to - from) * share), *low, *high))
            }
            Self::Normal { mean, deviation } => Value::Float(mean + deviation * normal_quantile(share)),
            Self::Integer { low, high } => {
                let count = u128::from(high.abs_diff(*low)) + 1;
                let step = place(share, count).min(count - 1);
                Value::Int(low.wrapping_add_unsigned(u64::try_from(step).unwrap_or(u64::MAX)))
            }
            Self::Choice(values) => {
                let index = place(share, values.len() as u128);
                let index = usize::try_from(index).unwrap_or(usize::MAX).min(values.len().saturating_sub(1));
                values.get(index).cloned().unwrap_or_default()
            }
        }
    }
}

/// Rounding must not lead out of the interval.
fn within(value: f64, low: f64, high: f64) -> f64 {
    value.clamp(low, high.next_down())
}

/// Which of `count` equal parts of `[0, 1)` holds `share`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "floor")]
fn place(share: f64, count: u128) -> u128 {
    (share * count as f64) as u128
}

/// The standard normal distribution's quantile: Wichura's algorithm AS 241, PPND16 (Applied
/// Statistics 37, 1988), with a relative error of about 1e-16.
fn normal_quantile(share: f64) -> f64 {
    const A: [f64; 8] = [
        3.387_132_872_796_366_5,
        133.141_667_891_784_38,
        1_971.590_950_306_551_3,
        13_731.693_765_509_46,
        45_921.953_931_549_87,
        67_265.770_927_008_7,
        33_430.575_583_588_13,
        2_509.080_928_730_122_7,
    ];
    const B: [f64; 8] = [
        1.0,
        42.313_330_701_600_91,
        687.187_007_492_057_9,
        5_394.196_021_424_751,
        21_213.794_301_586_597,
        39_307.895_800_092_71,
        28_729.085_735_721_943,
        5_226.495_278_852_854,
    ];
    const C: [f64; 8] = [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        0.241_780_725_177_450_6,
        0.022_723_844_989_269_184,
        0.000_774_545_014_278_341_4,
    ];
    const D: [f64; 8] = [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        0.689_767_334_985_1,
        0.148_103_976_427_480_08,
        0.015_198_666_563_616_457,
        0.000_547_593_808_499_534_5,
        1.050_750_071_644_416_9e-9,
    ];
    const E: [f64; 8] = [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        0.296_560_571_828_504_87,
        0.026_532_189_526_576_124,
        0.001_242_660_947_388_078_4,
        0.000_027_115_555_687_434_876,
        2.010_334_399_292_288_1e-7,
    ];
    const F: [f64; 8] = [
        1.0,
        0.599_832_206_555_888,
        0.136_929_880_922_735_8,
        0.014_875_361_290_850_615,
        0.000_786_869_131_145_613_2,
        0.000_018_463_183_175_100_548,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ];
    // A share of 0 would be minus infinity.
    let share = share.clamp(f64::EPSILON / 4.0, 1.0 - f64::EPSILON / 2.0);
    let centred = share - 0.5;
    if centred.abs() <= 0.425 {
        let r = 0.180_625 - centred * centred;
        return centred * polynomial(&A, r) / polynomial(&B, r);
    }
    let tail = (-pxfm::f_log(share.min(1.0 - share))).sqrt();
    let size = if tail <= 5.0 {
        polynomial(&C, tail - 1.6) / polynomial(&D, tail - 1.6)
    } else {
        polynomial(&E, tail - 5.0) / polynomial(&F, tail - 5.0)
    };
    size.copysign(centred)
}

fn polynomial(coefficients: &[f64], at: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * at + coefficient)
}
