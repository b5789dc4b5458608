//! Random streams against vectors that NumPy 2.5.5 drew (`tests/data/random`).

use serde_json::Value as Json;
use skyfall::array::DType;
use skyfall::random::{Rng, RngState, SeedSequence};

fn vectors() -> Vec<Json> {
    let text = include_str!("data/random/numpy_pcg64.json");
    serde_json::from_str::<Json>(text).unwrap()["seeds"].as_array().unwrap().clone()
}

/// A decimal number as 32-bit words, low first.
fn words(decimal: &str) -> Vec<u32> {
    let mut words = vec![0_u32];
    for digit in decimal.bytes() {
        let mut carry = u64::from(digit - b'0');
        for word in &mut words {
            carry += u64::from(*word) * 10;
            *word = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            words.push(carry as u32);
        }
    }
    words
}

fn check<T: PartialEq + std::fmt::Debug>(
    vector: &Json,
    name: &str,
    mut draw: impl FnMut(&mut Rng) -> T,
    read: impl Fn(&Json) -> T,
) {
    let mut rng = Rng::from_entropy(&words(vector["seed"].as_str().unwrap()));
    let expected: Vec<T> = vector[name].as_array().unwrap_or_else(|| panic!("no {name}")).iter().map(read).collect();
    let drawn: Vec<T> = expected.iter().map(|_| draw(&mut rng)).collect();
    assert_eq!(drawn, expected, "{name}, seed {}", vector["seed"]);
}

fn bits(json: &Json) -> u64 {
    u64::from_str_radix(json.as_str().unwrap(), 16).unwrap()
}

fn int(json: &Json) -> i64 {
    json.as_i64().unwrap_or_else(|| json.as_str().unwrap().parse().unwrap())
}

#[test]
fn seed_sequences_mix_as_numpy_does() {
    for vector in vectors() {
        let sequence = SeedSequence::new(&words(vector["seed"].as_str().unwrap()));
        let pool: Vec<i64> = sequence.pool().iter().map(|word| i64::from(*word)).collect();
        assert_eq!(pool, vector["pool"].as_array().unwrap().iter().map(int).collect::<Vec<_>>());
        let state: Vec<String> = sequence.state().iter().map(u64::to_string).collect();
        assert_eq!(Json::from(state), vector["generate_state_4xu64"]);
    }
}

#[test]
fn single_draws_are_numpys() {
    for vector in vectors() {
        let vector = &vector;
        check(vector, "u64", Rng::next_u64, |json| json.as_str().unwrap().parse().unwrap());
        check(vector, "double", |rng| rng.double().to_bits(), bits);
        check(vector, "uniform_-0.05_0.05", |rng| rng.uniform(-0.05, 0.05).to_bits(), bits);
        check(vector, "standard_normal", |rng| rng.standard_normal().to_bits(), bits);
        check(vector, "standard_normal_64", |rng| rng.standard_normal().to_bits(), bits);
        check(vector, "standard_exponential", |rng| rng.standard_exponential().to_bits(), bits);
        check(vector, "integers_0_2", |rng| rng.integers(0, 2), int);
        check(vector, "integers_0_1000", |rng| rng.integers(0, 1000), int);
        check(vector, "scalar_loop_integers_0_13", |rng| rng.integers(0, 13), int);
        check(vector, "integers_0_2^32", |rng| rng.integers(0, 1 << 32), int);
        check(vector, "integers_0_2^32-1_incl_odd", |rng| rng.integers(0, 3 << 30), int);
        check(vector, "integers_0_2^40", |rng| rng.integers(0, 1 << 40), int);
        check(vector, "integers_0_2^63", |rng| rng.integers(-(1 << 62), 1 << 62) + (1 << 62), int);
        check(vector, "geometric_0.25", |rng| i64::try_from(rng.geometric(0.25)).unwrap(), int);
        check(vector, "choice_p", |rng| i64::try_from(rng.weighted(&[0.1, 0.2, 0.3, 0.4])).unwrap(), int);
    }
}

#[test]
fn sets_are_drawn_as_numpy_draws_them() {
    for vector in vectors() {
        let rng = || Rng::from_entropy(&words(vector["seed"].as_str().unwrap()));
        assert_eq!(Json::from(rng().permutation(10)), vector["permutation_10"]);
        assert_eq!(Json::from(rng().choose(10, 3)), vector["choice_10_3_noreplace"]);
        let integers = |dtype, n| Json::from(rng().integers_of(dtype, 0, n, 8));
        assert_eq!(integers(DType::I8, 2), vector["integers_int8_0_2_size8"]);
        assert_eq!(integers(DType::U8, 7), vector["integers_uint8_0_7_size8"]);
        assert_eq!(integers(DType::I16, 1000), vector["integers_int16_0_1000_size8"]);
        assert_eq!(integers(DType::I32, 1000), vector["integers_int32_0_1000_size8"]);
    }
}

