//! The native policies by id.

use super::fixed::{ConstantPolicy, RandomPolicy};
use super::linear::Linear;
use super::mlp::Mlp;
use super::settings::Settings;
use super::tabular::Tabular;
use super::{Context, Policy, PolicyError};
use crate::suggest;
use crate::value::Map;

/// The dotted factory under which the Python reference knows `linear_menu`.
pub(crate) const REFERENCE_LINEAR_MENU: &str = "skyfall_crl.train.backends.hill_climbing:linear_menu_policy";

/// The ids of all native policies.
pub const IDS: [&str; 7] =
    ["linear_menu", "linear_softmax", "tabular", "mlp", "random", "constant", REFERENCE_LINEAR_MENU];

/// Makes the native policy `id` for the spaces of `context`; `docs/policies.md` has what each one
/// takes and does.
///
/// # Errors
/// When there is no policy of this id, or it does not fit the spaces or `kwargs`; every mistake
/// is named.
pub fn make(id: &str, kwargs: &Map, context: Context<'_>) -> Result<Box<dyn Policy>, PolicyError> {
    let settings = Settings::new("kwargs", kwargs);
    let made: Result<Box<dyn Policy>, String> = match id {
        "linear_menu" | REFERENCE_LINEAR_MENU => boxed(Linear::menu(id, settings, context)),
        "linear_softmax" => boxed(Linear::softmax(id, settings, context)),
        "tabular" => boxed(Tabular::new(id, settings, context)),
        "mlp" => boxed(Mlp::new(id, settings, context)),
        "random" => boxed(RandomPolicy::new(settings, context)),
        "constant" => boxed(ConstantPolicy::new(settings, context)),
        _ => {
            let nearest = suggest::nearest(id, IDS).map(str::to_owned);
            return Err(PolicyError::UnknownId { id: id.to_owned(), nearest });
        }
    };
    made.map_err(|message| PolicyError::Argument { id: id.to_owned(), message })
}

fn boxed<P: Policy + 'static>(made: Result<P, String>) -> Result<Box<dyn Policy>, String> {
    made.map(|policy| Box::new(policy) as Box<dyn Policy>)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;
    use crate::space::{Element, Space};
    use crate::value::Value;

    fn kwargs(entries: &[(&str, i64)]) -> Map {
        entries.iter().map(|(key, value)| ((*key).to_owned(), Value::Int(*value))).collect()
    }

    #[test]
    fn a_menu_takes_the_action_with_the_highest_score_and_the_first_of_several() {
        let (observations, actions) = (Space::discrete(3, 10).unwrap(), Space::discrete(2, 5).unwrap());
        let context = Context { observation_space: &observations, action_space: &actions, seed: 0 };
        let mut policy = make("linear_menu", &Map::new(), context).unwrap();
        policy.parameters_mut().unwrap().copy_from_slice(&[1.0, 0.0, 2.0, 0.0, 0.0, 3.0]);
        let mut act = |place| {
            let mut action = Element::Discrete(0);
            policy.act(&Element::Discrete(place), &mut action).map(|()| action)
        };
        assert_eq!([10, 11, 12].map(|place| act(place).unwrap()), [5, 5, 6].map(Element::Discrete));
        assert!(act(13).is_err());
    }

    #[test]
    fn initial_weights_follow_the_seed_and_the_argument_comes_first() {
        let (observations, actions) = (Space::discrete(3, 0).unwrap(), Space::discrete(2, 0).unwrap());
        let weights = |id: &str, given: &Map, seed| {
            let context = Context { observation_space: &observations, action_space: &actions, seed };
            make(id, given, context).unwrap().parameters().unwrap().to_vec()
        };
        let seven = weights("linear_menu", &Map::new(), 7);
        assert_eq!(weights(REFERENCE_LINEAR_MENU, &kwargs(&[("n_actions", 2)]), 7), seven);
        assert_eq!(weights("linear_menu", &kwargs(&[("seed", 7)]), 1), seven);
        assert_ne!(weights("linear_menu", &Map::new(), 1), seven);
    }

    #[test]
    fn arguments_that_do_not_fit_are_named() {
        let (observations, actions) = (Space::discrete(3, 0).unwrap(), Space::discrete(2, 0).unwrap());
        let context = Context { observation_space: &observations, action_space: &actions, seed: 0 };
        let message = |id: &str, given: &Map| make(id, given, context).err().unwrap().to_string();
        assert!(message("linear_menu", &kwargs(&[("n_action", 2)])).contains("did you mean `n_actions`"));
        assert!(message("linear_menu", &kwargs(&[("seed", -1)])).contains("at least 0, got -1"));
        assert!(message("constant", &Map::new()).contains("`kwargs.action` is missing"));
        assert!(message("constant", &kwargs(&[("action", 2)])).contains("element of Discrete(2)"));
    }

    #[test]
    fn the_weights_file_is_as_documented() {
        let (observations, actions) = (Space::discrete(3, 0).unwrap(), Space::discrete(2, 0).unwrap());
        let context = Context { observation_space: &observations, action_space: &actions, seed: 3 };
        let mut policy = make("linear_menu", &Map::new(), context).unwrap();
        let directory = tempfile::tempdir().unwrap();
        policy.save(directory.path()).unwrap();
        let bytes = std::fs::read(directory.path().join("weights.safetensors")).unwrap();
        let header = r#"{"weight":{"dtype":"F64","shape":[2,3],"data_offsets":[0,48]}}"#;
        assert_eq!(std::str::from_utf8(&bytes[8..8 + header.len()]).unwrap(), header);
        let numbers: Vec<u8> = policy.parameters().unwrap().iter().flat_map(|weight| weight.to_le_bytes()).collect();
        assert_eq!(&bytes[bytes.len() - 48..], numbers);
        let saved = policy.parameters().unwrap().to_vec();
        policy.parameters_mut().unwrap().fill(0.0);
        policy.load(&directory.path().join("weights.safetensors")).unwrap();
        assert_eq!(policy.parameters().unwrap(), saved);
    }
}
