//! `Box`: an array of numbers, each within its own bounds, which may be infinite.

use super::{SpaceError, shape};
use crate::array::{Array, DType, Scalar};

/// Numbers within bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxSpace {
    shape: Vec<usize>,
    dtype: DType,
    low: Vec<Scalar>,
    high: Vec<Scalar>,
}

impl BoxSpace {
    /// A box of `shape`; `low` and `high` hold a bound for each element in C order, or one for
    /// all of them.
    ///
    /// # Errors
    /// As [`BoxSpace::exact`].
    pub fn new(shape: &[usize], dtype: DType, low: &[f64], high: &[f64]) -> Result<Self, SpaceError> {
        let scalars = |bounds: &[f64]| bounds.iter().copied().map(Scalar::Float).collect::<Vec<_>>();
        Self::exact(shape, dtype, &scalars(low), &scalars(high))
    }

    /// A box with bounds beyond what floats hold: integers of 64 bits.
    ///
    /// # Errors
    /// When a bound is NaN or not of the dtype, a lower bound exceeds its upper one, or their
    /// number does not fit. Floats are rounded to the dtype; only signed integers may be unbounded
    /// among the integers, as in Gymnasium.
    pub fn exact(shape: &[usize], dtype: DType, low: &[Scalar], high: &[Scalar]) -> Result<Self, SpaceError> {
        let size = shape::size(shape)?;
        let spread = |name: &str, endless: f64, bounds: &[Scalar]| {
            let bound = |(index, bound): (usize, &Scalar)| {
                convert(dtype, *bound, endless)
                    .map_err(|message| SpaceError::new(name, format!("of element {} {message}", index + 1)))
            };
            match bounds {
                [one] => Ok(vec![bound((0, one))?; size]),
                many if many.len() == size => many.iter().enumerate().map(bound).collect(),
                many => Err(SpaceError::new(name, format!("has {} bounds for {size} elements", many.len()))),
            }
        };
        let (low, high) = (spread("low", f64::NEG_INFINITY, low)?, spread("high", f64::INFINITY, high)?);
        if let Some((index, (low, high))) =
            low.iter().zip(&high).enumerate().find(|(_, (low, high))| !at_most(**low, **high))
        {
            return Err(SpaceError::new("low", format!("of element {} is {low}, above high, {high}", index + 1)));
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

    /// The lower bounds in C order: numbers of the dtype, or the float `-inf` where there is none.
    #[must_use]
    pub fn low(&self) -> &[Scalar] {
        &self.low
    }

    /// The upper bounds in C order: numbers of the dtype, or the float `inf` where there is none.
    #[must_use]
    pub fn high(&self) -> &[Scalar] {
        &self.high
    }

    /// A box whose bounds are known to be of the dtype, in order, and as many as `shape` asks for.
    pub(super) fn known(shape: &[usize], dtype: DType, low: Vec<Scalar>, high: Vec<Scalar>) -> Self {
        Self { shape: shape.to_vec(), dtype, low, high }
    }

    /// The space of `count` elements stacked along a new first axis.
    pub(super) fn repeated(&self, count: usize) -> Self {
        let shape = std::iter::once(count).chain(self.shape.iter().copied()).collect();
        Self { shape, dtype: self.dtype, low: self.low.repeat(count), high: self.high.repeat(count) }
    }

    pub(super) fn contains(&self, array: &Array) -> bool {
        array.shape() == self.shape
            && array.dtype().promote(self.dtype) == self.dtype
            && array
                .scalars()
                .zip(self.low.iter().zip(&self.high))
                .all(|(value, (low, high))| Self::within(value, *low, *high))
    }

    /// Whether `low <= value <= high`, exactly for integers.
    pub(super) fn within(value: Scalar, low: Scalar, high: Scalar) -> bool {
        at_most(low, value) && at_most(value, high)
    }
}

/// `bound` as a number of the dtype; `endless` is the infinity that stands for no bound.
#[expect(clippy::float_cmp, reason = "an infinity is exactly itself")]
fn convert(dtype: DType, bound: Scalar, endless: f64) -> Result<Scalar, String> {
    let number = bound.to_f64();
    if number.is_nan() {
        return Err("is not a number".to_owned());
    }
    if !dtype.is_float() && number.is_infinite() {
        let signed = dtype.integer_range().is_some_and(|(least, _)| least < 0);
        return if signed && number == endless {
            Ok(Scalar::Float(number))
        } else {
            Err(format!("must be finite for {}, got {number}", dtype.numpy_name()))
        };
    }
    let found =
        Array::from_scalars(dtype, &[], std::iter::once(if dtype.is_float() { Scalar::Float(number) } else { bound }));
    let found = found.ok().and_then(|array| array.scalars().next());
    found.ok_or_else(|| format!("is {bound}, which is not of {}", dtype.numpy_name()))
}

/// Whether `a <= b`, exactly for integers.
fn at_most(a: Scalar, b: Scalar) -> bool {
    match (a, b) {
        (Scalar::Int(a), Scalar::Int(b)) => a <= b,
        (a, b) => a.to_f64() <= b.to_f64(),
    }
}
