//! NumPy's `SeedSequence`: entropy of any length mixed into a pool, from which states and
//! independent children are drawn (after M. E. O'Neill's `seed_seq` designs).

const POOL: usize = 4;
const INIT_A: u32 = 0x43b0_d7e5;
const MULT_A: u32 = 0x931e_8875;
const INIT_B: u32 = 0x8b51_f9dd;
const MULT_B: u32 = 0x58f3_8ded;
const MIX_LEFT: u32 = 0xca01_f9dd;
const MIX_RIGHT: u32 = 0x4973_f715;

/// Seeding entropy, mixed.
#[derive(Clone, Debug)]
pub struct SeedSequence {
    entropy: Vec<u32>,
    spawn_key: Vec<u32>,
    children: u32,
    pool: [u32; POOL],
}

/// A multiplier that changes with every use.
struct Hash {
    constant: u32,
    multiplier: u32,
}

impl Hash {
    fn of(&mut self, value: u32) -> u32 {
        let value = value ^ self.constant;
        self.constant = self.constant.wrapping_mul(self.multiplier);
        let value = value.wrapping_mul(self.constant);
        value ^ (value >> 16)
    }
}

fn mix(x: u32, y: u32) -> u32 {
    let mixed = MIX_LEFT.wrapping_mul(x).wrapping_sub(MIX_RIGHT.wrapping_mul(y));
    mixed ^ (mixed >> 16)
}

impl SeedSequence {
    /// The sequence of `entropy`: little-endian 32-bit words.
    #[must_use]
    pub fn new(entropy: &[u32]) -> Self {
        Self::with_key(entropy.to_vec(), Vec::new())
    }

    fn with_key(entropy: Vec<u32>, spawn_key: Vec<u32>) -> Self {
        let mut words = entropy.clone();
        if !spawn_key.is_empty() {
            // A child's entropy is filled up, so that no key can pass for entropy.
            words.resize(words.len().max(POOL), 0);
            words.extend(&spawn_key);
        }
        let pool = mix_entropy(&words);
        Self { entropy, spawn_key, children: 0, pool }
    }

    /// The next child: the same entropy under a longer key.
    pub fn spawn(&mut self) -> Self {
        let mut key = self.spawn_key.clone();
        key.push(self.children);
        self.children += 1;
        Self::with_key(self.entropy.clone(), key)
    }

    /// How many children there are.
    pub(super) fn children(&self) -> u32 {
        self.children
    }

    pub(super) fn set_children(&mut self, children: u32) {
        self.children = children;
    }

    /// The pool after mixing.
    #[must_use]
    pub fn pool(&self) -> [u32; 4] {
        self.pool
    }

    /// Four 64-bit words of state.
    #[must_use]
    pub fn state(&self) -> [u64; 4] {
        let mut hash = Hash { constant: INIT_B, multiplier: MULT_B };
        let mut source = self.pool.iter().cycle();
        let mut word = || u64::from(hash.of(source.next().copied().unwrap_or_default()));
        [(); 4].map(|()| {
            let low = word();
            low | (word() << 32)
        })
    }
}

fn mix_entropy(words: &[u32]) -> [u32; POOL] {
    let mut hash = Hash { constant: INIT_A, multiplier: MULT_A };
    let mut words = words.iter().copied();
    let mut pool = [(); POOL].map(|()| hash.of(words.next().unwrap_or(0)));
    for source in 0..POOL {
        for target in 0..POOL {
            if source != target {
                let mixed = hash.of(pool.get(source).copied().unwrap_or_default());
                if let Some(slot) = pool.get_mut(target) {
                    *slot = mix(*slot, mixed);
                }
            }
        }
    }
    for word in words {
        for slot in &mut pool {
            *slot = mix(*slot, hash.of(word));
        }
    }
    pool
}
