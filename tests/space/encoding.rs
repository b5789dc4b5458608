//! Encoding and decoding: nothing is lost, other writers are understood, nonsense is refused.

use proptest::prelude::*;
use serde_json::Value as Json;
use skyfall::array::{DType, Scalar};
use skyfall::space::{BoxSpace, DictSpace, MultiBinarySpace, MultiDiscreteSpace, Space, TextSpace};
use skyfall::text::{json, yaml};
use skyfall::value::Value;

use crate::values::any_text;

fn decode(text: &str) -> Result<Space, String> {
    Space::decode(&yaml::parse(text).unwrap()).map_err(|error| error.to_string())
}

/// PyYAML's text of 22 spaces, each by itself and under a key.
#[test]
fn the_manifest_texts_of_pyyaml_are_read_and_printed_again() {
    let cases: Json = serde_json::from_str(include_str!("../data/text/pyyaml_cases.json")).unwrap();
    let mut kinds = std::collections::BTreeSet::new();
    for case in cases["cases"].as_array().unwrap() {
        if !case["why"].as_str().unwrap().starts_with("space ") {
            continue;
        }
        let text = case["text"].as_str().unwrap();
        let data = yaml::parse(text).unwrap();
        let data = data.as_map().unwrap().get("action_space").unwrap_or(&data).clone();
        let space = Space::decode(&data).unwrap_or_else(|error| panic!("{error}\n{text}"));
        kinds.insert(space.kind());
        assert_eq!(yaml::to_string(&space.encode()), yaml::to_string(&data));
    }
    assert_eq!(kinds.len(), 10, "{kinds:?}");
}

#[test]
fn other_writers_are_understood() {
    let expected = BoxSpace::new(&[2], DType::F32, &[f64::NEG_INFINITY, 1.0], &[f64::INFINITY, 2.0]).unwrap();
    for text in [
        "{type: Box, low: [-inf, 1.0], high: [inf, 2.0], shape: [2], dtype: float32}",
        "{type: Box, low: [-.inf, 1], high: [.inf, 2], shape: [2.0], dtype: float32}",
        "{type: Box, low: ['-.inf', 1], high: [+inf, 2], shape: [2], dtype: f32}",
        "{type: Box, low: [-Infinity, '1'], high: [Infinity, 2e0], dtype: float32}",
        "{dtype: float32, high: [Inf, 2], low: [-Inf, 1], type: Box, shape: null, version: 9}",
    ] {
        assert_eq!(decode(text), Ok(Space::Box(expected.clone())), "{text}");
    }
    let text = r#"{"type": "Box", "low": [-Infinity, 1], "high": [Infinity, 2.0], "dtype": "float32"}"#;
    assert_eq!(Space::decode(&json::parse(text).unwrap()).unwrap(), Space::Box(expected));

    assert_eq!(decode("{type: Discrete, n: 3.0}"), Ok(Space::discrete(3, 0).unwrap()));
    assert_eq!(decode("{type: Discrete, n: 3, start: -1.0, dtype: null}"), Ok(Space::discrete(3, -1).unwrap()));
    let text = |min, charset| Ok(Space::Text(TextSpace::new(min, 4, charset).unwrap()));
    assert_eq!(decode("{type: Text, max_length: 4}"), text(1, TextSpace::ALPHANUMERIC));
    assert_eq!(decode("{type: Text, max_length: 4, min_length: 0, charset: [b, a]}"), text(0, "ba"));
    assert_eq!(decode("{type: Text, max_length: 4, min_length: 0, charset: bab}"), text(0, "ba"));
    let multi = MultiDiscreteSpace::new(&[2], DType::I64, &[2, 3], &[0, 0]).unwrap();
    assert_eq!(decode("{type: MultiDiscrete, nvec: [2, 3.0]}"), Ok(Space::MultiDiscrete(multi)));
    let pairs = "{type: Dict, spaces: [[b, {type: Discrete, n: 2}], [a, {type: Discrete, n: 3}]]}";
    let named = "{type: Dict, spaces: {b: {type: Discrete, n: 2}, a: {type: Discrete, n: 3}}}";
    assert_eq!(decode(pairs), decode(named));
    let other_order = "{type: Dict, spaces: {a: {type: Discrete, n: 3}, b: {type: Discrete, n: 2}}}";
    assert_ne!(decode(named), decode(other_order));
    let aliased = "{type: Tuple, spaces: [&id001 {type: Discrete, n: 2}, *id001]}";
    let two = Space::discrete(2, 0).unwrap();
    assert_eq!(decode(aliased), Ok(Space::tuple(vec![two.clone(), two.clone()]).unwrap()));
    assert_eq!(decode("{type: Graph, node_space: {type: Discrete, n: 2}}"), Ok(Space::graph(two, None).unwrap()));
}

