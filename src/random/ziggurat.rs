//! The standard normal and exponential by the ziggurat method (Marsaglia and Tsang 2000), drawing
//! exactly what NumPy draws.

mod exponential_layers;
mod normal_layers;

use exponential_layers as exponential;
use normal_layers::{HEIGHT, INSIDE, TAIL, TAIL_INVERSE, WIDTH};

use super::Rng;

/// A draw from the standard normal distribution.
pub(super) fn standard_normal(rng: &mut Rng) -> f64 {
    loop {
        let draw = rng.next_u64();
        let (layer, rest) = (usize::from(draw.to_le_bytes()[0]), draw >> 8);
        let (negative, magnitude) = (rest & 1 == 1, (rest >> 1) & 0x000f_ffff_ffff_ffff);
        let signed = |x: f64| if negative { -x } else { x };
        #[expect(clippy::cast_precision_loss, reason = "52 bits fit exactly")]
        let x = magnitude as f64 * float(&WIDTH, layer);
        if magnitude < INSIDE.get(layer).copied().unwrap_or_default() {
            return signed(x);
        }
        if layer == 0 {
            return tail(rng, (magnitude >> 8) & 1 == 1);
        }
        let (low, high) = (float(&HEIGHT, layer), float(&HEIGHT, layer - 1));
        if (high - low) * rng.double() + low < (-0.5 * x * x).exp() {
            return signed(x);
        }
    }
}

/// A draw beyond the last layer, by rejection from an exponential.
fn tail(rng: &mut Rng, negative: bool) -> f64 {
    let start = f64::from_bits(TAIL);
    loop {
        let beyond = -f64::from_bits(TAIL_INVERSE) * (-rng.double()).ln_1p();
        let exponential = -(-rng.double()).ln_1p();
        if exponential + exponential > beyond * beyond {
            let x = start + beyond;
            return if negative { -x } else { x };
        }
    }
}

/// A draw from the exponential distribution of mean 1.
pub(super) fn standard_exponential(rng: &mut Rng) -> f64 {
    loop {
        let draw = rng.next_u64() >> 3;
        let (layer, magnitude) = (usize::from(draw.to_le_bytes()[0]), draw >> 8);
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit exactly")]
        let x = magnitude as f64 * float(&exponential::WIDTH, layer);
        if magnitude < exponential::INSIDE.get(layer).copied().unwrap_or_default() {
            return x;
        }
        if layer == 0 {
            return f64::from_bits(exponential::TAIL) - (-rng.double()).ln_1p();
        }
        let (low, high) = (float(&exponential::HEIGHT, layer), float(&exponential::HEIGHT, layer - 1));
        if (high - low) * rng.double() + low < (-x).exp() {
            return x;
        }
    }
}

fn float(table: &[u64; 256], index: usize) -> f64 {
    f64::from_bits(table.get(index).copied().unwrap_or_default())
}
