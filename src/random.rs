//! Seeded random streams, bit for bit NumPy's `Generator(PCG64(SeedSequence(seed)))`.
//!
//! One experiment seed feeds several streams that do not know of each other: [`Rng::named`]
//! derives a stream from the seed and the stream's name (`environment`, `policy`, `algorithm`,
//! `regime`, `script`), so that adding draws to one never moves another.

mod bounded;
mod pcg64;
mod sampling;
mod seed_sequence;
mod snapshot;
mod ziggurat;

use sha2::{Digest, Sha256};

use pcg64::Pcg64;
pub use seed_sequence::SeedSequence;

/// One stream of random numbers.
#[derive(Clone, Debug)]
pub struct Rng {
    sequence: SeedSequence,
    bits: Pcg64,
}

/// A point within a stream: the generator's state and how many streams it has spawned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RngState {
    bits: Pcg64,
    children: u32,
}

impl RngState {
    /// The words NumPy shows as `bit_generator.state`: state, increment, and the half that is
    /// kept for the next 32-bit draw, if one is.
    #[must_use]
    pub fn words(&self) -> (u128, u128, Option<u32>) {
        self.bits.words()
    }

    /// The point at which NumPy shows these words; `spawned` streams were spawned before it.
    #[must_use]
    pub fn from_words((state, increment, kept): (u128, u128, Option<u32>), spawned: u32) -> Self {
        Self { bits: Pcg64::from_words(state, increment, kept), children: spawned }
    }

    /// How many streams were spawned.
    #[must_use]
    pub fn spawned(&self) -> u32 {
        self.children
    }
}

impl Rng {
    /// The stream `numpy.random.default_rng(seed)` gives.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::from_sequence(SeedSequence::new(&seed_words(seed)))
    }

    /// The stream for a seed of any size, as little-endian 32-bit words without leading zeros.
    #[must_use]
    pub fn from_entropy(words: &[u32]) -> Self {
        Self::from_sequence(SeedSequence::new(words))
    }

    /// The stream called `name` under an experiment's `seed`: its entropy is the seed as two
    /// 32-bit words, low first, followed by the eight words of the name's SHA-256 (big-endian).
    #[must_use]
    pub fn named(seed: u64, name: &str) -> Self {
        let [low, high] = halves(seed);
        let digest = Sha256::digest(name.as_bytes());
        let words =
            digest.chunks_exact(4).map(|bytes| bytes.iter().fold(0, |word, byte| (word << 8) | u32::from(*byte)));
        let entropy: Vec<u32> = [low, high].into_iter().chain(words).collect();
        Self::from_entropy(&entropy)
    }

    fn from_sequence(sequence: SeedSequence) -> Self {
        let bits = Pcg64::new(sequence.state());
        Self { sequence, bits }
    }

    /// Where the stream stands; [`Rng::restore`] on the same seed's stream continues there.
    #[must_use]
    pub fn state(&self) -> RngState {
        RngState { bits: self.bits.clone(), children: self.sequence.children() }
    }

    /// Continues where `state` was taken, on a stream of the same seed.
    pub fn restore(&mut self, state: &RngState) {
        self.bits = state.bits.clone();
        self.sequence.set_children(state.children);
    }

    /// An independent stream, as NumPy's `Generator.spawn(1)`; each call gives another.
    pub fn spawn(&mut self) -> Self {
        Self::from_sequence(self.sequence.spawn())
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.bits.next_u64()
    }

    /// 32 random bits: the low half of a draw, then its high half.
    pub fn next_u32(&mut self) -> u32 {
        self.bits.next_u32()
    }

    /// A float in `[0, 1)` with 53 random bits.
    pub fn double(&mut self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit exactly")]
        let numerator = (self.next_u64() >> 11) as f64;
        numerator * (1.0 / 9_007_199_254_740_992.0)
    }

    /// A float in `[low, high)`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.double()
    }

    /// A draw from the standard normal distribution (Marsaglia and Tsang's ziggurat, 256 steps).
    pub fn standard_normal(&mut self) -> f64 {
        ziggurat::standard_normal(self)
    }

    /// A draw from the exponential distribution of mean 1 (256-step ziggurat).
    pub fn standard_exponential(&mut self) -> f64 {
        ziggurat::standard_exponential(self)
    }
}

/// `seed` as 32-bit words, low first, without leading zeros; `[0]` for 0.
fn seed_words(seed: u64) -> Vec<u32> {
    let [low, high] = halves(seed);
    if high == 0 { vec![low] } else { vec![low, high] }
}

/// The low and high 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "taking halves is the point")]
fn halves(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

#[expect(clippy::cast_possible_truncation, reason = "taking halves is the point")]
fn low_half(value: u128) -> u64 {
    value as u64
}

fn high_half(value: u128) -> u64 {
    low_half(value >> 64)
}