#[test]
fn wide_draws_leave_the_kept_half_alone() {
    for vector in vectors() {
        let mut rng = Rng::from_entropy(&words(vector["seed"].as_str().unwrap()));
        for pair in vector["interleaved_integers1000_then_random"].as_array().unwrap().chunks(2) {
            assert_eq!(rng.integers(0, 1000), int(&pair[0]));
            assert_eq!(rng.double().to_bits(), bits(&pair[1]));
        }
    }
}

#[test]
fn a_stream_continues_from_its_state() {
    for vector in vectors() {
        let mut rng = Rng::from_entropy(&words(vector["seed"].as_str().unwrap()));
        let fresh = rng.state().words();
        assert_eq!(
            (fresh.0.to_string(), fresh.1.to_string()),
            (vector["state"].as_str().unwrap().into(), vector["inc"].as_str().unwrap().into())
        );
        let expected = vector["state_after_one_integers"].as_array().unwrap();
        assert_eq!(rng.integers(0, 1000), int(&vector["integers_0_1000"][0]));
        let (state, increment, kept) = rng.state().words();
        assert_eq!(state.to_string(), expected[1].as_str().unwrap());
        assert_eq!(kept.map(i64::from), Some(int(&expected[3])));
        let mut other = Rng::from_entropy(&words(vector["seed"].as_str().unwrap()));
        other.restore(&RngState::from_words((state, increment, kept), 0));
        assert_eq!(other.integers(0, 1000), rng.integers(0, 1000));
        assert_eq!(other.next_u64(), rng.next_u64());
    }
}

/// First raw words of NumPy's `default_rng(42).spawn(2)`, of a third, and of a child's child.
#[test]
fn spawned_streams_are_numpys_children() {
    let mut parent = Rng::new(42);
    let (mut first, mut second, mut third) = (parent.spawn(), parent.spawn(), parent.spawn());
    assert_eq!(first.next_u64(), 16_910_944_855_483_863_638);
    assert_eq!(second.next_u64(), 8_623_682_774_590_505_111);
    assert_eq!(third.next_u64(), 1_314_131_344_145_802_742);
    assert_eq!(first.spawn().next_u64(), 15_615_703_015_488_024_984);
}

#[test]
fn named_streams_are_their_documented_entropy() {
    // The seed's two words, low first, then the words of SHA-256("policy").
    let digest = crate::digest::sha256_hex(b"policy");
    let mut entropy = vec![7, 1];
    entropy.extend((0..8).map(|index| u32::from_str_radix(&digest[8 * index..8 * index + 8], 16).unwrap()));
    assert_eq!(Rng::named((1 << 32) | 7, "policy").next_u64(), Rng::from_entropy(&entropy).next_u64());
    assert_ne!(Rng::named(7, "policy").next_u64(), Rng::named(7, "environment").next_u64());
}

#[test]
fn degenerate_requests_draw_nothing() {
    let mut rng = Rng::new(1);
    let before = rng.state();
    assert_eq!(rng.integers(5, 6), 5);
    assert_eq!(rng.integers(5, 5), 5);
    assert_eq!(rng.integers_of(DType::U8, 4, 5, 3), [4, 4, 4]);
    assert_eq!(rng.choice::<u8>(&[]), None);
    assert_eq!(rng.permutation(1), [0]);
    assert_eq!(rng.state(), before);
}

/// NumPy's `default_rng(5).choice(20000, count, replace=False)`: first indices and their sum, on
/// both sides of the size where it changes its method.
#[test]
fn large_choices_are_numpys() {
    for (count, first, sum) in
        [(1000, [10_974, 12_442, 12_953, 16_040], 9_948_058), (300, [19_703, 4029, 2414, 17_463], 2_958_253)]
    {
        let chosen = Rng::new(5).choose(20_000, count);
        assert_eq!((&chosen[..4], chosen.iter().sum::<usize>(), chosen.len()), (&first[..], sum, count));
    }
}

/// The streams that scripts have, on seeds of no vector.
#[test]
fn numpy_draws_the_same_from_scripts() {
    let scratch = crate::command::Scratch::new();
    let draws = scratch.script(include_str!("data/random/draws.lua")).ok().stdout;
    scratch.write("draws.txt", &draws);
    assert_eq!(crate::peers::python(&scratch, "check_random.py", &["draws.txt"]), "ok\n");
}
