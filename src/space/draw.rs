//! The draws of spaces without parts, each from one stream.

use super::{BoxSpace, MultiBinarySpace, MultiDiscreteSpace, TextSpace};
use crate::array::{Array, DType, Scalar};
use crate::random::Rng;

/// Gymnasium's order of draws, whatever the layout: normals for unbounded elements, then
/// exponentials for those bounded on one side, then uniforms.
pub(super) fn boxed(space: &BoxSpace, rng: &mut Rng) -> Array {
    let bounds = || space.low().iter().zip(space.high());
    let whole = !space.dtype().is_float();
    let mut values = vec![0.0; space.low().len()];
    let mut draw = |bounded: (bool, bool), rule: &mut dyn FnMut(f64, f64) -> f64| {
        for (value, (low, high)) in values.iter_mut().zip(bounds()) {
            if (low.to_f64() > f64::NEG_INFINITY, high.to_f64() < f64::INFINITY) == bounded {
                *value = rule(low.to_f64(), if whole { above(*high) } else { high.to_f64() });
            }
        }
    };
    draw((false, false), &mut |_, _| rng.standard_normal());
    draw((true, false), &mut |low, _| rng.standard_exponential() + low);
    draw((false, true), &mut |_, high| -rng.standard_exponential() + high);
    draw((true, true), &mut |low, high| rng.uniform(low, high));
    fill(space, values)
}

/// The float that an integer's successor is.
#[expect(clippy::cast_precision_loss, reason = "as NumPy, which computes the bounds in float64")]
fn above(high: Scalar) -> f64 {
    match high {
        Scalar::Float(infinity) => infinity,
        Scalar::Int(high) => high.checked_add(1).map_or(high as f64, |above| above as f64),
        Scalar::Bool(high) => f64::from(u8::from(high)) + 1.0,
    }
}

/// The drawn `values` as the space's dtype holds them.
#[expect(clippy::cast_possible_truncation, reason = "rounding is what NumPy's astype does")]
fn fill(space: &BoxSpace, values: Vec<f64>) -> Array {
    let (dtype, shape) = (space.dtype(), space.shape());
    let array = match dtype {
        DType::F64 => Array::from_vec(shape, values),
        DType::F32 => Array::from_vec(shape, values.into_iter().map(|value| value as f32).collect()),
        DType::F16 => Array::from_vec(shape, values.into_iter().map(half::f16::from_f64).collect()),
        _ => {
            let integers = values.into_iter().zip(space.low().iter().zip(space.high())).map(|(value, (low, high))| {
                // The cast saturates at 64 bits, and an unbounded draw at the dtype, as NumPy clips.
                let (least, greatest) = dtype.integer_range().unwrap_or((0, 1));
                let value = (value.floor() as i64).clamp(least, greatest);
                let value = low.to_i64().map_or(value, |low| value.max(low));
                Scalar::Int(high.to_i64().map_or(value, |high| value.min(high)))
            });
            Array::from_scalars(dtype, shape, integers.collect::<Vec<_>>().into_iter())
        }
    };
    array.unwrap_or_else(|_| Array::zeros(dtype, shape))
}

/// An integer of a `Discrete` space.
pub(super) fn discrete(n: i64, start: i64, dtype: DType, rng: &mut Rng) -> i64 {
    match dtype {
        DType::I8 | DType::U8 | DType::I16 | DType::U16 => {
            start + rng.integers_of(dtype, 0, n, 1).first().copied().unwrap_or(0)
        }
        _ => start + rng.integers(0, n),
    }
}

/// A double for each element, scaled to its range.
pub(super) fn multi_discrete(space: &MultiDiscreteSpace, rng: &mut Rng) -> Array {
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "as NumPy's astype")]
    let draws = space.nvec().iter().zip(space.start()).map(|(n, start)| {
        let offset = (rng.double() * *n as f64) as i64;
        Scalar::Int(start + offset.min(n - 1))
    });
    let draws: Vec<Scalar> = draws.collect();
    Array::from_scalars(space.dtype(), space.shape(), draws.into_iter())
        .unwrap_or_else(|_| Array::zeros(space.dtype(), space.shape()))
}

/// Four elements from each 32 bits.
pub(super) fn multi_binary(space: &MultiBinarySpace, rng: &mut Rng) -> Array {
    let mut array = Array::zeros(DType::I8, space.shape());
    let draws = rng.integers_of(DType::I8, 0, 2, array.len());
    for (slot, draw) in array.as_i8_mut().into_iter().flatten().zip(draws) {
        *slot = i8::from(draw == 1);
    }
    array
}

/// The longest text that is sampled, where a space allows texts beyond memory.
const LONGEST: i64 = 1 << 26;

/// A length, then the characters.
pub(super) fn text(space: &TextSpace, rng: &mut Rng) -> String {
    let length = rng.integers(space.min_length(), space.max_length().saturating_add(1));
    let alphabet = space.alphabet();
    if alphabet.is_empty() {
        return String::new();
    }
    #[expect(clippy::cast_precision_loss, reason = "an alphabet has far fewer characters than 2^53")]
    let weights = vec![1.0 / alphabet.len() as f64; alphabet.len()];
    let drawn = rng.weighted_many(&weights, usize::try_from(length.min(LONGEST)).unwrap_or(0));
    drawn.into_iter().filter_map(|index| alphabet.get_index(index)).collect()
}
