//! PCG64 (XSL-RR 128/64, M. E. O'Neill 2014), NumPy's default bit generator.

use super::{halves, high_half, low_half};

const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;

/// The generator's whole state, the kept half of a 32-bit draw included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pcg64 {
    state: u128,
    increment: u128,
    kept: Option<u32>,
}

impl Pcg64 {
    /// The generator seeded by four words: the state's halves, then the stream's, high first.
    pub(super) fn new([state_high, state_low, stream_high, stream_low]: [u64; 4]) -> Self {
        let join = |high: u64, low: u64| (u128::from(high) << 64) | u128::from(low);
        let increment = (join(stream_high, stream_low) << 1) | 1;
        let mut generator = Self { state: 0, increment, kept: None };
        generator.state = increment.wrapping_add(join(state_high, state_low));
        generator.advance();
        generator
    }

    pub(super) fn from_words(state: u128, increment: u128, kept: Option<u32>) -> Self {
        Self { state, increment, kept }
    }

    pub(super) fn words(&self) -> (u128, u128, Option<u32>) {
        (self.state, self.increment, self.kept)
    }

    fn advance(&mut self) {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment);
    }

    pub(super) fn next_u64(&mut self) -> u64 {
        self.advance();
        let rotation = halves(high_half(self.state) >> 58)[0];
        (high_half(self.state) ^ low_half(self.state)).rotate_right(rotation)
    }

    pub(super) fn next_u32(&mut self) -> u32 {
        if let Some(high) = self.kept.take() {
            return high;
        }
        let [low, high] = halves(self.next_u64());
        self.kept = Some(high);
        low
    }
}