#[test]
fn what_decides_sampling_or_a_bit_is_kept() {
    let spaces = [
        (Space::discrete_of(DType::I32, 3, -5).unwrap(), "n: 3\nstart: -5\ndtype: int32\n"),
        (
            Space::Box(BoxSpace::new(&[1], DType::I32, &[f64::NEG_INFINITY], &[7.0]).unwrap()),
            "low:\n- -inf\nhigh:\n- 7\nshape:\n- 1\ndtype: int32\n",
        ),
        (
            Space::Box(
                BoxSpace::exact(&[], DType::I64, &[Scalar::Int(i64::MIN)], &[Scalar::Int(i64::MAX - 1)]).unwrap(),
            ),
            "low: -9223372036854775808\nhigh: 9223372036854775806\nshape: []\ndtype: int64\n",
        ),
        (
            Space::Box(BoxSpace::new(&[1], DType::Bool, &[0.0], &[1.0]).unwrap()),
            "low:\n- false\nhigh:\n- true\nshape:\n- 1\ndtype: bool\n",
        ),
        (
            Space::Box(BoxSpace::new(&[0, 2], DType::F64, &[], &[]).unwrap()),
            "low: []\nhigh: []\nshape:\n- 0\n- 2\ndtype: float64\n",
        ),
        (
            Space::MultiDiscrete(MultiDiscreteSpace::new(&[0, 2], DType::I8, &[], &[]).unwrap()),
            "nvec: []\nstart: []\nshape:\n- 0\n- 2\ndtype: int8\n",
        ),
        (Space::MultiBinary(MultiBinarySpace::shaped(&[4]).unwrap()), "n:\n- 4\n"),
        (Space::MultiBinary(MultiBinarySpace::flat(4).unwrap()), "n: 4\n"),
        (Space::Text(TextSpace::new(0, 2, "no").unwrap()), "min_length: 0\nmax_length: 2\ncharset: 'no'\n"),
    ];
    for (space, keys) in spaces {
        let text = yaml::to_string(&space.encode());
        assert_eq!(text, format!("type: {}\n{keys}", space.kind()));
        assert_eq!(decode(&text), Ok(space));
    }
}

#[test]
fn nonsense_is_refused_by_field() {
    let deep =
        (0..40).fold("{type: Discrete, n: 2}".to_owned(), |inner, _| format!("{{type: Tuple, spaces: [{inner}]}}"));
    for (text, message) in [
        ("[]", "space: must be a map"),
        ("{n: 2}", "type: is missing"),
        ("{type: Boxx}", "did you mean `Box`?"),
        ("{type: Box, high: 1}", "low: is missing"),
        ("{type: Box, low: [0, x], high: 1}", "low[2]: must be a number or an infinity, got the text \"x\""),
        ("{type: Box, low: [[0], [0, 1]], high: 1}", "low: is ragged"),
        ("{type: Box, low: [0], high: [1], shape: [4]}", "low: has the shape [1]"),
        ("{type: Box, low: 0, high: [1, 2], shape: [3]}", "high: has the shape [2]"),
        ("{type: Box, low: [0, 3], high: [1, 2]}", "low: of element 2 is 3.0, above high, 2.0"),
        ("{type: Box, low: .nan, high: 1}", "low: of element 1 is not a number"),
        ("{type: Box, low: 0, high: 256, dtype: uint8}", "high: of element 1 is 256, which is not of uint8"),
        ("{type: Box, low: 0.5, high: 2, dtype: int8}", "low: of element 1 is 0.5, which is not of int8"),
        ("{type: Box, low: -inf, high: 2, dtype: uint8}", "low: of element 1 must be finite for uint8"),
        ("{type: Box, low: inf, high: inf, dtype: int8}", "low: of element 1 must be finite for int8"),
        ("{type: Box, low: 0, high: 1e+39}", "high: of element 1 is 1e+39, which is not of float32"),
        ("{type: Box, low: 0, high: 1, shape: [99999, 99999]}", "shape: [99999, 99999] holds more elements"),
        ("{type: Box, low: 0, high: 1, shape: [-1]}", "shape[1]: must not be negative"),
        ("{type: Box, low: 0, high: 1, dtype: uint64}", "dtype: "),
        ("{type: Discrete, n: 0}", "n: must be at least 1"),
        ("{type: Discrete, n: 2.5}", "n: must be an integer, got the number 2.5"),
        ("{type: Discrete, n: 200, dtype: int8}", "200 integers from 0 are beyond int8"),
        ("{type: Discrete, n: 2, start: 9223372036854775807}", "beyond int64"),
        ("{type: Discrete, n: 2, dtype: float32}", "dtype: must be an integer type, got float32"),
        ("{type: MultiDiscrete, nvec: [2, 0]}", "element 2.n: must be at least 1, got 0"),
        ("{type: MultiDiscrete, nvec: [2, 2], start: [1]}", "start: has the shape [1]"),
        ("{type: MultiBinary, n: [2, 0]}", "n: must be at least 1"),
        ("{type: Text, max_length: 2, charset: 01}", "charset: must be text, got an integer"),
        ("{type: Text, max_length: 2, charset: [ab]}", "charset: must be a list of single characters"),
        ("{type: Text, max_length: 2, min_length: 3}", "max_length: must be at least min_length (3), got 2"),
        ("{type: Text, max_length: 2, charset: ''}", "charset: is empty"),
        ("{type: Dict, spaces: {a: {type: Tuple, spaces: [{type: Discrete}]}}}", "spaces.a.spaces[1].n: is missing"),
        ("{type: Dict, spaces: [[1, {type: Discrete, n: 2}]]}", "spaces: must be pairs of a name, which is text"),
        ("{type: OneOf, spaces: []}", "spaces: must be at least one"),
        ("{type: Sequence, space: {type: Discrete, n: 2}, stack: 1}", "stack: must be true or false"),
        (&deep, "space: is nested deeper than 32 spaces"),
    ] {
        let error = decode(text).unwrap_err();
        assert!(error.contains(message), "{text}\n{error}");
    }
}

