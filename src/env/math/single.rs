//! The sine and the cosine of a float32 as NumPy's vector loops compute them: range reduction and
//! a polynomial in fused steps, whose last bit is not always the rounded sine's.
//!
//! Fused multiplication is exact on every platform, so these give the same bits everywhere.

/// The most that the reduction by quarter turns is good for; NumPy leaves larger ones to the C
/// library.
const LARGEST_SINE: f32 = 71_476.06;
const LARGEST_COSINE: f32 = 117_435.99;

/// The sine of `x`.
pub(in crate::env) fn sin(x: f32) -> f32 {
    if x.abs() > LARGEST_SINE { x.sin() } else { quarter_turned(x, 0) }
}

/// The cosine of `x`.
pub(in crate::env) fn cos(x: f32) -> f32 {
    if x.abs() > LARGEST_COSINE { x.cos() } else { quarter_turned(x, 1) }
}

/// The sine of `x` plus `turns` quarter turns.
fn quarter_turned(x: f32, turns: i32) -> f32 {
    // pi/2 in three parts (Cody and Waite), as bits.
    const PARTS: [u32; 3] = [0xbfc9_0fd8, 0xb4a8_885a, 0xa7c2_34c4];
    const SINE: [u32; 3] = [0xb950_35dd, 0x3c08_88cd, 0xbe2a_aaab];
    const COSINE: [u32; 4] = [0xbab6_036e, 0x3d2a_aa9e, 0xbf00_0000, 0x3f80_0000];
    let quadrant = (x * std::f32::consts::FRAC_2_PI).round_ties_even();
    let rest = PARTS.into_iter().fold(x, |rest, part| quadrant.mul_add(f32::from_bits(part), rest));
    let square = rest * rest;
    #[expect(clippy::cast_possible_truncation, reason = "the quadrant is a small whole number")]
    let turns = quadrant as i32 + turns;
    let value = if turns % 2 == 0 {
        (polynomial(0x363e_9dde, SINE, square) * square).mul_add(rest, rest)
    } else {
        polynomial(0x37cc_730b, COSINE, square)
    };
    if turns & 2 == 2 { -value } else { value }
}

/// Horner's rule in fused steps; coefficients as bits, the highest first.
fn polynomial<const N: usize>(first: u32, rest: [u32; N], x: f32) -> f32 {
    rest.into_iter().fold(f32::from_bits(first), |sum, term| sum.mul_add(x, f32::from_bits(term)))
}
