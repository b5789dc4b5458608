//! Gymnasium and PyYAML beside us, on spaces and seeds of no vector.

use serde_json::{Value as Json, json};
use skyfall::array::{Array, DType, Scalar};
use skyfall::space::{Element, Sampler, Space};
use skyfall::text::{json as text_json, yaml};
use skyfall::value::Value;

use crate::command::Scratch;
use crate::peers::python;

/// Spaces of every kind, and of every rule of sampling, in the manifest's encoding.
const SPACES: &str = include_str!("../data/space/spaces.yaml");

fn spaces(data: &Value) -> Vec<Space> {
    data.as_list().unwrap().iter().map(|data| Space::decode(data).unwrap()).collect()
}

/// A sample by its bits.
fn spelled(sample: &Element) -> Json {
    match sample {
        Element::Discrete(value) => json!({ "d": value }),
        Element::Array(array) => json!({ "a": [array.dtype().numpy_name(), array.shape(), numbers(array)] }),
        Element::Text(text) => json!({ "t": text }),
        Element::Tuple(parts) => json!({ "l": parts.iter().map(spelled).collect::<Vec<_>>() }),
        Element::Dict(parts) => {
            let parts = parts.iter().map(|(name, part)| (name.clone(), spelled(part)));
            json!({ "m": parts.collect::<serde_json::Map<_, _>>() })
        }
    }
}

fn numbers(array: &Array) -> Vec<Json> {
    let spell = |number: Scalar| match number {
        Scalar::Float(number) => json!(format!("{:016x}", number.to_bits())),
        other => json!(other.to_i64().unwrap()),
    };
    array.scalars().map(spell).collect()
}

#[test]
fn gymnasium_builds_prints_and_samples_the_same_spaces() {
    let spaces = spaces(&yaml::parse(SPACES).unwrap());
    let kinds: std::collections::BTreeSet<_> = spaces.iter().map(Space::kind).collect();
    assert_eq!(kinds.len(), 10, "{kinds:?}");
    let scratch = Scratch::new();
    let ours = yaml::to_string(&Value::List(spaces.iter().map(Space::encode).collect()));
    let samples: Vec<Json> = spaces
        .iter()
        .map(|space| {
            let seeds = [3, 77, 2024, 987_654_321, (1 << 40) + 5].map(|seed| {
                let mut sampler = Sampler::new(space.clone(), seed);
                json!([seed, (0..6).map(|_| spelled(&sampler.sample())).collect::<Vec<_>>()])
            });
            json!(seeds)
        })
        .collect();
    scratch.write("ours.yaml", &ours);
    scratch.write("samples.json", &json!(samples).to_string());
    assert_eq!(python(&scratch, "check_spaces.py", &["ours.yaml", "samples.json"]), format!("ok {}\n", spaces.len()));
    assert_eq!(scratch.read("theirs.yaml"), ours);
    for name in ["theirs.yaml", "other.yaml"] {
        assert_eq!(self::spaces(&yaml::parse(&scratch.read(name)).unwrap()), spaces, "{name}");
    }
    assert_eq!(self::spaces(&text_json::parse(&scratch.read("other.json")).unwrap()), spaces);
    assert!(scratch.read("other.yaml").contains("-.inf") && scratch.read("other.json").contains("-Infinity"));
}

/// Every sort of dtype that a Box can have, so that no rounding goes unseen.
#[test]
fn the_spaces_compared_cover_every_dtype() {
    let spaces = spaces(&yaml::parse(SPACES).unwrap());
    for dtype in DType::ALL {
        let has = spaces.iter().any(|space| matches!(space, Space::Box(space) if space.dtype() == dtype));
        assert!(has, "no Box of {dtype}");
    }
}
