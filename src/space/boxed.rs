//! `Box`: an array of numbers, each within its own bounds, which may be infinite.

use super::SpaceError;
use crate::array::{Array, DType};
use crate::random::Rng;
use crate::value::Value;

/// Numbers within bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxSpace {
    shape: Vec<usize>,
    dtype: DType,
    /// Bounds in C order, rounded to the dtype; infinite where there is none.
    low: Vec<f64>,
    high: Vec<f64>,
}

impl BoxSpace {
    /// A box of `shape`; `low` and `high` hold a bound for each element in C order, or one for
    /// all of them.
    ///
    /// # Errors
    /// When a bound is NaN, a lower bound exceeds its upper one, or their number does not fit.
    pub fn new(shape: &[usize], dtype: DType, low: &[f64], high: &[f64]) -> Result<Self, SpaceError> {
        let size: usize = shape.iter().product();
        let spread = |name: &str, bounds: &[f64]| match bounds {
            [one] => Ok(vec![round(dtype, *one); size]),
            many if many.len() == size => Ok(many.iter().map(|bound| round(dtype, *bound)).collect()),
            many => Err(SpaceError::new(name, format!("{} bounds for {size} elements", many.len()))),
        };
        let (low, high) = (spread("low", low)?, spread("high", high)?);
        if let Some(index) = low.iter().zip(&high).position(|(low, high)| low.is_nan() || high.is_nan() || low > high) {
            return Err(SpaceError::new("low", format!("the bounds of element {} are not in order", index + 1)));
        }
        Ok(Self { shape: shape.to_vec(), dtype, low, high })
    }

    /// The lengths along each axis.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The element type.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The lower bounds in C order.
    #[must_use]
    pub fn low(&self) -> &[f64] {
        &self.low
    }

    /// The upper bounds in C order.
    #[must_use]
    pub fn high(&self) -> &[f64] {
        &self.high
    }

    pub(super) fn contains(&self, array: &Array) -> bool {
        array.shape() == self.shape
            && array
                .numbers()
                .zip(self.low.iter().zip(&self.high))
                .all(|(value, (low, high))| (*low..=*high).contains(&value))
    }

    /// Gymnasium's order of draws, whatever the layout: normals for unbounded elements, then
    /// exponentials for those bounded on one side, then uniforms.
    pub(super) fn sample(&self, rng: &mut Rng) -> Array {
        let mut values = vec![0.0; self.low.len()];
        let mut draw = |wanted: (bool, bool), rule: &mut dyn FnMut(f64, f64) -> f64| {
            for (value, (low, high)) in values.iter_mut().zip(self.low.iter().zip(&self.high)) {
                if (low.is_finite(), high.is_finite()) == wanted {
                    *value = rule(*low, *high);
                }
            }
        };
        draw((false, false), &mut |_, _| rng.standard_normal());
        draw((true, false), &mut |low, _| low - (-rng.double()).ln_1p());
        draw((false, true), &mut |_, high| high + (-rng.double()).ln_1p());
        let whole = if self.dtype.is_float() { 0.0 } else { 1.0 };
        draw((true, true), &mut |low, high| rng.uniform(low, high + whole));
        let mut array = Array::zeros(self.dtype, &self.shape);
        for (index, value) in values.into_iter().enumerate() {
            let value = if self.dtype.is_float() { value } else { value.floor() };
            // A bounded draw fits its dtype.
            let _ = array.set(index, &Value::Float(value));
        }
        array
    }
}

/// `bound` as the dtype holds it.
fn round(dtype: DType, bound: f64) -> f64 {
    match dtype {
        #[expect(clippy::cast_possible_truncation, reason = "rounding to the dtype is what is asked for")]
        DType::F32 => f64::from(bound as f32),
        DType::F16 => f64::from(half::f16::from_f64(bound)),
        _ => bound,
    }
}
