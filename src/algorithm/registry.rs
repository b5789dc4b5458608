//! The native algorithms by name.

use super::ars::Ars;
use super::cem::CrossEntropy;
use super::hill_climbing::HillClimbing;
use super::none::Frozen;
use super::ppo::Ppo;
use super::reinforce::Reinforce;
use super::temporal_difference::{Target, TemporalDifference};
use super::{Algorithm, AlgorithmError};
use crate::policy::settings::Settings;
use crate::policy::{self, Context, Policy};
use crate::suggest;
use crate::value::{Map, Value};

/// The names of all native algorithms.
pub const NAMES: [&str; 8] =
    ["none", "discrete_hill_climbing", "ars", "cem", "reinforce", "q_learning", "sarsa", "ppo"];

/// Makes a native algorithm around `policy`, or around its default policy:
///
/// | name | default policy |
/// |---|---|
/// | `none` | `random` |
/// | `discrete_hill_climbing` | `linear_menu` |
/// | `ars`, `cem` | `linear_menu` from weights of 0 |
/// | `reinforce` | `linear_softmax` from weights of 0 |
/// | `q_learning`, `sarsa` | `tabular` |
/// | `ppo` | `mlp` |
///
/// `docs/algorithms.md` has their parameters and what each reaches.
///
/// # Errors
/// When there is no algorithm of this name, or it cannot train `policy` or does not take
/// `params`; every mistake is named.
pub fn make(
    name: &str,
    params: &Map,
    policy: Option<Box<dyn Policy>>,
    context: Context<'_>,
) -> Result<Box<dyn Algorithm>, AlgorithmError> {
    let Some(default) = default_policy(name) else {
        let nearest = suggest::nearest(name, NAMES).map(str::to_owned);
        return Err(AlgorithmError::UnknownName { name: name.to_owned(), nearest });
    };
    let policy = match policy {
        Some(policy) => policy,
        None => {
            let kwargs = default.1.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
            policy::registry::make(default.0, &kwargs, context)
                .map_err(|source| AlgorithmError::Policy { name: name.to_owned(), source })?
        }
    };
    let (settings, seed) = (Settings::new("params", params), context.seed);
    let made: Result<Box<dyn Algorithm>, String> = match name {
        "discrete_hill_climbing" => boxed(HillClimbing::search(name, settings, policy, seed)),
        "ars" => boxed(Ars::search(name, settings, policy, seed)),
        "cem" => boxed(CrossEntropy::search(name, settings, policy, seed)),
        "reinforce" => boxed(Reinforce::new(settings, policy, seed)),
        "q_learning" => boxed(TemporalDifference::new(settings, policy, seed, Target::Best)),
        "sarsa" => boxed(TemporalDifference::new(settings, policy, seed, Target::Taken)),
        "ppo" => boxed(Ppo::new(settings, policy, seed)),
        _ => settings.finish(Some(())).map(|()| frozen(policy)),
    };
    made.map_err(|message| AlgorithmError::Argument { name: name.to_owned(), message })
}

/// The policy that the algorithm `name` trains unless given one.
fn default_policy(name: &str) -> Option<(&'static str, Vec<(&'static str, Value)>)> {
    Some(match name {
        "none" => ("random", vec![]),
        "discrete_hill_climbing" => ("linear_menu", vec![]),
        "ars" | "cem" => ("linear_menu", vec![("initial", Value::Int(0))]),
        "reinforce" => ("linear_softmax", vec![("initial", Value::Int(0))]),
        "q_learning" | "sarsa" => ("tabular", vec![]),
        "ppo" => ("mlp", vec![]),
        _ => return None,
    })
}

fn boxed<A: Algorithm + 'static>(made: Result<A, String>) -> Result<Box<dyn Algorithm>, String> {
    made.map(|algorithm| Box::new(algorithm) as Box<dyn Algorithm>)
}

/// An algorithm that leaves `policy` as it is.
#[must_use]
pub fn frozen(policy: Box<dyn Policy>) -> Box<dyn Algorithm> {
    Box::new(Frozen(policy))
}
