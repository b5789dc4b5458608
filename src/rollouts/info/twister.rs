//! Python's `random.Random(seed).randrange(n)`: the Mersenne Twister MT19937 (Matsumoto and
//! Nishimura, 1998), seeded by array, drawing bits until they are below `n`.

const WORDS: usize = 624;
const SHIFT: usize = 397;

/// A Mersenne Twister.
pub(super) struct Twister {
    words: Vec<u32>,
    next: usize,
}

impl Twister {
    /// The generator that Python makes of an integer.
    pub(super) fn new(seed: i64) -> Self {
        let magnitude = seed.unsigned_abs();
        let low = u32::try_from(magnitude & 0xffff_ffff).unwrap_or_default();
        let high = u32::try_from(magnitude >> 32).unwrap_or_default();
        let key = if high == 0 { vec![low] } else { vec![low, high] };
        let mut words = vec![19_650_218_u32];
        for index in 1..WORDS as u32 {
            let before = words.last().copied().unwrap_or_default();
            words.push(1_812_433_253_u32.wrapping_mul(before ^ (before >> 30)).wrapping_add(index));
        }
        let mut twister = Self { words, next: WORDS };
        let (mut place, mut key_place) = (1, 0_u32);
        for _ in 0..WORDS.max(key.len()) {
            let from = key.get(key_place as usize).copied().unwrap_or_default().wrapping_add(key_place);
            twister.mix(&mut place, 1_664_525, |word| word.wrapping_add(from));
            key_place = (key_place + 1) % u32::try_from(key.len()).unwrap_or(1);
        }
        for _ in 1..WORDS {
            let index = u32::try_from(place).unwrap_or_default();
            twister.mix(&mut place, 1_566_083_941, |word| word.wrapping_sub(index));
        }
        twister.set(0, 0x8000_0000);
        twister
    }

    fn word(&self, place: usize) -> u32 {
        self.words.get(place % WORDS).copied().unwrap_or_default()
    }

    fn set(&mut self, place: usize, word: u32) {
        if let Some(slot) = self.words.get_mut(place) {
            *slot = word;
        }
    }

    /// One step of seeding.
    fn mix(&mut self, place: &mut usize, factor: u32, add: impl Fn(u32) -> u32) {
        let before = self.word(*place - 1);
        let mixed = self.word(*place) ^ (before ^ (before >> 30)).wrapping_mul(factor);
        self.set(*place, add(mixed));
        *place += 1;
        if *place >= WORDS {
            self.set(0, self.word(WORDS - 1));
            *place = 1;
        }
    }

    fn draw(&mut self) -> u32 {
        if self.next >= WORDS {
            for place in 0..WORDS {
                let both = (self.word(place) & 0x8000_0000) | (self.word(place + 1) & 0x7fff_ffff);
                let twist = if both & 1 == 0 { 0 } else { 0x9908_b0df };
                self.set(place, self.word(place + SHIFT) ^ (both >> 1) ^ twist);
            }
            self.next = 0;
        }
        let mut word = self.word(self.next);
        self.next += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }

    /// A number below `n`, which is at least 1.
    pub(super) fn below(&mut self, n: u32) -> u32 {
        let bits = u32::BITS - n.leading_zeros();
        loop {
            let number = self.draw() >> (u32::BITS - bits.max(1));
            if number < n {
                return number;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Twister;

    #[test]
    fn numbers_are_python_s() {
        let draw = |seed: i64, n: u32, count: usize| {
            let mut twister = Twister::new(seed);
            (0..count).map(|_| twister.below(n)).collect::<Vec<_>>()
        };
        assert_eq!(draw(0, 100, 6), [49, 97, 53, 5, 33, 65]);
        assert_eq!(draw(123_456_789_012, 7, 6), [3, 5, 0, 2, 1, 3]);
        assert_eq!(draw(-5, 1000, 4), [637, 261, 759, 367]);
    }
}
