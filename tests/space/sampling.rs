//! Samples against vectors that Gymnasium 1.4 drew (`tests/data/random`, the part `spaces`).

use serde_json::Value as Json;
use skyfall::array::{Array, DType};
use skyfall::random::Rng;
use skyfall::space::{BoxSpace, DictSpace, Element, MultiBinarySpace, MultiDiscreteSpace, Sampler, Space, TextSpace};

fn boxed(low: f64, high: f64) -> Space {
    Space::Box(BoxSpace::new(&[1], DType::F32, &[low], &[high]).unwrap())
}

fn discrete(n: i64) -> Space {
    Space::discrete(n, 0).unwrap()
}

/// The space that a vector is called after.
fn space(name: &str) -> Space {
    const INF: f64 = f64::INFINITY;
    let bounded =
        |shape: &[usize], dtype, low: &[f64], high: &[f64]| Space::Box(BoxSpace::new(shape, dtype, low, high).unwrap());
    let dict = |names: [&str; 2]| {
        let space = |name: &str| if name == "b" { discrete(3) } else { boxed(0.0, 1.0) };
        Space::dict(DictSpace::from_iter(names.map(|name| (name.to_owned(), space(name))))).unwrap()
    };
    match name {
        "Discrete(2)" => discrete(2),
        "Discrete(1)" => discrete(1),
        "Discrete(7,start=-3)" => Space::discrete(7, -3).unwrap(),
        "Box(-2,2,(1,),float32)" => boxed(-2.0, 2.0),
        "Box(-1,1,(3,),float64)" => bounded(&[3], DType::F64, &[-1.0], &[1.0]),
        "Box(0,255,(4,),uint8)" => bounded(&[4], DType::U8, &[0.0], &[255.0]),
        "Box mixed bounds f32" => bounded(&[4], DType::F32, &[-INF, 0.0, -INF, -1.0], &[INF, INF, 5.0, 1.0]),
        "CartPole obs" => {
            let high = [4.8, INF, 0.418_879_03, INF];
            bounded(&[4], DType::F32, &high.map(|bound| -bound), &high)
        }
        "MultiDiscrete([2,3,5])" => {
            Space::MultiDiscrete(MultiDiscreteSpace::new(&[3], DType::I64, &[2, 3, 5], &[0, 0, 0]).unwrap())
        }
        "MultiBinary(8)" => Space::MultiBinary(MultiBinarySpace::flat(8).unwrap()),
        "MultiBinary((2,3))" => Space::MultiBinary(MultiBinarySpace::shaped(&[2, 3]).unwrap()),
        "Text(5,charset='cab')" => Space::Text(TextSpace::new(1, 5, "cab").unwrap()),
        "Text(0..3)" => Space::Text(TextSpace::new(0, 3, TextSpace::ALPHANUMERIC).unwrap()),
        "Dict(b=Discrete(3),a=Box(0,1))" => dict(["b", "a"]),
        "Dict({b,a}) sorted" => dict(["a", "b"]),
        "Tuple(Discrete(4),Discrete(9))" => Space::tuple(vec![discrete(4), discrete(9)]).unwrap(),
        "Sequence(Discrete(4))" => Space::sequence(discrete(4), false).unwrap(),
        "OneOf(Discrete(4),Box)" => Space::one_of(vec![discrete(4), boxed(0.0, 1.0)]).unwrap(),
        other => panic!("the vectors have a new space, {other}"),
    }
}

fn array(spec: &Json) -> Array {
    let shape: Vec<usize> = serde_json::from_value(spec["shape"].clone()).unwrap();
    let items = spec["v"].as_array().unwrap();
    let bits = |item: &Json| u64::from_str_radix(item.as_str().unwrap(), 16).unwrap();
    let int = |item: &Json| item.as_i64().unwrap();
    match spec["dtype"].as_str().unwrap() {
        "float32" => Array::from_vec(&shape, items.iter().map(|item| f32::from_bits(bits(item) as u32)).collect()),
        "float64" => Array::from_vec(&shape, items.iter().map(|item| f64::from_bits(bits(item))).collect()),
        "uint8" => Array::from_vec(&shape, items.iter().map(|item| int(item) as u8).collect()),
        "int8" => Array::from_vec(&shape, items.iter().map(|item| int(item) as i8).collect()),
        "int64" => Array::from_vec(&shape, items.iter().map(int).collect()),
        other => panic!("{other}"),
    }
    .unwrap()
}

fn element(json: &Json) -> Element {
    match json {
        Json::Number(number) => Element::Discrete(number.as_i64().unwrap()),
        Json::String(text) => Element::Text(text.clone()),
        Json::Array(items) => Element::Tuple(items.iter().map(element).collect()),
        Json::Object(map) if map.contains_key("dtype") => Element::Array(array(json)),
        Json::Object(map) => Element::Dict(map.iter().map(|(name, part)| (name.clone(), element(part))).collect()),
        _ => panic!("{json}"),
    }
}

#[test]
fn samples_are_gymnasiums() {
    let text = include_str!("../data/random/numpy_pcg64.json");
    let vectors = serde_json::from_str::<Json>(text).unwrap()["spaces"].as_array().unwrap().clone();
    assert_eq!(vectors.len(), 36);
    for vector in vectors {
        let name = vector["space"].as_str().unwrap();
        let seed = vector["seed"].as_u64().unwrap();
        let mut sampler = Sampler::new(space(name), seed);
        for (index, expected) in vector["samples"].as_array().unwrap().iter().enumerate() {
            let sample = sampler.sample();
            assert_eq!(sample, element(expected), "{name}, seed {seed}, sample {index}");
            assert!(sampler.space().contains(&sample), "{name}: {sample}");
        }
    }
}

#[test]
fn a_space_without_parts_samples_the_same_from_a_stream() {
    for name in
        ["Discrete(7,start=-3)", "Box mixed bounds f32", "MultiDiscrete([2,3,5])", "MultiBinary(8)", "Text(0..3)"]
    {
        let (space, mut rng) = (space(name), Rng::new(9));
        let mut sampler = Sampler::new(space.clone(), 9);
        for _ in 0..20 {
            assert_eq!(space.sample(&mut rng), sampler.sample(), "{name}");
        }
    }
}