/// A dtype and a value of it, or no bound where `bounded` says so.
fn bound(dtype: DType, endless: f64) -> BoxedStrategy<Scalar> {
    match (dtype, dtype.integer_range()) {
        (DType::Bool, _) => any::<bool>().prop_map(Scalar::Bool).boxed(),
        (_, Some((least, greatest))) => {
            let number = prop_oneof![least..=greatest, -3_i64.max(least)..=3].prop_map(Scalar::Int);
            if least < 0 { prop_oneof![4 => number, 1 => Just(Scalar::Float(endless))].boxed() } else { number.boxed() }
        }
        _ => prop_oneof![any::<f32>().prop_map(f64::from), any::<f64>(), -1e3..1e3, Just(endless), Just(-0.0),]
            .prop_filter_map("of the dtype", move |number| {
                let one = BoxSpace::new(&[], dtype, &[number], &[f64::INFINITY]).ok()?;
                Some(one.low()[0])
            })
            .boxed(),
    }
}

fn any_box() -> impl Strategy<Value = Space> {
    (proptest::sample::select(DType::ALL.to_vec()), proptest::collection::vec(0..4_usize, 0..4))
        .prop_flat_map(|(dtype, shape)| {
            let size = shape.iter().product::<usize>();
            let pair = (bound(dtype, f64::NEG_INFINITY), bound(dtype, f64::INFINITY));
            proptest::collection::vec(pair, size).prop_map(move |pairs| {
                let ordered = |(a, b): (Scalar, Scalar)| {
                    let swap = a.to_f64() > b.to_f64() || a.to_i64().zip(b.to_i64()).is_some_and(|(a, b)| a > b);
                    if swap { (b, a) } else { (a, b) }
                };
                let (low, high): (Vec<_>, Vec<_>) = pairs.into_iter().map(ordered).unzip();
                BoxSpace::exact(&shape, dtype, &low, &high).map(Space::Box)
            })
        })
        .prop_filter_map("signed infinities in place", Result::ok)
}

fn any_integers() -> impl Strategy<Value = Space> {
    let integer = DType::ALL.into_iter().filter(|dtype| dtype.integer_range().is_some());
    let range = proptest::sample::select(integer.collect::<Vec<_>>()).prop_flat_map(|dtype| {
        let (least, greatest) = dtype.integer_range().unwrap();
        (Just(dtype), 1..=greatest, least..=greatest, proptest::collection::vec(0..3_usize, 0..4))
    });
    range.prop_map(|(dtype, n, start, shape)| {
        let (_, greatest) = dtype.integer_range().unwrap();
        let n = n.min(greatest.saturating_sub(start).saturating_add(1)).max(1);
        match shape.len() {
            3 => Space::discrete_of(dtype, n, start).unwrap(),
            _ => {
                let size = shape.iter().product();
                let space = MultiDiscreteSpace::new(&shape, dtype, &vec![n; size], &vec![start; size]);
                Space::MultiDiscrete(space.unwrap())
            }
        }
    })
}

