//! Every kind of space and its elements, there and back.

use skyfall::array::{Array, DType};
use skyfall::env::Env;
use skyfall::space::{Element, Sampler, Space};
use skyfall::value::{Map, Value};

use super::make;

/// The spaces of `foreign_worlds.SPACES`, as they must arrive.
const SPACES: [(&str, &str); 20] = [
    ("box", "Box([1, 2], float32)"),
    ("box0", "Box([], float64)"),
    ("box_empty", "Box([0, 3], float32)"),
    ("bytes", "Box([3, 4, 2], uint8)"),
    ("image", "Box([200, 150, 4], uint8)"),
    ("long", "Box([2], int64)"),
    ("discrete", "Discrete(5, start=-2)"),
    ("discrete32", "Discrete(2147483647, dtype=int32)"),
    ("multi_discrete", "MultiDiscrete"),
    ("multi_binary", "MultiBinary"),
    ("multi_binary_flat", "MultiBinary"),
    ("text", "Text"),
    ("dict", "Dict"),
    ("tuple", "Tuple"),
    ("sequence", "Sequence"),
    ("stacked", "Sequence"),
    ("stacked_parts", "Sequence"),
    ("graph", "Graph"),
    ("graph_nodes", "Graph"),
    ("one_of", "OneOf"),
];

fn echo(which: &str) -> Box<dyn Env> {
    make("python:tests.python.foreign_worlds:Echo", Map::from_iter([("which".to_owned(), which.into())]))
}

fn space(which: &str) -> Space {
    echo(which).observation_space().clone()
}

/// What Gymnasium samples there is what we sample here, bit for bit; and what we hand over as an
/// action is accepted by the space there and comes back as the same observation.
#[test]
fn every_space_and_its_elements_survive_the_way_there_and_back() {
    for (which, name) in SPACES {
        let mut env = echo(which);
        let space = env.observation_space().clone();
        assert!(space.to_string().starts_with(name), "{which} arrived as {space}");
        assert_eq!(Space::decode(&space.encode()).unwrap(), space, "{which}");
        let mut observation = space.blank();
        let mut sampler = Sampler::new(space.clone(), 11);
        env.reset(Some(11), &mut observation).unwrap();
        assert_eq!(observation, sampler.sample(), "{which}");
        assert!(space.contains(&observation), "{which}: {observation}");
        for _ in 0..5 {
            let action = sampler.sample();
            env.step(&action, &mut observation).unwrap();
            assert_eq!(observation, action, "{which}");
        }
    }
}

#[test]
fn what_spaces_are_easily_robbed_of_arrives() {
    let Space::Box(bounds) = space("box") else { panic!() };
    assert_eq!(
        Space::Box(bounds).encode().as_map().unwrap()["high"],
        Value::List(vec![Value::List(vec!["inf".into(), 4.800_000_190_734_863.into()])])
    );
    let Space::Discrete { dtype, .. } = space("discrete32") else { panic!() };
    assert_eq!(dtype, DType::I32);
    let Space::Text(text) = space("text") else { panic!() };
    assert_eq!((text.min_length(), text.charset().as_str()), (0, "zyé\"\\01"));
    let Space::Dict(dict) = space("dict") else { panic!() };
    assert_eq!(dict.spaces().keys().collect::<Vec<_>>(), ["z", "a"]);
    assert_ne!(space("multi_binary_flat").encode(), space("multi_binary").encode());
}

#[test]
fn numbers_at_the_edge_arrive() {
    let mut env = echo("long");
    let mut observation = env.observation_space().blank();
    env.reset(Some(0), &mut observation).unwrap();
    let edge = Element::Array(Array::from_vec(&[2], vec![i64::MIN, i64::MAX - 1]).unwrap());
    env.step(&edge, &mut observation).unwrap();
    assert_eq!(observation, edge);
}

#[test]
fn actions_of_another_kind_are_refused_before_they_are_sent() {
    for (which, action) in [
        ("discrete", Element::Discrete(3)),
        ("box", Element::Array(Array::zeros(DType::F64, &[1, 2]))),
        ("box", Element::Array(Array::zeros(DType::F32, &[2]))),
        ("multi_discrete", Element::Array(Array::zeros(DType::I64, &[2, 2]))),
        ("stacked", Element::Array(Array::zeros(DType::F32, &[3, 4]))),
        ("stacked_parts", Element::Dict([("n".to_owned(), Element::Discrete(1))].into_iter().collect())),
        ("graph_nodes", Element::graph(Element::Array(Array::from_vec(&[1], vec![4_i64]).unwrap()), None)),
        ("one_of", Element::Tuple(vec![Element::Discrete(3), Element::Discrete(0)])),
        ("text", Element::Text("abc".to_owned())),
    ] {
        let mut env = echo(which);
        let mut observation = env.observation_space().blank();
        env.reset(Some(0), &mut observation).unwrap();
        let error = env.step(&action, &mut observation).unwrap_err().to_string();
        assert!(error.contains("action ") && error.contains(" is outside "), "{which}: {error}");
        // The line still stands.
        env.reset(None, &mut observation).unwrap();
    }
}