/// Spaces of every kind.
fn any_space() -> impl Strategy<Value = Space> {
    let binary = proptest::collection::vec(1..4_usize, 0..3).prop_map(|shape| match shape.as_slice() {
        [n, _] => Space::MultiBinary(MultiBinarySpace::flat(*n).unwrap()),
        shape => Space::MultiBinary(MultiBinarySpace::shaped(shape).unwrap()),
    });
    let text = (any_text(), 0..3_i64, 0..9_i64).prop_map(|(charset, least, more)| {
        let least = if charset.is_empty() { 0 } else { least };
        Space::Text(TextSpace::new(least, least + more, &charset).unwrap())
    });
    let leaf = prop_oneof![any_box(), any_integers(), binary, text];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let list = proptest::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            proptest::collection::vec((any_text(), inner.clone()), 0..4)
                .prop_map(|spaces| Space::dict(DictSpace::from_iter(spaces)).unwrap()),
            list.clone().prop_map(|spaces| Space::tuple(spaces).unwrap()),
            list.prop_filter_map("not empty", |spaces| Space::one_of(spaces).ok()),
            (inner.clone(), any::<bool>()).prop_map(|(space, stack)| Space::sequence(space, stack).unwrap()),
            (inner.clone(), proptest::option::of(inner)).prop_map(|(nodes, edges)| Space::graph(nodes, edges).unwrap()),
        ]
    })
}

proptest! {
    #[test]
    fn decoding_undoes_encoding_bit_for_bit(space in any_space()) {
        let data = space.encode();
        let same = |data: &Value| {
            let decoded = Space::decode(data).unwrap();
            // Debug tells -0.0 from 0.0, which equality does not.
            prop_assert_eq!(format!("{decoded:?}"), format!("{space:?}"));
            prop_assert_eq!(&decoded, &space);
            Ok(())
        };
        same(&data)?;
        same(&yaml::parse(&yaml::to_string(&data)).unwrap())?;
        same(&json::parse(&json::to_string(&data)).unwrap())?;
    }

    #[test]
    fn samples_lie_in_their_space_and_survive_plain_data(space in any_space(), seed in any::<u64>()) {
        let mut sampler = skyfall::space::Sampler::new(space.clone(), seed);
        let mut rng = skyfall::random::Rng::new(seed);
        for sample in [sampler.sample(), sampler.sample(), space.sample(&mut rng)] {
            let read = space.element(&sample.to_value(), "element");
            prop_assert_eq!(read.as_ref(), Ok(&sample));
            if narrow_enough(&space) {
                prop_assert_eq!(space.fault(&sample, "element"), None);
            }
        }
        prop_assert!(space.element(&space.blank().to_value(), "element").is_ok());
    }
}

/// Whether samples can be told to lie in the space: no bounds are so far apart, or so large, that
/// NumPy's arithmetic in floats leaves them, and stacks can be counted.
fn narrow_enough(space: &Space) -> bool {
    match space {
        Space::Box(space) => space.low().iter().zip(space.high()).all(|(low, high)| {
            let [low, high] = [low, high].map(|bound| bound.to_f64());
            [low, high].iter().all(|bound| bound.is_infinite() || bound.abs() < 1e3) && low < high
        }),
        Space::Dict(dict) => dict.spaces().values().all(narrow_enough),
        Space::Tuple(spaces) | Space::OneOf(spaces) => spaces.iter().all(narrow_enough),
        Space::Sequence { space, stack } => narrow_enough(space) && (!stack || countable(space)),
        Space::Graph { node_space, edge_space } => {
            let parts = || std::iter::once(&**node_space).chain(edge_space.as_deref());
            parts().all(narrow_enough) && parts().all(countable)
        }
        _ => true,
    }
}

/// Whether stacked elements show how many they are: those without parts do not, in Gymnasium
/// either.
fn countable(space: &Space) -> bool {
    match space {
        Space::Dict(dict) => !dict.spaces().is_empty() && dict.spaces().values().all(countable),
        Space::Tuple(spaces) => !spaces.is_empty() && spaces.iter().all(countable),
        _ => true,
    }
}
